//! Namespaces, Nodes, ConfigMaps, Secrets, quotas, limits, Events, Leases and service accounts.
//!
//! Models: `pkg/apis/core/validation/{validation,events}.go`, `pkg/apis/coordination/validation/validation.go` (v1.36).
//! Leaves out: the configuration of Nodes.

use base64::Engine as _;
use std::collections::BTreeSet;

use super::field::{FieldError, quoted};
use super::internal;
use super::meta;
use super::node::{Errors, Node, cidr, complain, immutable};
use super::resources;
use super::scheduling;
use crate::api::manifest;
use crate::api::names;
use crate::api::quantity::Quantity;

/// The most bytes that a ConfigMap or Secret may hold.
const MAX_DATA_BYTES: usize = 1024 * 1024;

/// Judges a new Namespace.
pub fn namespace(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_label);
}

/// Judges a changed Namespace.
pub fn namespace_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
}

/// Judges a new Node.
pub fn node(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    node_taints(errors, object);
    node_resources(errors, object);
    for range in object.at("spec").at("podCIDRs").items() {
        cidr(errors, &range);
    }
}

fn node_taints(errors: &mut Errors, object: &Node<'_>) {
    // The paths of these mistakes stand under `metadata`.
    let taints = Node { path: "metadata.taints".to_string(), value: object.at("spec").at("taints").value };
    scheduling::taints(errors, &taints);
}

fn node_resources(errors: &mut Errors, object: &Node<'_>) {
    for list in ["capacity", "allocatable"] {
        for (name, amount) in object.at("status").at(list).members() {
            let node = Node { path: format!("status.{list}.{name}"), value: amount.value };
            resources::amount(errors, name, &node);
        }
    }
}

/// Judges a changed Node.
pub fn node_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    node_resources(errors, new);
    let (before, after) = (old.at("spec").at("podCIDRs"), new.at("spec").at("podCIDRs"));
    if !before.is_empty() && before.value != after.value {
        errors.push(after.forbidden("node updates may not change podCIDR except from \"\" to valid"));
    }
    let (before, after) = (old.at("spec").at("providerID"), new.at("spec").at("providerID"));
    if !before.is_empty() && before.value != after.value {
        errors.push(after.forbidden("node updates may not change providerID except from \"\" to valid"));
    }
    node_taints(errors, new);
}

/// Judges a new ConfigMap.
pub fn config_map(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let (data, binary) = (object.at("data"), object.at("binaryData"));
    let mut bytes = 0;
    for (key, value) in data.members() {
        key_of_data(errors, &value, key);
        if binary.at(key).exists() {
            errors.push(FieldError::invalid_text(&value.path, key, "duplicate of key present in binaryData"));
        }
        bytes += value.text().len();
    }
    for (key, value) in binary.members() {
        key_of_data(errors, &value, key);
        bytes += value.text().len() / 4 * 3;
    }
    if bytes > MAX_DATA_BYTES {
        errors.push(FieldError::too_long("[]", MAX_DATA_BYTES));
    }
}

fn key_of_data(errors: &mut Errors, node: &Node<'_>, key: &str) {
    let complaints = names::config_key(key);
    errors.extend(complaints.iter().map(|complaint| FieldError::invalid_text(&node.path, key, complaint)));
}

/// Judges a changed ConfigMap.
pub fn config_map_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    frozen(errors, old, new, &["data", "binaryData"]);
    config_map(errors, new);
}

/// Refuses changes of what was declared immutable.
fn frozen(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>, fields: &[&str]) {
    let detail = "field is immutable when `immutable` is set";
    if !old.at("immutable").is_true() {
        return;
    }
    if !new.at("immutable").is_true() {
        errors.push(new.at("immutable").forbidden(detail));
    }
    for field in fields {
        if old.at(field).value != new.at(field).value {
            errors.push(new.at(field).forbidden(detail));
        }
    }
}

