//! One workload at one moment, counted along the road: what its stages have come to.

use std::sync::Arc;

use super::ObjectReference;
use super::pods::{is_started, is_system};
use crate::api::kinds::apps::{Deployment, ReplicaSet};
use crate::api::kinds::networking::{EndpointSlice, Ingress, Service};
use crate::api::kinds::pod::Pod;
use crate::api::meta::ObjectKey;
use crate::api::object::Resource;
use crate::cluster::store::Store;

/// The annotation that numbers revisions.
const REVISION: &str = "deployment.kubernetes.io/revision";

/// A Deployment with everything that hangs on it.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The Deployment.
    pub deployment: Arc<Deployment>,
    /// The ReplicaSet of the newest revision.
    pub newest: Option<Arc<ReplicaSet>>,
    /// The ReplicaSets of older revisions that still want Pods or have them.
    pub older: Vec<Arc<ReplicaSet>>,
    /// The Pods of the newest revision that are not on their way out.
    pub pods: Vec<Arc<Pod>>,
    /// The Pods of older revisions, and all that are on their way out.
    pub leaving: Vec<Arc<Pod>>,
    /// The Services whose selector finds its Pods.
    pub services: Vec<Arc<Service>>,
    /// Their slices.
    pub slices: Vec<Arc<EndpointSlice>>,
    /// The Ingresses that name one of the Services.
    pub ingresses: Vec<Arc<Ingress>>,
}

/// The learner's Deployments, by namespace and name.
pub fn subjects_of(store: &Store) -> Vec<ObjectReference> {
    let deployments = store.list::<Deployment>().filter(|deployment| !is_system(&deployment.meta.namespace));
    deployments
        .map(|deployment| {
            ObjectReference::new("Deployment", &deployment.meta.namespace, &deployment.meta.name)
        })
        .collect()
}

impl Workload {
    /// The workload of a Deployment; `None` while there is none.
    pub fn of(store: &Store, subject: &ObjectReference) -> Option<Workload> {
        let deployment = Arc::clone(store.get::<Deployment>(&subject.namespace, &subject.name)?);
        let mut sets: Vec<Arc<ReplicaSet>> = store
            .owned_by(&deployment.meta.uid)
            .filter_map(|object| object.get::<ReplicaSet>())
            .cloned()
            .collect();
        sets.sort_by_key(|set| revision_of(set));
        let is_current = |set: &Arc<ReplicaSet>| is_of_template(set, &deployment);
        let at = sets.iter().rposition(is_current);
        let newest = at.map(|at| sets.remove(at));
        let pods_of = |set: &Arc<ReplicaSet>| -> Vec<Arc<Pod>> {
            store.owned_by(&set.meta.uid).filter_map(|object| object.get::<Pod>()).cloned().collect()
        };
        let (mut pods, mut leaving): (Vec<_>, Vec<_>) =
            newest.iter().flat_map(pods_of).partition(|pod| !pod.meta.is_terminating());
        pods.sort_by(|a, b| a.meta.name.cmp(&b.meta.name));
        leaving.extend(sets.iter().flat_map(pods_of));
        let older = sets
            .into_iter()
            .filter(|set| set.spec.replicas.unwrap_or(1) > 0 || set.status.replicas > 0)
            .collect();
        let labels = &deployment.spec.template.meta.labels;
        let services: Vec<Arc<Service>> = store
            .list_in::<Service>(&subject.namespace)
            .filter(|service| !service.spec.selector.is_empty())
            .filter(|service| service.spec.selector.iter().all(|(key, value)| labels.get(key) == Some(value)))
            .cloned()
            .collect();
        let named = |name: &str| services.iter().any(|service| *service.meta.name == *name);
        let slices = store
            .list_in::<EndpointSlice>(&subject.namespace)
            .filter(|slice| slice.service_name().is_some_and(&named))
            .cloned()
            .collect();
        let ingresses = store
            .list_in::<Ingress>(&subject.namespace)
            .filter(|ingress| backends_of(ingress).any(&named))
            .cloned()
            .collect();
        Some(Workload { deployment, newest, older, pods, leaving, services, slices, ingresses })
    }

    /// How many Pods are wanted.
    pub fn wanted(&self) -> usize {
        usize::try_from(self.deployment.spec.replicas.unwrap_or(1)).unwrap_or(0)
    }

    /// The Pods of the newest revision that are placed.
    pub fn placed(&self) -> usize {
        self.pods.iter().filter(|pod| pod.is_bound()).count()
    }

    /// Those whose containers run.
    pub fn started(&self) -> usize {
        self.pods.iter().filter(|pod| is_started(pod)).count()
    }

    /// Those that are Ready.
    pub fn ready(&self) -> usize {
        self.pods.iter().filter(|pod| pod.is_ready()).count()
    }

    /// Whether the EndpointSlices list that Pod as ready.
    pub fn is_listed(&self, pod: &Pod) -> bool {
        self.slices.iter().flat_map(|slice| &slice.endpoints).any(|endpoint| {
            endpoint.is_ready()
                && endpoint.target_ref.as_ref().is_some_and(|target| target.name == pod.meta.name)
        })
    }

    /// How many ready endpoints the slices list, of whatever revision.
    pub fn listed_in_all(&self) -> usize {
        self.slices.iter().flat_map(|slice| &slice.endpoints).filter(|endpoint| endpoint.is_ready()).count()
    }

    /// The keys of its Services.
    pub fn service_keys(&self) -> Vec<ObjectKey> {
        self.services
            .iter()
            .map(|service| {
                ObjectKey::new(Service::KIND, service.meta.namespace.clone(), service.meta.name.clone())
            })
            .collect()
    }

    /// Whether the rollout is over: everything updated and available, nothing old left.
    pub fn is_rolled_out(&self) -> bool {
        let status = &self.deployment.status;
        let wanted = self.deployment.spec.replicas.unwrap_or(1);
        status.observed_generation >= self.deployment.meta.generation
            && status.updated_replicas == wanted
            && status.replicas == wanted
            && status.available_replicas == wanted
    }

    /// Whether the progress deadline has passed.
    pub fn is_stalled(&self) -> bool {
        self.deployment
            .status
            .conditions
            .iter()
            .any(|condition| condition.condition_type == "Progressing" && condition.status == "False")
    }

    /// The number of the newest revision; empty before there is one.
    pub fn revision(&self) -> String {
        self.newest.as_ref().and_then(|set| set.meta.annotations.get(REVISION)).cloned().unwrap_or_default()
    }
}

fn revision_of(set: &ReplicaSet) -> u64 {
    set.meta.annotations.get(REVISION).and_then(|revision| revision.parse().ok()).unwrap_or(0)
}

/// Whether a ReplicaSet carries the template that the Deployment has now, the hash label aside.
fn is_of_template(set: &ReplicaSet, deployment: &Deployment) -> bool {
    let mut labels = set.spec.template.meta.labels.clone();
    labels.remove("pod-template-hash");
    labels == deployment.spec.template.meta.labels
        && set.spec.template.meta.annotations == deployment.spec.template.meta.annotations
        && set.spec.template.spec == deployment.spec.template.spec
}

/// The names of the Services that an Ingress sends to.
pub fn backends_of(ingress: &Ingress) -> impl Iterator<Item = &str> {
    let rules = ingress.spec.rules.iter().filter_map(|rule| rule.http.as_ref()).flat_map(|http| &http.paths);
    let backends = rules.map(|path| &path.backend).chain(&ingress.spec.default_backend);
    backends.filter_map(|backend| backend.service.as_ref()).map(|service| service.name.as_str())
}
