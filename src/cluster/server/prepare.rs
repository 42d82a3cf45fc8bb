//! The stage between defaulting and validation: what the server itself sets on a new or changed object, whatever the
//! client sent. The status of most kinds cannot be written with the object; the generation counts changes of the spec.
//!
//! Models: `pkg/registry/*/*/strategy.go` `PrepareForCreate` and `PrepareForUpdate`,
//! `pkg/apis/core/v1/helper/qos/qos.go` (v1.36).
//! Leaves out: the allocation of cluster IPs and node ports, which needs the store; fields behind gates that are closed
//! by default, but for those of Pods.

use serde_json::{Map, Value, json};

use crate::api::codec::Codec;
use crate::api::quantity::Quantity;
use crate::api::schema::Type;
use crate::cluster::server::decode::normalise;

/// Kinds whose status a client cannot write together with the object.
const STATUS_IS_APART: [&str; 23] = [
    "admissionregistration.v1.ValidatingAdmissionPolicy",
    "apiextensions.v1.CustomResourceDefinition",
    "apiregistration.v1.APIService",
    "apps.v1.DaemonSet",
    "apps.v1.Deployment",
    "apps.v1.ReplicaSet",
    "apps.v1.StatefulSet",
    "autoscaling.v2.HorizontalPodAutoscaler",
    "batch.v1.CronJob",
    "batch.v1.Job",
    "certificates.v1.CertificateSigningRequest",
    "core.v1.Namespace",
    "core.v1.PersistentVolumeClaim",
    "core.v1.Pod",
    "core.v1.ReplicationController",
    "core.v1.Service",
    "flowcontrol.v1.FlowSchema",
    "flowcontrol.v1.PriorityLevelConfiguration",
    "networking.v1.Ingress",
    "networking.v1.ServiceCIDR",
    "policy.v1.PodDisruptionBudget",
    "resource.v1.ResourceClaim",
    "storage.v1.VolumeAttachment",
];

/// Kinds that count the changes of their spec.
const HAS_GENERATION: [&str; 27] = [
    "admissionregistration.v1.MutatingAdmissionPolicy",
    "admissionregistration.v1.MutatingAdmissionPolicyBinding",
    "admissionregistration.v1.MutatingWebhookConfiguration",
    "admissionregistration.v1.ValidatingAdmissionPolicy",
    "admissionregistration.v1.ValidatingAdmissionPolicyBinding",
    "admissionregistration.v1.ValidatingWebhookConfiguration",
    "apiextensions.v1.CustomResourceDefinition",
    "apps.v1.DaemonSet",
    "apps.v1.Deployment",
    "apps.v1.ReplicaSet",
    "apps.v1.StatefulSet",
    "batch.v1.CronJob",
    "batch.v1.Job",
    "core.v1.Pod",
    "core.v1.PodTemplate",
    "core.v1.ReplicationController",
    "discovery.v1.EndpointSlice",
    "flowcontrol.v1.FlowSchema",
    "flowcontrol.v1.PriorityLevelConfiguration",
    "networking.v1.Ingress",
    "networking.v1.IngressClass",
    "networking.v1.NetworkPolicy",
    "policy.v1.PodDisruptionBudget",
    "resource.v1.DeviceClass",
    "resource.v1.ResourceSlice",
    "scheduling.v1.PriorityClass",
    "storage.v1.CSIDriver",
];

/// Kinds where every change but one of metadata and status counts.
const WHOLE_OBJECT_COUNTS: [&str; 4] = [
    "admissionregistration.v1.MutatingWebhookConfiguration",
    "admissionregistration.v1.ValidatingWebhookConfiguration",
    "discovery.v1.EndpointSlice",
    "scheduling.v1.PriorityClass",
];

fn record<'a>(object: &'a mut Value, name: &str) -> &'a mut Map<String, Value> {
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let inner = &mut object[name];
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    match inner {
        Value::Object(inner) => inner,
        _ => unreachable!("the value was just made an object"),
    }
}

