//! `kubectl delete --raw`: a deletion by its address, of one object or of all that a query selects.
//!
//! Models: `k8s.io/kubectl/pkg/rawhttp/raw.go`, the addresses of `apiserver/pkg/endpoints/installer.go` (v1.36).
//! Leaves out: a body from a file.

use serde_json::{Value, json};

use crate::api::kind::Kind;
use crate::api::manifest;
use crate::cluster::server::request::{Propagation, Request, Verb};
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;

/// Sends the deletion and prints what the server answers.
pub(super) fn delete(call: &mut Call, address: &str) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, "arguments may not be passed when --raw is specified"));
    }
    let request = request_of(address)
        .ok_or_else(|| Failure::error("the server could not find the requested resource"))?;
    let is_one = request.verb == Verb::Delete;
    let response = call.host.ask(request.clone()).map_err(|status| Failure::server(&status))?;
    let is_gone = is_one && call.host.store().object(&request.key()).is_none();
    let answer = match is_gone {
        true => json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Success",
            "details": {
                "name": &*request.name, "kind": request.kind.plural(), "uid": response.object["metadata"]["uid"],
            },
        }),
        false => response.object,
    };
    call.output.stdout.push_str(&manifest::to_json(&answer));
    Ok(None)
}

/// The deletion that an address stands for; `None` when there is nothing at that address.
fn request_of(address: &str) -> Option<Request> {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let version = match parts.next()? {
        "api" => parts.next()?.to_string(),
        "apis" => format!("{}/{}", parts.next()?, parts.next()?),
        _ => return None,
    };
    let rest: Vec<&str> = parts.collect();
    let (namespace, plural, name) = match rest.as_slice() {
        ["namespaces", name] => ("", "namespaces", *name),
        ["namespaces", namespace, plural] => (*namespace, *plural, ""),
        ["namespaces", namespace, plural, name] => (*namespace, *plural, *name),
        [plural] => ("", *plural, ""),
        [plural, name] => ("", *plural, *name),
        _ => return None,
    };
    let kind =
        Kind::ALL.iter().copied().find(|kind| kind.plural() == plural && kind.api_version() == version)?;
    if kind.is_namespaced() && namespace.is_empty() && !name.is_empty() {
        return None;
    }
    let verb = if name.is_empty() { Verb::DeleteCollection } else { Verb::Delete };
    let mut request = Request::new(verb, kind, namespace, name, Value::Null);
    for pair in query.split('&') {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value);
        let options = &mut request.options;
        match key {
            "labelSelector" => options.label_selector = value,
            "fieldSelector" => options.field_selector = value,
            "gracePeriodSeconds" => options.grace_seconds = value.parse().ok(),
            "dryRun" => options.dry_run = value == "All",
            "propagationPolicy" => {
                options.propagation = match value.as_str() {
                    "Foreground" => Some(Propagation::Foreground),
                    "Orphan" => Some(Propagation::Orphan),
                    "Background" => Some(Propagation::Background),
                    _ => None,
                };
            }
            _ => {}
        }
    }
    Some(request)
}

/// A query's value without its `%` escapes.
pub(in crate::kubectl::commands) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%');
        let byte = escaped.and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(if *first == b'+' { b' ' } else { *first }));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_deletion_of_one_or_of_many() {
        let told = |address: &str| {
            request_of(address).map(|it| format!("{} {}", it.summary(), it.options.label_selector))
        };
        let table = [
            ("/api/v1/namespaces/demo/pods/a", Some("delete Pod demo/a ")),
            (
                "/api/v1/namespaces/demo/pods?labelSelector=app%3Da",
                Some("deletecollection Pod in demo app=a"),
            ),
            ("/apis/apps/v1/namespaces/demo/deployments", Some("deletecollection Deployment in demo ")),
            ("/api/v1/nodes", Some("deletecollection Node ")),
            ("/api/v1/namespaces/demo", Some("delete Namespace demo ")),
            ("/apis/apps/v1/namespaces/demo/pods", None),
            ("/healthz", None),
        ];
        for (address, expected) in table {
            assert_eq!(told(address).as_deref(), expected, "{address}");
        }
    }
}
