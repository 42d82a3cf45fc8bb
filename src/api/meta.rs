//! What every object carries.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kind::Kind;
use super::sharing::{Shared, Word};
use super::time::Timestamp;

/// A name, a namespace, a node name: shared, since many objects repeat it.
pub type Name = Arc<str>;

/// The unique id of an object, `xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx`; empty before it is stored.
pub type Uid = Arc<str>;

/// The finalizer that holds an object until its dependents are gone.
pub const FOREGROUND_FINALIZER: &str = "foregroundDeletion";
/// The finalizer that holds an object until its dependents have let go of it.
pub const ORPHAN_FINALIZER: &str = "orphan";

/// Where an object stands in the store; orders by kind, then namespace, then name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct ObjectKey {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for kinds of the whole cluster.
    pub namespace: Name,
    /// Its name.
    pub name: Name,
}

impl ObjectKey {
    /// The key of `name` in `namespace`.
    pub fn new(kind: Kind, namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
        Self { kind, namespace: namespace.into(), name: name.into() }
    }
}

impl std::fmt::Display for ObjectKey {
    /// `Pod demo/api-1` or `Node node-1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.namespace {
            "" => write!(f, "{} {}", self.kind.name(), self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind.name(), self.name),
        }
    }
}

crate::record! {
    /// `metav1.ObjectMeta`.
    pub struct ObjectMeta {
        /// The name; empty only in a request with `generate_name`.
        name: Name = "name",
        /// The prefix from which the server makes a name.
        generate_name: Word = "generateName",
        /// The namespace; empty for kinds of the whole cluster.
        namespace: Name = "namespace",
        /// Set by the server on creation.
        uid: Uid = "uid",
        /// The store's revision at the last write; 0 before it is stored.
        resource_version: Revision = "resourceVersion",
        /// Counts changes of the wish (`spec`).
        generation: i64 = "generation",
        /// When the server stored it first.
        creation_timestamp: Option<Timestamp> = "creationTimestamp",
        /// When it is due to be gone; set once deletion was asked for.
        deletion_timestamp: Option<Timestamp> = "deletionTimestamp",
        /// The grace period that was granted, in seconds.
        deletion_grace_period_seconds: Option<i64> = "deletionGracePeriodSeconds",
        /// Labels, by which selectors find it.
        labels: Shared<BTreeMap<String, String>> = "labels",
        /// Annotations.
        annotations: Shared<BTreeMap<String, String>> = "annotations",
        /// The objects it belongs to.
        owner_references: Shared<Vec<OwnerReference>> = "ownerReferences",
        /// Who must let go before it can vanish.
        finalizers: Shared<Vec<String>> = "finalizers",
        /// Which components wrote it: what `managedFields` says of them is made from this when somebody asks. In no
        /// document.
        marks: Marks = "-",
    }

    /// `metav1.OwnerReference`.
    pub struct OwnerReference {
        /// Group and version of the owner.
        api_version: String = "apiVersion" always,
        /// Kind of the owner.
        kind: String = "kind" always,
        /// Name of the owner.
        name: Name = "name" always,
        /// Uid of the owner.
        uid: Uid = "uid" always,
        /// Whether this owner manages the object.
        controller: Option<bool> = "controller",
        /// Whether foreground deletion of the owner waits for the object.
        block_owner_deletion: Option<bool> = "blockOwnerDeletion",
    }
}