/// Drops what a Pod, or a template of Pods, says behind gates that are closed by default.
///
/// Models: `pkg/api/pod/util.go: DropDisabledPodFields`.
fn drop_gated(spec: &mut Value) {
    for volume in spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        let sources = volume.pointer_mut("/projected/sources").and_then(Value::as_array_mut);
        for source in sources.into_iter().flatten().filter_map(Value::as_object_mut) {
            source.remove("clusterTrustBundle");
            source.remove("podCertificate");
        }
    }
    for list in ["containers", "initContainers"] {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten().filter_map(Value::as_object_mut) {
            if let Some(Value::Object(lifecycle)) = container.get_mut("lifecycle") {
                lifecycle.remove("stopSignal");
                if lifecycle.is_empty() {
                    container.remove("lifecycle");
                }
            }
        }
    }
}

/// The Pod's spec in an object, or in the template that it holds.
fn pod_spec<'a>(kind: &str, object: &'a mut Value) -> Option<&'a mut Value> {
    object.pointer_mut(match kind {
        "core.v1.Pod" => "/spec",
        "core.v1.PodTemplate" => "/template/spec",
        "batch.v1.CronJob" => "/spec/jobTemplate/spec/template/spec",
        _ if kind.starts_with("apps.")
            || matches!(kind, "batch.v1.Job" | "core.v1.ReplicationController") =>
        {
            "/spec/template/spec"
        }
        _ => return None,
    })
}

/// Prepares a new object; its name, namespace and uid are set already.
pub fn prepare_for_create(kind: &'static Type, object: &mut Value) {
    if let Some(spec) = pod_spec(kind.name, object) {
        drop_gated(spec);
    }
    if STATUS_IS_APART.contains(&kind.name) || kind.name == "core.v1.ResourceQuota" {
        let empty = normalise(kind, &Value::Null);
        let mut status = empty.get("status").cloned().unwrap_or_else(|| json!({}));
        if kind.name == "apiextensions.v1.CustomResourceDefinition" {
            status["storedVersions"] = object["status"]["storedVersions"].clone();
        }
        object["status"] = status;
    }
    let metadata = record(object, "metadata");
    metadata.remove("selfLink");
    metadata.remove("deletionTimestamp");
    metadata.remove("deletionGracePeriodSeconds");
    if HAS_GENERATION.contains(&kind.name) {
        metadata.insert("generation".to_string(), Value::from(1));
    } else {
        metadata.remove("generation");
    }
    match kind.name {
        "core.v1.Pod" => {
            let class = quality_of_service(object);
            object["status"] = json!({"phase": "Pending", "qosClass": class});
        }
        "core.v1.Namespace" => {
            object["status"] = json!({"phase": "Active"});
            let finalizers = record(object, "spec").entry("finalizers").or_insert_with(|| json!([]));
            if let Value::Array(finalizers) = finalizers
                && !finalizers.iter().any(|finalizer| finalizer == "kubernetes")
            {
                finalizers.push(json!("kubernetes"));
            }
        }
        "core.v1.PersistentVolumeClaim" => {
            object["status"] = json!({"phase": "Pending"});
            data_sources(record(object, "spec"));
            protect(object, "kubernetes.io/pvc-protection");
        }
        "core.v1.PersistentVolume" => {
            object["status"] = json!({"phase": "Pending"});
            protect(object, "kubernetes.io/pv-protection");
        }
        "core.v1.Service" => service(object),
        "core.v1.Node" => {
            // The plugin TaintNodesByCondition: a node that does not report to be ready takes no Pods.
            let conditions = object["status"]["conditions"].as_array();
            let is_ready =
                conditions.into_iter().flatten().any(|c| c["type"] == "Ready" && c["status"] == "True");
            let taint = json!({"effect": "NoSchedule", "key": "node.kubernetes.io/not-ready"});
            let taints = record(object, "spec").entry("taints").or_insert_with(|| json!([]));
            if let Value::Array(taints) = taints
                && !is_ready
                && !taints
                    .iter()
                    .any(|known| known["key"] == taint["key"] && known["effect"] == taint["effect"])
            {
                taints.push(taint);
            }
            if object["spec"]["taints"] == json!([]) {
                record(object, "spec").remove("taints");
            }
        }
        "apps.v1.DaemonSet" => {
            let annotations = &mut object["metadata"]["annotations"];
            annotations["deprecated.daemonset.template.generation"] = json!("1");
        }
        "batch.v1.Job" => job(object),
        _ => {}
    }
    if kind.name == "core.v1.Pod" {
        app_armor_from_annotations(object);
        label_keys_in_selectors(object);
    }
}

