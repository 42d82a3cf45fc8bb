//! `kubectl attach`, and what `kubectl run -it` does behind the creation: the output of a container as it comes.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/attach/attach.go`, `pkg/cmd/run/run.go` (v1.36).
//! Leaves out: typing into a process other than a shell; a shell's own variables and folders.

use super::{Call, Pending, exec, streams};
use crate::api::codec::Codec;
use crate::api::kind::Kind;
use crate::api::kinds::pod::{Container, Pod};
use crate::api::meta::Uid;
use crate::cluster::inside::{LogLine, LogRequest};
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::host::Host;
use crate::kubectl::resources;
use crate::kubectl::session::Inside;

const RECORDED: &str = "All commands and output from this session will be recorded in container logs, including credentials and sensitive information passed through the command prompt.\n";
const PROMPT: &str = "If you don't see a command prompt, try pressing enter.\n";

/// The shells that can be typed into.
const SHELLS: [&str; 4] = ["sh", "bash", "ash", "dash"];

/// Attaches to a running container.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let Some(word) = call.args.first().cloned() else {
        return Err(Failure::error("at least 1 argument is required for attach"));
    };
    let (pod, container) = exec::target(call, &word, "attach to")?;
    if matches!(pod.status.phase.as_str(), "Succeeded" | "Failed") {
        return Err(Failure::error(format!(
            "cannot attach a container in a completed pod; current phase is {}",
            pod.status.phase
        )));
    }
    resources::may(&*call.host, &streams::stream_of(&pod, "attach"))
        .map_err(|status| Failure::server(&status))?;
    let mut attached = Attached::to(&pod, container);
    attached.stdin = call.flags.on("stdin");
    attached.tty = call.flags.on("tty");
    attached.quiet = call.flags.on("quiet");
    attached.shown = Some(attached.log(&*call.host));
    if attached.is_over(&pod) || attached.state(&pod) == State::Waiting {
        let problem = format!(
            "unable to upgrade connection: container {} not found in pod {}_{}",
            attached.container, pod.meta.name, pod.meta.namespace
        );
        return Err(Failure::error(problem));
    }
    call.output.stderr.push_str(&attached.notice());
    if attached.enters(&pod) {
        call.session.inside = Some(attached.inside());
        return Ok(None);
    }
    Ok(Some(Pending::Attach(attached)))
}

/// A container whose output is shown as it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    namespace: String,
    pod: String,
    uid: Uid,
    container: String,
    /// What was shown of its output; `None` before it runs.
    shown: Option<Vec<LogLine>>,
    /// Whether there is an input, and a terminal.
    pub stdin: bool,
    /// Whether the input is a terminal.
    pub tty: bool,
    /// Whether nothing else is said.
    pub quiet: bool,
    /// Whether the Pod is deleted in the end.
    pub removes: bool,
    /// Whether the exit code of the container is that of the command.
    pub exits: bool,
    entered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Over,
}

impl Attached {
    /// To that container of the Pod.
    pub fn to(pod: &Pod, container: String) -> Self {
        Self {
            namespace: pod.meta.namespace.to_string(),
            pod: pod.meta.name.to_string(),
            uid: pod.meta.uid.clone(),
            container,
            shown: None,
            stdin: false,
            tty: false,
            quiet: false,
            removes: false,
            exits: false,
            entered: false,
        }
    }

    /// The shell that lines are typed into from now on, if it has come to that.
    pub fn entered(&self) -> Option<Inside> {
        self.entered.then(|| self.inside())
    }

    fn inside(&self) -> Inside {
        Inside {
            namespace: self.namespace.clone(),
            pod: self.pod.clone(),
            container: self.container.clone(),
            removes: self.removes,
            exit: 0,
        }
    }

    fn log(&self, host: &dyn Host) -> Vec<LogLine> {
        let request = LogRequest {
            namespace: self.namespace.clone(),
            pod: self.pod.clone(),
            container: Some(self.container.clone()),
            previous: false,
        };
        host.cluster().container_log(&request).unwrap_or_default()
    }

    fn state(&self, pod: &Pod) -> State {
        let status = pod.status.container_statuses.iter().find(|status| status.name == self.container);
        if status.is_none() {
            return self.ephemeral_state(pod);
        }
        match status {
            _ if matches!(pod.status.phase.as_str(), "Succeeded" | "Failed") => State::Over,
            Some(status) if status.state.running.is_some() => State::Running,
            Some(status) if status.state.terminated.is_some() || status.restart_count > 0 => State::Over,
            _ => State::Waiting,
        }
    }

