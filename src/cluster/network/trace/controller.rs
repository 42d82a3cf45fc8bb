//! The hops through the Ingress controller: its configuration, the rule, the Service's endpoints as it has loaded them.

use std::sync::Arc;

use super::entry::{Loader, missing_endpoint, named, ports_text};
use super::hop::{Candidate, Cell, Dropped, Evidence, Hop, Outcome, Sees, Stage, Verdict};
use super::{Journey, Target, pods};
use crate::api::kinds::networking::{Ingress, IngressClass, Service};
use crate::api::kinds::pod::Pod;
use crate::api::object::Resource;
use crate::cluster::because::Because;
use crate::cluster::network::endpoints::{Backend, Snapshot};
use crate::cluster::network::ingress::{
    Configuration, Flags, NoUpstream, NotHandled, changes_between, configuration_of, port_of, upstream,
};
use crate::cluster::network::programs::Program;
use crate::cluster::network::routes::{
    BackendReference, Decision, Loss, Route, Winner, decide, host_matches,
};

/// How many endpoints nginx tries before it gives up (`proxy_next_upstream_tries`).
const TRIES: usize = 3;

impl Journey<'_> {
    /// Whether the socket is the Ingress controller's.
    pub(super) fn is_ingress_controller(&self, target: &Target) -> bool {
        let listens = |pod: &Pod| {
            let container = Program::IngressNginx.container_of(pod)?;
            let declared = container.ports.iter().any(|port| port.container_port == target.port);
            (declared || matches!(target.port, 80 | 443)).then_some(())
        };
        self.pod_at(&target.address)
            .is_some_and(|pod| Program::IngressNginx.runs_in(pod) && listens(pod).is_some())
    }

    /// Through the controller's rules to an endpoint and its answer.
    pub(super) fn through_controller(&mut self, target: &Target) -> Result<Outcome, Outcome> {
        let Some(pod) = self.pod_at(&target.address).cloned() else {
            return self.meet_pod(target);
        };
        let configuration = self.controller_hop(&pod)?;
        let (backend, route) = self.rule_hop(&pod, &configuration)?;
        let endpoints = self.service_hop(&configuration, &backend, route.as_ref())?;
        self.meet_upstream(&endpoints)
    }

    fn controller_hop(&mut self, pod: &Pod) -> Result<Arc<Configuration>, Outcome> {
        let mut hop = Hop::new(Stage::Controller, Because::new("trace.controller.question"));
        hop.subject = pod.meta.name.to_string();
        hop.leaves_out.push(Because::new("trace.leaves.tls"));
        hop.leaves_out.push(Because::new("trace.leaves.annotations"));
        hop.evidence.push(Evidence::new(&pod.key(), "status.containerStatuses"));
        let Some(loaded) = self.input.ingress.and_then(|memory| memory.instance(&pod.key())).cloned() else {
            hop.finding = Because::new("trace.controller.nothing").with("pod", &pod.meta.name);
            let command = format!("kubectl -n {} get pods -o wide", pod.meta.namespace);
            let repair = Because::new("trace.controller.soon");
            return self.drop_at(hop, Dropped::soon(Sees::Status(404), 1, repair, command));
        };
        let fresh = configuration_of(self.input.store, &Flags::of(pod), loaded.loaded_tick);
        let is_current = changes_between(Some(&loaded), &fresh).is_empty();
        let finding = match is_current {
            true => Because::new("trace.controller.current"),
            false => Because::new("trace.controller.behind"),
        };
        hop.finding = finding
            .with("tick", self.input.shown(loaded.loaded_tick))
            .with("ingresses", loaded.ingresses.len());
        self.push(hop);
        Ok(loaded)
    }

    /// The backend that the request is sent to, and the rule that says so.
    fn rule_hop(
        &mut self,
        pod: &Pod,
        configuration: &Configuration,
    ) -> Result<(BackendReference, Option<Route>), Outcome> {
        let (host, path) = (self.request.host_header().to_string(), self.request.url.path.clone());
        let question = Because::new("trace.rule.question").with("host", &host).with("path", &path);
        let mut hop = Hop::new(Stage::Rule, question);
        hop.columns = vec![
            Because::new("trace.column.host"),
            Because::new("trace.column.type"),
            Because::new("trace.column.ingress"),
        ];
        let Decision { winner, losers } = decide(&configuration.ingresses, &host, &path);
        let flags = Flags::of(pod);
        if let Winner::Route(route) = &winner {
            let reason = Because::new("trace.rule.taken");
            hop.candidates.push(rule_candidate(route, Verdict::Used, reason));
        }
        hop.candidates
            .extend(losers.iter().map(|(route, loss)| rule_candidate(route, Verdict::Lost, loss_text(loss))));
        let absent = self.not_loaded(&flags, configuration);
        for (ingress, reason) in &absent {
            let routes = crate::cluster::network::routes::routes_of([ingress]);
            hop.candidates
                .extend(routes.iter().map(|route| rule_candidate(route, Verdict::LeftOut, reason.clone())));
        }
        let (backend, route) = match winner {
            Winner::Route(route) => {
                hop.evidence.push(Evidence::new(&route.ingress, &route.field));
                hop.finding = Because::new("trace.rule.won")
                    .with("path", &route.path)
                    .with("type", route.path_type.word())
                    .with("ingress", named(&route.ingress));
                (route.backend.clone(), Some(route))
            }
            Winner::DefaultBackend(ingress, backend) => {
                hop.evidence.push(Evidence::new(&ingress, "spec.defaultBackend"));
                hop.finding = Because::new("trace.rule.default").with("ingress", named(&ingress));
                (Some(backend), None)
            }
            Winner::Nowhere => (None, None),
        };
        let Some(backend) = backend else {
            hop.finding = Because::new("trace.rule.nowhere");
            let dropped = self.rule_missing(&absent, configuration);
            return self.drop_at(hop, dropped);
        };
        if self.request.url.scheme == "http" && is_redirected(configuration, &host) {
            hop.finding = Because::new("trace.rule.redirect").with("host", &host);
            let repair = Because::new("trace.rule.repair_redirect");
            let namespace = &backend.service.namespace;
            let command = format!("kubectl -n {namespace} get ingress -o yaml");
            return self.drop_at(hop, Dropped::new(Sees::Status(308), repair, command));
        }
        self.push(hop);
        Ok((backend, route))
    }

    /// Ingresses of the store that the controller does not serve, and why.
    fn not_loaded(&self, flags: &Flags, configuration: &Configuration) -> Vec<(Arc<Ingress>, Because)> {
        let store = self.input.store;
        let mut absent = Vec::new();
        for ingress in store.list::<Ingress>() {
            let reason = match flags.handle(store, ingress) {
                Ok(())
                    if configuration
                        .ingresses
                        .iter()
                        .any(|loaded| loaded.spec == ingress.spec && loaded.key() == ingress.key()) =>
                {
                    continue;
                }
                Ok(()) => Because::new("trace.loss.not_loaded"),
                Err(NotHandled::NoClass) => Because::new("trace.loss.no_class"),
                Err(NotHandled::ClassMissing(class)) => {
                    Because::new("trace.loss.class_missing").with("class", class)
                }
                Err(NotHandled::OtherController { class, controller }) => {
                    Because::new("trace.loss.other_controller")
                        .with("class", class)
                        .with("controller", controller)
                }
                Err(NotHandled::OtherAnnotation(class)) => {
                    Because::new("trace.loss.other_annotation").with("class", class)
                }
            };
            absent.push((ingress.clone(), reason));
        }
        absent
    }

    /// Why no rule takes the request, and what helps.
    fn rule_missing(&self, absent: &[(Arc<Ingress>, Because)], configuration: &Configuration) -> Dropped {
        let (host, path) = (self.request.host_header(), &self.request.url.path);
        let sees = Sees::Status(404);
        let would_take = |ingress: &Arc<Ingress>| {
            let decision = decide(std::slice::from_ref(ingress), host, path);
            decision.winner != Winner::Nowhere
        };
        if let Some((ingress, reason)) = absent.iter().find(|(ingress, _)| would_take(ingress)) {
            let (namespace, name) = (&ingress.meta.namespace, &ingress.meta.name);
            let command = format!("kubectl -n {namespace} get ingress {name}");
            let known: Vec<String> =
                self.input.store.list::<IngressClass>().map(|class| class.meta.name.to_string()).collect();
            if reason.key == "trace.loss.not_loaded" {
                return Dropped::soon(sees, 1, Because::new("trace.rule.soon"), command);
            }
            let repair = Because::new("trace.rule.repair_class")
                .with("ingress", named(&ingress.key()))
                .with("classes", known.join(", "));
            return Dropped::new(sees, repair, "kubectl get ingressclass");
        }
        let all = configuration.ingresses.iter().chain(absent.iter().map(|(ingress, _)| ingress));
        let hosts: Vec<&str> = all.flat_map(|i| &i.spec.rules).map(|rule| rule.host.as_str()).collect();
        let repair = if hosts.is_empty() {
            Because::new("trace.rule.repair_none").with("host", host).with("path", path)
        } else if hosts.iter().any(|rule| host_matches(rule, host)) {
            Because::new("trace.rule.repair_path").with("host", host).with("path", path)
        } else {
            Because::new("trace.rule.repair_host").with("host", host)
        };
        Dropped::new(sees, repair, "kubectl get ingress -A")
    }

    /// The ready endpoints of a backend, in the order in which nginx tries them.
    fn service_hop(
        &mut self,
        configuration: &Configuration,
        backend: &BackendReference,
        route: Option<&Route>,
    ) -> Result<Vec<Backend>, Outcome> {
        let input = self.input;
        let key = &backend.service;
        let name = named(key);
        let question =
            Because::new("trace.service.question").with("service", &name).with("port", backend.port_text());
        let mut hop = Hop::new(Stage::Service, question);
        hop.subject = format!("{}:{}", key.name, backend.port_text());
        hop.leaves_out.push(Because::new("trace.leaves.policy"));
        if let Some(route) = route {
            hop.evidence.push(Evidence::new(&route.ingress, format!("{}.backend", route.field)));
        }
        let loaded = configuration.snapshot(key);
        let get = format!("kubectl -n {} get service {}", key.namespace, key.name);
        let sees = Sees::Status(503);
        let stored = Snapshot::take(input.store, key);
        let Some(service) = stored.as_ref().or(loaded).map(|snapshot| snapshot.service.clone()) else {
            hop.finding = Because::new("trace.service.missing").with("service", &name);
            let others: Vec<String> =
                input.store.list_in::<Service>(&key.namespace).map(|s| s.meta.name.to_string()).collect();
            let repair = match others.is_empty() {
                true => Because::new("trace.service.repair_missing").with("service", &key.name),
                false => Because::new("trace.service.repair_named")
                    .with("service", &key.name)
                    .with("others", others.join(", ")),
            };
            return self.drop_at(
                hop,
                Dropped::new(sees, repair, format!("kubectl -n {} get service", key.namespace)),
            );
        };
        hop.evidence.push(Evidence::new(key, "spec.ports"));
        let fresh = upstream(stored.as_ref(), backend);
        let result = upstream(loaded, backend);
        if service.spec.service_type == "ExternalName" && result.is_ok() {
            hop.finding = Because::new("trace.service.external").with("name", &service.spec.external_name);
            if input.world.resolve(&service.spec.external_name).is_none() {
                let repair =
                    Because::new("trace.service.repair_external").with("name", &service.spec.external_name);
                return self.drop_at(hop, Dropped::new(Sees::Status(502), repair, get));
            }
            return self.cannot_tell(hop);
        }
        let port = port_of(&service, backend);
        let mut order = result.clone().unwrap_or_default();
        let turn = self.turn(order.len(), false);
        order.rotate_left(turn);
        let look = pods::look(input, &service, port, loaded, order.first());
        (hop.columns, hop.candidates) = (look.columns, look.candidates);
        let Err(lack) = result else {
            hop.finding = Because::new("trace.service.passes")
                .with("ready", order.len())
                .with("socket", order.first().map(Backend::socket).unwrap_or_default());
            self.push(hop);
            return Ok(order);
        };
        hop.finding = match (&lack, port) {
            (NoUpstream::NoService, _) => Because::new("trace.service.missing_yet").with("service", &name),
            (NoUpstream::NoPort, None) | (_, None) => Because::new("trace.service.no_port")
                .with("service", &name)
                .with("port", backend.port_text())
                .with("ports", ports_text(&service)),
            (_, Some(_)) => Because::new("trace.service.no_endpoint"),
        };
        let dropped = match (fresh, port) {
            (Ok(_), _) if lack == NoUpstream::NoEndpoint => {
                missing_endpoint(input, &service, &pods::Lack::NotLoaded, sees, &Loader::Controller)
            }
            (Ok(_), _) => Dropped::soon(sees, 1, Because::new("trace.repair.controller_loads"), get),
            (Err(_), None) => {
                let repair = Because::new("trace.service.repair_port").with("ports", ports_text(&service));
                Dropped::new(sees, repair, get)
            }
            (Err(_), Some(_)) => missing_endpoint(input, &service, &look.lack, sees, &Loader::Controller),
        };
        self.drop_at(hop, dropped)
    }

    /// Tries endpoints until one of them answers, as nginx does.
    fn meet_upstream(&mut self, endpoints: &[Backend]) -> Result<Outcome, Outcome> {
        let tried: Vec<Target> = endpoints
            .iter()
            .take(TRIES)
            .map(|backend| Target { address: backend.address.clone(), port: backend.port })
            .collect();
        self.meet_first(&tried)
    }
}

