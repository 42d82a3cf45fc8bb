//! Probes: whether a container has started up, is alive, is ready.
//!
//! A probe's outcome follows from the process and the time, so only the runs that change a result or tell an event are
//! carried out.
//!
//! Models: `pkg/kubelet/prober` (v1.36). Leaves out: what a gRPC service answers, probe timeouts of slow processes, the random phase after a
//! restart of the kubelet.

use std::collections::BTreeMap;

use crate::api::int_or_string::IntOrString;
use crate::api::kinds::pod::{Container, Probe};
use crate::api::time::Timestamp;
use crate::cluster::runtime::node::{Reply, RunningContainer, RunningPod};
use crate::cluster::runtime::process::Ailment;
use crate::cluster::runtime::script::{self, Surroundings};

/// Which probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// Holds the others back.
    Startup,
    /// When to restart.
    Liveness,
    /// When not to send traffic.
    Readiness,
}

impl ProbeKind {
    /// `Readiness`, as it stands in events.
    pub fn word(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Liveness => "Liveness",
            Self::Readiness => "Readiness",
        }
    }

    /// The container's probe of that kind.
    pub fn of(self, container: &Container) -> Option<&Probe> {
        match self {
            Self::Startup => container.startup_probe.as_ref(),
            Self::Liveness => container.liveness_probe.as_ref(),
            Self::Readiness => container.readiness_probe.as_ref(),
        }
    }
}

/// Where one probe of one container stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeState {
    /// Its result: as the last runs in a row that reached their threshold say.
    pub success: bool,
    /// The outcome of the last run.
    last: bool,
    /// How many runs in a row had it.
    streak: i32,
    /// When it runs next, as far as a run matters.
    pub next_at: Option<Timestamp>,
    /// From when the periods are counted.
    anchor: Timestamp,
}

/// What one run of a probe came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether it succeeded.
    pub success: bool,
    /// What it says of a failure.
    pub output: String,
}

impl ProbeState {
    /// A probe of a container that started now. The first run comes after `first_seconds` for readiness and after a whole
    /// period for the others, and not before the initial delay.
    pub fn started(
        kind: ProbeKind,
        probe: &Probe,
        anchor: Timestamp,
        now: Timestamp,
        first_seconds: i64,
    ) -> Self {
        let delay = i64::from(probe.initial_delay_seconds);
        let mut state =
            Self { success: kind == ProbeKind::Liveness, last: false, streak: 0, next_at: None, anchor };
        state.next_at = Some(match kind {
            ProbeKind::Readiness => Timestamp(now.0 + delay.max(first_seconds)),
            _ => state.on_grid(probe, Timestamp(now.0 + delay.max(1))),
        });
        state
    }

    /// Counts the periods anew, from now on.
    pub fn restart_periods(&mut self, now: Timestamp) {
        self.anchor = now;
    }

    /// From when the periods are counted.
    pub fn anchor(&self) -> Timestamp {
        self.anchor
    }

    /// Takes in one run. Returns whether the result changed.
    pub fn take_in(&mut self, probe: &Probe, success: bool) -> bool {
        self.streak = if self.last == success { self.streak.saturating_add(1) } else { 1 };
        self.last = success;
        let threshold = if success { probe.success_threshold } else { probe.failure_threshold };
        let reached = self.streak >= threshold.max(1);
        let changed = reached && self.success != success;
        if reached {
            self.success = success;
        }
        changed
    }

    /// Whether the last run had the outcome that the result says.
    pub fn is_settled(&self) -> bool {
        self.last == self.success
    }

    /// Whether failures have reached the threshold.
    pub fn has_failed(&self, probe: &Probe) -> bool {
        !self.last && self.streak >= probe.failure_threshold.max(1)
    }

    /// The first time on the grid of periods that is not before `from`.
    pub fn on_grid(&self, probe: &Probe, from: Timestamp) -> Timestamp {
        let period = i64::from(probe.period_seconds.max(1));
        let since = from.seconds_since(self.anchor).max(0);
        Timestamp(self.anchor.0 + (since + period - 1) / period * period)
    }
}

