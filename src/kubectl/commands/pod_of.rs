//! The Pod and the container that `logs`, `exec`, `attach` and `port-forward` mean.
//!
//! Models: `k8s.io/kubectl/pkg/polymorphichelpers/helpers.go`, `attachablepodforobject.go`, `logsforobject.go`,
//! `pkg/cmd/util/podcmd/podcmd.go`, `pkg/util/podutils/podutils.go` (v1.36).
//! Leaves out: ephemeral containers.

use serde_json::Value;

use super::Call;
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::labels::Selector;
use crate::api::object::Object;
use crate::cluster::server::status::Status;
use crate::kubectl::failure::Failure;
use crate::kubectl::host::Host;
use crate::kubectl::resources::{self, Wanted};

/// The annotation that names the container that is meant when none is named.
const DEFAULT_CONTAINER: &str = "kubectl.kubernetes.io/default-container";

/// The object that a word such as `web` or `deploy/web` names.
///
/// # Errors
/// When it names no object; the second part is the server's refusal.
pub(super) fn object(call: &Call, word: &str) -> Result<Result<Object, Status>, Failure> {
    let (kind, name) = if word.contains('/') {
        match resources::wanted(&[word.to_string()], &*call.host)?.into_iter().next() {
            Some(Wanted::Named(kind, name)) => (kind, name),
            _ => return Err(resources::no_name_given()),
        }
    } else {
        (Kind::Pod, word.to_string())
    };
    Ok(resources::read(&*call.host, kind, call.namespace(), &name).cloned())
}

/// The Pods behind an object, the one to be taken first; a Pod is its own only one.
///
/// # Errors
/// When objects of its kind have no Pods.
pub(super) fn pods(host: &dyn Host, object: &Object, what: &str) -> Result<Vec<Pod>, Failure> {
    if let Object::Pod(pod) = object {
        return Ok(vec![(**pod).clone()]);
    }
    let value = object.to_value();
    let selector = match object.kind() {
        Kind::Service => Selector::from_labels(&crate::api::labels::labels_of(&value["spec"]["selector"])),
        _ if value["spec"]["selector"].is_object() => match &value["spec"]["selector"]["matchLabels"] {
            Value::Null if value["spec"]["selector"]["matchExpressions"].is_null() => {
                Selector::from_labels(&crate::api::labels::labels_of(&value["spec"]["selector"]))
            }
            _ => Selector::from_label_selector(&value["spec"]["selector"]),
        },
        kind => {
            let of = if kind.group().is_empty() { "v1".to_string() } else { kind.version().to_string() };
            return Err(Failure::error(format!(
                "cannot {what} *{of}.{}: selector for *{of}.{} not implemented",
                kind.name(),
                kind.name()
            )));
        }
    };
    let mut pods: Vec<Pod> = host
        .store()
        .list_in::<Pod>(&object.meta().namespace)
        .filter(|pod| selector.matches(&pod.meta.labels))
        .map(|pod| (**pod).clone())
        .collect();
    pods.sort_by_key(|pod| {
        let phase = match pod.status.phase.as_str() {
            "Running" => 0,
            "" => 1,
            "Pending" => 2,
            _ => 3,
        };
        (!pod.is_bound(), phase, !pod.is_ready(), pod.meta.creation_timestamp, pod.meta.name.clone())
    });
    Ok(pods)
}

/// `web, cache, setup (init)`.
pub(super) fn container_names(pod: &Pod) -> String {
    let plain = pod.spec.containers.iter().map(|container| container.name.clone());
    let inits = pod.spec.init_containers.iter().map(|container| format!("{} (init)", container.name));
    plain.chain(inits).collect::<Vec<_>>().join(", ")
}

/// The container that is named, or the one that is meant without a name; then with a line that says so.
///
/// # Errors
/// When the Pod has no such container.
pub(super) fn container(pod: &Pod, name: Option<&str>) -> Result<(String, Option<String>), Failure> {
    let spec = &pod.spec;
    let has = |name: &str| {
        let added = || crate::api::codec::Codec::encode(pod)["spec"]["ephemeralContainers"].clone();
        spec.containers.iter().chain(&spec.init_containers).any(|container| container.name == name)
            || added().as_array().is_some_and(|added| added.iter().any(|added| added["name"] == name))
    };
    if let Some(name) = name {
        if has(name) {
            return Ok((name.to_string(), None));
        }
        return Err(Failure::error(format!(
            "container {name} is not valid for pod {} out of: {}",
            pod.meta.name,
            container_names(pod)
        )));
    }
    if let Some(name) = pod.meta.annotations.get(DEFAULT_CONTAINER).filter(|name| has(name)) {
        return Ok((name.clone(), None));
    }
    let first = spec.containers.first().map(|container| container.name.clone()).unwrap_or_default();
    let several = spec.containers.len() + spec.init_containers.len() > 1;
    let line = several.then(|| format!("Defaulted container \"{first}\" out of: {}", container_names(pod)));
    Ok((first, line))
}
