//! kubectl's verbs, one file each.
//!
//! A verb reads its [`Call`], asks the host, prints to the call's output, and either is done or hands back what it
//! waits for.

pub mod api_resources;
pub mod apply;
pub mod attach;
pub mod auth;
pub mod autoscale;
pub mod cluster_info;
pub mod config;
pub mod cordon;
pub mod create;
pub mod debug;
pub mod delete;
pub mod describe;
pub mod diff;
pub mod drain;
pub mod edit;
pub mod events;
pub mod exec;
pub mod explain;
pub mod expose;
pub mod files;
pub mod get;
pub mod help;
pub mod label;
pub mod local;
pub mod logs;
pub mod patch;
mod pod_of;
pub mod raw;
pub mod replace;
pub mod rollout;
pub mod run;
pub mod scale;
pub mod set;
pub mod streams;
pub mod taint;
pub mod top;
pub mod version;
pub mod wait;

use super::acting::{self, Acting};
use super::execution::Output;
use super::failure::Failure;
use super::host::Host;
use super::parse::{Flag, Flags, Takes};
use super::resources::Narrowing;
use super::session::Session;
use super::shell::Repeated;
use crate::api::time::Timestamp;

/// One run of a verb.
pub struct Call<'a> {
    /// The terminal.
    pub session: &'a mut Session,
    /// The cluster and the files.
    pub host: &'a mut dyn Host,
    /// Standard input, if there is any.
    pub input: Option<&'a str>,
    /// `kubectl rollout status`.
    pub path: String,
    /// The flags.
    pub flags: Flags,
    /// The arguments.
    pub args: Vec<String>,
    /// How many of the arguments stand before `--`, if there was one.
    pub before_dashes: Option<usize>,
    /// What has been printed.
    pub output: Output,
}

impl Call<'_> {
    /// The namespace of the command: `-n`, or the context's.
    pub fn namespace(&self) -> &str {
        self.flags.text("namespace").filter(|text| !text.is_empty()).unwrap_or(&self.session.namespace)
    }

    /// What `-n`, `-A`, `-l` and `--field-selector` leave of a list.
    pub fn narrowing(&self) -> Narrowing {
        let text = |name| self.flags.text(name).filter(|text| !text.is_empty()).map(str::to_string);
        Narrowing {
            namespace: (!self.flags.on("all-namespaces")).then(|| self.namespace().to_string()),
            labels: text("selector"),
            fields: text("field-selector"),
        }
    }

    /// The text of a flag, unless it is absent or empty.
    pub fn text(&self, flag: &str) -> Option<String> {
        self.flags.text(flag).filter(|text| !text.is_empty()).map(str::to_string)
    }

    /// Prints a line.
    pub fn say(&mut self, line: impl AsRef<str>) {
        self.output.stdout.push_str(line.as_ref());
        self.output.stdout.push('\n');
    }

    /// Prints a line to standard error.
    pub fn warn(&mut self, line: impl AsRef<str>) {
        self.output.stderr.push_str(line.as_ref());
        self.output.stderr.push('\n');
    }

    /// Prints the server's warnings, each once a command.
    pub fn pass_on(&mut self, warnings: &[String]) {
        for warning in warnings {
            let line = format!("Warning: {warning}");
            if !self.output.stderr.lines().any(|told| told == line) {
                self.warn(line);
            }
        }
    }

    /// Reads `--dry-run`.
    ///
    /// # Errors
    /// When its value is none of `none`, `client` and `server`.
    pub fn dry_run(&mut self) -> Result<DryRun, Failure> {
        match self.flags.text("dry-run") {
            None | Some("none" | "false") => Ok(DryRun::No),
            Some("client" | "true") => Ok(DryRun::Client),
            Some("server") => Ok(DryRun::Server),
            Some("unchanged") => {
                self.warn(
                    "W0000 helpers.go: --dry-run is deprecated and can be replaced with --dry-run=client.",
                );
                Ok(DryRun::Client)
            }
            Some(other) => Err(Failure::error(format!(
                "Invalid dry-run value ({other}). Must be \"none\", \"server\", or \"client\"."
            ))),
        }
    }
}

/// How far a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRun {
    /// All the way.
    No,
    /// Nothing is sent.
    Client,
    /// The server does everything but store it.
    Server,
}

impl DryRun {
    /// What stands behind a message.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::No => "",
            Self::Client => " (dry run)",
            Self::Server => " (server dry run)",
        }
    }
}

