//! One file per controller; none imports another.

pub mod daemonset;
pub mod deployment;
pub mod endpoints;
pub mod endpointslice;
pub mod garbage_collector;
pub mod job;
pub mod namespace;
pub mod node_lifecycle;
pub mod pod_garbage_collector;
pub mod replicaset;
pub mod service_load_balancer;
pub mod statefulset;
pub mod taint_eviction;
pub mod ttl_after_finished;
