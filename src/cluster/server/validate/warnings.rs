//! What the server warns of although it accepts it.
//!
//! Models: `pkg/api/pod/warnings.go`, `pkg/api/service/warnings.go`, `pkg/api/persistentvolume/util.go` (v1.36).
//! Leaves out: deprecated node labels and annotations; whether a certificate fits its key.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::Value;

use super::node::Node;
use crate::api::schema::Type;

/// The warnings about an object, in order.
pub fn warnings(kind: &'static Type, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let object = Node::root(object);
    let spec = object.at("spec");
    match kind.name {
        "core.v1.Pod" => of_pod_spec(&mut found, &spec),
        "apps.v1.Deployment"
        | "apps.v1.ReplicaSet"
        | "apps.v1.StatefulSet"
        | "apps.v1.DaemonSet"
        | "batch.v1.Job" => {
            of_pod_spec(&mut found, &spec.at("template").at("spec"));
        }
        "batch.v1.CronJob" => {
            of_pod_spec(&mut found, &spec.at("jobTemplate").at("spec").at("template").at("spec"));
        }
        "core.v1.Endpoints" => {
            found.push(
                "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".to_string(),
            );
        }
        "core.v1.Secret" if object.at("type").text() == "kubernetes.io/tls" => {
            let bytes =
                base64::engine::general_purpose::STANDARD.decode(object.at("data").at("tls.crt").text());
            if !String::from_utf8_lossy(&bytes.unwrap_or_default()).contains("-----BEGIN ") {
                found.push("tls: failed to find any PEM data in certificate input".to_string());
            }
        }
        "core.v1.Service" => {
            if !spec.at("externalIPs").is_empty() {
                let text = "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
                found.push(text.to_string());
            }
        }
        "core.v1.PersistentVolume" if spec.at("persistentVolumeReclaimPolicy").text() == "Recycle" => {
            found.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.".to_string());
        }
        _ => {}
    }
    found
}

fn of_pod_spec(found: &mut Vec<String>, spec: &Node<'_>) {
    let mut ports: BTreeMap<(i64, &str), String> = BTreeMap::new();
    for list in ["initContainers", "containers"] {
        for container in spec.at(list).items() {
            let mut variables = BTreeMap::new();
            for variable in container.at("env").items() {
                let name = variable.at("name").text();
                if variables.insert(name, ()).is_some() {
                    found.push(format!(
                        "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                        variable.path
                    ));
                }
            }
            for port in container.at("ports").items() {
                let key = (port.at("containerPort").number(), port.at("protocol").text());
                if let Some(first) = ports.get(&key) {
                    found.push(format!("{}: duplicate port definition with {first}", port.path));
                } else {
                    ports.insert(key, port.path.clone());
                }
            }
        }
    }
}
