//! Pod: `core/v1`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::ResourceList;
use super::cluster::Taint;
use crate::api::codec::{self, Codec, CodecError, Rest};
use crate::api::int_or_string::IntOrString;
use crate::api::meta::{Name, ObjectMeta};
use crate::api::quantity::Quantity;
use crate::api::sharing::{Shared, Word};
use crate::api::time::Timestamp;

/// A Pod. Its spec is shared by all Pods made from one template, so the node it is bound to stands beside the spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pod {
    /// Metadata.
    pub meta: ObjectMeta,
    /// `spec.nodeName`; empty until the Pod is bound.
    pub node_name: Name,
    /// The rest of the spec.
    pub spec: Arc<PodSpec>,
    /// What the kubelet reports.
    pub status: PodStatus,
    /// Fields beside metadata, spec and status: none in the schema.
    pub rest: Rest,
}

impl Codec for Pod {
    fn decode(value: Value) -> Result<Self, CodecError> {
        let mut map = codec::object(value)?;
        let meta = codec::take(&mut map, "metadata")?;
        let mut node_name = Name::default();
        if let Some(Value::Object(spec)) = map.get_mut("spec") {
            node_name = codec::take(spec, "nodeName").map_err(|error| error.under("spec"))?;
        }
        let spec = codec::take(&mut map, "spec")?;
        let status = codec::take(&mut map, "status")?;
        Ok(Self { meta, node_name, spec, status, rest: Rest::from_map(map) })
    }

    fn encode(&self) -> Value {
        let mut map = self.rest.to_map();
        codec::put(&mut map, "metadata", &self.meta, true);
        let mut spec = match self.spec.encode() {
            Value::Object(spec) => spec,
            _ => Map::new(),
        };
        codec::put(&mut spec, "nodeName", &self.node_name, false);
        map.insert("spec".to_string(), Value::Object(spec));
        codec::put(&mut map, "status", &self.status, true);
        Value::Object(map)
    }
}

