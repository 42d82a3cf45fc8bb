//! The stage that judges values: every mistake of an object together, in the server's order and words.
//!
//! One file a group of kinds; a kind without rules of its own has only its metadata judged.
//!
//! Models: `pkg/apis/*/validation` (v1.36).
//! Leaves out: what needs the store (quotas, free addresses), which admission judges.

mod apps;
mod batch;
mod cluster;
mod container;
mod extension;
mod field;
mod internal;
mod meta;
mod networking;
mod node;
mod pod;
mod policy;
mod resources;
mod scheduling;
mod security;
mod service;
mod storage;
mod volume;
mod warnings;

use serde_json::Value;

pub use field::{FieldError, FieldErrorKind};
pub use warnings::warnings;

use self::node::{Errors, Node};
use crate::api::schema::Type;

/// Judges a new object, after defaulting and preparation; its name may still have to be generated.
pub fn validate_create(kind: &'static Type, object: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    let new = &Node::root(object);
    match kind.name {
        "core.v1.Pod" => pod::create(&mut errors, new),
        "core.v1.Service" => {
            service::families_of_cluster(&mut errors, new);
            if errors.is_empty() {
                service::create(&mut errors, new);
            }
        }
        "core.v1.ReplicationController" => apps::replication_controller(&mut errors, new),
        "core.v1.PodTemplate" => {
            meta::metadata(&mut errors, new, true, crate::api::names::dns_subdomain);
            pod::template(&mut errors, &new.at("template"));
        }
        "core.v1.Namespace" => cluster::namespace(&mut errors, new),
        "core.v1.Node" => cluster::node(&mut errors, new),
        "core.v1.ConfigMap" => cluster::config_map(&mut errors, new),
        "core.v1.Secret" => cluster::secret(&mut errors, new),
        "core.v1.ResourceQuota" => cluster::quota(&mut errors, new),
        "core.v1.LimitRange" => cluster::limit_range(&mut errors, new),
        "core.v1.Event" => cluster::event(&mut errors, new),
        "core.v1.PersistentVolume" => storage::persistent_volume(&mut errors, new),
        "core.v1.PersistentVolumeClaim" => storage::claim(&mut errors, new),
        "apps.v1.Deployment" => apps::deployment(&mut errors, new),
        "apps.v1.ReplicaSet" => apps::replica_set(&mut errors, new),
        "apps.v1.StatefulSet" => apps::stateful_set(&mut errors, new),
        "apps.v1.DaemonSet" => apps::daemon_set(&mut errors, new),
        "batch.v1.Job" => batch::job(&mut errors, new),
        "batch.v1.CronJob" => batch::cron_job(&mut errors, new),
        "autoscaling.v2.HorizontalPodAutoscaler" => policy::autoscaler(&mut errors, new),
        "coordination.v1.Lease" => cluster::lease(&mut errors, new),
        "discovery.v1.EndpointSlice" => networking::endpoint_slice(&mut errors, new),
        "networking.v1.Ingress" => networking::ingress(&mut errors, new),
        "networking.v1.IngressClass" => networking::ingress_class(&mut errors, new),
        "networking.v1.NetworkPolicy" => networking::network_policy(&mut errors, new),
        "policy.v1.PodDisruptionBudget" => policy::disruption_budget(&mut errors, new),
        "rbac.v1.Role" => policy::role(&mut errors, new, true),
        "rbac.v1.ClusterRole" => policy::role(&mut errors, new, false),
        "rbac.v1.RoleBinding" => policy::role_binding(&mut errors, new, true),
        "rbac.v1.ClusterRoleBinding" => policy::role_binding(&mut errors, new, false),
        "scheduling.v1.PriorityClass" => policy::priority_class(&mut errors, new),
        "node.v1.RuntimeClass" => policy::runtime_class(&mut errors, new),
        "storage.v1.StorageClass" => storage::storage_class(&mut errors, new),
        "admissionregistration.v1.MutatingWebhookConfiguration"
        | "admissionregistration.v1.ValidatingWebhookConfiguration" => extension::webhooks(&mut errors, new),
        "admissionregistration.v1.MutatingAdmissionPolicy" => {
            extension::admission_policy(&mut errors, new, false);
        }
        "admissionregistration.v1.ValidatingAdmissionPolicy" => {
            extension::admission_policy(&mut errors, new, true);
        }
        "admissionregistration.v1.MutatingAdmissionPolicyBinding" => {
            extension::policy_binding(&mut errors, new, false);
        }
        "admissionregistration.v1.ValidatingAdmissionPolicyBinding" => {
            extension::policy_binding(&mut errors, new, true);
        }
        "apiextensions.v1.CustomResourceDefinition" => {
            extension::custom_resource_definition(&mut errors, new);
        }
        "apiregistration.v1.APIService" => extension::api_service(&mut errors, new),
        "certificates.v1.CertificateSigningRequest" => extension::signing_request(&mut errors, new),
        "resource.v1.ResourceClaim" => extension::resource_claim(&mut errors, new, false),
        "resource.v1.ResourceClaimTemplate" => extension::resource_claim(&mut errors, new, true),
        "events.v1.Event" => {}
        kind => {
            let (group, _) = kind.split_once('.').unwrap_or_default();
            let is_cluster_wide = matches!(group, "flowcontrol" | "networking" | "resource" | "storage")
                && kind != "storage.v1.CSIStorageCapacity";
            cluster::metadata_only(&mut errors, new, !is_cluster_wide);
        }
    }
    without_repetitions(errors)
}

