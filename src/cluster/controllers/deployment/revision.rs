//! Revisions: which ReplicaSet belongs to the present template, what it is called, what its annotations remember.
//!
//! Models: `pkg/controller/deployment/util/deployment_util.go` (v1.36): `EqualIgnoreHash`, `FindNewReplicaSet`,
//! `SetNewReplicaSetAnnotations`, `SetReplicasAnnotations`; `sync.go: getNewReplicaSet`;
//! `pkg/controller/controller_utils.go: ComputeHash`.
//! Leaves out: Go's dump of the template as the text that is hashed; here it is the canonical JSON, so hashes look
//! like upstream's but differ from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::api::kinds::apps::{Deployment, PodTemplateSpec, ReplicaSet};
use crate::api::meta::ObjectMeta;
use crate::cluster::fnv::fnv1a_32;
use crate::cluster::ownership;
use crate::cluster::rng::NAME_ALPHABET;

/// The label that tells the Pods of one revision from those of another.
pub const TEMPLATE_HASH: &str = "pod-template-hash";
/// The annotation with a ReplicaSet's revision, and with the Deployment's newest one.
pub const REVISION: &str = "deployment.kubernetes.io/revision";
/// The annotation with the revisions that a ReplicaSet had before.
pub const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The annotation with the size of the Deployment when the ReplicaSet was sized.
pub const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// The annotation with the most Pods that the Deployment might have then.
pub const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";

/// Annotations of the Deployment that its ReplicaSets do not get.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
];

const MAX_HISTORY_BYTES: usize = 2000;

/// The hash of a Pod template, in the letters of generated names. Clashes are told apart by their count.
pub fn pod_template_hash(template: &PodTemplateSpec, collision_count: Option<i32>) -> String {
    let text = template.to_value().to_string();
    let collisions = collision_count.map(i32::to_le_bytes).into_iter().flatten();
    let hash = fnv1a_32(text.bytes().chain(collisions));
    hash.to_string().bytes().map(|digit| char::from(NAME_ALPHABET[usize::from(digit) % 27])).collect()
}

/// Whether two templates are the same but for the hash label.
pub fn is_same_template(a: &PodTemplateSpec, b: &PodTemplateSpec) -> bool {
    let without_hash = |template: &PodTemplateSpec| -> ObjectMeta {
        let mut meta = template.meta.clone();
        meta.labels.remove(TEMPLATE_HASH);
        meta
    };
    (Arc::ptr_eq(&a.spec, &b.spec) || a.spec == b.spec) && without_hash(a) == without_hash(b)
}

