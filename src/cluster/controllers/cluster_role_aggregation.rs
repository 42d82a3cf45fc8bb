//! The aggregation of cluster roles: a role with an aggregation rule holds the rules of all roles that it selects.
//!
//! Watches: ClusterRoles.
//! Writes: ClusterRoles.
//! Models: `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go` (v1.36).
//! Leaves out: nothing that can be seen here.

use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::kinds::stored::ClusterRole;
use crate::cluster::aggregated_roles::gathered_rules;
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

/// The keys that a change concerns: every role that gathers others, since each may gather this one.
pub fn concerns(view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    if change.key.kind != Kind::ClusterRole {
        return Vec::new();
    }
    let gathers = |role: &ClusterRole| role.rest.get("aggregationRule").is_some_and(Value::is_object);
    let roles = view.store.list::<ClusterRole>().filter(|role| gathers(role));
    roles.map(|role| WorkKey::Object(crate::api::object::Resource::key(&**role))).collect()
}

/// Handles one ClusterRole.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let Some(role) = key.object().and_then(|key| view.store.at::<ClusterRole>(key)) else {
        return Outcome::nothing(Because::new("because.aggregation.gone"));
    };
    let Some(rules) = gathered_rules(view.store, role) else {
        return Outcome::nothing(Because::new("because.aggregation.gone"));
    };
    let name = &role.meta.name;
    if role.rest.get("rules").and_then(Value::as_array).map_or(&[][..], Vec::as_slice) == rules {
        return Outcome::nothing(Because::new("because.aggregation.nothing").with("role", name));
    }
    let because = Because::new("because.aggregation.write").with("role", name).with("count", rules.len());
    let mut gathered = (**role).clone();
    gathered.rest.set("rules", Some(Value::Array(rules)));
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes.push(Operation::Update(gathered.into()).because(because));
    outcome
}