/// What a verb that is not done waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pending {
    /// Deleted objects that are still there.
    Delete(delete::Gone),
    /// Objects that are to be created when those they replace are gone.
    Replace(apply::forced::Replacing),
    /// A rollout that is not finished.
    Rollout(rollout::status::Watching),
    /// Objects that are not yet as wanted.
    Wait(wait::Waiting),
    /// Nodes that are being drained.
    Drain(drain::Draining),
    /// Time that is to pass.
    Sleep(Timestamp),
    /// A command of the shell that is run again and again.
    Repeat(Repeated),
    /// Events that are watched.
    Events(events::Listing),
    /// Logs that are followed.
    Logs(logs::Reading),
    /// A container whose output is shown as it comes.
    Attach(attach::Attached),
    /// Ports that are forwarded.
    Forward(streams::Forwarding),
    /// A watch that ends only by Ctrl-C or `--timeout`.
    Watch(get::Watching),
}

impl Pending {
    /// Looks again: prints what is new and says whether it is over, with the exit code.
    pub fn poll(&mut self, host: &mut dyn Host) -> super::execution::Poll {
        match self {
            Self::Delete(gone) => gone.poll(host),
            Self::Replace(replacing) => replacing.poll(host),
            Self::Rollout(watching) => watching.poll(host),
            Self::Wait(waiting) => waiting.poll(host),
            Self::Drain(draining) => draining.poll(host),
            Self::Sleep(until) => super::execution::Poll {
                finished: (host.now() >= *until).then_some(0),
                ..super::execution::Poll::default()
            },
            Self::Repeat(repeated) => repeated.poll(host),
            Self::Events(listing) => listing.poll(host),
            Self::Logs(reading) => reading.poll(host),
            Self::Attach(attached) => attached.poll(host),
            Self::Forward(forwarding) => forwarding.poll(host),
            Self::Watch(watching) => watching.poll(host),
        }
    }
}

/// What carries a verb out.
pub type Action = fn(&mut Call) -> Result<Option<Pending>, Failure>;

/// A verb, or a group of verbs.
#[derive(Debug)]
pub struct Command {
    /// Its name.
    pub name: &'static str,
    /// What the list of commands says of it.
    pub about: &'static str,
    /// What a group says of itself above the list of its commands, if more than that.
    pub long: &'static str,
    /// What its usage line says between its name and `[options]`.
    pub usage: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Words that suggest it.
    pub meant_by: &'static [&'static str],
    /// Its own flags.
    pub flags: &'static [&'static [Flag]],
    /// Flags that must be given.
    pub required: &'static [&'static str],
    /// What it does.
    pub run: Run,
}