/// Keeps the old field for the source of a claim's data in step with the new one; the old field knows claims and
/// snapshots only, and anything else in it is passed over.
///
/// Models: `pkg/api/persistentvolumeclaim/util.go`.
fn data_sources(spec: &mut Map<String, Value>) {
    // A source in another namespace is behind a gate that is closed by default.
    let is_elsewhere = |source: &Value| source["namespace"].as_str().is_some_and(|name| !name.is_empty());
    if spec.get("dataSourceRef").is_some_and(is_elsewhere) {
        spec.remove("dataSourceRef");
    }
    if spec.get("dataSourceRef").is_none_or(Value::is_null) {
        let is_known = spec.get("dataSource").is_some_and(|source| {
            let group = source["apiGroup"].as_str().unwrap_or_default();
            let kind = source["kind"].as_str().unwrap_or_default();
            matches!(
                (group, kind),
                ("", "PersistentVolumeClaim") | ("snapshot.storage.k8s.io", "VolumeSnapshot")
            )
        });
        if !is_known {
            spec.remove("dataSource");
        }
    }
    for (from, to) in [("dataSource", "dataSourceRef"), ("dataSourceRef", "dataSource")] {
        if let (Some(Value::Object(source)), None) = (spec.get(from).cloned(), spec.get(to))
            && !source.contains_key("namespace")
        {
            spec.insert(to.to_string(), Value::Object(source));
        }
    }
}

/// A profile for a container that stands in an annotation, as it did before there was a field.
fn app_armor_from_annotations(pod: &mut Value) {
    const PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";
    if pod["spec"]["os"]["name"] == "windows" {
        return;
    }
    let whole = pod["spec"]["securityContext"]["appArmorProfile"].clone();
    let annotations = pod["metadata"]["annotations"].clone();
    for list in ["initContainers", "containers"] {
        for container in pod["spec"].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let key = format!("{PREFIX}{}", container["name"].as_str().unwrap_or_default());
            let Some(text) = annotations[&key].as_str() else { continue };
            let profile = match (text, text.strip_prefix("localhost/")) {
                ("runtime/default", _) => json!({"type": "RuntimeDefault"}),
                ("unconfined", _) => json!({"type": "Unconfined"}),
                (_, Some(name)) if !name.is_empty() && name.trim() == name => {
                    json!({"type": "Localhost", "localhostProfile": name})
                }
                _ => continue,
            };
            if !container["securityContext"]["appArmorProfile"].is_null() || profile == whole {
                continue;
            }
            record(container, "securityContext").insert("appArmorProfile".to_string(), profile);
        }
    }
}

/// Writes the Pod's own values of the labels that a term or constraint names into its selector.
fn label_keys_in_selectors(pod: &mut Value) {
    let labels = pod["metadata"]["labels"].clone();
    let complete = |term: &mut Value| {
        if !term["labelSelector"].is_object() {
            return;
        }
        for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
            for key in term[field].as_array().cloned().unwrap_or_default() {
                let Some(value) = labels.get(key.as_str().unwrap_or_default()) else { continue };
                let expression = json!({"key": key, "operator": operator, "values": [value]});
                let expressions = term["labelSelector"]["matchExpressions"].as_array_mut();
                match expressions {
                    Some(expressions) => expressions.push(expression),
                    None => term["labelSelector"]["matchExpressions"] = json!([expression]),
                }
            }
        }
    };
    let Some(spec) = pod.get_mut("spec") else { return };
    for constraint in
        spec.get_mut("topologySpreadConstraints").and_then(Value::as_array_mut).into_iter().flatten()
    {
        complete(constraint);
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = spec.pointer_mut(&format!("/affinity/{kind}")) else { continue };
        for list in ["preferred", "required"] {
            let list = format!("{list}DuringSchedulingIgnoredDuringExecution");
            for term in affinity.get_mut(&list).and_then(Value::as_array_mut).into_iter().flatten() {
                match term.get_mut("podAffinityTerm") {
                    Some(inner) => complete(inner),
                    None => complete(term),
                }
            }
        }
    }
}

