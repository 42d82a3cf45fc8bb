//! The claims that a Pod's volumes name, and the volumes that they are bound to or could be bound to.
//!
//! Models: `pkg/scheduler/framework/plugins/volumebinding` (`binder.go`), `component-helpers/storage/volume` (v1.36).
//! Leaves out: storage capacity of drivers.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::snapshot::Snapshot;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::{Pod, PodSpec};
use crate::api::kinds::storage::{BOUND_BY_CONTROLLER, SELECTED_NODE};
use crate::api::labels::Selector;
use crate::api::meta::ObjectKey;
use crate::api::object::{Object, Resource};
use crate::api::quantity::Quantity;
use crate::cluster::node_terms::RequiredTerms;
use crate::cluster::store::Store;

/// The provisioner of classes whose volumes people make by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The rule that looks for volumes.
const BINDING: &str = "VolumeBinding";

/// Everything about a Pod's volumes that nodes are judged by.
#[derive(Debug, Default)]
pub struct Volumes {
    /// Why no node can take the Pod, and the rule that says so.
    pub trouble: Option<(&'static str, String)>,
    /// The volumes of bound claims, as objects; null for one that does not exist.
    pub bound: Vec<Value>,
    /// Claims that are bound when the node is known, smallest first.
    pub unbound: Vec<Value>,
    /// Whether another Pod uses a claim that only one may use.
    pub in_use_elsewhere: bool,
    /// The volumes that are there, for the unbound claims.
    available: Vec<Value>,
    /// The classes of the unbound claims, in their order; null for one that does not exist.
    classes: Vec<Value>,
}

/// What is to be done for an unbound claim on the chosen node.
#[derive(Debug, PartialEq)]
enum Match<'a> {
    /// This volume is bound to it.
    Volume(&'a Value),
    /// A volume is made for it.
    Made,
    /// Neither is possible.
    Nothing,
}

/// The names of the claims that the volumes of the Pod of that name use.
pub fn claims_of(pod: &str, spec: &PodSpec) -> Vec<String> {
    named_claims(pod, spec).map(|(name, _)| name).collect()
}

/// The names, and whether the Pod brings the volume along.
fn named_claims(pod: &str, spec: &PodSpec) -> impl Iterator<Item = (String, bool)> {
    let volumes = spec.rest.get("volumes").and_then(Value::as_array);
    let name = move |volume: &Value| match volume["persistentVolumeClaim"]["claimName"].as_str() {
        Some(name) => Some((name.to_string(), false)),
        None => {
            let own = volume["name"].as_str().unwrap_or_default();
            volume["ephemeral"].is_object().then(|| (format!("{pod}-{own}"), true))
        }
    };
    volumes.into_iter().flatten().filter_map(name)
}

fn value_of(store: &Store, kind: Kind, namespace: &str, name: &str) -> Option<Value> {
    store.object(&ObjectKey::new(kind, namespace, name)).map(Object::to_value)
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn bytes(value: &Value, pointer: &str) -> i64 {
    text(value, pointer).parse::<Quantity>().map_or(0, |quantity| quantity.value())
}

fn is_bound(claim: &Value) -> bool {
    !text(claim, "/spec/volumeName").is_empty()
        && claim.pointer("/metadata/annotations/pv.kubernetes.io~1bind-completed").is_some()
}

impl Volumes {
    /// Reads the claims of the Pod.
    pub fn of(pod: &Pod, store: &Store, snapshot: &Snapshot) -> Self {
        let mut volumes = Self::default();
        let namespace = &pod.meta.namespace;
        let mut waits = false;
        for (name, comes_along) in named_claims(&pod.meta.name, &pod.spec) {
            let trouble = |text: String| Some((BINDING, text));
            let Some(claim) = value_of(store, Kind::PersistentVolumeClaim, namespace, &name) else {
                volumes.trouble = trouble(if comes_along {
                    let waits = "waiting for ephemeral volume controller to create the persistentvolumeclaim";
                    format!("{waits} \"{name}\"")
                } else {
                    format!("persistentvolumeclaim \"{name}\" not found")
                });
                return volumes;
            };
            let volume = text(&claim, "/spec/volumeName").to_string();
            if text(&claim, "/status/phase") == "Lost" {
                volumes.trouble = trouble(format!(
                    "persistentvolumeclaim \"{name}\" bound to non-existent persistentvolume \"{volume}\""
                ));
                return volumes;
            }
            if claim.pointer("/metadata/deletionTimestamp").is_some() {
                volumes.trouble = trouble(format!("persistentvolumeclaim \"{name}\" is being deleted"));
                return volumes;
            }
            let is_own = || {
                let owners = claim.pointer("/metadata/ownerReferences").and_then(Value::as_array);
                owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == *pod.meta.uid))
            };
            if comes_along && !is_own() {
                volumes.trouble = trouble(format!(
                    "PVC {namespace}/{name} was not created for pod {namespace}/{} (pod is not owner)",
                    pod.meta.name
                ));
                return volumes;
            }
            volumes.in_use_elsewhere |= is_for_one_pod(&claim) && is_used(pod, &name, store, snapshot);
            if is_bound(&claim) {
                volumes.bound.push(value_of(store, Kind::PersistentVolume, "", &volume).unwrap_or_default());
                continue;
            }
            let class = value_of(store, Kind::StorageClass, "", text(&claim, "/spec/storageClassName"))
                .unwrap_or_default();
            if text(&class, "/volumeBindingMode") == "WaitForFirstConsumer" && volume.is_empty() {
                volumes.unbound.push(claim);
            } else {
                waits = true;
            }
        }
        if waits {
            let text = "pod has unbound immediate PersistentVolumeClaims".to_string();
            volumes.trouble = Some((BINDING, text));
        }
        volumes.unbound.sort_by_key(|claim| bytes(claim, "/spec/resources/requests/storage"));
        if !volumes.unbound.is_empty() {
            volumes.available = store.objects_of(Kind::PersistentVolume).map(Object::to_value).collect();
            let class = |claim: &Value| {
                value_of(store, Kind::StorageClass, "", text(claim, "/spec/storageClassName"))
            };
            volumes.classes = volumes.unbound.iter().map(|claim| class(claim).unwrap_or_default()).collect();
        }
        volumes
    }

