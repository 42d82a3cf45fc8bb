//! A request through a whole cluster: the memories and node runtimes that a trace is drawn from.

use std::collections::BTreeMap;

use super::actor::Actor;
use super::component::Memory;
use super::machine::Cluster;
use super::network::trace::{Trace, TraceInput, TraceRequest, trace};
use super::network::{dns, ingress, proxy};
use super::runtime::node::NodeRuntime;
use crate::api::meta::Name;

impl Cluster {
    /// Follows a request at this moment. Changes nothing.
    pub fn trace(&self, request: &TraceRequest) -> Trace {
        trace(&self.trace_input(), request)
    }

    /// Everything that decides over a request at this moment.
    pub fn trace_input(&self) -> TraceInput<'_> {
        TraceInput {
            store: &self.store,
            world: &self.world,
            now: self.now(),
            origin_tick: self.tick().cast_signed() - self.visible_tick(),
            proxies: self.proxies(),
            dns: self.dns_zone(),
            ingress: self.ingress_controller(),
            nodes: self.node_runtimes(),
        }
    }

    /// The tables of the nodes' proxies.
    pub fn proxies(&self) -> BTreeMap<Name, &proxy::Memory> {
        let tables = self.components().filter_map(|(actor, component)| match (actor, &component.memory) {
            (Actor::KubeProxy(node), Memory::KubeProxy(memory)) => Some((node.clone(), &**memory)),
            _ => None,
        });
        tables.collect()
    }

    /// What runs on the nodes.
    pub fn node_runtimes(&self) -> BTreeMap<Name, &NodeRuntime> {
        let runtimes = self.components().filter_map(|(actor, component)| match (actor, &component.memory) {
            (Actor::Kubelet(node), Memory::Kubelet(memory)) => Some((node.clone(), &memory.runtime)),
            _ => None,
        });
        runtimes.collect()
    }

    /// The zone of the cluster's DNS.
    pub fn dns_zone(&self) -> Option<&dns::Memory> {
        match &self.component(&Actor::CoreDns)?.memory {
            Memory::CoreDns(memory) => Some(memory),
            _ => None,
        }
    }

    /// What the Ingress controller has loaded.
    pub fn ingress_controller(&self) -> Option<&ingress::Memory> {
        match &self.component(&Actor::IngressController)?.memory {
            Memory::IngressController(memory) => Some(memory),
            _ => None,
        }
    }
}
