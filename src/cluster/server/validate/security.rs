//! Security contexts of Pods and containers.
//!
//! Models: `pkg/apis/core/validation/validation.go` `validatePodSpecSecurityContext`, `ValidateSecurityContext` (v1.36).
//! Leaves out: Windows options, SELinux.

use super::container::descending_path;
use super::field::FieldError;
use super::node::{Errors, Node};

fn id(errors: &mut Errors, id: &Node<'_>) {
    if id.exists() && !(0..=i64::from(i32::MAX)).contains(&id.number()) {
        errors.push(id.invalid("must be between 0 and 2147483647, inclusive"));
    }
}

/// Judges the security context of a Pod's spec.
pub fn of_pod(errors: &mut Errors, spec: &Node<'_>) {
    let context = spec.at("securityContext");
    for name in ["fsGroup", "runAsUser", "runAsGroup"] {
        id(errors, &context.at(name));
    }
    for group in context.at("supplementalGroups").items() {
        id(errors, &group);
    }
    if spec.at("shareProcessNamespace").is_true() && spec.at("hostPID").is_true() {
        let path = context.path_of("shareProcessNamespace");
        let detail = "ShareProcessNamespace and HostPID cannot both be enabled";
        errors.push(FieldError::invalid_shown(&path, "true".to_string(), detail));
    }
    sysctls(errors, spec);
    word(errors, &context.at("fsGroupChangePolicy"), &["Always", "OnRootMismatch"]);
    profile(errors, &context.at("seccompProfile"), "seccomp", "seccompProfile");
    profile(errors, &context.at("appArmorProfile"), "AppArmor", "appArmorProfile");
    word(errors, &context.at("supplementalGroupsPolicy"), &["Merge", "Strict"]);
    word(errors, &context.at("seLinuxChangePolicy"), &["MountOption", "Recursive"]);
}

/// Parameters of the kernel.
fn sysctls(errors: &mut Errors, spec: &Node<'_>) {
    const LONGEST_BYTES: usize = 253;
    const PATTERN: &str = "([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
    let is_part = |part: &str| {
        let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = part.as_bytes();
        bytes.first().is_some_and(|byte| is_inner(*byte))
            && bytes.last().is_some_and(|byte| is_inner(*byte))
            && bytes.iter().all(|byte| is_inner(*byte) || matches!(byte, b'-' | b'_'))
    };
    let mut seen = std::collections::BTreeSet::new();
    for sysctl in spec.at("securityContext").at("sysctls").items() {
        let name = sysctl.at("name");
        let text = name.text();
        if text.is_empty() {
            errors.push(name.required(""));
        } else if text.len() > LONGEST_BYTES || !text.split(['.', '/']).all(is_part) {
            let detail = format!("must have at most {LONGEST_BYTES} characters and match regex {PATTERN}");
            errors.push(name.invalid(&detail));
        } else if !seen.insert(text) {
            errors.push(FieldError::duplicate(&name.path, name.value));
        }
        let path = text.replace('/', ".");
        let is_of_ipc = ["kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue."];
        if path.starts_with("net.") && spec.at("hostNetwork").is_true() {
            errors.push(name.invalid("may not be specified when 'hostNetwork' is true"));
        } else if is_of_ipc.iter().any(|part| path.starts_with(part)) && spec.at("hostIPC").is_true() {
            errors.push(name.invalid("may not be specified when 'hostIPC' is true"));
        }
    }
}

fn word(errors: &mut Errors, node: &Node<'_>, choices: &[&str]) {
    if node.exists() && !choices.contains(&node.text()) {
        errors.push(node.not_supported(choices));
    }
}

fn profile(errors: &mut Errors, profile: &Node<'_>, about: &str, field: &str) {
    if !profile.exists() {
        return;
    }
    let (kind, local) = (profile.at("type"), profile.at("localhostProfile"));
    match kind.text() {
        "Localhost" if !local.exists() => {
            errors.push(local.required(&format!("must be set when {about} type is Localhost")));
        }
        "Localhost" => descending_path(errors, &local),
        "RuntimeDefault" | "Unconfined" => {
            if local.exists() {
                errors.push(local.invalid(&format!("can only be set when {about} type is Localhost")));
            }
        }
        "" => errors.push(kind.required(&format!("type is required when {field} is set"))),
        _ => errors.push(kind.not_supported(&["Localhost", "RuntimeDefault", "Unconfined"])),
    }
}

/// Judges the security context of a container.
pub fn of_container(errors: &mut Errors, context: &Node<'_>, host_users: bool) {
    if !context.exists() {
        return;
    }
    id(errors, &context.at("runAsUser"));
    id(errors, &context.at("runAsGroup"));
    let mount = context.at("procMount");
    word(errors, &mount, &["Default", "Unmasked"]);
    if host_users && mount.text() == "Unmasked" {
        errors.push(mount.invalid("`hostUsers` must be false to use `Unmasked`"));
    }
    profile(errors, &context.at("seccompProfile"), "seccomp", "seccompProfile");
    if context.at("allowPrivilegeEscalation").value == &serde_json::Value::Bool(false) {
        if context.at("privileged").is_true() {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            errors.push(context.invalid(detail));
        }
        let added = context.at("capabilities").at("add");
        if added.items().iter().any(|capability| capability.text() == "CAP_SYS_ADMIN") {
            let detail =
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            errors.push(context.invalid(detail));
        }
    }
    profile(errors, &context.at("appArmorProfile"), "AppArmor", "appArmorProfile");
}
