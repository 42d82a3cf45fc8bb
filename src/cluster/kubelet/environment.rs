//! The environment and the volumes of a container, as far as they can be missing.
//!
//! Models: `pkg/kubelet/kubelet_pods.go` (`makeEnvironmentVariables`), the messages of `MountVolume` (v1.36).
//! Leaves out: the variables that name Services.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::ConfigMap;
use crate::api::kinds::pod::{Container, Pod};
use crate::api::meta::ObjectKey;
use crate::cluster::store::Store;

/// The variables of a container, or what they refer to in vain.
///
/// # Errors
/// In the kubelet's words: `configmap "settings" not found`.
pub fn environment(
    store: &Store,
    pod: &Pod,
    container: &Container,
    ip: &str,
) -> Result<BTreeMap<String, String>, String> {
    let namespace = &pod.meta.namespace;
    let mut variables = BTreeMap::from([("HOSTNAME".to_string(), pod.meta.name.to_string())]);
    let sources = container.rest.get("envFrom").and_then(Value::as_array);
    for source in sources.into_iter().flatten() {
        let prefix = source["prefix"].as_str().unwrap_or_default();
        for (name, value) in everything_in(store, namespace, source)? {
            variables.insert(format!("{prefix}{name}"), value);
        }
    }
    for variable in &container.env {
        let value = match &variable.value_from {
            Value::Null => Some(variable.value.clone()),
            from => one_value(store, pod, container, from, ip)?,
        };
        if let Some(value) = value {
            variables.insert(variable.name.clone(), value);
        }
    }
    Ok(variables)
}

fn everything_in(store: &Store, namespace: &str, source: &Value) -> Result<BTreeMap<String, String>, String> {
    let config_map = &source["configMapRef"];
    if let Some(name) = config_map["name"].as_str() {
        return match store.get::<ConfigMap>(namespace, name) {
            Some(found) => Ok(found.data.clone()),
            None if config_map["optional"] == true => Ok(BTreeMap::new()),
            None => Err(format!("configmap \"{name}\" not found")),
        };
    }
    let secret = &source["secretRef"];
    match secret["name"].as_str().map(|name| (name, secret_data(store, namespace, name))) {
        Some((_, Some(data))) => Ok(data),
        Some((name, None)) if secret["optional"] != true => Err(format!("secret \"{name}\" not found")),
        _ => Ok(BTreeMap::new()),
    }
}

