//! The stage that fills in what a manifest leaves out.
//!
//! The schema is walked from the outside in; each record is handed to the rules of its group, which set absent fields.
//! The rules of a group stand in one file. A second run changes nothing.
//!
//! Models: `pkg/apis/*/*/defaults.go` and `zz_generated.defaults.go` (v1.36), with the feature gates of a default cluster.
//! Leaves out: nothing of the kinds that the cluster knows.

mod apps;
mod autoscaling;
mod batch;
mod cluster;
mod extension;
mod networking;
mod pod;
mod storage;

use serde_json::{Map, Value};

use crate::api::quantity::Quantity;
use crate::api::schema::{Shape, Type};

/// A record of an object.
type Record = Map<String, Value>;

/// Fills in the defaults of an object of a kind.
pub fn default(kind: &'static Type, object: &mut Value) {
    if let Value::Object(record) = object {
        walk(kind, record);
    }
}

fn walk(kind: &'static Type, record: &mut Record) {
    match kind.name.split('.').next() {
        Some("core") => {
            pod::fill(kind.name, record);
            cluster::fill(kind.name, record);
            storage::fill(kind.name, record);
            networking::fill(kind.name, record);
        }
        Some("apps") => apps::fill(kind.name, record),
        Some("batch") => batch::fill(kind.name, record),
        Some("autoscaling") => autoscaling::fill(kind.name, record),
        Some("storage" | "scheduling" | "rbac") => {
            storage::fill(kind.name, record);
            extension::fill(kind.name, record);
        }
        Some("admissionregistration" | "apiextensions" | "apiregistration" | "flowcontrol" | "resource") => {
            extension::fill(kind.name, record);
        }
        _ => networking::fill(kind.name, record),
    }
    for field in &kind.fields {
        if let Some(default) = field.default.filter(|text| *text != "0" && *text != "false")
            && is_absent(record, field.name)
        {
            let value = serde_json::from_str(default).unwrap_or(Value::Null);
            record.insert(field.name.to_string(), value);
        }
        if let Some(value) = record.get_mut(field.name) {
            descend(&field.shape, value);
        }
    }
}

fn descend(shape: &'static Shape, value: &mut Value) {
    match (shape, value) {
        (Shape::Record(_), Value::Object(record)) => {
            if let Some(kind) = shape.record() {
                walk(kind, record);
            }
        }
        (Shape::List(inner), Value::Array(items)) => items.iter_mut().for_each(|item| descend(inner, item)),
        (Shape::Map(inner), Value::Object(members)) => {
            members.values_mut().for_each(|member| match (inner.as_ref(), member) {
                // Amounts in a list of resources are rounded up to thousandths.
                (Shape::Quantity, Value::String(text)) => {
                    if let Ok(quantity) = Quantity::parse(text) {
                        *text = quantity.rounded_to_milli().to_string();
                    }
                }
                (_, member) => descend(inner, member),
            });
        }
        _ => {}
    }
}

/// Whether a field is absent or zero.
fn is_absent(record: &Record, name: &str) -> bool {
    match record.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.is_empty(),
        _ => false,
    }
}

/// Sets a field that is absent or zero.
fn set_absent(record: &mut Record, name: &str, value: impl Into<Value>) {
    if is_absent(record, name) {
        record.insert(name.to_string(), value.into());
    }
}

/// Sets a number that is absent or zero.
fn set_zero(record: &mut Record, name: &str, value: i64) {
    if record.get(name).and_then(Value::as_i64).unwrap_or(0) == 0 {
        record.insert(name.to_string(), Value::from(value));
    }
}

/// The record in a field, which is made when it is absent.
fn made<'a>(record: &'a mut Record, name: &str) -> &'a mut Record {
    let value = record.entry(name.to_string()).or_insert_with(|| Value::Object(Map::new()));
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(inner) => inner,
        _ => unreachable!("the value was just made an object"),
    }
}

