//! Deployments, ReplicaSets, StatefulSets and DaemonSets.

use std::sync::Arc;

use serde_json::Value;

use super::{annotations_lines, labels_lines, put, template};
use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::apps::{Deployment, PodTemplateSpec, ReplicaSet};
use crate::api::kinds::pod::Pod;
use crate::api::meta::ObjectMeta;
use crate::api::object::Object;
use crate::cluster::server::authz::Access;
use crate::kubectl::duration;
use crate::kubectl::host::Host;
use crate::kubectl::print::row::selector_text;
use crate::kubectl::print::value::{go_list, items, number, or, pairs, text};
use crate::kubectl::resources;

pub(super) fn deployment(deployment: &Deployment, host: &dyn Host) -> String {
    let (meta, spec, status) = (&deployment.meta, &deployment.spec, &deployment.status);
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    if let Some(created) = meta.creation_timestamp {
        out.push_str(&format!("CreationTimestamp:\t{}\n", duration::rfc1123(created)));
    }
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    out.push_str(&format!("Selector:\t{}\n", selector_text(&spec.selector)));
    out.push_str(&format!(
        "Replicas:\t{} desired | {} updated | {} total | {} available | {} unavailable\n",
        spec.replicas.unwrap_or(1),
        status.updated_replicas,
        status.replicas,
        status.available_replicas,
        status.unavailable_replicas
    ));
    out.push_str(&format!("StrategyType:\t{}\n", spec.strategy.strategy_type));
    out.push_str(&format!("MinReadySeconds:\t{}\n", spec.min_ready_seconds));
    if let Some(rolling) = &spec.strategy.rolling_update {
        let shown = |bound: &Option<crate::api::int_or_string::IntOrString>| {
            bound.as_ref().map_or("<nil>".to_string(), ToString::to_string)
        };
        out.push_str(&format!(
            "RollingUpdateStrategy:\t{} max unavailable, {} max surge\n",
            shown(&rolling.max_unavailable),
            shown(&rolling.max_surge)
        ));
    }
    out.push_str(&template::text(&spec.template));
    if !status.conditions.is_empty() {
        out.push_str("Conditions:\n  Type\tStatus\tReason\n  ----\t------\t------\n");
        for condition in &status.conditions {
            out.push_str(&format!(
                "  {} \t{}\t{}\n",
                condition.condition_type, condition.status, condition.reason
            ));
        }
    }
    if resources::may_list(host, Kind::ReplicaSet, &meta.namespace) {
        let (new, old) = revisions(deployment, host);
        out.push_str(&format!("OldReplicaSets:\t{}\nNewReplicaSet:\t{}\n", sets_text(&old), sets_text(&new)));
    }
    out
}

/// The ReplicaSet of the current template (none or one), and the others, by name.
fn revisions(deployment: &Deployment, host: &dyn Host) -> (Vec<Arc<ReplicaSet>>, Vec<Arc<ReplicaSet>>) {
    let without_hash = |template: &crate::api::kinds::apps::PodTemplateSpec| {
        let mut template = template.clone();
        template.meta.labels.remove("pod-template-hash");
        template
    };
    let wanted = without_hash(&deployment.spec.template);
    let mut sets: Vec<Arc<ReplicaSet>> = host
        .store()
        .list_in::<ReplicaSet>(&deployment.meta.namespace)
        .filter(|set| set.meta.is_controlled_by(&deployment.meta.uid))
        .cloned()
        .collect();
    sets.sort_by_key(|set| (set.meta.creation_timestamp, set.meta.name.clone()));
    let newest = sets.iter().position(|set| without_hash(&set.spec.template) == wanted);
    let new = newest.map(|at| sets.remove(at)).into_iter().collect();
    (new, sets)
}

fn sets_text(sets: &[Arc<ReplicaSet>]) -> String {
    let texts: Vec<String> = sets
        .iter()
        .map(|set| {
            let wanted = set.spec.replicas.unwrap_or(1);
            format!("{} ({}/{wanted} replicas created)", set.meta.name, set.status.replicas)
        })
        .collect();
    if texts.is_empty() { "<none>".to_string() } else { texts.join(", ") }
}

pub(super) fn replica_set(set: &ReplicaSet, host: &dyn Host) -> String {
    let (meta, spec, status) = (&set.meta, &set.spec, &set.status);
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    out.push_str(&format!("Selector:\t{}\n", selector_text(&spec.selector)));
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    super::put_controller(&mut out, meta);
    out.push_str(&format!(
        "Replicas:\t{} current / {} desired\n",
        status.replicas,
        spec.replicas.unwrap_or(1)
    ));
    out.push_str(&pods_status(meta, host));
    out.push_str(&template::text(&spec.template));
    if !status.conditions.is_empty() {
        out.push_str("Conditions:\n  Type\tStatus\tReason\n  ----\t------\t------\n");
        for condition in &status.conditions {
            out.push_str(&format!(
                "  {} \t{}\t{}\n",
                condition.condition_type, condition.status, condition.reason
            ));
        }
    }
    out
}