impl ObjectMeta {
    /// The owner that manages the object, if any.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller == Some(true))
    }

    /// Whether that object manages this one.
    pub fn is_controlled_by(&self, uid: &Uid) -> bool {
        self.controller().is_some_and(|owner| owner.uid == *uid)
    }

    /// Takes over from another state of the object who manages its fields.
    pub fn keep_managers(&mut self, other: &Self) {
        const MANAGED: &str = "managedFields";
        self.marks = other.marks.clone();
        if self.rest.get(MANAGED) != other.rest.get(MANAGED) {
            self.rest.set(MANAGED, other.rest.get(MANAGED).cloned());
        }
    }

    /// Whether deletion was asked for.
    pub fn is_terminating(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

/// A resourceVersion: a number in the store, a string in JSON.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct Revision(pub u64);

impl super::codec::Codec for Revision {
    fn decode(value: serde_json::Value) -> Result<Self, super::codec::CodecError> {
        let number =
            value.as_str().and_then(|text| if text.is_empty() { Some(0) } else { text.parse().ok() });
        number.map(Self).ok_or(super::codec::CodecError::expected("a resource version"))
    }
    fn encode(&self) -> serde_json::Value {
        serde_json::Value::String(self.0.to_string())
    }
    fn is_absent(&self) -> bool {
        self.0 == 0
    }
}

/// A component by the name under which it manages fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// kube-apiserver.
    ApiServer,
    /// kube-controller-manager.
    ControllerManager,
    /// kube-scheduler.
    Scheduler,
    /// A kubelet.
    Kubelet,
    /// cloud-controller-manager.
    CloudControllerManager,
    /// The Ingress controller.
    IngressController,
    /// The controller that gathers the rules of cluster roles, by applies.
    ClusterRoleAggregation,
    /// The provisioner of volumes.
    Provisioner,
    /// kubeadm, which installs what every cluster has.
    Installer,
}

impl Component {
    /// The name of the fields' manager.
    pub fn manager(self) -> &'static str {
        match self {
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kubelet => "kubelet",
            Self::CloudControllerManager => "cloud-controller-manager",
            Self::IngressController => "nginx-ingress-controller",
            Self::ClusterRoleAggregation => "clusterrole-aggregation-controller",
            Self::Provisioner => "local-path-provisioner",
            Self::Installer => "kubeadm",
        }
    }
}

/// That a component has written an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Who.
    pub by: Component,
    /// Whether it wrote the status, not the object itself.
    pub of_status: bool,
    /// When it did so last.
    pub at: Timestamp,
}

/// The components that have written an object, each once for the object and once for its status, in the order in which
/// they came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marks(Option<Arc<[Mark]>>);

impl Marks {
    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = Mark> + '_ {
        self.0.iter().flat_map(|marks| marks.iter().copied())
    }

    /// Whether no component has written the object.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The component that alone has written the object itself.
    pub fn writer(&self) -> Option<Component> {
        self.iter().find(|mark| !mark.of_status).map(|mark| mark.by)
    }

    /// Notes a write.
    pub fn note(&mut self, mark: Mark) {
        if self.iter().any(|known| known == mark) {
            return;
        }
        let same = |known: &Mark| (known.by, known.of_status) == (mark.by, mark.of_status);
        let is_new = !self.iter().any(|known| same(&known));
        let marks = self.iter().map(|known| if same(&known) { mark } else { known });
        self.0 = Some(marks.chain(is_new.then_some(mark)).collect());
    }

    /// Only those that speak of the status.
    pub fn of_status(&self) -> Self {
        let kept: Arc<[Mark]> = self.iter().filter(|mark| mark.of_status).collect();
        Self((!kept.is_empty()).then_some(kept))
    }
}

impl super::codec::Codec for Marks {
    fn decode(_: serde_json::Value) -> Result<Self, super::codec::CodecError> {
        Ok(Self::default())
    }
    fn encode(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
    fn is_absent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_marked_once_for_the_object_and_once_for_its_status() {
        let mark = |by, of_status, at| Mark { by, of_status, at: Timestamp(at) };
        let mut marks = Marks::default();
        for (by, of_status, at) in [
            (Component::ControllerManager, false, 1),
            (Component::Kubelet, true, 2),
            (Component::Kubelet, true, 3),
            (Component::ControllerManager, false, 4),
        ] {
            marks.note(mark(by, of_status, at));
        }
        let all: Vec<Mark> = marks.iter().collect();
        assert_eq!(all, [mark(Component::ControllerManager, false, 4), mark(Component::Kubelet, true, 3)]);
        assert_eq!(marks.writer(), Some(Component::ControllerManager));
        assert_eq!(marks.of_status().iter().collect::<Vec<_>>(), all[1..]);
        assert!(marks.of_status().writer().is_none() && !marks.is_empty());
    }
}
