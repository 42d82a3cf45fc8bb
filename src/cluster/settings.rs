//! How a cluster is set up: the seed, the nodes and what runs from the start.

use serde::{Deserialize, Serialize};

/// Everything that a cluster's first moment depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The seed of all random streams.
    pub seed: u64,
    /// The worker nodes.
    pub nodes: Vec<NodeSetup>,
    /// Whether CoreDNS, kube-proxy and the Ingress controller are installed.
    pub system_pods: bool,
    /// Whether Pods get a service account and its token volume, as in usual clusters.
    pub service_account_admission: bool,
    /// Whether the scheduler runs.
    pub scheduler: bool,
    /// Whether controllers run.
    pub controllers: bool,
    /// Whether the nodes have kubelets.
    pub kubelets: bool,
    /// Whether the container runtime is the one that the recordings were made with: it has every image, of no bytes,
    /// and its processes end only as `sim-exit` tells them.
    pub recorded_runtime: bool,
    /// Who the cluster knows; the first one is who asks unless a request says otherwise.
    pub users: Vec<UserSetup>,
}

/// One user of the cluster; each has a context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserSetup {
    /// The name.
    pub name: String,
    /// The uid.
    pub uid: String,
    /// The groups, without those that the server adds.
    pub groups: Vec<String>,
}

impl UserSetup {
    /// A user in one group.
    pub fn new(name: &str, uid: &str, group: &str) -> Self {
        Self { name: name.to_string(), uid: uid.to_string(), groups: vec![group.to_string()] }
    }
}

/// One worker node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSetup {
    /// Its name.
    pub name: String,
    /// Its processors, in thousandths.
    pub cpu_millicores: i64,
    /// Its memory.
    pub memory_bytes: i64,
    /// The most Pods it takes.
    pub pods: i64,
    /// Its zone; empty for none.
    pub zone: String,
}

impl NodeSetup {
    /// A node as the playground has it: 2 processors, 4 GiB, 110 Pods.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            cpu_millicores: 2000,
            memory_bytes: 4 << 30,
            pods: 110,
            zone: String::new(),
        }
    }
}

impl Settings {
    /// The playground: three nodes with everything that a request needs.
    pub fn playground(seed: u64) -> Self {
        let nodes = (1..=3).map(|n| NodeSetup::new(format!("node-{n}"))).collect();
        Self {
            seed,
            nodes,
            system_pods: true,
            service_account_admission: true,
            scheduler: true,
            controllers: true,
            kubelets: true,
            recorded_runtime: false,
            users: vec![
                UserSetup::new("admin", "1", "system:masters"),
                UserSetup::new("developer", "2", "developers"),
            ],
        }
    }

    /// Only a control plane, and those nodes, as the recordings were made.
    pub fn bare(seed: u64, nodes: Vec<NodeSetup>) -> Self {
        Self {
            nodes,
            system_pods: false,
            service_account_admission: false,
            recorded_runtime: true,
            users: vec![
                UserSetup::new("admin", "1", "system:masters"),
                UserSetup::new("bob", "2", "developers"),
            ],
            ..Self::playground(seed)
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::playground(42)
    }
}