/// What a Secret holds, decoded; `None` when there is no such Secret.
fn secret_data(store: &Store, namespace: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let secret = store.object(&ObjectKey::new(Kind::Secret, namespace, name))?.to_value();
    let decode = |(key, value): (&String, &Value)| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(value.as_str()?).ok()?;
        Some((key.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    Some(secret["data"].as_object().into_iter().flatten().filter_map(decode).collect())
}

fn one_value(
    store: &Store,
    pod: &Pod,
    container: &Container,
    from: &Value,
    ip: &str,
) -> Result<Option<String>, String> {
    let namespace = &pod.meta.namespace;
    let wanted = &from["configMapKeyRef"];
    if let Some(name) = wanted["name"].as_str() {
        let key = wanted["key"].as_str().unwrap_or_default();
        let optional = wanted["optional"] == true;
        let Some(found) = store.get::<ConfigMap>(namespace, name) else {
            return if optional { Ok(None) } else { Err(format!("configmap \"{name}\" not found")) };
        };
        return match found.data.get(key) {
            Some(value) => Ok(Some(value.clone())),
            None if optional => Ok(None),
            None => Err(format!("couldn't find key {key} in ConfigMap {namespace}/{name}")),
        };
    }
    let wanted = &from["secretKeyRef"];
    if let Some(name) = wanted["name"].as_str() {
        let key = wanted["key"].as_str().unwrap_or_default();
        let optional = wanted["optional"] == true;
        return match secret_data(store, namespace, name).map(|data| data.get(key).cloned()) {
            Some(Some(value)) => Ok(Some(value)),
            _ if optional => Ok(None),
            Some(None) => Err(format!("couldn't find key {key} in Secret {namespace}/{name}")),
            None => Err(format!("secret \"{name}\" not found")),
        };
    }
    let labelled = |path: &str, field: &str| {
        path.strip_prefix(field)?.strip_prefix("['")?.strip_suffix("']").map(ToString::to_string)
    };
    Ok(match from["fieldRef"]["fieldPath"].as_str() {
        Some("metadata.name") => Some(pod.meta.name.to_string()),
        Some("metadata.namespace") => Some(pod.meta.namespace.to_string()),
        Some("metadata.uid") => Some(pod.meta.uid.to_string()),
        Some("spec.nodeName") => Some(pod.node_name.to_string()),
        Some("spec.serviceAccountName") => Some(pod.spec.service_account_name.clone()),
        Some("status.podIP" | "status.podIPs") => Some(ip.to_string()),
        Some("status.hostIP" | "status.hostIPs") => Some(pod.status.host_ip.clone()),
        Some(path) => {
            let label = labelled(path, "metadata.labels").and_then(|key| pod.meta.labels.get(&key).cloned());
            label.or_else(|| {
                labelled(path, "metadata.annotations").and_then(|key| pod.meta.annotations.get(&key).cloned())
            })
        }
        None => from["resourceFieldRef"]["resource"].as_str().map(|resource| {
            let (list, name) = resource.split_once('.').unwrap_or(("", resource));
            let list =
                if list == "limits" { &container.resources.limits } else { &container.resources.requests };
            list.get(name).map_or(0, crate::api::quantity::Quantity::value).to_string()
        }),
    })
}

/// The first volume that cannot be mounted, and why: `("conf", "configmap \"settings\" not found")`.
pub fn unmountable(store: &Store, pod: &Pod) -> Option<(String, String)> {
    let volumes = pod.spec.rest.get("volumes").and_then(Value::as_array);
    volumes.into_iter().flatten().find_map(|volume| {
        let name = volume["name"].as_str().unwrap_or_default().to_string();
        missing_source(store, pod, volume).map(|why| (name, why))
    })
}

fn missing_source(store: &Store, pod: &Pod, volume: &Value) -> Option<String> {
    let config_map = &volume["configMap"];
    if let Some(name) = config_map["name"].as_str() {
        let is_missing =
            config_map["optional"] != true && store.get::<ConfigMap>(&pod.meta.namespace, name).is_none();
        // Every namespace has this one in a usual cluster, whether or not it is kept here.
        return (is_missing && name != "kube-root-ca.crt").then(|| format!("configmap \"{name}\" not found"));
    }
    let secret = &volume["secret"];
    let name = secret["secretName"].as_str()?;
    let is_missing = secret["optional"] != true && secret_data(store, &pod.meta.namespace, name).is_none();
    is_missing.then(|| format!("secret \"{name}\" not found"))
}

/// The files that the container's volumes put into it, by path; those of volumes that hold nothing from the start are
/// left out.
pub fn files_of(store: &Store, pod: &Pod, container: &Container) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mounts = container.rest.get("volumeMounts").and_then(Value::as_array);
    let volumes = pod.spec.rest.get("volumes").and_then(Value::as_array);
    for mount in mounts.into_iter().flatten() {
        let text = |key: &str| mount[key].as_str().unwrap_or_default();
        let Some(volume) = volumes.into_iter().flatten().find(|volume| volume["name"] == mount["name"])
        else {
            continue;
        };
        let (path, sub_path) = (text("mountPath").trim_end_matches('/'), text("subPath"));
        for (name, content) in contents_of(store, pod, volume) {
            match sub_path {
                "" => files.insert(format!("{path}/{name}"), content),
                sub_path if sub_path == name => files.insert(path.to_string(), content),
                _ => None,
            };
        }
    }
    files
}

/// What a volume holds, by file name.
fn contents_of(store: &Store, pod: &Pod, volume: &Value) -> Vec<(String, String)> {
    let namespace = &pod.meta.namespace;
    // The keys of a source under the names that its items give them.
    let picked = |data: BTreeMap<String, String>, source: &Value| -> Vec<(String, String)> {
        match source["items"].as_array() {
            None => data.into_iter().collect(),
            Some(items) => items
                .iter()
                .filter_map(|item| {
                    Some((item["path"].as_str()?.to_string(), data.get(item["key"].as_str()?)?.clone()))
                })
                .collect(),
        }
    };
    let config_map = |source: &Value| {
        let found = source["name"].as_str().and_then(|name| store.get::<ConfigMap>(namespace, name));
        match found {
            Some(found) => picked(found.data.clone(), source),
            None if source["name"] == "kube-root-ca.crt" => {
                vec![(
                    "ca.crt".to_string(),
                    "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".to_string(),
                )]
            }
            None => Vec::new(),
        }
    };
    let secret = |source: &Value, name: &str| {
        let found = source[name].as_str().and_then(|name| secret_data(store, namespace, name));
        found.map_or(Vec::new(), |data| picked(data, source))
    };
    let downward = |source: &Value| {
        let items = source["items"].as_array();
        let item = |item: &Value| {
            let value = one_value(store, pod, &Container::default(), item, &pod.status.pod_ip).ok().flatten();
            Some((item["path"].as_str()?.to_string(), value.unwrap_or_default()))
        };
        items.into_iter().flatten().filter_map(item).collect::<Vec<_>>()
    };
    let mut contents = config_map(&volume["configMap"]);
    contents.extend(secret(&volume["secret"], "secretName"));
    contents.extend(downward(&volume["downwardAPI"]));
    for source in volume["projected"]["sources"].as_array().into_iter().flatten() {
        contents.extend(config_map(&source["configMap"]));
        contents.extend(secret(&source["secret"], "name"));
        contents.extend(downward(&source["downwardAPI"]));
        if let Some(path) = source["serviceAccountToken"]["path"].as_str() {
            contents.push((path.to_string(), "a token".to_string()));
        }
    }
    contents
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use crate::api::object::Object;
    use crate::cluster::actor::Actor;
    use crate::cluster::fact::FactId;
    use serde_json::json;

    #[test]
    fn variables_come_from_values_config_maps_secrets_and_the_pod_or_name_what_is_missing() {
        let mut store = Store::default();
        for (kind, body) in [
            (
                Kind::ConfigMap,
                json!({"metadata": {"name": "settings", "namespace": "demo"}, "data": {"color": "blue"}}),
            ),
            (
                Kind::Secret,
                json!({"metadata": {"name": "db", "namespace": "demo"}, "data": {"password": "c2VjcmV0"}}),
            ),
        ] {
            store.put(Object::decode(kind, body).unwrap(), &Actor::You, FactId(1));
        }
        let pod = Pod::decode(json!({"metadata": {"name": "app", "namespace": "demo"}})).unwrap();
        let value_of = |from: Value| {
            let container =
                Container::decode(json!({"name": "c", "env": [{"name": "X", "valueFrom": from}]})).unwrap();
            environment(&store, &pod, &container, "10.0.0.1")
                .map(|found| found.get("X").cloned().unwrap_or_default())
        };
        let key = |kind: &str, name: &str, key: &str| json!({kind: {"name": name, "key": key}});
        let yes = |text: &str| Ok(text.to_string());
        let no = |text: &str| Err(text.to_string());
        assert_eq!(value_of(key("configMapKeyRef", "settings", "color")), yes("blue"));
        assert_eq!(value_of(key("secretKeyRef", "db", "password")), yes("secret"));
        assert_eq!(value_of(json!({"fieldRef": {"fieldPath": "metadata.name"}})), yes("app"));
        assert_eq!(value_of(key("configMapKeyRef", "none", "color")), no("configmap \"none\" not found"));
        assert_eq!(value_of(key("secretKeyRef", "none", "x")), no("secret \"none\" not found"));
        assert_eq!(
            value_of(key("secretKeyRef", "db", "user")),
            no("couldn't find key user in Secret demo/db")
        );
    }
}