crate::record! {
    /// `core/v1 PodSpec`, less `nodeName`.
    pub struct PodSpec {
        /// Containers that run one after the other before the others start.
        init_containers: Vec<Container> = "initContainers",
        /// The containers.
        containers: Vec<Container> = "containers" always,
        /// `Always`, `OnFailure` or `Never`.
        restart_policy: String = "restartPolicy",
        /// Seconds between the wish to stop and the kill.
        termination_grace_period_seconds: Option<i64> = "terminationGracePeriodSeconds",
        /// Labels that a node must have.
        node_selector: BTreeMap<String, String> = "nodeSelector",
        /// Taints that the Pod puts up with.
        tolerations: Vec<Toleration> = "tolerations",
        /// Conditions beyond the containers' that must hold for `Ready`.
        readiness_gates: Vec<PodReadinessGate> = "readinessGates",
        /// The scheduler that is to place it.
        scheduler_name: String = "schedulerName",
        /// Where cluster DNS looks first.
        dns_policy: String = "dnsPolicy",
        /// Whether it uses the node's own network.
        host_network: bool = "hostNetwork",
        /// The account it runs as.
        service_account_name: String = "serviceAccountName",
        /// What it weighs against other Pods.
        priority: Option<i32> = "priority",
        /// Added to the requests of the containers.
        overhead: ResourceList = "overhead",
    }

    /// `core/v1 Container`.
    pub struct Container {
        /// Its name, unique in the Pod.
        name: String = "name" always,
        /// The image.
        image: String = "image",
        /// Replaces the image's entry point.
        command: Vec<String> = "command",
        /// Arguments to it.
        args: Vec<String> = "args",
        /// Ports it declares.
        ports: Vec<ContainerPort> = "ports",
        /// Environment variables.
        env: Vec<EnvVar> = "env",
        /// Requests and limits.
        resources: ResourceRequirements = "resources" always,
        /// When not to send traffic.
        readiness_probe: Option<Probe> = "readinessProbe",
        /// When to restart.
        liveness_probe: Option<Probe> = "livenessProbe",
        /// What holds the other probes back.
        startup_probe: Option<Probe> = "startupProbe",
        /// `Always`, `IfNotPresent` or `Never`.
        image_pull_policy: String = "imagePullPolicy",
        /// `Always` makes an init container a sidecar.
        restart_policy: Option<String> = "restartPolicy",
    }

    /// `core/v1 ContainerPort`.
    pub struct ContainerPort {
        /// A name that Services can point to.
        name: String = "name",
        /// The port, 1 to 65535.
        container_port: i32 = "containerPort" always,
        /// The node's port that leads to it; 0 for none.
        host_port: i32 = "hostPort",
        /// The node's address that leads to it.
        host_ip: String = "hostIP",
        /// `TCP`, `UDP` or `SCTP`.
        protocol: String = "protocol",
    }

    /// `core/v1 EnvVar`.
    pub struct EnvVar {
        /// Its name.
        name: String = "name" always,
        /// Its value.
        value: String = "value",
        /// Where else its value comes from.
        value_from: Value = "valueFrom",
    }

    /// `core/v1 ResourceRequirements`.
    pub struct ResourceRequirements {
        /// The most it may use.
        limits: ResourceList = "limits",
        /// What the scheduler keeps free for it.
        requests: ResourceList = "requests",
    }

    /// `core/v1 Probe`.
    pub struct Probe {
        /// Asks by HTTP.
        http_get: Option<HttpGetAction> = "httpGet",
        /// Asks by opening a connection.
        tcp_socket: Option<TcpSocketAction> = "tcpSocket",
        /// Asks by a command.
        exec: Option<ExecAction> = "exec",
        /// Seconds before the first try.
        initial_delay_seconds: i32 = "initialDelaySeconds",
        /// Seconds after which a try has failed.
        timeout_seconds: i32 = "timeoutSeconds",
        /// Seconds between tries.
        period_seconds: i32 = "periodSeconds",
        /// Tries in a row that make a success.
        success_threshold: i32 = "successThreshold",
        /// Tries in a row that make a failure.
        failure_threshold: i32 = "failureThreshold",
    }

    /// `core/v1 HTTPGetAction`.
    pub struct HttpGetAction {
        /// The path.
        path: String = "path",
        /// The port's number or name.
        port: IntOrString = "port" always,
        /// `HTTP` or `HTTPS`.
        scheme: String = "scheme",
    }

    /// `core/v1 TCPSocketAction`.
    pub struct TcpSocketAction {
        /// The port's number or name.
        port: IntOrString = "port" always,
    }

    /// `core/v1 ExecAction`.
    pub struct ExecAction {
        /// The command, run without a shell.
        command: Vec<String> = "command",
    }

    /// `core/v1 Toleration`.
    pub struct Toleration {
        /// The taint's key; empty for all.
        key: String = "key",
        /// `Exists` or `Equal` (also when empty).
        operator: String = "operator",
        /// The taint's value.
        value: String = "value",
        /// The taint's effect; empty for all.
        effect: String = "effect",
        /// How long a `NoExecute` taint is put up with.
        toleration_seconds: Option<i64> = "tolerationSeconds",
    }

    /// `core/v1 PodReadinessGate`.
    pub struct PodReadinessGate {
        /// The condition that must be `True`.
        condition_type: String = "conditionType" always,
    }

    /// `core/v1 PodStatus`.
    pub struct PodStatus {
        /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
        phase: Word = "phase",
        /// The conditions, in the kubelet's order.
        conditions: Shared<Vec<PodCondition>> = "conditions",
        /// Why it is in this state, for a person.
        message: Word = "message",
        /// Why it is in this state, in one word (`Evicted`).
        reason: Word = "reason",
        /// The node that is being cleared for it; empty for none.
        nominated_node_name: Name = "nominatedNodeName",
        /// The address of its node.
        host_ip: Word = "hostIP",
        /// The addresses of its node.
        host_ips: Shared<Vec<HostIp>> = "hostIPs",
        /// Its address; empty before it has one.
        pod_ip: Word = "podIP",
        /// Its addresses.
        pod_ips: Vec<PodIp> = "podIPs",
        /// When the kubelet first saw it.
        start_time: Option<Timestamp> = "startTime",
        /// The init containers.
        init_container_statuses: Vec<ContainerStatus> = "initContainerStatuses",
        /// The containers.
        container_statuses: Vec<ContainerStatus> = "containerStatuses",
        /// `Guaranteed`, `Burstable` or `BestEffort`.
        qos_class: Word = "qosClass",
        /// The generation of the spec that the kubelet has seen.
        observed_generation: i64 = "observedGeneration",
    }

    /// `core/v1 PodCondition`.
    pub struct PodCondition {
        /// `PodScheduled`, `Initialized`, `ContainersReady`, `Ready`, …
        condition_type: Word = "type" always,
        /// `True`, `False` or `Unknown`.
        status: Word = "status" always,
        /// When the status changed last.
        last_transition_time: Option<Timestamp> = "lastTransitionTime",
        /// In one word.
        reason: Word = "reason",
        /// For a person.
        message: Word = "message",
        /// The generation it speaks of.
        observed_generation: i64 = "observedGeneration",
    }

    /// `core/v1 PodIP`.
    pub struct PodIp {
        /// The address.
        ip: Word = "ip" always,
    }

    /// `core/v1 HostIP`.
    pub struct HostIp {
        /// The address.
        ip: Word = "ip" always,
    }

    /// `core/v1 ContainerStatus`.
    pub struct ContainerStatus {
        /// The container's name.
        name: Word = "name" always,
        /// What it does now.
        state: ContainerState = "state",
        /// What its last run came to.
        last_state: ContainerState = "lastState",
        /// Whether it passes its readiness probe.
        ready: bool = "ready" always,
        /// How often it was started again.
        restart_count: i32 = "restartCount" always,
        /// The image.
        image: Word = "image" always,
        /// The image's id.
        image_id: Word = "imageID" always,
        /// The container's id.
        container_id: Word = "containerID",
        /// Whether it has started up.
        started: Option<bool> = "started",
    }

    /// `core/v1 ContainerState`: at most one of the three.
    pub struct ContainerState {
        /// Not started yet.
        waiting: Option<Box<ContainerStateWaiting>> = "waiting",
        /// Running.
        running: Option<ContainerStateRunning> = "running",
        /// Ended.
        terminated: Option<Box<ContainerStateTerminated>> = "terminated",
    }

    /// `core/v1 ContainerStateWaiting`.
    pub struct ContainerStateWaiting {
        /// `ContainerCreating`, `ImagePullBackOff`, `CrashLoopBackOff`, …
        reason: String = "reason",
        /// For a person.
        message: String = "message",
    }

    /// `core/v1 ContainerStateRunning`.
    pub struct ContainerStateRunning {
        /// Since when.
        started_at: Option<Timestamp> = "startedAt",
    }

    /// `core/v1 ContainerStateTerminated`.
    pub struct ContainerStateTerminated {
        /// The process's exit code.
        exit_code: i32 = "exitCode" always,
        /// The signal that ended it; 0 for none.
        signal: i32 = "signal",
        /// `Completed`, `Error`, `OOMKilled`, …
        reason: String = "reason",
        /// For a person.
        message: String = "message",
        /// When it started.
        started_at: Option<Timestamp> = "startedAt",
        /// When it ended.
        finished_at: Option<Timestamp> = "finishedAt",
        /// The container's id.
        container_id: String = "containerID",
    }
}

