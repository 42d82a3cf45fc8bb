//! Pods for which room is being made on a node: they count there although they are not bound yet.
//!
//! Models: `pkg/scheduler/backend/queue/nominator.go` (v1.36).

use std::sync::Arc;

use imbl::OrdMap;

use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectKey};
use crate::api::object::Resource;

/// The nominated Pods, each with its node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nominated(OrdMap<ObjectKey, (Name, Arc<Pod>)>);

impl Nominated {
    /// Counts the Pod on the node of that name from now on; on none if the name is empty.
    pub fn see(&mut self, pod: &Arc<Pod>, node: &Name) {
        if node.is_empty() {
            self.0.remove(&pod.key());
        } else {
            self.0.insert(pod.key(), (node.clone(), pod.clone()));
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether room is being made for the Pod.
    pub fn has(&self, key: &ObjectKey) -> bool {
        self.0.contains_key(key)
    }

    /// Does not count the Pod any more.
    pub fn remove(&mut self, key: &ObjectKey) {
        if !self.0.is_empty() {
            self.0.remove(key);
        }
    }

    /// The other Pods nominated for that node that are at least as important as `pod`, by key.
    pub fn ahead_of<'a>(&'a self, pod: &'a Pod, node: &'a Name) -> impl Iterator<Item = &'a Arc<Pod>> {
        self.on(node).filter(move |other| priority(other) >= priority(pod) && other.meta.uid != pod.meta.uid)
    }

    /// The Pods nominated for that node that are less important than `pod`, by key.
    pub fn behind<'a>(&'a self, pod: &'a Pod, node: &'a Name) -> impl Iterator<Item = &'a Arc<Pod>> {
        self.on(node).filter(move |other| priority(other) < priority(pod))
    }

    fn on<'a>(&'a self, node: &'a Name) -> impl Iterator<Item = &'a Arc<Pod>> {
        self.0.values().filter(move |(on, _)| on == node).map(|(_, pod)| pod)
    }
}

/// What a Pod weighs against others.
pub fn priority(pod: &Pod) -> i32 {
    pod.spec.priority.unwrap_or(0)
}
