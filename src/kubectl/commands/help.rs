//! `kubectl help`, `-h`, and kubectl alone.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/cmd.go` and `pkg/util/templates/templater.go` (v1.36).
//! Leaves out: the examples and the long descriptions of commands.

use super::{ALL, Call, Command, Pending, Run};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::Takes;

/// The groups of commands, each from its first command on, in the order of [`ALL`].
const GROUPS: &[(&str, &str)] = &[
    ("create", "Basic Commands (Beginner):"),
    ("explain", "Basic Commands (Intermediate):"),
    ("rollout", "Deploy Commands:"),
    ("certificate", "Cluster Management Commands:"),
    ("describe", "Troubleshooting and Debugging Commands:"),
    ("diff", "Advanced Commands:"),
    ("label", "Settings Commands:"),
    ("api-resources", "Subcommands provided by plugins:\n\nOther Commands:"),
];

const FOOT: &str = "Usage:\n  kubectl [flags] [options]\n\nUse \"kubectl <command> --help\" for more information about a given command.\nUse \"kubectl options\" for a list of global command-line options (applies to all commands).\n";

fn listing() -> String {
    let mut out = String::new();
    for command in ALL.iter().filter(|command| command.name != "help") {
        if let Some((_, title)) = GROUPS.iter().find(|(first, _)| *first == command.name) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&format!("{title}\n"));
        }
        out.push_str(&format!("  {:<15} {}\n", command.name, command.about));
    }
    out
}

/// kubectl alone: what it is, and its commands.
pub fn overview(call: &mut Call) {
    let text = format!(
        "kubectl controls the Kubernetes cluster manager.\n\n Find more information at: https://kubernetes.io/docs/reference/kubectl/\n\n{}\n{FOOT}",
        listing()
    );
    call.output.stdout.push_str(&text);
}

/// A group without a command: its commands, on standard error.
pub fn group(call: &mut Call, command: &Command) {
    let text = text_of(&call.path, command);
    call.output.stderr.push_str(&text);
}

/// `-h` of a command.
pub fn of(call: &mut Call, command: &Command) {
    let text = text_of(&call.path, command);
    call.output.stdout.push_str(&text);
}

fn text_of(path: &str, command: &Command) -> String {
    let mut out = format!("{}.\n\n", command.about);
    if let Run::Group(commands) | Run::Either(_, commands) = &command.run
        && !commands.is_empty()
    {
        let width = commands.iter().map(|command| command.name.len()).max().unwrap_or(0);
        out.push_str("Available Commands:\n");
        for command in *commands {
            out.push_str(&format!("  {:<width$}   {}\n", command.name, command.about));
        }
        out.push('\n');
    }
    if command.flags.iter().any(|flags| !flags.is_empty()) {
        out.push_str("Options:\n");
        for flag in command.flags.iter().copied().flatten() {
            let value = match flag.takes {
                Takes::Nothing => "=false".to_string(),
                Takes::Text => "=''".to_string(),
                Takes::Number => "=0".to_string(),
                Takes::Duration => "=0s".to_string(),
                Takes::List | Takes::Texts => "=[]".to_string(),
                Takes::Optional(default) => format!("='{default}'"),
            };
            match flag.short {
                Some(short) => out.push_str(&format!("    -{short}, --{}{value}\n", flag.long)),
                None => out.push_str(&format!("    --{}{value}\n", flag.long)),
            }
        }
        out.push('\n');
    }
    let subject = if matches!(command.run, Run::Group(_)) { "SUBCOMMAND " } else { "" };
    out.push_str(&format!("Usage:\n  {path} {subject}[options]\n\n"));
    if matches!(command.run, Run::Group(_)) {
        out.push_str(&format!(
            "Use \"{path} <command> --help\" for more information about a given command.\n"
        ));
    }
    out.push_str(
        "Use \"kubectl options\" for a list of global command-line options (applies to all commands).\n",
    );
    out
}

/// `kubectl help [COMMAND]`.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let Some(topic) = call.args.first().cloned() else {
        overview(call);
        return Ok(None);
    };
    let Some(command) = ALL.iter().find(|command| command.is_called(&topic)) else {
        let text = format!("Unknown help topic [`{}`]\n\n\n{}\n{FOOT}", call.args.join(" "), listing());
        call.output.stderr.push_str(&text);
        return Ok(None);
    };
    call.path = format!("kubectl {}", command.name);
    let text = text_of(&call.path, command);
    call.output.stdout.push_str(&text);
    Ok(None)
}
