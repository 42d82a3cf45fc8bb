//! Pods that are alike to every rule that looks at other Pods: same namespace, labels, affinity, and whether they are on
//! their way out. Rules that count Pods ask about a group once, however many Pods it has.

use std::sync::Arc;

use imbl::OrdMap;
use serde_json::Value;

use super::pod_terms::Affinity;
use crate::api::kinds::pod::Pod;
use crate::api::labels::Labels;
use crate::api::meta::Name;
use crate::api::sharing::Shared;

/// What the Pods of one group have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Their namespace.
    pub namespace: Name,
    /// Their labels.
    pub labels: Shared<Labels>,
    /// Whether they are on their way out.
    pub terminating: bool,
    /// Which Pods they want to be near to, and far from.
    pub affinity: Affinity,
}

impl Group {
    /// The group that a Pod belongs to.
    pub fn of(pod: &Pod) -> Self {
        Self {
            namespace: pod.meta.namespace.clone(),
            labels: pod.meta.labels.clone(),
            terminating: pod.meta.is_terminating(),
            affinity: Affinity::of(pod),
        }
    }
}

type Identity = (Name, Shared<Labels>, bool, String);

/// All groups, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups {
    numbers: OrdMap<Identity, u32>,
    groups: OrdMap<u32, (Arc<Group>, u32)>,
    last: u32,
}

impl Groups {
    /// The group of that number.
    pub fn get(&self, number: u32) -> Option<&Arc<Group>> {
        self.groups.get(&number).map(|(group, _)| group)
    }

    /// Whether any placed Pod says something about other Pods.
    pub fn have_affinity(&self) -> bool {
        self.groups.values().any(|(group, _)| !group.affinity.is_empty())
    }

    /// Counts one more Pod in its group. Returns the group's number.
    pub fn join(&mut self, pod: &Pod) -> u32 {
        let identity = identity(pod);
        if let Some(number) = self.numbers.get(&identity).copied() {
            if let Some((_, members)) = self.groups.get_mut(&number) {
                *members += 1;
            }
            return number;
        }
        self.last += 1;
        self.groups.insert(self.last, (Arc::new(Group::of(pod)), 1));
        self.numbers.insert(identity, self.last);
        self.last
    }

    /// Whether the Pod still belongs to the group of that number.
    pub fn is_member(&self, number: u32, pod: &Pod) -> bool {
        self.numbers.get(&identity(pod)) == Some(&number)
    }

    /// Counts one Pod less; the group goes with its last Pod.
    pub fn leave(&mut self, number: u32) {
        let Some((_, members)) = self.groups.get_mut(&number) else { return };
        *members -= 1;
        if *members == 0 {
            self.groups.remove(&number);
            self.numbers =
                self.numbers.iter().filter(|(_, n)| **n != number).map(|(k, n)| (k.clone(), *n)).collect();
        }
    }
}

fn identity(pod: &Pod) -> Identity {
    let affinity = pod.spec.rest.get("affinity").filter(|value| !value.is_null());
    let text = affinity.map_or(String::new(), Value::to_string);
    (pod.meta.namespace.clone(), pod.meta.labels.clone(), pod.meta.is_terminating(), text)
}