/// Everything about a container that a probe meets.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The Pod it runs in.
    pub pod: &'a RunningPod,
    /// The container.
    pub running: &'a RunningContainer,
    /// Its spec, for the names of ports.
    pub spec: &'a Container,
    /// Whether the probe's periods are counted from just before the container started, as those of startup and liveness
    /// probes are: a whole period later, the container is not quite so old.
    pub early: bool,
}

/// Runs a probe once.
pub fn run(probe: &Probe, target: &Target<'_>, now: Timestamp) -> Outcome {
    let fail = |output: String| Outcome { success: false, output };
    if !target.early && target.running.process.program.ails == Some(Ailment::Unready) {
        return fail("HTTP probe failed with statuscode: 503".to_string());
    }
    if let Some(exec) = &probe.exec {
        return run_command(&exec.command, target, now);
    }
    if let Some(http) = &probe.http_get {
        let Some(port) = port_of(&http.port, target) else {
            return fail(format!("couldn't find port: {}", http.port));
        };
        let ip = &target.pod.ip;
        let path = if http.path.is_empty() { "/" } else { &http.path };
        return match target.pod.ask(port, path, now) {
            Reply::Refused => {
                let scheme = http.scheme.to_ascii_lowercase();
                let scheme = if scheme.is_empty() { "http" } else { &scheme };
                let slash = if path.starts_with('/') { "" } else { "/" };
                fail(format!(
                    "Get \"{scheme}://{ip}:{port}{slash}{path}\": dial tcp {ip}:{port}: connect: connection refused"
                ))
            }
            Reply::Silent { .. } => fail(format!(
                "Get \"http://{ip}:{port}{path}\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            )),
            Reply::Answered { answer, .. } if (200..400).contains(&answer.status) => {
                Outcome { success: true, output: String::new() }
            }
            Reply::Answered { answer, .. } if answer.status == 0 => fail(format!(
                "Get \"http://{ip}:{port}{path}\": net/http: HTTP/1.x transport connection broken: malformed HTTP response"
            )),
            Reply::Answered { answer, .. } => {
                fail(format!("HTTP probe failed with statuscode: {}", answer.status))
            }
        };
    }
    if let Some(tcp) = &probe.tcp_socket {
        let Some(port) = port_of(&tcp.port, target) else {
            return fail(format!("couldn't find port: {}", tcp.port));
        };
        let ip = &target.pod.ip;
        return match target.pod.listener(port, now) {
            Some(_) => Outcome { success: true, output: String::new() },
            None => fail(format!("dial tcp {ip}:{port}: connect: connection refused")),
        };
    }
    if let Some(port) = grpc_port(probe) {
        let seconds = probe.timeout_seconds.max(1);
        return match target.pod.listener(port, now) {
            Some(_) => Outcome { success: true, output: String::new() },
            None => fail(format!(
                "timeout: failed to connect service \"{}:{port}\" within {seconds}s: context deadline exceeded",
                target.pod.ip
            )),
        };
    }
    Outcome { success: true, output: String::new() }
}

/// The port that a probe asks by gRPC.
fn grpc_port(probe: &Probe) -> Option<i32> {
    let port = probe.rest.get("grpc")?.get("port")?.as_i64()?;
    i32::try_from(port).ok()
}

/// When the outcome of the probe changes next by itself; `None` when it stays as it is.
pub fn next_change(probe: &Probe, target: &Target<'_>, now: Timestamp) -> Option<Timestamp> {
    let process = &target.running.process;
    let listens = |port: &IntOrString| {
        let port = port_of(port, target)?;
        let openings =
            target.pod.containers.iter().filter_map(|container| container.process.listens_from(port));
        openings.filter(|opening| *opening > now).min()
    };
    if let Some(exec) = &probe.exec {
        return match told(&exec.command) {
            Some(Told::Always(_)) => None,
            Some(Told::Turning { after_seconds, .. }) => {
                let turn = process.started_at.0 + after_seconds + i64::from(target.early);
                Some(Timestamp(turn)).filter(|turn| *turn > now)
            }
            None => {
                let openings = process.program.listens.iter().filter_map(|l| process.listens_from(l.port));
                openings.filter(|opening| *opening > now).chain(target.pod.next_file_change(now)).min()
            }
        };
    }
    if let Some(port) = grpc_port(probe) {
        return listens(&IntOrString::Int(port));
    }
    let port = probe.http_get.as_ref().map(|http| &http.port);
    let change = listens(port.or(probe.tcp_socket.as_ref().map(|tcp| &tcp.port))?);
    // What a web server answers may depend on a file that comes and goes.
    let pages = probe.http_get.is_some()
        && target.pod.containers.iter().any(|c| c.process.program.answers.folder().is_some());
    let turns = target.pod.containers.iter().filter_map(|container| container.process.next_turn(now));
    change.into_iter().chain(target.pod.next_file_change(now).filter(|_| pages)).chain(turns).min()
}

/// The port's number, looked up among the container's ports if it is a name.
fn port_of(port: &IntOrString, target: &Target<'_>) -> Option<i32> {
    match port {
        IntOrString::Int(port) => Some(*port),
        IntOrString::Text(name) => match name.parse() {
            Ok(port) => Some(port),
            Err(_) => {
                target.spec.ports.iter().find(|port| port.name == *name).map(|port| port.container_port)
            }
        },
    }
}

/// Commands that say themselves what they come to.
enum Told {
    /// Always this.
    Always(bool),
    /// Not `success` at first, `success` from then on.
    Turning {
        /// What it turns to.
        success: bool,
        /// When, in the container's age.
        after_seconds: i64,
    },
}

fn told(command: &[String]) -> Option<Told> {
    let seconds = |text: &String| script::duration_milliseconds(text).map(|milliseconds| milliseconds / 1000);
    match command {
        [word] if word == "sim-ok" => Some(Told::Always(true)),
        [word] if word == "sim-fail" => Some(Told::Always(false)),
        [word, after] if word == "sim-ok-after" => {
            Some(Told::Turning { success: true, after_seconds: seconds(after)? })
        }
        [word, after] if word == "sim-fail-after" => {
            Some(Told::Turning { success: false, after_seconds: seconds(after)? })
        }
        _ => None,
    }
}

/// A command inside the container. One that is not understood (`pg_isready`, `curl -f …`) succeeds when the container's
/// own process listens.
fn run_command(command: &[String], target: &Target<'_>, now: Timestamp) -> Outcome {
    let process = &target.running.process;
    let age = now.seconds_since(process.started_at) - i64::from(target.early);
    let success = match told(command) {
        Some(Told::Always(success)) => success,
        Some(Told::Turning { success, after_seconds }) => (age >= after_seconds) == success,
        None => {
            let pod = target.pod;
            let around = Surroundings {
                environment: &BTreeMap::new(),
                read: &|file| pod.file(target.running, file, now),
                list: &|| pod.files(target.running, now),
                // What the Pod itself answers; whoever asks somebody else in a probe is told that all is well.
                ask: &|question, _| match (question.host.as_str(), question.port) {
                    ("localhost" | "127.0.0.1" | "::1", None) => Some("127.0.0.1".to_string()),
                    ("localhost" | "127.0.0.1" | "::1" | "0.0.0.0", Some(port)) => {
                        match pod.ask(port, &question.path, now) {
                            Reply::Answered { answer, .. } if answer.status < 400 => Some(answer.body),
                            _ => None,
                        }
                    }
                    _ => Some(String::new()),
                },
                settled_seconds: 0,
                main: "",
                input: "",
                address: &pod.ip,
                is_plain: false,
            };
            let ran = script::run_beside(&script::quoted(command), &around);
            return match ran.exit_code {
                Some(code) => {
                    let lines: Vec<String> = ran.output.into_iter().chain(ran.errors).collect();
                    Outcome { success: code == 0, output: lines.join("\n") }
                }
                None => {
                    let listens = &process.program.listens;
                    let success = listens.iter().all(|listener| process.listens(listener.port, now));
                    Outcome { success, output: String::new() }
                }
            };
        }
    };
    Outcome { success, output: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use crate::cluster::runtime::process::{Listener, Process, Program};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn pod(program: Program) -> RunningPod {
        let process = Process {
            container_id: "".into(),
            program: Arc::new(program),
            started_at: Timestamp(100),
            beside: Vec::new().into(),
            answers: Vec::new().into(),
            variables: None,
            ended: None,
        };
        let container = RunningContainer {
            name: "api".into(),
            image: "api".into(),
            init: false,
            process,
            ..RunningContainer::default()
        };
        RunningPod { ip: "10.244.1.2".into(), containers: vec![container], ..RunningPod::default() }
    }

    fn outcome(probe: Value, program: Program, now: i64) -> (bool, String) {
        let pod = pod(program);
        let spec =
            Container::decode(json!({"name": "api", "ports": [{"name": "http", "containerPort": 8080}]}))
                .unwrap();
        let target = Target { pod: &pod, running: &pod.containers[0], spec: &spec, early: false };
        let outcome = run(&Probe::decode(probe).unwrap(), &target, Timestamp(now));
        (outcome.success, outcome.output)
    }

    #[test]
    fn a_probe_meets_what_the_process_does() {
        let listening =
            || Program { listens: vec![Listener { port: 8080, after_seconds: 5 }], ..Program::default() };
        let ok = (true, String::new());
        let http = || json!({"httpGet": {"path": "/healthz", "port": "http", "scheme": "HTTP"}});
        let refused =
            "Get \"http://10.244.1.2:8080/healthz\": dial tcp 10.244.1.2:8080: connect: connection refused";
        assert_eq!(outcome(http(), listening(), 104), (false, refused.to_string()));
        assert_eq!(outcome(http(), listening(), 105), ok);
        let tcp = "dial tcp 10.244.1.2:81: connect: connection refused";
        assert_eq!(outcome(json!({"tcpSocket": {"port": 81}}), listening(), 105), (false, tcp.to_string()));
        assert_eq!(outcome(json!({"exec": {"command": ["sim-fail-after", "20s"]}}), listening(), 119), ok);
        assert!(!outcome(json!({"exec": {"command": ["sim-fail-after", "20s"]}}), listening(), 120).0);
        assert!(!outcome(json!({"exec": {"command": ["pg_isready"]}}), listening(), 101).0);
        assert_eq!(outcome(json!({"exec": {"command": ["pg_isready"]}}), listening(), 105), ok);
    }

    #[test]
    fn a_result_changes_only_when_its_threshold_is_reached() {
        let probe = Probe::decode(json!({"failureThreshold": 3, "successThreshold": 2, "periodSeconds": 10}))
            .unwrap();
        let mut state = ProbeState::started(ProbeKind::Readiness, &probe, Timestamp(0), Timestamp(0), 1);
        let changes: Vec<bool> =
            [true, true, false, false, false, true].map(|success| state.take_in(&probe, success)).to_vec();
        assert_eq!(changes, [false, true, false, false, true, false]);
    }

    #[test]
    fn runs_stand_on_the_grid_of_periods() {
        let probe = Probe::decode(json!({"periodSeconds": 10, "initialDelaySeconds": 5})).unwrap();
        let state = ProbeState::started(ProbeKind::Liveness, &probe, Timestamp(100), Timestamp(100), 0);
        assert_eq!(state.next_at, Some(Timestamp(110)));
        assert_eq!(state.on_grid(&probe, Timestamp(111)), Timestamp(120));
    }
}
