//! The hops that lead to a Service's endpoint: the entry from outside, and connections from a Pod.

use super::hop::{Dropped, Evidence, Hop, HopResult, Outcome, Sees, Stage};
use super::pods::{self, Lack};
use super::{Journey, Target, TraceInput};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::networking::{Service, ServicePort};
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Resource;
use crate::cluster::because::Because;
use crate::cluster::network::endpoints::{Backend, Choice, Entry, Snapshot, protocol_of};
use crate::cluster::network::proxy::{self, AddressKind, Programmed, address_kind};

/// Who works from a loaded state that may lag the store.
pub(super) enum Loader<'a> {
    /// The proxy of a node.
    Proxy(&'a str),
    /// The Ingress controller.
    Controller,
}

impl Journey<'_> {
    /// From outside to an endpoint of the Service that has the address.
    pub(super) fn enter(&mut self, socket: &Target) -> Result<Target, Outcome> {
        let input = self.input;
        let question =
            Because::new("trace.entry.question").with("address", &socket.address).with("port", socket.port);
        let mut hop = Hop::new(Stage::Entry, question);
        hop.leaves_out.push(Because::new("trace.leaves.entry"));
        if let Some(node) = node_with(input, &socket.address) {
            return self.enter_node(hop, &node, socket);
        }
        let owner = owner_of(input, &socket.address);
        let (service, kind) = match owner {
            Some((service, kind)) if kind != AddressKind::ClusterIp => (service, kind),
            Some((service, _)) => {
                hop.evidence.push(Evidence::new(&service, "spec.clusterIP"));
                let name = named(&service);
                hop.finding = Because::new("trace.entry.cluster_only")
                    .with("address", &socket.address)
                    .with("service", name);
                let command = format!("kubectl -n {} get service {}", service.namespace, service.name);
                let repair = Because::new("trace.entry.repair_expose");
                return self.drop_at(hop, Dropped::new(Sees::TimedOut, repair, command));
            }
            None if self.pod_at(&socket.address).is_some() => {
                hop.finding = Because::new("trace.entry.pod_only").with("address", &socket.address);
                let repair = Because::new("trace.entry.repair_expose");
                return self
                    .drop_at(hop, Dropped::new(Sees::TimedOut, repair, "kubectl get pods -A -o wide"));
            }
            None => {
                hop.finding = Because::new("trace.entry.nobody").with("address", &socket.address);
                let repair = Because::new("trace.entry.repair_nobody");
                return self.drop_at(hop, Dropped::new(Sees::TimedOut, repair, "kubectl get service -A"));
            }
        };
        let field = if kind == AddressKind::LoadBalancer {
            "status.loadBalancer.ingress"
        } else {
            "spec.externalIPs"
        };
        hop.evidence.push(Evidence::new(&service, field));
        let nodes = ready_nodes(input);
        let Some(node) = nodes.get(self.turn(nodes.len(), false)).cloned() else {
            hop.finding = Because::new("trace.entry.no_node");
            let repair = Because::new("trace.entry.repair_node");
            return self.drop_at(hop, Dropped::new(Sees::TimedOut, repair, "kubectl get nodes"));
        };
        let Some((programmed, _)) =
            input.proxies.get(&node).and_then(|table| table.by_address(&socket.address))
        else {
            hop.finding = Because::new("trace.entry.not_programmed")
                .with("node", &node)
                .with("service", named(&service));
            let dropped = lagging_proxy(input, &node, Sees::TimedOut);
            return self.drop_at(hop, dropped);
        };
        // A balancer keeps nodes without a local endpoint out when the Service asks for local ones only.
        let snapshot = programmed.snapshot.clone();
        let Some(port) = snapshot.port(socket.port, "TCP").cloned() else {
            hop.finding = no_such_port(&snapshot.service, socket.port);
            let repair =
                Because::new("trace.service.repair_port").with("ports", ports_text(&snapshot.service));
            let command = format!("kubectl -n {} get service {}", service.namespace, service.name);
            return self.drop_at(hop, Dropped::new(Sees::Refused, repair, command));
        };
        let node = if snapshot.service.spec.external_traffic_policy == "Local" {
            let has_local =
                |node: &&Name| matches!(snapshot.choose(&port, node, "", Entry::External), Choice::Any(_));
            let local: Vec<&Name> = nodes.iter().filter(has_local).collect();
            local.get(self.turn(local.len(), false)).map_or(node.clone(), |node| (*node).clone())
        } else {
            node
        };
        let backend = self.choose(&mut hop, &node, &snapshot, &port, Entry::External)?;
        hop.finding = Because::new("trace.entry.belongs")
            .with("address", &socket.address)
            .with("port", socket.port)
            .with("service", named(&service))
            .with("ready", count_ready(&snapshot, &port))
            .with("node", &node)
            .with("socket", backend.socket());
        note_staleness(input, &mut hop, &node, programmed);
        self.push(hop);
        Ok(Target { address: backend.address, port: backend.port })
    }

    /// From outside, or from a Pod, to a port of a node.
    fn enter_node(&mut self, mut hop: Hop, node: &Name, socket: &Target) -> Result<Target, Outcome> {
        let input = self.input;
        let found = input.proxies.get(node).and_then(|table| table.by_node_port(socket.port));
        if let Some((programmed, port)) = found {
            let (snapshot, port) = (programmed.snapshot.clone(), port.clone());
            hop.evidence.push(Evidence::new(&snapshot.key(), "spec.ports"));
            let backend = self.choose(&mut hop, node, &snapshot, &port, Entry::External)?;
            hop.finding = Because::new("trace.entry.node_port")
                .with("node", node)
                .with("port", socket.port)
                .with("service", named(&snapshot.key()))
                .with("ready", count_ready(&snapshot, &port))
                .with("socket", backend.socket());
            note_staleness(input, &mut hop, node, programmed);
            self.push(hop);
            return Ok(Target { address: backend.address, port: backend.port });
        }
        if let Some((pod, address, port)) = host_port(input, node, socket.port) {
            hop.evidence.push(Evidence::new(&pod, "spec.containers"));
            hop.finding = Because::new("trace.entry.host_port")
                .with("node", node)
                .with("port", socket.port)
                .with("pod", named(&pod));
            self.push(hop);
            return Ok(Target { address, port });
        }
        let on_node = input.nodes.get(node).into_iter().flat_map(|runtime| runtime.pods.values());
        let listens = |pod: &&std::sync::Arc<crate::cluster::runtime::node::RunningPod>| {
            pod.ip == socket.address && pod.listener(socket.port, input.now).is_some()
        };
        if on_node.into_iter().any(|pod| listens(&pod)) {
            hop.finding =
                Because::new("trace.entry.host_network").with("node", node).with("port", socket.port);
            self.push(hop);
            return Ok(socket.clone());
        }
        hop.finding = Because::new("trace.entry.no_node_port").with("node", node).with("port", socket.port);
        let repair = Because::new("trace.entry.repair_node_port");
        self.drop_at(hop, Dropped::new(Sees::Refused, repair, "kubectl get service -A"))
    }

    /// From a Pod on `node` to whoever has the address.
    pub(super) fn connect_inside(&mut self, node: &Name, socket: &Target) -> Result<Target, Outcome> {
        let input = self.input;
        let question = |service: &ObjectKey| {
            Because::new("trace.service.question").with("service", named(service)).with("port", socket.port)
        };
        if let Some((programmed, _)) =
            input.proxies.get(node).and_then(|table| table.by_address(&socket.address))
        {
            let snapshot = programmed.snapshot.clone();
            let key = snapshot.key();
            let mut hop = Hop::new(Stage::Service, question(&key));
            hop.subject = format!("{}:{}", key.name, socket.port);
            hop.evidence.push(Evidence::new(&key, "spec.ports"));
            hop.leaves_out.push(Because::new("trace.leaves.policy"));
            let Some(port) = snapshot.port(socket.port, "TCP").cloned() else {
                hop.finding = no_such_port(&snapshot.service, socket.port);
                let repair =
                    Because::new("trace.service.repair_port").with("ports", ports_text(&snapshot.service));
                let command = format!("kubectl -n {} get service {}", key.namespace, key.name);
                return self.drop_at(hop, Dropped::new(Sees::TimedOut, repair, command));
            };
            let backend = self.choose(&mut hop, node, &snapshot, &port, Entry::Internal)?;
            hop.finding = Because::new("trace.service.passes")
                .with("ready", count_ready(&snapshot, &port))
                .with("socket", backend.socket());
            note_staleness(input, &mut hop, node, programmed);
            self.push(hop);
            return Ok(Target { address: backend.address, port: backend.port });
        }
        if self.pod_at(&socket.address).is_some() && node_with(input, &socket.address).is_none() {
            return Ok(socket.clone());
        }
        let question_of_entry =
            Because::new("trace.entry.question").with("address", &socket.address).with("port", socket.port);
        if let Some(to) = node_with(input, &socket.address) {
            return self.enter_node(Hop::new(Stage::Entry, question_of_entry), &to, socket);
        }
        let stored = input.store.list::<Service>().find(|s| address_kind(s, &socket.address).is_some());
        if let Some(service) = stored {
            let mut hop = Hop::new(Stage::Service, question(&service.key()));
            hop.subject = format!("{}:{}", service.meta.name, socket.port);
            hop.finding = Because::new("trace.entry.not_programmed")
                .with("node", node)
                .with("service", named(&service.key()));
            let dropped = lagging_proxy(input, node, Sees::TimedOut);
            return self.drop_at(hop, dropped);
        }
        let mut hop = Hop::new(Stage::Entry, question_of_entry);
        if socket.address.starts_with("10.") {
            hop.finding = Because::new("trace.entry.nobody").with("address", &socket.address);
            let repair = Because::new("trace.entry.repair_nobody");
            return self
                .drop_at(hop, Dropped::new(Sees::TimedOut, repair, "kubectl get service,pods -A -o wide"));
        }
        hop.finding = Because::new("trace.entry.outside").with("address", &socket.address);
        self.cannot_tell(hop)
    }

    /// Takes one of the endpoints that the node's proxy may choose from, and notes the others.
    fn choose(
        &mut self,
        hop: &mut Hop,
        node: &Name,
        snapshot: &Snapshot,
        port: &ServicePort,
        entry: Entry,
    ) -> Result<Backend, Outcome> {
        let input = self.input;
        let zone = input.store.get::<Node>("", node);
        let zone = zone.and_then(|node| node.meta.labels.get("topology.kubernetes.io/zone")).cloned();
        let choice = snapshot.choose(port, node, &zone.unwrap_or_default(), entry);
        let sticky = snapshot.service.spec.session_affinity == "ClientIP";
        let chosen = match &choice {
            Choice::Any(backends) => backends.get(self.turn(backends.len(), sticky)).cloned(),
            _ => None,
        };
        let look = pods::look(input, &snapshot.service, Some(port), Some(snapshot), chosen.as_ref());
        (hop.columns, hop.candidates) = (look.columns, look.candidates);
        if let Some(backend) = chosen {
            return Ok(backend);
        }
        let name = named(&snapshot.key());
        if choice == Choice::Drop {
            hop.finding = Because::new("trace.service.local").with("service", name).with("node", node);
            let repair = Because::new("trace.service.repair_local");
            let command = format!("kubectl -n {} get pods -o wide", snapshot.service.meta.namespace);
            return self.drop_at(hop.clone(), Dropped::new(Sees::TimedOut, repair, command));
        }
        hop.finding = Because::new("trace.service.refuses").with("service", name).with("node", node);
        let loader = Loader::Proxy(node);
        let dropped = missing_endpoint(input, &snapshot.service, &look.lack, Sees::Refused, &loader);
        self.drop_at(hop.clone(), dropped)
    }
}

