//! The environment of a container, and what its variables refer to in vain.
//!
//! Models: `pkg/kubelet/kubelet_pods.go` (`makeEnvironmentVariables`, `getServiceEnvVarMap`, `podFieldSelectorRuntimeValue`),
//! `pkg/kubelet/envvars/envvars.go`, `third_party/forked/golang/expansion` (v1.36). Leaves out: environment files, variables
//! that an image brings along; a Service that was deleted since a container started is missing in what `exec` shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::{ConfigMap, Node};
use crate::api::kinds::networking::Service;
use crate::api::kinds::pod::{Container, Pod};
use crate::api::meta::ObjectKey;
use crate::api::quantity::Quantity;
use crate::api::time::Timestamp;
use crate::cluster::runtime::process::Process;
use crate::cluster::runtime::script::expanded;
use crate::cluster::store::Store;

/// Where commands are looked for.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The variables of a container, or what they refer to in vain: as they are now, or as they were when `run` started. What
/// is changed later in a ConfigMap, a Secret or a Service reaches the next run.
///
/// # Errors
/// In the kubelet's words: `configmap "settings" not found`.
pub fn environment(
    store: &Store,
    pod: &Pod,
    container: &Container,
    ip: &str,
    run: Option<&Process>,
) -> Result<BTreeMap<String, String>, String> {
    let services = service_variables(store, pod, run.map(|run| run.started_at));
    let mut variables = match run.and_then(|run| run.variables.as_deref()) {
        Some(variables) => variables.clone(),
        None => own_variables(store, pod, container, ip, &services)?,
    };
    let usual = [
        ("PATH", PATH),
        ("HOME", "/root"),
        ("HOSTNAME", pod.spec.rest.get("hostname").and_then(Value::as_str).unwrap_or(&pod.meta.name)),
    ];
    for (name, value) in usual {
        variables.entry(name.to_string()).or_insert_with(|| value.to_string());
    }
    for (name, value) in services {
        variables.entry(name).or_insert(value);
    }
    Ok(variables)
}

/// The variables that a run keeps: what its spec takes from other objects; `None` where the spec says it all.
pub fn kept_variables(
    container: &Container,
    environment: &BTreeMap<String, String>,
) -> Option<Arc<BTreeMap<String, String>>> {
    let is_taken = container.env.iter().any(|variable| !variable.value_from.is_null())
        || container.rest.get("envFrom").is_some();
    is_taken.then(|| Arc::new(environment.clone()))
}

/// What the container's own spec sets.
fn own_variables(
    store: &Store,
    pod: &Pod,
    container: &Container,
    ip: &str,
    services: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, String> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let sources = container.rest.get("envFrom").and_then(Value::as_array);
    for source in sources.into_iter().flatten() {
        let prefix = source["prefix"].as_str().unwrap_or_default();
        for (name, value) in everything_in(store, &pod.meta.namespace, source)? {
            variables.insert(format!("{prefix}{name}"), value);
        }
    }
    for variable in &container.env {
        let value = match &variable.value_from {
            Value::Null => {
                Some(expanded(&variable.value, &|name| variables.get(name).or_else(|| services.get(name))))
            }
            from => one_value(store, pod, container, from, ip)?,
        };
        if let Some(value) = value {
            variables.insert(variable.name.clone(), value);
        }
    }
    Ok(variables)
}

/// The variables that name the Services of the Pod's namespace that were there then, and the API server's Service in any
/// case.
fn service_variables(store: &Store, pod: &Pod, then: Option<Timestamp>) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let is_linked = pod.spec.rest.get("enableServiceLinks") != Some(&Value::Bool(false));
    let own = store.list_in::<Service>(&pod.meta.namespace).filter(|_| is_linked);
    if let Some(api_server) = store.get::<Service>("default", "kubernetes") {
        add_service(&mut variables, api_server);
    }
    let was_there =
        |service: &&Arc<Service>| then.is_none_or(|then| service.meta.creation_timestamp < Some(then));
    for service in own.filter(was_there) {
        add_service(&mut variables, service);
    }
    variables
}

