//! What could cure a refusal: for each rule, the changes after which a Pod that it refused is tried again.
//!
//! Models: the queueing hints of the default plugins (`EventsToRegister`, `isSchedulableAfter…`), and
//! `pkg/scheduler/scheduler.go` (`buildQueueingHintMap`: who waits for new nodes also waits for their taints) (v1.36).
//! Leaves out: kinds that are not simulated (drivers and their capacity, device claims).

use std::sync::Arc;

use super::filter::{
    inter_pod_affinity, node_affinity, node_name, node_ports, node_resources_fit, node_unschedulable,
    node_volume_limits, pod_topology_spread, taint_toleration, volume_binding, volume_restrictions,
    volume_zone,
};
use super::groups::Group;
use super::pod_terms::{Affinity, PodTerm};
use super::requests::{Amounts, Requests};
use super::snapshot::host_ports;
use super::spread::{Constraint, Constraints};
use super::{candidate, volumes};
use crate::api::kind::Kind;
use crate::api::kinds::cluster::{Node, Taint};
use crate::api::kinds::pod::{Pod, PodSpec};
use crate::api::labels::Labels;
use crate::api::meta::ObjectKey;
use crate::cluster::store::Store;

/// Something that changed.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A node, as it was and as it is.
    Node(Option<&'a Node>, Option<&'a Node>),
    /// A Pod on a node, as it was and as it is.
    Placed(Option<Neighbour>, Option<Neighbour>),
    /// A Pod for which room was being made is gone.
    NominatedGone,
    /// The waiting Pod itself, as it is now.
    Own(&'a Pod),
    /// A claim, a volume, a class or a node's limit of volumes came or changed.
    Storage(&'a ObjectKey),
}

/// A Pod on a node, as far as it matters to others.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// What it has in common with others.
    pub group: Arc<Group>,
    /// What it asks for.
    pub spec: Arc<PodSpec>,
}

