//! Defaults of Pods, containers and their volumes.

use serde_json::{Map, Value, json};

use super::{Record, inner, is_empty, items, made, set_absent, set_zero, text};

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    match kind {
        "core.v1.Pod" => {
            if let Some(spec) = inner(record, "spec") {
                pod(spec);
            }
        }
        "core.v1.PodSpec" => pod_spec(record),
        "core.v1.ReplicationController" => replication_controller(record),
        "core.v1.Container" | "core.v1.EphemeralContainer" => container(record),
        "core.v1.Probe" => {
            set_zero(record, "timeoutSeconds", 1);
            set_zero(record, "periodSeconds", 10);
            set_zero(record, "successThreshold", 1);
            set_zero(record, "failureThreshold", 3);
        }
        "core.v1.HTTPGetAction" => {
            set_absent(record, "path", "/");
            set_absent(record, "scheme", "HTTP");
        }
        "core.v1.GRPCAction" => set_absent(record, "service", ""),
        "core.v1.ObjectFieldSelector" => set_absent(record, "apiVersion", "v1"),
        "core.v1.FileKeySelector" => set_absent(record, "optional", false),
        "core.v1.Volume" => volume(record),
        "core.v1.SecretVolumeSource"
        | "core.v1.ConfigMapVolumeSource"
        | "core.v1.DownwardAPIVolumeSource"
        | "core.v1.ProjectedVolumeSource" => set_absent(record, "defaultMode", 0o644),
        "core.v1.ServiceAccountTokenProjection" => set_absent(record, "expirationSeconds", 3600),
        "core.v1.HostPathVolumeSource" => set_absent(record, "type", ""),
        "core.v1.AzureDiskVolumeSource" => set_absent(record, "readOnly", false),
        _ => {}
    }
}

/// The template's labels stand in for a selector and for labels of its own.
fn replication_controller(object: &mut Record) {
    let Some(spec) = inner(object, "spec") else { return };
    set_absent(spec, "replicas", 1);
    let labels = spec.get("template").and_then(|template| template.get("metadata")?.get("labels")).cloned();
    let Some(labels @ Value::Object(_)) = labels else { return };
    if is_empty(spec, "selector") {
        spec.insert("selector".to_string(), labels.clone());
    }
    let metadata = made(object, "metadata");
    if is_empty(metadata, "labels") {
        metadata.insert("labels".to_string(), labels);
    }
}

/// What only a Pod gets, not a template.
fn pod(spec: &mut Record) {
    for list in ["containers", "initContainers"] {
        for container in items(spec, list) {
            if let Some(resources) = inner(container, "resources") {
                requests_from_limits(resources);
            }
        }
    }
    pod_level_requests(spec);
    set_absent(spec, "enableServiceLinks", true);
    if spec.get("hostNetwork") == Some(&Value::Bool(true)) {
        for list in ["containers", "initContainers"] {
            for container in items(spec, list) {
                for port in items(container, "ports") {
                    let number = port.get("containerPort").and_then(Value::as_i64).unwrap_or(0);
                    set_zero(port, "hostPort", number);
                }
            }
        }
    }
}

fn requests_from_limits(resources: &mut Record) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else { return };
    let requests = made(resources, "requests");
    for (name, limit) in limits {
        requests.entry(name).or_insert(limit);
    }
}

/// Requests of the whole Pod, when it has limits of the whole Pod: the sum of the containers', else the limits.
fn pod_level_requests(spec: &mut Record) {
    use crate::api::quantity::Quantity;
    let Some(Value::Object(limits)) =
        spec.get("resources").and_then(|resources| resources.get("limits")).cloned()
    else {
        return;
    };
    if limits.is_empty() {
        return;
    }
    let mut sums: Map<String, Value> = Map::new();
    for container in items(spec, "containers") {
        let Some(requests) = inner(container, "resources").and_then(|resources| inner(resources, "requests"))
        else {
            continue;
        };
        for (name, amount) in requests.iter() {
            let parse = |value: Option<&Value>| {
                value.and_then(Value::as_str).and_then(|text| Quantity::parse(text).ok())
            };
            let sum = parse(sums.get(name)).unwrap_or_default().add(&parse(Some(amount)).unwrap_or_default());
            sums.insert(name.clone(), Value::String(sum.to_string()));
        }
    }
    let is_supported = |name: &str| name == "cpu" || name == "memory" || name.starts_with("hugepages-");
    let Some(resources) = inner(spec, "resources") else { return };
    let requests = made(resources, "requests");
    for (name, amount) in sums.into_iter().filter(|(name, _)| name == "cpu" || name == "memory").chain(limits)
    {
        if is_supported(&name) {
            requests.entry(name).or_insert(amount);
        }
    }
    if requests.is_empty() {
        resources.remove("requests");
    }
}

fn pod_spec(spec: &mut Record) {
    set_absent(spec, "dnsPolicy", "ClusterFirst");
    set_absent(spec, "restartPolicy", "Always");
    set_absent(spec, "securityContext", json!({}));
    set_absent(spec, "terminationGracePeriodSeconds", 30);
    set_absent(spec, "schedulerName", "default-scheduler");
    // The old name of the field is kept in step with the new one.
    let account = match text(spec, "serviceAccountName") {
        "" => text(spec, "serviceAccount").to_string(),
        account => account.to_string(),
    };
    if account.is_empty() {
        spec.remove("serviceAccount");
    } else {
        spec.insert("serviceAccountName".to_string(), Value::String(account.clone()));
        spec.insert("serviceAccount".to_string(), Value::String(account));
    }
}

fn container(container: &mut Record) {
    let policy = pull_policy(text(container, "image"));
    set_absent(container, "imagePullPolicy", policy);
    set_absent(container, "terminationMessagePath", "/dev/termination-log");
    set_absent(container, "terminationMessagePolicy", "File");
}

/// `Always` for an image whose tag is, or defaults to, `latest`.
fn pull_policy(image: &str) -> &'static str {
    if image.is_empty() || image.contains('@') {
        return "IfNotPresent";
    }
    let last = image.rsplit('/').next().unwrap_or(image);
    match last.split_once(':') {
        None | Some((_, "latest")) => "Always",
        Some(_) => "IfNotPresent",
    }
}

fn volume(volume: &mut Record) {
    if volume.keys().all(|name| name == "name") {
        volume.insert("emptyDir".to_string(), json!({}));
    }
    if let Some(image) = inner(volume, "image") {
        let policy = pull_policy(text(image, "reference"));
        set_absent(image, "pullPolicy", policy);
    }
    if let Some(projected) = inner(volume, "projected")
        && is_empty(projected, "sources")
    {
        projected.insert("sources".to_string(), Value::Null);
    }
}
