//! What extends a cluster: webhooks, policies, custom kinds, services of other servers, claims on devices.
//!
//! Models: `pkg/apis/{admissionregistration,resource,storage}/validation`,
//! `apiextensions-apiserver/pkg/apis/apiextensions/validation`,
//! `kube-aggregator/pkg/apis/apiregistration/validation` (v1.36).
//! Leaves out: expressions in CEL, which are stored as they came; most of the rules for the schema of a custom kind.

use serde_json::Value;

use super::field::FieldError;
use super::meta;
use super::node::{Errors, Node, complain, one_of, one_of_if_given};
use super::policy;
use crate::api::names;

/// Judges the servers that are asked before something is stored.
pub fn webhooks(errors: &mut Errors, object: &Node<'_>) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let mut known: Vec<&str> = Vec::new();
    for hook in object.at("webhooks").items() {
        webhook(errors, &hook);
        let versions = hook.at("admissionReviewVersions");
        if versions.is_empty() {
            errors.push(versions.required("must specify one of v1, v1beta1"));
        } else if !versions.items().iter().any(|version| matches!(version.text(), "v1" | "v1beta1")) {
            errors.push(versions.invalid("must include at least one of v1, v1beta1"));
        }
        let name = hook.at("name");
        if known.contains(&name.text()) {
            errors.push(FieldError::duplicate(&name.path, name.value));
        } else if !name.is_empty() {
            known.push(name.text());
        }
    }
}

fn webhook(errors: &mut Errors, hook: &Node<'_>) {
    let name = hook.at("name");
    if name.is_empty() {
        errors.push(name.required(""));
    } else {
        let complaints = names::dns_subdomain(name.text());
        if !complaints.is_empty() {
            complain(errors, &name, complaints);
        } else if name.text().split('.').count() < 3 {
            errors.push(name.invalid("should be a domain with at least three segments separated by dots"));
        }
    }
    for rule in hook.at("rules").items() {
        rule_of(errors, &rule);
    }
    one_of_if_given(errors, &hook.at("failurePolicy"), &["Fail", "Ignore"]);
    one_of_if_given(errors, &hook.at("matchPolicy"), &["Equivalent", "Exact"]);
    let effects = hook.at("sideEffects");
    if effects.exists() {
        one_of_if_given(errors, &effects, &["None", "NoneOnDryRun"]);
    } else {
        errors.push(effects.required("must specify one of None, NoneOnDryRun"));
    }
    let timeout = hook.at("timeoutSeconds");
    if timeout.exists() && !(1..=30).contains(&timeout.number()) {
        errors.push(timeout.invalid("the timeout value must be between 1 and 30 seconds"));
    }
    meta::selector(errors, &hook.at("namespaceSelector"));
    meta::selector(errors, &hook.at("objectSelector"));
    one_of_if_given(errors, &hook.at("reinvocationPolicy"), &["IfNeeded", "Never"]);
    let client = hook.at("clientConfig");
    if client.at("url").exists() == client.at("service").exists() {
        errors.push(client.required("exactly one of url or service is required"));
    } else if client.at("service").exists() {
        service(errors, &client.at("service"));
    }
}

fn service(errors: &mut Errors, service: &Node<'_>) {
    for (name, detail) in
        [("name", "service name is required"), ("namespace", "service namespace is required")]
    {
        if service.at(name).is_empty() {
            errors.push(service.at(name).required(detail));
        }
    }
    let port = service.at("port");
    for detail in names::port_number(port.number()) {
        errors.push(port.invalid(&format!("port is not valid: {detail}")));
    }
}