/// Whether the change could help a Pod that those rules refused.
pub fn helps(store: &Store, pod: &Pod, refused_by: &[&'static str], event: &Event<'_>) -> bool {
    // There was no node to be refused.
    if refused_by.is_empty() {
        return matches!(event, Event::Node(..));
    }
    refused_by.iter().any(|rule| match event {
        Event::Node(old, new) => node_helps(store, pod, rule, *old, *new),
        Event::Placed(old, new) => neighbour_helps(store, pod, rule, old.as_ref(), new.as_ref()),
        Event::NominatedGone => matches!(*rule, node_resources_fit::NAME | node_ports::NAME),
        Event::Own(new) => own_change_helps(store, pod, rule, new),
        Event::Storage(key) => storage_helps(pod, rule, key),
    })
}

fn node_helps(store: &Store, pod: &Pod, rule: &str, old: Option<&Node>, new: Option<&Node>) -> bool {
    let topology = || Constraints::of(pod, store).hard;
    let Some(new) = new else {
        let has_keys = |constraints: &[Constraint], node: &Node| {
            constraints.iter().all(|it| node.meta.labels.contains_key(&it.topology_key))
        };
        return rule == pod_topology_spread::NAME && old.is_some_and(|old| has_keys(&topology(), old));
    };
    let taints_changed = old.is_none_or(|old| {
        old.spec.taints != new.spec.taints || old.spec.unschedulable != new.spec.unschedulable
    });
    let labels_changed = old.is_none_or(|old| old.meta.labels != new.meta.labels);
    match rule {
        node_unschedulable::NAME => !new.spec.unschedulable && old.is_none_or(|old| old.spec.unschedulable),
        taint_toleration::NAME => tolerates_all(pod, new) && old.is_none_or(|old| !tolerates_all(pod, old)),
        pod_topology_spread::NAME => {
            let constraints = topology();
            let places = |node: &Node| -> Option<Vec<String>> {
                constraints.iter().map(|it| node.meta.labels.get(&it.topology_key).cloned()).collect()
            };
            let is_counted = places(new).is_some();
            old.and_then(places) != places(new) || is_counted && taints_changed
        }
        // Who waits for new nodes is asked again whenever taints change. Every node comes with a taint, which goes when
        // it is ready: if it is gone already, both happened since the last look.
        _ if taints_changed && (old.is_some() || !is_unready(new)) => true,
        node_affinity::NAME => {
            labels_changed
                && candidate::selects(pod, new)
                && old.is_none_or(|old| !candidate::selects(pod, old))
        }
        node_resources_fit::NAME => {
            let asked = Requests::of(&pod.spec).asked;
            node_resources_fit::fits_alone(&asked, new) && old.is_none_or(|old| offers_more(&asked, old, new))
        }
        inter_pod_affinity::NAME => {
            let affinity = Affinity::of(pod);
            let mut terms = affinity.required.iter().chain(&affinity.required_anti);
            labels_changed && terms.any(|term| new.meta.labels.contains_key(&term.topology_key))
        }
        volume_binding::NAME | volume_zone::NAME => labels_changed,
        node_name::NAME | node_ports::NAME | volume_restrictions::NAME | node_volume_limits::NAME => {
            old.is_none()
        }
        _ => true,
    }
}

/// Whether the node still has the taint with which it came.
fn is_unready(node: &Node) -> bool {
    node.spec.taints.iter().any(|taint| taint.key == "node.kubernetes.io/not-ready")
}

/// Whether the Pod tolerates everything that keeps Pods off the node.
fn tolerates_all(pod: &Pod, node: &Node) -> bool {
    let mut taints = node.spec.taints.iter().filter(|taint| taint.effect != "PreferNoSchedule");
    taints.all(|taint| tolerates(pod, taint))
}

fn tolerates(pod: &Pod, taint: &Taint) -> bool {
    pod.spec.tolerations.iter().any(|toleration| candidate::tolerates(toleration, taint))
}

/// Whether the node offers more than before of anything that is asked for, or takes more Pods.
fn offers_more(asked: &Amounts, old: &Node, new: &Node) -> bool {
    let (before, now) = (&old.status.allocatable, &new.status.allocatable);
    let (had, has) = (Amounts::of(before), Amounts::of(now));
    let pods = |list: &crate::api::kinds::ResourceList| list.get("pods").map_or(0, |count| count.value());
    pods(now) > pods(before)
        || asked.parts().any(|(name, asked)| asked > 0 && has.amount(name) > had.amount(name))
}

fn neighbour_helps(
    store: &Store,
    pod: &Pod,
    rule: &str,
    old: Option<&Neighbour>,
    new: Option<&Neighbour>,
) -> bool {
    match (rule, old, new) {
        (node_resources_fit::NAME, Some(_), None) => true,
        (node_resources_fit::NAME, Some(old), Some(new)) if !Arc::ptr_eq(&old.spec, &new.spec) => {
            let asked = Requests::of(&pod.spec).asked;
            let (had, has) = (Requests::of(&old.spec).asked, Requests::of(&new.spec).asked);
            asked.parts().any(|(name, asked)| asked > 0 && has.amount(name) < had.amount(name))
        }
        (node_ports::NAME, Some(old), None) => {
            let (taken, wanted) = (host_ports(&old.spec), host_ports(&pod.spec));
            wanted.iter().any(|wanted| taken.iter().any(|taken| node_ports::conflict(taken, wanted)))
        }
        (volume_restrictions::NAME, Some(old), None) => {
            let shared = volumes::claims_of(&pod.meta.name, &pod.spec);
            // The names of the volumes that a Pod brings along contain its own name, so no other Pod has them.
            let others = volumes::claims_of("", &old.spec);
            old.group.namespace == pod.meta.namespace && shared.iter().any(|claim| others.contains(claim))
                || volume_restrictions::share_disk(&pod.spec, &old.spec)
        }
        (node_volume_limits::NAME, Some(old), None) => !volumes::claims_of("", &old.spec).is_empty(),
        (inter_pod_affinity::NAME, _, _) => {
            let affinity = Affinity::of(pod);
            let all = |terms: &[PodTerm], neighbour: Option<&Neighbour>| {
                let means = |neighbour: &Neighbour| {
                    !terms.is_empty() && terms.iter().all(|term| term.means_group(store, &neighbour.group))
                };
                neighbour.is_some_and(means)
            };
            let unwelcome = |neighbour: Option<&Neighbour>| {
                neighbour.is_some_and(|neighbour| {
                    let mut terms = neighbour.group.affinity.required_anti.iter();
                    terms.any(|term| term.means(store, &pod.meta.namespace, &pod.meta.labels))
                })
            };
            all(&affinity.required, new) && !all(&affinity.required, old)
                || all(&affinity.required_anti, old) && !all(&affinity.required_anti, new)
                || unwelcome(old) && !unwelcome(new)
        }
        (pod_topology_spread::NAME, _, _) => {
            let counts = |constraint: &Constraint, neighbour: Option<&Neighbour>| {
                neighbour.is_some_and(|it| {
                    it.group.namespace == pod.meta.namespace && constraint.counts(&it.group.labels)
                })
            };
            let constraints = Constraints::of(pod, store).hard;
            constraints.iter().any(|constraint| counts(constraint, old) != counts(constraint, new))
        }
        _ => false,
    }
}

fn own_change_helps(store: &Store, old: &Pod, rule: &str, new: &Pod) -> bool {
    let tolerations_changed = old.spec.tolerations != new.spec.tolerations;
    let labels_changed = old.meta.labels != new.meta.labels;
    match rule {
        taint_toleration::NAME => tolerations_changed,
        node_unschedulable::NAME => tolerations_changed && tolerates(new, &node_unschedulable::taint()),
        node_resources_fit::NAME => {
            let (had, has) = (Requests::of(&old.spec).asked, Requests::of(&new.spec).asked);
            had.parts().any(|(name, had)| has.amount(name) < had)
        }
        inter_pod_affinity::NAME => labels_changed,
        pod_topology_spread::NAME => {
            let counts = |it: &Constraint, labels: &Labels| it.counts(labels);
            Constraints::of(old, store).hard.iter().any(|it| {
                tolerations_changed && it.honors_taints()
                    || labels_changed && counts(it, &old.meta.labels) != counts(it, &new.meta.labels)
            })
        }
        _ => false,
    }
}

fn storage_helps(pod: &Pod, rule: &str, key: &ObjectKey) -> bool {
    let is_named = || {
        key.namespace == pod.meta.namespace
            && volumes::claims_of(&pod.meta.name, &pod.spec).iter().any(|claim| **claim == *key.name)
    };
    match rule {
        volume_binding::NAME | volume_zone::NAME => match key.kind {
            Kind::PersistentVolumeClaim => is_named(),
            kind => kind != Kind::CSINode,
        },
        volume_restrictions::NAME => key.kind == Kind::PersistentVolumeClaim && is_named(),
        node_volume_limits::NAME => match key.kind {
            Kind::PersistentVolumeClaim => is_named(),
            kind => kind == Kind::CSINode,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::codec::Codec;

    fn node(changes: &[(&str, Value)]) -> Node {
        let mut value = json!({
            "metadata": {"name": "n", "labels": {"zone": "a"}}, "spec": {},
            "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}},
        });
        for (pointer, change) in changes {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            value.pointer_mut(parent).unwrap()[field] = change.clone();
        }
        Node::decode(value).unwrap()
    }

    fn pod(spec: Value) -> Pod {
        let labels = json!({"app": "web"});
        Pod::decode(json!({"metadata": {"name": "p", "namespace": "demo", "labels": labels}, "spec": spec}))
            .unwrap()
    }

    fn asking(cpu: &str) -> Value {
        json!({"containers": [{"resources": {"requests": {"cpu": cpu}}}]})
    }

    #[test]
    fn a_node_helps_when_it_cures_what_the_pod_was_refused_for() {
        let plain = || node(&[]);
        let taint = |key: &str| json!([{"key": key, "effect": "NoSchedule"}]);
        let tainted = || node(&[("/spec/taints", taint("k"))]);
        let unready = |cpu: &str| {
            let taints = taint("node.kubernetes.io/not-ready");
            node(&[("/spec/taints", taints), ("/status/allocatable/cpu", json!(cpu))])
        };
        let cordoned = || node(&[("/spec/unschedulable", json!(true))]);
        let larger = || node(&[("/status/allocatable/cpu", json!("4"))]);
        let more_memory = || node(&[("/status/allocatable/memory", json!("4Gi"))]);
        let labelled = || node(&[("/metadata/labels/disk", json!("ssd"))]);
        let (two, ssd) = (|| asking("2"), || json!({"nodeSelector": {"disk": "ssd"}}));
        let table = [
            ("a new node that is too small", node_resources_fit::NAME, two(), None, unready("1"), false),
            ("a new node that is large enough", node_resources_fit::NAME, two(), None, unready("4"), true),
            ("a node becomes ready", node_resources_fit::NAME, two(), Some(unready("1")), plain(), true),
            ("a new node is ready already", node_resources_fit::NAME, two(), None, plain(), true),
            ("a node grows", node_resources_fit::NAME, two(), Some(plain()), larger(), true),
            (
                "it grows where nothing was short",
                node_resources_fit::NAME,
                two(),
                Some(larger()),
                larger(),
                false,
            ),
            (
                "it gets more of something else",
                node_resources_fit::NAME,
                asking("1"),
                Some(plain()),
                more_memory(),
                false,
            ),
            ("a taint goes", node_resources_fit::NAME, two(), Some(tainted()), plain(), true),
            ("an untolerated taint goes", taint_toleration::NAME, json!({}), Some(tainted()), plain(), true),
            (
                "a label does not cure a taint",
                taint_toleration::NAME,
                json!({}),
                Some(plain()),
                labelled(),
                false,
            ),
            ("the node is uncordoned", node_unschedulable::NAME, json!({}), Some(cordoned()), plain(), true),
            ("the node is cordoned", node_unschedulable::NAME, json!({}), Some(plain()), cordoned(), false),
            ("the label that is selected", node_affinity::NAME, ssd(), Some(plain()), labelled(), true),
            ("another label", node_affinity::NAME, ssd(), Some(labelled()), labelled(), false),
            ("a label frees no port", node_ports::NAME, json!({}), Some(plain()), labelled(), false),
        ];
        for (sentence, rule, spec, old, new, expected) in table {
            let helps = helps(&Store::default(), &pod(spec), &[rule], &Event::Node(old.as_ref(), Some(&new)));
            assert_eq!(helps, expected, "{sentence}");
        }
    }

    #[test]
    fn a_pod_that_comes_goes_or_changes_helps_those_that_looked_at_it() {
        let neighbour = |labels: Value, spec: Value| {
            let pod = Pod::decode(json!({"metadata": {"namespace": "demo", "labels": labels}, "spec": spec}))
                .unwrap();
            Some(Neighbour { group: Arc::new(Group::of(&pod)), spec: pod.spec })
        };
        let term = json!([{"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "zone"}]);
        let affinity = |part: &str| json!({"affinity": {part: {"requiredDuringSchedulingIgnoredDuringExecution": term}}});
        let spread = || json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "db"}}}]});
        let port = |port: i32| json!({"containers": [{"ports": [{"containerPort": 80, "hostPort": port}]}]});
        let (db, web) = (|| json!({"app": "db"}), || json!({"app": "web"}));
        let plain = |labels: Value| neighbour(labels, json!({}));
        let table = [
            ("room is made", node_resources_fit::NAME, asking("1"), plain(web()), None, true),
            ("a new Pod makes no room", node_resources_fit::NAME, asking("1"), None, plain(web()), false),
            (
                "a Pod asks for less",
                node_resources_fit::NAME,
                asking("1"),
                neighbour(web(), asking("1")),
                neighbour(web(), asking("500m")),
                true,
            ),
            ("the port is free", node_ports::NAME, port(80), neighbour(web(), port(80)), None, true),
            ("another port is free", node_ports::NAME, port(80), neighbour(web(), port(81)), None, false),
            (
                "who must be near comes",
                inter_pod_affinity::NAME,
                affinity("podAffinity"),
                None,
                plain(db()),
                true,
            ),
            (
                "somebody else comes",
                inter_pod_affinity::NAME,
                affinity("podAffinity"),
                None,
                plain(web()),
                false,
            ),
            (
                "who must not be near goes",
                inter_pod_affinity::NAME,
                affinity("podAntiAffinity"),
                plain(db()),
                None,
                true,
            ),
            (
                "who must not be near is no longer meant",
                inter_pod_affinity::NAME,
                affinity("podAntiAffinity"),
                plain(db()),
                plain(web()),
                true,
            ),
            ("one that counts goes", pod_topology_spread::NAME, spread(), plain(db()), None, true),
            ("one that does not count goes", pod_topology_spread::NAME, spread(), plain(web()), None, false),
        ];
        for (sentence, rule, spec, old, new, expected) in table {
            let helps = helps(&Store::default(), &pod(spec), &[rule], &Event::Placed(old, new));
            assert_eq!(helps, expected, "{sentence}");
        }
    }

    #[test]
    fn a_pod_that_is_changed_itself_is_tried_when_that_could_help() {
        let tolerant = || json!({"tolerations": [{"operator": "Exists"}]});
        let table = [
            ("a toleration", taint_toleration::NAME, json!({}), tolerant(), true),
            ("a toleration makes no room", node_resources_fit::NAME, json!({}), tolerant(), false),
            ("it asks for less", node_resources_fit::NAME, asking("2"), asking("1"), true),
            ("it asks for more", node_resources_fit::NAME, asking("1"), asking("2"), false),
            ("nothing that matters", node_affinity::NAME, json!({}), json!({}), false),
        ];
        for (sentence, rule, old, new, expected) in table {
            let helps = helps(&Store::default(), &pod(old), &[rule], &Event::Own(&pod(new)));
            assert_eq!(helps, expected, "{sentence}");
        }
    }
}
