//! What a Pod asks for.
//!
//! Models: `component-helpers/resource/helpers.go` (`PodRequests`), `pkg/scheduler/util/pod_resources.go` (v1.36).
//! Leaves out: resizing in place (allocated and actual resources).

use std::collections::BTreeMap;

use crate::api::codec::Codec;
use crate::api::kinds::ResourceList;
use crate::api::kinds::pod::{Container, PodSpec, ResourceRequirements};

/// Amounts of everything a node shares out by size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Processor time, in thousandths of a processor.
    pub cpu_millicores: i64,
    /// Memory.
    pub memory_bytes: i64,
    /// Room on the node's disk.
    pub ephemeral_storage_bytes: i64,
    /// Anything else, in whole units, by name.
    pub extended: BTreeMap<String, i64>,
}

/// What the scores assume for a container that asks for no processor time.
pub const UNASKED_CPU_MILLICORES: i64 = 100;

/// What the scores assume for a container that asks for no memory.
pub const UNASKED_MEMORY_BYTES: i64 = 200 << 20;

impl Amounts {
    /// The amounts of a resource list; `pods` is not one of them.
    pub fn of(list: &ResourceList) -> Self {
        let mut amounts = Self::default();
        for (name, quantity) in list {
            match name.as_str() {
                "cpu" => amounts.cpu_millicores = quantity.milli(),
                "memory" => amounts.memory_bytes = quantity.value(),
                "ephemeral-storage" => amounts.ephemeral_storage_bytes = quantity.value(),
                "pods" => {}
                _ => {
                    amounts.extended.insert(name.clone(), quantity.value());
                }
            }
        }
        amounts
    }

    /// Every amount, by name.
    pub fn parts(&self) -> impl Iterator<Item = (&str, i64)> {
        let named = [
            ("cpu", self.cpu_millicores),
            ("memory", self.memory_bytes),
            ("ephemeral-storage", self.ephemeral_storage_bytes),
        ];
        named.into_iter().chain(self.extended.iter().map(|(name, amount)| (name.as_str(), *amount)))
    }

    /// The amount of that name; 0 if there is none.
    pub fn amount(&self, name: &str) -> i64 {
        self.parts().find(|(known, _)| *known == name).map_or(0, |(_, amount)| amount)
    }

    /// Adds other amounts.
    pub fn add(&mut self, other: &Self) {
        self.cpu_millicores += other.cpu_millicores;
        self.memory_bytes += other.memory_bytes;
        self.ephemeral_storage_bytes += other.ephemeral_storage_bytes;
        for (name, amount) in &other.extended {
            *self.extended.entry(name.clone()).or_default() += amount;
        }
    }

    /// Takes other amounts away.
    pub fn sub(&mut self, other: &Self) {
        self.cpu_millicores -= other.cpu_millicores;
        self.memory_bytes -= other.memory_bytes;
        self.ephemeral_storage_bytes -= other.ephemeral_storage_bytes;
        for (name, amount) in &other.extended {
            *self.extended.entry(name.clone()).or_default() -= amount;
        }
        self.extended.retain(|_, amount| *amount != 0);
    }

    /// Raises each amount to the other's, where that is larger.
    fn raise_to(&mut self, other: &Self) {
        self.cpu_millicores = self.cpu_millicores.max(other.cpu_millicores);
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.ephemeral_storage_bytes = self.ephemeral_storage_bytes.max(other.ephemeral_storage_bytes);
        for (name, amount) in &other.extended {
            let own = self.extended.entry(name.clone()).or_default();
            *own = (*own).max(*amount);
        }
    }

    fn assume(&mut self, asked: &ResourceList) {
        if !asked.contains_key("cpu") {
            self.cpu_millicores = UNASKED_CPU_MILLICORES;
        }
        if !asked.contains_key("memory") {
            self.memory_bytes = UNASKED_MEMORY_BYTES;
        }
    }
}

/// What a Pod asks for: as the filters count it, and as the scores do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// What it asks for.
    pub asked: Amounts,
    /// The same with an assumption for every container that asks for no processor time or no memory.
    pub assumed: Amounts,
}

impl Requests {
    /// What a Pod of that spec asks for.
    pub fn of(spec: &PodSpec) -> Self {
        Self { asked: total(spec, false), assumed: total(spec, true) }
    }
}

/// The sum of the containers and sidecars, or the largest moment of the init phase if that is larger; and the overhead.
/// Requests of the Pod as a whole take the place of its containers'.
fn total(spec: &PodSpec, assuming: bool) -> Amounts {
    let of = |container: &Container| {
        let mut amounts = Amounts::of(&container.resources.requests);
        if assuming {
            amounts.assume(&container.resources.requests);
        }
        amounts
    };
    let mut sum = Amounts::default();
    spec.containers.iter().for_each(|container| sum.add(&of(container)));
    let mut sidecars = Amounts::default();
    let mut init_peak = Amounts::default();
    for container in &spec.init_containers {
        let mut moment = of(container);
        if container.restart_policy.as_deref() == Some("Always") {
            sum.add(&moment);
            sidecars.add(&moment);
            init_peak.raise_to(&sidecars);
        } else {
            moment.add(&sidecars);
            init_peak.raise_to(&moment);
        }
    }
    sum.raise_to(&init_peak);
    if let Some(whole) = spec.rest.get("resources").cloned().map(ResourceRequirements::decode) {
        let asked = whole.unwrap_or_default().requests;
        let whole = Amounts::of(&asked);
        if asked.contains_key("cpu") {
            sum.cpu_millicores = whole.cpu_millicores;
        }
        if asked.contains_key("memory") {
            sum.memory_bytes = whole.memory_bytes;
        }
        // Huge pages are the only other thing that a whole Pod can ask for.
        sum.extended.extend(whole.extended);
    }
    sum.add(&Amounts::of(&spec.overhead));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_asks_for_its_containers_or_for_its_largest_init_moment() {
        let table = [
            (
                "containers add up",
                json!({"containers": [{"resources": {"requests": {"cpu": "100m"}}}, {"resources": {"requests": {"cpu": "0.2"}}}]}),
                300,
                300,
            ),
            (
                "a container that asks for nothing counts only in the scores",
                json!({"containers": [{}]}),
                0,
                100,
            ),
            (
                "a large init container raises the sum",
                json!({"containers": [{"resources": {"requests": {"cpu": "100m"}}}], "initContainers": [{"resources": {"requests": {"cpu": "1"}}}]}),
                1000,
                1000,
            ),
            (
                "a sidecar adds to the containers",
                json!({"containers": [{"resources": {"requests": {"cpu": "100m"}}}], "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}]}),
                1100,
                1100,
            ),
            (
                "an init container runs beside the sidecars before it",
                json!({"containers": [{"resources": {"requests": {"cpu": "0"}}}], "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}}, {"resources": {"requests": {"cpu": "2"}}}]}),
                3000,
                3000,
            ),
            (
                "the overhead comes on top",
                json!({"containers": [{"resources": {"requests": {"cpu": "100m"}}}], "overhead": {"cpu": "50m"}}),
                150,
                150,
            ),
            (
                "requests of the whole Pod count instead",
                json!({"containers": [{}], "resources": {"requests": {"cpu": "2"}}}),
                2000,
                2000,
            ),
        ];
        for (sentence, spec, asked, assumed) in table {
            let requests = Requests::of(&PodSpec::decode(spec).unwrap());
            assert_eq!(requests.asked.cpu_millicores, asked, "{sentence}");
            assert_eq!(requests.assumed.cpu_millicores, assumed, "{sentence}, in the scores");
        }
    }
}
