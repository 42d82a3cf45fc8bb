//! The plugin PodSecurity: what the Pods of a namespace may ask of their node, by the namespace's labels.
//!
//! Models: `plugin/pkg/admission/security/podsecurity`, `k8s.io/pod-security-admission/policy` (v1.36).
//! Leaves out: the level audit, older versions of the policy, AppArmor, SELinux, procMount, sysctls, probes of other
//! hosts, Windows.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::codec::Codec;
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::pod::Pod;
use crate::api::object::Object;
use crate::cluster::server::validate::FieldError;
use crate::cluster::store::Store;

const PREFIX: &str = "pod-security.kubernetes.io/";

/// What containers may add to the default capabilities.
const BASELINE_CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// The kinds of volumes that a restricted Pod may use.
const RESTRICTED_VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// A level and the version of its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Policy {
    /// 0 allows everything, 1 is baseline, 2 is restricted.
    strictness: u8,
    version: String,
}

const LEVELS: [&str; 3] = ["privileged", "baseline", "restricted"];

impl Policy {
    fn reasons(&self, spec: &Value) -> Vec<String> {
        if self.strictness == 0 { Vec::new() } else { violations(spec, self.strictness == 2) }
    }
}

impl std::fmt::Display for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", LEVELS[usize::from(self.strictness)], self.version)
    }
}

fn strictness(level: &str) -> Option<u8> {
    LEVELS.iter().position(|known| *known == level).and_then(|at| u8::try_from(at).ok())
}

fn is_version(text: &str) -> bool {
    text == "latest"
        || text.strip_prefix("v1.").is_some_and(|minor| {
            !minor.is_empty()
                && minor.bytes().all(|byte| byte.is_ascii_digit())
                && (minor == "0" || !minor.starts_with('0'))
        })
}

/// What a namespace's labels say for `enforce` or `warn`. A level that is none is the strictest where it refuses, and
/// none where it only warns; who says nothing of warnings is warned of what is enforced.
fn policy(namespace: &Namespace, mode: &str) -> Policy {
    let label = |name: &str| namespace.meta.labels.get(&format!("{PREFIX}{name}")).map(String::as_str);
    let version = label(&format!("{mode}-version")).filter(|text| is_version(text));
    let version = version.unwrap_or("latest").to_string();
    let fallback = if mode == "enforce" { 2 } else { 0 };
    match label(mode) {
        Some(level) => Policy { strictness: strictness(level).unwrap_or(fallback), version },
        None if mode == "warn" && label("enforce").is_some() => policy(namespace, "enforce"),
        None => Policy { strictness: 0, version },
    }
}

/// What is wrong with a namespace's labels.
pub fn problems(labels: &BTreeMap<String, String>) -> Vec<FieldError> {
    let mut problems = Vec::new();
    for mode in ["enforce", "audit", "warn"] {
        let level = format!("{PREFIX}{mode}");
        let version = format!("{level}-version");
        for (key, is_fine, detail) in [
            (
                level,
                (|text| strictness(text).is_some()) as fn(&str) -> bool,
                "must be one of privileged, baseline, restricted",
            ),
            (version, is_version, "must be \"latest\" or \"v1.x\""),
        ] {
            if let Some(value) = labels.get(&key).filter(|value| !is_fine(value)) {
                problems.push(FieldError::invalid_text(&format!("metadata.labels[{key}]"), value, detail));
            }
        }
    }
    problems
}

/// Why the namespace's level refuses the Pod; `None` if it does not.
pub fn refusal(namespace: &Namespace, pod: &Pod) -> Option<String> {
    let policy = policy(namespace, "enforce");
    if policy.strictness == 0 {
        return None;
    }
    let reasons = policy.reasons(&pod.spec.encode());
    (!reasons.is_empty()).then(|| format!("violates PodSecurity \"{policy}\": {}", reasons.join(", ")))
}