/// Judges the metadata of an object of a kind that somebody added.
pub fn validate_metadata(object: &Value, namespaced: bool) -> Vec<FieldError> {
    let mut errors = Errors::new();
    cluster::metadata_only(&mut errors, &Node::root(object), namespaced);
    errors
}

/// Judges a Pod whose containers ask for something else now, given the one that is stored.
pub fn validate_resize(old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    pod::resize(&mut errors, &Node::root(old), &Node::root(new));
    errors
}

/// Judges a Pod to which ephemeral containers were added, given the one that is stored.
pub fn validate_ephemeral(old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    pod::ephemeral_update(&mut errors, &Node::root(old), &Node::root(new));
    errors
}

/// Judges a changed object, given the one that is stored.
pub fn validate_update(kind: &'static Type, old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Errors::new();
    let (before, after) = (&Node::root(old), &Node::root(new));
    match kind.name {
        "core.v1.Pod" => pod::update(&mut errors, before, after),
        "core.v1.Service" => {
            service::families_of_cluster(&mut errors, after);
            if errors.is_empty() {
                service::update(&mut errors, before, after);
            }
        }
        "core.v1.Namespace" => cluster::namespace_update(&mut errors, before, after),
        "core.v1.Node" => cluster::node_update(&mut errors, before, after),
        "core.v1.ConfigMap" => cluster::config_map_update(&mut errors, before, after),
        "core.v1.Secret" => cluster::secret_update(&mut errors, before, after),
        "core.v1.ResourceQuota" => cluster::quota_update(&mut errors, before, after),
        "core.v1.PersistentVolume" => storage::persistent_volume_update(&mut errors, before, after),
        "core.v1.PersistentVolumeClaim" => storage::claim_update(&mut errors, before, after),
        "apps.v1.Deployment" => apps::deployment_update(&mut errors, before, after),
        "apps.v1.ReplicaSet" => apps::replica_set_update(&mut errors, before, after),
        "apps.v1.StatefulSet" => apps::stateful_set_update(&mut errors, before, after),
        "apps.v1.DaemonSet" => apps::daemon_set_update(&mut errors, before, after),
        "batch.v1.Job" => batch::job_update(&mut errors, before, after),
        "batch.v1.CronJob" => batch::cron_job_update(&mut errors, before, after),
        "discovery.v1.EndpointSlice" => networking::endpoint_slice_update(&mut errors, before, after),
        "networking.v1.Ingress" => networking::ingress_update(&mut errors, before, after),
        "networking.v1.IngressClass" => networking::ingress_class_update(&mut errors, before, after),
        "rbac.v1.RoleBinding" => policy::role_binding_update(&mut errors, before, after, true),
        "rbac.v1.ClusterRoleBinding" => policy::role_binding_update(&mut errors, before, after, false),
        "scheduling.v1.PriorityClass" => policy::priority_class_update(&mut errors, before, after),
        "storage.v1.StorageClass" => storage::storage_class_update(&mut errors, before, after),
        _ => return validate_create(kind, new),
    }
    without_repetitions(errors)
}

