//! `kubectl create role` and `kubectl create clusterrole`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_role.go`, `create_clusterrole.go` (v1.36).
//! Leaves out: nothing.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::form::{self, Told};
use crate::api::discovery;
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

const OWN: &[Flag] = &[
    Flag::long("verb", Takes::List),
    Flag::long("resource", Takes::List),
    Flag::long("resource-name", Takes::Texts),
];

/// The flags of `create role`.
pub const ROLE_FLAGS: &[&[Flag]] = &[form::FLAGS, OWN];

/// The flags of `create clusterrole`.
pub const CLUSTER_ROLE_FLAGS: &[&[Flag]] = &[
    form::FLAGS,
    OWN,
    &[Flag::long("non-resource-url", Takes::List), Flag::long("aggregation-rule", Takes::List)],
];

const VERBS: [&str; 13] = [
    "get",
    "delete",
    "list",
    "create",
    "update",
    "patch",
    "watch",
    "proxy",
    "deletecollection",
    "use",
    "bind",
    "escalate",
    "impersonate",
];
const PATH_VERBS: [&str; 7] = ["get", "put", "post", "head", "options", "delete", "patch"];

/// The resources that a verb is only for, beside the ordinary verbs.
const SPECIAL: [(&str, &[(&str, &str)]); 4] = [
    ("bind", &[("rbac.authorization.k8s.io", "roles"), ("rbac.authorization.k8s.io", "clusterroles")]),
    ("escalate", &[("rbac.authorization.k8s.io", "roles"), ("rbac.authorization.k8s.io", "clusterroles")]),
    (
        "impersonate",
        &[("", "users"), ("", "serviceaccounts"), ("", "groups"), ("authentication.k8s.io", "userextras")],
    ),
    ("use", &[("policy", "podsecuritypolicies")]),
];

/// Creates a Role.
pub fn role(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let verbs = verbs(call);
    check_verbs(call, &verbs)?;
    if resources(call).is_empty() {
        return Err(Failure::error("at least one resource must be specified"));
    }
    check_resources(call, &verbs)?;
    let value = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": name},
        "rules": resource_rules(call, &verbs),
    });
    form::send(call, Kind::Role, value, &Told::Plainly)
}

/// Creates a ClusterRole.
pub fn cluster_role(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let verbs = verbs(call);
    let paths = call.flags.list("non-resource-url");
    let gathers = call.flags.list("aggregation-rule");
    let mut value = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
    });
    if !gathers.is_empty() {
        if !verbs.is_empty() || !resources(call).is_empty() || !paths.is_empty() {
            return Err(Failure::error(
                "aggregation rule must be specified without nonResourceURLs, resources or verbs",
            ));
        }
        let mut labels = serde_json::Map::new();
        for pair in &gathers {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            labels.insert(key.to_string(), Value::String(value.to_string()));
        }
        value["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": labels}]});
        value["rules"] = Value::Null;
        return form::send(call, Kind::ClusterRole, value, &Told::Plainly);
    }
    if verbs.is_empty() {
        return Err(Failure::error("at least one verb must be specified"));
    }
    if resources(call).is_empty() && paths.is_empty() {
        return Err(Failure::error("one of resource or nonResourceURL must be specified"));
    }
    let mut rules = Vec::new();
    if !resources(call).is_empty() {
        check_verbs(call, &verbs)?;
        check_resources(call, &verbs)?;
        rules = resource_rules(call, &verbs);
    }
    if !paths.is_empty() {
        for verb in &verbs {
            if verb != "*" && !PATH_VERBS.contains(&verb.as_str()) {
                return Err(Failure::error(format!("invalid verb '{verb}' for nonResourceURL")));
            }
        }
        for path in &paths {
            if path != "*" && !path.starts_with('/') {
                return Err(Failure::error("nonResourceURL should start with /"));
            }
            if path.trim_end_matches('*').contains('*') || (path.contains("**")) {
                return Err(Failure::error(
                    "nonResourceURL only supports wildcard matches when '*' is at the end",
                ));
            }
        }
        rules.push(json!({"nonResourceURLs": paths, "verbs": verbs}));
    }
    value["rules"] = Value::Array(rules);
    form::send(call, Kind::ClusterRole, value, &Told::Plainly)
}

