//! What shows that something is broken, and the card of every fault: which signals show it, and who repairs it.
//!
//! A signal is a pure function of one moment: what somebody would find who looks at objects, requests and tables.

use super::because::Because;
use super::machine::Cluster;
use super::network::dns::{Answer, RecordType};
use super::network::endpoints::{Snapshot, has_cluster_ip};
use super::network::trace::{TraceInput, TraceRequest, trace};
use crate::api::kinds::apps::Deployment;
use crate::api::kinds::cluster::{Lease, Node};
use crate::api::kinds::networking::Service;
use crate::api::kinds::pod::Pod;
use crate::api::object::Resource;
use crate::cluster::actor::Actor;

/// What shows that something is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Kubectl: connection refused.
    ApiRefused,
    /// Kubectl: etcdserver: request timed out.
    ApiTimesOut,
    /// A Node is not Ready.
    NodeNotReady,
    /// A Node's Lease is not renewed.
    LeaseOld,
    /// A Node is under pressure.
    NodePressure,
    /// A Deployment's generation is not observed.
    NotActed,
    /// Pods stay Pending without a node.
    PodsPending,
    /// Pods are Evicted.
    PodsEvicted,
    /// An image has ErrImagePull or ImagePullBackOff.
    PullFails,
    /// A container is in CrashLoopBackOff.
    CrashLoop,
    /// Pods with a node are not Ready.
    PodsNotReady,
    /// EndpointSlices differ from the Ready Pods.
    EndpointsOld,
    /// A node's Service table differs from the EndpointSlices.
    RoutesOld,
    /// CoreDNS does not know a Service.
    NamesOld,
    /// The Ingress controller's configuration is behind.
    IngressOld,
    /// Requests fail.
    RequestFails,
}

/// What a fault is part of; who runs that repairs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// API server, etcd, scheduler, controllers.
    ControlPlane,
    /// Machines and their kubelets.
    Node,
    /// kube-proxy, CoreDNS, the Ingress controller.
    Addons,
    /// Registry and external DNS.
    Outside,
    /// What runs in Pods.
    Application,
}

/// What there is to know of a fault.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The fault's word, as the shell has it: `cut`, `api-server`.
    pub word: &'static str,
    /// The signals that show it, in their order.
    pub signals: &'static [Signal],
    /// What it is part of.
    pub repaired_by: Layer,
    texts: (&'static str, &'static str),
}

impl Card {
    /// What the fault does.
    pub fn does(&self) -> Because {
        Because::new(self.texts.0)
    }

    /// What real event it stands for.
    pub fn stands_for(&self) -> Because {
        Because::new(self.texts.1)
    }
}

const fn card(
    word: &'static str,
    texts: (&'static str, &'static str),
    repaired_by: Layer,
    signals: &'static [Signal],
) -> Card {
    Card { word, signals, repaired_by, texts }
}

