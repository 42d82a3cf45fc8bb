//! Defaults of HorizontalPodAutoscalers.

use serde_json::{Value, json};

use super::{Record, inner, is_empty, made, set_absent};

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    if kind != "autoscaling.v2.HorizontalPodAutoscalerSpec" {
        return;
    }
    set_absent(record, "minReplicas", 1);
    if is_empty(record, "metrics") {
        record.insert(
            "metrics".to_string(),
            json!([{
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
            }]),
        );
    }
    if let Some(behavior) = inner(record, "behavior") {
        let policy = |kind: &str, value: i64| json!({"type": kind, "value": value, "periodSeconds": 15});
        let up = made(behavior, "scaleUp");
        set_absent(up, "stabilizationWindowSeconds", 0);
        rules(up, json!([policy("Pods", 4), policy("Percent", 100)]));
        rules(made(behavior, "scaleDown"), json!([policy("Percent", 100)]));
    }
}

fn rules(rules: &mut Record, policies: Value) {
    set_absent(rules, "selectPolicy", "Max");
    set_absent(rules, "policies", policies);
}