    /// Whether the Pod names any claim.
    pub fn has_claims(&self) -> bool {
        !self.bound.is_empty() || !self.unbound.is_empty()
    }

    /// Whether every bound volume may be used on the node; `None` when one does not exist.
    pub fn may_be_used_on(&self, node: &Node) -> Option<bool> {
        if self.bound.iter().any(Value::is_null) {
            return None;
        }
        Some(self.bound.iter().all(|volume| is_reachable(volume, node)))
    }

    /// Whether every unbound claim would find a volume on the node, or could have one made.
    pub fn can_be_bound_on(&self, node: &Node) -> bool {
        self.unbound.is_empty() || !self.matches(node).contains(&Match::Nothing)
    }

    /// What each unbound claim would get on the node, in their order.
    fn matches(&self, node: &Node) -> Vec<Match<'_>> {
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut matches = Vec::new();
        for (claim, class) in self.unbound.iter().zip(&self.classes) {
            let selected =
                text(claim, &format!("/metadata/annotations/{}", SELECTED_NODE.replace('/', "~1")));
            let found = if selected.is_empty() { self.volume_for(claim, node, &taken) } else { None };
            matches.push(match found {
                Some(volume) => {
                    taken.insert(text(volume, "/metadata/name"));
                    Match::Volume(volume)
                }
                None if !selected.is_empty() && selected != &*node.meta.name => Match::Nothing,
                None if can_be_made(class, node) => Match::Made,
                None => Match::Nothing,
            });
        }
        matches
    }

    /// The smallest volume that fits the claim and can be used on the node; one that is meant for the claim comes first.
    fn volume_for(&self, claim: &Value, node: &Node, taken: &BTreeSet<&str>) -> Option<&Value> {
        let fits = |volume: &&Value| {
            !taken.contains(text(volume, "/metadata/name"))
                && is_reachable(volume, node)
                && suits(volume, claim)
        };
        let candidates = || self.available.iter().filter(fits);
        let meant = candidates().find(|volume| is_meant_for(volume, claim));
        meant.or_else(|| {
            let free = candidates().filter(|volume| {
                volume.pointer("/spec/claimRef").is_none()
                    && !matches!(text(volume, "/status/phase"), "Bound" | "Released" | "Failed")
            });
            free.min_by_key(|volume| bytes(volume, "/spec/capacity/storage"))
        })
    }

    /// What has to be written so that the unbound claims get what they found on the node: volumes that are given to
    /// their claims, and claims whose volume is to be made there.
    pub fn changes_for(&self, node: &Node) -> Vec<Object> {
        let mut changes = Vec::new();
        for (claim, found) in self.unbound.iter().zip(self.matches(node)) {
            let (kind, value) = match found {
                Match::Volume(volume) => {
                    let mut volume = volume.clone();
                    volume["spec"]["claimRef"] = json!({
                        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                        "name": claim["metadata"]["name"], "namespace": claim["metadata"]["namespace"],
                        "uid": claim["metadata"]["uid"],
                        "resourceVersion": claim["metadata"]["resourceVersion"],
                    });
                    volume["metadata"]["annotations"][BOUND_BY_CONTROLLER] = json!("yes");
                    (Kind::PersistentVolume, volume)
                }
                Match::Made => {
                    let mut claim = claim.clone();
                    claim["metadata"]["annotations"][SELECTED_NODE] = json!(node.meta.name.to_string());
                    (Kind::PersistentVolumeClaim, claim)
                }
                Match::Nothing => continue,
            };
            changes.extend(Object::decode(kind, value).ok());
        }
        changes
    }
}

/// Whether all claims of the Pod are bound.
pub fn are_all_bound(pod: &Pod, store: &Store) -> bool {
    let bound = |name: &String| {
        value_of(store, Kind::PersistentVolumeClaim, &pod.meta.namespace, name).is_some_and(|c| is_bound(&c))
    };
    claims_of(&pod.meta.name, &pod.spec).iter().all(bound)
}

