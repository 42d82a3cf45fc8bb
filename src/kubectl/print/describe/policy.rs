//! NetworkPolicies, disruption budgets, quotas and limits.

use serde_json::Value;

use super::{head, put};
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::kubectl::host::Host;
use crate::kubectl::print::value::{items, number, or, selector, text};

pub(super) fn network_policy(object: &Object, value: &Value) -> String {
    let spec = &value["spec"];
    let meta = object.meta();
    let mut out = format!("Name:\t{}\nNamespace:\t{}\n", meta.name, meta.namespace);
    let created = meta.creation_timestamp.map(|time| time.to_string()).unwrap_or_default();
    let created = created.replace('T', " ").replace('Z', " +0000 UTC");
    out.push_str(&format!("Created on:\t{created}\n"));
    out.push_str(&super::labels_lines("", "Labels", &meta.labels));
    out.push_str(&super::annotations_lines("", &meta.annotations));
    let pods = match selector(&spec["podSelector"]).as_str() {
        "<none>" => "<none> (Allowing the specific traffic to all pods in this namespace)".to_string(),
        pods => pods.to_string(),
    };
    out.push_str(&format!("Spec:\n  PodSelector:     {pods}\n"));
    let types: Vec<&str> = items(&spec["policyTypes"]).iter().filter_map(Value::as_str).collect();
    for (direction, lower, port, peer) in
        [("Ingress", "ingress", "from", "From"), ("Egress", "egress", "to", "To")]
    {
        if types.contains(&direction) || (types.is_empty() && direction == "Ingress") {
            out.push_str(&format!("  Allowing {lower} traffic:\n"));
            rules(&mut out, &spec[lower], lower, port, peer);
        } else {
            out.push_str(&format!("  Not affecting {lower} traffic\n"));
        }
    }
    out.push_str(&format!("  Policy Types: {}\n", types.join(", ")));
    out
}

/// The rules of one direction; `field` holds the peers and `peer` names them.
fn rules(out: &mut String, rules: &Value, direction: &str, field: &str, peer: &str) {
    const INDENT: &str = "    ";
    let rules = items(rules);
    if rules.is_empty() {
        out.push_str(&format!("{INDENT}<none> (Selected pods are isolated for {direction} connectivity)\n"));
    }
    for (index, rule) in rules.iter().enumerate() {
        if index > 0 {
            out.push_str(&format!("{INDENT}----------\n"));
        }
        if items(&rule["ports"]).is_empty() {
            out.push_str(&format!("{INDENT}To Port: <any> (traffic allowed to all ports)\n"));
        }
        for port in items(&rule["ports"]) {
            let protocol = or(&port["protocol"], "TCP");
            out.push_str(&format!("{INDENT}To Port: {}/{protocol}\n", or(&port["port"], "<nil>")));
        }
        if items(&rule[field]).is_empty() {
            let end = if peer == "From" { "source" } else { "destination" };
            out.push_str(&format!("{INDENT}{peer}: <any> (traffic not restricted by {end})\n"));
        }
        for from in items(&rule[field]) {
            out.push_str(&format!("{INDENT}{peer}:\n"));
            for (name, title) in [("namespaceSelector", "NamespaceSelector"), ("podSelector", "PodSelector")]
            {
                if let Some(chosen) = from.get(name) {
                    out.push_str(&format!("{INDENT}  {title}: {}\n", selector(chosen)));
                }
            }
            if let Some(block) = from.get("ipBlock") {
                let except: Vec<String> = items(&block["except"]).iter().map(text).collect();
                out.push_str(&format!(
                    "{INDENT}  IPBlock:\n{INDENT}    CIDR: {}\n{INDENT}    Except: {}\n",
                    text(&block["cidr"]),
                    except.join(", ")
                ));
            }
        }
    }
}

pub(super) fn disruption_budget(object: &Object, value: &Value) -> String {
    let (spec, status) = (&value["spec"], &value["status"]);
    let mut out = head(object, true, false);
    if !spec["minAvailable"].is_null() {
        put(&mut out, "Min available", &text(&spec["minAvailable"]));
    } else if !spec["maxUnavailable"].is_null() {
        put(&mut out, "Max unavailable", &text(&spec["maxUnavailable"]));
    }
    let chosen = if spec["selector"].is_null() { "<unset>".to_string() } else { selector(&spec["selector"]) };
    put(&mut out, "Selector", &chosen);
    out.push_str("Status:\n");
    for (title, field) in [
        ("Allowed disruptions", "disruptionsAllowed"),
        ("Current", "currentHealthy"),
        ("Desired", "desiredHealthy"),
        ("Total", "expectedPods"),
    ] {
        out.push_str(&format!("    {title}:\t{}\n", number(&status[field])));
    }
    out
}