impl Pod {
    /// The condition of that type.
    pub fn condition(&self, condition_type: &str) -> Option<&PodCondition> {
        self.status.conditions.iter().find(|condition| condition.condition_type == condition_type)
    }

    /// Whether the condition `Ready` is `True`.
    pub fn is_ready(&self) -> bool {
        self.condition("Ready").is_some_and(|condition| condition.status == "True")
    }

    /// When the condition `Ready` became `True`; `None` unless it is.
    pub fn ready_since(&self) -> Option<Timestamp> {
        self.condition("Ready").filter(|condition| condition.status == "True")?.last_transition_time
    }

    /// Whether its phase is `Succeeded` or `Failed`.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Whether it is neither finished nor on its way out.
    pub fn is_active(&self) -> bool {
        !self.is_finished() && !self.meta.is_terminating()
    }

    /// Whether it is bound to a node.
    pub fn is_bound(&self) -> bool {
        !self.node_name.is_empty()
    }

    /// Whether it has been Ready for that long at `now`.
    ///
    /// Models: `pkg/api/v1/pod.IsPodAvailable`.
    pub fn is_available(&self, min_ready_seconds: i32, now: Timestamp) -> bool {
        self.ready_since()
            .is_some_and(|since| min_ready_seconds == 0 || since.0 + i64::from(min_ready_seconds) <= now.0)
    }
}

impl Container {
    /// The memory that it may use at most, in bytes.
    pub fn memory_limit(&self) -> Option<i64> {
        self.resources.limits.get("memory").map(Quantity::value)
    }
}

impl PodSpec {
    /// Whether the Pod is not to be scheduled yet.
    pub fn has_scheduling_gates(&self) -> bool {
        let gates = self.rest.get("schedulingGates").and_then(Value::as_array);
        gates.is_some_and(|gates| !gates.is_empty())
    }
}

impl Toleration {
    /// Whether it covers the taint.
    ///
    /// Models: `core/v1.Toleration.ToleratesTaint`.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        let matches = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
        let covers_value = match self.operator.as_str() {
            "" | "Equal" => self.value == taint.value,
            operator => operator == "Exists",
        };
        matches(&self.effect, &taint.effect) && matches(&self.key, &taint.key) && covers_value
    }
}

impl PodStatus {
    /// Sets one condition, keeping its transition time while the status stays the same; a new one goes to the end.
    pub fn set_condition(
        &mut self,
        condition_type: &str,
        status: &str,
        reason: &str,
        message: &str,
        now: Timestamp,
    ) {
        let old = self.conditions.iter_mut().find(|condition| condition.condition_type == condition_type);
        let since =
            old.as_ref().filter(|old| old.status == status).map_or(Some(now), |old| old.last_transition_time);
        let new = PodCondition {
            condition_type: condition_type.into(),
            status: status.into(),
            last_transition_time: since,
            reason: reason.into(),
            message: message.into(),
            ..PodCondition::default()
        };
        match old {
            Some(old) => {
                *old = PodCondition {
                    rest: old.rest.clone(),
                    observed_generation: old.observed_generation,
                    ..new
                };
            }
            None => self.conditions.push(new),
        }
    }
}

impl ContainerState {
    /// Whether none of the three is set.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_none() && self.running.is_none() && self.terminated.is_none()
    }
}
