//! One file per controller; none imports another.

pub mod cronjob;
pub mod daemonset;
pub mod deployment;
pub mod disruption;
pub mod endpoints;
pub mod endpointslice;
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