/// Whether the controller redirects plain HTTP for the host: one of its Ingresses has a TLS section for it.
fn is_redirected(configuration: &Configuration, host: &str) -> bool {
    let forbids = |ingress: &&Arc<Ingress>| {
        let annotation = ingress.meta.annotations.get("nginx.ingress.kubernetes.io/ssl-redirect");
        annotation.is_some_and(|value| value == "false")
    };
    let mut with_tls = configuration.ingresses.iter().filter(|ingress| {
        ingress.spec.tls.iter().flat_map(|tls| &tls.hosts).any(|tls_host| host_matches(tls_host, host))
    });
    with_tls.any(|ingress| !forbids(&ingress))
}

fn rule_candidate(route: &Route, verdict: Verdict, reason: Because) -> Candidate {
    let plain = |text: &str| Cell::plain(Because::new("trace.cell.text").with("text", text));
    let host = if route.host.is_empty() { "*" } else { &route.host };
    Candidate {
        name: route.path.clone(),
        object: Some(route.ingress.clone()),
        cells: vec![plain(host), plain(route.path_type.word()), plain(&named(&route.ingress))],
        verdict,
        reason,
    }
}

fn loss_text(loss: &Loss) -> Because {
    match loss {
        Loss::HostDiffers => Because::new("trace.loss.host_differs"),
        Loss::HostLessPrecise => Because::new("trace.loss.host_less_precise"),
        Loss::PathDiffers => Because::new("trace.loss.path_differs"),
        Loss::Shorter => Because::new("trace.loss.shorter"),
        Loss::NotExact => Because::new("trace.loss.not_exact"),
        Loss::Shadowed(ingress) => Because::new("trace.loss.shadowed").with("ingress", named(ingress)),
    }
}
