//! The hop that turns a host into an address: external DNS from outside, cluster DNS from a Pod.

use super::hop::{Candidate, Dropped, Evidence, Hop, Outcome, Sees, Stage, Verdict};
use super::{Journey, TraceInput, pods};
use crate::api::kind::Kind;
use crate::api::kinds::networking::Service;
use crate::api::kinds::pod::Pod;
use crate::api::meta::ObjectKey;
use crate::cluster::because::Because;
use crate::cluster::network::dns::{self, Answer, Attempt, Source};
use crate::cluster::network::endpoints::{Choice, Entry};
use crate::cluster::network::programs::Program;

/// The address of cluster DNS that kubelets write into a Pod's resolv.conf.
const CLUSTER_DNS: &str = "10.96.0.10";

impl Journey<'_> {
    /// The address that external DNS gives for the host.
    pub(super) fn resolve_outside(&mut self) -> Result<String, Outcome> {
        let Some(mut hop) = self.begin_names() else { return Ok(self.request.url.host.clone()) };
        let host = &self.request.url.host;
        if let Some((record, address)) = self.input.world.resolve(host) {
            hop.finding = Because::new("trace.dns.resolved").with("host", host).with("address", address);
            hop.candidates.push(Candidate {
                name: record.to_string(),
                object: None,
                cells: Vec::new(),
                verdict: Verdict::Used,
                reason: Because::new("trace.dns.record").with("address", address),
            });
            self.push(hop);
            return Ok(address.to_string());
        }
        let inside = self.service_meant(host);
        let repair = match inside {
            Some(_) => {
                hop.finding = Because::new("trace.dns.inside_only").with("host", host);
                Because::new("trace.dns.repair_inside")
            }
            None => {
                hop.finding = Because::new("trace.dns.unknown").with("host", host);
                Because::new("trace.dns.repair_record").with("host", host)
            }
        };
        self.drop_at(hop, Dropped::new(Sees::NoSuchName, repair, "kubectl get ingress -A"))
    }

    /// The address that the resolver of a Pod finds for the host.
    pub(super) fn resolve_inside(&mut self, pod: &Pod) -> Result<String, Outcome> {
        let spec = &pod.spec;
        let asks_node = match spec.dns_policy.as_str() {
            "Default" => true,
            "ClusterFirstWithHostNet" | "None" => false,
            _ => spec.host_network,
        };
        if asks_node {
            return self.resolve_outside();
        }
        let Some(mut hop) = self.begin_names() else { return Ok(self.request.url.host.clone()) };
        if spec.dns_policy == "None" {
            hop.finding = Because::new("trace.dns.own_configuration");
            return self.cannot_tell(hop);
        }
        let host = &self.request.url.host;
        let server = self.find_name_server(&mut hop, pod)?;
        let Some(zone) = self.input.dns else {
            return self.no_name_server(hop, Because::new("trace.dns.not_running"));
        };
        let resolution = zone.resolve(self.input.world, &pod.meta.namespace, host);
        let last = resolution.attempts.len().saturating_sub(1);
        for (index, attempt) in resolution.attempts.iter().enumerate() {
            let used = index == last && !resolution.addresses.is_empty();
            hop.candidates.push(candidate_of(attempt, used));
        }
        if resolution.addresses.is_empty() {
            hop.finding = Because::new("trace.dns.nxdomain").with("host", host).with("server", server);
            let dropped = self.name_missing(zone, &pod.meta.namespace);
            return self.drop_at(hop, dropped);
        }
        let address = resolution.addresses[self.turn(resolution.addresses.len(), false)].clone();
        let name = &resolution.attempts[last].name;
        if let Some(snapshot) = zone.service_at(name) {
            hop.evidence.push(Evidence::new(&snapshot.key(), "spec.clusterIP"));
        }
        hop.finding = Because::new("trace.dns.answered")
            .with("name", name)
            .with("address", &address)
            .with("server", server);
        self.push(hop);
        Ok(address)
    }

    /// The hop, or nothing when there is nothing to resolve.
    fn begin_names(&mut self) -> Option<Hop> {
        let host = &self.request.url.host;
        let mut hop = Hop::new(Stage::Dns, Because::new("trace.dns.question").with("host", host));
        if self.request.url.is_address() {
            hop.finding = Because::new("trace.dns.literal").with("host", host);
            self.push(hop);
            return None;
        }
        hop.leaves_out.push(Because::new("trace.leaves.dns"));
        Some(hop)
    }

    /// The CoreDNS Pod that the question goes to, by the node's table.
    fn find_name_server(&mut self, hop: &mut Hop, pod: &Pod) -> Result<String, Outcome> {
        let key = ObjectKey::new(Kind::Service, "kube-system", "kube-dns");
        hop.evidence.push(Evidence::new(&key, "spec.clusterIP"));
        let input: &TraceInput<'_> = self.input;
        let table = input.proxies.get(&pod.node_name);
        let found = table.and_then(|table| table.by_address(CLUSTER_DNS));
        let Some((programmed, _)) = found else {
            let finding = Because::new("trace.dns.not_programmed").with("node", &pod.node_name);
            return self.no_name_server(hop.clone(), finding);
        };
        let snapshot = &programmed.snapshot;
        let Some(port) = snapshot.port(53, "UDP") else {
            return self.no_name_server(hop.clone(), Because::new("trace.dns.no_port"));
        };
        let Choice::Any(backends) = snapshot.choose(port, &pod.node_name, "", Entry::Internal) else {
            let look = pods::look(input, &snapshot.service, Some(port), Some(snapshot), None);
            (hop.columns, hop.candidates) = (look.columns, look.candidates);
            return self.no_name_server(hop.clone(), Because::new("trace.dns.no_endpoint"));
        };
        let backend = &backends[self.turn(backends.len(), false)];
        let runs = self.pod_at(&backend.address).is_some_and(|pod| Program::CoreDns.runs_in(pod));
        if !runs {
            let finding = Because::new("trace.dns.silent").with("socket", backend.socket());
            return self.no_name_server(hop.clone(), finding);
        }
        let name = backend.pod.as_ref().map_or_else(|| backend.address.clone(), |pod| pod.name.to_string());
        Ok(name)
    }

    fn no_name_server<T>(&mut self, mut hop: Hop, finding: Because) -> Result<T, Outcome> {
        hop.finding = finding;
        let repair = Because::new("trace.dns.repair_server");
        let command = "kubectl -n kube-system get pods -l k8s-app=kube-dns -o wide";
        self.drop_at(hop, Dropped::new(Sees::NoNameServer, repair, command))
    }

    /// Why cluster DNS has no such name.
    fn name_missing(&self, zone: &dns::Memory, namespace: &str) -> Dropped {
        let host = &self.request.url.host;
        let store = self.input.store;
        let sees = Sees::NoSuchName;
        let fresh = dns::Memory::of(store);
        if !fresh.resolve(self.input.world, namespace, host).addresses.is_empty() {
            let command = "kubectl get service -A";
            return match zone.stale_since_tick() {
                None => Dropped::soon(sees, 1, Because::new("trace.dns.soon"), command),
                Some(_) => Dropped::new(sees, Because::new("trace.dns.repair_server"), command),
            };
        }
        if let Some(service) = self
            .service_meant(host)
            .filter(|service| *service.meta.namespace == *namespace || host.contains('.'))
        {
            let repair = Because::new("trace.dns.repair_headless").with("service", &service.meta.name);
            let command = format!(
                "kubectl -n {} get endpointslice -l kubernetes.io/service-name={}",
                service.meta.namespace, service.meta.name
            );
            return Dropped::new(sees, repair, command);
        }
        let first = host.split('.').next().unwrap_or_default();
        let elsewhere = store.list::<Service>().find(|service| *service.meta.name == *first);
        if let Some(service) = elsewhere {
            let repair = Because::new("trace.dns.repair_namespace")
                .with("service", &service.meta.name)
                .with("namespace", &service.meta.namespace);
            return Dropped::new(sees, repair, format!("kubectl -n {} get service", service.meta.namespace));
        }
        let repair = Because::new("trace.dns.repair_none").with("host", host);
        Dropped::new(sees, repair, format!("kubectl -n {namespace} get service"))
    }

    /// The Service that `name`, `name.namespace` or a full name of cluster DNS means.
    fn service_meant(&self, host: &str) -> Option<&Service> {
        let mut labels = host.split('.');
        let name = labels.next()?;
        let namespace = match (labels.next(), labels.next()) {
            (Some(namespace), None | Some("svc")) => namespace,
            (None, _) => match &self.request.from {
                super::Client::Pod(pod) => &pod.namespace,
                super::Client::Outside => "default",
            },
            _ => return None,
        };
        self.input.store.get::<Service>(namespace, name).map(|service| &**service)
    }

    /// The Pod that has that address now, as stored.
    pub(super) fn pod_at(&self, address: &str) -> Option<&Pod> {
        let found = self.input.nodes.values().find_map(|node| node.pod_with_ip(address));
        self.input.pod(found?.0)
    }
}

fn candidate_of(attempt: &Attempt, used: bool) -> Candidate {
    let reason = match (&attempt.answer, attempt.source) {
        (Answer::Records(records), _) if records.is_empty() => Because::new("trace.dns.no_data"),
        (Answer::Records(records), Source::Zone) => {
            Because::new("trace.dns.zone").with("address", records.join(", "))
        }
        (Answer::Records(records), Source::Outside) => {
            Because::new("trace.dns.outside").with("address", records.join(", "))
        }
        (Answer::Alias(alias), _) => Because::new("trace.dns.alias").with("name", alias),
        (Answer::NoName, _) => Because::new("trace.dns.no_name"),
    };
    let verdict = if used { Verdict::Used } else { Verdict::Lost };
    Candidate { name: attempt.name.clone(), object: None, cells: Vec::new(), verdict, reason }
}
