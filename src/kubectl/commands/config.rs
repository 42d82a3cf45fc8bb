//! `kubectl config`: the one context of this terminal, and its namespace.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/config` (v1.36).
//! Leaves out: other contexts, clusters and users than the one there is.

use serde_json::json;

use super::{Call, Command, NOTHING, Pending, Run, later};
use crate::api::manifest;
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::{table, tabs};

/// The name of the context and of its cluster.
pub const CONTEXT: &str = "kubestep";
/// The user of the context.
pub const USER: &str = "admin";
const SERVER: &str = "https://kubestep.example:6443";

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

/// Refuses contexts, kubeconfig files and identities that do not exist.
///
/// # Errors
/// In kubectl's words.
pub fn check_context(call: &Call) -> Result<(), Failure> {
    if let Some(file) = call.flags.text("kubeconfig").filter(|file| !file.is_empty()) {
        return Err(Failure::error(format!("stat {file}: no such file or directory")));
    }
    if let Some(context) = call.flags.text("context").filter(|context| !matches!(*context, "" | CONTEXT)) {
        return Err(Failure::exactly(format!(
            "Error in configuration: context was not found for specified context: {context}"
        )));
    }
    if call.flags.given("as") {
        return Err(Failure::error("acting as another user (--as) is not in this release of Kubestep"));
    }
    Ok(())
}

fn current_context(call: &mut Call) -> Result<Option<Pending>, Failure> {
    call.say(CONTEXT);
    Ok(None)
}

fn get_clusters(call: &mut Call) -> Result<Option<Pending>, Failure> {
    call.say(format!("NAME\n{CONTEXT}"));
    Ok(None)
}

fn get_users(call: &mut Call) -> Result<Option<Pending>, Failure> {
    call.say(format!("NAME\n{USER}"));
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
    let unknown: Vec<String> = call.args.iter().filter(|name| *name != CONTEXT).cloned().collect();
    if let Some(name) = unknown.first() {
        return Err(Failure::error(format!("context {name} not found")));
    }
    if call.flags.text("output") == Some("name") {
        call.say(CONTEXT);
        return Ok(None);
    }
    let mut text = String::new();
    if !call.flags.on("no-headers") {
        text.push_str("CURRENT\tNAME\tCLUSTER\tAUTHINFO\tNAMESPACE\n");
    }
    text.push_str(&format!("*\t{CONTEXT}\t{CONTEXT}\t{USER}\t{}\n", stored_namespace(call)));
    call.output.stdout.push_str(&tabs::align(&text, table::MINIMUM, table::PADDING));
    Ok(None)
}

fn set_context(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = match (call.flags.on("current"), call.args.as_slice()) {
        (true, []) => CONTEXT.to_string(),
        (false, [name]) => name.clone(),
        (true, _) => return Err(Failure::error("you cannot specify both a context name and --current")),
        _ => return Err(Failure::usage(&call.path, format!("unexpected args: [{}]", call.args.join(" ")))),
    };
    if name != CONTEXT {
        return Err(Failure::error(format!(
            "other contexts than \"{CONTEXT}\" are not in this release of Kubestep"
        )));
    }
    if call.flags.given("namespace") {
        let namespace = call.flags.text("namespace").filter(|text| !text.is_empty()).unwrap_or("default");
        call.session.namespace = namespace.to_string();
    }
    call.say(format!("Context \"{name}\" modified."));
    Ok(None)
}

fn use_context(call: &mut Call) -> Result<Option<Pending>, Failure> {
    match call.args.as_slice() {
        [name] if name == CONTEXT => {
            call.say(format!("Switched to context \"{CONTEXT}\"."));
            Ok(None)
        }
        [name] => Err(Failure::error(format!("no context exists with the name: \"{name}\""))),
        args => Err(Failure::usage(&call.path, format!("unexpected args: [{}]", args.join(" ")))),
    }
}

fn view(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let mut context = json!({"cluster": CONTEXT, "user": USER});
    let namespace = stored_namespace(call);
    if !namespace.is_empty() {
        context["namespace"] = json!(namespace);
    }
    let value = json!({
        "apiVersion": "v1",
        "clusters": [{"cluster": {"server": SERVER}, "name": CONTEXT}],
        "contexts": [{"context": context, "name": CONTEXT}],
        "current-context": CONTEXT,
        "kind": "Config",
        "users": [{"name": USER, "user": {"token": "REDACTED"}}],
    });
    let format = crate::kubectl::print::Format::of(&call.flags, false)?;
    let text = match format {
        crate::kubectl::print::Format::Plain => manifest::to_yaml(&value),
        format => format.value(&value)?,
    };
    call.output.stdout.push_str(&text);
    Ok(None)
}