/// `demo/api`.
pub(super) fn named(key: &ObjectKey) -> String {
    format!("{}/{}", key.namespace, key.name)
}

/// `80, 443`, with names where there are some.
pub(super) fn ports_text(service: &Service) -> String {
    let text = |port: &ServicePort| match port.name.as_str() {
        "" => port.port.to_string(),
        name => format!("{} ({name})", port.port),
    };
    service.spec.ports.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn no_such_port(service: &Service, port: i32) -> Because {
    Because::new("trace.service.no_port")
        .with("service", named(&service.key()))
        .with("port", port)
        .with("ports", ports_text(service))
}

fn count_ready(snapshot: &Snapshot, port: &ServicePort) -> usize {
    snapshot.backends(port).iter().filter(|backend| backend.ready).count()
}

/// Why there is no endpoint to send to, and what helps.
pub(super) fn missing_endpoint(
    input: &TraceInput<'_>,
    service: &Service,
    lack: &Lack,
    sees: Sees,
    loader: &Loader<'_>,
) -> Dropped {
    let (namespace, name) = (&service.meta.namespace, &service.meta.name);
    let selector: Vec<String> = service.spec.selector.iter().map(|(k, v)| format!("{k}={v}")).collect();
    let selector = selector.join(",");
    let pods_wide = format!("kubectl -n {namespace} get pods -l {selector} -o wide");
    let slices = format!("kubectl -n {namespace} get endpointslice -l kubernetes.io/service-name={name}");
    match lack {
        Lack::NoSelector => Dropped::new(
            sees,
            Because::new("trace.repair.no_selector").with("service", name),
            format!("kubectl -n {namespace} get service {name} -o yaml"),
        ),
        Lack::NoPods => Dropped::new(
            sees,
            Because::new("trace.repair.no_pods").with("namespace", namespace),
            format!("kubectl -n {namespace} get deployments,pods"),
        ),
        Lack::NoMatch => Dropped::new(
            sees,
            Because::new("trace.repair.no_match").with("selector", selector).with("service", name),
            format!("kubectl -n {namespace} get pods --show-labels"),
        ),
        Lack::NotMade(maker, wanted) => {
            let kind = maker.kind.printed();
            let repair = match wanted {
                0 => Because::new("trace.repair.none_wanted"),
                _ => Because::new("trace.repair.not_made"),
            };
            let repair =
                repair.with("kind", maker.kind.name()).with("name", &maker.name).with("count", wanted);
            Dropped::new(sees, repair, format!("kubectl -n {namespace} get {kind} {}", maker.name))
        }
        Lack::NoneReady(pod, reason) => {
            let command = match reason.key {
                "trace.unready.no_node" | "trace.unready.waiting" | "trace.unready.probe" => {
                    format!("kubectl -n {namespace} describe pod {pod}")
                }
                "trace.unready.ended" => format!("kubectl -n {namespace} logs --previous {pod}"),
                _ => pods_wide,
            };
            let repair = match reason.key {
                "trace.unready.no_node" => Because::new("trace.repair.no_node"),
                "trace.unready.waiting" => match reason.args.first().map(|(_, value)| value.as_str()) {
                    Some("ContainerCreating" | "PodInitializing") => Because::new("trace.repair.starting"),
                    _ => Because::new("trace.repair.waiting"),
                },
                "trace.unready.probe" => Because::new("trace.repair.probe"),
                "trace.unready.ended" => Because::new("trace.repair.ended"),
                _ => Because::new("trace.repair.starting"),
            };
            Dropped::new(sees, repair.with("pod", pod), command)
        }
        Lack::NoNamedPort(port) => Dropped::new(
            sees,
            Because::new("trace.repair.named_port").with("port", port).with("service", name),
            format!("kubectl -n {namespace} get service {name} -o yaml"),
        ),
        Lack::NotListed => Dropped::soon(sees, 2, Because::new("trace.repair.not_listed"), slices),
        Lack::NotLoaded => match loader {
            Loader::Controller => {
                Dropped::soon(sees, 1, Because::new("trace.repair.controller_loads"), slices)
            }
            Loader::Proxy(node) => lagging_proxy(input, node, sees),
        },
    }
}

/// A proxy that does not know yet, or never will while it does not run.
fn lagging_proxy(input: &TraceInput<'_>, node: &str, sees: Sees) -> Dropped {
    let command = format!("kubectl -n kube-system get pods --field-selector spec.nodeName={node} -o wide");
    if proxy::running_on(input.store, node).is_some() {
        Dropped::soon(sees, 1, Because::new("trace.repair.proxy_loads").with("node", node), command)
    } else {
        Dropped::new(sees, Because::new("trace.repair.proxy_stopped").with("node", node), command)
    }
}

/// Says so when the node forwards by a table that is behind the store.
fn note_staleness(input: &TraceInput<'_>, hop: &mut Hop, node: &str, programmed: &Programmed) {
    debug_assert!(hop.result == HopResult::Pass);
    let newest = Snapshot::take(input.store, &programmed.snapshot.key());
    if newest.is_some_and(|newest| newest.is_same(&programmed.snapshot)) {
        return;
    }
    let tick = input.shown(programmed.tick);
    let note = match proxy::running_on(input.store, node) {
        Some(_) => Because::new("trace.note.proxy_behind"),
        None => Because::new("trace.note.proxy_stale"),
    };
    hop.notes.push(note.with("node", node).with("tick", tick));
}

/// The node that has the address.
fn node_with(input: &TraceInput<'_>, address: &str) -> Option<Name> {
    let has = |node: &&std::sync::Arc<Node>| node.status.addresses.iter().any(|a| a.address == address);
    input.store.list::<Node>().find(has).map(|node| node.meta.name.clone())
}

/// The Pod of a node that has a host port, with its address and the container's port.
fn host_port(input: &TraceInput<'_>, node: &str, port: i32) -> Option<(ObjectKey, String, i32)> {
    input.store.pods_on(node).filter(|pod| !pod.spec.host_network && !pod.status.pod_ip.is_empty()).find_map(
        |pod| {
            let mut ports = pod.spec.containers.iter().flat_map(|container| &container.ports);
            let found = ports.find(|p| p.host_port == port && protocol_of(&p.protocol) == "TCP")?;
            Some((pod.key(), pod.status.pod_ip.to_string(), found.container_port))
        },
    )
}

fn ready_nodes(input: &TraceInput<'_>) -> Vec<Name> {
    input.store.list::<Node>().filter(|node| node.is_ready()).map(|node| node.meta.name.clone()).collect()
}

/// The Service that has the address, by the tables of the nodes or else by the store.
fn owner_of(input: &TraceInput<'_>, address: &str) -> Option<(ObjectKey, AddressKind)> {
    let programmed = input.proxies.values().find_map(|table| table.by_address(address));
    if let Some((programmed, kind)) = programmed {
        return Some((programmed.snapshot.key(), kind));
    }
    input.store.list::<Service>().find_map(|service| {
        let kind = address_kind(service, address)?;
        Some((ObjectKey::new(Kind::Service, service.meta.namespace.clone(), service.meta.name.clone()), kind))
    })
}
