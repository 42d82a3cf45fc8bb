//! `kubectl drain`: takes the Pods off a node, as far as that is safe.
//!
//! Models: `k8s.io/kubectl/pkg/drain/drain.go`, `filters.go`, `pkg/cmd/drain/drain.go` (v1.36).
//! Leaves out: `--chunk-size`.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{Call, DryRun, Pending, cordon};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::labels::Selector;
use crate::api::meta::{ObjectKey, Uid};
use crate::api::time::Timestamp;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};

/// The flags of `drain`.
pub const FLAGS: &[&[Flag]] = &[
    flags::SELECTOR,
    flags::DRY_RUN,
    flags::TIMEOUT,
    &[
        Flag::long("force", Takes::Nothing),
        Flag::long("ignore-daemonsets", Takes::Nothing),
        Flag::long("delete-emptydir-data", Takes::Nothing),
        Flag::long("disable-eviction", Takes::Nothing),
        Flag::long("grace-period", Takes::Number),
        Flag::long("pod-selector", Takes::Text),
        Flag::long("skip-wait-for-delete-timeout", Takes::Number),
        Flag::long("chunk-size", Takes::Number),
    ],
];

/// How long an eviction that a budget forbids waits before it is tried again.
const RETRY_SECONDS: i64 = 5;

/// What may be said against taking a Pod off, or about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Goes,
    GoesWith(&'static str),
    Stays(&'static str),
    Refused(&'static str),
}

/// What is said of several Pods at once, in this order.
const REFUSALS: [&str; 3] = [
    "Pods that declare no controller (use --force to override)",
    "Pods with local storage (use --delete-emptydir-data to override)",
    "DaemonSet-managed Pods (use --ignore-daemonsets to ignore)",
];
const REMARKS: [&str; 2] = ["ignoring DaemonSet-managed Pods", "deleting Pods that declare no controller"];

/// Cordons nodes and evicts their Pods.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let dry_run = call.dry_run()?;
    let (nodes, failures) = cordon::set(call, true)?;
    if let Some(failure) = Failure::all(failures) {
        return Err(failure);
    }
    let seconds = call.flags.seconds("timeout").unwrap_or(0);
    let mut draining = Draining {
        nodes: nodes.into(),
        failed: Vec::new(),
        node: None,
        evict: !call.flags.on("disable-eviction"),
        grace_seconds: call.flags.number("grace-period").filter(|grace| *grace >= 0),
        flags: ["force", "ignore-daemonsets", "delete-emptydir-data"].map(|flag| call.flags.on(flag)),
        selector: call.text("pod-selector").unwrap_or_default(),
        dry_run,
        seconds,
    };
    let poll = draining.poll(call.host);
    call.output.append(&poll.printed);
    match poll.finished {
        None => Ok(Some(Pending::Drain(draining))),
        Some(0) => Ok(None),
        Some(_) => Err(Failure::silent()),
    }
}

/// Nodes that are being drained, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Draining {
    nodes: VecDeque<String>,
    /// The nodes that could not be drained, and why.
    failed: Vec<(String, Vec<String>)>,
    node: Option<Current>,
    evict: bool,
    grace_seconds: Option<i64>,
    /// `--force`, `--ignore-daemonsets`, `--delete-emptydir-data`.
    flags: [bool; 3],
    selector: String,
    dry_run: DryRun,
    seconds: i64,
}

/// The node whose Pods are on their way.
#[derive(Clone, Debug, PartialEq)]
struct Current {
    name: String,
    /// Pods that are to be evicted, from when on.
    evictions: Vec<(ObjectKey, Uid, Timestamp)>,
    /// Pods that are to be gone.
    going: Vec<(ObjectKey, Uid)>,
    until: Option<Timestamp>,
}

impl Draining {
    /// Evicts what may be evicted now, and says what is gone and whether it is over.
    pub fn poll(&mut self, host: &mut dyn Host) -> Poll {
        let mut printed = Output::default();
        loop {
            if self.node.is_none() {
                let Some(name) = self.nodes.pop_front() else { return self.end(printed) };
                self.begin(name, host, &mut printed);
                continue;
            }
            match self.proceed(host, &mut printed) {
                None => return Poll { printed, finished: None },
                Some(name) => {
                    self.node = None;
                    if let Some(name) = name {
                        printed.stdout.push_str(&format!("node/{name} drained{}\n", self.dry_run.suffix()));
                    }
                }
            }
        }
    }