/// What is warned of when an object is created or changed: Pods, and what makes Pods, that the namespace warns of; and
/// Pods that are there already when a namespace begins to enforce more.
pub fn warnings(store: &Store, old: Option<&Object>, object: &Object) -> Vec<String> {
    if let Object::Namespace(namespace) = object {
        return match old {
            Some(Object::Namespace(old)) => of_namespace(store, old, namespace),
            _ => Vec::new(),
        };
    }
    let spec = match object {
        Object::Pod(pod) => {
            if let Some(Object::Pod(old)) = old
                && old.spec == pod.spec
            {
                return Vec::new();
            }
            pod.spec.encode()
        }
        Object::Deployment(it) => it.spec.template.spec.encode(),
        Object::ReplicaSet(it) => it.spec.template.spec.encode(),
        Object::StatefulSet(it) => it.spec.template.spec.encode(),
        Object::DaemonSet(it) => it.spec.template.spec.encode(),
        Object::Job(it) => it.spec.template.spec.encode(),
        Object::CronJob(_) | Object::ReplicationController(_) => {
            let value = object.to_value();
            let spec = &value["spec"];
            let template = if spec["jobTemplate"].is_object() { &spec["jobTemplate"]["spec"] } else { spec };
            template["template"]["spec"].clone()
        }
        Object::PodTemplate(_) => object.to_value()["template"]["spec"].clone(),
        _ => return Vec::new(),
    };
    let Some(namespace) = store.get::<Namespace>("", &object.meta().namespace) else { return Vec::new() };
    let policy = policy(namespace, "warn");
    let reasons = policy.reasons(&spec);
    match reasons.is_empty() {
        true => Vec::new(),
        false => vec![format!("would violate PodSecurity \"{policy}\": {}", reasons.join(", "))],
    }
}

fn of_namespace(store: &Store, old: &Namespace, new: &Namespace) -> Vec<String> {
    let (before, after) = (policy(old, "enforce"), policy(new, "enforce"));
    let is_relaxed = before.version == after.version && after.strictness <= before.strictness;
    if before == after || after.strictness == 0 || is_relaxed {
        return Vec::new();
    }
    // The first Pod of each reason, and how many more there are.
    let mut found: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for pod in store.list_in::<Pod>(&new.meta.name) {
        let reasons = after.reasons(&pod.spec.encode());
        if reasons.is_empty() {
            continue;
        }
        let short = |reason: &String| reason.split(" (").next().unwrap_or_default().to_string();
        let reason = reasons.iter().map(short).collect::<Vec<_>>().join(", ");
        found.entry(reason).or_insert_with(|| (pod.meta.name.to_string(), 0)).1 += 1;
    }
    if found.is_empty() {
        return Vec::new();
    }
    let told = |(reason, (first, count)): (String, (String, usize))| match count {
        1 => format!("{first}: {reason}"),
        2 => format!("{first} (and 1 other pod): {reason}"),
        _ => format!("{first} (and {} other pods): {reason}", count - 1),
    };
    let mut lines: Vec<String> = found.into_iter().map(told).collect();
    lines.sort();
    let name = &new.meta.name;
    lines.insert(
        0,
        format!(
            "existing pods in namespace \"{name}\" violate the new PodSecurity enforce level \"{after}\""
        ),
    );
    lines
}

