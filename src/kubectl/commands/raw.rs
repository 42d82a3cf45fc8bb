//! Answers to addresses of the API server: `kubectl get --raw`, and what `kubectl proxy` passes on.
//!
//! Models: `k8s.io/kubectl/pkg/rawhttp/raw.go`, `pkg/cmd/proxy`, the addresses of `apiserver/pkg/endpoints/installer.go`
//! and of the `proxy` subresources (v1.36).
//! Leaves out: writing through the proxy, `/openapi`, `/metrics`, the filters of the proxy.

use serde_json::{Value, json};

use super::delete::raw::decoded;
use super::streams::Forward;
use super::{Call, Pending, streams, version};
use crate::api::discovery;
use crate::api::kind::Kind;
use crate::api::kinds::networking::{EndpointSlice, Service};
use crate::api::kinds::pod::Pod;
use crate::api::manifest;
use crate::cluster::network::trace::{Sees, TraceRequest};
use crate::cluster::server::custom;
use crate::cluster::server::status::Status;
use crate::kubectl::failure::Failure;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources::{self, Narrowing};

/// The flags of `proxy`.
pub const PROXY: &[&[Flag]] = &[&[
    Flag::both("port", 'p', Takes::Number),
    Flag::long("address", Takes::Text),
    Flag::long("accept-hosts", Takes::Text),
    Flag::long("accept-paths", Takes::Text),
    Flag::long("api-prefix", Takes::Text),
    Flag::long("append-server-path", Takes::Nothing),
    Flag::long("disable-filter", Takes::Nothing),
    Flag::long("keepalive", Takes::Duration),
    Flag::long("reject-methods", Takes::Text),
    Flag::long("reject-paths", Takes::Text),
    Flag::both("unix-socket", 'u', Takes::Text),
    Flag::both("www", 'w', Takes::Text),
    Flag::both("www-prefix", 'P', Takes::Text),
]];

/// What stands at an address.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// An object, a list, or a document of the server about itself.
    Json(Value),
    /// A text, with the code that an application may have answered with.
    Text(u16, String),
}

/// Passes requests to a local port on to the API server, until Ctrl-C.
pub fn proxy(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let port = call.flags.number("port").unwrap_or(8001);
    let local = i32::try_from(port).ok().filter(|port| (0..=65_535).contains(port));
    let local = local.ok_or_else(|| Failure::error(format!("listen tcp: address {port}: invalid port")))?;
    call.say(format!("Starting to serve on 127.0.0.1:{local}"));
    Ok(Some(streams::forwarding(call, vec![Forward { local, ..Forward::default() }])))
}

/// `kubectl get --raw`.
pub fn get(call: &mut Call, address: &str) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, "arguments may not be passed when --raw is specified"));
    }
    let answer = answer(&mut *call.host, 0, address).map_err(|status| Failure::server(&status))?;
    let text = match answer {
        Answer::Json(value) => manifest::to_json(&value),
        Answer::Text(code, _) if code >= 400 => {
            return Err(Failure::exactly(
                "Error from server (InternalError): an error on the server (\"unknown\") has prevented the request from succeeding".to_string(),
            ));
        }
        Answer::Text(_, text) => text,
    };
    call.output.stdout.push_str(&text);
    Ok(None)
}

fn nowhere() -> Status {
    let mut status = Status::bad_request("the server could not find the requested resource".to_string());
    (status.code, status.reason) = (404, "NotFound");
    status
}