    fn end(&self, mut printed: Output) -> Poll {
        if self.failed.is_empty() {
            return Poll { printed, finished: Some(0) };
        }
        printed.stderr.push_str("There are pending nodes to be drained:\n");
        let nodes = self.failed.iter().map(|(node, _)| format!(" {node}\n"));
        let problems = self.failed.iter().flat_map(|(_, problems)| problems);
        let lines: String = nodes.chain(problems.map(|problem| format!("{problem}\n"))).collect();
        printed.stderr.push_str(&lines);
        Poll { printed, finished: Some(1) }
    }

    /// The Pods that are still on the node when draining it failed.
    fn tell_pending(&self, node: &str, problems: &[String], host: &dyn Host, printed: &mut Output) {
        let pods = host.store().list::<Pod>().filter(|pod| *pod.node_name == *node);
        let left = pods.filter(|pod| matches!(self.judge(pod), Verdict::Goes | Verdict::GoesWith(_)));
        let names: Vec<String> = left.map(|pod| format!("pod/{}\n", pod.meta.name)).collect();
        if !names.is_empty() {
            let list = match problems {
                [one] => one.clone(),
                many => format!("[{}]", many.join(", ")),
            };
            printed.stderr.push_str(&format!(
                "There are pending pods in node \"{node}\" when an error occurred: {list}\n{}",
                names.concat()
            ));
        }
    }

    fn fail(&mut self, node: String, problems: Vec<String>, printed: &mut Output) {
        let list = match problems.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        printed.stderr.push_str(&format!(
            "error: unable to drain node \"{node}\" due to error: {list}, continuing command...\n"
        ));
        self.failed.push((node, problems));
    }

    /// Judges the Pods of a node.
    fn begin(&mut self, name: String, host: &mut dyn Host, printed: &mut Output) {
        let selector = Selector::parse(&self.selector).unwrap_or_else(|_| Selector::everything());
        let mut judged: Vec<(ObjectKey, Uid, Verdict)> = Vec::new();
        for pod in host.store().list::<Pod>() {
            if *pod.node_name == *name && selector.matches(&pod.meta.labels) {
                let key = ObjectKey::new(Kind::Pod, &*pod.meta.namespace, &*pod.meta.name);
                judged.push((key, pod.meta.uid.clone(), self.judge(pod)));
            }
        }
        let said = |wanted: &dyn Fn(Verdict) -> bool, remark: &str| {
            let pods: Vec<String> = judged
                .iter()
                .filter(|(.., verdict)| wanted(*verdict))
                .map(|(key, ..)| format!("{}/{}", key.namespace, key.name))
                .collect();
            (!pods.is_empty()).then(|| format!("{remark}: {}", pods.join(", ")))
        };
        let refusals: Vec<String> = REFUSALS
            .iter()
            .filter_map(|refusal| said(&|verdict| verdict == Verdict::Refused(refusal), refusal))
            .map(|text| format!("cannot delete {text}"))
            .collect();
        if !refusals.is_empty() {
            self.fail(name, refusals, printed);
            return;
        }
        let remarks: Vec<String> = REMARKS
            .iter()
            .filter_map(|remark| {
                let is = |verdict| verdict == Verdict::GoesWith(remark) || verdict == Verdict::Stays(remark);
                said(&is, remark)
            })
            .collect();
        if !remarks.is_empty() {
            printed.stderr.push_str(&format!("Warning: {}\n", remarks.join("; ")));
        }
        judged.retain(|(.., verdict)| matches!(verdict, Verdict::Goes | Verdict::GoesWith(_)));
        let now = host.now();
        if self.dry_run == DryRun::Client {
            for (key, ..) in judged.drain(..) {
                printed.stdout.push_str(&format!("evicting pod {}/{} (dry run)\n", key.namespace, key.name));
            }
        }
        self.node = Some(Current {
            name,
            evictions: judged.into_iter().map(|(key, uid, _)| (key, uid, now)).collect(),
            going: Vec::new(),
            until: (self.seconds > 0).then(|| Timestamp(now.0 + self.seconds)),
        });
    }

