//! What Pods use, as the metrics server of the cluster measures it: memory and processor time of every container.
//!
//! The memory is that of the processes. A process that serves uses next to no processor time; one that computes or spins
//! uses a whole processor, and a client that requests without rest makes the Pods behind its Service work.
//!
//! Models: `metrics.k8s.io/v1beta1 PodMetrics` as metrics-server serves it (a Pod is measured once all its containers
//! have run for one window).
//! Leaves out: measured noise; the processor time that single requests cost a known application, but for the example
//! that is made to be loaded.

use std::collections::BTreeMap;

use imbl::OrdMap;

use super::actor::Actor;
use super::component::{Component, Memory, View};
use super::runtime::node::{NodeRuntime, RunningPod};
use super::runtime::registry;
use crate::api::kind::Kind;
use crate::api::kinds::networking::{EndpointSlice, Service};
use crate::api::kinds::pod::{Container, Pod};
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::{Object, Resource};
use crate::api::quantity::Quantity;
use crate::api::time::Timestamp;

/// How long all containers of a Pod must have run before the Pod is measured, in seconds.
pub const WINDOW_SECONDS: i64 = 15;

/// What a process that serves, and nothing more, uses of a processor.
const IDLE_MILLICORES: i64 = 1;
/// What one request costs the example that is made to be loaded, and any other application, in thousandths of a
/// processor and a second.
const COSTS: [(&str, i64); 1] = [("registry.k8s.io/hpa-example", 12)];
const COST: i64 = 1;
/// What a client needs for one request, in milliseconds.
const REQUEST_MILLISECONDS: i64 = 10;

/// What a running container uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Processor time, in thousandths of a processor.
    pub cpu_millicores: i64,
    /// Memory.
    pub memory_bytes: i64,
}

impl Used {
    /// Adds what another one uses.
    pub fn add(&mut self, other: Self) {
        self.cpu_millicores += other.cpu_millicores;
        self.memory_bytes += other.memory_bytes;
    }
}

/// What runs on the nodes, for whoever measures; nothing where nobody does.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nodes<'a>(Option<&'a OrdMap<Actor, Component>>);

impl<'a> Nodes<'a> {
    /// Those of a cluster's components.
    pub fn of(components: &'a OrdMap<Actor, Component>) -> Self {
        Self(Some(components))
    }

    fn runtime(&self, node: &Name) -> Option<&'a NodeRuntime> {
        match &self.0?.get(&Actor::Kubelet(node.clone()))?.memory {
            Memory::Kubelet(memory) => Some(&memory.runtime),
            _ => None,
        }
    }

    fn pod(&self, pod: &Pod) -> Option<&'a RunningPod> {
        let running = self.runtime(&pod.node_name)?.pod(&pod.key())?;
        (running.uid == pod.meta.uid).then_some(running)
    }
}

/// Somebody who sends requests to a Service over and over.
#[derive(Debug)]
struct Client {
    service: ObjectKey,
    requests_per_second: i64,
}

/// The clients of the cluster's Services, found in the commands of the Pods that run.
#[derive(Debug, Default)]
pub struct Load {
    by_service: BTreeMap<ObjectKey, i64>,
}

impl Load {
    /// What the Pods of the store send.
    pub fn of(view: &View<'_>) -> Self {
        let mut load = Self::default();
        for pod in view.store.list::<Pod>().filter(|pod| pod.status.phase == "Running") {
            for container in &pod.spec.containers {
                if let Some(client) = client_of(&pod.meta.namespace, container) {
                    *load.by_service.entry(client.service).or_default() += client.requests_per_second;
                }
            }
        }
        load
    }

    /// The requests that reach one Pod in a second.
    pub fn requests_to(&self, view: &View<'_>, pod: &Pod) -> i64 {
        let share = |(key, requests): (&ObjectKey, &i64)| {
            let service = view.store.at::<Service>(key)?;
            let slices = view.store.owned_by(&service.meta.uid).filter_map(Object::get::<EndpointSlice>);
            let ready: Vec<_> = slices
                .flat_map(|slice| &slice.endpoints)
                .filter(|endpoint| endpoint.is_ready())
                .filter_map(|endpoint| endpoint.target_ref.as_ref())
                .collect();
            let is_among = ready.iter().any(|target| target.uid == pod.meta.uid);
            let count = i64::try_from(ready.len()).unwrap_or(i64::MAX).max(1);
            is_among.then_some(requests / count)
        };
        let here = self.by_service.iter().filter(|(key, _)| key.namespace == pod.meta.namespace);
        here.filter_map(share).sum()
    }
}

/// The client that a container's command makes of it: a loop that fetches from a Service without much rest.
fn client_of(namespace: &Name, container: &Container) -> Option<Client> {
    if !container.command.iter().chain(&container.args).any(|word| word.contains("http://")) {
        return None;
    }
    let text = container.command.iter().chain(&container.args).cloned().collect::<Vec<_>>().join(" ");
    let loops = text.contains("while ") || text.contains("until ");
    let fetches = text.contains("wget ") || text.contains("curl ");
    if !loops || !fetches {
        return None;
    }
    let (_, address) = text.split_once("http://")?;
    let host = address.split(['/', ':', ' ', ';', '"', '\'']).next()?;
    let mut labels = host.split('.');
    let service = labels.next().filter(|name| !name.is_empty())?;
    let namespace = labels.next().map_or_else(|| namespace.clone(), Name::from);
    let rest_milliseconds = text.split_once("sleep ").map_or(0, |(_, rest)| {
        let word = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next().unwrap_or_default();
        let (whole, part) = word.split_once('.').unwrap_or((word, ""));
        let part: String = part.chars().chain("000".chars()).take(3).collect();
        whole.parse::<i64>().unwrap_or(0).saturating_mul(1000) + part.parse::<i64>().unwrap_or(0)
    });
    Some(Client {
        service: ObjectKey::new(Kind::Service, namespace, service),
        requests_per_second: 1000 / (rest_milliseconds + REQUEST_MILLISECONDS),
    })
}