/// The revision in an annotation; 0 when there is none.
pub fn revision_of(meta: &ObjectMeta) -> i64 {
    meta.annotations.get(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The number in an annotation.
pub fn number_in(meta: &ObjectMeta, annotation: &str) -> Option<i32> {
    meta.annotations.get(annotation)?.parse().ok()
}

/// The ReplicaSet of the present template, without its size.
pub fn new_replica_set(deployment: &Deployment) -> ReplicaSet {
    let hash = pod_template_hash(&deployment.spec.template, deployment.status.collision_count);
    let mut set = ReplicaSet::default();
    set.spec.template = deployment.spec.template.clone();
    set.spec.template.meta.labels.insert(TEMPLATE_HASH.to_string(), hash.clone());
    set.spec.selector = deployment.spec.selector.clone();
    set.spec.selector.match_labels.insert(TEMPLATE_HASH.to_string(), hash.clone());
    set.spec.min_ready_seconds = deployment.spec.min_ready_seconds;
    set.spec.replicas = Some(0);
    set.meta.name = format!("{}-{hash}", deployment.meta.name).into();
    set.meta.namespace = deployment.meta.namespace.clone();
    set.meta.labels = set.spec.template.meta.labels.clone();
    set.meta.owner_references.push(ownership::controller_reference(deployment));
    set
}

/// Brings the annotations of the present ReplicaSet up to date: the Deployment's own, and the revision with what it
/// was before. Returns whether anything changed.
pub fn annotate(deployment: &Deployment, set: &mut ObjectMeta, revision: i64) -> bool {
    let before = set.annotations.clone();
    for (key, value) in &deployment.meta.annotations {
        if !NOT_COPIED.contains(&key.as_str()) {
            set.annotations.insert(key.clone(), value.clone());
        }
    }
    let old = set.annotations.get(REVISION).cloned();
    let old_number = match &old {
        Some(text) => text.parse().ok(),
        None => Some(0),
    };
    if let Some(old_number) = old_number
        && old_number < revision
    {
        set.annotations.insert(REVISION.to_string(), revision.to_string());
        if let Some(old) = old {
            remember(&mut set.annotations, &old);
        }
    }
    before != set.annotations
}

/// Adds a revision to the remembered ones; the oldest are forgotten when the text grows too long.
fn remember(annotations: &mut BTreeMap<String, String>, revision: &str) {
    let history = annotations.get(REVISION_HISTORY).map_or("", String::as_str);
    let mut kept = history;
    while !kept.is_empty() && kept.len() + 1 + revision.len() > MAX_HISTORY_BYTES {
        kept = kept.split_once(',').map_or("", |(_, rest)| rest);
    }
    let history = if kept.is_empty() { revision.to_string() } else { format!("{kept},{revision}") };
    annotations.insert(REVISION_HISTORY.to_string(), history);
}

/// Writes down for which size of the Deployment the ReplicaSet was sized. Returns whether anything changed.
pub fn annotate_size(set: &mut ObjectMeta, desired: i32, max: i32) -> bool {
    let mut changed = false;
    for (key, value) in [(DESIRED_REPLICAS, desired), (MAX_REPLICAS, max)] {
        let value = value.to_string();
        changed |= set.annotations.insert(key.to_string(), value.clone()) != Some(value);
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(label: &str, hash: &str) -> PodTemplateSpec {
        let mut template = PodTemplateSpec::default();
        template.meta.labels.insert("app".to_string(), label.to_string());
        if !hash.is_empty() {
            template.meta.labels.insert(TEMPLATE_HASH.to_string(), hash.to_string());
        }
        template
    }

    #[test]
    fn a_hash_is_the_same_for_equal_templates_and_differs_by_collision_count() {
        let hash = |label, count| pod_template_hash(&template(label, ""), count);
        assert_eq!(hash("web", None), hash("web", None));
        assert_ne!(hash("web", None), hash("api", None));
        assert_ne!(hash("web", None), hash("web", Some(1)));
        assert!(hash("web", None).bytes().all(|letter| NAME_ALPHABET.contains(&letter)));
    }

    #[test]
    fn templates_are_compared_without_the_hash() {
        assert!(is_same_template(&template("web", "abc"), &template("web", "")));
        assert!(!is_same_template(&template("web", "abc"), &template("api", "abc")));
        let mut restarted = template("web", "");
        restarted.meta.annotations.insert("kubectl.kubernetes.io/restartedAt".into(), "now".into());
        assert!(!is_same_template(&restarted, &template("web", "")), "a restart is another template");
    }

    #[test]
    fn revisions_are_numbered_and_remembered() {
        let table = [
            ("the first revision remembers nothing", None, None, 1, Some("1"), None),
            ("a rollback remembers the revision it had", Some("1"), None, 3, Some("3"), Some("1")),
            ("and the ones before", Some("3"), Some("1"), 5, Some("5"), Some("1,3")),
            ("a revision never goes back", Some("5"), Some("1"), 3, Some("5"), Some("1")),
            ("the same revision changes nothing", Some("2"), None, 2, Some("2"), None),
            ("what is no number stays", Some("two"), None, 3, Some("two"), None),
        ];
        for (sentence, revision, history, new, expected, expected_history) in table {
            let mut set = ObjectMeta::default();
            let mut put = |key: &str, value: Option<&str>| {
                set.annotations.extend(value.map(|value| (key.to_string(), value.to_string())));
            };
            put(REVISION, revision);
            put(REVISION_HISTORY, history);
            annotate(&Deployment::default(), &mut set, new);
            let got = |key: &str| set.annotations.get(key).map(String::as_str);
            assert_eq!((got(REVISION), got(REVISION_HISTORY)), (expected, expected_history), "{sentence}");
            assert!(
                !annotate(&Deployment::default(), &mut set, new),
                "{sentence}: a second run changes nothing"
            );
        }
    }

    #[test]
    fn a_long_history_forgets_its_oldest_revisions() {
        let long = (1000..1400).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let mut annotations = BTreeMap::from([(REVISION_HISTORY.to_string(), long)]);
        remember(&mut annotations, "1400");
        let history = &annotations[REVISION_HISTORY];
        assert!(history.len() <= MAX_HISTORY_BYTES && history.ends_with(",1399,1400"));
        assert!(history.starts_with("1001,"));
    }

    #[test]
    fn a_replica_set_gets_the_deployments_annotations_but_not_those_about_itself() {
        let mut deployment = Deployment::default();
        for key in NOT_COPIED.into_iter().chain(["kubernetes.io/change-cause"]) {
            deployment.meta.annotations.insert(key.to_string(), "x".to_string());
        }
        let mut set = ObjectMeta::default();
        annotate(&deployment, &mut set, 1);
        let keys: Vec<&str> = set.annotations.keys().map(String::as_str).collect();
        assert_eq!(keys, [REVISION, "kubernetes.io/change-cause"]);
    }

    #[test]
    fn the_new_replica_set_carries_the_hash_in_name_labels_selector_and_template() {
        let mut deployment = Deployment::default();
        deployment.meta.name = "web".into();
        deployment.spec.template = template("web", "");
        deployment.spec.selector.match_labels.insert("app".to_string(), "web".to_string());
        let set = new_replica_set(&deployment);
        let hash = &set.meta.labels[TEMPLATE_HASH];
        assert_eq!(*set.meta.name, format!("web-{hash}"));
        assert_eq!(set.spec.selector.match_labels.get(TEMPLATE_HASH), Some(hash));
        assert!(set.spec.selector.matches(&set.spec.template.meta.labels));
        assert!(Arc::ptr_eq(&set.spec.template.spec, &deployment.spec.template.spec), "the spec is shared");
    }
}
