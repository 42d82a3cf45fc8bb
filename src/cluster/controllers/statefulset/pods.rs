//! The Pods of a StatefulSet: their numbers, names, claims and health.
//!
//! Models: `pkg/controller/statefulset/stateful_set_utils.go` (v1.36): `getOrdinal`, `newStatefulSetPod`, `initIdentity`,
//! `updateStorage`, `getPersistentVolumeClaims`, `isUnavailable`.
//! Leaves out: nothing.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::api::codec::Codec;
use crate::api::kinds::apps::PodTemplateSpec;
use crate::api::kinds::pod::Pod;
use crate::api::kinds::storage::PersistentVolumeClaim;
use crate::api::kinds::workloads::StatefulSet;
use crate::api::meta::Name;
use crate::api::sharing::Word;
use crate::api::time::Timestamp;
use crate::cluster::ownership;
use crate::cluster::pod_template::pod_of;
use crate::cluster::revisions::REVISION_HASH;

/// The label with a Pod's whole name.
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
/// The label with a Pod's number.
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// The number at the end of a Pod's name, if the name is one that the StatefulSet gives.
pub fn ordinal_of(set: &StatefulSet, pod_name: &str) -> Option<i32> {
    let digits = pod_name.strip_prefix(&*set.meta.name)?.strip_prefix('-')?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The numbers that the StatefulSet wants.
pub fn wanted_ordinals(set: &StatefulSet) -> std::ops::Range<i32> {
    let start = set.spec.ordinals.as_ref().map_or(0, |ordinals| ordinals.start);
    start..start + set.spec.replicas.unwrap_or(1).max(0)
}

/// Whether it runs and is ready.
pub fn is_running_and_ready(pod: &Pod) -> bool {
    pod.status.phase == "Running" && pod.is_ready()
}

/// Whether it runs and has been ready for long enough.
pub fn is_running_and_available(set: &StatefulSet, pod: &Pod, now: Timestamp) -> bool {
    pod.status.phase == "Running" && pod.is_available(set.spec.min_ready_seconds, now)
}

/// Whether it is not there to be relied on: not available, or on its way out.
pub fn is_unavailable(set: &StatefulSet, pod: &Pod, now: Timestamp) -> bool {
    !is_running_and_available(set, pod, now) || pod.meta.is_terminating()
}

/// The revision that a Pod says it is of.
pub fn revision_of(pod: &Pod) -> &str {
    pod.meta.labels.get(REVISION_HASH).map_or("", String::as_str)
}

/// The Pod of that number, of a revision and its template.
pub fn new_pod(set: &Arc<StatefulSet>, template: &PodTemplateSpec, revision: &str, ordinal: i32) -> Pod {
    let mut pod = pod_of(template, &set.meta, ownership::controller_reference(&**set));
    let name = format!("{}-{ordinal}", set.meta.name);
    pod.meta.generate_name = Word::default();
    pod.meta.name = Name::from(name.as_str());
    pod.meta.labels.insert(REVISION_HASH.to_string(), revision.to_string());
    pod.meta.labels.insert(POD_NAME.to_string(), name.clone());
    pod.meta.labels.insert(POD_INDEX.to_string(), ordinal.to_string());
    let spec = Arc::make_mut(&mut pod.spec);
    spec.rest.set("hostname", Some(json!(name)));
    if !set.spec.service_name.is_empty() {
        spec.rest.set("subdomain", Some(json!(set.spec.service_name)));
    }
    let claims = claim_names(set, ordinal);
    if !claims.is_empty() {
        let known = spec.rest.get("volumes").and_then(Value::as_array).cloned().unwrap_or_default();
        let is_claimed =
            |volume: &Value| claims.iter().any(|(volume_name, _)| volume["name"] == *volume_name);
        let mut volumes: Vec<Value> = claims
            .iter()
            .map(|(volume, claim)| json!({"name": volume, "persistentVolumeClaim": {"claimName": claim}}))
            .collect();
        volumes.extend(known.into_iter().filter(|volume| !is_claimed(volume)));
        spec.rest.set("volumes", Some(Value::Array(volumes)));
    }
    pod
}

/// The Pod with the labels that say which one it is, if they were not there.
///
/// Models: `identityMatches`, `updateIdentity`.
pub fn with_identity(pod: &Pod, ordinal: i32) -> Option<Pod> {
    let wanted = [(POD_NAME, pod.meta.name.to_string()), (POD_INDEX, ordinal.to_string())];
    if wanted.iter().all(|(label, value)| pod.meta.labels.get(*label) == Some(value)) {
        return None;
    }
    let mut named = pod.clone();
    named.meta.labels.extend(wanted.map(|(label, value)| (label.to_string(), value)));
    Some(named)
}

/// The names of the claims that the Pod of that number has: of the volume, and of the claim.
pub fn claim_names(set: &StatefulSet, ordinal: i32) -> Vec<(String, String)> {
    let name_of = |template: &Value| {
        let volume = template["metadata"]["name"].as_str().unwrap_or_default().to_string();
        let claim = format!("{volume}-{}-{ordinal}", set.meta.name);
        (volume, claim)
    };
    set.spec.volume_claim_templates.iter().map(name_of).collect()
}

/// The claims that the Pod of that number needs.
pub fn claims_of(set: &StatefulSet, ordinal: i32) -> Vec<PersistentVolumeClaim> {
    let names = claim_names(set, ordinal);
    let claim_of = |(template, (_, name)): (&Value, (String, String))| {
        let mut template = template.clone();
        if let Some(map) = template.as_object_mut() {
            map.remove("apiVersion");
            map.remove("kind");
            map.remove("status");
        }
        let mut claim = PersistentVolumeClaim::decode(template).ok()?;
        claim.meta.name = Name::from(name);
        claim.meta.namespace = set.meta.namespace.clone();
        claim.meta.labels.extend(set.spec.selector.match_labels.clone());
        Some(claim)
    };
    set.spec.volume_claim_templates.iter().zip(names).filter_map(claim_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pods_number_stands_behind_its_owners_name() {
        let mut set = StatefulSet::default();
        set.meta.name = "db".into();
        let table = [
            ("its own Pod", "db-12", Some(12)),
            ("another set's Pod", "db2-1", None),
            ("a set whose name begins alike", "db-a-1", None),
            ("no number", "db-", None),
        ];
        for (sentence, name, expected) in table {
            assert_eq!(ordinal_of(&set, name), expected, "{sentence}");
        }
    }

    #[test]
    fn a_pod_has_its_name_host_name_and_claims() {
        let mut set = StatefulSet::default();
        set.meta.name = "db".into();
        set.spec.service_name = "db".into();
        set.spec.volume_claim_templates = vec![json!({"metadata": {"name": "data"}, "spec": {}})];
        let set = Arc::new(set);
        let pod = new_pod(&set, &set.spec.template.clone(), "db-abc", 1);
        assert_eq!(&*pod.meta.name, "db-1");
        assert_eq!(pod.spec.rest.get("hostname"), Some(&json!("db-1")));
        let volumes = pod.spec.rest.get("volumes").unwrap();
        assert_eq!(volumes[0], json!({"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}));
        assert_eq!(&*claims_of(&set, 1)[0].meta.name, "data-db-1");
        assert_eq!(with_identity(&pod, 1), None);
        let mut nameless = pod.clone();
        nameless.meta.labels.remove(POD_INDEX);
        assert_eq!(with_identity(&nameless, 1), Some(pod));
    }
}
