//! The stage that finds out whether they may.
//!
//! A rule allows verbs on resources; roles hold rules; bindings give roles to users, groups and service accounts, in one
//! namespace or in all.
//!
//! Models: `plugin/pkg/auth/authorizer/rbac/rbac.go`, `pkg/registry/rbac/validation/rule.go`,
//! `apiserver/pkg/authorization/authorizerfactory` (the group that may do everything), `pkg/registry/rbac/*/policybased`
//! (v1.36).
//! Leaves out: the node authoriser, webhooks, authorisation by selectors.

use serde_json::Value;

use super::authn::{self, Identity};
use super::request::{Request, Verb};
use super::status::Status;
use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::stored::{ClusterRole, ClusterRoleBinding, Role, RoleBinding};
use crate::api::object::Object;
use crate::cluster::store::Store;

const RBAC_GROUP: &str = "rbac.authorization.k8s.io";

/// What somebody wants to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access<'a> {
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`, `impersonate`, `bind`, ….
    pub verb: &'a str,
    /// The group of the resource; empty for the core group.
    pub group: &'a str,
    /// The resource, in the plural; empty for a path.
    pub resource: &'a str,
    /// `log`, `scale`, …; empty for the object itself.
    pub subresource: &'a str,
    /// The namespace; empty for all.
    pub namespace: &'a str,
    /// The object's name; empty for all, and for a create.
    pub name: &'a str,
    /// The path of a request that is about no resource.
    pub path: &'a str,
}

impl<'a> Access<'a> {
    /// A verb on an object of a kind.
    pub fn to(verb: &'a str, kind: Kind, namespace: &'a str, name: &'a str) -> Self {
        let namespace = match kind {
            // A namespace is addressed as if it stood in itself.
            Kind::Namespace => name,
            _ if kind.is_namespaced() => namespace,
            _ => "",
        };
        Self { verb, group: kind.group(), resource: kind.plural(), namespace, name, ..Self::default() }
    }

    /// What a request wants to do.
    pub fn of(request: &'a Request) -> Self {
        let name =
            if request.verb == Verb::Create && request.subresource.is_empty() { "" } else { &*request.name };
        let mut access = Self::to(request.verb.word(), request.kind, &request.namespace, name);
        access.subresource = &request.subresource;
        access
    }

    fn full_resource(&self) -> String {
        match self.subresource {
            "" => self.resource.to_string(),
            subresource => format!("{}/{subresource}", self.resource),
        }
    }
}

/// One rule of a role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// The groups; `*` for all.
    pub groups: Vec<String>,
    /// The resources, with their subresources; `*` for all.
    pub resources: Vec<String>,
    /// The names; empty for all.
    pub names: Vec<String>,
    /// The verbs; `*` for all.
    pub verbs: Vec<String>,
    /// The paths, which may end in `*`.
    pub paths: Vec<String>,
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_string).collect()
}

fn has(list: &[String], word: &str) -> bool {
    list.iter().any(|one| one == "*" || one == word)
}

impl Rule {
    /// Reads a rule of a role.
    pub fn of(value: &Value) -> Self {
        Self {
            groups: texts(&value["apiGroups"]),
            resources: texts(&value["resources"]),
            names: texts(&value["resourceNames"]),
            verbs: texts(&value["verbs"]),
            paths: texts(&value["nonResourceURLs"]),
        }
    }

    /// The rule as a role holds it.
    pub fn to_value(&self) -> Value {
        let mut value = serde_json::json!({"verbs": self.verbs});
        for (name, list) in [
            ("apiGroups", &self.groups),
            ("resources", &self.resources),
            ("resourceNames", &self.names),
            ("nonResourceURLs", &self.paths),
        ] {
            if !list.is_empty() {
                value[name] = list.iter().cloned().collect();
            }
        }
        value
    }

    /// Whether it allows that.
    pub fn allows(&self, access: &Access<'_>) -> bool {
        if !has(&self.verbs, access.verb) {
            return false;
        }
        if !access.path.is_empty() {
            let fits = |path: &String| match path.strip_suffix('*') {
                Some(prefix) => access.path.starts_with(prefix),
                None => path == access.path,
            };
            return self.paths.iter().any(fits);
        }
        let full = access.full_resource();
        let of_any = |resource: &String| {
            !access.subresource.is_empty()
                && resource.strip_prefix("*/").is_some_and(|subresource| subresource == access.subresource)
        };
        has(&self.groups, access.group)
            && (has(&self.resources, &full) || self.resources.iter().any(of_any))
            && (self.names.is_empty() || self.names.iter().any(|name| name == access.name))
    }

    /// How a refusal writes it: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`.
    pub fn compact(&self) -> String {
        let quoted =
            |list: &[String]| list.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>().join(" ");
        let parts: Vec<String> = [
            ("APIGroups", &self.groups),
            ("Resources", &self.resources),
            ("ResourceNames", &self.names),
            ("NonResourceURLs", &self.paths),
            ("Verbs", &self.verbs),
        ]
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(name, list)| format!("{name}:[{}]", quoted(list)))
        .collect();
        format!("{{{}}}", parts.join(", "))
    }

    /// The rule as rules of one verb on one resource of one name.
    fn single_rights(&self) -> Vec<Self> {
        let mut rights = Vec::new();
        let names: Vec<Vec<String>> = match self.names.as_slice() {
            [] => vec![Vec::new()],
            names => names.iter().map(|name| vec![name.clone()]).collect(),
        };
        for group in &self.groups {
            for resource in &self.resources {
                for verb in &self.verbs {
                    for names in &names {
                        rights.push(Self {
                            groups: vec![group.clone()],
                            resources: vec![resource.clone()],
                            verbs: vec![verb.clone()],
                            names: names.clone(),
                            ..Self::default()
                        });
                    }
                }
            }
        }
        for path in &self.paths {
            for verb in &self.verbs {
                rights.push(Self { paths: vec![path.clone()], verbs: vec![verb.clone()], ..Self::default() });
            }
        }
        rights
    }

    /// Whether it holds at least a single right.
    fn covers(&self, right: &Self) -> bool {
        let all = |held: &[String], wanted: &[String]| wanted.iter().all(|one| has(held, one));
        let resource = |wanted: &String| {
            has(&self.resources, wanted)
                || wanted.split_once('/').is_some_and(|(_, subresource)| {
                    self.resources.iter().any(|held| held.strip_prefix("*/") == Some(subresource))
                })
        };
        let path = |wanted: &String| {
            self.paths.iter().any(|held| match held.strip_suffix('*') {
                Some(prefix) => wanted.starts_with(prefix),
                None => held == wanted,
            })
        };
        let named = match (self.names.as_slice(), right.names.as_slice()) {
            ([], _) => true,
            (_, []) => false,
            (held, wanted) => wanted.iter().all(|name| held.contains(name)),
        };
        all(&self.verbs, &right.verbs)
            && all(&self.groups, &right.groups)
            && right.resources.iter().all(resource)
            && right.paths.iter().all(path)
            && (named || !right.paths.is_empty())
    }
}