/// The card of every fault.
pub const CARDS: &[Card] = &[
    card(
        "api-server",
        ("fault.api_server.does", "fault.api_server.stands"),
        Layer::ControlPlane,
        &[Signal::ApiRefused],
    ),
    card("etcd", ("fault.etcd.does", "fault.etcd.stands"), Layer::ControlPlane, &[Signal::ApiTimesOut]),
    card("restore", ("fault.restore.does", "fault.restore.stands"), Layer::ControlPlane, &[]),
    card(
        "scheduler",
        ("fault.scheduler.does", "fault.scheduler.stands"),
        Layer::ControlPlane,
        &[Signal::PodsPending],
    ),
    card(
        "controller-manager",
        ("fault.controller_manager.does", "fault.controller_manager.stands"),
        Layer::ControlPlane,
        &[Signal::NotActed],
    ),
    card("lag", ("fault.lag.does", "fault.lag.stands"), Layer::ControlPlane, &[Signal::EndpointsOld]),
    card(
        "kubelet",
        ("fault.kubelet.does", "fault.kubelet.stands"),
        Layer::Node,
        &[Signal::NodeNotReady, Signal::LeaseOld, Signal::PodsNotReady],
    ),
    card(
        "power-off",
        ("fault.power_off.does", "fault.power_off.stands"),
        Layer::Node,
        &[Signal::NodeNotReady, Signal::LeaseOld, Signal::PodsNotReady, Signal::RoutesOld],
    ),
    card(
        "cut",
        ("fault.cut.does", "fault.cut.stands"),
        Layer::Node,
        &[Signal::NodeNotReady, Signal::LeaseOld, Signal::PodsNotReady, Signal::RoutesOld],
    ),
    card(
        "fill-disk",
        ("fault.fill_disk.does", "fault.fill_disk.stands"),
        Layer::Node,
        &[Signal::NodePressure, Signal::PodsEvicted],
    ),
    card(
        "fill-memory",
        ("fault.fill_memory.does", "fault.fill_memory.stands"),
        Layer::Node,
        &[Signal::NodePressure, Signal::PodsEvicted],
    ),
    card(
        "kube-proxy",
        ("fault.kube_proxy.does", "fault.kube_proxy.stands"),
        Layer::Addons,
        &[Signal::RoutesOld],
    ),
    card("coredns", ("fault.coredns.does", "fault.coredns.stands"), Layer::Addons, &[Signal::NamesOld]),
    card(
        "ingress-controller",
        ("fault.ingress_controller.does", "fault.ingress_controller.stands"),
        Layer::Addons,
        &[Signal::IngressOld],
    ),
    card(
        "registry",
        ("fault.registry.does", "fault.registry.stands"),
        Layer::Outside,
        &[Signal::PullFails, Signal::PodsNotReady],
    ),
    card("dns", ("fault.dns.does", "fault.dns.stands"), Layer::Outside, &[Signal::RequestFails]),
    card(
        "crash",
        ("fault.crash.does", "fault.crash.stands"),
        Layer::Application,
        &[Signal::CrashLoop, Signal::PodsNotReady, Signal::RequestFails],
    ),
    card(
        "hang",
        ("fault.hang.does", "fault.hang.stands"),
        Layer::Application,
        &[Signal::PodsNotReady, Signal::RequestFails],
    ),
    card("slow", ("fault.slow.does", "fault.slow.stands"), Layer::Application, &[Signal::PodsNotReady]),
    card(
        "unready",
        ("fault.unready.does", "fault.unready.stands"),
        Layer::Application,
        &[Signal::PodsNotReady, Signal::RequestFails],
    ),
    card(
        "leak",
        ("fault.leak.does", "fault.leak.stands"),
        Layer::Application,
        &[Signal::CrashLoop, Signal::PodsNotReady, Signal::RequestFails],
    ),
    card(
        "stop",
        ("fault.stop.does", "fault.stop.stands"),
        Layer::Application,
        &[Signal::PodsNotReady, Signal::RequestFails],
    ),
];

impl Signal {
    /// Its name for the screen.
    pub fn name(self) -> Because {
        Because::new(match self {
            Self::ApiRefused => "signal.api_refused",
            Self::ApiTimesOut => "signal.api_times_out",
            Self::NodeNotReady => "signal.node_not_ready",
            Self::LeaseOld => "signal.lease_old",
            Self::NodePressure => "signal.node_pressure",
            Self::NotActed => "signal.not_acted",
            Self::PodsPending => "signal.pods_pending",
            Self::PodsEvicted => "signal.pods_evicted",
            Self::PullFails => "signal.pull_fails",
            Self::CrashLoop => "signal.crash_loop",
            Self::PodsNotReady => "signal.pods_not_ready",
            Self::EndpointsOld => "signal.endpoints_old",
            Self::RoutesOld => "signal.routes_old",
            Self::NamesOld => "signal.names_old",
            Self::IngressOld => "signal.ingress_old",
            Self::RequestFails => "signal.request_fails",
        })
    }
}

impl Layer {
    /// Its name for the screen.
    pub fn name(self) -> Because {
        Because::new(match self {
            Self::ControlPlane => "layer.control_plane",
            Self::Node => "layer.node",
            Self::Addons => "layer.addons",
            Self::Outside => "layer.outside",
            Self::Application => "layer.application",
        })
    }
}

/// When a Lease is old, in seconds.
const OLD_LEASE_SECONDS: i64 = 40;
/// How long a Pod may wait for a node, in seconds.
const PENDING_SECONDS: i64 = 5;

