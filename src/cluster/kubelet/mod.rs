//! The kubelet of one node: runs the Pods bound to it and reports what became of them.
//!
//! A key is a Pod. Each look compares what the Pod's spec asks for with what runs on the node, makes the next move, and
//! writes the status if it differs. Pulls, exits, probes and waits bring the Pod up again at the tick in which they are due;
//! in between, a steady Pod needs no work.
//!
//! Models: `pkg/kubelet` (v1.36): `pod_workers.go`, `kuberuntime/kuberuntime_manager.go`, `images/image_manager.go`,
//! `prober`, `status`. Leaves out: static Pods, resizing.

mod addresses;
mod admission;
pub mod back_off;
mod environment;
mod eviction;
mod heartbeat;
mod hooks;
pub mod probes;
mod reach;
pub mod restarts;
pub mod status;
mod sync;
mod volumes;
mod worker;

use std::sync::Arc;

use imbl::OrdMap;

use self::addresses::Addresses;
use self::admission::Asked;
pub use self::environment::environment as environment_of;
use self::eviction::Pressure;
pub use self::reach::{answer_to, endpoint_of, service_of};
pub use self::restarts::{ephemeral_containers, ephemeral_statuses};
pub use self::volumes::{USUAL_FILES, usual_file};
use self::worker::Worker;
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Resource;
use crate::api::time::Timestamp;
use crate::cluster::actor::Actor;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::rng::Stream;
use crate::cluster::runtime::node::NodeRuntime;
use crate::cluster::runtime::process::{Ailment, Deed};
use crate::cluster::store::Change;

/// What a kubelet keeps to itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// What runs on its node.
    pub runtime: NodeRuntime,
    workers: OrdMap<ObjectKey, Arc<Worker>>,
    addresses: Addresses,
    pressure: Pressure,
    /// What the Pods ask for that were taken on and are still in the store; some of them may have ended.
    asked: Asked,
}

impl Memory {
    /// Kills every process of a Pod, or of all Pods.
    pub(super) fn kill(&mut self, only: Option<&ObjectKey>, now: Timestamp) {
        let keys: Vec<ObjectKey> = self.runtime.pods.keys().cloned().collect();
        for key in keys.into_iter().filter(|key| only.is_none_or(|only| only == key)) {
            let Some(running) = self.runtime.pods.get_mut(&key) else { continue };
            for run in &mut Arc::make_mut(running).containers {
                match only {
                    Some(_) => run.process.kill(now, 137, "Error"),
                    // Nobody saw how it ended.
                    None => run.process.kill(now, 255, "Unknown"),
                }
            }
            if only.is_none()
                && let Some(worker) = self.workers.get_mut(&key)
            {
                Arc::make_mut(worker).sandbox_lost = true;
            }
        }
    }

    /// Makes the application in a Pod ail, or not any more.
    pub(super) fn ail(&mut self, pod: &Pod, ailment: Option<Ailment>, now: Timestamp) {
        let key = pod.key();
        let Some(running) = self.runtime.pods.get_mut(&key) else { return };
        for run in &mut Arc::make_mut(running).containers {
            let Some(spec) = pod.spec.containers.iter().find(|spec| *spec.name == *run.name) else {
                continue;
            };
            if !run.process.is_running() {
                continue;
            }
            let age = now.seconds_since(run.process.started_at);
            let program = Arc::make_mut(&mut run.process.program);
            match ailment {
                Some(ailment) => program.ail(ailment, age.max(1), spec.memory_limit()),
                None => program.recover(),
            }
            if let Some(worker) = self.workers.get_mut(&key) {
                Arc::make_mut(worker).keeper(&run.name).probe_again();
            }
        }
    }

    /// Changes something inside a running container, as a command does that is run beside its process: files, or its
    /// process gets the signal to stop. Probes look again.
    pub(super) fn change_inside(
        &mut self,
        pod: &ObjectKey,
        container: &str,
        deeds: Vec<Deed>,
        signalled: bool,
        now: Timestamp,
    ) {
        let Some(running) = self.runtime.pods.get_mut(pod) else { return };
        let running = Arc::make_mut(running);
        let Some(run) = running.containers.iter_mut().find(|run| run.name == container) else { return };
        run.process.beside.extend(deeds.into_iter().map(|deed| (now, deed)));
        if signalled {
            run.process.take_signal(now);
        }
        if let Some(worker) = self.workers.get_mut(pod) {
            Arc::make_mut(worker).keeper(container).probe_again();
        }
    }
}

