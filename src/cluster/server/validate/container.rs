//! Containers: ports, environment, mounts, probes and hooks.
//!
//! Models: `pkg/apis/core/validation/validation.go` `validateContainers` and what it calls (v1.36).
//! Leaves out: restart rules.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::field::{FieldError, FieldErrorKind, quoted};
use super::node::{Errors, Node, complain, non_negative, one_of, port, port_number};
use super::resources;
use super::security;
use crate::api::names;

/// What a container's rules need to know of its Pod.
pub struct Surroundings<'a> {
    /// The well-formed volumes, by name.
    pub volumes: &'a BTreeMap<String, Value>,
    /// The seconds a Pod has to end.
    pub grace_seconds: Option<i64>,
    /// When its containers start again.
    pub restart_policy: &'a str,
    /// Whether it shares the users of its node.
    pub host_users: bool,
}

/// Judges the containers of a Pod.
pub fn containers(errors: &mut Errors, containers: &Node<'_>, pod: &Surroundings<'_>) {
    if containers.is_empty() {
        errors.push(containers.required(""));
        return;
    }
    let mut seen = BTreeSet::new();
    for container in containers.items() {
        shared(errors, &container, pod);
        let name = container.at("name");
        if !seen.insert(name.text()) {
            errors.push(FieldError::duplicate(&name.path, name.value));
        }
        hooks_and_probes(errors, &container, pod);
        let policy = container.at("restartPolicy");
        if policy.exists() {
            let choices = ["Always", "OnFailure", "Never"];
            if !choices.contains(&policy.text()) {
                errors.push(policy.not_supported(&choices));
            }
        }
    }
    host_port_conflicts(errors, &containers.items());
}

/// Judges the init containers of a Pod's spec.
pub fn init_containers(errors: &mut Errors, spec: &Node<'_>, pod: &Surroundings<'_>) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for container in spec.at("containers").items() {
        seen.insert(container.at("name").text().to_string());
    }
    for container in spec.at("initContainers").items() {
        shared(errors, &container, pod);
        let policy = container.at("restartPolicy");
        if policy.exists() && !matches!(policy.text(), "Always" | "OnFailure" | "Never") {
            errors.push(policy.not_supported(&["Always", "OnFailure", "Never"]));
        }
        let name = container.at("name");
        if seen.contains(name.text()) {
            errors.push(FieldError::duplicate(&name.path, name.value));
        } else if !name.is_empty() {
            seen.insert(name.text().to_string());
        }
        host_port_conflicts(errors, std::slice::from_ref(&container));
        if policy.text() == "Always" {
            hooks_and_probes(errors, &container, pod);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.at(field).exists() {
                let detail = "may not be set for init containers without restartPolicy=Always";
                errors.push(container.at(field).forbidden(detail));
            }
        }
    }
}