/// Judges a new Secret.
pub fn secret(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let data = object.at("data");
    let mut bytes = 0;
    for (key, value) in data.members() {
        key_of_data(errors, &value, key);
        bytes += value.text().len() / 4 * 3;
    }
    if bytes > MAX_DATA_BYTES {
        errors.push(FieldError::too_long(&data.path, MAX_DATA_BYTES));
    }
    let key = |name: &str| Node { path: format!("data[{name}]"), value: data.at(name).value };
    let mut needs = |name: &str| {
        if !key(name).exists() {
            errors.push(key(name).required(""));
        }
    };
    match object.at("type").text() {
        "kubernetes.io/service-account-token" => {
            let account = object.at("metadata").at("annotations").at("kubernetes.io/service-account.name");
            if account.is_empty() {
                let path = "metadata.annotations[kubernetes.io/service-account.name]";
                errors.push(FieldError::required(path, ""));
            }
        }
        "kubernetes.io/dockercfg" => registry_login(errors, &key(".dockercfg")),
        "kubernetes.io/dockerconfigjson" => registry_login(errors, &key(".dockerconfigjson")),
        "kubernetes.io/basic-auth" if !key("username").exists() && !key("password").exists() => {
            needs("username");
            needs("password");
        }
        "kubernetes.io/ssh-auth" => needs("ssh-privatekey"),
        "kubernetes.io/tls" => {
            needs("tls.crt");
            needs("tls.key");
        }
        _ => {}
    }
}

fn registry_login(errors: &mut Errors, node: &Node<'_>) {
    if !node.exists() {
        errors.push(node.required(""));
        return;
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(node.text()).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    if let Err(complaint) = manifest::check_json_object(&text) {
        errors.push(FieldError::invalid_text(&node.path, "<secret contents redacted>", &complaint));
    }
}

/// Judges a changed Secret.
pub fn secret_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    meta::metadata_update(errors, old, new);
    immutable(errors, &old.at("type"), &new.at("type"));
    frozen(errors, old, new, &["data"]);
    secret(errors, new);
}

/// Judges a ResourceQuota.
pub fn quota(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    for (name, amount) in object.at("spec").at("hard").members() {
        resources::quota_name(errors, &amount, name);
        resources::amount(errors, name, &amount);
    }
    quota_scopes(errors, &object.at("spec"));
}

/// The scopes that a quota can have.
const SCOPES: [&str; 6] = [
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
];

/// Judges what a quota is narrowed to: by names, and by a selector.
fn quota_scopes(errors: &mut Errors, spec: &Node<'_>) {
    let limited: Vec<&str> = spec.at("hard").members().into_iter().map(|(name, _)| name).collect();
    let does_not_fit = |scope: &str| {
        let counts = |name: &str| match scope {
            "BestEffort" => name == "pods",
            _ if SCOPES.contains(&scope) => {
                let amount = name.strip_prefix("requests.").or(name.strip_prefix("limits.")).unwrap_or(name);
                matches!(amount, "cpu" | "memory") || name == "pods"
            }
            _ => true,
        };
        limited.iter().filter(|name| resources::is_quota_name(name) && !counts(name)).count()
    };
    let conflicts = |names: &BTreeSet<&str>| {
        let pairs = [["BestEffort", "NotBestEffort"], ["Terminating", "NotTerminating"]];
        pairs.into_iter().filter(|pair| pair.iter().all(|name| names.contains(name))).count()
    };
    let scopes = spec.at("scopes");
    let mut names = BTreeSet::new();
    for scope in scopes.items() {
        if !SCOPES.contains(&scope.text()) {
            errors.push(scopes.invalid("unsupported scope"));
        }
        for _ in 0..does_not_fit(scope.text()) {
            errors.push(scopes.invalid("unsupported scope applied to resource"));
        }
        names.insert(scope.text());
    }
    for _ in 0..conflicts(&names) {
        errors.push(scopes.invalid("conflicting scopes"));
    }
    let expressions = spec.at("scopeSelector").at("matchExpressions");
    let mut names = BTreeSet::new();
    for expression in expressions.items() {
        // The paths do not tell which of the expressions is meant.
        let at = |name: &str| Node { path: expressions.path_of(name), value: expression.at(name).value };
        let (scope, operator, values) = (at("scopeName"), at("operator"), at("values"));
        if !SCOPES.contains(&scope.text()) {
            errors.push(scope.invalid("unsupported scope"));
        }
        for _ in 0..does_not_fit(scope.text()) {
            let shown = internal::compact("ScopeSelector", spec.at("scopeSelector").value);
            errors.push(FieldError::invalid_shown(
                &expressions.path,
                shown,
                "unsupported scope applied to resource",
            ));
        }
        if scope.text() != "PriorityClass" && SCOPES.contains(&scope.text()) && operator.text() != "Exists" {
            errors.push(operator.invalid(
                "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity",
            ));
        }
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => errors.push(values.required(
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            )),
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if values.is_empty() => {}
            "Exists" | "DoesNotExist" => {
                errors.push(values.invalid(
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
                ))
            }
            _ => errors.push(operator.invalid("not a valid selector operator")),
        }
        names.insert(scope.text());
    }
    for _ in 0..conflicts(&names) {
        errors
            .push(Node { path: expressions.path.clone(), value: scopes.value }.invalid("conflicting scopes"));
    }
}

