//! Roles, their bindings, and service accounts.

use serde_json::Value;

use super::head;
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::kubectl::host::Host;
use crate::kubectl::print::value::{items, text};
use crate::kubectl::resources;

/// One right of a role, or the answer to `auth can-i --list`.
#[derive(Clone, Debug, PartialEq)]
pub struct Right {
    verbs: Vec<String>,
    group: Option<String>,
    resource: Option<String>,
    name: Option<String>,
    url: Option<String>,
}

/// The rules of roles as rows: one for each resource, its verbs together; one for each verb of each path.
///
/// Models: `kubectl/pkg/util/rbac/rbac.go` (`CompactRules`, `SortableRuleSlice`).
pub fn rights(rules: &[Value]) -> String {
    let mut rights: Vec<Right> = Vec::new();
    let mut add = |right: Right| {
        let same = |known: &&mut Right| {
            (&known.group, &known.resource, &known.name) == (&right.group, &right.resource, &right.name)
        };
        match rights.iter_mut().find(same).filter(|_| right.url.is_none()) {
            Some(known) if !known.verbs.contains(&right.verbs[0]) => known.verbs.extend(right.verbs),
            Some(_) => {}
            None => rights.push(right),
        }
    };
    for rule in rules {
        let texts = |field: &str| items(&rule[field]).iter().map(text).collect::<Vec<_>>();
        let names: Vec<Option<String>> = match texts("resourceNames") {
            names if names.is_empty() => vec![None],
            names => names.into_iter().map(Some).collect(),
        };
        for group in texts("apiGroups") {
            for resource in texts("resources") {
                for name in &names {
                    for verb in texts("verbs") {
                        let (group, resource) = (Some(group.clone()), Some(resource.clone()));
                        add(Right { verbs: vec![verb], group, resource, name: name.clone(), url: None });
                    }
                }
            }
        }
        for url in texts("nonResourceURLs") {
            for verb in texts("verbs") {
                let url = Some(url.clone());
                add(Right { verbs: vec![verb], group: None, resource: None, name: None, url });
            }
        }
    }
    let list = |text: &Option<String>| format!("[{}]", text.as_deref().unwrap_or_default());
    rights.sort_by_key(|right| {
        let Right { verbs, group, resource, name, url } = right;
        [format!("[{}]", verbs.join(" ")), list(group), list(resource), list(name), list(url)]
    });
    rights
        .iter()
        .map(|right| {
            let mut resource = right.resource.clone().unwrap_or_default();
            if let Some(group) = right.group.as_deref().filter(|group| !group.is_empty()) {
                resource = match resource.split_once('/') {
                    Some((plain, below)) => format!("{plain}.{group}/{below}"),
                    None => format!("{resource}.{group}"),
                };
            }
            format!("{resource}\t{}\t{}\t[{}]\n", list(&right.url), list(&right.name), right.verbs.join(" "))
        })
        .collect()
}

pub(super) fn role(object: &Object, value: &Value) -> String {
    let mut out = head(object, false, true);
    out.push_str("PolicyRule:\n  Resources\tNon-Resource URLs\tResource Names\tVerbs\n");
    out.push_str("  ---------\t-----------------\t--------------\t-----\n");
    out.extend(rights(items(&value["rules"])).lines().map(|line| format!("  {line}\n")));
    out
}

pub(super) fn role_binding(object: &Object, value: &Value) -> String {
    let mut out = head(object, false, true);
    let role = &value["roleRef"];
    out.push_str(&format!("Role:\n  Kind:\t{}\n  Name:\t{}\n", text(&role["kind"]), text(&role["name"])));
    out.push_str("Subjects:\n  Kind\tName\tNamespace\n  ----\t----\t---------\n");
    for subject in items(&value["subjects"]) {
        let [kind, name, namespace] = ["kind", "name", "namespace"].map(|field| text(&subject[field]));
        out.push_str(&format!("  {kind}\t{name}\t{namespace}\n"));
    }
    out
}

pub(super) fn service_account(object: &Object, value: &Value, host: &dyn Host) -> String {
    let mut out = head(object, true, true);
    let mut title = "Image pull secrets:";
    let secrets = items(&value["imagePullSecrets"]);
    if secrets.is_empty() {
        out.push_str(&format!("{title}\t<none>\n"));
    }
    for secret in secrets {
        let name = text(&secret["name"]);
        let key = crate::api::meta::ObjectKey::new(Kind::Secret, &*object.meta().namespace, name.as_str());
        let knows = resources::may_list(host, Kind::Secret, &object.meta().namespace);
        let missing = if knows && host.store().object(&key).is_none() { " (not found)" } else { "" };
        out.push_str(&format!("{title}\t{name}{missing}\n"));
        title = "";
    }
    out
}
