//! Whether a container that ended is started again.
//!
//! Models: `pkg/kubelet/container/helpers.go` (`ShouldContainerBeRestarted`), container restart policy and rules (v1.36).

use serde_json::Value;

use crate::api::codec::Codec;
use crate::api::kinds::pod::{Container, ContainerStatus, Pod, PodSpec};

/// Whether the container is a sidecar: an init container that keeps running.
pub fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// Whether a container that ended with that code is started again. An init container that succeeded never is.
pub fn is_restarted(spec: &PodSpec, container: &Container, init: bool, exit_code: i32) -> bool {
    if let Some(action) = ruled(container, exit_code) {
        return action;
    }
    match container.restart_policy.as_deref().unwrap_or(spec.restart_policy.as_str()) {
        "Never" => false,
        "OnFailure" => exit_code != 0,
        _ if init && !is_sidecar(container) => exit_code != 0,
        _ => true,
    }
}

/// What the first of the container's rules that fits says.
fn ruled(container: &Container, exit_code: i32) -> Option<bool> {
    let rules = container.rest.get("restartPolicyRules")?.as_array()?;
    let fits = |rule: &&serde_json::Value| {
        let codes = &rule["exitCodes"];
        let listed = codes["values"]
            .as_array()
            .is_some_and(|values| values.iter().any(|value| value.as_i64() == Some(i64::from(exit_code))));
        match codes["operator"].as_str() {
            Some("In") => listed,
            Some("NotIn") => !listed,
            _ => false,
        }
    };
    rules.iter().find(fits).map(|rule| rule["action"].as_str() == Some("Restart"))
}

/// What the status of a Pod says of those.
pub fn ephemeral_statuses(pod: &Pod) -> Vec<ContainerStatus> {
    let told = pod.status.rest.get("ephemeralContainerStatuses").and_then(Value::as_array);
    told.into_iter().flatten().filter_map(|status| ContainerStatus::decode(status.clone()).ok()).collect()
}

/// The containers that were added to a Pod while it runs, to look into it: they start once and are never started again.
pub fn ephemeral_containers(pod: &Pod) -> Vec<Container> {
    let added = pod.spec.rest.get("ephemeralContainers").and_then(Value::as_array);
    added.into_iter().flatten().filter_map(|container| Container::decode(container.clone()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use serde_json::{Value, json};

    #[test]
    fn the_policy_decides_and_the_containers_own_comes_first() {
        let table = [
            ("Always restarts a success", "Always", json!({}), false, 0, true),
            ("OnFailure does not", "OnFailure", json!({}), false, 0, false),
            ("OnFailure restarts a failure", "OnFailure", json!({}), false, 1, true),
            ("Never restarts nothing", "Never", json!({}), false, 1, false),
            ("an init container that succeeded is done", "Always", json!({}), true, 0, false),
            ("an init container that failed is tried again", "Always", json!({}), true, 1, true),
            ("a sidecar always comes back", "Never", json!({"restartPolicy": "Always"}), true, 0, true),
            (
                "the container's own policy wins",
                "Never",
                json!({"restartPolicy": "OnFailure"}),
                false,
                1,
                true,
            ),
            (
                "a rule wins over both",
                "Never",
                json!({"restartPolicy": "Never", "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}]}),
                false,
                42,
                true,
            ),
        ];
        for (sentence, policy, container, init, exit_code, expected) in table {
            let spec = PodSpec { restart_policy: policy.to_string(), ..PodSpec::default() };
            let decode = |value: Value| Container::decode(value).unwrap();
            assert_eq!(is_restarted(&spec, &decode(container), init, exit_code), expected, "{sentence}");
        }
    }
}
