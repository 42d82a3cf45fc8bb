//! `kubectl config`: the contexts of this terminal, one for each user of the cluster, and the namespace.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/config` (v1.36).
//! Leaves out: a namespace for each context (the terminal has one), new contexts, clusters and users.

use serde_json::json;

use super::{Call, Command, NOTHING, Pending, Run, later};
use crate::api::manifest;
use crate::cluster::server::authn::Credentials;
use crate::cluster::settings::UserSetup;
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::{table, tabs};

/// The user of the context.
pub const USER: &str = "admin";
/// Where the API server is.
pub const SERVER: &str = "https://kubestep.example:6443";

const SET_CONTEXT: &[&[Flag]] = &[&[Flag::long("current", Takes::Nothing)]];
const GET_CONTEXTS: &[&[Flag]] =
    &[&[Flag::both("output", 'o', Takes::Text), Flag::long("no-headers", Takes::Nothing)]];
const VIEW: &[&[Flag]] = &[&[
    Flag::both("output", 'o', Takes::Text),
    Flag::long("minify", Takes::Nothing),
    Flag::long("raw", Takes::Nothing),
    Flag::long("flatten", Takes::Nothing),
]];

const fn does(
    name: &'static str,
    about: &'static str,
    flags: &'static [&'static [Flag]],
    action: super::Action,
) -> Command {
    Command { name, about, flags, run: Run::Does(action), ..NOTHING }
}

/// The commands below `config`.
pub const COMMANDS: &[Command] = &[
    does("current-context", "Display the current-context", &[], current_context),
    later("delete-cluster", "Delete the specified cluster from the kubeconfig"),
    later("delete-context", "Delete the specified context from the kubeconfig"),
    later("delete-user", "Delete the specified user from the kubeconfig"),
    does("get-clusters", "Display clusters defined in the kubeconfig", &[], get_clusters),
    does("get-contexts", "Describe one or many contexts", GET_CONTEXTS, get_contexts),
    does("get-users", "Display users defined in the kubeconfig", &[], get_users),
    later("rename-context", "Rename a context from the kubeconfig file"),
    later("set", "Set an individual value in a kubeconfig file"),
    later("set-cluster", "Set a cluster entry in kubeconfig"),
    does("set-context", "Set a context entry in kubeconfig", SET_CONTEXT, set_context),
    later("set-credentials", "Set a user entry in kubeconfig"),
    later("unset", "Unset an individual value in a kubeconfig file"),
    does("use-context", "Set the current-context in a kubeconfig file", &[], use_context),
    does("view", "Display merged kubeconfig settings or a specified kubeconfig file", VIEW, view),
];

/// Whose requests a command makes: the user of its context, who may act as somebody else.
///
/// # Errors
/// In kubectl's words, when there is no such context or kubeconfig file.
pub fn credentials(call: &Call) -> Result<Credentials, Failure> {
    if let Some(file) = call.flags.text("kubeconfig").filter(|file| !file.is_empty()) {
        return Err(Failure::error(format!("stat {file}: no such file or directory")));
    }
    let text = |flag: &str| call.flags.text(flag).unwrap_or_default().to_string();
    let mut user = match text("context") {
        context if context.is_empty() => call.session.user.clone(),
        context => user_of(&context, call).ok_or_else(|| {
            Failure::exactly(format!(
                "Error in configuration: context was not found for specified context: {context}"
            ))
        })?,
    };
    // The verbs that write bindings have a flag of that name, which means the subjects.
    let is_own = call.path.ends_with("binding") || call.path.ends_with(" subject");
    if let Some(given) = call.flags.text("user").filter(|given| !is_own && !given.is_empty()) {
        if !call.host.settings().users.iter().any(|known| known.name == given) {
            return Err(Failure::error(format!("auth info \"{given}\" does not exist")));
        }
        user = given.to_string();
    }
    if call.host.settings().users.first().is_some_and(|first| first.name == user) {
        user = String::new();
    }
    let acts_in_groups = call.flags.texts("as-group").to_vec();
    let (acts_as, acts_as_uid) = (text("as"), text("as-uid"));
    if acts_as.is_empty() && !(acts_as_uid.is_empty() && acts_in_groups.is_empty()) {
        let first = call.host.settings().users.first().map(|first| first.name.clone()).unwrap_or_default();
        let name = if user.is_empty() { first } else { user };
        return Err(Failure::error(format!(
            "invalid configuration: requesting uid, groups or user-extra for {name} without impersonating a user"
        )));
    }
    Ok(Credentials { user, acts_as, acts_in_groups, acts_as_uid })
}

/// The contexts: each of the cluster's users has one; the first one's is called as the cluster.
fn contexts(call: &Call) -> Vec<(String, String)> {
    let users = &call.host.settings().users;
    let context = |(index, user): (usize, &UserSetup)| match index {
        0 => (call.session.cluster_name.clone(), user.name.clone()),
        _ => (user.name.clone(), user.name.clone()),
    };
    let most = if call.session.recorded_config { 1 } else { users.len() };
    users.iter().take(most).enumerate().map(context).collect()
}

/// The users, by name.
fn users(call: &Call) -> Vec<String> {
    let mut users: Vec<String> = call.host.settings().users.iter().map(|user| user.name.clone()).collect();
    users.sort();
    users
}