/// Judges which requests are meant.
fn rule_of(errors: &mut Errors, rule: &Node<'_>) {
    let operations = rule.at("operations");
    if operations.is_empty() {
        errors.push(operations.required(""));
    }
    for operation in operations.items() {
        one_of_if_given(errors, &operation, &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]);
    }
    for name in ["apiGroups", "apiVersions", "resources"] {
        let list = rule.at(name);
        if list.is_empty() {
            errors.push(list.required(""));
        }
        if name != "apiGroups" {
            for item in list.items().iter().filter(|item| item.is_empty()) {
                errors.push(item.required(""));
            }
        }
        if name != "resources" && list.items().len() > 1 && list.items().iter().any(|item| item.text() == "*")
        {
            let what = if name == "apiGroups" { "API groups" } else { "API versions" };
            errors.push(list.invalid(&format!("if '*' is present, must not specify other {what}")));
        }
    }
    one_of_if_given(errors, &rule.at("scope"), &["*", "Cluster", "Namespaced"]);
}

/// Judges a policy, whose expressions are stored as they came.
pub fn admission_policy(errors: &mut Errors, object: &Node<'_>, validating: bool) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let spec = object.at("spec");
    one_of(errors, &spec.at("failurePolicy"), &["Fail", "Ignore"]);
    let kind = spec.at("paramKind");
    if kind.exists() {
        for name in ["apiVersion", "kind"] {
            if kind.at(name).is_empty() {
                errors.push(kind.at(name).required(""));
            }
        }
    }
    let constraints = spec.at("matchConstraints");
    if constraints.exists() {
        match_resources(errors, &constraints);
        if constraints.at("resourceRules").is_empty() {
            errors.push(constraints.at("resourceRules").required(""));
        }
    } else {
        errors.push(constraints.required(""));
    }
    if !validating {
        let mutations = spec.at("mutations");
        if mutations.is_empty() {
            errors.push(mutations.required("mutations must contain at least one item"));
        }
        return;
    }
    let (validations, annotations) = (spec.at("validations"), spec.at("auditAnnotations"));
    if validations.is_empty() && annotations.is_empty() {
        let detail = "validations or auditAnnotations must be specified";
        errors.push(validations.required(detail));
        errors.push(annotations.required(detail));
    }
    for validation in validations.items() {
        if validation.at("expression").text().trim().is_empty() {
            errors.push(validation.at("expression").required("expression is not specified"));
        }
        let reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
        one_of_if_given(errors, &validation.at("reason"), &reasons);
    }
}

/// Judges which objects a policy is about.
fn match_resources(errors: &mut Errors, node: &Node<'_>) {
    one_of_if_given(errors, &node.at("matchPolicy"), &["Equivalent", "Exact"]);
    meta::selector(errors, &node.at("namespaceSelector"));
    meta::selector(errors, &node.at("objectSelector"));
    for list in ["resourceRules", "excludeResourceRules"] {
        for rule in node.at(list).items() {
            rule_of(errors, &rule);
        }
    }
}

/// Judges where a policy holds.
pub fn policy_binding(errors: &mut Errors, object: &Node<'_>, validating: bool) {
    meta::metadata(errors, object, false, names::dns_subdomain);
    let spec = object.at("spec");
    let name = spec.at("policyName");
    if name.is_empty() {
        errors.push(name.required(""));
    } else {
        complain(errors, &name, names::dns_subdomain(name.text()));
    }
    let parameter = spec.at("paramRef");
    if parameter.exists() {
        let (name, selector) = (parameter.at("name"), parameter.at("selector"));
        if name.is_empty() && !selector.exists() {
            errors.push(parameter.required("one of name or selector must be specified"));
        } else if !name.is_empty() && selector.exists() {
            let detail = "name and selector are mutually exclusive";
            errors.push(name.forbidden(detail));
        }
        let action = parameter.at("parameterNotFoundAction");
        if action.exists() {
            one_of_if_given(errors, &action, &["Allow", "Deny"]);
        } else {
            errors.push(action.required(""));
        }
    }
    if spec.at("matchResources").exists() {
        match_resources(errors, &spec.at("matchResources"));
    }
    let actions = spec.at("validationActions");
    if !validating {
        return;
    }
    if actions.is_empty() {
        errors.push(actions.required(""));
    }
    for action in actions.items() {
        one_of_if_given(errors, &action, &["Audit", "Deny", "Warn"]);
    }
}