/// Judges a changed ResourceQuota.
pub fn quota_update(errors: &mut Errors, old: &Node<'_>, new: &Node<'_>) {
    quota(errors, new);
    immutable(errors, &old.at("spec").at("scopes"), &new.at("spec").at("scopes"));
}

/// Judges a LimitRange.
pub fn limit_range(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let mut seen = BTreeSet::new();
    for item in object.at("spec").at("limits").items() {
        let kind = item.at("type");
        if !matches!(kind.text(), "Pod" | "Container" | "PersistentVolumeClaim") && !kind.text().contains('/')
        {
            errors.push(kind.invalid("must be a standard limit type or fully qualified"));
        }
        if !seen.insert(kind.text()) {
            errors.push(FieldError::duplicate(&kind.path, kind.value));
        }
        let of_containers = matches!(kind.text(), "Pod" | "Container");
        let mut resource_names = BTreeSet::new();
        for list in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
            let amounts = item.at(list);
            if kind.text() == "Pod" && list.starts_with("default") {
                if !amounts.is_empty() {
                    errors.push(amounts.forbidden("may not be specified when `type` is 'Pod'"));
                }
                continue;
            }
            for (name, amount) in amounts.members() {
                if of_containers {
                    resources::container_name(errors, &amount, name);
                } else {
                    resources::name(errors, &amount, name);
                }
                resource_names.insert(name);
            }
        }
        for name in resource_names {
            limits_of(errors, &item, name);
        }
        let bounds = |list: &str| item.at(list).at("storage").exists();
        if kind.text() == "PersistentVolumeClaim" && !bounds("min") && !bounds("max") {
            let detail = "either minimum or maximum storage value is required, but neither was provided";
            errors.push(item.at("limits").required(detail));
        }
    }
}

/// How the limits of one resource relate.
fn limits_of(errors: &mut Errors, item: &Node<'_>, name: &str) {
    let of = |list: &str| {
        let node = item.at(list).at(name);
        node.exists().then(|| node.quantity())
    };
    let rules = [
        ("min", "min", "max", "min value", "max value", "min"),
        ("defaultRequest", "min", "defaultRequest", "min value", "default request value", "defaultRequest"),
        ("defaultRequest", "defaultRequest", "max", "default request value", "max value", "defaultRequest"),
        (
            "defaultRequest",
            "defaultRequest",
            "default",
            "default request value",
            "default limit value",
            "defaultRequest",
        ),
        ("default", "min", "default", "min value", "default value", "min"),
        ("default", "default", "max", "default value", "max value", "max"),
    ];
    for (at, low, high, low_name, high_name, shown) in rules {
        if let (Some(low), Some(high), Some(shown)) = (of(low), of(high), of(shown))
            && low > high
        {
            let path = format!("{}[{name}]", item.path_of(at));
            let detail = format!("{low_name} {low} is greater than {high_name} {high}");
            errors.push(FieldError::invalid_shown(&path, quoted(&shown.to_string()), &detail));
        }
    }
    let ratio = of("maxLimitRequestRatio");
    if let Some(ratio) = ratio.filter(|ratio| *ratio < Quantity::from_value(1)) {
        let path = format!("{}[{name}]", item.path_of("maxLimitRequestRatio"));
        let detail = format!("ratio {ratio} is less than 1");
        errors.push(FieldError::invalid_shown(&path, quoted(&ratio.to_string()), &detail));
    }
    if let (Some(request), Some(limit)) = (of("defaultRequest"), of("default"))
        && request != limit
        && !resources::may_overcommit(name)
    {
        let path = format!("{}[{name}]", item.path_of("defaultRequest"));
        let detail = format!("default value {limit} must equal to defaultRequest value {request} in {name}");
        errors.push(FieldError::invalid_shown(&path, quoted(&request.to_string()), &detail));
    }
}

