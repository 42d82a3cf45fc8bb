//! What the server warns of although it accepts it.
//!
//! Models: `pkg/api/pod/warnings.go`, `pkg/api/{service,persistentvolume,persistentvolumeclaim,storage,node}`, and
//! `WarningsOnCreate`/`WarningsOnUpdate` of `pkg/registry/*/*/strategy.go` (v1.36).
//! Leaves out: addresses in an unusual notation; whether a certificate fits its key.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use serde_json::Value;

use super::node::Node;
use crate::api::names;
use crate::api::schema::Type;

/// Labels of nodes that have new names, and what is said of them.
const OLD_NODE_LABELS: [(&str, &str); 8] = [
    ("beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"),
    ("beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    ("node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"),
];

/// Annotations of Pods that mean nothing any more.
const OLD_ANNOTATIONS: [(&str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "non-functional in v1.16+; use the \"priorityClassName\" field instead",
    ),
    ("security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"),
    (
        "security.alpha.kubernetes.io/unsafe-sysctls",
        "non-functional in v1.11+; use the \"sysctls\" field instead",
    ),
];

/// Sources of volumes that no kubelet mounts any more.
const OLD_VOLUMES: [(&str, &str); 9] = [
    ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const NO_SELECTOR: &str = "a null labelSelector results in matching no pod";
const CLASS_ANNOTATION: &str = "volume.beta.kubernetes.io/storage-class";
const USE_CLASS_FIELD: &str = "deprecated since v1.8; use \"storageClassName\" attribute instead";

/// The warnings found so far, in order.
type Found = Vec<String>;

/// The warnings about a new object, or about a changed one, in order.
pub fn warnings(kind: &'static Type, old: Option<&Value>, object: &Value) -> Vec<String> {
    let mut found = Found::new();
    let is_new = old.is_none();
    let object = &Node::root(object);
    let spec = object.at("spec");
    let meta = object.at("metadata");
    match kind.name {
        "core.v1.Pod" if is_new => {
            let complaints = names::dns_label(meta.at("name").text());
            if !complaints.is_empty() && !meta.at("name").is_empty() {
                found.push(format!(
                    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [{}]",
                    complaints.join(" ")
                ));
            }
            for list in ["initContainers", "containers"] {
                for container in spec.at(list).items() {
                    // The profile has been taken from the annotation already.
                    app_armor(&mut found, &meta, &container);
                }
            }
            of_pod(&mut found, &spec, &meta, false);
        }
        "core.v1.ReplicationController"
        | "apps.v1.Deployment"
        | "apps.v1.ReplicaSet"
        | "apps.v1.StatefulSet"
        | "apps.v1.DaemonSet"
        | "batch.v1.Job"
        | "batch.v1.CronJob" => {
            let generation = |object: &Value| object["metadata"]["generation"].clone();
            let counts = old.is_none_or(|old| generation(old) != generation(object.value));
            if counts {
                of_workload(&mut found, kind.name, object, is_new);
            }
        }
        "core.v1.PodTemplate" => of_template(&mut found, &object.at("template")),
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
        "core.v1.Service" => of_service(&mut found, &meta, &spec),
        "core.v1.ServiceAccount" => {
            let key = "kubernetes.io/enforce-mountable-secrets";
            if meta.at("annotations").at(key).exists() {
                found.push(format!(
                    "metadata.annotations[{key}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
                ));
            }
        }
        "core.v1.PersistentVolume" => of_volume(&mut found, &meta, &spec),
        "core.v1.PersistentVolumeClaim" => {
            annotation(&mut found, &meta, CLASS_ANNOTATION, USE_CLASS_FIELD);
            of_claim(&mut found, &spec);
        }
        "apiextensions.v1.CustomResourceDefinition" => {
            let formats = |object: &Node<'_>| {
                let mut found = Found::new();
                for version in object.at("spec").at("versions").items() {
                    super::extension::unknown_formats(
                        version.at("schema").at("openAPIV3Schema").value,
                        &mut found,
                    );
                }
                found
            };
            let known = old.map(|old| formats(&Node::root(old))).unwrap_or_default();
            for format in formats(object) {
                let text = format!("unrecognized format {format:?}");
                if !known.contains(&format) && !found.contains(&text) {
                    found.push(text);
                }
            }
        }
        "storage.v1.StorageClass" => {
            for term in object.at("allowedTopologies").items() {
                for expression in term.at("matchLabelExpressions").items() {
                    if let Some(text) = said_of(&OLD_NODE_LABELS, expression.at("key").text()) {
                        found.push(format!("{}: {text}", expression.path));
                    }
                }
            }
        }
        "networking.v1.Ingress" if is_new => {
            const ANNOTATION: &str = "kubernetes.io/ingress.class";
            if meta.at("annotations").at(ANNOTATION).exists() && !spec.at("ingressClassName").exists() {
                found.push(format!(
                    "annotation \"{ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"
                ));
            }
        }
        "networking.v1.NetworkPolicy" => {
            for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
                let rules = spec.at(direction).items();
                for peer in rules.iter().flat_map(|rule| rule.at(peers).items()) {
                    let block = peer.at("ipBlock");
                    ambiguous_range(&mut found, &block.at("cidr"));
                    block.at("except").items().iter().for_each(|range| ambiguous_range(&mut found, range));
                }
            }
        }
        _ => {}
    }
    found
}