/// Judges a kind that somebody adds.
pub fn custom_resource_definition(errors: &mut Errors, object: &Node<'_>) {
    let spec = object.at("spec");
    let (group, kinds) = (spec.at("group"), spec.at("names"));
    meta::metadata(errors, object, false, names::dns_subdomain);
    let name = object.at("metadata").at("name");
    if !name.is_empty() && name.text() != format!("{}.{}", kinds.at("plural").text(), group.text()) {
        errors.push(name.invalid("must be spec.names.plural+\".\"+spec.group"));
    }
    if group.is_empty() {
        errors.push(group.required(""));
    } else if !names::dns_subdomain(group.text()).is_empty() {
        errors.push(group.invalid(&names::dns_subdomain(group.text()).join(",")));
    } else if !group.text().contains('.') {
        errors.push(group.invalid("should be a domain with at least one dot"));
    }
    one_of(errors, &spec.at("scope"), &["Cluster", "Namespaced"]);
    let versions = spec.at("versions");
    let mut stored = 0;
    let mut known: Vec<&str> = Vec::new();
    for version in versions.items() {
        let name = version.at("name");
        stored += i32::from(version.at("storage").is_true());
        let complaints = names::dns_1035_label(name.text());
        if !complaints.is_empty() {
            errors.push(name.invalid(&complaints.join(",")));
        }
        if known.contains(&name.text()) {
            errors.push(versions.invalid("must contain unique version names"));
        }
        known.push(name.text());
    }
    if stored != 1 {
        errors.push(versions.invalid("must have exactly one version marked as storage version"));
    }
    for version in versions.items() {
        let schema = version.at("schema").at("openAPIV3Schema");
        if !schema.exists() {
            errors.push(schema.required("schemas are required"));
        } else if schema.at("type").is_empty() {
            errors.push(schema.at("type").required("must not be empty at the root"));
        } else if schema.at("type").text() != "object" {
            errors.push(schema.at("type").invalid("must be object at the root"));
        }
    }
    for name in ["plural", "singular", "kind", "listKind"] {
        let node = kinds.at(name);
        let complaints = names::dns_1035_label(&node.text().to_lowercase());
        if node.is_empty() {
            errors.push(node.required(""));
        } else if !complaints.is_empty() {
            let prefix = match name {
                "kind" | "listKind" => "may have mixed case, but should otherwise match: ",
                _ => "",
            };
            errors.push(node.invalid(&format!("{prefix}{}", complaints.join(","))));
        }
    }
    for list in ["shortNames", "categories"] {
        for name in kinds.at(list).items() {
            let complaints = names::dns_1035_label(name.text());
            if !complaints.is_empty() {
                errors.push(name.invalid(&complaints.join(",")));
            }
        }
    }
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        group.text() == *domain || group.text().strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    });
    let approval = object.at("metadata").at("annotations").at("api-approved.kubernetes.io");
    if is_protected && approval.is_empty() {
        errors.push(FieldError::required(
            "metadata.annotations[api-approved.kubernetes.io]",
            "protected groups must have approval annotation \"api-approved.kubernetes.io\", see https://github.com/kubernetes/enhancements/pull/1111",
        ));
    }
}

/// The formats of texts that a server knows in the schema of a custom kind, without their dashes.
const FORMATS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// The formats of texts in a schema that the server passes over, since it does not know them.
///
/// Models: `apiextensions-apiserver/pkg/apiserver/validation/formats.go` (v1.36).
pub fn unknown_formats(schema: &Value, found: &mut Vec<String>) {
    let format = schema["format"].as_str().unwrap_or_default();
    if schema["type"] == "string"
        && !format.is_empty()
        && !FORMATS.contains(&format.replace('-', "").as_str())
    {
        found.push(format.to_string());
    }
    let Value::Object(members) = schema else { return };
    for (name, member) in members {
        match (name.as_str(), member) {
            ("properties" | "patternProperties" | "definitions", Value::Object(schemas)) => {
                schemas.values().for_each(|schema| unknown_formats(schema, found));
            }
            ("allOf" | "anyOf" | "oneOf" | "items", Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| unknown_formats(schema, found));
            }
            ("items" | "additionalProperties" | "additionalItems" | "not", schema) => {
                unknown_formats(schema, found);
            }
            _ => {}
        }
    }
}

