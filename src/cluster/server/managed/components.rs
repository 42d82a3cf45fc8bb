//! What components manage: made from marks and the object when somebody asks.
//!
//! Models: the entries that a cluster of v1.36 shows for the writes of its components; what admission and the
//! registries add to a new object (`PrepareForCreate`) is nobody's.
//! Leaves out: which of several components wrote a condition of a node.

use serde_json::Value;

use super::{Manager, UPDATE, comparison, read, take_over, with_scale, write};
use crate::api::kind::Kind;
use crate::api::meta::{Component, Mark};
use crate::api::object::Object;
use crate::api::schema::{self, Type};
use crate::cluster::server::decode::normalise;
use crate::cluster::server::fields::{self, FieldSet};

const MANAGED: &str = "managedFields";
const REVISION: &str = "f:deployment.kubernetes.io/revision";

fn root(kind: Kind) -> Option<&'static Type> {
    schema::root(kind.group(), kind.version(), kind.name())
}

/// Everybody who manages fields of a stored object.
pub fn managers_of(object: &Object) -> Vec<Manager> {
    let mut managers = read(object.meta().rest.get(MANAGED));
    if !object.meta().marks.is_empty() {
        let implied = implied(object, &object.to_value(), &managers);
        managers.extend(implied);
    }
    managers
}

/// The object as the server would show it to somebody who asks for the managers too.
pub fn with_managers(object: &Object) -> Value {
    let mut value = object.to_value();
    if !object.meta().marks.is_empty()
        && let Some(managed) = write(managers_of(object))
    {
        value["metadata"][MANAGED] = managed;
    }
    value
}

/// The entries that the marks stand for.
fn implied(object: &Object, value: &Value, written: &[Manager]) -> Vec<Manager> {
    let kind = object.kind();
    let Some(root) = root(kind) else { return Vec::new() };
    let found = fields::compare(root, &normalise(root, &Value::Null), value);
    let all = found.added.union(&found.modified);
    let marks = &object.meta().marks;
    let is_written = |path: &fields::Path| written.iter().any(|manager| manager.fields.contains(path));
    let mut taken = FieldSet::default();
    let mut managers = Vec::new();
    for mark in marks.iter() {
        let mut fields = all.clone();
        super::without_system_fields(if mark.of_status { "status" } else { "" }, &mut fields);
        fields.retain(|path| {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            match mark.of_status {
                true => writes_status(mark.by, kind, &path),
                false => writes_object(mark.by, kind, &path, value),
            }
        });
        if mark.of_status {
            fields.retain(|path| !is_written(path));
        }
        if mark.of_status && kind == Kind::Pod {
            add_probe_times(&mut fields);
        }
        fields = fields.difference(&taken);
        taken = taken.union(&fields);
        managers.push(Manager::of_component(mark, kind, fields));
    }
    managers
}

/// Whether a component that made the object wrote the field, which is then neither the server's addition nor the
/// status.
fn writes_object(by: Component, kind: Kind, path: &[&str], value: &Value) -> bool {
    if matches!(path, ["f:status", ..]) {
        return false;
    }
    match (kind, path) {
        (_, ["f:metadata", "f:finalizers", ..]) if protected(kind) => false,
        (Kind::Namespace, ["f:spec", ..]) => false,
        (Kind::Service, ["f:spec", "f:clusterIP" | "f:clusterIPs", ..]) => by == Component::ApiServer,
        (Kind::Deployment, [.., REVISION]) => false,
        (Kind::Job, ["f:spec", "f:selector", ..]) => false,
        (Kind::Job, ["f:spec", "f:template", "f:metadata", "f:labels", label]) => {
            !label.contains("controller-uid") && !label.contains("job-name")
        }
        (Kind::Pod, ["f:spec", "f:nodeName" | "f:priority" | "f:preemptionPolicy"]) => false,
        (Kind::Pod, ["f:spec", "f:serviceAccount" | "f:serviceAccountName"]) => {
            value["spec"]["serviceAccountName"] != "default"
        }
        (Kind::Pod, ["f:spec", "f:tolerations"]) => {
            value["spec"]["tolerations"].as_array().is_some_and(|all| all.len() > 2)
        }
        (Kind::Pod, path) => !is_token(path, value),
        _ => true,
    }
}

/// Whether admission puts a finalizer on every object of the kind.
fn protected(kind: Kind) -> bool {
    matches!(kind, Kind::PersistentVolume | Kind::PersistentVolumeClaim)
}