/// What the scopes of a quota match.
const SCOPES: &[(&str, &str)] = &[
    (
        "BestEffort",
        "Matches all pods that do not have resource requirements set. These pods have a best effort quality of service.",
    ),
    (
        "NotBestEffort",
        "Matches all pods that have at least one resource requirement set. These pods have a burstable or guaranteed quality of service.",
    ),
    (
        "NotTerminating",
        "Matches all pods that do not have an active deadline. These pods usually include long running pods whose container command is not expected to terminate.",
    ),
    (
        "Terminating",
        "Matches all pods that have an active deadline. These pods have a limited lifespan on a node before being actively terminated by the system.",
    ),
];

pub(super) fn quota(object: &Object, value: &Value) -> String {
    let mut out = head(object, true, false);
    scopes(&mut out, &value["spec"]["scopes"], "", " * ");
    out.push_str("Resource\tUsed\tHard\n--------\t----\t----\n");
    let status = &value["status"];
    amounts(&mut out, &status["hard"], &status["used"], "");
    out
}

fn scopes(out: &mut String, scopes: &Value, indent: &str, bullet: &str) {
    let mut named: Vec<String> = items(scopes).iter().map(text).collect();
    if named.is_empty() {
        return;
    }
    named.sort();
    out.push_str(&format!("{indent}Scopes:\t{}\n", named.join(", ")));
    for (_, help) in SCOPES.iter().filter(|(scope, _)| named.iter().any(|name| name == scope)) {
        out.push_str(&format!("{indent}{bullet}{help}\n"));
    }
}

fn amounts(out: &mut String, hard: &Value, used: &Value, indent: &str) {
    for (resource, hard) in hard.as_object().into_iter().flatten() {
        let used = or(&used[resource.as_str()], "0");
        out.push_str(&format!("{indent}{resource}\t{used}\t{}\n", text(hard)));
    }
}

const LIMITS: &str = "Type\tResource\tMin\tMax\tDefault Request\tDefault Limit\tMax Limit/Request Ratio\n";
const LIMITS_RULE: &str =
    "----\t--------\t---\t---\t---------------\t-------------\t-----------------------\n";

pub(super) fn limit_range(object: &Object, value: &Value) -> String {
    let mut out = head(object, true, false);
    out.push_str(&format!("{LIMITS}{LIMITS_RULE}"));
    limits(&mut out, value, "");
    out
}

fn limits(out: &mut String, value: &Value, indent: &str) {
    const FIELDS: [&str; 5] = ["min", "max", "defaultRequest", "default", "maxLimitRequestRatio"];
    for item in items(&value["spec"]["limits"]) {
        let mut resources: Vec<&String> =
            FIELDS.iter().filter_map(|field| item[*field].as_object()).flat_map(|map| map.keys()).collect();
        resources.sort();
        resources.dedup();
        for resource in resources {
            let amounts = FIELDS.map(|field| or(&item[field][resource.as_str()], "-")).join("\t");
            out.push_str(&format!("{indent}{}\t{resource}\t{amounts}\n", text(&item["type"])));
        }
    }
}

/// The quotas and the limits of a namespace, at the end of its description.
pub(super) fn of_namespace(namespace: &str, host: &dyn Host) -> String {
    let all = |kind| host.store().objects_in(kind, namespace).map(Object::to_value).collect::<Vec<_>>();
    let mut out = "\n".to_string();
    let quotas = all(Kind::ResourceQuota);
    out.push_str(if quotas.is_empty() { "No resource quota.\n" } else { "Resource Quotas\n" });
    for quota in &quotas {
        out.push_str(&format!("  Name:\t{}\n", text(&quota["metadata"]["name"])));
        scopes(&mut out, &quota["spec"]["scopes"], "  ", "* ");
        out.push_str("  Resource\tUsed\tHard\n  --------\t---\t---\n");
        amounts(&mut out, &quota["spec"]["hard"], &quota["status"]["used"], "  ");
    }
    out.push('\n');
    let ranges = all(Kind::LimitRange);
    if ranges.is_empty() {
        out.push_str("No LimitRange resource.\n");
    } else {
        out.push_str(&format!("Resource Limits\n {LIMITS} {LIMITS_RULE}"));
    }
    for range in &ranges {
        limits(&mut out, range, " ");
    }
    out
}
