//! `kubectl create quota`, `create poddisruptionbudget` and `create priorityclass`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_quota.go`, `create_pdb.go`, `create_priorityclass.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Map, Value, json};

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

/// The flags of `create quota`.
pub const QUOTA: &[&[Flag]] =
    &[form::FLAGS, &[Flag::long("hard", Takes::Text), Flag::long("scopes", Takes::Text)]];
/// The flags of `create poddisruptionbudget`.
pub const BUDGET: &[&[Flag]] = &[
    form::FLAGS,
    &[
        Flag::long("min-available", Takes::Text),
        Flag::long("max-unavailable", Takes::Text),
        Flag::long("selector", Takes::Text),
    ],
];
/// The flags of `create priorityclass`.
pub const PRIORITY: &[&[Flag]] = &[
    form::FLAGS,
    &[
        Flag::long("value", Takes::Number),
        Flag::long("global-default", Takes::Nothing),
        Flag::long("description", Takes::Text),
        Flag::long("preemption-policy", Takes::Text),
    ],
];

/// Creates a quota.
pub fn quota(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let mut spec = json!({});
    let mut hard = Map::new();
    for term in call.text("hard").unwrap_or_default().split(',').filter(|term| !term.is_empty()) {
        let (resource, amount) = term.split_once('=').ok_or_else(|| {
            Failure::error(format!("invalid argument syntax {term}, expected <resource>=<value>"))
        })?;
        hard.insert(resource.to_string(), json!(amount));
    }
    if !hard.is_empty() {
        spec["hard"] = Value::Object(hard);
    }
    if let Some(scopes) = call.text("scopes") {
        spec["scopes"] = scopes.split(',').collect();
    }
    let value = json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": spec, "status": {},
    });
    form::send(call, Kind::ResourceQuota, value, &Told::As("quota"))
}

/// Creates a disruption budget.
pub fn budget(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let selector = call.text("selector").ok_or_else(|| Failure::error("a selector must be specified"))?;
    let amount = |text: String| text.parse::<i32>().map_or_else(|_| json!(text), |number| json!(number));
    let (field, amount) = match (call.text("min-available"), call.text("max-unavailable")) {
        (Some(least), None) => ("minAvailable", amount(least)),
        (None, Some(most)) => ("maxUnavailable", amount(most)),
        (None, None) => {
            return Err(Failure::error("one of min-available or max-unavailable must be specified"));
        }
        (Some(_), Some(_)) => {
            return Err(Failure::error("min-available and max-unavailable cannot be both specified"));
        }
    };
    let value = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name},
        "spec": {field: amount, "selector": form::label_selector(&selector)?},
        "status": {"currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0},
    });
    form::send(call, Kind::PodDisruptionBudget, value, &Told::As("poddisruptionbudgets"))
}

/// Creates a priority class.
pub fn priority(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let mut value = json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name},
        "preemptionPolicy": call.text("preemption-policy").unwrap_or("PreemptLowerPriority".to_string()),
        "value": call.flags.number("value").unwrap_or(0),
    });
    if call.flags.on("global-default") {
        value["globalDefault"] = json!(true);
    }
    if let Some(description) = call.text("description") {
        value["description"] = json!(description);
    }
    form::send(call, Kind::PriorityClass, value, &Told::As("priorityclass"))
}
