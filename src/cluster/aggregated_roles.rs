//! What a cluster role that gathers others is to hold.
//!
//! Models: `pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go` (v1.36).

use serde_json::Value;

use super::store::Store;
use crate::api::kinds::stored::ClusterRole;
use crate::api::labels::Selector;

/// The rules that a cluster role with an aggregation rule is to hold: those of the roles that it selects by label, each
/// once; `None` for any other role.
pub fn gathered_rules(store: &Store, role: &ClusterRole) -> Option<Vec<Value>> {
    let selectors = role.rest.get("aggregationRule")?.get("clusterRoleSelectors").and_then(Value::as_array);
    let mut rules: Vec<Value> = Vec::new();
    for selector in selectors.into_iter().flatten().map(Selector::from_label_selector) {
        let selected = store.list::<ClusterRole>().filter(|other| selector.matches(&other.meta.labels));
        for other in selected.filter(|other| other.meta.name != role.meta.name) {
            for rule in other.rest.get("rules").and_then(Value::as_array).into_iter().flatten() {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    Some(rules)
}