/// The signals that show at this moment, in their order. `requests` are those that should succeed.
pub fn signals(cluster: &Cluster, requests: &[TraceRequest]) -> Vec<Signal> {
    let input = cluster.trace_input();
    let store = &cluster.store;
    let now = cluster.now();
    let refusal = cluster.world.refusal(&Actor::You);
    let node_has = |condition: &str, status: &str| {
        let has = |node: &Node| {
            node.status
                .conditions
                .iter()
                .any(|c| c.condition_type == condition && (c.status == "True") == (status == "True"))
        };
        store.list::<Node>().any(|node| has(node))
    };
    let pods = || store.list::<Pod>().filter(|pod| !pod.is_finished());
    let waits = |reasons: &[&str]| {
        let waits = |pod: &Pod| {
            let waiting =
                pod.status.container_statuses.iter().filter_map(|status| status.state.waiting.as_ref());
            waiting.into_iter().any(|waiting| reasons.contains(&waiting.reason.as_str()))
        };
        pods().any(|pod| waits(pod))
    };
    let is_old =
        |lease: &Lease| lease.spec.renew_time.is_some_and(|at| now.seconds_since(at) > OLD_LEASE_SECONDS);
    let waits_long = |pod: &Pod| {
        !pod.is_bound()
            && pod.meta.creation_timestamp.is_some_and(|at| now.seconds_since(at) > PENDING_SECONDS)
    };
    let found = [
        (Signal::ApiRefused, refusal.as_ref().is_some_and(|status| status.code == 0)),
        (Signal::ApiTimesOut, refusal.as_ref().is_some_and(|status| status.code != 0)),
        (Signal::NodeNotReady, node_has("Ready", "False")),
        (Signal::LeaseOld, store.list_in::<Lease>("kube-node-lease").any(|lease| is_old(lease))),
        (Signal::NodePressure, node_has("MemoryPressure", "True") || node_has("DiskPressure", "True")),
        (
            Signal::NotActed,
            store.list::<Deployment>().any(|d| d.status.observed_generation < d.meta.generation),
        ),
        (Signal::PodsPending, pods().any(|pod| waits_long(pod))),
        (Signal::PodsEvicted, store.list::<Pod>().any(|pod| pod.status.reason == "Evicted")),
        (Signal::PullFails, waits(&["ErrImagePull", "ImagePullBackOff"])),
        (Signal::CrashLoop, waits(&["CrashLoopBackOff"])),
        (
            Signal::PodsNotReady,
            pods().any(|pod| pod.is_bound() && !pod.meta.is_terminating() && !pod.is_ready()),
        ),
        (Signal::EndpointsOld, store.list::<Service>().any(|service| are_endpoints_old(&input, service))),
        (Signal::RoutesOld, are_routes_old(&input)),
        (Signal::NamesOld, are_names_old(&input)),
        (Signal::IngressOld, is_ingress_old(&input)),
        (
            Signal::RequestFails,
            requests.iter().any(|request| !trace(&input, request).outcome.sees.is_success()),
        ),
    ];
    // Without the API server, nobody can look at an object.
    let can_be_seen = |signal: Signal| {
        refusal.is_none() || matches!(signal, Signal::ApiRefused | Signal::ApiTimesOut | Signal::RequestFails)
    };
    let shows = |(signal, is_found): (Signal, bool)| (is_found && can_be_seen(signal)).then_some(signal);
    found.into_iter().filter_map(shows).collect()
}

/// The addresses of the ready endpoints, in order.
fn addresses(snapshot: &Snapshot) -> Vec<String> {
    let mut addresses: Vec<String> =
        snapshot.ready_endpoints().filter_map(|endpoint| endpoint.addresses.first().cloned()).collect();
    addresses.sort();
    addresses
}

fn are_endpoints_old(input: &TraceInput<'_>, service: &Service) -> bool {
    let selector = &service.spec.selector;
    let Some(snapshot) = Snapshot::take(input.store, &service.key()).filter(|_| !selector.is_empty()) else {
        return false;
    };
    let is_target = |pod: &Pod| {
        pod.is_ready()
            && !pod.meta.is_terminating()
            && selector.iter().all(|(name, value)| pod.meta.labels.get(name) == Some(value))
    };
    let pods = input.store.list_in::<Pod>(&service.meta.namespace).filter(|pod| is_target(pod));
    let mut ready: Vec<String> = pods.map(|pod| pod.status.pod_ip.to_string()).collect();
    ready.sort();
    ready != addresses(&snapshot)
}

/// Whether a snapshot in use has other ready endpoints than those stored.
fn is_old(input: &TraceInput<'_>, used: &Snapshot) -> bool {
    Snapshot::take(input.store, &used.key()).is_none_or(|stored| addresses(&stored) != addresses(used))
}

fn are_routes_old(input: &TraceInput<'_>) -> bool {
    let missing = |table: &super::network::proxy::Memory| {
        let mut services = input.store.list::<Service>().filter(|service| has_cluster_ip(service));
        services.any(|service| table.service(&service.key()).is_none())
    };
    input
        .proxies
        .values()
        .any(|table| missing(table) || table.services().any(|programmed| is_old(input, &programmed.snapshot)))
}

fn are_names_old(input: &TraceInput<'_>) -> bool {
    let Some(zone) = input.dns else { return false };
    let name =
        |service: &Service| format!("{}.{}.svc.cluster.local", service.meta.name, service.meta.namespace);
    let mut services = input.store.list::<Service>().filter(|service| has_cluster_ip(service));
    services.any(|service| !matches!(zone.answer(&name(service), RecordType::A), Answer::Records(_)))
}

fn is_ingress_old(input: &TraceInput<'_>) -> bool {
    let mut instances = input.ingress.into_iter().flat_map(|controller| controller.instances());
    instances.any(|(_, loaded)| loaded.upstreams.values().flatten().any(|used| is_old(input, used)))
}