/// Judges a group that another server serves.
pub fn api_service(errors: &mut Errors, object: &Node<'_>) {
    policy::named_by_path(errors, object, false);
    let spec = object.at("spec");
    let (group, version) = (spec.at("group"), spec.at("version"));
    let name = object.at("metadata").at("name");
    let expected = format!("{}.{}", version.text(), group.text());
    if name.text() != expected {
        errors.push(name.invalid(&format!("must be `spec.version+\".\"+spec.group`: {expected:?}")));
    }
    for (name, most) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let node = spec.at(name);
        if node.number() <= 0 || node.number() > most {
            let detail = format!("must be positive and less than {}", most.max(1000));
            errors.push(node.invalid(&detail));
        }
    }
    if !spec.at("service").exists() {
        return;
    }
    for name in ["namespace", "name"] {
        if spec.at("service").at(name).is_empty() {
            errors.push(spec.at("service").at(name).required(""));
        }
    }
    if spec.at("insecureSkipTLSVerify").is_true() && !spec.at("caBundle").is_empty() {
        let detail = "may not be true if caBundle is present";
        errors.push(spec.at("insecureSkipTLSVerify").invalid(detail));
    }
}

/// Judges a wish for a certificate.
pub fn signing_request(errors: &mut Errors, object: &Node<'_>) {
    policy::named_by_path(errors, object, false);
    let spec = object.at("spec");
    if spec.at("usages").is_empty() {
        errors.push(spec.at("usages").required("usages must be set"));
    }
    let seconds = spec.at("expirationSeconds");
    if seconds.exists() && seconds.number() < 600 {
        errors.push(seconds.invalid("may not specify a duration less than 600 seconds (10 minutes)"));
    }
    let signer = spec.at("signerName");
    if signer.is_empty() {
        errors.push(signer.required(""));
    } else if !signer.text().contains('/') {
        errors.push(
            signer.invalid("must be a fully qualified domain and path of the form 'example.com/signer-name'"),
        );
    }
}

/// Judges a claim on devices, or a template of such claims.
pub fn resource_claim(errors: &mut Errors, object: &Node<'_>, template: bool) {
    meta::metadata(errors, object, true, names::dns_subdomain);
    let spec = if template { object.at("spec").at("spec") } else { object.at("spec") };
    for request in spec.at("devices").at("requests").items() {
        let (exactly, first) = (request.at("exactly"), request.at("firstAvailable"));
        complain(errors, &request.at("name"), names::dns_label(request.at("name").text()));
        if exactly.exists() != first.is_empty() {
            let path = &request.path;
            errors.push(match exactly.exists() {
                true => request.invalid(
                    "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
                ),
                false => {
                    FieldError::required(path, "exactly one of `exactly` or `firstAvailable` is required")
                }
            });
        }
        let asked = if exactly.exists() { vec![exactly] } else { first.items() };
        for asked in asked {
            let class = asked.at("deviceClassName");
            if class.is_empty() {
                errors.push(class.required(""));
            } else {
                complain(errors, &class, names::dns_subdomain(class.text()));
            }
            one_of_if_given(errors, &asked.at("allocationMode"), &["All", "ExactCount"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unknown_formats;
    use serde_json::json;

    #[test]
    fn formats_of_texts_that_nobody_knows_are_found_in_every_corner_of_a_schema() {
        let schema = json!({"type": "object", "properties": {
            "format": {"type": "string", "format": "date-time"},
            "a": {"type": "integer", "format": "int32"},
            "b": {"type": "array", "items": {"anyOf": [{"type": "string", "format": "colour"}]}},
            "c": {"type": "object", "additionalProperties": {"type": "string", "format": "size"}},
        }});
        let mut found = Vec::new();
        unknown_formats(&schema, &mut found);
        assert_eq!(found, ["colour", "size"]);
    }
}