/// What the server answers at an address; `number` counts requests.
///
/// # Errors
/// Its refusal.
pub fn answer(host: &mut dyn Host, number: u64, address: &str) -> Result<Answer, Status> {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let text = |text: &str| Ok(Answer::Text(200, text.to_string()));
    let (version, rest) = match parts.as_slice() {
        [] => {
            let mut paths = vec!["/api".to_string(), "/api/v1".to_string(), "/apis".to_string()];
            for group in groups() {
                paths.extend([format!("/apis/{}", group.0), format!("/apis/{}", group.1)]);
            }
            paths.extend(["/healthz", "/livez", "/openapi/v2", "/readyz", "/version"].map(str::to_string));
            paths.dedup();
            return Ok(Answer::Json(json!({ "paths": paths })));
        }
        ["version"] => {
            let fields = version::fields("json", "", version::OF_SERVER);
            let inner = fields.split_once('{').map_or("", |(_, inner)| inner).replace("\n    ", "\n  ");
            return text(&format!("{{{}", inner.trim_end_matches("  }").to_string() + "}"));
        }
        ["healthz" | "livez" | "readyz", ..] => {
            let check = path.trim_start_matches('/').split('/').next().unwrap_or_default();
            return match query.contains("verbose") {
                true => text(&format!("[+]ping ok\n[+]log ok\n[+]etcd ok\n{check} check passed\n")),
                false => text("ok"),
            };
        }
        ["api"] => return Ok(Answer::Json(json!({"kind": "APIVersions", "versions": ["v1"]}))),
        ["apis"] => {
            let all: Vec<Value> = groups().iter().map(group).collect();
            return Ok(Answer::Json(json!({"apiVersion": "v1", "groups": all, "kind": "APIGroupList"})));
        }
        ["apis", name] => {
            let of_group: Vec<_> = groups().into_iter().filter(|(group, _)| group == name).collect();
            let first = of_group.first().ok_or_else(nowhere)?;
            let mut value = group(first);
            value["apiVersion"] = json!("v1");
            value["kind"] = json!("APIGroup");
            return Ok(Answer::Json(value));
        }
        ["api", version, rest @ ..] => ((*version).to_string(), rest),
        ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
        _ => return Err(nowhere()),
    };
    if rest.is_empty() {
        return resource_list(&version).map(Answer::Json).ok_or_else(nowhere);
    }
    if version == "metrics.k8s.io/v1beta1" {
        return Err(nowhere());
    }
    if let ["namespaces", namespace, kind @ ("pods" | "services"), target, "proxy", below @ ..] = rest {
        let mut url = below.join("/");
        if !query.is_empty() {
            url.push_str(&format!("?{query}"));
        }
        return proxied(host, number, namespace, *kind == "pods", target, &url);
    }
    let (namespace, plural, name, below) = match rest {
        ["namespaces"] => ("", "namespaces", "", ""),
        ["namespaces", name] => ("", "namespaces", *name, ""),
        ["namespaces", name, below @ ("status" | "finalize")] => ("", "namespaces", *name, *below),
        ["namespaces", namespace, plural] => (*namespace, *plural, "", ""),
        ["namespaces", namespace, plural, name] => (*namespace, *plural, *name, ""),
        ["namespaces", namespace, plural, name, below] => (*namespace, *plural, *name, *below),
        [plural] => ("", *plural, "", ""),
        [plural, name] => ("", *plural, *name, ""),
        [plural, name, below] => ("", *plural, *name, *below),
        _ => return Err(nowhere()),
    };
    let is_meant = |kind: &Kind| kind.plural() == plural && kind.api_version() == version;
    let known = host.kinds().iter().copied().find(is_meant);
    let added = || custom::of_word(host.store(), plural).filter(is_meant);
    let kind = known.or_else(added).ok_or_else(nowhere)?;
    if kind.is_namespaced() && namespace.is_empty() && !name.is_empty() {
        return Err(nowhere());
    }
    if !name.is_empty() {
        let object = resources::read(host, kind, namespace, name)?.to_value();
        return match below {
            "" | "status" => Ok(Answer::Json(object)),
            "scale" => {
                let metadata = &object["metadata"];
                let replicas = |part: &str| object[part]["replicas"].as_i64().unwrap_or(0);
                let selector = crate::kubectl::print::value::selector(&object["spec"]["selector"]);
                Ok(Answer::Json(json!({
                    "apiVersion": "autoscaling/v1", "kind": "Scale",
                    "metadata": {
                        "creationTimestamp": metadata["creationTimestamp"], "name": metadata["name"],
                        "namespace": metadata["namespace"], "resourceVersion": metadata["resourceVersion"],
                        "uid": metadata["uid"],
                    },
                    "spec": {"replicas": replicas("spec")},
                    "status": {"replicas": replicas("status"), "selector": selector},
                })))
            }
            _ => Err(nowhere()),
        };
    }
    let field = |name: &str| {
        let pair = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        pair.map(decoded)
    };
    let narrowing = Narrowing {
        namespace: (!namespace.is_empty()).then(|| namespace.to_string()),
        labels: field("labelSelector"),
        fields: field("fieldSelector"),
    };
    let limit = field("limit").and_then(|limit| limit.parse().ok()).filter(|limit| *limit > 0);
    let objects = resources::list(host, kind, &narrowing)?;
    let items: Vec<Value> = objects
        .iter()
        .take(limit.unwrap_or(usize::MAX))
        .map(|object| {
            let mut value = object.to_value();
            // Only the list says what they are.
            if let Some(fields) = value.as_object_mut() {
                fields.remove("kind");
                fields.remove("apiVersion");
            }
            value
        })
        .collect();
    let revision = host.store().revision().to_string();
    Ok(Answer::Json(json!({
        "apiVersion": version, "items": items, "kind": format!("{}List", kind.name()),
        "metadata": {"resourceVersion": revision},
    })))
}

