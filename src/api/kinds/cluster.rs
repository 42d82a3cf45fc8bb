//! Namespace, Node, Lease and ConfigMap.

use std::collections::BTreeMap;

use super::ResourceList;
use crate::api::meta::ObjectMeta;
use crate::api::time::Timestamp;

crate::record! {
    /// `core/v1 Namespace`.
    pub struct Namespace {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: NamespaceSpec = "spec" always,
        /// The report.
        status: NamespaceStatus = "status" always,
    }

    /// `core/v1 NamespaceSpec`.
    pub struct NamespaceSpec {
        /// Who must let go before it can vanish.
        finalizers: Vec<String> = "finalizers",
    }

    /// `core/v1 NamespaceStatus`.
    pub struct NamespaceStatus {
        /// `Active` or `Terminating`.
        phase: String = "phase",
        /// What holds a deletion up.
        conditions: Vec<NamespaceCondition> = "conditions",
    }

    /// `core/v1 NamespaceCondition`.
    pub struct NamespaceCondition {
        /// `NamespaceContentRemaining`, `NamespaceFinalizersRemaining`, …
        condition_type: String = "type" always,
        /// `True`, `False` or `Unknown`.
        status: String = "status" always,
        /// When its status changed last.
        last_transition_time: Option<Timestamp> = "lastTransitionTime",
        /// In one word.
        reason: String = "reason",
        /// For a person.
        message: String = "message",
    }

    /// `core/v1 Node`.
    pub struct Node {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The wish.
        spec: NodeSpec = "spec" always,
        /// The report.
        status: NodeStatus = "status" always,
    }

    /// `core/v1 NodeSpec`.
    pub struct NodeSpec {
        /// The range of Pod addresses, as `10.244.1.0/24`.
        pod_cidr: String = "podCIDR",
        /// The ranges of Pod addresses.
        pod_cidrs: Vec<String> = "podCIDRs",
        /// Whether new Pods stay away (`kubectl cordon`).
        unschedulable: bool = "unschedulable",
        /// Marks that keep Pods away.
        taints: Vec<Taint> = "taints",
    }

    /// `core/v1 Taint`.
    pub struct Taint {
        /// The key.
        key: String = "key" always,
        /// The value.
        value: String = "value",
        /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
        effect: String = "effect" always,
        /// When a `NoExecute` taint was added.
        time_added: Option<Timestamp> = "timeAdded",
    }

    /// `core/v1 NodeStatus`.
    pub struct NodeStatus {
        /// What the machine has.
        capacity: ResourceList = "capacity",
        /// What Pods may have of it.
        allocatable: ResourceList = "allocatable",
        /// `Ready`, `MemoryPressure`, …
        conditions: Vec<NodeCondition> = "conditions",
        /// Its addresses.
        addresses: Vec<NodeAddress> = "addresses",
        /// Versions.
        node_info: NodeSystemInfo = "nodeInfo",
    }

    /// `core/v1 NodeCondition`.
    pub struct NodeCondition {
        /// `Ready`, `MemoryPressure`, `DiskPressure`, `PIDPressure`, `NetworkUnavailable`.
        condition_type: String = "type" always,
        /// `True`, `False` or `Unknown`.
        status: String = "status" always,
        /// When the kubelet said so last.
        last_heartbeat_time: Option<Timestamp> = "lastHeartbeatTime",
        /// When its status changed last.
        last_transition_time: Option<Timestamp> = "lastTransitionTime",
        /// In one word.
        reason: String = "reason",
        /// For a person.
        message: String = "message",
    }

    /// `core/v1 NodeAddress`.
    pub struct NodeAddress {
        /// `InternalIP`, `Hostname`, …
        address_type: String = "type" always,
        /// The address.
        address: String = "address" always,
    }

    /// `core/v1 NodeSystemInfo`.
    pub struct NodeSystemInfo {
        /// The machine's id.
        machine_id: String = "machineID" always,
        /// The system's id.
        system_uuid: String = "systemUUID" always,
        /// The boot's id.
        boot_id: String = "bootID" always,
        /// The kernel.
        kernel_version: String = "kernelVersion" always,
        /// The operating system.
        os_image: String = "osImage" always,
        /// The container runtime.
        container_runtime_version: String = "containerRuntimeVersion" always,
        /// The kubelet.
        kubelet_version: String = "kubeletVersion" always,
        /// Deprecated; empty.
        kube_proxy_version: String = "kubeProxyVersion" always,
        /// `linux`.
        operating_system: String = "operatingSystem" always,
        /// `amd64`.
        architecture: String = "architecture" always,
    }

    /// `coordination/v1 Lease`.
    pub struct Lease {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// The heartbeat.
        spec: LeaseSpec = "spec" always,
    }

    /// `coordination/v1 LeaseSpec`.
    pub struct LeaseSpec {
        /// Who holds it.
        holder_identity: Option<String> = "holderIdentity",
        /// Seconds that it lasts.
        lease_duration_seconds: Option<i32> = "leaseDurationSeconds",
        /// When it was renewed last.
        renew_time: Option<Timestamp> = "renewTime",
    }

    /// `core/v1 ConfigMap`.
    pub struct ConfigMap {
        /// Metadata.
        meta: ObjectMeta = "metadata" always,
        /// Texts by key.
        data: BTreeMap<String, String> = "data",
        /// Bytes by key, in base64.
        binary_data: BTreeMap<String, String> = "binaryData",
        /// Whether it is closed to changes.
        immutable: Option<bool> = "immutable",
    }
}

impl Node {
    /// Whether the condition `Ready` is `True`.
    pub fn is_ready(&self) -> bool {
        self.status
            .conditions
            .iter()
            .any(|condition| condition.condition_type == "Ready" && condition.status == "True")
    }

    /// Its address of that type.
    pub fn address(&self, address_type: &str) -> Option<&str> {
        self.status.addresses.iter().find(|a| a.address_type == address_type).map(|a| a.address.as_str())
    }
}