/// The record in a field that exists.
fn inner<'a>(record: &'a mut Record, name: &str) -> Option<&'a mut Record> {
    record.get_mut(name)?.as_object_mut()
}

/// The text in a field; empty when it is absent.
fn text<'a>(record: &'a Record, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The records of a list.
fn items<'a>(record: &'a mut Record, name: &str) -> impl Iterator<Item = &'a mut Record> {
    record.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Whether a list or map is absent or empty.
fn is_empty(record: &Record, name: &str) -> bool {
    match record.get(name) {
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(members)) => members.is_empty(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::root_of;
    use serde_json::json;

    fn defaulted(api_version: &str, kind: &str, mut object: Value) -> Value {
        default(root_of(api_version, kind).unwrap(), &mut object);
        let mut again = object.clone();
        default(root_of(api_version, kind).unwrap(), &mut again);
        assert_eq!(again, object, "a second run changes nothing");
        object
    }

    #[test]
    fn a_template_gets_what_its_pods_will_have() {
        let object = json!({"spec": {"template": {"spec": {"containers": [
            {"name": "a", "image": "nginx", "ports": [{"containerPort": 80}], "readinessProbe": {"httpGet": {"port": 80}}}
        ]}}}});
        let object = defaulted("apps/v1", "Deployment", object);
        assert_eq!(object["spec"]["replicas"], 1);
        assert_eq!(
            object["spec"]["strategy"]["rollingUpdate"],
            json!({"maxSurge": "25%", "maxUnavailable": "25%"})
        );
        let container = &object["spec"]["template"]["spec"]["containers"][0];
        assert_eq!(container["imagePullPolicy"], "Always");
        assert_eq!(container["ports"][0]["protocol"], "TCP");
        assert_eq!(
            container["readinessProbe"],
            json!({
                "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
            })
        );
        assert_eq!(
            object["spec"]["template"]["spec"].get("enableServiceLinks"),
            None,
            "only a Pod gets these"
        );
    }

    #[test]
    fn images_are_always_pulled_when_their_tag_moves() {
        let table = [
            ("no tag", "nginx", "Always"),
            ("the tag latest", "nginx:latest", "Always"),
            ("another tag", "nginx:1.27", "IfNotPresent"),
            ("a registry with a port and no tag", "registry.example:5000/nginx", "Always"),
            (
                "a digest",
                "nginx@sha256:0123456789012345678901234567890123456789012345678901234567890123",
                "IfNotPresent",
            ),
        ];
        for (sentence, image, expected) in table {
            let object = json!({"spec": {"containers": [{"name": "a", "image": image}]}});
            let object = defaulted("v1", "Pod", object);
            assert_eq!(object["spec"]["containers"][0]["imagePullPolicy"], expected, "{sentence}");
        }
    }

    #[test]
    fn requests_follow_limits_in_a_pod() {
        let object = json!({"spec": {"containers": [{"name": "a", "resources": {"limits": {"cpu": "1.0001", "memory": "1Gi"}, "requests": {"cpu": "100m"}}}]}});
        let object = defaulted("v1", "Pod", object);
        assert_eq!(
            object["spec"]["containers"][0]["resources"],
            json!({"limits": {"cpu": "1001m", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "1Gi"}})
        );
    }

    #[test]
    fn a_service_gets_its_type_and_target_ports() {
        let object =
            json!({"spec": {"type": "NodePort", "ports": [{"port": 80}, {"port": 90, "targetPort": "web"}]}});
        let object = defaulted("v1", "Service", object);
        assert_eq!(
            object["spec"],
            json!({
                "type": "NodePort", "sessionAffinity": "None", "externalTrafficPolicy": "Cluster",
                "internalTrafficPolicy": "Cluster",
                "ports": [
                    {"port": 80, "protocol": "TCP", "targetPort": 80},
                    {"port": 90, "protocol": "TCP", "targetPort": "web"},
                ],
            })
        );
    }
}