/// Whether the field belongs to the volume with an account's token, which admission adds.
fn is_token(path: &[&str], value: &Value) -> bool {
    const NAME: &str = "k:{\"name\":\"kube-api-access-";
    const PLACE: &str = "k:{\"mountPath\":\"/var/run/secrets/kubernetes.io/serviceaccount\"}";
    let only = |list: &Value| list.as_array().is_none_or(|items| items.len() < 2);
    match path {
        ["f:spec", "f:volumes", volume, ..] => volume.starts_with(NAME),
        ["f:spec", "f:volumes"] => {
            only(&value["spec"]["volumes"])
                && value["spec"]["volumes"][0]["name"]
                    .as_str()
                    .is_some_and(|name| name.starts_with(&NAME[11..]))
        }
        ["f:spec", "f:containers" | "f:initContainers", _, "f:volumeMounts", mount, ..] => *mount == PLACE,
        ["f:spec", list @ ("f:containers" | "f:initContainers"), container, "f:volumeMounts"] => {
            let containers = value["spec"][&list[2..]].as_array().into_iter().flatten();
            let mut named = containers.filter(|one| {
                serde_json::from_str::<Value>(&container[2..]).is_ok_and(|key| key["name"] == one["name"])
            });
            named.next().is_some_and(|one| {
                only(&one["volumeMounts"])
                    && one["volumeMounts"][0]["mountPath"].as_str().is_some_and(|place| PLACE.contains(place))
            })
        }
        _ => false,
    }
}

/// Whether a component that writes the status of such objects writes that field.
fn writes_status(by: Component, kind: Kind, path: &[&str]) -> bool {
    const SCHEDULED: &str = "k:{\"type\":\"PodScheduled\"}";
    const DISRUPTED: &str = "k:{\"type\":\"DisruptionTarget\"}";
    let of_status = path.first() == Some(&"f:status");
    match (kind, by) {
        (Kind::Pod, Component::Scheduler) => match path {
            ["f:status", "f:conditions"] | ["f:status", "f:nominatedNodeName"] => true,
            ["f:status", "f:conditions", condition, ..] => *condition == SCHEDULED || *condition == DISRUPTED,
            _ => false,
        },
        (Kind::Pod, Component::ControllerManager) => {
            matches!(path, ["f:status", "f:conditions", condition, ..] if *condition == DISRUPTED)
        }
        (Kind::Pod, _) => match path {
            ["f:status", "f:conditions"] | ["f:status", "f:qosClass"] => false,
            ["f:status", "f:conditions", condition, ..] => *condition != SCHEDULED && *condition != DISRUPTED,
            _ => of_status,
        },
        // The number of the rollout is written together with the status.
        (Kind::Deployment, _) => {
            of_status
                || matches!(path, ["f:metadata", "f:annotations"] | ["f:metadata", "f:annotations", REVISION])
        }
        _ => of_status,
    }
}

/// The conditions of a Pod have a time of their last probe, which is nothing, and managed all the same.
fn add_probe_times(fields: &mut FieldSet) {
    let items = fields.in_order();
    let times: Vec<fields::Path> = items
        .into_iter()
        .filter(|path| path.len() == 3 && path[1] == "f:conditions")
        .map(|path| path.iter().cloned().chain(["f:lastProbeTime".to_string()]).collect())
        .collect();
    times.iter().for_each(|path| fields.insert(path));
}

/// Notes a component's write: as a mark where that is enough, else in `managedFields`.
///
/// `scales` says that it was made through the sub-resource `scale`.
pub fn written_by(old: &Object, new: &mut Object, mark: Mark, scales: bool) {
    let marks = &old.meta().marks;
    let is_alone = marks.writer() == Some(mark.by);
    if mark.of_status || (is_alone && !scales) {
        return new.meta_mut().marks.note(mark);
    }
    let Some(kind) = root(new.kind()) else { return };
    let mut managers = managers_of(old);
    let mut writer = Manager::of_component(mark, new.kind(), FieldSet::default());
    let value = new.to_value();
    if let Some(replicas) = value["spec"]["replicas"].as_i64().filter(|_| scales) {
        writer.subresource = "scale".to_string();
        managers = with_scale(managers, writer, i32::try_from(replicas).unwrap_or(i32::MAX), mark.at);
    } else {
        let found = comparison("", kind, &old.to_value(), &value);
        take_over(&mut managers, writer, &found, mark.at);
    }
    write_down(old, new, managers);
}

/// After a person's write: keeps marks where nothing has changed for their entries, and writes all down where it has.
pub fn settle(stored: Option<&Object>, object: &mut Object) {
    let Some(stored) = stored.filter(|stored| !stored.meta().marks.is_empty()) else { return };
    let managers = read(object.meta().rest.get(MANAGED));
    let sorted = |managers: Vec<Manager>| write(managers);
    if sorted(managers.clone()) == sorted(managers_of(stored)) {
        return object.meta_mut().keep_managers(stored.meta());
    }
    write_down(stored, object, managers);
}