/// The verbs, each once; `*` stands for all.
fn verbs(call: &Call) -> Vec<String> {
    let mut verbs: Vec<String> = Vec::new();
    for verb in call.flags.list("verb") {
        if verb == "*" {
            return vec![verb];
        }
        if !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    verbs
}

fn check_verbs(call: &mut Call, verbs: &[String]) -> Result<(), Failure> {
    if verbs.is_empty() {
        return Err(Failure::error("at least one verb must be specified"));
    }
    for verb in verbs {
        if verb != "*" && !VERBS.contains(&verb.as_str()) {
            call.warn(format!("Warning: '{verb}' is not a standard resource verb"));
        }
    }
    Ok(())
}

/// A resource as `--resource` names it.
struct Wanted {
    group: String,
    resource: String,
    subresource: String,
}

fn resources(call: &Call) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for text in call.flags.list("resource") {
        let (name, subresource) = text.split_once('/').unwrap_or((&text, ""));
        let (resource, group) = name.split_once('.').unwrap_or((name, ""));
        let one = Wanted {
            group: group.to_string(),
            resource: resource.to_string(),
            subresource: subresource.to_string(),
        };
        if text == "*" {
            return vec![one];
        }
        wanted.push(one);
    }
    wanted
}

/// Group and plural of what the server has under that name.
fn found(wanted: &Wanted) -> Option<(&'static str, &'static str)> {
    let word = match wanted.group.as_str() {
        "" => wanted.resource.clone(),
        group => format!("{}.{group}", wanted.resource),
    };
    discovery::find(&word).map(|found| (found.group(), found.plural))
}

fn check_resources(call: &Call, verbs: &[String]) -> Result<(), Failure> {
    for wanted in resources(call) {
        if wanted.resource.is_empty() {
            return Err(Failure::error("resource must be specified if apiGroup/subresource specified"));
        }
        if wanted.resource == "*" {
            return Ok(());
        }
        let special = |verb: &String| SPECIAL.iter().find(|(name, _)| name == verb).map(|(_, list)| *list);
        let known = found(&wanted);
        if known.is_none() {
            let is_special = verbs
                .iter()
                .filter_map(special)
                .flatten()
                .any(|(group, resource)| *group == wanted.group && *resource == wanted.resource);
            if is_special {
                continue;
            }
            let full = match wanted.group.as_str() {
                "" => wanted.resource.clone(),
                group => format!("{}.{group}", wanted.resource),
            };
            return Err(Failure::exactly(format!("the server doesn't have a resource type \"{full}\"")));
        }
        let (group, resource) = known.unwrap_or_default();
        for verb in verbs {
            if let Some(list) = special(verb)
                && !list.contains(&(group, resource))
            {
                return Err(Failure::error(format!(
                    "can not perform '{verb}' on '{resource}' in group '{group}'"
                )));
            }
        }
    }
    Ok(())
}

/// A rule for each group, in the order of their names.
fn resource_rules(call: &Call, verbs: &[String]) -> Vec<Value> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for wanted in resources(call) {
        let (group, mut resource) = match found(&wanted) {
            Some((group, resource)) => (group.to_string(), resource.to_string()),
            None => (wanted.group, wanted.resource),
        };
        if !wanted.subresource.is_empty() {
            resource = format!("{resource}/{}", wanted.subresource);
        }
        let list = groups.entry(group).or_default();
        if !list.contains(&resource) {
            list.push(resource);
        }
    }
    let mut names: Vec<String> = Vec::new();
    for name in call.flags.texts("resource-name") {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    groups
        .into_iter()
        .map(|(group, resources)| {
            let mut rule = json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
            if !names.is_empty() {
                rule["resourceNames"] = json!(names);
            }
            rule
        })
        .collect()
}