/// What a command does.
#[derive(Debug)]
pub enum Run {
    /// It acts.
    Does(Action),
    /// It has commands below it.
    Group(&'static [Command]),
    /// It acts, and has commands below it.
    Either(Action, &'static [Command]),
    /// It is not in this release.
    Later,
}

impl Command {
    /// Whether that is its name or one of its other names.
    pub fn is_called(&self, word: &str) -> bool {
        self.name == word || self.aliases.contains(&word)
    }
}

const NOTHING: Command = Command {
    name: "",
    about: "",
    long: "",
    usage: "",
    aliases: &[],
    meant_by: &[],
    flags: &[],
    required: &[],
    run: Run::Later,
};

const fn later(name: &'static str, about: &'static str) -> Command {
    Command { name, about, ..NOTHING }
}

/// Every command, in the order of `kubectl help`.
pub const ALL: &[Command] = &[
    Command {
        name: "create",
        about: "Create a resource from a file or from stdin",
        flags: create::FLAGS,
        run: Run::Either(create::run, create::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "expose",
        about: "Take a replication controller, service, deployment or pod and expose it as a new Kubernetes service",
        flags: expose::FLAGS,
        run: Run::Does(expose::run),
        ..NOTHING
    },
    Command {
        name: "run",
        about: "Run a particular image on the cluster",
        flags: run::FLAGS,
        required: &["image"],
        run: Run::Does(run::run),
        ..NOTHING
    },
    Command {
        name: "set",
        about: "Set specific features on objects",
        long: help::SET,
        usage: "SUBCOMMAND",
        run: Run::Group(set::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "explain",
        about: "Get documentation for a resource",
        flags: explain::FLAGS,
        run: Run::Does(explain::run),
        ..NOTHING
    },
    Command {
        name: "get",
        about: "Display one or many resources",
        meant_by: &["list", "ps"],
        flags: get::FLAGS,
        run: Run::Does(get::run),
        ..NOTHING
    },
    Command {
        name: "edit",
        about: "Edit a resource on the server",
        flags: edit::FLAGS,
        run: Run::Does(edit::run),
        ..NOTHING
    },
    Command {
        name: "delete",
        about: "Delete resources by file names, stdin, resources and names, or by resources and label selector",
        meant_by: &["rm"],
        flags: delete::FLAGS,
        run: Run::Does(delete::run),
        ..NOTHING
    },
    Command {
        name: "rollout",
        about: "Manage the rollout of a resource",
        long: help::ROLLOUT,
        usage: "SUBCOMMAND",
        run: Run::Group(rollout::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "scale",
        about: "Set a new size for a deployment, replica set, or replication controller",
        flags: scale::FLAGS,
        required: &["replicas"],
        run: Run::Does(scale::run),
        ..NOTHING
    },
    Command {
        name: "autoscale",
        about: "Auto-scale a deployment, replica set, stateful set, or replication controller",
        flags: autoscale::FLAGS,
        required: &["max"],
        run: Run::Does(autoscale::run),
        ..NOTHING
    },
    Command {
        name: "certificate",
        about: "Modify certificate resources",
        usage: "SUBCOMMAND",
        run: Run::Group(local::CERTIFICATE),
        ..NOTHING
    },
    Command {
        name: "cluster-info",
        about: "Display cluster information",
        run: Run::Either(cluster_info::run, cluster_info::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "top",
        about: "Display resource (CPU/memory) usage",
        long: help::TOP,
        usage: "[flags]",
        run: Run::Group(top::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "cordon",
        about: "Mark node as unschedulable",
        flags: cordon::FLAGS,
        run: Run::Does(cordon::cordon),
        ..NOTHING
    },
    Command {
        name: "uncordon",
        about: "Mark node as schedulable",
        flags: cordon::FLAGS,
        run: Run::Does(cordon::uncordon),
        ..NOTHING
    },
    Command {
        name: "drain",
        about: "Drain node in preparation for maintenance",
        flags: drain::FLAGS,
        run: Run::Does(drain::run),
        ..NOTHING
    },
    Command {
        name: "taint",
        about: "Update the taints on one or more nodes",
        flags: taint::FLAGS,
        run: Run::Does(taint::run),
        ..NOTHING
    },
    Command {
        name: "describe",
        about: "Show details of a specific resource or group of resources",
        flags: describe::FLAGS,
        run: Run::Does(describe::run),
        ..NOTHING
    },
    Command {
        name: "logs",
        about: "Print the logs for a container in a pod",
        flags: logs::FLAGS,
        run: Run::Does(logs::run),
        ..NOTHING
    },
    Command {
        name: "attach",
        about: "Attach to a running container",
        flags: streams::ATTACH,
        run: Run::Does(attach::run),
        ..NOTHING
    },
    Command {
        name: "exec",
        about: "Execute a command in a container",
        flags: exec::FLAGS,
        run: Run::Does(exec::run),
        ..NOTHING
    },
    Command {
        name: "port-forward",
        about: "Forward one or more local ports to a pod",
        flags: streams::PORT_FORWARD,
        run: Run::Does(streams::port_forward),
        ..NOTHING
    },
    Command {
        name: "proxy",
        about: "Run a proxy to the Kubernetes API server",
        flags: raw::PROXY,
        run: Run::Does(raw::proxy),
        ..NOTHING
    },
    Command {
        name: "cp",
        about: "Copy files and directories to and from containers",
        flags: streams::CP,
        run: Run::Does(streams::cp),
        ..NOTHING
    },
    Command {
        name: "auth",
        about: "Inspect authorization",
        usage: "[flags]",
        run: Run::Group(auth::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "debug",
        about: "Create debugging sessions for troubleshooting workloads and nodes",
        flags: debug::FLAGS,
        run: Run::Does(debug::run),
        ..NOTHING
    },
    Command {
        name: "events",
        about: "List events",
        flags: events::FLAGS,
        run: Run::Does(events::run),
        ..NOTHING
    },
    Command {
        name: "diff",
        about: "Diff the live version against a would-be applied version",
        flags: diff::FLAGS,
        run: Run::Does(diff::run),
        ..NOTHING
    },
    Command {
        name: "apply",
        about: "Apply a configuration to a resource by file name or stdin",
        flags: apply::FLAGS,
        run: Run::Either(apply::run, apply::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "patch",
        about: "Update fields of a resource",
        flags: patch::FLAGS,
        run: Run::Does(patch::run),
        ..NOTHING
    },
    Command {
        name: "replace",
        about: "Replace a resource by file name or stdin",
        flags: replace::FLAGS,
        run: Run::Does(replace::run),
        ..NOTHING
    },
    Command {
        name: "wait",
        about: "Wait for a specific condition on one or many resources",
        flags: wait::FLAGS,
        run: Run::Does(wait::run),
        ..NOTHING
    },
    Command {
        name: "kustomize",
        about: "Build a kustomization target from a directory or URL",
        run: Run::Does(local::kustomize),
        ..NOTHING
    },
    Command {
        name: "label",
        about: "Update the labels on a resource",
        flags: label::FLAGS,
        run: Run::Does(label::label),
        ..NOTHING
    },
    Command {
        name: "annotate",
        about: "Update the annotations on a resource",
        flags: label::FLAGS,
        run: Run::Does(label::annotate),
        ..NOTHING
    },
    Command {
        name: "completion",
        about: "Output shell completion code for the specified shell (bash, zsh, fish, or powershell)",
        run: Run::Does(local::completion),
        ..NOTHING
    },
    Command {
        name: "api-resources",
        about: "Print the supported API resources on the server",
        flags: api_resources::FLAGS,
        run: Run::Does(api_resources::run),
        ..NOTHING
    },
    Command {
        name: "api-versions",
        about: "Print the supported API versions on the server, in the form of \"group/version\"",
        run: Run::Does(cluster_info::versions),
        ..NOTHING
    },
    Command {
        name: "config",
        about: "Modify kubeconfig files",
        long: help::CONFIG,
        usage: "SUBCOMMAND",
        run: Run::Group(config::COMMANDS),
        ..NOTHING
    },
    Command {
        name: "kuberc",
        about: "Manage kuberc configuration files",
        run: Run::Does(local::kuberc),
        ..NOTHING
    },
    Command {
        name: "plugin",
        about: "Provides utilities for interacting with plugins",
        usage: "[flags]",
        run: Run::Group(local::PLUGIN),
        ..NOTHING
    },
    Command {
        name: "version",
        about: "Print the client and server version information",
        flags: version::FLAGS,
        run: Run::Does(version::run),
        ..NOTHING
    },
    Command { name: "help", about: "Help about any command", run: Run::Does(help::run), ..NOTHING },
    Command {
        name: "options",
        about: "Print the list of flags inherited by all commands",
        run: Run::Does(local::options),
        ..NOTHING
    },
];

/// `--timeout` and `--watch` of the verbs that wait.
const WATCH: &[Flag] = &[Flag::both("watch", 'w', Takes::Nothing)];

/// Carries out a line of kubectl, without its first word.
///
/// # Errors
/// What stands on standard error when the command fails.
pub fn run(words: &[String], call: &mut Call) -> Result<Option<Pending>, Failure> {
    let parsed = super::parse::parse(words)?;
    call.path = parsed.path;
    call.flags = parsed.flags;
    call.args = parsed.args;
    call.before_dashes = parsed.before_dashes;
    let Some(command) = parsed.command else {
        help::overview(call);
        return Ok(None);
    };
    if call.flags.on("help") {
        help::of(call, command);
        return Ok(None);
    }
    let credentials = config::credentials(call)?;
    let field_manager = acting::field_manager(&call.path, &call.flags);
    let is_told = call.flags.number("v").is_some_and(|level| level >= 6);
    let loaded =
        acting::log_line(call.host.now(), "loader.go:405] Config loaded from file:  /home/you/.kube/config");
    let noted = is_told.then(|| std::cell::RefCell::new(loaded));
    let mut acting = Acting { host: &mut *call.host, credentials, field_manager, noted };
    let mut acting_call = Call {
        session: &mut *call.session,
        host: &mut acting,
        input: call.input,
        path: call.path.clone(),
        flags: call.flags.clone(),
        args: call.args.clone(),
        before_dashes: call.before_dashes,
        output: std::mem::take(&mut call.output),
    };
    let offline = ["config", "help", "options", "completion", "version"];
    if !acting_call.host.cluster().world.api_answers()
        && !acting_call.path.split(' ').nth(1).is_some_and(|verb| offline.contains(&verb))
    {
        let is_store_lost =
            !acting_call.host.cluster().world.stopped.contains(&crate::cluster::actor::Actor::ApiServer);
        call.output = acting_call.output;
        return Err(if is_store_lost { Failure::store_lost() } else { Failure::unreachable() });
    }
    let result = perform(command, &mut acting_call);
    call.output = acting_call.output;
    if let Some(noted) = acting.noted {
        call.output.stderr.insert_str(0, &noted.into_inner());
    }
    result
}

fn perform(command: &'static Command, call: &mut Call) -> Result<Option<Pending>, Failure> {
    match &command.run {
        Run::Does(action) | Run::Either(action, _) => action(call),
        Run::Group(_) if call.args.is_empty() => {
            help::group(call, command);
            Err(Failure::silent())
        }
        Run::Group(_) => {
            Err(Failure::usage(&call.path, format!("unknown command \"{}\"", call.args.join(" "))))
        }
        Run::Later => Err(Failure::error(format!("{} is not in this release of Kubestep", call.path))),
    }
}