/// Prepares a changed object, given the one that is stored.
pub fn prepare_for_update(kind: &'static Type, old: &Value, new: &mut Value) {
    for name in ["uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"]
    {
        let metadata = record(new, "metadata");
        match old["metadata"].get(name) {
            Some(value) => {
                metadata.insert(name.to_string(), value.clone());
            }
            None => {
                metadata.remove(name);
            }
        }
    }
    if STATUS_IS_APART.contains(&kind.name)
        || matches!(kind.name, "core.v1.ResourceQuota" | "core.v1.PersistentVolume")
    {
        match old.get("status") {
            Some(status) => new["status"] = status.clone(),
            None => {
                record(new, "status");
            }
        }
    }
    match kind.name {
        "core.v1.Service" => service_update(old, new),
        "core.v1.Pod" => pod_update(old, new),
        _ => {}
    }
    if HAS_GENERATION.contains(&kind.name) {
        let counts = |object: &Value| {
            let mut counted = object.clone();
            if let Value::Object(members) = &mut counted {
                members.retain(|name, _| match WHOLE_OBJECT_COUNTS.contains(&kind.name) {
                    true => name != "metadata",
                    false => name == "spec",
                });
            }
            counted
        };
        if counts(old) != counts(new) {
            let before = old["metadata"]["generation"].as_i64().unwrap_or(0);
            new["metadata"]["generation"] = Value::from(before + 1);
        }
    }
}

/// Gives a changed Pod what admission had given the stored one and the request left out: its priority and the default
/// tolerations.
///
/// Models: `plugin/pkg/admission/{priority,defaulttolerationseconds}`, which act on updates too, before validation.
fn pod_update(old: &Value, new: &mut Value) {
    let old = &old["spec"];
    let spec = record(new, "spec");
    for name in ["priority", "preemptionPolicy"] {
        if let Some(value) = old.get(name) {
            spec.entry(name).or_insert_with(|| value.clone());
        }
    }
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Value::Array(tolerations) = tolerations else { return };
    for standard in super::admit::default_tolerations() {
        let covers = |toleration: &Value| {
            let (key, effect) = (&toleration["key"], &toleration["effect"]);
            (*key == *standard.key || key.is_null() || key == "")
                && (effect == "NoExecute" || effect.is_null() || effect == "")
        };
        if !tolerations.iter().any(covers) {
            tolerations.push(standard.encode());
        }
    }
}

/// Keeps a volume or claim from vanishing while it is in use: the plugin StorageObjectInUseProtection.
fn protect(object: &mut Value, finalizer: &str) {
    let finalizers = record(object, "metadata").entry("finalizers").or_insert_with(|| json!([]));
    if let Value::Array(finalizers) = finalizers
        && !finalizers.iter().any(|known| known == finalizer)
    {
        finalizers.push(json!(finalizer));
    }
}

