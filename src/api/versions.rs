//! Older versions of kinds that a v1.36 server still serves, brought to the version that the cluster keeps.
//!
//! Models: `pkg/apis/autoscaling/v1/conversion.go` (v1.36).
//! Leaves out: what the first version has no field for and keeps in annotations.

use serde_json::{Value, json};

/// Brings an object to the version that the cluster keeps; whether it was of another.
pub fn upgrade(object: &mut Value) -> bool {
    if object["apiVersion"] != "autoscaling/v1" || object["kind"] != "HorizontalPodAutoscaler" {
        return false;
    }
    object["apiVersion"] = json!("autoscaling/v2");
    for part in ["spec", "status"] {
        let Some(Value::Object(fields)) = object.get_mut(part) else { continue };
        let (old, new) = match part {
            "spec" => ("targetCPUUtilizationPercentage", "metrics"),
            _ => ("currentCPUUtilizationPercentage", "currentMetrics"),
        };
        let Some(percent) = fields.remove(old).filter(|percent| !percent.is_null()) else { continue };
        let metric = match part {
            "spec" => {
                json!({"name": "cpu", "target": {"type": "Utilization", "averageUtilization": percent}})
            }
            _ => json!({"name": "cpu", "current": {"averageUtilization": percent}}),
        };
        fields.insert(new.to_string(), json!([{"type": "Resource", "resource": metric}]));
    }
    true
}

/// Brings an object back to the older version, for who asked in that.
pub fn downgrade(object: &mut Value) {
    if object["apiVersion"] != "autoscaling/v2" {
        return;
    }
    object["apiVersion"] = json!("autoscaling/v1");
    if let Some(Value::Object(spec)) = object.get_mut("spec") {
        spec.remove("behavior");
        let metrics = spec.remove("metrics").unwrap_or_default();
        let is_cpu = |metric: &&Value| metric["type"] == "Resource" && metric["resource"]["name"] == "cpu";
        let cpu = metrics.as_array().into_iter().flatten().find(is_cpu);
        if let Some(percent) = cpu.and_then(|metric| metric.pointer("/resource/target/averageUtilization")) {
            spec.insert("targetCPUUtilizationPercentage".to_string(), percent.clone());
        }
    }
    if let Some(Value::Object(status)) = object.get_mut("status") {
        status.remove("conditions");
        let metrics = status.remove("currentMetrics").unwrap_or_default();
        if let Some(percent) = metrics.pointer("/0/resource/current/averageUtilization") {
            status.insert("currentCPUUtilizationPercentage".to_string(), percent.clone());
        }
        for count in ["currentReplicas", "desiredReplicas"] {
            status.entry(count).or_insert(json!(0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_autoscaler_of_the_first_version_becomes_one_of_the_second() {
        let mut object = json!({
            "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler",
            "spec": {"maxReplicas": 4, "targetCPUUtilizationPercentage": 60},
        });
        assert!(upgrade(&mut object));
        let target = json!({"type": "Utilization", "averageUtilization": 60});
        assert_eq!(object["apiVersion"], "autoscaling/v2");
        assert_eq!(object["spec"]["metrics"][0]["resource"], json!({"name": "cpu", "target": target}));
        assert!(!upgrade(&mut object), "a second run changes nothing");
        downgrade(&mut object);
        assert_eq!(object["apiVersion"], "autoscaling/v1");
        assert_eq!(object["spec"], json!({"maxReplicas": 4, "targetCPUUtilizationPercentage": 60}));
    }
}
