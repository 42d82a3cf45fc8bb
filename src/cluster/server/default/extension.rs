//! Defaults of what extends a cluster: webhooks, policies, custom kinds, device claims, drivers of volumes, flows.
//!
//! Models: `pkg/apis/{admissionregistration,flowcontrol,resource,storage}/v1/defaults.go`,
//! `apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go` (v1.36).
//! Leaves out: when a device was tainted, which is a moment on the server's clock.

use serde_json::{Value, json};

use super::{Record, is_empty, items, made, set_absent, set_zero, text};

/// Fills in one record.
pub fn fill(kind: &str, record: &mut Record) {
    match kind {
        "admissionregistration.v1.ValidatingWebhook" | "admissionregistration.v1.MutatingWebhook" => {
            set_absent(record, "failurePolicy", "Fail");
            selected(record);
            set_absent(record, "timeoutSeconds", 10);
            if kind.ends_with("MutatingWebhook") {
                set_absent(record, "reinvocationPolicy", "Never");
            }
        }
        "admissionregistration.v1.MatchResources" => selected(record),
        "admissionregistration.v1.RuleWithOperations"
        | "admissionregistration.v1.NamedRuleWithOperations" => {
            set_absent(record, "scope", "*");
        }
        "admissionregistration.v1.ValidatingAdmissionPolicySpec"
        | "admissionregistration.v1.MutatingAdmissionPolicySpec" => {
            set_absent(record, "failurePolicy", "Fail");
        }
        "admissionregistration.v1.ParamRef" => set_absent(record, "parameterNotFoundAction", "Deny"),
        "admissionregistration.v1.ServiceReference"
        | "apiextensions.v1.ServiceReference"
        | "apiregistration.v1.ServiceReference" => set_absent(record, "port", 443),
        "apiextensions.v1.CustomResourceDefinition" => custom_resource_definition(record),
        "flowcontrol.v1.FlowSchemaSpec" => set_zero(record, "matchingPrecedence", 1000),
        "flowcontrol.v1.ExemptPriorityLevelConfiguration" => {
            set_absent(record, "nominalConcurrencyShares", 0);
            set_absent(record, "lendablePercent", 0);
        }
        "flowcontrol.v1.LimitedPriorityLevelConfiguration" => {
            set_absent(record, "nominalConcurrencyShares", 30);
            set_absent(record, "lendablePercent", 0);
        }
        "flowcontrol.v1.QueuingConfiguration" => {
            set_zero(record, "handSize", 8);
            set_zero(record, "queues", 64);
            set_zero(record, "queueLengthLimit", 50);
        }
        "resource.v1.ExactDeviceRequest" | "resource.v1.DeviceSubRequest" => {
            set_absent(record, "allocationMode", "ExactCount");
            if text(record, "allocationMode") == "ExactCount" {
                set_zero(record, "count", 1);
            }
        }
        "resource.v1.DeviceToleration" => set_absent(record, "operator", "Equal"),
        "storage.v1.CSIDriverSpec" => {
            set_absent(record, "attachRequired", true);
            for name in ["podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"] {
                set_absent(record, name, false);
            }
            set_absent(record, "fsGroupPolicy", "ReadWriteOnceWithFSType");
            if is_empty(record, "volumeLifecycleModes") {
                record.insert("volumeLifecycleModes".to_string(), json!(["Persistent"]));
            }
        }
        _ => {}
    }
}

/// What a webhook or a policy looks at, if it does not say.
fn selected(record: &mut Record) {
    set_absent(record, "matchPolicy", "Equivalent");
    set_absent(record, "namespaceSelector", json!({}));
    set_absent(record, "objectSelector", json!({}));
}

fn custom_resource_definition(object: &mut Record) {
    let spec = made(object, "spec");
    let names = made(spec, "names");
    let kind = text(names, "kind").to_string();
    if !kind.is_empty() {
        set_absent(names, "singular", kind.to_lowercase());
        set_absent(names, "listKind", format!("{kind}List"));
    }
    let conversion = made(spec, "conversion");
    set_absent(conversion, "strategy", "None");
    let stored: Vec<Value> = items(spec, "versions")
        .filter(|version| version.get("storage") == Some(&Value::Bool(true)))
        .take(1)
        .map(|version| version.get("name").cloned().unwrap_or_default())
        .collect();
    let status = made(object, "status");
    if is_empty(status, "storedVersions") {
        status.insert("storedVersions".to_string(), Value::Array(stored));
    }
}