/// The single rights of some rules that others do not hold.
pub fn not_covered(held: &[Rule], wanted: &[Rule]) -> Vec<Rule> {
    let rights = wanted.iter().flat_map(Rule::single_rights);
    rights.filter(|right| !held.iter().any(|rule| rule.covers(right))).collect()
}

fn rules_of(rest: Option<&Value>) -> Vec<Rule> {
    rest.and_then(Value::as_array).into_iter().flatten().map(Rule::of).collect()
}

/// What somebody may do: the rules, and the roles that were missing.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// Every rule that reaches him.
    pub rules: Vec<Rule>,
    /// What is wrong with bindings that would reach him.
    pub problems: Vec<String>,
}

/// Everything that bindings give to somebody, in one namespace (with what holds everywhere) or, with an empty
/// namespace, everywhere.
pub fn rights_of(store: &Store, identity: &Identity, namespace: &str) -> Rights {
    let mut rights = Rights::default();
    for binding in store.list::<ClusterRoleBinding>() {
        if reaches(binding.rest.get("subjects"), identity, "") {
            rights.add(store, binding.rest.get("roleRef"), "");
        }
    }
    if !namespace.is_empty() {
        for binding in store.list_in::<RoleBinding>(namespace) {
            if reaches(binding.rest.get("subjects"), identity, namespace) {
                rights.add(store, binding.rest.get("roleRef"), namespace);
            }
        }
    }
    rights
}

