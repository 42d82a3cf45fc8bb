//! Who can act.

use std::fmt;

use crate::api::kind::Kind;
use crate::api::meta::{Component, Name};

/// One actor. The order of the variants is the order of a tick: controllers, scheduler, kubelets by node, proxies by
/// node, then the two that answer requests by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum Actor {
    /// The person at the keyboard.
    You,
    /// Who set the cluster up before the first tick.
    Installer,
    /// kube-apiserver.
    ApiServer,
    /// The Deployment controller.
    Deployment,
    /// The ReplicaSet controller.
    ReplicaSet,
    /// The ReplicationController controller.
    ReplicationController,
    /// The StatefulSet controller.
    StatefulSet,
    /// The DaemonSet controller.
    DaemonSet,
    /// The Job controller.
    Job,
    /// The controller that deletes Jobs some time after their end.
    TtlAfterFinished,
    /// The CronJob controller.
    CronJob,
    /// The HorizontalPodAutoscaler controller.
    HorizontalPodAutoscaler,
    /// The controller that keeps the books of PodDisruptionBudgets.
    Disruption,
    /// The ResourceQuota controller.
    ResourceQuota,
    /// The controller that binds claims to volumes.
    PersistentVolume,
    /// The controller that makes the claims that Pods bring along.
    EphemeralVolume,
    /// The controllers that hold claims and volumes while they are used.
    VolumeProtection,
    /// The controller that gives every namespace its account.
    ServiceAccount,
    /// The controller that gives every namespace the root certificate.
    RootCa,
    /// The controller that gathers the rules of cluster roles.
    ClusterRoleAggregation,
    /// The cluster's volume provisioner.
    Provisioner,
    /// The EndpointSlice controller.
    EndpointSlice,
    /// The endpoints controller, which keeps the older list of a Service's endpoints.
    Endpoints,
    /// The controller that mirrors Endpoints by hand in EndpointSlices.
    EndpointSliceMirroring,
    /// The namespace controller.
    Namespace,
    /// The garbage collector.
    GarbageCollector,
    /// The node lifecycle controller.
    NodeLifecycle,
    /// The taint eviction controller.
    TaintEviction,
    /// The Pod garbage collector.
    PodGarbageCollector,
    /// The controller that gives Services of type LoadBalancer an address.
    ServiceLoadBalancer,
    /// kube-scheduler.
    Scheduler,
    /// The kubelet of that node.
    Kubelet(Name),
    /// kube-proxy of that node.
    KubeProxy(Name),
    /// CoreDNS.
    CoreDns,
    /// The Ingress controller.
    IngressController,
}

impl Actor {
    /// A stable word for catalogues and JSON: `deployment`, `kubelet`, …
    pub fn word(&self) -> &'static str {
        match self {
            Self::You => "you",
            Self::Installer => "installer",
            Self::ApiServer => "apiserver",
            Self::Deployment => "deployment",
            Self::ReplicaSet => "replicaset",
            Self::ReplicationController => "replicationcontroller",
            Self::StatefulSet => "statefulset",
            Self::DaemonSet => "daemonset",
            Self::Job => "job",
            Self::TtlAfterFinished => "ttlafterfinished",
            Self::CronJob => "cronjob",
            Self::HorizontalPodAutoscaler => "autoscaler",
            Self::Disruption => "disruption",
            Self::ResourceQuota => "resourcequota",
            Self::PersistentVolume => "persistentvolume",
            Self::EphemeralVolume => "ephemeralvolume",
            Self::VolumeProtection => "volumeprotection",
            Self::ServiceAccount => "serviceaccount",
            Self::RootCa => "rootca",
            Self::ClusterRoleAggregation => "clusterroleaggregation",
            Self::Provisioner => "provisioner",
            Self::EndpointSlice => "endpointslice",
            Self::Endpoints => "endpoints",
            Self::EndpointSliceMirroring => "endpointslicemirroring",
            Self::Namespace => "namespace",
            Self::GarbageCollector => "garbagecollector",
            Self::NodeLifecycle => "nodelifecycle",
            Self::TaintEviction => "tainteviction",
            Self::PodGarbageCollector => "podgc",
            Self::ServiceLoadBalancer => "serviceloadbalancer",
            Self::Scheduler => "scheduler",
            Self::Kubelet(_) => "kubelet",
            Self::KubeProxy(_) => "kubeproxy",
            Self::CoreDns => "coredns",
            Self::IngressController => "ingresscontroller",
        }
    }

    /// As which component it manages fields of an object of that kind in that namespace; `None` for people.
    pub fn component(&self, kind: Kind, namespace: &str) -> Option<Component> {
        Some(match self {
            Self::You => return None,
            Self::Installer => match kind {
                Kind::Node => Component::Kubelet,
                _ if namespace.is_empty() || namespace == "default" => Component::ApiServer,
                _ => Component::Installer,
            },
            Self::ApiServer => Component::ApiServer,
            Self::Scheduler => Component::Scheduler,
            Self::Kubelet(_) => Component::Kubelet,
            Self::ClusterRoleAggregation => Component::ClusterRoleAggregation,
            Self::Provisioner => Component::Provisioner,
            Self::ServiceLoadBalancer => Component::CloudControllerManager,
            Self::IngressController => Component::IngressController,
            _ => Component::ControllerManager,
        })
    }

    /// The node it runs for, if it is one of many.
    pub fn node(&self) -> Option<&Name> {
        match self {
            Self::Kubelet(node) | Self::KubeProxy(node) => Some(node),
            _ => None,
        }
    }

    /// What it calls itself in events' `source.component`.
    pub fn event_source(&self) -> &'static str {
        match self {
            Self::Deployment => "deployment-controller",
            Self::ReplicaSet => "replicaset-controller",
            Self::ReplicationController => "replication-controller",
            Self::StatefulSet => "statefulset-controller",
            Self::DaemonSet => "daemonset-controller",
            Self::Job => "job-controller",
            Self::TtlAfterFinished => "ttl-after-finished-controller",
            Self::CronJob => "cronjob-controller",
            Self::HorizontalPodAutoscaler => "horizontal-pod-autoscaler",
            Self::Disruption => "controllermanager",
            Self::ResourceQuota => "resourcequota-controller",
            Self::PersistentVolume => "persistentvolume-controller",
            Self::EphemeralVolume => "ephemeral-volume-controller",
            Self::VolumeProtection => "pvc-protection-controller",
            Self::ServiceAccount => "service-account-controller",
            Self::RootCa => "root-ca-certificate-publisher-controller",
            Self::ClusterRoleAggregation => "clusterrole-aggregation-controller",
            Self::Provisioner => "rancher.io/local-path_provisioner",
            Self::EndpointSlice => "endpoint-slice-controller",
            Self::Endpoints => "endpoint-controller",
            Self::EndpointSliceMirroring => "endpoint-slice-mirroring-controller",
            Self::Namespace => "namespace-controller",
            Self::GarbageCollector => "garbage-collector-controller",
            Self::NodeLifecycle => "node-controller",
            Self::TaintEviction => "taint-eviction-controller",
            Self::PodGarbageCollector => "pod-garbage-collector",
            Self::ServiceLoadBalancer => "service-controller",
            Self::Scheduler => "default-scheduler",
            Self::Kubelet(_) => "kubelet",
            Self::KubeProxy(_) => "kube-proxy",
            Self::CoreDns => "coredns",
            Self::IngressController => "nginx-ingress-controller",
            Self::You | Self::Installer | Self::ApiServer => "",
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node() {
            Some(node) => write!(f, "{}/{node}", self.word()),
            None => f.write_str(self.word()),
        }
    }
}