fn add_service(variables: &mut BTreeMap<String, String>, service: &Service) {
    let ip = service.spec.cluster_ip.as_str();
    if matches!(ip, "" | "None") {
        return;
    }
    let shouted = |name: &str| name.to_uppercase().replace('-', "_");
    let prefix = shouted(&service.meta.name);
    let mut put = |name: String, value: String| {
        variables.insert(name, value);
    };
    put(format!("{prefix}_SERVICE_HOST"), ip.to_string());
    for (index, port) in service.spec.ports.iter().enumerate() {
        let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
        let small = protocol.to_lowercase();
        let url = format!("{small}://{ip}:{}", port.port);
        if index == 0 {
            put(format!("{prefix}_SERVICE_PORT"), port.port.to_string());
            put(format!("{prefix}_PORT"), url.clone());
        }
        if !port.name.is_empty() {
            put(format!("{prefix}_SERVICE_PORT_{}", shouted(&port.name)), port.port.to_string());
        }
        let link = format!("{prefix}_PORT_{}_{protocol}", port.port);
        put(format!("{link}_PROTO"), small);
        put(format!("{link}_PORT"), port.port.to_string());
        put(format!("{link}_ADDR"), ip.to_string());
        put(link, url);
    }
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
pub fn secret_data(store: &Store, namespace: &str, name: &str) -> Option<BTreeMap<String, String>> {
    let secret = store.object(&ObjectKey::new(Kind::Secret, namespace, name))?.to_value();
    let decode = |(key, value): (&String, &Value)| {
        let bytes = base64::engine::general_purpose::STANDARD.decode(value.as_str()?).ok()?;
        Some((key.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    Some(secret["data"].as_object().into_iter().flatten().filter_map(decode).collect())
}

/// The value that a variable, or a file of a volume, is to have; nothing when what it refers to is missing and optional.
///
/// # Errors
/// In the kubelet's words: what is missing.
pub fn one_value(
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
    let field = from["fieldRef"]["fieldPath"].as_str();
    Ok(match field {
        Some(path) => field_of(pod, path, ip),
        None => resource_of(store, pod, container, &from["resourceFieldRef"]),
    })
}

/// A field of the Pod, as a text.
fn field_of(pod: &Pod, path: &str, ip: &str) -> Option<String> {
    let labelled = |field: &str| path.strip_prefix(field)?.strip_prefix("['")?.strip_suffix("']");
    let host = || match pod.status.host_ip.as_str() {
        "" => ip.to_string(),
        host => host.to_string(),
    };
    let lines = |map: &BTreeMap<String, String>| {
        map.iter().map(|(key, value)| format!("{key}={value:?}")).collect::<Vec<_>>().join("\n")
    };
    Some(match path {
        "metadata.name" => pod.meta.name.to_string(),
        "metadata.namespace" => pod.meta.namespace.to_string(),
        "metadata.uid" => pod.meta.uid.to_string(),
        "metadata.labels" => lines(&pod.meta.labels),
        "metadata.annotations" => lines(&pod.meta.annotations),
        "spec.nodeName" => pod.node_name.to_string(),
        "spec.serviceAccountName" => pod.spec.service_account_name.clone(),
        "status.podIP" | "status.podIPs" => ip.to_string(),
        "status.hostIP" | "status.hostIPs" => host(),
        _ => {
            let label = labelled("metadata.labels").and_then(|key| pod.meta.labels.get(key));
            let annotation =
                || labelled("metadata.annotations").and_then(|key| pod.meta.annotations.get(key));
            label.or_else(annotation).cloned().unwrap_or_default()
        }
    })
}

/// What a container asks for or may use, in units of the divisor, rounded up. A limit that is not set is what the node has.
fn resource_of(store: &Store, pod: &Pod, container: &Container, wanted: &Value) -> Option<String> {
    let (list, name) = wanted["resource"].as_str()?.split_once('.')?;
    let named = wanted["containerName"].as_str().filter(|named| !named.is_empty());
    let mut all = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let container = named.map_or(Some(container), |named| all.find(|container| container.name == named))?;
    let resources = &container.resources;
    let amount = match list {
        "limits" => resources.limits.get(name).copied().or_else(|| {
            let node = store.get::<Node>("", &pod.node_name)?;
            node.status.allocatable.get(name).copied()
        }),
        _ => resources.requests.get(name).copied(),
    };
    let divisor = wanted["divisor"].as_str().and_then(|divisor| Quantity::parse(divisor).ok());
    let divisor = divisor.filter(|divisor| divisor.milli() > 0).unwrap_or(Quantity::from_value(1));
    let amount = amount.unwrap_or_default();
    let (amount, divisor) = if name == "cpu" {
        (amount.milli(), divisor.milli())
    } else {
        (amount.value(), divisor.value().max(1))
    };
    Some(((amount + divisor - 1) / divisor).to_string())
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
            environment(&store, &pod, &container, "10.0.0.1", None)
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
