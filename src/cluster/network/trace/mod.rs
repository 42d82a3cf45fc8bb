//! The journey of one request, hop by hop, with a verdict and its grounds at every hop.
//!
//! A trace is a pure function of one moment. It walks by *programmed* state (proxies' tables, the DNS zone, the Ingress
//! controller's configuration) and by what really runs on the nodes, and compares both with the store, so that it can
//! say that a step is one tick away. A hop that passes says only what it has looked at; what it has not is listed.
//!
//! Leaves out: time on the way, TLS, retries of the client, NetworkPolicy, overload.

mod cluster_names;
mod controller;
mod entry;
mod hop;
mod pods;
mod process;
mod url;

use std::collections::BTreeMap;

use super::{dns, ingress, proxy};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::time::Timestamp;
use crate::cluster::because::Because;
use crate::cluster::runtime::node::NodeRuntime;
use crate::cluster::store::Store;
use crate::cluster::world::World;

pub use hop::{Candidate, Cell, Dropped, Evidence, Hop, HopResult, Outcome, Sees, Stage, Verdict};
pub use url::Url;

/// Everything that decides over a request at one moment.
#[derive(Clone, Debug)]
pub struct TraceInput<'a> {
    /// What etcd holds, newest state.
    pub store: &'a Store,
    /// What is outside.
    pub world: &'a World,
    /// The time.
    pub now: Timestamp,
    /// The machine's tick that is shown as 0.
    pub origin_tick: i64,
    /// The proxies' tables, by node.
    pub proxies: BTreeMap<Name, &'a proxy::Memory>,
    /// The zone of the cluster's DNS.
    pub dns: Option<&'a dns::Memory>,
    /// What the Ingress controller has loaded.
    pub ingress: Option<&'a ingress::Memory>,
    /// What runs on the nodes.
    pub nodes: BTreeMap<Name, &'a NodeRuntime>,
}

/// One request to be traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    /// Who sends it.
    pub from: Client,
    /// `GET`, `POST`, …
    pub method: String,
    /// Where to.
    pub url: Url,
    /// A `Host` header other than the URL's host.
    pub host: Option<String>,
    /// Its number among the requests of a session: requests in a row spread over endpoints.
    pub number: u64,
}

/// Who sends a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Client {
    /// Somebody outside the cluster.
    Outside,
    /// A process in a Pod.
    Pod(ObjectKey),
}

/// The journey of one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The request.
    pub request: TraceRequest,
    /// When it was sent.
    pub at: Timestamp,
    /// The hops, in order; those behind a drop are not reached.
    pub hops: Vec<Hop>,
    /// What the client sees.
    pub outcome: Outcome,
    /// What no hop has looked at.
    pub not_modelled: Vec<Because>,
}

impl TraceRequest {
    /// A GET from outside.
    ///
    /// # Errors
    /// When the URL cannot be read.
    pub fn get(url: &str, number: u64) -> Result<Self, Because> {
        Ok(Self {
            from: Client::Outside,
            method: "GET".to_string(),
            url: Url::parse(url)?,
            host: None,
            number,
        })
    }

    /// The same request from a Pod.
    #[must_use]
    pub fn from_pod(mut self, namespace: &str, name: &str) -> Self {
        self.from = Client::Pod(ObjectKey::new(Kind::Pod, namespace, name));
        self
    }

    /// The host that rules are compared with.
    pub fn host_header(&self) -> &str {
        self.host.as_deref().unwrap_or(&self.url.host)
    }
}

impl std::fmt::Display for TraceRequest {
    /// `GET http://shop.example/api`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.url)
    }
}

impl Trace {
    /// The hop at which the request was dropped.
    pub fn failed_hop(&self) -> Option<&Hop> {
        self.hops.iter().find(|hop| matches!(hop.result, HopResult::Drop(_)))
    }

    /// The Pod that answered.
    pub fn answered_by(&self) -> Option<&ObjectKey> {
        self.outcome.answered_by.as_ref()
    }
}

impl TraceInput<'_> {
    /// A machine's tick as shown.
    fn shown(&self, tick: u64) -> i64 {
        tick.cast_signed() - self.origin_tick
    }

    /// The Pod of that key, as stored.
    fn pod(&self, key: &ObjectKey) -> Option<&Pod> {
        self.store.at::<Pod>(key).map(|pod| &**pod)
    }
}

/// A journey under way: the hops so far.
struct Journey<'a> {
    input: &'a TraceInput<'a>,
    request: &'a TraceRequest,
    hops: Vec<Hop>,
    /// After how many requests the choices repeat, as far as they were made.
    period: std::cell::Cell<u64>,
}

/// A socket that a connection is opened to, and the node it is opened from.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    address: String,
    port: i32,
}

/// Follows a request.
pub fn trace(input: &TraceInput<'_>, request: &TraceRequest) -> Trace {
    trace_of_many(input, request).0
}