/// The kubelets that a change concerns, with their keys: those of the node that a Pod is bound to. A kubelet knows what it
/// wrote itself, unless that made the object vanish.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<(Actor, WorkKey)> {
    match change.key.kind {
        Kind::Pod => {
            let Some(pod) = change.either_as::<Pod>().filter(|pod| pod.is_bound()) else { return Vec::new() };
            let kubelet = Actor::Kubelet(pod.node_name.clone());
            if change.new.is_some() && change.old.is_some() && change.writer == kubelet {
                return Vec::new();
            }
            vec![(kubelet, WorkKey::Object(change.key.clone()))]
        }
        Kind::ConfigMap | Kind::Secret if change.old.is_some() && change.new.is_some() => {
            let is_secret = change.key.kind == Kind::Secret;
            let pods = view.store.list_in::<Pod>(&change.key.namespace);
            let reads =
                |pod: &&Arc<Pod>| pod.is_bound() && volumes::mounts_config(pod, &change.key.name, is_secret);
            let keyed = |pod: &Arc<Pod>| (Actor::Kubelet(pod.node_name.clone()), WorkKey::Object(pod.key()));
            pods.filter(reads).map(keyed).collect()
        }
        Kind::Node if change.old.is_none() => {
            vec![(Actor::Kubelet(change.key.name.clone()), WorkKey::Heartbeat)]
        }
        _ => Vec::new(),
    }
}

/// Handles one key.
pub fn reconcile(
    node: &Name,
    memory: &mut Memory,
    stream: &mut Stream,
    view: &View<'_>,
    key: &WorkKey,
) -> Outcome {
    match key {
        WorkKey::Heartbeat => {
            let mut outcome = Outcome::default();
            eviction::synchronize(node, memory, view, &mut outcome);
            heartbeat::beat(node, &memory.pressure, view, outcome)
        }
        WorkKey::Sync => start(node, memory, view),
        WorkKey::Object(pod) | WorkKey::Probe(pod) if pod.kind == Kind::Pod => {
            sync::look_at(node, memory, stream, view, pod)
        }
        _ => Outcome::default(),
    }
}