/// Every group but the first, with its version.
fn groups() -> Vec<(&'static str, &'static str)> {
    let mut groups: Vec<_> = discovery::resources()
        .filter(|resource| !resource.group().is_empty())
        .map(|resource| (resource.group(), resource.api_version))
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn group((name, api_version): &(&str, &str)) -> Value {
    let version = api_version.rsplit('/').next();
    let version = json!({"groupVersion": api_version, "version": version});
    json!({"name": name, "preferredVersion": version, "versions": [version]})
}

fn resource_list(version: &str) -> Option<Value> {
    let of_version = discovery::resources().filter(|resource| resource.api_version == version);
    let resources: Vec<Value> = of_version
        .map(|resource| {
            let verbs: Vec<&str> = resource.verbs.split(',').collect();
            let mut value = json!({
                "kind": resource.kind, "name": resource.plural, "namespaced": resource.namespaced,
                "singularName": resource.kind.to_ascii_lowercase(), "verbs": verbs,
            });
            if !resource.short_names.is_empty() {
                value["shortNames"] = resource.short_names.split(',').collect();
            }
            value
        })
        .collect();
    (!resources.is_empty()).then(|| {
        json!({"apiVersion": "v1", "groupVersion": version, "kind": "APIResourceList", "resources": resources})
    })
}

/// Asks an application through the server: `pods/NAME[:PORT]/proxy/…`, `services/NAME[:PORT]/proxy/…`.
fn proxied(
    host: &mut dyn Host,
    number: u64,
    namespace: &str,
    is_pod: bool,
    target: &str,
    path: &str,
) -> Result<Answer, Status> {
    let parts: Vec<&str> = target.split(':').collect();
    let (name, port) = match parts.as_slice() {
        [name] => (*name, ""),
        [name, port] => (*name, *port),
        [_, name, port] => (*name, *port),
        _ => return Err(nowhere()),
    };
    let kind = if is_pod { Kind::Pod } else { Kind::Service };
    let object = resources::read(host, kind, namespace, name)?.clone();
    let unavailable = |why: String| {
        let mut status = Status::bad_request(why);
        (status.code, status.reason) = (503, "ServiceUnavailable");
        status
    };
    let (address, number_of_port, pod) = if let Some(pod) = object.get::<Pod>() {
        let mut ports = pod.spec.containers.iter().flat_map(|container| &container.ports);
        let first = ports.next().map_or(80, |port| port.container_port);
        let port = if port.is_empty() { first } else { port.parse().map_err(|_| nowhere())? };
        (pod.status.pod_ip.to_string(), port, name.to_string())
    } else {
        let service = object.get::<Service>().ok_or_else(nowhere)?;
        let ports = &service.spec.ports;
        let meant = ports
            .iter()
            .find(|known| port.is_empty() || known.name == port || known.port.to_string() == port);
        let meant = meant
            .ok_or_else(|| unavailable(format!("no service port \"{port}\" found for service \"{name}\"")))?;
        let slices = host.store().list_in::<EndpointSlice>(namespace);
        let found = slices
            .filter(|slice| slice.is_of(name))
            .flat_map(|slice| {
                let port = slice.ports.iter().find(|port| port.name == meant.name).and_then(|port| port.port);
                slice.endpoints.iter().filter_map(move |endpoint| {
                    let pod = endpoint.target_ref.as_ref()?.name.to_string();
                    endpoint.is_ready().then_some((endpoint.addresses.first()?.clone(), port?, pod))
                })
            })
            .next();
        found.ok_or_else(|| unavailable(format!("no endpoints available for service \"{target}\"")))?
    };
    let url = format!("http://{address}:{number_of_port}/{path}");
    let request = TraceRequest::get(&url, number).map_err(|_| nowhere())?;
    let trace = host.send(&request.from_pod(namespace, &pod));
    match trace.outcome.sees {
        Sees::Status(code) => Ok(Answer::Text(code, trace.outcome.body.replace('\r', ""))),
        _ => Err(unavailable(format!(
            "error trying to reach service: dial tcp {address}:{number_of_port}: connect: connection refused"
        ))),
    }
}