fn said_of(table: &[(&str, &'static str)], key: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == key).map(|(_, text)| *text)
}

fn annotation(found: &mut Found, meta: &Node<'_>, key: &str, text: &str) {
    if meta.at("annotations").at(key).exists() {
        found.push(format!("{}[{key}]: {text}", meta.path_of("annotations")));
    }
}

/// What a workload says of its name and of the Pods it makes.
fn of_workload(found: &mut Found, kind: &str, object: &Node<'_>, is_new: bool) {
    let spec = object.at("spec");
    let name = object.at("metadata").at("name");
    let complaints = names::dns_label(name.text());
    if is_new && kind != "apps.v1.DaemonSet" && !name.is_empty() && !complaints.is_empty() {
        found.push(format!(
            "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [{}]",
            complaints.join(" ")
        ));
    }
    let job = match kind {
        "batch.v1.CronJob" => spec.at("jobTemplate").at("spec"),
        _ => spec.clone(),
    };
    of_template(found, &job.at("template"));
    if kind == "apps.v1.StatefulSet" {
        for claim in spec.at("volumeClaimTemplates").items() {
            // The path leaves out the claim's own `spec`.
            of_claim(found, &Node { path: claim.path.clone(), value: claim.at("spec").value });
        }
        if spec.at("revisionHistoryLimit").number() < 0 {
            found.push("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended".to_string());
        }
    }
    if kind == "batch.v1.CronJob" && spec.at("schedule").text().contains("TZ") {
        found.push("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones for more details".to_string());
    }
}

fn of_template(found: &mut Found, template: &Node<'_>) {
    of_pod(found, &template.at("spec"), &template.at("metadata"), true);
}

/// What is said of a Pod's spec and metadata.
fn of_pod(found: &mut Found, spec: &Node<'_>, meta: &Node<'_>, is_template: bool) {
    where_it_may_run(found, spec);
    for (key, text) in OLD_ANNOTATIONS {
        annotation(found, meta, key, text);
    }
    volumes(found, &spec.at("volumes"));
    repeated(found, &spec.at("hostAliases"), "ip");
    repeated(found, &spec.at("imagePullSecrets"), "name");
    for secret in spec.at("imagePullSecrets").items() {
        if secret.at("name").is_empty() {
            found.push(format!("{}: invalid empty name \"\"", secret.path_of("name")));
        }
    }
    fractions(found, &spec.at("overhead"), &["memory", "ephemeral-storage"]);
    let secure_computing = "non-functional in v1.27+; use the \"seccompProfile\" field instead";
    let context = spec.at("securityContext");
    if !context.at("seccompProfile").exists() {
        annotation(found, meta, "seccomp.security.alpha.kubernetes.io/pod", secure_computing);
    }
    let containers: Vec<Node<'_>> =
        ["initContainers", "containers"].into_iter().flat_map(|list| spec.at(list).items()).collect();
    for container in &containers {
        let own = container.at("securityContext");
        let name = container.at("name").text();
        if !own.at("seccompProfile").exists() {
            let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
            annotation(found, meta, &key, secure_computing);
        }
        let has_profile = own.at("appArmorProfile").exists() || context.at("appArmorProfile").exists();
        if is_template && !has_profile {
            app_armor(found, meta, container);
        }
        for resource in ["memory", "ephemeral-storage"] {
            for list in ["limits", "requests"] {
                fractions(found, &container.at("resources").at(list), &[resource]);
            }
        }
        hidden_variables(found, &container.at("env"));
    }
    ports(found, &containers);
    let grace = spec.at("terminationGracePeriodSeconds");
    if grace.number() < 0 {
        found.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            grace.path
        ));
    }
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = spec.at("affinity").at(kind);
        let required = affinity.at("requiredDuringSchedulingIgnoredDuringExecution").items();
        let preferred = affinity.at("preferredDuringSchedulingIgnoredDuringExecution").items();
        let terms = preferred.iter().map(|term| term.at("podAffinityTerm"));
        for term in required.into_iter().chain(terms) {
            if !term.at("labelSelector").exists() {
                found.push(format!("{}: {NO_SELECTOR}", term.path_of("labelSelector")));
            }
        }
    }
}