/// The same mistake is told once.
fn without_repetitions(errors: Errors) -> Vec<FieldError> {
    let mut told: Vec<FieldError> = Vec::with_capacity(errors.len());
    for error in errors {
        if !told.contains(&error) {
            told.push(error);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::validate_create;
    use crate::api::schema::root_of;
    use crate::cluster::server::{default, prepare};
    use serde_json::{Value, json};

    fn mistakes(api_version: &str, kind: &str, mut object: Value) -> Vec<String> {
        let schema = root_of(api_version, kind).unwrap();
        object["metadata"] = json!({"name": "a", "namespace": "demo"});
        if kind.ends_with("WebhookConfiguration") {
            object["metadata"]["namespace"].take();
        }
        default::default(schema, &mut object);
        prepare::prepare_for_create(schema, &mut object);
        validate_create(schema, &object).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn pods_are_refused_for_their_own_mistakes() {
        let table: [(&str, Value, &[&str]); 6] = [
            (
                "a parameter of the kernel",
                json!({"securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}}),
                &[],
            ),
            (
                "one of the node's own network",
                json!({"hostNetwork": true, "securityContext": {"sysctls": [{"name": "net.core.somaxconn", "value": "1"}]}}),
                &[
                    "spec.securityContext.sysctls[0].name: Invalid value: \"net.core.somaxconn\": may not be specified when 'hostNetwork' is true",
                ],
            ),
            (
                "a disk without a name",
                json!({"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": ""}}]}),
                &["spec.volumes[0].gcePersistentDisk.pdName: Required value"],
            ),
            (
                "a device that is no claim",
                json!({"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "c", "image": "i:1", "volumeDevices": [{"name": "v", "devicePath": "/dev/x"}]}]}),
                &[
                    "spec.containers[0].volumeDevices[0].name: Invalid value: \"v\": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
                ],
            ),
            (
                "mounts that the node should see",
                json!({"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "c", "image": "i:1", "volumeMounts": [{"name": "v", "mountPath": "/v", "mountPropagation": "Bidirectional"}]}]}),
                &[
                    "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers",
                ],
            ),
            (
                "nothing but reading, all the way down",
                json!({"volumes": [{"name": "v", "emptyDir": {}}], "containers": [{"name": "c", "image": "i:1", "volumeMounts": [{"name": "v", "mountPath": "/v", "recursiveReadOnly": "Enabled"}]}]}),
                &[
                    "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true",
                ],
            ),
        ];
        for (sentence, mut spec, expected) in table {
            if spec["containers"].is_null() {
                spec["containers"] = json!([{"name": "c", "image": "i:1"}]);
            }
            assert_eq!(mistakes("v1", "Pod", json!({"spec": spec})), expected, "{sentence}");
        }
    }

    #[test]
    fn other_kinds_are_refused_for_theirs() {
        let pod = json!({"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]});
        let table: [(&str, Vec<String>, &[&str]); 8] = [
            (
                "a webhook that says too little",
                mistakes(
                    "admissionregistration.k8s.io/v1",
                    "ValidatingWebhookConfiguration",
                    json!({"webhooks": [{"name": "a.b", "rules": [{"operations": ["DO"]}]}]}),
                ),
                &[
                    "webhooks[0].name: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots",
                    "webhooks[0].rules[0].operations[0]: Unsupported value: \"DO\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
                    "webhooks[0].rules[0].apiGroups: Required value",
                    "webhooks[0].rules[0].apiVersions: Required value",
                    "webhooks[0].rules[0].resources: Required value",
                    "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
                    "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
                    "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
                ],
            ),
            (
                "a kind whose definition has another name than its own",
                mistakes(
                    "apiextensions.k8s.io/v1",
                    "CustomResourceDefinition",
                    json!({"spec": {"group": "example.com", "scope": "Cluster", "names": {"kind": "Boat", "plural": "boats"}, "versions": [
                        {"name": "v1", "served": true, "storage": true},
                    ]}}),
                ),
                &[
                    "metadata.namespace: Forbidden: not allowed on this type",
                    "metadata.name: Invalid value: \"a\": must be spec.names.plural+\".\"+spec.group",
                    "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required",
                ],
            ),
            (
                "a claim on a device of no class",
                mistakes(
                    "resource.k8s.io/v1",
                    "ResourceClaim",
                    json!({"spec": {"devices": {"requests": [{"name": "r", "exactly": {}}]}}}),
                ),
                &["spec.devices.requests[0].exactly.deviceClassName: Required value"],
            ),
            (
                "a failure by the exit code of success",
                mistakes(
                    "batch/v1",
                    "Job",
                    json!({"spec": {
                        "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0, 3]}}]},
                        "template": {"spec": pod},
                    }}),
                ),
                &[
                    "spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator",
                ],
            ),
            (
                "retries of an index without indexes",
                mistakes(
                    "batch/v1",
                    "Job",
                    json!({"spec": {"backoffLimitPerIndex": 1, "template": {"spec": pod}}}),
                ),
                &["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
            ),
            (
                "an exception outside of its range",
                mistakes(
                    "networking.k8s.io/v1",
                    "NetworkPolicy",
                    json!({"spec": {"podSelector": {}, "ingress": [
                        {"from": [{"ipBlock": {"cidr": "10.0.0.0/24", "except": ["10.0.0.0/28", "10.1.0.0/28"]}}]},
                    ]}}),
                ),
                &[
                    "spec.ingress[0].from[0].ipBlock.except[1]: Invalid value: \"10.1.0.0/28\": must be a strict subset of `cidr`",
                ],
            ),
            (
                "bounds of claims that bound nothing",
                mistakes(
                    "v1",
                    "LimitRange",
                    json!({"spec": {"limits": [{"type": "PersistentVolumeClaim"}]}}),
                ),
                &[
                    "spec.limits[0].limits: Required value: either minimum or maximum storage value is required, but neither was provided",
                ],
            ),
            (
                "a ReplicationController that takes its selector from its template",
                mistakes(
                    "v1",
                    "ReplicationController",
                    json!({"spec": {"template": {
                        "metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i:1"}]},
                    }}}),
                ),
                &[],
            ),
        ];
        for (sentence, found, expected) in table {
            assert_eq!(found, expected, "{sentence}");
        }
    }
}