    /// The state of a container that was added to the Pod, which is reported in a list of its own.
    fn ephemeral_state(&self, pod: &Pod) -> State {
        if matches!(pod.status.phase.as_str(), "Succeeded" | "Failed") {
            return State::Over;
        }
        let status = pod.encode();
        let all = status["status"]["ephemeralContainerStatuses"].as_array().map_or(&[][..], Vec::as_slice);
        let own = all.iter().find(|status| status["name"] == self.container.as_str());
        match own.map(|status| &status["state"]) {
            Some(state) if state["running"].is_object() => State::Running,
            Some(state) if state["terminated"].is_object() => State::Over,
            _ => State::Waiting,
        }
    }

    fn is_over(&self, pod: &Pod) -> bool {
        self.state(pod) == State::Over
    }

    /// Whether its process is a shell that waits for what is typed.
    fn enters(&self, pod: &Pod) -> bool {
        let container = pod.spec.containers.iter().find(|container| container.name == self.container);
        let added = || {
            let pod = pod.encode();
            let all = pod["spec"]["ephemeralContainers"].as_array().cloned().unwrap_or_default();
            let own = all.into_iter().find(|container| container["name"] == self.container.as_str());
            own.and_then(|own| Container::decode(own).ok()).is_some_and(|own| is_shell(&own))
        };
        self.stdin && self.tty && container.map_or_else(added, is_shell)
    }

    fn notice(&self) -> String {
        if self.quiet || !self.stdin || !self.tty { String::new() } else { [RECORDED, PROMPT].concat() }
    }

    /// Shows what is new; ends when the container has ended.
    pub fn poll(&mut self, host: &mut dyn Host) -> Poll {
        let mut printed = Output::default();
        let found = host.store().get::<Pod>(&self.namespace, &self.pod);
        let Some(pod) = found.filter(|pod| pod.meta.uid == self.uid).cloned() else {
            return Poll { printed, finished: Some(i32::from(self.exits)) };
        };
        let state = self.state(&pod);
        if state == State::Waiting {
            return Poll::default();
        }
        if self.shown.is_none() && state == State::Running {
            printed.stderr.push_str(&self.notice());
            if self.enters(&pod) {
                self.entered = true;
                return Poll { printed, finished: Some(0) };
            }
        }
        let lines = self.log(host);
        let shown = self.shown.take().unwrap_or_default();
        let known = (0..=shown.len())
            .find(|&from| lines.starts_with(&shown[from..]))
            .map_or(0, |from| shown.len() - from);
        printed.stdout.extend(lines[known..].iter().flat_map(|line| [line.text.as_str(), "\n"]));
        self.shown = Some(lines);
        if state == State::Running {
            return Poll { printed, finished: None };
        }
        let status = pod.status.container_statuses.iter().find(|status| status.name == self.container);
        let ended = status.and_then(|status| status.state.terminated.as_ref());
        let code = ended.map_or(0, |ended| ended.exit_code);
        let never = pod.spec.restart_policy == "Never";
        if self.stdin && self.tty && !never && !self.quiet {
            printed.stderr.push_str(&session_ended(&self.inside()));
        }
        if self.removes {
            printed.stdout.push_str(&remove(&self.inside(), host));
        }
        let finished = if self.exits && never { code } else { 0 };
        if finished != 0 {
            let reason = ended.map_or("", |ended| ended.reason.as_str());
            let line = format!("pod {}/{} terminated ({reason})\n", self.namespace, self.pod);
            printed.stderr.push_str(&line);
        }
        Poll { printed, finished: Some(finished) }
    }
}

/// What is said when a session with a terminal has ended.
pub fn session_ended(inside: &Inside) -> String {
    let Inside { namespace, pod, container, .. } = inside;
    let place = if namespace == "default" { String::new() } else { format!(" -n {namespace}") };
    format!(
        "Session ended, resume using 'kubectl attach {pod} -c {container}{place} -i -t' command when the pod is running\n"
    )
}

/// Deletes the Pod of a session that is to leave nothing behind.
pub fn remove(inside: &Inside, host: &mut dyn Host) -> String {
    let request =
        Request::new(Verb::Delete, Kind::Pod, &inside.namespace, &inside.pod, serde_json::Value::Null);
    match host.ask(request) {
        Ok(_) => format!("pod \"{}\" deleted from {} namespace\n", inside.pod, inside.namespace),
        Err(_) => String::new(),
    }
}

/// Whether a container's process is a shell without anything to do.
fn is_shell(container: &crate::api::kinds::pod::Container) -> bool {
    let words: Vec<&String> = container.command.iter().chain(&container.args).collect();
    match words.as_slice() {
        [] => crate::cluster::runtime::applications::is_shell_image(&container.image),
        [word] => SHELLS.contains(&word.rsplit('/').next().unwrap_or_default()),
        _ => false,
    }
}