/// What a container would use of a processor if nothing held it, beside what requests cost.
fn computing_millicores(container: &Container) -> i64 {
    let words: Vec<&str> = container.command.iter().chain(&container.args).map(String::as_str).collect();
    let text = words.join(" ");
    if words.iter().any(|word| word.ends_with("stress") || word.ends_with("stress-ng"))
        || container.image.contains("stress")
    {
        let place = words.iter().position(|word| matches!(*word, "--cpu" | "-c" | "-cpus" | "--cpus"));
        let workers =
            place.and_then(|place| words.get(place + 1)).and_then(|count| count.parse::<i64>().ok());
        return workers.unwrap_or(0).saturating_mul(1000).max(IDLE_MILLICORES);
    }
    let spins = (text.contains("while true") || text.contains("while :")) && !text.contains("sleep");
    let is_client = text.contains("wget ") || text.contains("curl ");
    let burns = ["yes >", "/dev/zero", "/dev/urandom", "md5sum"].iter().any(|word| text.contains(word));
    if (spins && !is_client) || burns { 1000 } else { IDLE_MILLICORES }
}

/// What each running container of a Pod uses, by name, in the order of the spec.
pub fn of_pod(nodes: Nodes<'_>, pod: &Pod, requests_per_second: i64) -> Vec<(String, Used)> {
    let Some(running) = nodes.pod(pod) else { return Vec::new() };
    let of_container = |container: &Container| {
        let process = &running.container(&container.name)?.process;
        process.is_running().then(|| {
            let repository = registry::repository(&container.image);
            let cost = COSTS.iter().find(|(known, _)| *known == repository).map_or(COST, |(_, cost)| *cost);
            let wanted = computing_millicores(container) + cost * requests_per_second;
            let limit = container.resources.limits.get("cpu").map_or(i64::MAX, Quantity::milli);
            let memory_bytes = process.program.memory_bytes.max(1 << 20);
            (container.name.clone(), Used { cpu_millicores: wanted.min(limit), memory_bytes })
        })
    };
    pod.spec.containers.iter().filter_map(of_container).collect()
}

/// The measured use of a Pod; nothing while it has not been measured.
pub fn measured(view: &View<'_>, load: &Load, pod: &Pod) -> Option<Vec<(String, Used)>> {
    let running = view.nodes.pod(pod)?;
    let has_run = |container: &Container| {
        let process = running.container(&container.name).map(|running| &running.process);
        process.is_some_and(|process| {
            process.is_running() && process.started_at.0 + WINDOW_SECONDS <= view.now.0
        })
    };
    pod.spec.containers.iter().all(has_run).then(|| of_pod(view.nodes, pod, load.requests_to(view, pod)))
}

/// When what is told now was measured.
pub fn measured_at(view: &View<'_>) -> Timestamp {
    view.now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use serde_json::{Value, json};

    fn container(value: Value) -> Container {
        Container::decode(value).unwrap()
    }

    #[test]
    fn a_loop_that_fetches_is_a_client_of_its_service() {
        let table = [
            (
                "the walkthrough's",
                "while sleep 0.01; do wget -q -O- http://php-apache; done",
                Some(("demo", "php-apache", 50)),
            ),
            (
                "another namespace",
                "while true; do curl -s http://web.shop:8080/x; done",
                Some(("shop", "web", 100)),
            ),
            (
                "once in five seconds",
                "while true; do curl http://web/; sleep 5; done",
                Some(("demo", "web", 0)),
            ),
            ("once", "curl http://web/", None),
            ("no request", "while true; do date; sleep 1; done", None),
        ];
        for (sentence, script, expected) in table {
            let container = container(json!({"name": "c", "command": ["sh", "-c", script]}));
            let found = client_of(&"demo".into(), &container);
            let found = found.as_ref().map(|client| {
                (&*client.service.namespace, &*client.service.name, client.requests_per_second)
            });
            assert_eq!(found, expected, "{sentence}");
        }
    }

    #[test]
    fn what_computes_uses_whole_processors() {
        let table = [
            ("a server", json!({"image": "nginx"}), 1),
            (
                "two workers",
                json!({"image": "polinux/stress", "command": ["stress"], "args": ["--cpu", "2"]}),
                2000,
            ),
            (
                "memory only",
                json!({"image": "polinux/stress", "command": ["stress"], "args": ["--vm", "1"]}),
                1,
            ),
            ("a loop without rest", json!({"command": ["sh", "-c", "while true; do :; done"]}), 1000),
            ("a loop that sleeps", json!({"command": ["sh", "-c", "while true; do date; sleep 1; done"]}), 1),
            ("a pipe that never ends", json!({"command": ["sh", "-c", "yes > /dev/null"]}), 1000),
        ];
        for (sentence, value, expected) in table {
            assert_eq!(computing_millicores(&container(value)), expected, "{sentence}");
        }
    }
}