/// Judges an Event.
pub fn event(errors: &mut Errors, object: &Node<'_>) {
    let namespace = object.at("metadata").at("namespace");
    let about = object.at("involvedObject").at("namespace");
    let is_default = about.is_empty() && namespace.text() == "default";
    if about.text() != namespace.text() && !is_default && object.at("involvedObject").exists() {
        errors.push(about.invalid("does not match event.namespace"));
    }
    let path = namespace.path.clone();
    let complaints = names::dns_subdomain(namespace.text());
    errors.extend(
        complaints.iter().map(|complaint| FieldError::invalid_text(&path, namespace.text(), complaint)),
    );
}

/// Judges a Lease.
pub fn lease(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = object.at("spec");
    let (duration, transitions) = (spec.at("leaseDurationSeconds"), spec.at("leaseTransitions"));
    if duration.exists() && duration.number() <= 0 {
        errors.push(duration.invalid("must be greater than 0"));
    }
    if transitions.exists() && transitions.number() < 0 {
        errors.push(transitions.invalid("must be greater than or equal to 0"));
    }
}

/// Judges an object that has nothing but metadata to judge.
pub fn metadata_only(errors: &mut Errors, object: &Node<'_>, namespaced: bool) {
    meta::metadata(errors, object, namespaced, names::dns_subdomain);
}

/// Judges the name of a thing in a path.
pub fn path_segment(errors: &mut Errors, node: &Node<'_>) {
    let text = node.text();
    let complaint = match text {
        "." => Some("may not be '.'".to_string()),
        ".." => Some("may not be '..'".to_string()),
        _ => text.chars().find(|c| matches!(c, '/' | '%')).map(|c| format!("may not contain '{c}'")),
    };
    complain(errors, node, complaint.into_iter().collect());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_scopes_of_a_quota_fit_what_it_counts_and_each_other() {
        let told = |spec: Value| -> Vec<String> {
            let object = json!({"metadata": {"name": "q", "namespace": "n"}, "spec": spec});
            let mut errors = Errors::new();
            quota(&mut errors, &Node::root(&object));
            errors.iter().map(ToString::to_string).collect()
        };
        let of = |scope: &str, operator: &str, values: Value| {
            let expression = json!({"scopeName": scope, "operator": operator, "values": values});
            json!({"hard": {"pods": "1"}, "scopeSelector": {"matchExpressions": [expression]}})
        };
        let table = [
            (
                json!({"hard": {"pods": "1", "requests.cpu": "1"}, "scopes": ["NotBestEffort", "Terminating"]}),
                None,
            ),
            (
                json!({"hard": {"services": "1"}, "scopes": ["BestEffort"]}),
                Some("spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource"),
            ),
            (
                json!({"hard": {"pods": "1"}, "scopes": ["Terminating", "NotTerminating"]}),
                Some("spec.scopes: Invalid value: [\"Terminating\",\"NotTerminating\"]: conflicting scopes"),
            ),
            (
                json!({"hard": {"pods": "1"}, "scopes": ["Foo"]}),
                Some("spec.scopes: Invalid value: [\"Foo\"]: unsupported scope"),
            ),
            (of("PriorityClass", "In", json!(["high"])), None),
            (
                of("PriorityClass", "In", json!([])),
                Some(
                    "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
                ),
            ),
            (
                of("BestEffort", "Bar", json!([])),
                Some(
                    "spec.scopeSelector.matchExpressions.operator: Invalid value: \"Bar\": not a valid selector operator",
                ),
            ),
        ];
        for (spec, expected) in table {
            assert_eq!(told(spec.clone()).last().map(String::as_str), expected, "{spec}");
        }
    }
}