    /// Whether a Pod may be taken off.
    fn judge(&self, pod: &Pod) -> Verdict {
        let [force, ignores_daemon_sets, deletes_data] = self.flags;
        let finished = matches!(pod.status.phase.as_str(), "Succeeded" | "Failed");
        let owner = pod.meta.controller();
        if owner.is_some_and(|owner| owner.kind == "DaemonSet") && !finished {
            return match ignores_daemon_sets {
                true => Verdict::Stays(REMARKS[0]),
                false => Verdict::Refused(REFUSALS[2]),
            };
        }
        if pod.meta.annotations.contains_key("kubernetes.io/config.mirror") {
            return Verdict::Stays("");
        }
        let volumes = pod.spec.rest.get("volumes").and_then(Value::as_array);
        let is_local = |volume: &Value| !volume["emptyDir"].is_null();
        if !finished && !deletes_data && volumes.into_iter().flatten().any(is_local) {
            return Verdict::Refused(REFUSALS[1]);
        }
        match (owner.is_some() || finished, force) {
            (true, _) => Verdict::Goes,
            (false, true) => Verdict::GoesWith(REMARKS[1]),
            (false, false) => Verdict::Refused(REFUSALS[0]),
        }
    }

    /// Goes on with the present node. `None` while Pods are left; then its name, unless it failed.
    fn proceed(&mut self, host: &mut dyn Host, printed: &mut Output) -> Option<Option<String>> {
        let mut node = self.node.take()?;
        let now = host.now();
        let mut late: Vec<String> = Vec::new();
        for (key, uid, from) in std::mem::take(&mut node.evictions) {
            if from > now {
                node.evictions.push((key, uid, from));
                continue;
            }
            let doing = if self.evict { "evicting" } else { "deleting" };
            let dry = if self.dry_run == DryRun::Server { self.dry_run.suffix() } else { "" };
            printed.stdout.push_str(&format!("{doing} pod {}/{}{dry}\n", key.namespace, key.name));
            if node.until.is_some_and(|until| now >= until) {
                late.push(format!(
                    "error when evicting pods/\"{}\" -n \"{}\": global timeout reached: {}s",
                    key.name, key.namespace, self.seconds
                ));
                continue;
            }
            match host.ask(self.request(&key)) {
                Ok(_) if self.dry_run == DryRun::Server => {}
                Ok(_) => node.going.push((key, uid)),
                Err(status) if status.code == 429 => {
                    printed.stderr.push_str(&format!(
                        "error when evicting pods/\"{}\" -n \"{}\" (will retry after {RETRY_SECONDS}s): {}\n",
                        key.name, key.namespace, status.message
                    ));
                    node.evictions.push((key, uid, Timestamp(now.0 + RETRY_SECONDS)));
                }
                Err(status) if status.code == 404 => {}
                Err(status) => {
                    let problem = format!(
                        "error when evicting pods/\"{}\" -n \"{}\": {}",
                        key.name, key.namespace, status.message
                    );
                    self.tell_pending(&node.name, std::slice::from_ref(&problem), host, printed);
                    self.fail(node.name, vec![problem], printed);
                    return Some(None);
                }
            }
        }
        if !late.is_empty() {
            self.tell_pending(&node.name, &late, host, printed);
            self.fail(node.name, late, printed);
            return Some(None);
        }
        let word = if self.evict { "evicted" } else { "deleted" };
        node.going.retain(|(key, uid)| {
            let there = host.store().object(key).is_some_and(|object| object.meta().uid == *uid);
            if !there {
                printed.stdout.push_str(&format!("pod/{} {word}\n", key.name));
            }
            there
        });
        if node.going.is_empty() && node.evictions.is_empty() {
            return Some(Some(node.name));
        }
        // An eviction that is tried again finds out only then that the time is over.
        if node.evictions.is_empty() && node.until.is_some_and(|until| now >= until) {
            let problem = format!(
                "error when waiting for pod \"{}\" in namespace \"{}\" to terminate: global timeout reached: {}s",
                node.going.first().map_or("", |(key, _)| &*key.name),
                node.going.first().map_or("", |(key, _)| &*key.namespace),
                self.seconds
            );
            self.tell_pending(&node.name, std::slice::from_ref(&problem), host, printed);
            self.fail(node.name, vec![problem], printed);
            return Some(None);
        }
        self.node = Some(node);
        None
    }

    fn request(&self, key: &ObjectKey) -> Request {
        let mut request = Request::new(Verb::Delete, Kind::Pod, &key.namespace, &key.name, Value::Null);
        if self.evict {
            request.verb = Verb::Create;
            request.subresource = "eviction".to_string();
            request.body = json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": &*key.name, "namespace": &*key.namespace},
            });
        }
        request.options.grace_seconds = self.grace_seconds;
        request.options.dry_run = self.dry_run == DryRun::Server;
        request
    }
}
