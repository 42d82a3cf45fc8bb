//! `kubectl exec`: a command inside a container.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/exec/exec.go` (v1.36).
//! Leaves out: programs that are typed into, other than shells.

use super::{Call, Pending, pod_of};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::cluster::inside::{ExecRequest, Executed};
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::session::Inside;
use crate::kubectl::shell::network::{self, Place};

/// The flags of `exec`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    &[
        Flag::both("container", 'c', Takes::Text),
        Flag::long("pod-running-timeout", Takes::Duration),
        Flag::both("quiet", 'q', Takes::Nothing),
        Flag::both("stdin", 'i', Takes::Nothing),
        Flag::both("tty", 't', Takes::Nothing),
    ],
];

/// Runs a command inside a container.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let named = call.before_dashes.unwrap_or(call.args.len());
    if call.args.is_empty() || named == 0 {
        return Err(Failure::error("pod, type/name or --filename must be specified"));
    }
    if call.before_dashes.is_none() && call.args.len() > 1 || named > 1 {
        return Err(Failure::usage(
            &call.path,
            "exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead",
        ));
    }
    let command = call.args[named..].to_vec();
    if command.is_empty() {
        return Err(Failure::error("you must specify at least one command for the container"));
    }
    let word = call.args[0].clone();
    let (pod, container) = target(call, &word, "attach to")?;
    if matches!(pod.status.phase.as_str(), "Succeeded" | "Failed") {
        return Err(Failure::error(format!(
            "cannot exec into a container in a completed pod; current phase is {}",
            pod.status.phase
        )));
    }
    let is_shell = matches!(command[0].rsplit('/').next(), Some("sh" | "bash" | "ash"));
    if is_shell && command.len() == 1 && call.input.is_none() {
        ask(call, &pod, &container, vec!["true".to_string()], "")?;
        // Without an input a shell is at its end at once.
        if call.flags.on("stdin") && call.flags.on("tty") {
            if call.session.recorded_config {
                call.warn("Unable to use a TTY - input is not a terminal or the right kind of file");
                return Ok(None);
            }
            call.session.inside = Some(Inside {
                namespace: pod.meta.namespace.to_string(),
                pod: pod.meta.name.to_string(),
                container,
                removes: false,
                exit: 0,
            });
        }
        return Ok(None);
    }
    if let Some(words) = network::words_of(&command) {
        // What the network answers is a matter of the Pod, once the container is known to run.
        ask(call, &pod, &container, vec!["true".to_string()], "")?;
        let place = Place::Pod(pod.meta.namespace.to_string(), pod.meta.name.to_string());
        let number = call.session.requests;
        call.session.requests += 1;
        let output = network::run(&words, &place, number, &[], call.host);
        return finish(call, output.exit, &output.stdout, &output.stderr);
    }
    let stdin = if call.flags.on("stdin") { call.input.unwrap_or_default() } else { "" };
    let executed = ask(call, &pod, &container, command, stdin)?;
    finish(call, executed.exit_code, &executed.stdout, &executed.stderr)
}

fn finish(call: &mut Call, exit: i32, stdout: &str, stderr: &str) -> Result<Option<Pending>, Failure> {
    call.output.stdout.push_str(stdout);
    call.output.stderr.push_str(stderr);
    if exit == 0 {
        return Ok(None);
    }
    Err(Failure { exit, ..Failure::exactly(format!("command terminated with exit code {exit}")) })
}

/// The Pod and the container that a command is about; says which one it took when none was named.
///
/// # Errors
/// When there is none.
pub(super) fn target(call: &mut Call, word: &str, what: &str) -> Result<(Pod, String), Failure> {
    let object = pod_of::object(call, word)?.map_err(|status| Failure::server(&status))?;
    let pods = pod_of::pods(&*call.host, &object, what)?;
    let pod = pods.into_iter().next();
    let pod = pod.ok_or_else(|| Failure::error("timed out waiting for the condition"))?;
    let (container, line) = pod_of::container(&pod, call.text("container").as_deref())?;
    if let Some(line) = line.filter(|_| !call.flags.on("quiet")) {
        call.warn(line);
    }
    Ok((pod, container))
}

/// Asks the kubelet to run a program.
///
/// # Errors
/// When the container cannot run it.
pub(super) fn ask(
    call: &mut Call,
    pod: &Pod,
    container: &str,
    command: Vec<String>,
    stdin: &str,
) -> Result<Executed, Failure> {
    let body = ExecRequest { container: Some(container.to_string()), command, stdin: stdin.to_string() };
    let body = serde_json::to_value(body).map_err(Failure::error)?;
    let mut request = Request::new(Verb::Create, Kind::Pod, &pod.meta.namespace, &pod.meta.name, body);
    request.subresource = "exec".to_string();
    let response = call.host.ask(request).map_err(|status| match status.reason {
        "BadRequest" => Failure::error(format!("unable to upgrade connection: {}", status.message)),
        "Forbidden" => Failure::server(&status),
        _ => Failure::error(&status.message),
    })?;
    serde_json::from_value(response.object).map_err(Failure::error)
}