fn app_armor(found: &mut Found, meta: &Node<'_>, container: &Node<'_>) {
    let key = format!("{APP_ARMOR}{}", container.at("name").text());
    annotation(found, meta, &key, "deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

/// Old labels in what chooses nodes, and spreading that counts no Pod.
fn where_it_may_run(found: &mut Found, spec: &Node<'_>) {
    for (key, node) in spec.at("nodeSelector").members() {
        if let Some(text) = said_of(&OLD_NODE_LABELS, key) {
            found.push(format!("{}: {text}", node.path));
        }
    }
    let affinity = spec.at("affinity").at("nodeAffinity");
    let required = affinity.at("requiredDuringSchedulingIgnoredDuringExecution").at("nodeSelectorTerms");
    required.items().iter().for_each(|term| node_term(found, term, false));
    for term in affinity.at("preferredDuringSchedulingIgnoredDuringExecution").items() {
        node_term(found, &term.at("preference"), true);
    }
    for constraint in spec.at("topologySpreadConstraints").items() {
        let key = constraint.at("topologyKey");
        if let Some(text) = said_of(&OLD_NODE_LABELS, key.text()) {
            found.push(format!("{}: {} is {text}", key.path, key.text()));
        }
        if !constraint.at("labelSelector").exists() {
            found.push(format!("{}: {NO_SELECTOR}", constraint.path_of("labelSelector")));
        }
    }
}

/// Old labels in a term that chooses nodes; of a wish also values that no label can have.
fn node_term(found: &mut Found, term: &Node<'_>, is_wish: bool) {
    for expression in term.at("matchExpressions").items() {
        let key = expression.at("key");
        if let Some(text) = said_of(&OLD_NODE_LABELS, key.text()) {
            found.push(format!("{}: {} is {text}", key.path, key.text()));
        }
        for value in expression.at("values").items().iter().filter(|_| is_wish) {
            for complaint in names::label_value(value.text()) {
                found.push(format!("{}: {} is invalid, {complaint}", value.path, value.text()));
            }
        }
    }
}

fn volumes(found: &mut Found, volumes: &Node<'_>) {
    let mut tokens = BTreeSet::new();
    for volume in volumes.items() {
        for (kind, text) in OLD_VOLUMES {
            if volume.at(kind).exists() {
                let kind = if kind == "storageos" { "storageOS" } else { kind };
                found.push(format!("{}: {text}", volume.path_of(kind)));
            }
        }
        let claim = volume.at("ephemeral").at("volumeClaimTemplate").at("spec");
        of_claim(found, &claim);
        for source in volume.at("projected").at("sources").items() {
            let token = source.at("serviceAccountToken");
            if token.exists() {
                tokens.insert(token.at("path").text());
            }
        }
    }
    if tokens.is_empty() {
        return;
    }
    for volume in volumes.items() {
        let projected = volume.at("projected");
        for source in projected.at("sources").items() {
            for (kind, shown) in
                [("configMap", "configMap"), ("secret", "secrets"), ("downwardAPI", "downwardAPI")]
            {
                for (index, item) in source.at(kind).at("items").items().iter().enumerate() {
                    let path = item.at("path").text();
                    if tokens.contains(path) {
                        found.push(format!(
                            "{}.sources.{shown}[{index}]: has duplicated path with ServiceAccountToken {path:?}",
                            projected.path
                        ));
                    }
                }
            }
        }
    }
}

/// Says where an item of a list repeats a field of an earlier one.
fn repeated(found: &mut Found, list: &Node<'_>, field: &str) {
    let mut seen = BTreeSet::new();
    for item in list.items() {
        let node = item.at(field);
        if !seen.insert(node.text()) {
            found.push(format!("{}: duplicate {field} {:?}", node.path, node.text()));
        }
    }
}

/// Amounts of bytes that are no whole number.
fn fractions(found: &mut Found, amounts: &Node<'_>, resources: &[&str]) {
    for resource in resources {
        let amount = amounts.at(resource).quantity();
        if !amount.is_whole() {
            found.push(format!(
                "{}[{resource}]: fractional byte value \"{amount}\" is invalid, must be an integer",
                amounts.path
            ));
        }
    }
}

fn of_claim(found: &mut Found, spec: &Node<'_>) {
    for list in ["requests", "limits"] {
        fractions(found, &spec.at("resources").at(list), &["storage"]);
    }
}

/// Variables that stand twice, unless the later one is made from the earlier.
fn hidden_variables(found: &mut Found, variables: &Node<'_>) {
    let mut seen = BTreeSet::new();
    for variable in variables.items() {
        let (name, value) = (variable.at("name").text(), variable.at("value").text());
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        let is_made_of_it = value.contains(&reference) && value != reference;
        if variable.at("valueFrom").exists() || !is_made_of_it {
            found.push(format!(
                "{}: hides previous definition of {name:?}, which may be dropped when using apply",
                variable.path
            ));
        }
    }
}

fn ports(found: &mut Found, containers: &[Node<'_>]) {
    let mut seen: BTreeMap<(i64, &str), Vec<Node<'_>>> = BTreeMap::new();
    for port in containers.iter().flat_map(|container| container.at("ports").items()) {
        let (number, protocol) = (port.at("containerPort").number(), port.at("protocol").text());
        let (host, address) = (port.at("hostPort").number(), port.at("hostIP").text());
        if !address.is_empty() && host == 0 {
            found.push(format!(
                "{}: hostIP set without hostPort: {{Name:{} HostPort:0 ContainerPort:{number} Protocol:{protocol} HostIP:{address}}}",
                port.path,
                port.at("name").text()
            ));
        }
        let others = seen.entry((number, protocol)).or_default();
        for other in others.iter() {
            let (its_host, its_address) = (other.at("hostPort").number(), other.at("hostIP").text());
            let how = if (host, address) == (its_host, its_address) {
                "duplicate"
            } else if host == 0 || its_host == 0 {
                "overlapping"
            } else if host == its_host && (address.is_empty() != its_address.is_empty()) {
                "dangerously ambiguous"
            } else {
                continue;
            };
            found.push(format!("{}: {how} port definition with {}", port.path, other.path));
        }
        others.push(port);
    }
}

fn of_service(found: &mut Found, meta: &Node<'_>, spec: &Node<'_>) {
    const HINTS: &str = "service.kubernetes.io/topology-aware-hints";
    if meta.at("annotations").at(HINTS).exists() {
        found.push(format!(
            "annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
        ));
    }
    let is_named = spec.at("type").text() == "ExternalName";
    let is_headless = spec.at("type").text() == "ClusterIP" && spec.at("clusterIP").text() == "None";
    let has_addresses = !spec.at("externalIPs").is_empty();
    let rules = [
        (
            is_headless && !spec.at("loadBalancerIP").is_empty(),
            "spec.loadBalancerIP is ignored for headless services",
        ),
        (is_headless && has_addresses, "spec.externalIPs is ignored for headless services"),
        (
            is_headless && spec.at("sessionAffinity").text() != "None",
            "spec.SessionAffinity is ignored for headless services",
        ),
        (
            has_addresses && !is_headless && !is_named,
            "spec.externalIPs is deprecated and may no longer be implemented in some clusters",
        ),
    ];
    found.extend(rules.iter().filter(|(holds, _)| *holds).map(|(_, text)| (*text).to_string()));
    for range in spec.at("loadBalancerSourceRanges").items() {
        ambiguous_range(found, &range);
    }
    let rules = [
        (is_named && has_addresses, "spec.externalIPs is ignored when spec.type is \"ExternalName\""),
        (
            !is_named && !spec.at("externalName").is_empty(),
            "spec.externalName is ignored when spec.type is not \"ExternalName\"",
        ),
        (
            spec.at("trafficDistribution").text() == "PreferClose",
            "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"",
        ),
    ];
    found.extend(rules.iter().filter(|(holds, _)| *holds).map(|(_, text)| (*text).to_string()));
}

/// A range whose address has bits behind the prefix may have been meant in two ways.
fn ambiguous_range(found: &mut Found, range: &Node<'_>) {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
    let Some((address, bits)) = range.text().split_once('/') else { return };
    let (Ok(address), Ok(bits)) = (address.parse::<IpAddr>(), bits.parse::<u32>()) else { return };
    let (network, width) = match address {
        IpAddr::V4(address) if bits <= 32 => {
            let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
            (IpAddr::V4(Ipv4Addr::from(u32::from(address) & mask)), 32)
        }
        IpAddr::V6(address) if bits <= 128 => {
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            (IpAddr::V6(Ipv6Addr::from(u128::from(address) & mask)), 128)
        }
        _ => return,
    };
    if network != address {
        found.push(format!(
            "{}: CIDR value {:?} is ambiguous in this context (should be \"{network}/{bits}\" or \"{address}/{width}\"?)",
            range.path,
            range.text()
        ));
    }
}

fn of_volume(found: &mut Found, meta: &Node<'_>, spec: &Node<'_>) {
    annotation(found, meta, CLASS_ANNOTATION, USE_CLASS_FIELD);
    annotation(
        found,
        meta,
        "volume.beta.kubernetes.io/mount-options",
        "deprecated since v1.31; use \"mountOptions\" attribute instead",
    );
    if spec.at("persistentVolumeReclaimPolicy").text() == "Recycle" {
        found.push("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.".to_string());
    }
    let terms = spec.at("nodeAffinity").at("required").at("nodeSelectorTerms");
    terms.items().iter().for_each(|term| node_term(found, term, false));
    for (kind, text) in OLD_VOLUMES {
        if spec.at(kind).exists() {
            let kind = if kind == "storageos" { "storageOS" } else { kind };
            found.push(format!("{}: {text}", spec.path_of(kind)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::schema::root_of;
    use serde_json::json;

    fn of(api_version: &str, kind: &str, object: Value) -> Vec<String> {
        warnings(root_of(api_version, kind).unwrap(), None, &object)
    }

    #[test]
    fn a_pod_is_warned_of_what_it_may_not_have_meant() {
        let table = [
            (
                "an old label of nodes",
                json!({"nodeSelector": {"beta.kubernetes.io/os": "linux"}}),
                vec![
                    "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead",
                ],
            ),
            (
                "a share that nobody mounts any more",
                json!({"volumes": [{"name": "a", "glusterfs": {"endpoints": "a", "path": "b"}}]}),
                vec!["spec.volumes[0].glusterfs: deprecated in v1.25, non-functional in v1.26+"],
            ),
            (
                "a thousandth of a byte",
                json!({"containers": [{"name": "a", "resources": {"limits": {"memory": "100m"}}}]}),
                vec![
                    "spec.containers[0].resources.limits[memory]: fractional byte value \"100m\" is invalid, must be an integer",
                ],
            ),
            (
                "a variable made from an earlier one",
                json!({"containers": [{"name": "a", "env": [{"name": "P", "value": "a"}, {"name": "P", "value": "$(P):b"}]}]}),
                vec![],
            ),
            (
                "the same port, once of the node",
                json!({"containers": [
                    {"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                    {"name": "b", "ports": [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]},
                ]}),
                vec![
                    "spec.containers[1].ports[0]: overlapping port definition with spec.containers[0].ports[0]",
                ],
            ),
            (
                "spreading that counts no Pod",
                json!({"topologySpreadConstraints": [{"topologyKey": "zone"}]}),
                vec![
                    "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
                ],
            ),
        ];
        for (sentence, spec, expected) in table {
            assert_eq!(of("v1", "Pod", json!({"spec": spec})), expected, "{sentence}");
        }
    }

    #[test]
    fn other_kinds_are_warned_too() {
        let table = [
            (
                "a class of Ingresses in an annotation",
                of(
                    "networking.k8s.io/v1",
                    "Ingress",
                    json!({"metadata": {"annotations": {"kubernetes.io/ingress.class": "nginx"}}}),
                ),
                "annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead",
            ),
            (
                "a range with an address in it",
                of(
                    "networking.k8s.io/v1",
                    "NetworkPolicy",
                    json!({"spec": {"ingress": [{"from": [{"ipBlock": {"cidr": "10.1.2.3/8"}}]}]}}),
                ),
                "spec.ingress[0].from[0].ipBlock.cidr: CIDR value \"10.1.2.3/8\" is ambiguous in this context (should be \"10.0.0.0/8\" or \"10.1.2.3/32\"?)",
            ),
            (
                "a name of a Deployment that no Pod's host can have",
                of("apps/v1", "Deployment", json!({"metadata": {"name": "a.b"}})),
                "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
            ),
        ];
        for (sentence, found, expected) in table {
            assert_eq!(found, [expected], "{sentence}");
        }
    }
}
