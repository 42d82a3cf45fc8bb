//! Pods and the templates of Pods.
//!
//! Models: `pkg/apis/core/validation/validation.go` `ValidatePodSpec` and what it calls (v1.36).
//! Leaves out: Windows options, resource claims, changes of gated Pods.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::container;
use super::field::FieldError;
use super::internal;
use super::meta;
use super::node::{Errors, Node, complain, ip, one_of, one_of_if_given};
use super::resources;
use super::scheduling;
use super::security;
use super::volume;
use crate::api::names;

/// What an update of a Pod may change, as the refusal lists it.
const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// Judges a new Pod.
pub fn create(errors: &mut Errors, pod: &Node<'_>) {
    metadata_and_spec(errors, pod);
    let spec = pod.at("spec");
    if !spec.at("ephemeralContainers").is_empty() {
        errors.push(spec.at("ephemeralContainers").forbidden("cannot be set on create"));
    }
    if !spec.at("nodeName").is_empty() && !spec.at("schedulingGates").is_empty() {
        errors
            .push(spec.at("nodeName").forbidden("cannot be set until all schedulingGates have been cleared"));
    }
}

fn metadata_and_spec(errors: &mut Errors, pod: &Node<'_>) {
    meta::metadata(errors, pod, true, names::dns_subdomain);
    deletion_cost(errors, &pod.at("metadata").at("annotations"));
    let spec = pod.at("spec");
    pod_spec(errors, &spec, true);
    if spec.at("serviceAccountName").is_empty() {
        for volume in spec.at("volumes").items() {
            for source in volume.at("projected").at("sources").items() {
                let token = source.at("serviceAccountToken");
                if token.exists() {
                    errors.push(token.forbidden("must not be specified when serviceAccountName is not set"));
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        for container in spec.at(list).items() {
            let image = container.at("image");
            if image.text().trim() != image.text() {
                errors.push(image.invalid("must not have leading or trailing whitespace"));
            }
        }
    }
}

/// A Pod's cost of deletion is a number without frills.
fn deletion_cost(errors: &mut Errors, annotations: &Node<'_>) {
    const COST: &str = "controller.kubernetes.io/pod-deletion-cost";
    for (_, value) in annotations.members().into_iter().filter(|(key, _)| *key == COST) {
        let text = value.text();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_plain = text == "0" || digits.starts_with(|c: char| ('1'..='9').contains(&c));
        if !is_plain || text.parse::<i32>().is_err() {
            errors.push(value.invalid("must be a 32bit integer"));
        }
    }
}

/// Judges a changed Pod.
pub fn update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    metadata_and_spec(errors, new);
    let (old_spec, spec) = (old.at("spec"), new.at("spec"));
    for list in ["containers", "initContainers"] {
        let (before, after) = (old_spec.at(list).items(), spec.at(list));
        if before.len() != after.items().len() {
            errors.push(after.forbidden("pod updates may not add or remove containers"));
            return;
        }
        for container in after.items() {
            if container.at("image").is_empty() {
                errors.push(container.at("image").required(""));
            }
        }
    }
    let (before, after) = (old_spec.at("activeDeadlineSeconds"), spec.at("activeDeadlineSeconds"));
    if after.exists() {
        if !(0..=i64::from(i32::MAX)).contains(&after.number()) {
            errors.push(after.invalid("must be between 0 and 2147483647, inclusive"));
            return;
        }
        if before.exists() && before.number() < after.number() {
            errors.push(after.invalid("must be less than or equal to previous value"));
            return;
        }
    } else if before.exists() {
        let detail = "must not update from a positive integer to nil value";
        errors.push(FieldError::invalid_shown(&after.path, "null".to_string(), detail));
    }
    added_tolerations(errors, &old_spec.at("tolerations"), &spec.at("tolerations"));
    let old_gates = old_spec.at("schedulingGates").items();
    for gate in spec.at("schedulingGates").items() {
        let name = gate.at("name");
        if !old_gates.iter().any(|old| old.at("name").text() == name.text()) {
            let detail = format!("only deletion is allowed, but found new scheduling gate '{}'", name.text());
            errors.push(name.forbidden(&detail));
        }
    }
    let fixed = with_changeable_parts_of(spec.value, old_spec.value);
    if fixed != *old_spec.value {
        let difference = internal::difference("PodSpec", old_spec.value, &fixed);
        errors.push(
            spec.forbidden(&format!(
                "pod updates may not change fields other than {CHANGEABLE}\n{difference}"
            )),
        );
    }
}

/// Judges other requests and limits of a Pod's containers.
///
/// Models: `ValidatePodResize`.
pub fn resize(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    let spec = new.at("spec");
    for list in ["containers", "initContainers"] {
        for container in spec.at(list).items() {
            resources::of_container(errors, &container.at("resources"));
        }
    }
    let class = crate::cluster::server::prepare::quality_of_service(new.value);
    let before = old.at("status").at("qosClass");
    if before.text() != class {
        let detail = "Pod QOS Class may not change as a result of resizing";
        errors.push(FieldError::invalid_text(&spec.path, class, detail));
    }
}

/// Judges ephemeral containers that were added to a Pod.
///
/// Models: `ValidatePodEphemeralContainersUpdate`.
pub fn ephemeral_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    let spec = new.at("spec");
    let volumes = volume::volumes(&mut Errors::new(), &spec.at("volumes"));
    let pod = container::Surroundings {
        volumes: &volumes,
        grace_seconds: spec.at("terminationGracePeriodSeconds").value.as_i64(),
        restart_policy: spec.at("restartPolicy").text(),
        host_users: spec.at("hostUsers").value != &Value::Bool(false),
    };
    container::ephemeral_containers(errors, &spec, &pod);
    let list = spec.at("ephemeralContainers");
    for before in old.at("spec").at("ephemeralContainers").items() {
        let name = before.at("name");
        let after = list.items().into_iter().find(|after| after.at("name").text() == name.text());
        let what = match after {
            None => "removed",
            Some(after) if after.value != before.value => "changed",
            Some(_) => continue,
        };
        let detail = format!(
            "existing ephemeral containers {} may not be {what}\n",
            super::field::quoted(name.text())
        );
        errors.push(list.forbidden(&detail));
    }
}

/// A Pod's spec with everything that may change set to what it was.
fn with_changeable_parts_of(spec: &Value, old: &Value) -> Value {
    let mut fixed = spec.clone();
    let Value::Object(members) = &mut fixed else { return fixed };
    fn restore(members: &mut Map<String, Value>, old: &Value, name: &str) {
        match old.get(name) {
            Some(value) => members.insert(name.to_string(), value.clone()),
            None => members.remove(name),
        };
    }
    for name in ["activeDeadlineSeconds", "tolerations", "schedulingGates"] {
        restore(members, old, name);
    }
    if old["terminationGracePeriodSeconds"].as_i64().unwrap_or(0) < 0 {
        restore(members, old, "terminationGracePeriodSeconds");
    }
    for list in ["containers", "initContainers"] {
        let containers = members.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for (index, container) in containers.enumerate() {
            if let Value::Object(container) = container {
                restore(container, &old[list][index], "image");
            }
        }
    }
    fixed
}

fn added_tolerations(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    let without_seconds = |toleration: &Value| {
        let mut toleration = toleration.clone();
        if let Value::Object(members) = &mut toleration {
            members.remove("tolerationSeconds");
        }
        toleration
    };
    let kept = |before: &Node<'_>| {
        new.items().iter().any(|after| without_seconds(after.value) == without_seconds(before.value))
    };
    if old.items().iter().all(kept) {
        scheduling::tolerations(errors, new);
    } else {
        errors.push(new.forbidden("existing toleration can not be modified except its tolerationSeconds"));
    }
}