/// What the level forbids, a reason each, in the order of the checks.
fn violations(spec: &Value, is_restricted: bool) -> Vec<String> {
    let containers: Vec<&Value> = ["initContainers", "containers", "ephemeralContainers"]
        .into_iter()
        .filter_map(|list| spec.get(list)?.as_array())
        .flatten()
        .collect();
    let at_pod = |path: &str| spec.pointer(&format!("/securityContext/{path}")).unwrap_or(&Value::Null);
    let context = |container: &Value, path: &str| {
        container.pointer(&format!("/securityContext/{path}")).cloned().unwrap_or_default()
    };
    let named = |accept: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let found = containers.iter().filter(|container| accept(container));
        found.map(|container| container["name"].as_str().unwrap_or_default().to_string()).collect()
    };
    let mut reasons = Vec::new();
    let mut tell = |reason: &str, details: Vec<String>| {
        if !details.is_empty() {
            reasons.push(format!("{reason} ({})", details.join("; ")));
        }
    };
    let some = |names: Vec<String>, text: &str| -> Vec<String> {
        if names.is_empty() { Vec::new() } else { vec![format!("{} {text}", containers_named(&names))] }
    };
    if is_restricted {
        let bad = named(&|container| context(container, "allowPrivilegeEscalation") != Value::Bool(false));
        tell(
            "allowPrivilegeEscalation != false",
            some(bad, "must set securityContext.allowPrivilegeEscalation=false"),
        );
    }
    let added = |container: &Value| -> Vec<String> {
        let added = context(container, "capabilities/add");
        let names = added.as_array().into_iter().flatten().filter_map(Value::as_str);
        let is_fine = |name: &&str| match is_restricted {
            true => *name == "NET_BIND_SERVICE",
            false => BASELINE_CAPABILITIES.contains(name),
        };
        names.filter(|name| !is_fine(name)).map(|name| format!("{name:?}")).collect()
    };
    let mut details = Vec::new();
    if is_restricted {
        let drops_all = |container: &Value| {
            let dropped = context(container, "capabilities/drop");
            dropped.as_array().into_iter().flatten().any(|name| name == "ALL")
        };
        let bad = named(&|container| !drops_all(container));
        details.extend(some(bad, "must set securityContext.capabilities.drop=[\"ALL\"]"));
    }
    let mut forbidden: Vec<String> = containers.iter().flat_map(|container| added(container)).collect();
    forbidden.sort();
    forbidden.dedup();
    let bad = named(&|container| !added(container).is_empty());
    let text = format!("must not include {} in securityContext.capabilities.add", forbidden.join(", "));
    details.extend(some(bad, &text));
    tell(if is_restricted { "unrestricted capabilities" } else { "non-default capabilities" }, details);
    let shared = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|field| spec[*field] == true);
    let shared: Vec<String> = shared.map(|field| format!("{field}=true")).collect();
    tell("host namespaces", if shared.is_empty() { Vec::new() } else { vec![shared.join(", ")] });
    let (reason, details) = volumes(spec, is_restricted);
    tell(reason, details);
    let ports = |container: &Value| -> Vec<String> {
        let ports = container["ports"].as_array().into_iter().flatten();
        ports
            .filter_map(|port| port["hostPort"].as_i64().filter(|port| *port != 0))
            .map(|port| port.to_string())
            .collect()
    };
    let mut used: Vec<String> = containers.iter().flat_map(|container| ports(container)).collect();
    used.sort();
    used.dedup();
    let bad = named(&|container| !ports(container).is_empty());
    let verb = if bad.len() == 1 { "uses" } else { "use" };
    let noun = if used.len() == 1 { "hostPort" } else { "hostPorts" };
    tell("hostPort", some(bad, &format!("{verb} {noun} {}", used.join(", "))));
    let bad = named(&|container| context(container, "privileged") == Value::Bool(true));
    tell("privileged", some(bad, "must not set securityContext.privileged=true"));
    if !is_restricted {
        let mut details = Vec::new();
        if at_pod("seccompProfile/type") == "Unconfined" {
            details
                .push("pod must not set securityContext.seccompProfile.type to \"Unconfined\"".to_string());
        }
        let bad = named(&|container| context(container, "seccompProfile/type") == "Unconfined");
        details.extend(some(bad, "must not set securityContext.seccompProfile.type to \"Unconfined\""));
        tell("seccompProfile", details);
        return reasons;
    }
    let non_root = |container: &Value| context(container, "runAsNonRoot");
    let mut details = Vec::new();
    if *at_pod("runAsNonRoot") == Value::Bool(false) {
        details.push("pod must not set securityContext.runAsNonRoot=false".to_string());
    }
    let bad = named(&|container| non_root(container) == Value::Bool(false));
    details.extend(some(bad, "must not set securityContext.runAsNonRoot=false"));
    if at_pod("runAsNonRoot").is_null() {
        let bad = named(&|container| non_root(container).is_null());
        let text = some(bad, "must set securityContext.runAsNonRoot=true");
        details.extend(text.into_iter().map(|text| format!("pod or {text}")));
    }
    tell("runAsNonRoot != true", details);
    let mut details = Vec::new();
    if *at_pod("runAsUser") == 0 {
        details.push("pod must not set runAsUser=0".to_string());
    }
    let bad = named(&|container| context(container, "runAsUser") == 0);
    details.extend(some(bad, "must not set runAsUser=0"));
    tell("runAsUser=0", details);
    let is_confined = |kind: &Value| kind == "RuntimeDefault" || kind == "Localhost";
    let pod_kind = at_pod("seccompProfile/type");
    let mut details = Vec::new();
    if !pod_kind.is_null() && !is_confined(pod_kind) {
        details.push(format!("pod must not set securityContext.seccompProfile.type to {pod_kind}"));
    }
    let bad = named(&|container| {
        let kind = context(container, "seccompProfile/type");
        !kind.is_null() && !is_confined(&kind)
    });
    details.extend(some(bad, "must not set securityContext.seccompProfile.type to \"Unconfined\""));
    if pod_kind.is_null() {
        let bad = named(&|container| context(container, "seccompProfile/type").is_null());
        let text =
            some(bad, "must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\"");
        details.extend(text.into_iter().map(|text| format!("pod or {text}")));
    }
    tell("seccompProfile", details);
    reasons
}

