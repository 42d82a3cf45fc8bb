//! The stage that judges values: every mistake of an object together, in the server's order and words.
//!
//! One file a group of kinds; a kind without rules of its own has only its metadata judged.
//!
//! Models: `pkg/apis/*/validation` (v1.36).
//! Leaves out: what needs the store (quotas, free addresses), which admission judges.

mod apps;
mod batch;
mod cluster;
mod container;
mod field;
mod internal;
mod meta;
mod networking;
mod node;
mod pod;
mod policy;
mod resources;
mod scheduling;
mod security;
mod service;
mod storage;
mod volume;
mod warnings;

use serde_json::Value;

pub use field::{FieldError, FieldErrorKind};
pub use warnings::warnings;

use self::node::{Errors, Node};
use crate::api::schema::Type;

/// Judges a new object, after defaulting and preparation; its name may still have to be generated.
pub fn validate_create(kind: &'static Type, object: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    let new = &Node::root(object);
    match kind.name {
        "core.v1.Pod" => pod::create(&mut errors, new),
        "core.v1.Service" => {
            service::families_of_cluster(&mut errors, new);
            if errors.is_empty() {
                service::create(&mut errors, new);
            }
        }
        "core.v1.ReplicationController" => apps::replication_controller(&mut errors, new),
        "core.v1.PodTemplate" => {
            meta::metadata(&mut errors, new, true, crate::api::names::dns_subdomain);
            pod::template(&mut errors, &new.at("template"));
        }
        "core.v1.Namespace" => cluster::namespace(&mut errors, new),
        "core.v1.Node" => cluster::node(&mut errors, new),
        "core.v1.ConfigMap" => cluster::config_map(&mut errors, new),
        "core.v1.Secret" => cluster::secret(&mut errors, new),
        "core.v1.ResourceQuota" => cluster::quota(&mut errors, new),
        "core.v1.LimitRange" => cluster::limit_range(&mut errors, new),
        "core.v1.Event" => cluster::event(&mut errors, new),
        "core.v1.PersistentVolume" => storage::persistent_volume(&mut errors, new),
        "core.v1.PersistentVolumeClaim" => storage::claim(&mut errors, new),
        "apps.v1.Deployment" => apps::deployment(&mut errors, new),
        "apps.v1.ReplicaSet" => apps::replica_set(&mut errors, new),
        "apps.v1.StatefulSet" => apps::stateful_set(&mut errors, new),
        "apps.v1.DaemonSet" => apps::daemon_set(&mut errors, new),
        "batch.v1.Job" => batch::job(&mut errors, new),
        "batch.v1.CronJob" => batch::cron_job(&mut errors, new),
        "autoscaling.v2.HorizontalPodAutoscaler" => policy::autoscaler(&mut errors, new),
        "coordination.v1.Lease" => cluster::lease(&mut errors, new),
        "discovery.v1.EndpointSlice" => networking::endpoint_slice(&mut errors, new),
        "networking.v1.Ingress" => networking::ingress(&mut errors, new),
        "networking.v1.IngressClass" => networking::ingress_class(&mut errors, new),
        "networking.v1.NetworkPolicy" => networking::network_policy(&mut errors, new),
        "policy.v1.PodDisruptionBudget" => policy::disruption_budget(&mut errors, new),
        "rbac.v1.Role" => policy::role(&mut errors, new, true),
        "rbac.v1.ClusterRole" => policy::role(&mut errors, new, false),
        "rbac.v1.RoleBinding" => policy::role_binding(&mut errors, new, true),
        "rbac.v1.ClusterRoleBinding" => policy::role_binding(&mut errors, new, false),
        "scheduling.v1.PriorityClass" => policy::priority_class(&mut errors, new),
        "storage.v1.StorageClass" => storage::storage_class(&mut errors, new),
        "events.v1.Event" => {}
        _ => cluster::metadata_only(&mut errors, new),
    }
    without_repetitions(errors)
}

/// Judges a changed object, given the one that is stored.
pub fn validate_update(kind: &'static Type, old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    let (before, after) = (&Node::root(old), &Node::root(new));
    match kind.name {
        "core.v1.Pod" => pod::update(&mut errors, before, after),
        "core.v1.Service" => {
            service::families_of_cluster(&mut errors, after);
            if errors.is_empty() {
                service::update(&mut errors, before, after);
            }
        }
        "core.v1.Namespace" => cluster::namespace_update(&mut errors, before, after),
        "core.v1.Node" => cluster::node_update(&mut errors, before, after),
        "core.v1.ConfigMap" => cluster::config_map_update(&mut errors, before, after),
        "core.v1.Secret" => cluster::secret_update(&mut errors, before, after),
        "core.v1.ResourceQuota" => cluster::quota_update(&mut errors, before, after),
        "core.v1.PersistentVolume" => storage::persistent_volume_update(&mut errors, before, after),
        "core.v1.PersistentVolumeClaim" => storage::claim_update(&mut errors, before, after),
        "apps.v1.Deployment" => apps::deployment_update(&mut errors, before, after),
        "apps.v1.ReplicaSet" => apps::replica_set_update(&mut errors, before, after),
        "apps.v1.StatefulSet" => apps::stateful_set_update(&mut errors, before, after),
        "apps.v1.DaemonSet" => apps::daemon_set_update(&mut errors, before, after),
        "batch.v1.Job" => batch::job_update(&mut errors, before, after),
        "batch.v1.CronJob" => batch::cron_job_update(&mut errors, before, after),
        "discovery.v1.EndpointSlice" => networking::endpoint_slice_update(&mut errors, before, after),
        "networking.v1.Ingress" => networking::ingress_update(&mut errors, before, after),
        "networking.v1.IngressClass" => networking::ingress_class_update(&mut errors, before, after),
        "rbac.v1.RoleBinding" => policy::role_binding_update(&mut errors, before, after, true),
        "rbac.v1.ClusterRoleBinding" => policy::role_binding_update(&mut errors, before, after, false),
        "scheduling.v1.PriorityClass" => policy::priority_class_update(&mut errors, before, after),
        "storage.v1.StorageClass" => storage::storage_class_update(&mut errors, before, after),
        _ => return validate_create(kind, new),
    }
    without_repetitions(errors)
}

/// The same mistake is told once.
fn without_repetitions(errors: Errors) -> Vec<FieldError> {
    let mut told: Vec<FieldError> = Vec::with_capacity(errors.len());
    for error in errors {
        if !told.contains(&error) {
            told.push(error);
        }
    }
    told
}