/// Judges the metadata of a template; the paths of its labels and annotations leave out `metadata`.
pub fn template_metadata(errors: &mut Errors, template: &Node<'_>) {
    let metadata = template.at("metadata");
    let at = |name: &str| Node { path: template.path_of(name), value: metadata.at(name).value };
    meta::labels(errors, &at("labels"));
    meta::annotations(errors, &at("annotations"));
}

/// Judges a template of Pods.
pub fn template(errors: &mut Errors, template: &Node<'_>) {
    template_metadata(errors, template);
    let spec = template.at("spec");
    pod_spec(errors, &spec, false);
    if !spec.at("ephemeralContainers").is_empty() {
        errors.push(
            spec.at("ephemeralContainers").forbidden("ephemeral containers not allowed in pod template"),
        );
    }
}

/// Judges a Pod's spec; some rules hold only in a Pod, not in a template.
fn pod_spec(errors: &mut Errors, spec: &Node<'_>, is_pod: bool) {
    let grace = spec.at("terminationGracePeriodSeconds");
    if !grace.exists() {
        errors.push(grace.required(""));
    }
    let volumes = volume::volumes(errors, &spec.at("volumes"));
    let pod = container::Surroundings {
        volumes: &volumes,
        grace_seconds: grace.value.as_i64(),
        restart_policy: spec.at("restartPolicy").text(),
        host_users: spec.at("hostUsers").value != &Value::Bool(false),
    };
    container::containers(errors, &spec.at("containers"), &pod);
    container::init_containers(errors, spec, &pod);
    resources::of_pod(errors, spec);
    host_network_ports(errors, spec, is_pod);
    one_of(errors, &spec.at("restartPolicy"), &["Always", "OnFailure", "Never"]);
    one_of(errors, &spec.at("dnsPolicy"), &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    meta::labels(errors, &spec.at("nodeSelector"));
    security::of_pod(errors, spec);
    scheduling::affinity(errors, &spec.at("affinity"));
    dns(errors, spec);
    for gate in spec.at("readinessGates").items() {
        let condition = gate.at("conditionType");
        complain(errors, &condition, names::qualified_name(condition.text()));
    }
    scheduling_gates(errors, &spec.at("schedulingGates"));
    scheduling::spread_constraints(errors, &spec.at("topologySpreadConstraints"));
    if spec.at("hostUsers").value == &Value::Bool(false) {
        for (field, shown) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")]
        {
            if spec.at(field).is_true() {
                errors.push(spec.at(shown).forbidden("when `pod.Spec.HostUsers` is false"));
            }
        }
    }
    rest(errors, spec);
}

fn rest(errors: &mut Errors, spec: &Node<'_>) {
    let rules: [(&str, fn(&str) -> Vec<String>); 4] = [
        ("serviceAccountName", names::dns_subdomain),
        ("nodeName", names::dns_subdomain),
        ("hostname", names::dns_label),
        ("subdomain", names::dns_label),
    ];
    for (name, rule) in rules {
        if name == "hostname" {
            let deadline = spec.at("activeDeadlineSeconds");
            if deadline.exists() && !(1..=i64::from(i32::MAX)).contains(&deadline.number()) {
                errors.push(deadline.invalid("must be between 1 and 2147483647, inclusive"));
            }
        }
        let node = spec.at(name);
        if !node.is_empty() {
            complain(errors, &node, rule(node.text()));
        }
    }
    scheduling::tolerations(errors, &spec.at("tolerations"));
    for alias in spec.at("hostAliases").items() {
        ip(errors, &alias.at("ip"));
        for hostname in alias.at("hostnames").items() {
            complain(errors, &hostname, names::dns_subdomain(hostname.text()));
        }
    }
    for name in ["priorityClassName", "runtimeClassName"] {
        let node = spec.at(name);
        if !node.is_empty() {
            complain(errors, &node, names::dns_subdomain(node.text()));
        }
    }
    one_of_if_given(errors, &spec.at("preemptionPolicy"), &["PreemptLowerPriority", "Never"]);
    if spec.at("overhead").exists() {
        for (name, amount) in spec.at("overhead").members() {
            resources::amount(errors, name, &amount);
        }
    }
    let os = spec.at("os");
    if os.exists() {
        one_of(errors, &os.at("name"), &["linux", "windows"]);
    }
}

fn host_network_ports(errors: &mut Errors, spec: &Node<'_>, is_pod: bool) {
    if !spec.at("hostNetwork").is_true() {
        return;
    }
    for container in spec.at("containers").items() {
        for port in container.at("ports").items() {
            let (host, own) = (port.at("hostPort"), port.at("containerPort"));
            if (is_pod || host.number() != 0) && host.number() != own.number() {
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.push(FieldError::invalid_shown(&host.path, host.number().to_string(), detail));
            }
        }
    }
}

fn scheduling_gates(errors: &mut Errors, gates: &Node<'_>) {
    let mut seen = BTreeSet::new();
    for gate in gates.items() {
        let name = gate.at("name").text();
        let complaints = names::qualified_name(name);
        errors
            .extend(complaints.iter().map(|complaint| FieldError::invalid_text(&gate.path, name, complaint)));
        if !seen.insert(name) {
            errors.push(FieldError::duplicate(&gate.path, gate.at("name").value));
        }
    }
}

fn dns(errors: &mut Errors, spec: &Node<'_>) {
    let config = spec.at("dnsConfig");
    let servers = config.at("nameservers");
    if spec.at("dnsPolicy").text() == "None" {
        if !config.exists() {
            errors.push(config.required("must provide `dnsConfig` when `dnsPolicy` is None"));
            return;
        }
        if servers.is_empty() {
            errors
                .push(servers.required("must provide at least one DNS nameserver when `dnsPolicy` is None"));
            return;
        }
    }
    if servers.items().len() > 3 {
        errors.push(servers.invalid("must not have more than 3 nameservers"));
    }
    for server in servers.items() {
        ip(errors, &server);
    }
    let searches = config.at("searches");
    if searches.items().len() > 32 {
        errors.push(searches.invalid("must not have more than 32 search paths"));
    }
    for search in searches.items() {
        if search.text() != "." {
            let plain = search.text().strip_suffix('.').unwrap_or(search.text()).replace('_', "-");
            complain(errors, &search, names::dns_subdomain(&plain));
        }
    }
    for option in config.at("options").items() {
        if option.at("name").is_empty() {
            errors.push(option.required("must not be empty"));
        }
    }
}
