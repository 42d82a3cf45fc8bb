//! `kubectl auth`: may I, and who am I?
//!
//! Models: `k8s.io/kubectl/pkg/cmd/auth/cani.go`, `whoami.go`, `pkg/describe` (how rules are written) (v1.36).

mod reconcile;

use serde_json::json;

use super::{Call, Command, NOTHING, Pending, Run};
use crate::api::discovery;
use crate::cluster::server::authn::{self, Identity};
use crate::cluster::server::authz::{self, Access, Rule};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::print::{table, tabs};

const CAN_I: &[&[Flag]] = &[
    flags::ALL_NAMESPACES,
    &[
        Flag::long("list", Takes::Nothing),
        Flag::long("no-headers", Takes::Nothing),
        Flag::both("quiet", 'q', Takes::Nothing),
        Flag::long("subresource", Takes::Text),
    ],
];

/// The commands below `auth`.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "can-i",
        about: "Check whether an action is allowed",
        flags: CAN_I,
        run: Run::Does(can_i),
        ..NOTHING
    },
    Command {
        name: "reconcile",
        about: "Reconciles rules for RBAC role, role binding, cluster role, and cluster role binding objects",
        flags: reconcile::FLAGS,
        run: Run::Does(reconcile::run),
        ..NOTHING
    },
    Command {
        name: "whoami",
        about: "Experimental: Check self subject attributes",
        flags: &[flags::OUTPUT],
        run: Run::Does(whoami),
        ..NOTHING
    },
];

const VERBS: [&str; 13] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "use",
    "bind",
    "impersonate",
    "*",
    "approve",
];
const PATH_VERBS: [&str; 8] = ["get", "put", "post", "head", "options", "delete", "patch", "*"];

fn me(call: &Call) -> Result<Identity, Failure> {
    authn::identify(call.host.store(), call.host.settings(), &call.host.credentials())
        .map_err(|status| Failure::server(&status))
}

fn warn(call: &mut Call, text: impl AsRef<str>) {
    call.warn(format!("Warning: {}\n", text.as_ref()));
}

fn can_i(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let subresource = call.flags.text("subresource").unwrap_or_default().to_string();
    let all = call.flags.on("all-namespaces");
    if call.flags.on("list") {
        if !call.args.is_empty() {
            return Err(Failure::error("list option must be specified with no arguments"));
        }
        if call.flags.on("quiet") || all || !subresource.is_empty() {
            return Err(Failure::error(
                "list option can't be specified with neither quiet, all-namespaces nor subresource options",
            ));
        }
        return list(call);
    }
    let [verb, what] = call.args.clone().try_into().map_err(|_| {
        Failure::error(
            "you must specify two arguments: verb resource or verb resource/resourceName.\nSee 'kubectl auth can-i -h' for help and examples.",
        )
    })?;
    let identity = me(call)?;
    let namespace = if all { String::new() } else { call.namespace().to_string() };
    let mut access = Access { verb: &verb, subresource: &subresource, ..Access::default() };
    let (mut group, mut resource, mut name) = (String::new(), String::new(), String::new());
    if what.starts_with('/') {
        if !subresource.is_empty() {
            return Err(Failure::error("--subresource can not be used with NonResourceURL"));
        }
        access.path = &what;
        if !PATH_VERBS.contains(&verb.as_str()) {
            warn(call, format!("verb '{verb}' is not a known verb"));
        }
    } else {
        let (word, given) = what.split_once('/').unwrap_or((&what, ""));
        name = given.to_string();
        let found = discovery::find(word);
        match &found {
            _ if word == "*" => resource = word.to_string(),
            Some(found) => {
                group = found.group().to_string();
                resource = found.plural.to_string();
            }
            None => {
                let (bare, of) = word.split_once('.').unwrap_or((word, ""));
                if !matches!(word, "users" | "groups") {
                    let place = if of.is_empty() { String::new() } else { format!(" in group '{of}'") };
                    warn(call, format!("the server doesn't have a resource type '{bare}'{place}"));
                }
                resource = word.to_string();
            }
        }
        if let Some(found) = found.filter(|found| !found.namespaced && !all) {
            let place = if found.group().is_empty() {
                String::new()
            } else {
                format!(" in group '{}'", found.group())
            };
            warn(call, format!("resource '{}' is not namespace scoped{place}", found.plural));
        }
        if !VERBS.contains(&verb.as_str()) {
            warn(call, format!("verb '{verb}' is not a known verb"));
        }
        access.namespace = &namespace;
    }
    if call.flags.on("no-headers") {
        return Err(Failure::error("--no-headers cannot be specified without --list"));
    }
    let access = Access { group: &group, resource: &resource, name: &name, ..access };
    let rights = authz::rights_of(call.host.store(), &identity, access.namespace);
    let allowed = identity.is_master() || rights.allow(&access);
    if !call.flags.on("quiet") {
        let reason = match rights.problems.as_slice() {
            _ if allowed => String::new(),
            [] => String::new(),
            [one] => format!(" - RBAC: {one}"),
            many => format!(" - RBAC: [{}]", many.join(", ")),
        };
        call.say(format!("{}{reason}", if allowed { "yes" } else { "no" }));
    }
    if allowed { Ok(None) } else { Err(Failure::silent()) }
}

/// Every right in the namespace, a line each.
fn list(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let identity = me(call)?;
    let rights = authz::rights_of(call.host.store(), &identity, call.namespace());
    let mut rules = authz::compacted(&rights.rules);
    let order = |rule: &Rule| {
        format!(
            "{}],{}],{}],{}],{}]",
            rule.verbs.join(" "),
            rule.groups.join(" "),
            rule.resources.join(" "),
            rule.names.join(" "),
            rule.paths.join(" ")
        )
    };
    rules.sort_by_cached_key(order);
    let mut text = String::new();
    if !call.flags.on("no-headers") {
        text.push_str("Resources\tNon-Resource URLs\tResource Names\tVerbs\n");
    }
    for rule in rules {
        let list = |words: &[String]| format!("[{}]", words.join(" "));
        let resource = rule.resources.first().map_or(String::new(), |resource| {
            let (name, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let group = rule.groups.first().filter(|group| !group.is_empty());
            let group = group.map_or(String::new(), |group| format!(".{group}"));
            let subresource = if subresource.is_empty() { String::new() } else { format!("/{subresource}") };
            format!("{name}{group}{subresource}")
        });
        text.push_str(&format!(
            "{resource}\t{}\t{}\t{}\n",
            list(&rule.paths),
            list(&rule.names),
            list(&rule.verbs)
        ));
    }
    call.output.stdout.push_str(&tabs::align(&text, table::MINIMUM, table::PADDING));
    Ok(None)
}

fn whoami(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let identity = me(call)?;
    let format = Format::of(&call.flags, false)?;
    if !matches!(format, Format::Plain) {
        let mut user = json!({"groups": identity.groups, "username": identity.name});
        if !identity.uid.is_empty() {
            user["uid"] = json!(identity.uid);
        }
        let review = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
            "metadata": {"creationTimestamp": call.host.now().to_string()}, "status": {"userInfo": user},
        });
        let text = format.value(&review)?;
        call.output.stdout.push_str(&text);
        return Ok(None);
    }
    let mut text = format!("ATTRIBUTE\tVALUE\nUsername\t{}\n", identity.name);
    if !identity.uid.is_empty() {
        text.push_str(&format!("UID\t{}\n", identity.uid));
    }
    text.push_str(&format!("Groups\t[{}]\n", identity.groups.join(" ")));
    call.output.stdout.push_str(&tabs::align(&text, table::MINIMUM, table::PADDING));
    Ok(None)
}
