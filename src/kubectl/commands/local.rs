//! Commands that only the machine in front of one knows, and `certificate`, which is little more: `options`, `plugin`,
//! `completion`, `kustomize`, `kuberc`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/options`, `plugin`, `completion`, `certificates` (v1.36).
//! Leaves out: building kustomizations, plugins, a configuration for kubectl itself.

use serde_json::json;

use super::{Call, Command, NOTHING, Pending, Run, help};
use crate::api::kind::Kind;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources;

/// Lists the flags that every command takes.
pub fn options(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let text = format!(
        "The following options can be passed to any command:\n\n{}",
        help::options(flags::GLOBAL.iter().filter(|flag| flag.long != "help"))
    );
    call.output.stdout.push_str(&text);
    Ok(None)
}

/// The commands below `plugin`.
pub const PLUGIN: &[Command] = &[Command {
    name: "list",
    about: "List all visible plugin executables on a user's PATH",
    flags: &[&[Flag::long("name-only", Takes::Nothing)]],
    run: Run::Does(plugins),
    ..NOTHING
}];

fn plugins(_call: &mut Call) -> Result<Option<Pending>, Failure> {
    Err(Failure::error("unable to find any kubectl plugins in your PATH"))
}

/// Says that there is nothing to set up.
pub fn completion(call: &mut Call) -> Result<Option<Pending>, Failure> {
    match call.args.first().map(String::as_str) {
        None => Err(Failure::usage(&call.path, "Shell not specified.")),
        Some("bash" | "zsh" | "fish" | "powershell") => {
            call.say("# This terminal completes with Tab already.");
            Ok(None)
        }
        Some(shell) => Err(Failure::usage(&call.path, format!("Unsupported shell type \"{shell}\"."))),
    }
}

/// Refuses to build.
pub fn kustomize(_call: &mut Call) -> Result<Option<Pending>, Failure> {
    Err(no_kustomizations())
}

/// What `-k` and `kustomize` are refused with.
pub(super) fn no_kustomizations() -> Failure {
    Failure::error(
        "kustomizations are not built here, since the editor's files have no directories; apply the resources themselves with -f",
    )
}

/// Refuses: there is no such file.
pub fn kuberc(_call: &mut Call) -> Result<Option<Pending>, Failure> {
    Err(Failure::error("there is no kuberc file here; give another name to a command with alias"))
}

const CHOICE: &[&[Flag]] = &[flags::FILES, flags::OUTPUT, &[Flag::long("force", Takes::Nothing)]];

/// The commands below `certificate`.
pub const CERTIFICATE: &[Command] = &[
    Command {
        name: "approve",
        about: "Approve a certificate signing request",
        flags: CHOICE,
        run: Run::Does(approve),
        ..NOTHING
    },
    Command {
        name: "deny",
        about: "Deny a certificate signing request",
        flags: CHOICE,
        run: Run::Does(deny),
        ..NOTHING
    },
];

fn approve(call: &mut Call) -> Result<Option<Pending>, Failure> {
    decide(call, "Approved", "approve", "approved")
}

fn deny(call: &mut Call) -> Result<Option<Pending>, Failure> {
    decide(call, "Denied", "deny", "denied")
}

fn decide(call: &mut Call, condition: &str, verb: &str, done: &str) -> Result<Option<Pending>, Failure> {
    if call.args.is_empty() {
        return Err(Failure::usage(
            &call.path,
            "one or more CSRs must be specified as <name> or -f <filename>",
        ));
    }
    let kind = Kind::CertificateSigningRequest;
    for name in call.args.clone() {
        let name = name.rsplit('/').next().unwrap_or(&name).to_string();
        let found = resources::read(&*call.host, kind, "", &name);
        let mut value = found.map_err(|status| Failure::server(&status))?.to_value();
        let known = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
        if !known.iter().any(|known| known["type"] == condition) {
            let now = call.host.now().to_string();
            let title = format!("{}{}", verb[..1].to_uppercase(), &verb[1..]);
            let mut conditions = known;
            conditions.push(json!({
                "lastTransitionTime": now, "lastUpdateTime": now,
                "message": format!("This CSR was {done} by kubectl certificate {verb}."),
                "reason": format!("Kubectl{title}"), "status": "True", "type": condition,
            }));
            value["status"]["conditions"] = conditions.into();
            let mut request = Request::new(Verb::Update, kind, "", &name, value);
            request.subresource = "approval".to_string();
            call.host.ask(request).map_err(|status| Failure::server(&status))?;
        }
        call.say(format!("certificatesigningrequest.certificates.k8s.io/{name} {done}"));
    }
    Ok(None)
}
