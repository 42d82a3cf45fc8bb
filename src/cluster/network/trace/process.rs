//! The last hops: the Pod behind an address, and the process that listens there.

use super::hop::{Candidate, Dropped, Evidence, Hop, Outcome, Sees, Stage, Verdict};
use super::{Client, Journey, Target};
use crate::api::kinds::networking::Service;
use crate::api::meta::ObjectKey;
use crate::cluster::because::Because;
use crate::cluster::runtime::node::{Reply, RunningPod};
use crate::cluster::runtime::process::Answer;

/// What one connection met.
enum Met {
    /// A process answered.
    Answered(ObjectKey, String, Answer),
    /// A process answered, but not in HTTP.
    NotHttp(ObjectKey, String),
    /// A process took the connection and says nothing.
    Silent(ObjectKey, String),
    /// No process listens there.
    Refused(ObjectKey),
    /// Nobody has the address.
    Nobody,
}

impl Journey<'_> {
    /// Connects to one socket.
    pub(super) fn meet_pod(&mut self, target: &Target) -> Result<Outcome, Outcome> {
        if self.pod_at(&target.address).is_none() && self.is_api_server(target) {
            let question = Because::new("trace.pod.question").with("socket", target_text(target));
            let mut hop = Hop::new(Stage::Pod, question);
            hop.finding = Because::new("trace.pod.api_server");
            return self.cannot_tell(hop);
        }
        self.meet(std::slice::from_ref(target), false)
    }

    /// Connects to the first of these sockets that answers, as a proxy in between does.
    pub(super) fn meet_first(&mut self, targets: &[Target]) -> Result<Outcome, Outcome> {
        self.meet(targets, true)
    }

    fn meet(&mut self, targets: &[Target], by_proxy: bool) -> Result<Outcome, Outcome> {
        let question = Because::new("trace.pod.question")
            .with("socket", targets.first().map(target_text).unwrap_or_default());
        let mut pod_hop = Hop::new(Stage::Pod, question);
        let mut last: Option<(Met, &Target)> = None;
        for target in targets {
            let met = self.connect(target);
            let (object, verdict, reason) = match &met {
                Met::Answered(pod, ..) | Met::NotHttp(pod, _) | Met::Silent(pod, _) => {
                    (Some(pod.clone()), Verdict::Used, Because::new("trace.pod.connected"))
                }
                Met::Refused(pod) => (Some(pod.clone()), Verdict::Lost, Because::new("trace.pod.refused")),
                Met::Nobody => (None, Verdict::Lost, Because::new("trace.pod.nobody")),
            };
            let ended = verdict == Verdict::Used;
            pod_hop.candidates.push(Candidate {
                name: target_text(target),
                object,
                cells: Vec::new(),
                verdict,
                reason,
            });
            last = Some((met, target));
            if ended {
                break;
            }
        }
        let Some((met, target)) = last else {
            return self.cannot_tell(pod_hop);
        };
        if pod_hop.candidates.len() < 2 {
            pod_hop.candidates.clear();
        }
        let pod = match &met {
            Met::Answered(pod, ..) | Met::NotHttp(pod, _) | Met::Silent(pod, _) | Met::Refused(pod) => {
                pod.clone()
            }
            Met::Nobody => {
                pod_hop.finding = Because::new("trace.pod.gone").with("address", &target.address);
                let sees = if by_proxy { Sees::Status(504) } else { Sees::TimedOut };
                let repair = Because::new("trace.pod.repair_gone");
                return self.drop_at(pod_hop, Dropped::new(sees, repair, "kubectl get pods -A -o wide"));
            }
        };
        let node = self.node_of(&target.address).map(|(node, _)| node.to_string()).unwrap_or_default();
        pod_hop.subject = pod.name.to_string();
        pod_hop.finding = Because::new("trace.pod.is")
            .with("socket", target_text(target))
            .with("pod", &pod.name)
            .with("node", node);
        pod_hop.evidence.push(Evidence::new(&pod, "status.podIP"));
        pod_hop.leaves_out.push(Because::new("trace.leaves.policy"));
        self.push(pod_hop);
        self.process_hop(met, target, &pod, by_proxy)
    }

    fn process_hop(
        &mut self,
        met: Met,
        target: &Target,
        pod: &ObjectKey,
        by_proxy: bool,
    ) -> Result<Outcome, Outcome> {
        let question =
            Because::new("trace.process.question").with("pod", &pod.name).with("port", target.port);
        let mut hop = Hop::new(Stage::Process, question);
        hop.leaves_out.push(Because::new("trace.leaves.load"));
        let logs = format!("kubectl -n {} logs {}", pod.namespace, pod.name);
        match met {
            Met::Answered(_, container, _) if !by_proxy && self.request.url.scheme == "https" => {
                hop.subject.clone_from(&container);
                hop.finding = Because::new("trace.process.tls").with("container", container);
                self.cannot_tell(hop)
            }
            Met::Answered(pod, container, answer) => {
                hop.subject.clone_from(&container);
                hop.finding = Because::new("trace.process.answers")
                    .with("container", &container)
                    .with("status", answer.status);
                self.push(hop);
                let body = answer.body;
                Ok(Outcome {
                    sees: Sees::Status(answer.status),
                    failed_at: None,
                    answered_by: Some(pod),
                    body,
                })
            }
            Met::NotHttp(_, container) => {
                hop.finding = Because::new("trace.process.not_http").with("container", container);
                let sees = if by_proxy { Sees::Status(502) } else { Sees::EmptyReply };
                let repair = Because::new("trace.process.repair_not_http");
                self.drop_at(hop, Dropped::new(sees, repair, logs))
            }
            Met::Silent(_, container) => {
                hop.finding = Because::new("trace.process.silent").with("container", container);
                let sees = if by_proxy { Sees::Status(504) } else { Sees::TimedOut };
                let repair = Because::new("trace.process.repair_silent");
                self.drop_at(hop, Dropped::new(sees, repair, logs))
            }
            Met::Refused(_) | Met::Nobody => {
                let sees = if by_proxy { Sees::Status(502) } else { Sees::Refused };
                let dropped = self.refused(&mut hop, target, pod, sees);
                self.drop_at(hop, dropped)
            }
        }
    }

    /// Why nobody listens on the port, and what helps.
    fn refused(&self, hop: &mut Hop, target: &Target, pod: &ObjectKey, sees: Sees) -> Dropped {
        let now = self.input.now;
        let running = self.node_of(&target.address).map(|(_, pod)| pod);
        let processes =
            running.into_iter().flat_map(|pod| &pod.containers).map(|container| &container.process);
        let soon = processes
            .clone()
            .find_map(|process| process.listens_from(target.port).filter(|from| *from > now));
        let describe = format!("kubectl -n {} describe pod {}", pod.namespace, pod.name);
        if let Some(from) = soon {
            let seconds = from.seconds_since(now);
            hop.finding =
                Because::new("trace.process.starting").with("port", target.port).with("seconds", seconds);
            let ticks = u32::try_from(seconds).unwrap_or(u32::MAX);
            return Dropped::soon(sees, ticks, Because::new("trace.process.repair_starting"), describe);
        }
        let mut ports: Vec<i32> = processes
            .clone()
            .filter(|process| process.is_running())
            .flat_map(|process| process.program.listens.iter().map(|listener| listener.port))
            .filter(|port| processes.clone().any(|process| process.listens(*port, now)))
            .collect();
        ports.sort_unstable();
        ports.dedup();
        if processes.clone().all(|process| !process.is_running()) {
            hop.finding = Because::new("trace.process.ended").with("pod", &pod.name);
            let repair = Because::new("trace.process.repair_ended");
            return Dropped::new(
                sees,
                repair,
                format!("kubectl -n {} logs --previous {}", pod.namespace, pod.name),
            );
        }
        let list = ports.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        if ports.is_empty() {
            hop.finding = Because::new("trace.process.listens_nowhere").with("pod", &pod.name);
            return Dropped::new(sees, Because::new("trace.process.repair_nowhere"), describe);
        }
        hop.finding = Because::new("trace.process.refused")
            .with("pod", &pod.name)
            .with("port", target.port)
            .with("ports", &list);
        let service = self.service_of_hops();
        let command = match &service {
            Some(key) => format!("kubectl -n {} get service {} -o yaml", key.namespace, key.name),
            None => describe,
        };
        if let Some(key) = service {
            hop.evidence.push(Evidence::new(&key, "spec.ports"));
        }
        Dropped::new(sees, Because::new("trace.process.repair_port").with("ports", list), command)
    }

    /// The Service that led here.
    fn service_of_hops(&self) -> Option<ObjectKey> {
        let is_service = |key: &&ObjectKey| self.input.store.at::<Service>(key).is_some();
        let evidence = self.hops.iter().rev().flat_map(|hop| &hop.evidence).map(|evidence| &evidence.object);
        evidence.into_iter().find(is_service).cloned()
    }

    fn connect(&self, target: &Target) -> Met {
        let input = self.input;
        let from = match &self.request.from {
            Client::Pod(key) => input.pod(key).map(|pod| pod.node_name.clone()),
            Client::Outside => None,
        };
        let lit = input.nodes.iter().filter(|(name, _)| input.world.reaches(from.as_deref(), name));
        let at = lit.flat_map(|(_, node)| node.pods.iter());
        let here: Vec<(&ObjectKey, &RunningPod)> =
            at.filter(|(_, pod)| pod.ip == target.address).map(|(key, pod)| (key, pod.as_ref())).collect();
        let Some((first, _)) = here.first() else { return Met::Nobody };
        // Pods with the node's network share its address: the one that listens answers.
        for (key, pod) in &here {
            match pod.ask(target.port, &self.request.url.path, input.now) {
                Reply::Answered { container, answer } if answer.status == 0 => {
                    return Met::NotHttp((*key).clone(), container);
                }
                Reply::Answered { container, answer } => {
                    return Met::Answered((*key).clone(), container, answer);
                }
                Reply::Silent { container } => return Met::Silent((*key).clone(), container),
                Reply::Refused => {}
            }
        }
        Met::Refused((*first).clone())
    }

    /// The node and the Pod that have the address.
    fn node_of(&self, address: &str) -> Option<(&str, &RunningPod)> {
        let mut nodes = self.input.nodes.iter();
        nodes.find_map(|(name, node)| node.pod_with_ip(address).map(|(_, pod)| (&**name, pod)))
    }

    /// Whether the socket is the API server's: an endpoint of `default/kubernetes`.
    fn is_api_server(&self, target: &Target) -> bool {
        let key = ObjectKey::new(crate::api::kind::Kind::Service, "default", "kubernetes");
        let snapshot = crate::cluster::network::endpoints::Snapshot::take(self.input.store, &key);
        let mut endpoints = snapshot.iter().flat_map(|s| s.slices.iter()).flat_map(|slice| &slice.endpoints);
        endpoints.any(|endpoint| endpoint.addresses.contains(&target.address))
    }
}

fn target_text(target: &Target) -> String {
    format!("{}:{}", target.address, target.port)
}
