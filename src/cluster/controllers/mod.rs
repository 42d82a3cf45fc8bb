//! One file per controller; none imports another.

use super::actor::Actor;
use super::component::{Outcome, View};
use super::queue::WorkKey;
use super::server::status::Status;
use super::server::write::Write;
use super::store::Change;
use crate::api::kind::Kind;

pub mod cluster_role_aggregation;
pub mod cronjob;
pub mod daemonset;
pub mod deployment;
pub mod disruption;
pub mod endpoints;
pub mod endpointslice;
pub mod endpointslice_mirroring;
pub mod ephemeral_volume;
pub mod garbage_collector;
pub mod horizontal_pod_autoscaler;
pub mod job;
pub mod namespace;
pub mod node_lifecycle;
pub mod persistent_volume;
pub mod pod_garbage_collector;
pub mod provisioner;
pub mod replicaset;
pub mod resource_quota;
pub mod root_ca;
pub mod service_account;
pub mod service_load_balancer;
pub mod statefulset;
pub mod taint_eviction;
pub mod ttl_after_finished;
pub mod volume_protection;

/// What a controller without a memory of its own consists of. The machine reaches it through these pointers only: one
/// that a cluster never calls is code that the page need not have fetched.
pub struct Controller {
    /// The keys that a change concerns.
    pub concerns: fn(&View<'_>, &Change) -> Vec<WorkKey>,
    /// Handles one key.
    pub reconcile: fn(&View<'_>, &WorkKey) -> Outcome,
    /// What is still to be written after a write was refused.
    pub after_refusal: fn(&View<'_>, &WorkKey, &Write, &Status) -> Vec<Write>,
}

macro_rules! controller {
    ($module:ident) => {
        &Controller {
            concerns: $module::concerns,
            reconcile: $module::reconcile,
            after_refusal: |_, _, _, _| Vec::new(),
        }
    };
    ($module:ident, after_refusal) => {
        &Controller {
            concerns: $module::concerns,
            reconcile: $module::reconcile,
            after_refusal: $module::after_refusal,
        }
    };
}

/// The controller behind an actor's name.
pub fn controller(actor: &Actor) -> Option<&'static Controller> {
    Some(match actor {
        Actor::Deployment => controller!(deployment, after_refusal),
        Actor::ReplicaSet => controller!(replicaset, after_refusal),
        Actor::ReplicationController => &Controller {
            concerns: |view, change| replicaset::concerns_of(Kind::ReplicationController, view, change),
            reconcile: replicaset::reconcile,
            after_refusal: replicaset::after_refusal,
        },
        Actor::StatefulSet => controller!(statefulset, after_refusal),
        Actor::DaemonSet => controller!(daemonset, after_refusal),
        Actor::Job => controller!(job, after_refusal),
        Actor::TtlAfterFinished => controller!(ttl_after_finished),
        Actor::CronJob => controller!(cronjob, after_refusal),
        // Its memory is its own: the machine hands it over.
        Actor::HorizontalPodAutoscaler => &Controller {
            concerns: horizontal_pod_autoscaler::concerns,
            reconcile: |view, key| horizontal_pod_autoscaler::reconcile(&mut Default::default(), view, key),
            after_refusal: horizontal_pod_autoscaler::after_refusal,
        },
        Actor::Disruption => controller!(disruption),
        Actor::ResourceQuota => controller!(resource_quota),
        Actor::PersistentVolume => controller!(persistent_volume),
        Actor::EphemeralVolume => controller!(ephemeral_volume),
        Actor::VolumeProtection => controller!(volume_protection),
        Actor::ServiceAccount => controller!(service_account),
        Actor::RootCa => controller!(root_ca),
        Actor::ClusterRoleAggregation => controller!(cluster_role_aggregation),
        Actor::Provisioner => controller!(provisioner),
        Actor::EndpointSlice => controller!(endpointslice),
        Actor::Endpoints => controller!(endpoints),
        Actor::EndpointSliceMirroring => controller!(endpointslice_mirroring),
        Actor::Namespace => controller!(namespace),
        Actor::GarbageCollector => controller!(garbage_collector),
        Actor::NodeLifecycle => controller!(node_lifecycle),
        Actor::PodGarbageCollector => controller!(pod_garbage_collector),
        Actor::ServiceLoadBalancer => controller!(service_load_balancer),
        _ => return None,
    })
}