/// Follows a request; also tells after how many requests in a row the choices that it met come around again.
pub fn trace_of_many(input: &TraceInput<'_>, request: &TraceRequest) -> (Trace, u64) {
    let mut journey = Journey { input, request, hops: Vec::new(), period: std::cell::Cell::new(1) };
    let outcome = match journey.travel() {
        Ok(outcome) | Err(outcome) => outcome,
    };
    let (mut hops, period) = (journey.hops, journey.period.get());
    let last = hops.last().map_or(Stage::Dns, |hop| hop.stage);
    let by_ingress = hops.iter().any(|hop| hop.stage == Stage::Controller)
        || matches!(request.from, Client::Outside) && last <= Stage::Entry;
    if outcome.failed_at.is_some() {
        for stage in Stage::ALL.into_iter().filter(|stage| *stage > last) {
            let is_of_ingress = matches!(stage, Stage::Controller | Stage::Rule);
            if stage != Stage::Entry && (by_ingress || !is_of_ingress) {
                hops.push(Hop::not_reached(stage));
            }
        }
    }
    let mut not_modelled: Vec<Because> = Vec::new();
    for leaves in hops.iter().flat_map(|hop| &hop.leaves_out) {
        if !not_modelled.contains(leaves) {
            not_modelled.push(leaves.clone());
        }
    }
    not_modelled.push(Because::new("trace.leaves.client"));
    (Trace { request: request.clone(), at: input.now, hops, outcome, not_modelled }, period)
}

/// The smallest number that both divide; saturates.
pub fn common_period(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a.max(1), b.max(1));
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a.max(1) / divisor).saturating_mul(b.max(1))
}

impl Journey<'_> {
    /// `Ok` when somebody answered, `Err` when the request was dropped: both are what the client sees.
    fn travel(&mut self) -> Result<Outcome, Outcome> {
        let url = &self.request.url;
        let (address, node) = match &self.request.from {
            Client::Outside => (self.resolve_outside()?, None),
            Client::Pod(key) => {
                let pod = self.client_pod(key)?;
                (self.resolve_inside(&pod)?, Some(pod.node_name.clone()))
            }
        };
        let socket = Target { address, port: url.port };
        let target = match &node {
            None => self.enter(&socket)?,
            Some(node) => self.connect_inside(node, &socket)?,
        };
        if self.is_ingress_controller(&target) {
            return self.through_controller(&target);
        }
        self.meet_pod(&target)
    }

    fn push(&mut self, hop: Hop) {
        self.hops.push(hop);
    }

    /// Ends the journey at this hop.
    fn drop_at<T>(&mut self, mut hop: Hop, dropped: Dropped) -> Result<T, Outcome> {
        let outcome = Outcome::failed(dropped.sees, hop.stage, &self.request.url);
        hop.result = HopResult::Drop(Box::new(dropped));
        self.push(hop);
        Err(outcome)
    }

    /// Ends the journey at this hop without a verdict.
    fn cannot_tell<T>(&mut self, mut hop: Hop) -> Result<T, Outcome> {
        hop.result = HopResult::NotVerifiable;
        let stage = hop.stage;
        self.push(hop);
        Err(Outcome::failed(Sees::NotVerifiable, stage, &self.request.url))
    }

    /// The client's Pod, if it can send anything.
    fn client_pod(&mut self, key: &ObjectKey) -> Result<Pod, Outcome> {
        let name = format!("{}/{}", key.namespace, key.name);
        let mut hop = Hop::new(Stage::Client, Because::new("trace.client.question").with("pod", &name));
        hop.evidence.push(Evidence::new(key, "status.phase"));
        let command = format!("kubectl -n {} get pod {}", key.namespace, key.name);
        let pod = self.input.pod(key).cloned();
        let running = pod.as_ref().and_then(|pod| self.input.nodes.get(&pod.node_name)?.pod(key));
        match pod {
            Some(pod) if running.is_some_and(|running| running.is_running()) => {
                hop.finding = Because::new("trace.client.runs")
                    .with("pod", name)
                    .with("node", &pod.node_name)
                    .with("ip", &pod.status.pod_ip);
                self.push(hop);
                Ok(pod)
            }
            other => {
                hop.finding = match other {
                    None => Because::new("trace.client.absent").with("pod", name),
                    Some(_) => Because::new("trace.client.not_running").with("pod", name),
                };
                let repair = Because::new("trace.client.repair");
                self.drop_at(hop, Dropped::new(Sees::NothingSent, repair, command))
            }
        }
    }

    /// Which of `count` the request takes: one after the other by its number, always the same one if clients stick.
    fn turn(&self, count: usize, sticky: bool) -> usize {
        let count = u64::try_from(count.max(1)).unwrap_or(1);
        if !sticky {
            self.period.set(common_period(self.period.get(), count));
        }
        let turn = match (&self.request.from, sticky) {
            (_, false) => self.request.number,
            (Client::Outside, true) => 0,
            (Client::Pod(key), true) => {
                key.name.bytes().fold(7, |hash: u64, b| hash * 31 % 65_521 + u64::from(b))
            }
        };
        usize::try_from(turn % count).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
