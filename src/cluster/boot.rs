//! From settings to a running cluster: what the installer leaves behind.
//!
//! The installer stores namespaces, nodes and the manifests of the system Pods through the API server, then the machine
//! itself runs until they work. Visible tick 0 comes after that.

mod rbac;

use std::sync::Arc;

use serde_json::Value;

use super::actor::Actor;
use super::fact::Fact;
use super::machine::Cluster;
use super::queue::WorkKey;
use super::server::request::{Request, Verb};
use super::settings::{NodeSetup, Settings};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::{Namespace, Node, NodeAddress, NodeCondition, NodeSystemInfo};
use crate::api::manifest;
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::api::time::Timestamp;

/// How many ticks the set-up takes before visible tick 0: enough for the system Pods to pull, start and be reached.
pub const BOOT_TICKS: u64 = 60;

/// Where the API server is.
const API_SERVER_ADDRESS: &str = "192.168.0.2";
/// The address that everything of the recordings had.
const RECORDED_ADDRESS: &str = "192.0.2.2";

/// The version that the cluster says it is.
pub const KUBERNETES_VERSION: &str = "v1.36.2";

const OBJECTS: &str = include_str!("boot/objects.yaml");
const SYSTEM: &str = include_str!("boot/system.yaml");

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

impl Cluster {
    /// A cluster as the installer leaves it, at visible tick 0.
    ///
    /// # Panics
    /// When a manifest of the installation is refused, which a test rules out.
    pub fn boot(settings: Settings) -> Self {
        let mut cluster = Self::empty(settings);
        cluster.set_origin(BOOT_TICKS);
        let mut facts: Vec<Arc<Fact>> = Vec::new();
        for name in NAMESPACES {
            let mut namespace = Namespace::default();
            namespace.meta.name = name.into();
            install(&mut cluster, Object::from(namespace), &mut facts);
        }
        let settings = Arc::clone(&cluster.settings);
        for (index, setup) in settings.nodes.iter().enumerate() {
            let mut node = node_of(setup, index, cluster.now());
            if settings.recorded_runtime {
                as_recorded(&mut node);
            }
            install(&mut cluster, Object::from(node), &mut facts);
            if settings.kubelets {
                cluster.enqueue(&Actor::Kubelet(setup.name.as_str().into()), WorkKey::Heartbeat);
            }
        }
        rbac::install(&mut cluster, &mut facts);
        install_objects(&mut cluster, &mut facts);
        install_system(&mut cluster, &mut facts);
        while cluster.tick() < BOOT_TICKS {
            facts.clear();
            if !cluster.skip_to_before(BOOT_TICKS + 1) || cluster.tick() < BOOT_TICKS {
                cluster.finish_tick(&mut facts);
            }
        }
        cluster
    }
}

/// Stores one object as the installer.
fn install(cluster: &mut Cluster, object: Object, facts: &mut Vec<Arc<Fact>>) {
    let meta = object.meta().clone();
    let body = object.to_value();
    install_value(cluster, object.kind(), &meta.namespace, &meta.name, body, facts);
    if let Object::Node(node) = &object {
        let mut request = Request::new(
            Verb::Update,
            Kind::Node,
            "",
            &node.meta.name,
            Object::Node(Arc::clone(node)).to_value(),
        );
        request.subresource = "status".to_string();
        cluster.ask_as(&Actor::Installer, &request, facts).expect("the installer may report a node");
    }
}

fn install_value(
    cluster: &mut Cluster,
    kind: Kind,
    namespace: &str,
    name: &str,
    body: Value,
    facts: &mut Vec<Arc<Fact>>,
) {
    let request = Request::new(Verb::Create, kind, namespace, name, body);
    if let Err(status) = cluster.ask_as(&Actor::Installer, &request, facts) {
        panic!("the installation of {kind:?} {namespace}/{name} was refused: {status}");
    }
}

/// Stores what an API server makes when it starts.
///
/// Models: `pkg/controlplane/controller/kubernetesservice`, `pkg/registry/scheduling/rest` (v1.36).
fn install_objects(cluster: &mut Cluster, facts: &mut Vec<Arc<Fact>>) {
    let address = if cluster.settings.recorded_runtime { RECORDED_ADDRESS } else { API_SERVER_ADDRESS };
    for document in manifest::parse(&OBJECTS.replace("ADDRESS", address)).documents {
        install_document(cluster, document.value, facts);
    }
}

/// Applies the manifests of the system Pods.
fn install_system(cluster: &mut Cluster, facts: &mut Vec<Arc<Fact>>) {
    if !cluster.settings.system_pods {
        return;
    }
    for document in manifest::parse_known(SYSTEM).documents {
        install_document(cluster, document.value, facts);
    }
}

