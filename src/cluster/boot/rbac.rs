//! The roles and bindings that every cluster has from the start.
//!
//! Models: `plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go` (v1.36).
//! Leaves out: the roles of the system's own components, which are not asked for any here.

use std::sync::Arc;

use serde_json::{Value, json};

use super::install_value;
use crate::api::kind::Kind;
use crate::api::kinds::stored::ClusterRole;
use crate::api::manifest;
use crate::cluster::aggregated_roles::gathered_rules;
use crate::cluster::fact::Fact;
use crate::cluster::machine::Cluster;

const ROLES: &str = include_str!("rbac.yaml");
const GROUP: &str = "rbac.authorization.k8s.io";

/// Paths that everybody may ask for in the cluster of the recordings, beside those of every cluster.
const RECORDED_PATHS: [&str; 2] = ["/.well-known", "/.well-known/*"];

/// The cluster-wide bindings: role, and the groups that have it.
const BINDINGS: [(&str, &[&str]); 4] = [
    ("cluster-admin", &["system:masters"]),
    ("system:basic-user", &["system:authenticated"]),
    ("system:discovery", &["system:authenticated"]),
    ("system:public-info-viewer", &["system:authenticated", "system:unauthenticated"]),
];

/// Stores the roles and their bindings; in the playground, the developers get theirs in the namespace `default`.
pub(super) fn install(cluster: &mut Cluster, facts: &mut Vec<Arc<Fact>>) {
    let metadata = |name: &str| {
        json!({
            "name": name,
            "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
            "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
        })
    };
    for document in manifest::parse_known(ROLES).documents {
        for role in document.value.as_array().into_iter().flatten() {
            let name = role["name"].as_str().unwrap_or_default();
            let mut body = json!({"metadata": metadata(name)});
            for (label, value) in role["labels"].as_object().into_iter().flatten() {
                body["metadata"]["labels"][label] = value.clone();
            }
            body["rules"] = match role["gathers"].as_str() {
                Some(label) => {
                    body["aggregationRule"] =
                        json!({"clusterRoleSelectors": [{"matchLabels": {label: "true"}}]});
                    let mut gathering = ClusterRole::default();
                    gathering.rest.set("aggregationRule", Some(body["aggregationRule"].clone()));
                    Value::Array(gathered_rules(&cluster.store, &gathering).unwrap_or_default())
                }
                None => role["rules"].clone(),
            };
            if name == "system:discovery" && cluster.settings.recorded_runtime {
                // The build that the recordings were made with lets everybody ask for these as well.
                let paths = body["rules"][0]["nonResourceURLs"].as_array_mut();
                paths.into_iter().for_each(|paths| paths.extend(RECORDED_PATHS.map(Value::from)));
            }
            install_value(cluster, Kind::ClusterRole, "", name, body, facts);
        }
    }
    let group = |name: &&str| json!({"apiGroup": GROUP, "kind": "Group", "name": name});
    for (name, groups) in BINDINGS {
        let body = json!({
            "metadata": metadata(name),
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": name},
            "subjects": groups.iter().map(group).collect::<Vec<_>>(),
        });
        install_value(cluster, Kind::ClusterRoleBinding, "", name, body, facts);
    }
    if cluster.settings.system_pods {
        let body = json!({
            "metadata": {"name": "developers"},
            "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "edit"},
            "subjects": [group(&"developers")],
        });
        install_value(cluster, Kind::RoleBinding, "default", "developers", body, facts);
    }
}