/// What only containers that stay have.
const NOT_EPHEMERAL: [&str; 7] =
    ["ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "resizePolicy"];

/// Judges the ephemeral containers of a Pod's spec.
pub fn ephemeral_containers(errors: &mut Errors, spec: &Node<'_>, pod: &Surroundings<'_>) {
    let others = ["containers", "initContainers"].map(|list| spec.at(list).items());
    let others: Vec<&str> = others.iter().flatten().map(|container| container.at("name").text()).collect();
    let mut seen = others.clone();
    for container in spec.at("ephemeralContainers").items() {
        shared(errors, &container, pod);
        let name = container.at("name");
        if seen.contains(&name.text()) {
            errors.push(FieldError::duplicate(&name.path, name.value));
        }
        seen.push(name.text());
        let target = container.at("targetContainerName");
        if !target.is_empty() && !others.contains(&target.text()) {
            errors.push(FieldError::not_found(&target.path, target.value));
        }
        let detail = "cannot be set for an Ephemeral Container";
        let given = NOT_EPHEMERAL.iter().map(|field| container.at(field)).filter(|field| !field.is_empty());
        errors.extend(given.map(|field| field.forbidden(detail)));
        for mount in container.at("volumeMounts").items() {
            let parts = ["subPath", "subPathExpr"].map(|field| mount.at(field));
            errors.extend(parts.iter().filter(|part| !part.is_empty()).map(|part| part.forbidden(detail)));
        }
    }
}

/// What holds for containers of every sort.
fn shared(errors: &mut Errors, container: &Node<'_>, pod: &Surroundings<'_>) {
    let name = container.at("name");
    if name.is_empty() {
        errors.push(name.required(""));
    } else {
        complain(errors, &name, names::dns_label(name.text()));
    }
    if container.at("image").is_empty() {
        errors.push(container.at("image").required(""));
    }
    one_of(errors, &container.at("terminationMessagePolicy"), &["File", "FallbackToLogsOnError"]);
    ports(errors, &container.at("ports"));
    environment(errors, &container.at("env"));
    environment_from(errors, &container.at("envFrom"));
    mounts(errors, container, pod);
    devices(errors, container, pod);
    one_of(errors, &container.at("imagePullPolicy"), &["Always", "IfNotPresent", "Never"]);
    resources::of_container(errors, &container.at("resources"));
    resize_policies(errors, &container.at("resizePolicy"), pod);
    security::of_container(errors, &container.at("securityContext"), pod.host_users);
}

fn ports(errors: &mut Errors, ports: &Node<'_>) {
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let name = port.at("name");
        if !name.is_empty() {
            let complaints = names::port_name(name.text());
            if !complaints.is_empty() {
                complain(errors, &name, complaints);
            } else if !seen.insert(name.text()) {
                errors.push(FieldError::duplicate(&name.path, name.value));
            }
        }
        let number = port.at("containerPort");
        if number.number() == 0 {
            errors.push(number.required(""));
        } else {
            port_number(errors, &number);
        }
        if port.at("hostPort").number() != 0 {
            port_number(errors, &port.at("hostPort"));
        }
        one_of(errors, &port.at("protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

fn host_port_conflicts(errors: &mut Errors, containers: &[Node<'_>]) {
    let mut seen = BTreeSet::new();
    for port in containers.iter().flat_map(|container| container.at("ports").items()) {
        let host_port = port.at("hostPort");
        if host_port.number() == 0 {
            continue;
        }
        let (protocol, address) = (port.at("protocol").text(), port.at("hostIP").text());
        let key = format!("{protocol}/{address}/{}", host_port.number());
        if !seen.insert(key.clone()) {
            errors.push(FieldError::duplicate_shown(&host_port.path, quoted(&key)));
        }
    }
}

const FIELD_PATHS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
const RESOURCE_PATHS: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

fn environment(errors: &mut Errors, variables: &Node<'_>) {
    for variable in variables.items() {
        let name = variable.at("name");
        if name.is_empty() {
            errors.push(name.required(""));
        } else {
            complain(errors, &name, names::environment_variable(name.text()));
        }
        let from = variable.at("valueFrom");
        if !from.exists() {
            continue;
        }
        let mut sources = 0;
        if from.at("fieldRef").exists() {
            sources += 1;
            field_reference(errors, &from.at("fieldRef"), &FIELD_PATHS);
        }
        if from.at("resourceFieldRef").exists() {
            sources += 1;
            resource_reference(errors, &from.at("resourceFieldRef"), false);
        }
        for source in ["configMapKeyRef", "secretKeyRef"] {
            let reference = from.at(source);
            if !reference.exists() {
                continue;
            }
            sources += 1;
            let (name, key) = (reference.at("name"), reference.at("key"));
            if name.is_empty() {
                complain(errors, &name, names::dns_subdomain(""));
            } else {
                complain(errors, &name, names::dns_subdomain(name.text()));
            }
            if key.is_empty() {
                errors.push(key.required(""));
            } else {
                complain(errors, &key, names::config_key(key.text()));
            }
        }
        if from.at("fileKeyRef").exists() {
            sources += 1;
        }
        let refusal = if sources == 0 {
            Some(
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
            )
        } else if !variable.at("value").is_empty() {
            Some("may not be specified when `value` is not empty")
        } else if sources > 1 {
            Some("may not have more than one field specified at a time")
        } else {
            None
        };
        errors.extend(refusal.map(|detail| FieldError::invalid_text(&from.path, "", detail)));
    }
}

/// Judges a reference to a field of the Pod.
pub fn field_reference(errors: &mut Errors, reference: &Node<'_>, paths: &[&str]) {
    let path = reference.at("fieldPath");
    if path.is_empty() {
        errors.push(path.required(""));
        return;
    }
    if let Some((base, rest)) = path.text().split_once("['") {
        let key = rest.strip_suffix("']").unwrap_or(rest);
        let complaints = match base {
            "metadata.annotations" => names::qualified_name(&key.to_lowercase()),
            "metadata.labels" => names::qualified_name(key),
            _ => {
                errors.push(FieldError::invalid_text(&reference.path, base, "does not support subscript"));
                return;
            }
        };
        errors.extend(complaints.iter().map(|text| FieldError::invalid_text(&reference.path, key, text)));
    } else if matches!(path.text(), "metadata.annotations" | "metadata.labels")
        && !paths.contains(&path.text())
    {
        errors.push(path.not_supported(paths));
    } else if !paths.contains(&path.text()) {
        let known = ["metadata", "spec", "status"].iter().any(|part| path.text().starts_with(part));
        if known && FIELD_PATHS.contains(&path.text()) {
            errors.push(path.not_supported(paths));
        } else {
            let detail = format!("error converting fieldPath: field label not supported: {}", path.text());
            errors.push(path.invalid(&detail));
        }
    }
}

/// Judges a reference to a container's resources.
pub fn resource_reference(errors: &mut Errors, reference: &Node<'_>, in_volume: bool) {
    let (container, resource) = (reference.at("containerName"), reference.at("resource"));
    let is_huge = resource.text().starts_with("requests.hugepages-")
        || resource.text().starts_with("limits.hugepages-");
    if in_volume && container.is_empty() {
        errors.push(container.required(""));
    } else if resource.is_empty() {
        errors.push(resource.required(""));
    } else if !RESOURCE_PATHS.contains(&resource.text()) && !is_huge {
        errors.push(resource.not_supported(&RESOURCE_PATHS));
    }
    let divisor = reference.at("divisor");
    if divisor.quantity().is_zero() {
        return;
    }
    let units = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
    let about = match resource.text() {
        "limits.cpu" | "requests.cpu" => {
            if !["1m", "1"].contains(&divisor.text()) {
                let detail = "only divisor's values 1m and 1 are supported with the cpu resource";
                errors.push(FieldError::invalid_text(&divisor.path, resource.text(), detail));
            }
            return;
        }
        "limits.memory" | "requests.memory" => "memory",
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => "local ephemeral storage",
        _ if is_huge => "hugepages",
        _ => return,
    };
    if !units.contains(&divisor.text()) {
        let detail =
            format!("only divisor's values {} are supported with the {about} resource", units.join(", "));
        errors.push(FieldError::invalid_text(&divisor.path, resource.text(), &detail));
    }
}

fn environment_from(errors: &mut Errors, sources: &Node<'_>) {
    for source in sources.items() {
        let prefix = source.at("prefix");
        if !prefix.is_empty() {
            complain(errors, &prefix, names::environment_variable(prefix.text()));
        }
        let mut found = 0;
        for kind in ["configMapRef", "secretRef"] {
            let reference = source.at(kind);
            if !reference.exists() {
                continue;
            }
            found += 1;
            let name = reference.at("name");
            if name.is_empty() {
                errors.push(name.required(""));
            } else {
                complain(errors, &name, names::dns_subdomain(name.text()));
            }
        }
        let detail = match found {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(FieldError::invalid_text(&sources.path, "", detail));
    }
}

/// Refuses a path that is absolute or leads upwards.
pub fn descending_path(errors: &mut Errors, path: &Node<'_>) {
    if path.text().starts_with('/') {
        errors.push(path.invalid("must be a relative path"));
    }
    if path.text().split('/').any(|part| part == "..") {
        errors.push(path.invalid("must not contain '..'"));
    }
}

fn mounts(errors: &mut Errors, container: &Node<'_>, pod: &Surroundings<'_>) {
    let mounts = container.at("volumeMounts");
    let devices = container.at("volumeDevices").items();
    let is_device = |field: &str, text: &str| devices.iter().any(|device| device.at(field).text() == text);
    let is_privileged = container.at("securityContext").at("privileged").is_true();
    let mut seen = BTreeSet::new();
    for mount in mounts.items() {
        let (name, path) = (mount.at("name"), mount.at("mountPath"));
        if name.is_empty() {
            errors.push(name.required(""));
        }
        if !pod.volumes.contains_key(name.text()) {
            errors.push(FieldError {
                path: name.path.clone(),
                kind: FieldErrorKind::NotFound,
                value: quoted(name.text()),
                detail: String::new(),
            });
        }
        if path.is_empty() {
            errors.push(path.required(""));
        }
        if !seen.insert(path.text()) {
            errors.push(path.invalid("must be unique"));
        }
        if is_device("name", name.text()) {
            errors.push(name.invalid("must not already exist in volumeDevices"));
        }
        if is_device("devicePath", path.text()) {
            errors.push(path.invalid("must not already exist as a path in volumeDevices"));
        }
        // The path of these mistakes names no index.
        let at = |field: &str| Node { path: mounts.path_of(field), value: mount.at(field).value };
        if !mount.at("subPath").is_empty() {
            descending_path(errors, &at("subPath"));
        }
        if !mount.at("subPathExpr").is_empty() {
            if !mount.at("subPath").is_empty() {
                errors
                    .push(mount.at("subPathExpr").invalid("subPathExpr and subPath are mutually exclusive"));
            }
            descending_path(errors, &at("subPathExpr"));
        }
        let propagation = at("mountPropagation");
        let choices = ["Bidirectional", "HostToContainer", "None"];
        if propagation.exists() && !choices.contains(&propagation.text()) {
            errors.push(propagation.not_supported(&choices));
        }
        if propagation.text() == "Bidirectional" && !is_privileged {
            let detail = "Bidirectional mount propagation is available only to privileged containers";
            errors.push(propagation.forbidden(detail));
        }
        let recursive = at("recursiveReadOnly");
        match recursive.text() {
            "" | "Disabled" => {}
            "Enabled" | "IfPossible" => {
                if !mount.at("readOnly").is_true() {
                    errors.push(recursive.forbidden("may only be specified when readOnly is true"));
                }
                if !matches!(propagation.text(), "" | "None") {
                    let detail = "may only be specified when mountPropagation is None or not specified";
                    errors.push(recursive.forbidden(detail));
                }
            }
            _ => errors.push(recursive.not_supported(&["Disabled", "Enabled", "IfPossible"])),
        }
    }
}

/// Volumes that a container sees as block devices.
fn devices(errors: &mut Errors, container: &Node<'_>, pod: &Surroundings<'_>) {
    let mounts = container.at("volumeMounts").items();
    let is_mount = |field: &str, text: &str| mounts.iter().any(|mount| mount.at(field).text() == text);
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for device in container.at("volumeDevices").items() {
        let (name, path) = (device.at("name"), device.at("devicePath"));
        if name.is_empty() {
            errors.push(name.required(""));
        } else if !names.insert(name.text()) {
            errors.push(name.invalid("must be unique"));
        }
        match pod.volumes.get(name.text()) {
            None => errors.push(FieldError {
                path: name.path.clone(),
                kind: FieldErrorKind::NotFound,
                value: quoted(name.text()),
                detail: String::new(),
            }),
            Some(volume) if volume["persistentVolumeClaim"].is_null() && volume["ephemeral"].is_null() => {
                let detail =
                    "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                errors.push(name.invalid(detail));
            }
            Some(_) => {}
        }
        if path.is_empty() {
            errors.push(path.required(""));
        }
        if paths.contains(path.text()) {
            errors.push(path.invalid("must be unique"));
        }
        if path.text().split('/').any(|part| part == "..") {
            errors.push(path.invalid("can not contain backsteps ('..')"));
        } else {
            paths.insert(path.text());
        }
        if is_mount("name", name.text()) {
            errors.push(name.invalid("must not already exist in volumeMounts"));
        }
        if is_mount("mountPath", path.text()) {
            errors.push(path.invalid("must not already exist as a path in volumeMounts"));
        }
    }
}

fn resize_policies(errors: &mut Errors, policies: &Node<'_>, pod: &Surroundings<'_>) {
    let mut seen = BTreeSet::new();
    for policy in policies.items() {
        let (resource, restart) = (policy.at("resourceName"), policy.at("restartPolicy"));
        let at = |node: &Node<'_>, choices: &[&str]| {
            let node = Node { path: policies.path.clone(), value: node.value };
            let mut found = Errors::new();
            one_of(&mut found, &node, choices);
            found
        };
        if !seen.insert(resource.text()) {
            errors.push(FieldError::duplicate(&policy.path, resource.value));
        }
        errors.extend(at(&resource, &["cpu", "memory"]));
        errors.extend(at(&restart, &["NotRequired", "RestartContainer"]));
        if pod.restart_policy == "Never" && restart.text() != "NotRequired" {
            let detail = "must be 'NotRequired' when `restartPolicy` is 'Never'";
            errors.push(FieldError::invalid_text(&policies.path, restart.text(), detail));
        }
    }
}

fn hooks_and_probes(errors: &mut Errors, container: &Node<'_>, pod: &Surroundings<'_>) {
    let lifecycle = container.at("lifecycle");
    for hook in ["postStart", "preStop"] {
        if lifecycle.at(hook).exists() {
            handler(errors, &lifecycle.at(hook), pod);
        }
    }
    probe(errors, &container.at("livenessProbe"), pod);
    probe(errors, &container.at("readinessProbe"), pod);
    probe(errors, &container.at("startupProbe"), pod);
}

fn probe(errors: &mut Errors, probe: &Node<'_>, pod: &Surroundings<'_>) {
    if !probe.exists() {
        return;
    }
    handler(errors, probe, pod);
    for field in
        ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]
    {
        non_negative(errors, &probe.at(field));
    }
    let grace = probe.at("terminationGracePeriodSeconds");
    if grace.exists() && grace.number() <= 0 {
        errors.push(grace.invalid("must be greater than 0"));
    }
    if probe.path.ends_with("readinessProbe") {
        if grace.exists() {
            errors.push(grace.invalid("must not be set for readinessProbes"));
        }
    } else if probe.at("successThreshold").number() != 1 {
        errors.push(probe.at("successThreshold").invalid("must be 1"));
    }
}

/// Judges the one thing a probe or hook does.
fn handler(errors: &mut Errors, handler: &Node<'_>, pod: &Surroundings<'_>) {
    let mut found = false;
    for kind in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let action = handler.at(kind);
        if !action.exists() {
            continue;
        }
        if found {
            errors.push(action.forbidden("may not specify more than 1 handler type"));
            continue;
        }
        found = true;
        match kind {
            "exec" if action.at("command").is_empty() => errors.push(action.at("command").required("")),
            "httpGet" => http_get(errors, &action),
            "tcpSocket" | "grpc" => port(errors, &action.at("port")),
            "sleep" => {
                let seconds = action.at("seconds").number();
                if let Some(grace) = pod.grace_seconds
                    && !(0..=grace).contains(&seconds)
                {
                    let detail =
                        format!("must be non-negative and less than terminationGracePeriodSeconds ({grace})");
                    errors.push(FieldError::invalid_shown(&action.path, seconds.to_string(), &detail));
                }
            }
            _ => {}
        }
    }
    if !found {
        errors.push(handler.required("must specify a handler type"));
    }
}

fn http_get(errors: &mut Errors, action: &Node<'_>) {
    if action.at("path").is_empty() {
        errors.push(action.at("path").required(""));
    }
    port(errors, &action.at("port"));
    let scheme = action.at("scheme");
    if !matches!(scheme.text(), "HTTP" | "HTTPS") {
        errors.push(scheme.not_supported(&["HTTP", "HTTPS"]));
    }
    for header in action.at("httpHeaders").items() {
        let name = header.at("name").text();
        if name.is_empty() || !name.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric()) {
            let detail = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
            errors.push(FieldError::invalid_text(&action.path_of("httpHeaders"), name, detail));
        }
    }
}