impl Rights {
    fn add(&mut self, store: &Store, role_ref: Option<&Value>, namespace: &str) {
        let text =
            |name: &str| role_ref.and_then(|role| role.get(name)).and_then(Value::as_str).unwrap_or("");
        match resolve(store, text("kind"), namespace, text("name")) {
            Ok(rules) => self.rules.extend(rules),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Whether some rule allows that.
    pub fn allow(&self, access: &Access<'_>) -> bool {
        self.rules.iter().any(|rule| rule.allows(access))
    }
}

/// The rules of the role that a binding names.
fn resolve(store: &Store, kind: &str, namespace: &str, name: &str) -> Result<Vec<Rule>, String> {
    if kind == "Role" {
        let role = store.get::<Role>(namespace, name);
        let missing = || format!("role.{RBAC_GROUP} \"{name}\" not found");
        return role.map(|role| rules_of(role.rest.get("rules"))).ok_or_else(missing);
    }
    let role = store.get::<ClusterRole>("", name);
    let missing = || format!("clusterrole.{RBAC_GROUP} \"{name}\" not found");
    role.map(|role| rules_of(role.rest.get("rules"))).ok_or_else(missing)
}

/// Whether one of a binding's subjects is that one.
fn reaches(subjects: Option<&Value>, identity: &Identity, namespace: &str) -> bool {
    subjects.and_then(Value::as_array).into_iter().flatten().any(|subject| {
        let text = |name: &str| subject.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("kind") {
            "User" => text("name") == identity.name,
            "Group" => identity.groups.iter().any(|group| group == text("name")),
            "ServiceAccount" => {
                let home = match text("namespace") {
                    "" => namespace,
                    given => given,
                };
                authn::service_account(&identity.name) == Some((home, text("name")))
            }
            _ => false,
        }
    })
}

/// Whether they may.
pub fn may(store: &Store, identity: &Identity, access: &Access<'_>) -> bool {
    identity.is_master() || rights_of(store, identity, access.namespace).allow(access)
}

/// Lets it pass, or says what is not allowed.
///
/// # Errors
/// 403.
pub fn authorize(store: &Store, identity: &Identity, access: &Access<'_>) -> Result<(), Status> {
    if identity.is_master() {
        return Ok(());
    }
    let rights = rights_of(store, identity, access.namespace);
    if rights.allow(access) {
        return Ok(());
    }
    let place = match access.namespace {
        "" => "at the cluster scope".to_string(),
        namespace => format!("in the namespace \"{namespace}\""),
    };
    let mut why = format!(
        "User \"{}\" cannot {} resource \"{}\" in API group \"{}\" {place}",
        identity.name,
        access.verb,
        access.full_resource(),
        access.group
    );
    match rights.problems.as_slice() {
        [] => {}
        [one] => why.push_str(&format!(": RBAC: {one}")),
        many => why.push_str(&format!(": RBAC: [{}]", many.join(", "))),
    }
    Err(Status::forbidden_resource(access.group, access.resource, access.name, &why))
}

/// Refuses that somebody gives rights away that he does not have.
///
/// # Errors
/// 403 that lists what he lacks.
pub fn refuse_escalation(
    store: &Store,
    identity: &Identity,
    old: Option<&Object>,
    new: &Object,
) -> Result<(), Status> {
    if identity.is_master() {
        return Ok(());
    }
    let meta = new.meta();
    let (verb, resource) = match new.kind() {
        Kind::Role => ("escalate", Kind::Role),
        Kind::ClusterRole => ("escalate", Kind::ClusterRole),
        Kind::RoleBinding | Kind::ClusterRoleBinding => ("bind", role_kind(new)),
        _ => return Ok(()),
    };
    let same_rules = |old: &Object| {
        rules_value(old) == rules_value(new)
            && aggregation_of(old) == aggregation_of(new)
            && old.kind() == new.kind()
    };
    if verb == "escalate" && old.is_some_and(same_rules) {
        return Ok(());
    }
    let name = if verb == "bind" { role_name(new) } else { meta.name.to_string() };
    let allowed = Access { namespace: &meta.namespace, ..Access::to(verb, resource, "", &name) };
    if may(store, identity, &allowed) {
        return Ok(());
    }
    let rules = match verb {
        "escalate" => rules_of(rules_value(new).as_ref()),
        _ => resolve(store, resource.name(), &meta.namespace, &name)
            .map_err(|problem| Status::not_found_because(resource, &name, problem))?,
    };
    let held = rights_of(store, identity, &meta.namespace);
    let lacking = not_covered(&held.rules, &rules);
    if lacking.is_empty() {
        let gathers = |object: &Object| aggregation_of(object).is_some_and(|rule| rule.is_object());
        let all = || vec!["*".to_string()];
        let everything =
            Rule { groups: all(), resources: all(), verbs: all(), paths: all(), names: Vec::new() };
        let holds_all = |right: &Rule| held.rules.iter().any(|rule| rule.covers(right));
        if (gathers(new) || old.is_some_and(gathers)) && !everything.single_rights().iter().all(holds_all) {
            let why = "must have cluster-admin privileges to use the aggregationRule";
            return Err(Status::forbidden(new.kind(), &meta.name, why));
        }
        return Ok(());
    }
    let mut lines: Vec<String> = joined(lacking).iter().map(Rule::compact).collect();
    lines.sort();
    lines.dedup();
    let groups: Vec<String> = identity.groups.iter().map(|group| format!("{group:?}")).collect();
    let why = format!(
        "user \"{}\" (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
        identity.name,
        groups.join(" "),
        lines.join("\n")
    );
    Err(Status::forbidden(new.kind(), &meta.name, &why))
}

/// Rules as one for each resource and name, with all its verbs.
pub fn compacted(rules: &[Rule]) -> Vec<Rule> {
    joined(rules.iter().flat_map(Rule::single_rights).collect())
}

/// Single rights on the same resource as one rule with several verbs.
fn joined(rights: Vec<Rule>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for right in rights {
        let same = rules.iter_mut().find(|rule| {
            rule.paths.is_empty()
                && right.paths.is_empty()
                && (&rule.groups, &rule.resources, &rule.names)
                    == (&right.groups, &right.resources, &right.names)
        });
        match same {
            Some(rule) => {
                for verb in right.verbs {
                    if !rule.verbs.contains(&verb) {
                        rule.verbs.push(verb);
                    }
                }
            }
            None => rules.push(right),
        }
    }
    rules
}

fn rules_value(object: &Object) -> Option<Value> {
    match object {
        Object::Role(role) => role.rest.get("rules").cloned(),
        Object::ClusterRole(role) => role.rest.get("rules").cloned(),
        _ => None,
    }
}

fn aggregation_of(object: &Object) -> Option<&Value> {
    match object {
        Object::ClusterRole(role) => role.rest.get("aggregationRule"),
        _ => None,
    }
}

fn role_ref(object: &Object, field: &str) -> String {
    let value = match object {
        Object::RoleBinding(binding) => binding.encode(),
        Object::ClusterRoleBinding(binding) => binding.encode(),
        _ => Value::Null,
    };
    value["roleRef"][field].as_str().unwrap_or_default().to_string()
}

fn role_name(object: &Object) -> String {
    role_ref(object, "name")
}

fn role_kind(object: &Object) -> Kind {
    match role_ref(object, "kind").as_str() {
        "Role" => Kind::Role,
        _ => Kind::ClusterRole,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rule(value: Value) -> Rule {
        Rule::of(&value)
    }

    #[test]
    fn a_rule_allows_what_all_its_parts_allow() {
        let pods = rule(json!({"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get"]}));
        let named =
            rule(json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"], "resourceNames": ["a"]}));
        let scales = rule(json!({"apiGroups": ["*"], "resources": ["*/scale"], "verbs": ["*"]}));
        let all = rule(json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}));
        let paths = rule(json!({"nonResourceURLs": ["/healthz", "/apis/*"], "verbs": ["get"]}));
        let get = |resource| Access { verb: "get", resource, name: "a", ..Access::default() };
        let sub = |resource, subresource| Access { subresource, ..get(resource) };
        let path = |path| Access { verb: "get", path, ..Access::default() };
        let table = [
            ("the resource and the verb", &pods, get("pods"), true),
            ("another verb", &pods, Access { verb: "list", ..get("pods") }, false),
            ("another group", &pods, Access { group: "apps", ..get("pods") }, false),
            ("a subresource that is named", &pods, sub("pods", "log"), true),
            ("a subresource that is not", &pods, sub("pods", "exec"), false),
            ("the name", &named, get("pods"), true),
            ("another name", &named, Access { name: "b", ..get("pods") }, false),
            ("no name where one is needed", &named, Access { name: "", ..get("pods") }, false),
            ("a subresource of any resource", &scales, sub("deployments", "scale"), true),
            ("the resource itself", &scales, get("deployments"), false),
            ("everything", &all, sub("pods", "exec"), true),
            ("a path", &paths, path("/healthz"), true),
            ("a path below", &paths, path("/apis/apps"), true),
            ("another path", &paths, path("/metrics"), false),
        ];
        for (sentence, rule, access, expected) in table {
            assert_eq!(rule.allows(&access), expected, "{sentence}");
        }
    }

    #[test]
    fn lacking_rights_are_told_a_resource_each() {
        let wanted =
            rule(json!({"apiGroups": [""], "resources": ["pods", "secrets"], "verbs": ["get", "list"]}));
        let lines: Vec<String> = joined(wanted.single_rights()).iter().map(Rule::compact).collect();
        assert_eq!(
            lines,
            [
                r#"{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}"#,
                r#"{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}"#,
            ]
        );
    }
}
