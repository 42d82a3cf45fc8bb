//! The plugin LimitRanger: defaults and bounds for the containers of a namespace.
//!
//! Models: `plugin/pkg/admission/limitranger/admission.go` (v1.36).
//! Leaves out: nothing of what it judges by default.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::kinds::ResourceList;
use crate::api::kinds::pod::{Container, Pod};
use crate::api::kinds::storage::PersistentVolumeClaim;
use crate::api::quantity::Quantity;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";

/// One amount for each resource.
type Amounts = BTreeMap<String, Quantity>;

fn amounts(value: &Value) -> Amounts {
    let amounts = value.as_object().into_iter().flatten();
    amounts.filter_map(|(name, text)| Some((name.clone(), Quantity::parse(text.as_str()?).ok()?))).collect()
}

fn items(range: &Value) -> impl Iterator<Item = &Value> {
    range["spec"]["limits"].as_array().into_iter().flatten()
}

/// Gives a Pod's containers what a LimitRange says of those that say nothing, and notes that in an annotation.
pub fn fill(range: &Value, pod: &mut Pod) {
    let (mut limits, mut requests) = (Amounts::new(), Amounts::new());
    for item in items(range).filter(|item| item["type"] == "Container") {
        limits.extend(amounts(&item["default"]));
        requests.extend(amounts(&item["defaultRequest"]));
    }
    if limits.is_empty() && requests.is_empty() {
        return;
    }
    let mut notes = Vec::new();
    let spec = std::sync::Arc::make_mut(&mut pod.spec);
    for (kind, list) in [("container", &mut spec.containers), ("init container", &mut spec.init_containers)] {
        for container in list.iter_mut() {
            let set_limits = missing(&mut container.resources.limits, &limits);
            let set_requests = missing(&mut container.resources.requests, &requests);
            for (set, what) in [(set_requests, "request"), (set_limits, "limit")] {
                if !set.is_empty() {
                    notes.push(format!("{} {what} for {kind} {}", set.join(", "), container.name));
                }
            }
        }
    }
    if !notes.is_empty() {
        let note = format!("LimitRanger plugin set: {}", notes.join("; "));
        pod.meta.annotations.insert(ANNOTATION.to_string(), note);
    }
}

/// Sets the amounts that are missing; gives their names.
fn missing(list: &mut ResourceList, defaults: &Amounts) -> Vec<String> {
    let mut set = Vec::new();
    for (name, amount) in defaults {
        if !list.contains_key(name) {
            list.insert(name.clone(), *amount);
            set.push(name.clone());
        }
    }
    set
}

/// What a LimitRange refuses about a Pod, all together; none if nothing.
pub fn refusal(range: &Value, pod: &Pod) -> Option<String> {
    let mut complaints = Vec::new();
    for item in items(range) {
        match item["type"].as_str() {
            Some("Container") => {
                for container in pod.spec.containers.iter().chain(&pod.spec.init_containers) {
                    let (requests, limits) = (&container.resources.requests, &container.resources.limits);
                    judge(&mut complaints, item, "Container", requests, limits);
                }
            }
            Some("Pod") => {
                let sum = |list: fn(&Container) -> &ResourceList| {
                    let mut sum = ResourceList::new();
                    for (name, amount) in pod.spec.containers.iter().flat_map(list) {
                        let before = sum.get(name).copied().unwrap_or_default();
                        sum.insert(name.clone(), before.add(amount));
                    }
                    sum
                };
                let (requests, limits) = (sum(|c| &c.resources.requests), sum(|c| &c.resources.limits));
                judge(&mut complaints, item, "Pod", &requests, &limits);
            }
            _ => {}
        }
    }
    together(complaints)
}

/// What a LimitRange refuses about a claim.
pub fn refusal_of_claim(range: &Value, claim: &PersistentVolumeClaim) -> Option<String> {
    let requests = &claim.spec.resources.requests;
    let mut complaints = Vec::new();
    for item in items(range).filter(|item| item["type"] == "PersistentVolumeClaim") {
        for (name, bound) in amounts(&item["min"]).iter() {
            judge_request(&mut complaints, "minimum", name, bound, requests.get(name), |request| {
                request < *bound
            });
        }
        for (name, bound) in amounts(&item["max"]).iter() {
            judge_request(&mut complaints, "maximum", name, bound, requests.get(name), |request| {
                request > *bound
            });
        }
    }
    together(complaints)
}

fn judge_request(
    complaints: &mut Vec<String>,
    which: &str,
    name: &str,
    bound: &Quantity,
    request: Option<&Quantity>,
    breaks: impl Fn(Quantity) -> bool,
) {
    let rule = format!("{which} {name} usage per PersistentVolumeClaim is {bound}");
    match request {
        None => complaints.push(format!("{rule}.  No request is specified")),
        Some(request) if breaks(*request) => complaints.push(format!("{rule}, but request is {request}")),
        Some(_) => {}
    }
}

fn together(complaints: Vec<String>) -> Option<String> {
    match &complaints[..] {
        [] => None,
        [one] => Some(one.clone()),
        many => Some(format!("[{}]", many.join(", "))),
    }
}

fn judge(
    complaints: &mut Vec<String>,
    item: &Value,
    about: &str,
    requests: &ResourceList,
    limits: &ResourceList,
) {
    let mut say = |text: String| complaints.push(text);
    for (name, least) in amounts(&item["min"]) {
        let rule = format!("minimum {name} usage per {about} is {least}");
        match (requests.get(&name), limits.get(&name)) {
            (None, _) => say(format!("{rule}.  No request is specified")),
            (Some(request), _) if *request < least => say(format!("{rule}, but request is {request}")),
            (_, Some(limit)) if *limit < least => say(format!("{rule}, but limit is {limit}")),
            _ => {}
        }
    }
    for (name, most) in amounts(&item["max"]) {
        let rule = format!("maximum {name} usage per {about} is {most}");
        match (requests.get(&name), limits.get(&name)) {
            (_, None) => say(format!("{rule}.  No limit is specified")),
            (_, Some(limit)) if *limit > most => say(format!("{rule}, but limit is {limit}")),
            (Some(request), _) if *request > most => say(format!("{rule}, but request is {request}")),
            _ => {}
        }
    }
    for (name, most) in amounts(&item["maxLimitRequestRatio"]) {
        let rule = format!("{name} max limit to request ratio per {about} is {most}");
        let given =
            |list: &ResourceList| list.get(&name).filter(|amount| !amount.is_zero()).map(Quantity::milli);
        match (given(requests), given(limits)) {
            (None, _) => say(format!("{rule}, but no request is specified or request is 0")),
            (_, None) => say(format!("{rule}, but no limit is specified or limit is 0")),
            (Some(request), Some(limit)) => {
                // The ratio in millionths, so that no float decides.
                let ratio = i128::from(limit) * 1_000_000 / i128::from(request.max(1));
                if ratio > i128::from(most.milli()) * 1000 {
                    let (whole, part) = (ratio / 1_000_000, ratio % 1_000_000);
                    say(format!("{rule}, but provided ratio is {whole}.{part:06}"));
                }
            }
        }
    }
}