/// A Pod's class, which decides who is evicted first.
pub fn quality_of_service(pod: &Value) -> &'static str {
    let spec = &pod["spec"];
    let amount = |resources: &Value, list: &str, name: &str| {
        let text = resources[list][name].as_str()?;
        Quantity::parse(text).ok().filter(|amount| !amount.is_zero() && !amount.is_negative())
    };
    let whole = &spec["resources"];
    let of_whole: Vec<&Value> = if whole.is_object() { vec![whole] } else { Vec::new() };
    let of_containers = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|list| spec[list].as_array().into_iter().flatten())
        .map(|container| &container["resources"]);
    let all: Vec<&Value> = if of_whole.is_empty() { of_containers.collect() } else { of_whole };
    let (mut any, mut guaranteed) = (false, true);
    for resources in all {
        for name in ["cpu", "memory"] {
            let (request, limit) = (amount(resources, "requests", name), amount(resources, "limits", name));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && request == limit;
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// What a Service of a cluster with one IP family holds besides its address.
fn service(object: &mut Value) {
    let spec = record(object, "spec");
    let is_elsewhere = spec.get("type") == Some(&json!("ExternalName"));
    match spec.get("clusterIP").and_then(Value::as_str) {
        Some(address) if !address.is_empty() => {
            let address = json!([address]);
            spec.entry("clusterIPs").or_insert(address);
        }
        _ => {
            if let Some(first) = spec.get("clusterIPs").and_then(|addresses| addresses.get(0)).cloned() {
                spec.insert("clusterIP".to_string(), first);
            }
        }
    }
    if is_elsewhere {
        return;
    }
    let is_headless = spec.get("clusterIP") == Some(&json!("None"));
    let has_selector =
        spec.get("selector").and_then(Value::as_object).is_some_and(|selector| !selector.is_empty());
    // A headless Service that selects nothing could be of any family.
    let policy = if is_headless && !has_selector { "RequireDualStack" } else { "SingleStack" };
    spec.entry("ipFamilyPolicy").or_insert_with(|| json!(policy));
    let families = if is_headless && !has_selector { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) };
    spec.entry("ipFamilies").or_insert(families);
}

/// Keeps the address and the node ports that an update leaves out.
fn service_update(old: &Value, new: &mut Value) {
    let (old_spec, spec) = (&old["spec"], record(new, "spec"));
    let kind = spec.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
    if kind == "ExternalName" {
        if old_spec["type"] != "ExternalName" {
            for name in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                if spec.get(name) == old_spec.get(name) {
                    spec.remove(name);
                }
            }
        }
        return;
    }
    for name in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
        if let (None, Some(value)) = (spec.get(name), old_spec.get(name)) {
            spec.insert(name.to_string(), value.clone());
        }
    }
    // Who changes only one of the two fields for the address means both.
    let (address, list) = (spec.get("clusterIP").cloned(), spec.get("clusterIPs").cloned());
    if address.as_ref() != old_spec.get("clusterIP") && list.as_ref() == old_spec.get("clusterIPs") {
        spec.insert("clusterIPs".to_string(), Value::Array(address.into_iter().collect()));
    } else if let Some(first) = list.as_ref().and_then(|list| list.get(0))
        && list.as_ref() != old_spec.get("clusterIPs")
    {
        spec.insert("clusterIP".to_string(), first.clone());
    }
    if matches!(kind.as_str(), "NodePort" | "LoadBalancer")
        && let Some(Value::Array(ports)) = spec.get_mut("ports")
    {
        for port in ports {
            let same = |old: &&Value| old["port"] == port["port"] && old["protocol"] == port["protocol"];
            let before = old_spec["ports"]
                .as_array()
                .into_iter()
                .flatten()
                .find(same)
                .map(|old| old["nodePort"].clone());
            if let (None, Some(number @ Value::Number(_))) = (port.get("nodePort"), before) {
                port["nodePort"] = number;
            }
        }
    }
    if kind == "ClusterIP" && matches!(old_spec["type"].as_str(), Some("NodePort" | "LoadBalancer")) {
        let old_ports = old_spec["ports"].as_array().cloned().unwrap_or_default();
        for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
            if old_ports.iter().any(|old| old["nodePort"] == port["nodePort"])
                && let Value::Object(port) = port
            {
                port.remove("nodePort");
            }
        }
        if spec.get("externalIPs").is_none() {
            spec.remove("externalTrafficPolicy");
        }
    }
    let is_checked = kind == "LoadBalancer" && spec.get("externalTrafficPolicy") == Some(&json!("Local"));
    match (old_spec.get("healthCheckNodePort"), is_checked) {
        (Some(port), true) => {
            spec.entry("healthCheckNodePort").or_insert_with(|| port.clone());
        }
        (Some(port), false) if spec.get("healthCheckNodePort") == Some(port) => {
            spec.remove("healthCheckNodePort");
        }
        _ => {}
    }
    if kind != "LoadBalancer" && old_spec["type"] == "LoadBalancer" {
        spec.remove("allocateLoadBalancerNodePorts");
        spec.remove("loadBalancerClass");
    }
}