/// The user of a context, by its name or by his. Every user can be asked for, also where the list shows only the first.
fn user_of(context: &str, call: &Call) -> Option<String> {
    let users = call.host.settings().users.iter().map(|user| (user.name.clone(), user.name.clone()));
    contexts(call)
        .into_iter()
        .chain(users)
        .find(|(name, user)| name == context || user == context)
        .map(|(_, user)| user)
}

/// The current context and its user.
fn current(call: &Call) -> (String, String) {
    let mut contexts = contexts(call);
    let at = contexts.iter().position(|(_, user)| *user == call.session.user).unwrap_or(0);
    if contexts.is_empty() {
        return (call.session.cluster_name.clone(), USER.to_string());
    }
    contexts.swap_remove(at)
}

fn current_context(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let (context, _) = current(call);
    call.say(context);
    Ok(None)
}

fn get_clusters(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = call.session.cluster_name.clone();
    call.say(format!("NAME\n{name}"));
    Ok(None)
}

fn get_users(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let users = users(call);
    call.say(format!("NAME\n{}", users.join("\n")));
    Ok(None)
}

/// The namespace as the file holds it: `default` is written as nothing.
fn stored_namespace(call: &Call) -> String {
    match call.session.namespace.as_str() {
        "default" => String::new(),
        namespace => namespace.to_string(),
    }
}

fn get_contexts(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let mut contexts = contexts(call);
    contexts.sort();
    if let Some(name) = call.args.iter().find(|name| !contexts.iter().any(|(known, _)| known == *name)) {
        return Err(Failure::error(format!("context {name} not found")));
    }
    contexts.retain(|(name, _)| call.args.is_empty() || call.args.contains(name));
    if call.flags.text("output") == Some("name") {
        for (name, _) in contexts {
            call.say(name);
        }
        return Ok(None);
    }
    let mut text = String::new();
    if !call.flags.on("no-headers") {
        text.push_str("CURRENT\tNAME\tCLUSTER\tAUTHINFO\tNAMESPACE\n");
    }
    let (current, _) = current(call);
    let cluster = call.session.cluster_name.clone();
    for (name, user) in contexts {
        let mark = if name == current { "*" } else { "" };
        text.push_str(&format!("{mark}\t{name}\t{cluster}\t{user}\t{}\n", stored_namespace(call)));
    }
    call.output.stdout.push_str(&tabs::align(&text, table::MINIMUM, table::PADDING));
    Ok(None)
}

fn set_context(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = match (call.flags.on("current"), call.args.as_slice()) {
        (true, []) => current(call).0,
        (false, [name]) => name.clone(),
        (true, _) => return Err(Failure::error("you cannot specify both a context name and --current")),
        _ => return Err(Failure::usage(&call.path, format!("unexpected args: [{}]", call.args.join(" ")))),
    };
    if !contexts(call).iter().any(|(known, _)| *known == name) {
        return Err(Failure::error("new contexts are not in this release of Kubestep"));
    }
    if call.flags.given("namespace") {
        let namespace = call.flags.text("namespace").filter(|text| !text.is_empty()).unwrap_or("default");
        call.session.namespace = namespace.to_string();
    }
    call.say(format!("Context \"{name}\" modified."));
    Ok(None)
}

fn use_context(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let [name] = call.args.as_slice() else {
        return Err(Failure::usage(&call.path, format!("unexpected args: [{}]", call.args.join(" "))));
    };
    let contexts = contexts(call);
    let Some(at) = contexts.iter().position(|(known, _)| known == name) else {
        return Err(Failure::error(format!("no context exists with the name: \"{name}\"")));
    };
    let (name, user) = &contexts[at];
    call.session.user = if at == 0 { String::new() } else { user.clone() };
    call.say(format!("Switched to context \"{name}\"."));
    Ok(None)
}

fn view(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let namespace = stored_namespace(call);
    let (current, _) = current(call);
    let mut contexts = contexts(call);
    contexts.sort();
    contexts.retain(|(name, _)| !call.flags.on("minify") || *name == current);
    let context = |(name, user): &(String, String)| {
        let mut context = json!({"cluster": call.session.cluster_name, "user": user});
        if !namespace.is_empty() {
            context["namespace"] = json!(namespace);
        }
        json!({"context": context, "name": name})
    };
    let mut users = users(call);
    users.retain(|user| !call.flags.on("minify") || contexts.iter().any(|(_, of)| of == user));
    let mut cluster = json!({"server": SERVER});
    if call.session.recorded_config {
        cluster["insecure-skip-tls-verify"] = json!(true);
    }
    let user = |user: &String| json!({"name": user, "user": {"token": "REDACTED"}});
    let value = json!({
        "apiVersion": "v1",
        "clusters": [{"cluster": cluster, "name": call.session.cluster_name}],
        "contexts": contexts.iter().map(context).collect::<Vec<_>>(),
        "current-context": current,
        "kind": "Config",
        "users": users.iter().map(user).collect::<Vec<_>>(),
    });
    let format = crate::kubectl::print::Format::of(&call.flags, false)?;
    let text = match format {
        crate::kubectl::print::Format::Plain => manifest::to_yaml(&value),
        format => format.value(&value)?,
    };
    call.output.stdout.push_str(&text);
    Ok(None)
}
