//! `kubectl help`, `-h`, and kubectl alone.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/cmd.go` and `pkg/util/templates/templater.go` (v1.36).
//! Leaves out: the examples and the long descriptions of commands.

use super::{ALL, Call, Command, Pending, Run};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

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

/// What `kubectl top` says of itself.
pub(super) const TOP: &str = "Display resource (CPU/memory) usage.

 This command provides a view of recent resource consumption for nodes and pods. It fetches metrics from the Metrics Server, which aggregates this data from the kubelet on each node. The Metrics Server must be installed and running in the cluster for this command to work.

 The metrics shown are specifically optimized for Kubernetes autoscaling decisions, such as those made by the Horizontal Pod Autoscaler (HPA) and Vertical Pod Autoscaler (VPA). Because of this, the values may not match those from standard OS tools like 'top', as the metrics are designed to provide a stable signal for autoscalers rather than for pinpoint accuracy.

 FAQ for Metrics Server: https://github.com/kubernetes-sigs/metrics-server/blob/master/FAQ.md

 When to use this command:

  *  For on-the-fly spot-checks of resource usage (e.g. identify which pods are consuming the most resources at a glance, or get a quick sense of the load on your nodes)
  *  Understand current resource consumption patterns
  *  Validate the behavior of your HPA or VPA configurations by seeing the metrics they use for scaling decisions.

 It is not intended to be a replacement for full-featured monitoring solutions. Its primary design goal is to provide a low-overhead signal for autoscalers, not to be a perfectly accurate monitoring tool. For high-accuracy reporting, historical analysis, dashboarding, or alerting, you should use a dedicated monitoring solution.";

/// What `kubectl config` says of itself.
pub(super) const CONFIG: &str = "Modify kubeconfig files using subcommands like \"kubectl config set current-context my-context\".

 The loading order follows these rules:

  1.  If the --kubeconfig flag is set, then only that file is loaded. The flag may only be set once and no merging takes place.
  2.  If $KUBECONFIG environment variable is set, then it is used as a list of paths (normal path delimiting rules for your system). These paths are merged. When a value is modified, it is modified in the file that defines the stanza. When a value is created, it is created in the first file that exists. If no files in the chain exist, then it creates the last file in the list.
  3.  Otherwise, ${HOME}/.kube/config is used and no merging takes place.";

/// What `kubectl rollout` says of itself.
pub(super) const ROLLOUT: &str = "Manage the rollout of one or many resources.

 Valid resource types include:

  *  deployments
  *  daemonsets
  *  statefulsets

Examples:
  # Rollback to the previous deployment
  kubectl rollout undo deployment/abc

  # Check the rollout status of a daemonset
  kubectl rollout status daemonset/foo

  # Restart a deployment
  kubectl rollout restart deployment/abc

  # Restart deployments with the 'app=nginx' label
  kubectl rollout restart deployment --selector=app=nginx";

/// What `kubectl set` says of itself.
pub(super) const SET: &str = "Configure application resources.

 These commands help you make changes to existing application resources.";

/// What `kubectl create secret` says of itself.
pub(super) const SECRET: &str = "Create a secret with specified type.

 A docker-registry type secret is for accessing a container registry.

 A generic type secret indicate an Opaque secret type.

 A tls type secret holds TLS certificate and its associated key.";

const FOOT: &str = "Usage:\n  kubectl [flags] [options]\n\nUse \"kubectl <command> --help\" for more information about a given command.\nUse \"kubectl options\" for a list of global command-line options (applies to all commands).\n";

fn listing() -> String {
    let mut out = String::new();
    for command in ALL.iter().filter(|command| !matches!(command.name, "help" | "options")) {
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

/// Flags, a line each, with what they are when nobody gives them.
pub(super) fn options<'f>(flags: impl Iterator<Item = &'f Flag>) -> String {
    let mut out = String::new();
    for flag in flags {
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
    out
}

fn text_of(path: &str, command: &Command) -> String {
    let mut out = match command.long {
        "" => format!("{}.\n\n", command.about),
        long => format!("{long}\n\n"),
    };
    if let Run::Group(commands) | Run::Either(_, commands) = &command.run
        && !commands.is_empty()
    {
        let width = commands.iter().map(|command| command.name.len()).max().unwrap_or(0).max(11);
        out.push_str("Available Commands:\n");
        for command in *commands {
            out.push_str(&format!("  {:<width$}   {}\n", command.name, command.about));
        }
        out.push('\n');
    }
    if command.flags.iter().any(|flags| !flags.is_empty()) {
        out.push_str("Options:\n");
        out.push_str(&options(command.flags.iter().copied().flatten()));
        out.push('\n');
    }
    let usage = if command.usage.is_empty() { String::new() } else { format!("{} ", command.usage) };
    out.push_str(&format!("Usage:\n  {path} {usage}[options]\n\n"));
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