/// The selector and labels by which a Job finds its Pods.
fn job(object: &mut Value) {
    if object["spec"]["manualSelector"] == true {
        return;
    }
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_string();
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_string();
    let shares_labels = object["metadata"]["labels"] == object["spec"]["template"]["metadata"]["labels"];
    let labels = &mut object["spec"]["template"]["metadata"]["labels"];
    for (key, value) in [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("job-name", &name),
    ] {
        labels[key] = json!(value);
    }
    let labels = labels.clone();
    // A Job without labels of its own shares those of its template.
    let own = &mut object["metadata"]["labels"];
    if shares_labels || own.as_object().is_none_or(Map::is_empty) {
        *own = labels;
    }
    object["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] = json!(uid);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::root_of;

    #[test]
    fn classes_follow_from_requests_and_limits() {
        let table = [
            ("nothing asked", json!([{}]), "BestEffort"),
            ("a request", json!([{"resources": {"requests": {"cpu": "1"}}}]), "Burstable"),
            (
                "limits equal to requests everywhere",
                json!([{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1Gi"}}}]),
                "Guaranteed",
            ),
            (
                "one container without",
                json!([{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}}, {}]),
                "Burstable",
            ),
        ];
        for (sentence, containers, expected) in table {
            assert_eq!(
                quality_of_service(&json!({"spec": {"containers": containers}})),
                expected,
                "{sentence}"
            );
        }
    }

    #[test]
    fn a_new_object_is_completed_as_the_server_does() {
        let table = [
            (
                "a profile in an annotation",
                ("v1", "Pod"),
                json!({
                    "metadata": {"annotations": {"container.apparmor.security.beta.kubernetes.io/c": "runtime/default"}},
                    "spec": {"containers": [{"name": "c"}]},
                }),
                "/spec/containers/0/securityContext/appArmorProfile",
                json!({"type": "RuntimeDefault"}),
            ),
            (
                "a label whose value counts",
                ("v1", "Pod"),
                json!({
                    "metadata": {"labels": {"app": "a"}},
                    "spec": {"topologySpreadConstraints": [{"labelSelector": {}, "matchLabelKeys": ["app", "b"]}]},
                }),
                "/spec/topologySpreadConstraints/0/labelSelector",
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a"]}]}),
            ),
            (
                "sources and signals behind closed gates",
                ("apps/v1", "Deployment"),
                json!({"spec": {"template": {"spec": {
                    "containers": [{"name": "c", "lifecycle": {"stopSignal": "SIGUSR1"}}],
                    "volumes": [{"name": "v", "projected": {"sources": [{"clusterTrustBundle": {"name": "a", "path": "b"}}]}}],
                }}}}),
                "/spec/template/spec",
                json!({"containers": [{"name": "c"}], "volumes": [{"name": "v", "projected": {"sources": [{}]}}]}),
            ),
            (
                "data from a snapshot",
                ("v1", "PersistentVolumeClaim"),
                json!({"spec": {"dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "s"}}}),
                "/spec/dataSourceRef/name",
                json!("s"),
            ),
            (
                "data from what the old field does not know",
                ("v1", "PersistentVolumeClaim"),
                json!({"spec": {"dataSource": {"apiGroup": "a.b", "kind": "C", "name": "s"}}}),
                "/spec",
                json!({}),
            ),
        ];
        for (sentence, (api_version, kind), mut object, place, expected) in table {
            prepare_for_create(root_of(api_version, kind).unwrap(), &mut object);
            assert_eq!(object.pointer(place), Some(&expected), "{sentence}");
        }
    }

    #[test]
    fn only_a_changed_spec_counts() {
        let kind = root_of("apps/v1", "Deployment").unwrap();
        let old = json!({"metadata": {"generation": 3, "uid": "u"}, "spec": {"replicas": 1}, "status": {"replicas": 1}});
        let mut labelled =
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"replicas": 1}, "status": {"replicas": 9}});
        prepare_for_update(kind, &old, &mut labelled);
        assert_eq!(labelled["metadata"]["generation"], 3);
        assert_eq!(labelled["metadata"]["uid"], "u");
        assert_eq!(labelled["status"]["replicas"], 1);
        let mut scaled = json!({"metadata": {}, "spec": {"replicas": 2}});
        prepare_for_update(kind, &old, &mut scaled);
        assert_eq!(scaled["metadata"]["generation"], 4);
    }
}