/// Whether something is being done for every claim of the Pod that is not bound: a volume is being made for it, or one was
/// given to it.
pub fn are_under_way(pod: &Pod, store: &Store) -> bool {
    let pointer = format!("/metadata/annotations/{}", SELECTED_NODE.replace('/', "~1"));
    claims_of(&pod.meta.name, &pod.spec).iter().all(|name| {
        let claim = value_of(store, Kind::PersistentVolumeClaim, &pod.meta.namespace, name);
        claim.is_some_and(|claim| {
            is_bound(&claim)
                || !text(&claim, &pointer).is_empty()
                || store
                    .objects_of(Kind::PersistentVolume)
                    .any(|volume| volume.to_value()["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"])
        })
    })
}

/// The volumes of the Pod that drivers attach, each by its driver and its name there.
pub fn driver_volumes(pod: &Pod, store: &Store) -> BTreeSet<(String, String)> {
    let namespace = &pod.meta.namespace;
    let volume_of = |(name, _): (String, bool)| {
        let claim = value_of(store, Kind::PersistentVolumeClaim, namespace, &name)?;
        let volume = text(&claim, "/spec/volumeName");
        if !volume.is_empty() {
            let volume = value_of(store, Kind::PersistentVolume, "", volume)?;
            let driver = volume.pointer("/spec/csi/driver")?.as_str()?.to_string();
            return Some((driver, text(&volume, "/spec/csi/volumeHandle").to_string()));
        }
        let class = value_of(store, Kind::StorageClass, "", text(&claim, "/spec/storageClassName"))?;
        Some((text(&class, "/provisioner").to_string(), format!("{namespace}/{name}")))
    };
    named_claims(&pod.meta.name, &pod.spec).filter_map(volume_of).collect()
}

fn is_for_one_pod(claim: &Value) -> bool {
    let modes = claim.pointer("/spec/accessModes").and_then(Value::as_array);
    modes.is_some_and(|modes| modes.iter().any(|mode| mode == "ReadWriteOncePod"))
}

/// Whether another placed Pod uses the claim.
fn is_used(pod: &Pod, claim: &str, store: &Store, snapshot: &Snapshot) -> bool {
    let others = store.list_in::<Pod>(&pod.meta.namespace);
    let mut others =
        others.filter(|other| other.meta.uid != pod.meta.uid && snapshot.is_placed(&other.key()));
    others.any(|other: &Arc<Pod>| claims_of(&other.meta.name, &other.spec).iter().any(|name| name == claim))
}

/// Whether the volume can be used on the node.
fn is_reachable(volume: &Value, node: &Node) -> bool {
    match volume.pointer("/spec/nodeAffinity/required") {
        Some(terms) if !terms.is_null() => RequiredTerms::read(terms).match_node(node),
        _ => true,
    }
}

fn is_meant_for(volume: &Value, claim: &Value) -> bool {
    let Some(meant) = volume.pointer("/spec/claimRef") else { return false };
    let uid = text(meant, "/uid");
    meant["name"] == claim["metadata"]["name"]
        && meant["namespace"] == claim["metadata"]["namespace"]
        && (uid.is_empty() || claim["metadata"]["uid"] == uid)
}

/// Whether class, size, modes and labels of the volume are what the claim asks for.
fn suits(volume: &Value, claim: &Value) -> bool {
    let modes = |value: &Value| {
        let modes = value.pointer("/spec/accessModes").and_then(Value::as_array).cloned();
        modes.unwrap_or_default()
    };
    let mode = |value: &Value| match text(value, "/spec/volumeMode") {
        "" => "Filesystem".to_string(),
        mode => mode.to_string(),
    };
    let offered = modes(volume);
    let selector = claim.pointer("/spec/selector").filter(|selector| !selector.is_null());
    let labels = volume.pointer("/metadata/labels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    let labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_string()))).collect();
    volume.pointer("/metadata/deletionTimestamp").is_none()
        && text(volume, "/spec/storageClassName") == text(claim, "/spec/storageClassName")
        && mode(volume) == mode(claim)
        && modes(claim).iter().all(|mode| offered.contains(mode))
        && bytes(volume, "/spec/capacity/storage") >= bytes(claim, "/spec/resources/requests/storage")
        && selector.is_none_or(|selector| Selector::from_label_selector(selector).matches(&labels))
}

/// Whether a volume of the class can be made for a claim on the node.
fn can_be_made(class: &Value, node: &Node) -> bool {
    if matches!(text(class, "/provisioner"), "" | NO_PROVISIONER) {
        return false;
    }
    let Some(terms) = class["allowedTopologies"].as_array().filter(|terms| !terms.is_empty()) else {
        return true;
    };
    let is_met = |expression: &Value| {
        let label = node.meta.labels.get(text(expression, "/key"));
        let values = expression["values"].as_array();
        label.is_some_and(|label| {
            values.is_some_and(|values| values.iter().any(|value| value == label.as_str()))
        })
    };
    terms.iter().any(|term| {
        term["matchLabelExpressions"].as_array().is_some_and(|expressions| expressions.iter().all(is_met))
    })
}