fn install_document(cluster: &mut Cluster, document: Value, facts: &mut Vec<Arc<Fact>>) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let kind = Kind::from_manifest(&text(&document["apiVersion"]), &text(&document["kind"]));
    let kind = kind.expect("the installation holds only kinds that the cluster knows");
    let (namespace, name) = (text(&document["metadata"]["namespace"]), text(&document["metadata"]["name"]));
    install_value(cluster, kind, &namespace, &name, document, facts);
}

/// The Node object of a machine, as its kubelet would register it.
fn node_of(setup: &NodeSetup, index: usize, now: Timestamp) -> Node {
    let mut node = Node::default();
    node.meta.name = setup.name.as_str().into();
    let labels = &mut node.meta.labels;
    for (key, value) in [
        ("beta.kubernetes.io/arch", "amd64"),
        ("beta.kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/hostname", setup.name.as_str()),
        ("kubernetes.io/os", "linux"),
    ] {
        labels.insert(key.to_string(), value.to_string());
    }
    if !setup.zone.is_empty() {
        labels.insert("topology.kubernetes.io/zone".to_string(), setup.zone.clone());
    }
    let (high, low) = (index / 250, index % 250 + 1);
    node.spec.pod_cidr = format!("10.{}.{low}.0/24", 244 - high.min(100));
    node.spec.pod_cidrs = vec![node.spec.pod_cidr.clone()];
    let status = &mut node.status;
    for (name, amount) in [
        ("cpu", Quantity::from_milli(setup.cpu_millicores)),
        ("memory", Quantity::from_bytes(setup.memory_bytes)),
        ("pods", Quantity::from_value(setup.pods)),
    ] {
        status.capacity.insert(name.to_string(), amount);
    }
    status.allocatable = status.capacity.clone();
    let address = |address_type: &str, address: String| NodeAddress {
        address_type: address_type.to_string(),
        address,
        ..NodeAddress::default()
    };
    status.addresses = vec![
        address("InternalIP", format!("192.168.{high}.{}", low + 10 - 10 * usize::from(low > 240))),
        address("Hostname", setup.name.clone()),
    ];
    status.conditions = [
        ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    ]
    .into_iter()
    .map(|(condition_type, status, reason, message)| NodeCondition {
        condition_type: condition_type.to_string(),
        status: status.to_string(),
        last_heartbeat_time: Some(now),
        last_transition_time: Some(now),
        reason: reason.to_string(),
        message: message.to_string(),
        ..NodeCondition::default()
    })
    .collect();
    status.node_info = NodeSystemInfo {
        kernel_version: "6.12.0".to_string(),
        os_image: "Kubestep Linux".to_string(),
        container_runtime_version: "containerd://2.1.4".to_string(),
        kubelet_version: KUBERNETES_VERSION.to_string(),
        operating_system: "linux".to_string(),
        architecture: "amd64".to_string(),
        ..NodeSystemInfo::default()
    };
    node
}

/// What the nodes of the recordings said of themselves: all have the same address, and no range for their Pods.
fn as_recorded(node: &mut Node) {
    node.meta.annotations.insert("node.alpha.kubernetes.io/ttl".to_string(), "0".to_string());
    node.spec.pod_cidr = String::new();
    node.spec.pod_cidrs = Vec::new();
    let provider_id = format!("kubemark://{}", node.meta.name);
    node.spec.rest.set("providerID", Some(provider_id.into()));
    let status = &mut node.status;
    for amounts in [&mut status.capacity, &mut status.allocatable] {
        amounts.insert("ephemeral-storage".to_string(), Quantity::from_value(0));
    }
    for address in status.addresses.iter_mut().filter(|address| address.address_type == "InternalIP") {
        address.address = RECORDED_ADDRESS.to_string();
    }
    let info = &mut status.node_info;
    info.kernel_version = "3.16.0-0.bpo.4-amd64".to_string();
    info.os_image = "Debian GNU/Linux 7 (wheezy)".to_string();
    info.container_runtime_version = "fakeRuntime://0.1.0".to_string();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::machine::EPOCH;

    #[test]
    fn a_booted_cluster_stands_at_visible_tick_zero_with_ready_nodes() {
        let cluster = Cluster::boot(Settings::default());
        assert_eq!((cluster.visible_tick(), cluster.now()), (0, EPOCH));
        let nodes: Vec<_> =
            cluster.store.list::<Node>().map(|node| (node.meta.name.to_string(), node.is_ready())).collect();
        assert_eq!(nodes, [("node-1".into(), true), ("node-2".into(), true), ("node-3".into(), true)]);
    }

    #[test]
    fn equal_settings_boot_equal_clusters() {
        let (a, b) = (Cluster::boot(Settings::default()), Cluster::boot(Settings::default()));
        assert_eq!(a.digest(), b.digest());
        assert!(a == b);
        assert_ne!(a.digest(), Cluster::boot(Settings::playground(43)).digest());
    }
}