/// The kubelet starts again: it says so, reports the node, and looks at every Pod that it has, or should have.
fn start(node: &Name, memory: &Memory, view: &View<'_>) -> Outcome {
    let mut outcome = heartbeat::start(node, &memory.pressure, view);
    let bound = view.store.pods_on(node).map(|pod| pod.key());
    let mut keys: Vec<ObjectKey> = bound.chain(memory.workers.keys().cloned()).collect();
    keys.sort();
    keys.dedup();
    keys.into_iter().for_each(|key| outcome.look_again(WorkKey::Object(key), 1));
    outcome
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::kinds::event::Event;
    use crate::api::kinds::pod::PodStatus;
    use crate::cluster::machine::Cluster;
    use crate::cluster::server::request::{Request, Verb};
    use crate::cluster::settings::{NodeSetup, Settings};

    /// What a watcher of one Pod sees: a line for each distinct state, with its tick.
    struct Watch {
        cluster: Cluster,
        lines: Vec<String>,
        from_tick: i64,
    }

    impl Watch {
        fn of(spec: Value) -> Self {
            Self::under(Settings::bare(1, vec![NodeSetup::new("node-1")]), spec)
        }

        fn under(settings: Settings, spec: Value) -> Self {
            let mut cluster = Cluster::boot(settings);
            let body = json!({"metadata": {"name": "app"}, "spec": spec});
            let request = Request::new(Verb::Create, Kind::Pod, "default", "app", body);
            cluster.ask(&request, &mut Vec::new()).unwrap();
            let from_tick = cluster.visible_tick();
            Self { cluster, lines: Vec::new(), from_tick }
        }

        fn ticks(mut self, count: u32) -> Self {
            for _ in 0..count {
                self.cluster.finish_tick(&mut Vec::new());
                let line =
                    self.cluster.store.get::<Pod>("default", "app").map_or("gone".to_string(), |pod| {
                        format!("{} [{}]", pod.status.phase, status::in_words(&pod.status))
                    });
                if self
                    .lines
                    .last()
                    .is_none_or(|last| last.split_once(": ").is_none_or(|(_, last)| last != line))
                {
                    self.lines.push(format!("{}: {line}", self.cluster.visible_tick() - self.from_tick));
                }
            }
            self
        }

        fn delete(mut self) -> Self {
            let request = Request::new(Verb::Delete, Kind::Pod, "default", "app", Value::Null);
            self.cluster.ask(&request, &mut Vec::new()).unwrap();
            self
        }

        fn status(&self) -> PodStatus {
            self.cluster.store.get::<Pod>("default", "app").unwrap().status.clone()
        }

        fn events(&self) -> Vec<String> {
            let mut events: Vec<_> = self.cluster.store.list::<Event>().collect();
            events.sort_by_key(|event| event.meta.resource_version);
            let line = |e: &&Arc<Event>| format!("{} x{}: {}", e.reason, e.count, e.message);
            events.iter().filter(|e| e.source.component == "kubelet").map(line).collect()
        }
    }

    fn one(container: Value) -> Value {
        let mut container = container;
        container["name"] = "app".into();
        if container["image"].is_null() {
            container["image"] = "registry.example/app:1.0".into();
        }
        json!({"nodeName": "node-1", "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "containers": [container]})
    }

    fn plain(watch: &Watch) -> Vec<&str> {
        watch.lines.iter().map(String::as_str).collect()
    }

    #[test]
    fn a_pod_starts_in_visible_stages() {
        let watch = Watch::of(one(json!({}))).ticks(10);
        assert_eq!(
            plain(&watch),
            ["1: Pending [app: waiting (ContainerCreating)]", "2: Running [app: running, ready]"]
        );
        assert_eq!(
            watch.events(),
            [
                "Pulling x1: Pulling image \"registry.example/app:1.0\"",
                "Pulled x1: Successfully pulled image \"registry.example/app:1.0\" in 0s (0s including waiting). Image size: 0 bytes.",
                "Created x1: Container created",
                "Started x1: Container started",
            ]
        );
        let status = watch.status();
        let conditions: Vec<_> =
            status.conditions.iter().map(|c| (c.condition_type.as_str(), c.status.as_str())).collect();
        let order = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
        assert_eq!(conditions, order.map(|condition_type| (condition_type, "True")));
        assert_eq!((status.pod_ip.as_str(), status.host_ip.as_str()), ("10.88.0.2", "192.0.2.2"));
        assert!(watch.cluster.is_quiet());
    }

    #[test]
    fn a_crashing_container_is_restarted_at_once_and_then_waits_longer_each_time() {
        let watch = Watch::of(one(json!({"command": ["sim-exit", "1", "1s"]}))).ticks(40);
        assert_eq!(
            plain(&watch)[..4],
            [
                "1: Pending [app: waiting (ContainerCreating)]",
                "2: Running [app: running, ready]",
                "4: Running [app: terminated (Error, 1)]",
                "19: Running [app: running, ready]",
            ]
        );
        let status = watch.status();
        let message = &status.container_statuses[0].state.waiting.as_ref().unwrap().message;
        assert!(
            message.starts_with("back-off 20s restarting failed container=app pod=app_default("),
            "{message}"
        );
    }

    #[test]
    fn an_image_that_does_not_exist_is_pulled_again_behind_a_growing_wait() {
        let watch = Watch::of(one(json!({"image": "registry.example/missing-app:1.0"}))).ticks(30);
        let reasons: Vec<_> =
            watch.lines.iter().filter_map(|line| line.rsplit_once('(')).map(|(_, r)| r).collect();
        assert_eq!(
            reasons,
            ["ContainerCreating)]", "ErrImagePull)]", "ImagePullBackOff)]", "ErrImagePull)]"]
        );
        assert_eq!(watch.events().iter().filter(|event| event.contains("Error: ErrImagePull")).count(), 1);
    }

    #[test]
    fn deletion_gives_the_process_time_to_stop() {
        let mut settings = Settings::bare(1, vec![NodeSetup::new("node-1")]);
        settings.recorded_runtime = false;
        let watch =
            Watch::under(settings.clone(), one(json!({"image": "nginx:1.27"}))).ticks(8).delete().ticks(6);
        assert_eq!(
            plain(&watch)[1..],
            [
                "4: Running [app: running, ready]",
                "10: Succeeded [app: terminated (Completed, 0)]",
                "11: gone"
            ]
        );
        let sleeper = one(json!({"image": "busybox:1.36", "command": ["sleep", "3600"]}));
        let watch = Watch::under(settings, sleeper).ticks(8).delete().ticks(40);
        assert_eq!(plain(&watch)[2..], ["39: Failed [app: terminated (Error, 137)]", "40: gone"]);
    }

    #[test]
    fn a_readiness_probe_decides_when_traffic_may_come() {
        let probe = |command: &str, after: &str| json!({"readinessProbe": {"exec": {"command": [command, after]}, "periodSeconds": 5, "failureThreshold": 3}});
        let watch = Watch::of(one(probe("sim-ok-after", "10s"))).ticks(20);
        assert_eq!(
            plain(&watch)[1..],
            ["2: Running [app: running, not ready]", "12: Running [app: running, ready]"]
        );
        let watch = Watch::of(one(probe("sim-fail-after", "20s"))).ticks(60);
        assert_eq!(
            plain(&watch)[1..],
            ["2: Running [app: running, ready]", "32: Running [app: running, not ready]"]
        );
        assert!(watch.cluster.is_quiet(), "a probe that goes on failing changes nothing");
    }

    #[test]
    fn a_liveness_probe_restarts() {
        let probe = json!({"exec": {"command": ["sim-fail"]}, "periodSeconds": 10, "failureThreshold": 3});
        let watch = Watch::of(one(json!({"livenessProbe": probe}))).ticks(70);
        assert_eq!(watch.status().container_statuses[0].restart_count, 2);
        let killing = "Killing x2: Container app failed liveness probe, will be restarted".to_string();
        assert!(watch.events().contains(&killing));
    }

    #[test]
    fn a_pod_that_may_not_restart_ends_in_two_steps() {
        let mut spec = one(json!({"command": ["sim-exit", "0", "3s"]}));
        spec["restartPolicy"] = "Never".into();
        let watch = Watch::of(spec).ticks(12);
        assert_eq!(
            plain(&watch)[2..],
            ["5: Running [app: terminated (Completed, 0)]", "6: Succeeded [app: terminated (Completed, 0)]"]
        );
    }

    #[test]
    fn a_pod_that_takes_all_memory_is_driven_away_and_the_node_says_so() {
        let mut settings = Settings::bare(1, vec![NodeSetup::new("node-1")]);
        settings.recorded_runtime = false;
        let hog = json!({"image": "polinux/stress", "command": ["stress", "--vm", "1", "--vm-bytes", "8G"]});
        let watch = Watch::under(settings, one(hog)).ticks(30);
        let status = watch.status();
        assert_eq!((status.phase.as_str(), status.reason.as_str()), ("Failed", "Evicted"));
        let said = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 0. \
                    Container app was using 8Gi, request is 0, has larger consumption of memory. ";
        assert_eq!(status.message, said);
        let last = status.conditions.last().unwrap();
        assert_eq!(
            (last.condition_type.as_str(), last.reason.as_str()),
            ("DisruptionTarget", "TerminationByKubelet")
        );
        let node = watch.cluster.store.get::<crate::api::kinds::cluster::Node>("", "node-1").unwrap();
        assert!(node.spec.taints.iter().any(|taint| taint.key == "node.kubernetes.io/memory-pressure"));
    }

    #[test]
    fn a_container_added_to_a_running_pod_starts_once_and_stops_with_it() {
        let mut settings = Settings::bare(1, vec![NodeSetup::new("node-1")]);
        settings.recorded_runtime = false;
        let mut watch = Watch::under(settings, one(json!({"image": "nginx:1.27"}))).ticks(8);
        let mut patch = |added: Value| {
            let body = json!({"spec": {"ephemeralContainers": [added]}});
            let mut request = Request::new(Verb::StrategicPatch, Kind::Pod, "default", "app", body);
            request.subresource = "ephemeralcontainers".to_string();
            watch.cluster.ask(&request, &mut Vec::new()).map(|_| ()).map_err(|status| status.message)
        };
        let refused = patch(
            json!({"name": "d", "image": "busybox", "targetContainerName": "x", "ports": [{"containerPort": 80}]}),
        );
        let said = "Pod \"app\" is invalid: [spec.ephemeralContainers[0].targetContainerName: Not found: \"x\", spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container]";
        assert_eq!(refused, Err(said.to_string()));
        let look = json!({"name": "look", "image": "busybox:1.36", "command": ["sh", "-c", "echo hello; sleep 600"]});
        assert_eq!(patch(look), Ok(()));
        assert_eq!(
            patch(json!({"name": "look", "image": "other:1"})),
            Err("Pod \"app\" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers \"look\" may not be changed\n".to_string())
        );
        let watch = watch.ticks(6);
        let pod = watch.cluster.store.get::<Pod>("default", "app").unwrap().clone();
        assert_eq!(pod.meta.generation, 2);
        let [added] = &ephemeral_statuses(&pod)[..] else { panic!("one is told of") };
        assert_eq!((added.state.running.is_some(), added.ready, added.restart_count), (true, false, 0));
        assert!(pod.is_ready(), "the others are as they were");
        let ask = crate::cluster::inside::LogRequest {
            namespace: "default".into(),
            pod: "app".into(),
            container: Some("look".to_string()),
            previous: false,
        };
        assert_eq!(watch.cluster.container_log(&ask).unwrap()[0].text, "hello");
        let watch = watch.delete().ticks(40);
        assert!(watch.events().contains(&"Killing x1: Stopping container look".to_string()));
        assert!(watch.cluster.store.get::<Pod>("default", "app").is_none());
    }

    #[test]
    fn a_pod_whose_node_had_no_power_gets_another_sandbox_and_starts_from_its_beginning() {
        use crate::cluster::command::Fault;
        let mut settings = Settings::bare(1, vec![NodeSetup::new("node-1")]);
        settings.recorded_runtime = false;
        let mut spec = one(json!({"image": "nginx:1.27"}));
        spec["initContainers"] = json!([{"name": "before", "image": "busybox:1.36", "command": ["true"]}]);
        let mut watch = Watch::under(settings, spec).ticks(10);
        watch.cluster.cause(&Fault::PowerOff("node-1".into()), &mut Vec::new());
        let mut watch = watch.ticks(5);
        watch.cluster.cause(&Fault::PowerOn("node-1".into()), &mut Vec::new());
        let watch = watch.ticks(15);
        let said = "SandboxChanged x1: Pod sandbox changed, it will be killed and re-created.".to_string();
        assert!(watch.events().contains(&said));
        let status = watch.status();
        let (init, main) = (&status.init_container_statuses[0], &status.container_statuses[0]);
        assert_eq!((init.restart_count, main.restart_count, main.ready), (1, 1, true));
        let last = main.last_state.terminated.as_ref().unwrap();
        assert_eq!((last.exit_code, last.reason.as_str()), (255, "Unknown"));
    }

    #[test]
    fn a_running_pod_may_ask_for_more_and_nothing_else_of_it_changes() {
        let cpu = |requests: &str| json!({"requests": {"cpu": requests}});
        let mut watch = Watch::of(one(json!({"resources": cpu("100m")}))).ticks(5);
        let mut patch = |resources: Value| {
            let container = json!({"name": "app", "image": "other:1", "resources": resources});
            let body = json!({"spec": {"containers": [container]}});
            let mut request = Request::new(Verb::StrategicPatch, Kind::Pod, "default", "app", body);
            request.subresource = "resize".to_string();
            watch.cluster.ask(&request, &mut Vec::new()).map(|_| ()).map_err(|status| status.message)
        };
        let refused = patch(json!({"$patch": "replace"}));
        let said = "Pod \"app\" is invalid: spec: Invalid value: \"BestEffort\": Pod QOS Class may not change as a result of resizing";
        assert_eq!(refused, Err(said.to_string()));
        assert_eq!(patch(cpu("200m")), Ok(()));
        let watch = watch.ticks(3);
        let pod = watch.cluster.store.get::<Pod>("default", "app").unwrap();
        let told = &watch.status().container_statuses[0];
        assert_eq!((pod.meta.generation, told.restart_count), (2, 0));
        assert_eq!(pod.spec.containers[0].image, "registry.example/app:1.0");
        assert_eq!(told.rest.get("resources"), Some(&cpu("200m")));
    }

    #[test]
    fn a_pod_bound_by_hand_to_a_node_that_is_too_small_fails() {
        let watch = Watch::of(one(json!({"resources": {"requests": {"cpu": "3"}}}))).ticks(5);
        let status = watch.status();
        let said = "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000";
        assert_eq!((status.reason.as_str(), status.message.as_str()), ("OutOfcpu", said));
    }

    #[test]
    fn a_booted_playground_has_all_its_system_pods_ready_and_is_quiet() {
        let cluster = Cluster::boot(Settings::default());
        let unready: Vec<String> = cluster
            .store
            .list::<Pod>()
            .filter(|pod| !pod.is_ready())
            .map(|pod| format!("{} {}", pod.meta.name, status::in_words(&pod.status)))
            .collect();
        assert_eq!(unready, [""; 0]);
        assert_eq!(cluster.store.list::<Pod>().count(), 6);
        assert!(cluster.is_quiet());
    }
}
