//! What runs on one node: the sandboxes of Pods, their containers, the images on its disk.
//!
//! The kubelet of the node changes it; whoever wants to know what a process does (a probe, a request, `kubectl logs`)
//! asks here. Everything a process does follows from its program and the seconds since it started, so a steady Pod needs
//! no work.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::process::{Answer, Process};
use crate::api::meta::{Name, ObjectKey, Uid};
use crate::api::time::Timestamp;

/// Everything that runs on one node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeRuntime {
    /// The Pods that have a sandbox, by key.
    pub pods: OrdMap<ObjectKey, Arc<RunningPod>>,
    /// The images on the node's disk.
    pub images: OrdSet<String>,
}

/// One Pod on its node: a sandbox with an address, and containers in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunningPod {
    /// The uid of the Pod it was made for.
    pub uid: Uid,
    /// Its name, which its processes know as their host name.
    pub name: Name,
    /// Its address; the node's own for a Pod with `hostNetwork`.
    pub ip: String,
    /// Init containers, then containers, as far as they were ever started, in the order of the spec.
    pub containers: Vec<RunningContainer>,
}

/// One container: the run that goes on or ended last, and the one before it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningContainer {
    /// The container's name.
    pub name: String,
    /// The image it runs.
    pub image: String,
    /// Whether it is an init container (sidecars are, too).
    pub init: bool,
    /// The latest run.
    pub process: Process,
    /// The run before it, whose log `kubectl logs --previous` shows.
    pub previous: Option<Process>,
    /// How often it was started again.
    pub restart_count: i32,
}

/// What somebody who connects to a port of a Pod meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// No process listens there: the connection is refused.
    Refused,
    /// A process answered.
    Answered {
        /// The container it runs in.
        container: String,
        /// What it said.
        answer: Answer,
    },
}

impl NodeRuntime {
    /// The Pod at that key.
    pub fn pod(&self, key: &ObjectKey) -> Option<&RunningPod> {
        self.pods.get(key).map(Arc::as_ref)
    }

    /// The first Pod, by key, with that address.
    pub fn pod_with_ip(&self, ip: &str) -> Option<(&ObjectKey, &RunningPod)> {
        self.pods.iter().find(|(_, pod)| pod.ip == ip).map(|(key, pod)| (key, pod.as_ref()))
    }
}

impl RunningPod {
    /// The container of that name, if it was ever started.
    pub fn container(&self, name: &str) -> Option<&RunningContainer> {
        self.containers.iter().find(|container| container.name == name)
    }

    /// The container whose process listens on that port.
    pub fn listener(&self, port: i32, now: Timestamp) -> Option<&RunningContainer> {
        self.containers.iter().find(|container| container.process.listens(port, now))
    }

    /// What an HTTP request for `path` to that port meets.
    pub fn ask(&self, port: i32, path: &str, now: Timestamp) -> Reply {
        match self.listener(port, now) {
            None => Reply::Refused,
            Some(container) => Reply::Answered {
                container: container.name.clone(),
                answer: container.process.answer(&self.name, &self.ip, port, path),
            },
        }
    }

    /// Whether any process runs.
    pub fn is_running(&self) -> bool {
        self.containers.iter().any(|container| container.process.is_running())
    }
}
