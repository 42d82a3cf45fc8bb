//! The facts of `tests/conformance/facts` as tests, a file of facts at a time.
//!
//! Every row is tried on the code and holds, or is counted in `tests/conformance/FACTS.md` with its reason as not
//! simulated or contradicted. A contradiction that is not listed there fails. `FACTS=write` in the environment writes
//! the list down again.

#![allow(clippy::unwrap_used)]

#[path = "facts/api_machinery.rs"]
mod api_machinery;
#[path = "facts/autoscale.rs"]
mod autoscale;
#[path = "facts/autoscale_and_more.rs"]
mod autoscale_and_more;
#[path = "facts/case.rs"]
mod case;
#[path = "facts/cluster_dns.rs"]
mod cluster_dns;
#[path = "facts/deployment_rolling.rs"]
mod deployment_rolling;
#[path = "facts/deployment_status.rs"]
mod deployment_status;
#[path = "facts/kubectl_output.rs"]
mod kubectl_output;
#[path = "facts/kubelet.rs"]
mod kubelet;
#[path = "facts/node_lifecycle.rs"]
mod node_lifecycle;
#[path = "facts/policies.rs"]
mod policies;
#[path = "facts/replicaset.rs"]
mod replicaset;
#[allow(dead_code)]
#[path = "facts/scene.rs"]
mod scene;
#[path = "facts/scheduler.rs"]
mod scheduler;
#[path = "facts/service_endpoints.rs"]
mod service_endpoints;
#[path = "facts/workloads.rs"]
mod workloads;

#[test]
fn api_machinery() {
    case::judge_file("api-machinery", api_machinery::judge);
}

#[test]
fn autoscale_and_more() {
    case::judge_file("autoscale-and-more", autoscale_and_more::judge);
}

#[test]
fn deployment_rolling() {
    case::judge_file("deployment-rolling", deployment_rolling::judge);
}

#[test]
fn kubelet() {
    case::judge_file("kubelet", kubelet::judge);
}

#[test]
fn node_lifecycle() {
    case::judge_file("node-lifecycle", node_lifecycle::judge);
}

#[test]
fn kubectl_output() {
    case::judge_file("kubectl-output", kubectl_output::judge);
}

#[test]
fn replicaset() {
    case::judge_file("replicaset", replicaset::judge);
}

#[test]
fn scheduler() {
    case::judge_file("scheduler", scheduler::judge);
}

#[test]
fn service_endpoints() {
    case::judge_file("service-endpoints", service_endpoints::judge);
}

/// Files that nothing tries yet: their rows are counted, so that the list is complete.
#[test]
fn the_rest() {
    case::judge_file("ingress", |_| case::Verdict::NotTried);
}