/// The phases of the Pods that an object controls.
fn pods_status(meta: &ObjectMeta, host: &dyn Host) -> String {
    if let Err(status) = resources::may(host, &Access::to("list", Kind::Pod, &meta.namespace, "")) {
        return format!("Pods Status:\terror in fetching pods: {}\n", status.message);
    }
    let phase = |phase: &str| {
        let pods = host.store().list_in::<Pod>(&meta.namespace);
        pods.filter(|pod| pod.meta.is_controlled_by(&meta.uid) && pod.status.phase == phase).count()
    };
    format!(
        "Pods Status:\t{} Running / {} Waiting / {} Succeeded / {} Failed\n",
        phase("Running"),
        phase("Pending"),
        phase("Succeeded"),
        phase("Failed")
    )
}

/// A selector as it is matched; empty when it selects everything.
pub(super) fn selector_of(selector: &Value) -> String {
    crate::api::labels::Selector::from_label_selector(selector).to_string()
}

/// The block of a template that stands in an object's JSON.
pub(super) fn template_of(value: &Value) -> String {
    template::text(&PodTemplateSpec::decode(value.clone()).unwrap_or_default())
}

pub(super) fn stateful_set(object: &Object, value: &Value, host: &dyn Host) -> String {
    let (spec, meta) = (&value["spec"], object.meta());
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    put(&mut out, "CreationTimestamp", &meta.creation_timestamp.map(duration::rfc1123).unwrap_or_default());
    put(&mut out, "Selector", &selector_of(&spec["selector"]));
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    let (wanted, there) = (or(&spec["replicas"], "1"), number(&value["status"]["replicas"]));
    put(&mut out, "Replicas", &format!("{wanted} desired | {there} total"));
    let strategy = &spec["updateStrategy"];
    put(&mut out, "Update Strategy", &text(&strategy["type"]));
    let rolling = &strategy["rollingUpdate"];
    if !rolling["partition"].is_null() {
        out.push_str(&format!("  Partition:\t{}\n", number(&rolling["partition"])));
        if !rolling["maxUnavailable"].is_null() {
            out.push_str(&format!("  MaxUnavailable:\t{}\n", text(&rolling["maxUnavailable"])));
        }
    }
    out.push_str(&pods_status(meta, host));
    out.push_str(&template_of(&spec["template"]));
    let claims = items(&spec["volumeClaimTemplates"]);
    if claims.is_empty() {
        put(&mut out, "Volume Claims", "<none>");
        return out;
    }
    out.push_str("Volume Claims:\n");
    for claim in claims {
        let (meta, spec) = (&claim["metadata"], &claim["spec"]);
        out.push_str(&format!(
            "  Name:\t{}\n  StorageClass:\t{}\n",
            text(&meta["name"]),
            text(&spec["storageClassName"])
        ));
        for (title, field) in [("Labels", "labels"), ("Annotations", "annotations")] {
            out.push_str(&labels_lines("  ", title, &crate::api::labels::labels_of(&meta[field])));
        }
        out.push_str(&format!(
            "  Capacity:\t{}\n  Access Modes:\t{}\n",
            or(&spec["resources"]["requests"]["storage"], "<default>"),
            go_list(&spec["accessModes"])
        ));
    }
    out
}

pub(super) fn daemon_set(object: &Object, value: &Value, host: &dyn Host) -> String {
    let (spec, status, meta) = (&value["spec"], &value["status"], object.meta());
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    put(&mut out, "Selector", &selector_of(&spec["selector"]));
    put(&mut out, "Node-Selector", &pairs(&spec["template"]["spec"]["nodeSelector"]));
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    for (title, field) in [
        ("Desired Number of Nodes Scheduled", "desiredNumberScheduled"),
        ("Current Number of Nodes Scheduled", "currentNumberScheduled"),
        ("Number of Nodes Scheduled with Up-to-date Pods", "updatedNumberScheduled"),
        ("Number of Nodes Scheduled with Available Pods", "numberAvailable"),
        ("Number of Nodes Misscheduled", "numberMisscheduled"),
    ] {
        out.push_str(&format!("{title}: {}\n", number(&status[field])));
    }
    out.push_str(&pods_status(meta, host));
    out.push_str(&template_of(&spec["template"]));
    out
}

pub(super) fn replication_controller(object: &Object, value: &Value, host: &dyn Host) -> String {
    let (spec, status, meta) = (&value["spec"], &value["status"], object.meta());
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    put(&mut out, "Selector", &pairs(&spec["selector"]));
    out.push_str(&labels_lines("", "Labels", &meta.labels));
    out.push_str(&annotations_lines("", &meta.annotations));
    let (there, wanted) = (number(&status["replicas"]), or(&spec["replicas"], "1"));
    put(&mut out, "Replicas", &format!("{there} current / {wanted} desired"));
    out.push_str(&pods_status(meta, host));
    out.push_str(&template_of(&spec["template"]));
    out
}