/// What the level says of the Pod's volumes: the reason and its details.
fn volumes(spec: &Value, is_restricted: bool) -> (&'static str, Vec<String>) {
    let kind_of = |volume: &Value| {
        let kinds = volume.as_object().into_iter().flatten().map(|(key, _)| key.clone());
        kinds.into_iter().find(|key| key != "name").unwrap_or_else(|| "emptyDir".to_string())
    };
    let is_bad = |kind: &str| match is_restricted {
        true => !RESTRICTED_VOLUMES.contains(&kind),
        false => kind == "hostPath",
    };
    let listed = spec["volumes"].as_array().into_iter().flatten();
    let bad: Vec<(String, String)> = listed
        .map(|volume| (format!("\"{}\"", volume["name"].as_str().unwrap_or_default()), kind_of(volume)))
        .filter(|(_, kind)| is_bad(kind))
        .collect();
    let reason = if is_restricted { "restricted volume types" } else { "hostPath volumes" };
    if bad.is_empty() {
        return (reason, Vec::new());
    }
    let names: Vec<&str> = bad.iter().map(|(name, _)| name.as_str()).collect();
    let noun = if bad.len() == 1 { "volume" } else { "volumes" };
    let mut text = format!("{noun} {}", names.join(", "));
    if is_restricted {
        let mut kinds: Vec<String> = bad.iter().map(|(_, kind)| format!("{kind:?}")).collect();
        kinds.sort();
        kinds.dedup();
        let verb = if bad.len() == 1 { "uses" } else { "use" };
        let types = if kinds.len() == 1 { "type" } else { "types" };
        text = format!("{text} {verb} restricted volume {types} {}", kinds.join(", "));
    }
    (reason, vec![text])
}

/// `container "a"`, `containers "a", "b"`.
fn containers_named(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let noun = if names.len() == 1 { "container" } else { "containers" };
    format!("{noun} {}", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn levels_forbid_what_they_forbid() {
        let fine = json!({
            "securityContext": {"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{"name": "c", "securityContext": {
                "allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]},
            }}],
        });
        let bare = json!({"containers": [{"name": "c"}]});
        let loud = json!({
            "hostNetwork": true,
            "volumes": [{"name": "v", "hostPath": {"path": "/"}}],
            "containers": [{"name": "c", "ports": [{"hostPort": 80}], "securityContext": {"privileged": true}}],
        });
        assert!(violations(&fine, true).is_empty(), "a careful Pod is let in");
        assert!(violations(&bare, false).is_empty(), "a plain Pod meets the baseline");
        assert_eq!(violations(&bare, true).len(), 4, "but says too little for restricted");
        assert_eq!(
            violations(&loud, false),
            [
                "host namespaces (hostNetwork=true)",
                "hostPath volumes (volume \"v\")",
                "hostPort (container \"c\" uses hostPort 80)",
                "privileged (container \"c\" must not set securityContext.privileged=true)",
            ]
        );
    }

    fn namespace(labels: &[(&str, &str)]) -> Namespace {
        let mut namespace = Namespace::default();
        for (mode, value) in labels {
            namespace.meta.labels.insert(format!("{PREFIX}{mode}"), (*value).to_string());
        }
        namespace
    }

    #[test]
    fn labels_say_what_is_enforced_and_warned_of() {
        let table: [(&[(&str, &str)], &str, &str); 5] = [
            (&[], "privileged:latest", "privileged:latest"),
            (&[("enforce", "baseline")], "baseline:latest", "baseline:latest"),
            (&[("enforce", "baseline"), ("warn", "restricted")], "baseline:latest", "restricted:latest"),
            (&[("enforce", "foo"), ("warn", "foo")], "restricted:latest", "privileged:latest"),
            (
                &[("enforce", "restricted"), ("enforce-version", "v1.30")],
                "restricted:v1.30",
                "restricted:v1.30",
            ),
        ];
        for (labels, enforced, warned) in table {
            let namespace = namespace(labels);
            assert_eq!(policy(&namespace, "enforce").to_string(), enforced, "{labels:?}");
            assert_eq!(policy(&namespace, "warn").to_string(), warned, "{labels:?}");
        }
    }

    #[test]
    fn labels_that_say_nothing_are_refused() {
        let namespace = namespace(&[("enforce", "foo"), ("warn-version", "1.2"), ("audit", "baseline")]);
        let problems: Vec<String> =
            problems(&namespace.meta.labels).iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"foo\": must be one of privileged, baseline, restricted",
                "metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: \"1.2\": must be \"latest\" or \"v1.x\"",
            ]
        );
    }
}
