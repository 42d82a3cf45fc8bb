//! Requests and limits.
//!
//! Models: `pkg/apis/core/validation/validation.go` `ValidateContainerResourceRequirements`,
//! `pkg/apis/core/helper/helpers.go` (v1.36).
//! Leaves out: resource claims; page sizes that do not divide.

use super::field::{FieldError, quoted};
use super::node::{Errors, Node};
use crate::api::names;

const CONTAINER: [&str; 3] = ["cpu", "ephemeral-storage", "memory"];
const STANDARD: [&str; 14] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
    "hugepages",
];
const COUNTS: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// Whether the name belongs to Kubernetes itself.
pub fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

fn is_extended(name: &str) -> bool {
    !is_native(name)
        && !name.starts_with("requests.")
        && names::qualified_name(&format!("requests.{name}")).is_empty()
}

fn is_standard(name: &str) -> bool {
    STANDARD.contains(&name)
        || COUNTS.contains(&name)
        || is_huge_page(name)
        || name.strip_prefix("requests.").is_some_and(is_huge_page)
}

/// Whether more may be promised than there is.
pub fn may_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

/// Judges the name of a resource.
pub fn name(errors: &mut Errors, node: &Node<'_>, name: &str) -> bool {
    let complaints = names::qualified_name(name);
    errors.extend(complaints.iter().map(|complaint| FieldError::invalid_text(&node.path, name, complaint)));
    if !complaints.is_empty() {
        return false;
    }
    if !name.contains('/') && !is_standard(name) {
        let detail = "must be a standard resource type or fully qualified";
        errors.push(FieldError::invalid_text(&node.path, name, detail));
    }
    true
}

/// Judges the name of a resource of a container.
pub fn container_name(errors: &mut Errors, node: &Node<'_>, name: &str) {
    self::name(errors, node, name);
    let detail = if !name.contains('/') {
        let is_known = CONTAINER.contains(&name) || is_huge_page(name);
        (!is_known).then_some("must be a standard resource for containers")
    } else {
        let is_known = is_native(name) || is_extended(name);
        (!is_known).then_some("doesn't follow extended resource name standard")
    };
    errors.extend(detail.map(|detail| FieldError::invalid_text(&node.path, name, detail)));
}

/// Judges the name of a resource that a quota can count.
pub fn quota_name(errors: &mut Errors, node: &Node<'_>, name: &str) {
    let is_readable = self::name(errors, node, name);
    let is_known = is_quota_name(name);
    if is_readable && !name.contains('/') && !is_known {
        errors.push(FieldError::invalid_text(&node.path, name, "must be a standard resource for quota"));
    }
}

/// Whether a quota knows the resource without its group being named.
pub fn is_quota_name(name: &str) -> bool {
    COUNTS.contains(&name) || (STANDARD.contains(&name) && name != "hugepages") || name.contains("hugepages-")
}

/// Judges an amount of a resource.
pub fn amount(errors: &mut Errors, name: &str, node: &Node<'_>) {
    if node.quantity().is_negative() {
        errors.push(node.invalid("must be greater than or equal to 0"));
    }
    if (COUNTS.contains(&name) || is_extended(name)) && !node.quantity().is_whole() {
        errors.push(node.invalid("must be an integer"));
    }
}

/// Judges the resources of a container.
pub fn of_container(errors: &mut Errors, resources: &Node<'_>) {
    requirements(errors, resources, container_name);
}

fn requirements(errors: &mut Errors, resources: &Node<'_>, name_rule: fn(&mut Errors, &Node<'_>, &str)) {
    let (limits, requests) = (resources.at("limits"), resources.at("requests"));
    let (mut has_memory_or_cpu, mut has_huge_pages) = (false, false);
    for (name, limit) in limits.members() {
        name_rule(errors, &limit, name);
        amount(errors, name, &limit);
        has_huge_pages |= is_huge_page(name);
        has_memory_or_cpu |= matches!(name, "cpu" | "memory");
    }
    for (name, request) in requests.members() {
        name_rule(errors, &request, name);
        amount(errors, name, &request);
        let limit = limits.at(name);
        if limit.exists() {
            let (limit_amount, request_amount) = (limit.quantity(), request.quantity());
            let relation = if request_amount != limit_amount && !may_overcommit(name) {
                Some("must be equal to")
            } else if request_amount > limit_amount {
                Some("must be less than or equal to")
            } else {
                None
            };
            if let Some(relation) = relation {
                let detail = format!("{relation} {name} limit of {limit_amount}");
                let shown = quoted(&request_amount.to_string());
                errors.push(FieldError::invalid_shown(&requests.path, shown, &detail));
            }
        } else if !may_overcommit(name) {
            errors.push(limits.required("Limit must be set for non overcommitable resources"));
        }
        has_huge_pages |= is_huge_page(name);
        has_memory_or_cpu |= matches!(name, "cpu" | "memory");
    }
    if has_huge_pages && !has_memory_or_cpu {
        errors.push(resources.forbidden("HugePages require cpu or memory"));
    }
}

/// Judges the resources of a Pod as a whole.
pub fn of_pod(errors: &mut Errors, spec: &Node<'_>) {
    let resources = spec.at("resources");
    if !resources.exists() {
        return;
    }
    if resources.at("claims").exists() {
        errors.push(resources.at("claims").forbidden("claims cannot be set for Resources at pod-level"));
    }
    requirements(errors, &resources, |errors, node, name| {
        if self::name(errors, node, name) && !matches!(name, "cpu" | "memory") && !is_huge_page(name) {
            errors.push(FieldError::not_supported(&node.path, name, &["cpu", "hugepages-", "memory"]));
        }
    });
    for container in spec.at("containers").items() {
        for (name, limit) in container.at("resources").at("limits").members() {
            let whole = resources.at("limits").at(name);
            if whole.exists() && limit.quantity() > whole.quantity() {
                let path = format!("{}[{name}].limits", container.path.replace(&spec.path, &resources.path));
                let detail = format!("must be less than or equal to pod limits of {}", whole.quantity());
                errors.push(FieldError::invalid_text(&path, limit.text(), &detail));
            }
        }
    }
}