/// Writes the managers down, but for those whose entries the marks of the status stand for.
fn write_down(old: &Object, new: &mut Object, mut managers: Vec<Manager>) {
    let marks = old.meta().marks.of_status();
    managers.retain(|manager| {
        !(manager.operation == UPDATE
            && manager.subresource == "status"
            && marks.iter().any(|mark| mark.by.manager() == manager.name))
    });
    let meta = new.meta_mut();
    meta.rest.set(MANAGED, write(managers));
    meta.marks = marks;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::time::Timestamp;

    const CONTROLLER: Mark = Mark { by: Component::ControllerManager, of_status: false, at: Timestamp(1) };

    fn object(kind: Kind, value: Value, marks: &[Mark]) -> Object {
        let mut object = Object::decode(kind, value).unwrap();
        marks.iter().for_each(|mark| object.meta_mut().marks.note(*mark));
        object
    }

    /// `manager subresource: the fields`, a line each.
    fn told(object: &Object) -> Vec<String> {
        let told = |manager: Manager| {
            let fields: Vec<String> = manager.fields.in_order().into_iter().map(fields::shown).collect();
            format!("{} {}: {}", manager.name, manager.subresource, fields.join(" "))
        };
        managers_of(object).into_iter().map(told).collect()
    }

    #[test]
    fn marks_stand_for_entries_that_follow_from_the_object() {
        let pod = json!({
            "metadata": {"name": "a", "uid": "u", "labels": {"app": "a"}},
            "spec": {
                "nodeName": "n", "priority": 0, "containers": [{"name": "c", "image": "i"}],
                "tolerations": [{"key": "node.kubernetes.io/not-ready"}, {"key": "node.kubernetes.io/unreachable"}],
            },
            "status": {"phase": "Running", "qosClass": "BestEffort", "conditions": [
                {"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"},
            ]},
        });
        let kubelet = Mark { by: Component::Kubelet, of_status: true, at: Timestamp(2) };
        let pod = object(Kind::Pod, pod, &[CONTROLLER, kubelet]);
        assert_eq!(
            told(&pod),
            [
                "kube-controller-manager : .metadata.labels .metadata.labels.app .spec.containers[name=\"c\"] \
                 .spec.containers[name=\"c\"].image .spec.containers[name=\"c\"].name .spec.containers[name=\"c\"].resources",
                "kubelet status: .status.phase .status.conditions[type=\"Ready\"] \
                 .status.conditions[type=\"Ready\"].lastProbeTime .status.conditions[type=\"Ready\"].status \
                 .status.conditions[type=\"Ready\"].type",
            ]
        );
    }

    #[test]
    fn the_write_of_a_second_component_writes_the_entries_down() {
        let volume = json!({"metadata": {"name": "v"}, "spec": {"persistentVolumeReclaimPolicy": "Delete"}});
        let old =
            object(Kind::PersistentVolume, volume, &[Mark { by: Component::Provisioner, ..CONTROLLER }]);
        let mut value = old.to_value();
        value["spec"]["persistentVolumeReclaimPolicy"] = json!("Retain");
        let mut new = object(Kind::PersistentVolume, value, &[]);
        written_by(&old, &mut new, CONTROLLER, false);
        assert!(new.meta().marks.is_empty());
        let told = told(&new);
        assert_eq!(told.len(), 1, "the first has nothing left: {told:?}");
        assert_eq!(told[0], "kube-controller-manager : .spec.persistentVolumeReclaimPolicy");
    }

    #[test]
    fn who_scales_takes_the_replicas() {
        let set = json!({"metadata": {"name": "r", "labels": {"a": "b"}}, "spec": {"replicas": 1}});
        let old = object(Kind::ReplicaSet, set.clone(), &[CONTROLLER]);
        let mut value = set;
        value["spec"]["replicas"] = json!(2);
        let mut new = object(Kind::ReplicaSet, value, &[]);
        written_by(&old, &mut new, CONTROLLER, true);
        let told = told(&new);
        assert_eq!(told[1], "kube-controller-manager scale: .spec.replicas");
        assert!(told[0].contains(".metadata.labels.a") && !told[0].contains("replicas"), "{}", told[0]);
    }

    #[test]
    fn what_changes_no_entry_keeps_the_marks() {
        let stored =
            object(Kind::ConfigMap, json!({"metadata": {"name": "c"}, "data": {"a": "b"}}), &[CONTROLLER]);
        let mut same = Object::decode(Kind::ConfigMap, with_managers(&stored)).unwrap();
        settle(Some(&stored), &mut same);
        assert_eq!(same, stored);
    }
}
