//! `kubectl expose`: a Service for what runs already.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/expose/expose.go` (v1.36).
//! Leaves out: `--overrides`.

use serde_json::{Value, json};

use super::{Call, DryRun, Pending, apply, create};
use crate::api::kind::Kind;
use crate::api::kinds::pod::PodSpec;
use crate::api::object::Object;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources::{self, Narrowing};

/// The flags of `expose`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    flags::SAVE_CONFIG,
    &[
        Flag::long("port", Takes::Text),
        Flag::long("target-port", Takes::Text),
        Flag::long("protocol", Takes::Text),
        Flag::long("name", Takes::Text),
        Flag::long("type", Takes::Text),
        Flag::long("selector", Takes::Text),
        Flag::both("labels", 'l', Takes::Text),
        Flag::long("external-ip", Takes::Text),
        Flag::long("cluster-ip", Takes::Text),
        Flag::long("load-balancer-ip", Takes::Text),
        Flag::long("session-affinity", Takes::Text),
        Flag::long("overrides", Takes::Text),
    ],
];

/// Creates a Service in front of a Pod, a Deployment, a ReplicaSet or another Service.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    // `--selector` is the one of the new Service.
    let narrowing = Narrowing { labels: None, ..call.narrowing() };
    let (objects, mut failures) = resources::targets_within(call, &narrowing)?;
    for object in objects {
        let result = service_for(call, &object).and_then(|value| send(call, &format, value, dry_run));
        failures.extend(result.err());
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

fn send(call: &mut Call, format: &Format, mut value: Value, dry_run: DryRun) -> Result<(), Failure> {
    if call.flags.on("save-config") {
        apply::annotate(&mut value);
    }
    if dry_run != DryRun::Client {
        let namespace = call.namespace().to_string();
        value["metadata"]["namespace"] = json!(namespace);
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_string();
        let mut request = Request::new(Verb::Create, Kind::Service, &namespace, &name, value);
        request.options.dry_run = dry_run == DryRun::Server;
        let response = call.host.ask(request).map_err(|status| Failure::server(&status))?;
        call.pass_on(&response.warnings);
        value = response.object;
    }
    create::print(call, format, Kind::Service.printed(), value, "exposed", dry_run)
}

/// The labels that select the Pods behind an object.
fn selector_of(object: &Object) -> Result<Value, Failure> {
    let cannot = |what: &str| Failure::error(format!("cannot expose a {what}"));
    match object {
        Object::Service(service) if service.spec.selector.is_empty() => {
            Err(Failure::error("the service has no pod selector set"))
        }
        Object::Service(service) => Ok(json!(service.spec.selector)),
        Object::Pod(pod) if pod.meta.labels.is_empty() => {
            Err(Failure::error("the pod has no labels and cannot be exposed"))
        }
        Object::Pod(pod) => Ok(json!(*pod.meta.labels)),
        Object::Deployment(deployment) => Ok(json!(deployment.spec.selector.match_labels)),
        Object::ReplicaSet(set) => Ok(json!(set.spec.selector.match_labels)),
        Object::ReplicationController(found) => Ok(json!(found.spec.selector)),
        other => Err(cannot(&other.kind().group_resource())),
    }
}

/// The ports that an object declares, with their protocols.
fn ports_of(object: &Object) -> Vec<(i32, String)> {
    let of_spec = |spec: &PodSpec| {
        let ports = spec.containers.iter().flat_map(|container| &container.ports);
        ports.map(|port| (port.container_port, port.protocol.clone())).collect()
    };
    match object {
        Object::Pod(pod) => of_spec(&pod.spec),
        Object::Deployment(deployment) => of_spec(&deployment.spec.template.spec),
        Object::ReplicaSet(set) => of_spec(&set.spec.template.spec),
        Object::ReplicationController(found) => {
            found.spec.template.as_ref().map_or_else(Vec::new, |template| of_spec(&template.spec))
        }
        Object::Service(service) => {
            service.spec.ports.iter().map(|port| (port.port, port.protocol.clone())).collect()
        }
        _ => Vec::new(),
    }
}

fn service_for(call: &Call, object: &Object) -> Result<Value, Failure> {
    let text = |name: &str| call.flags.text(name).filter(|text| !text.is_empty()).map(str::to_string);
    let selector = match text("selector") {
        Some(given) => labels(&given)?,
        None => selector_of(object)?,
    };
    let declared = ports_of(object);
    let numbers: Vec<i32> = match text("port") {
        Some(given) => given
            .split(',')
            .map(|port| {
                let invalid = || Failure::error(format!("strconv.Atoi: parsing \"{port}\": invalid syntax"));
                port.trim().parse().map_err(|_| invalid())
            })
            .collect::<Result<_, _>>()?,
        None => declared.iter().map(|(port, _)| *port).collect(),
    };
    if numbers.is_empty() {
        return Err(Failure::error("couldn't find port via --port flag or introspection"));
    }
    let target = text("target-port");
    let many = numbers.len() > 1;
    let ports: Vec<Value> = numbers
        .iter()
        .enumerate()
        .map(|(index, number)| {
            let protocol = text("protocol")
                .or_else(|| {
                    declared.iter().find(|(port, _)| port == number).map(|(_, protocol)| protocol.clone())
                })
                .filter(|protocol| !protocol.is_empty())
                .unwrap_or_else(|| "TCP".to_string());
            let target = match &target {
                None => json!(number),
                Some(text) => text.parse::<i32>().map_or_else(|_| json!(text), |number| json!(number)),
            };
            let mut port = json!({"port": number, "protocol": protocol, "targetPort": target});
            if many {
                port["name"] = json!(format!("port-{}", index + 1));
            }
            port
        })
        .collect();
    let mut spec = json!({"ports": ports, "selector": selector});
    for (flag, field) in [
        ("type", "type"),
        ("cluster-ip", "clusterIP"),
        ("load-balancer-ip", "loadBalancerIP"),
        ("session-affinity", "sessionAffinity"),
    ] {
        if let Some(text) = text(flag) {
            spec[field] = json!(text);
        }
    }
    if let Some(address) = text("external-ip") {
        spec["externalIPs"] = json!([address]);
    }
    let mut metadata = json!({"name": text("name").unwrap_or_else(|| object.meta().name.to_string())});
    match text("labels") {
        Some(given) => metadata["labels"] = labels(&given)?,
        None if !object.meta().labels.is_empty() => metadata["labels"] = json!(*object.meta().labels),
        None => {}
    }
    Ok(json!({
        "apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec, "status": {"loadBalancer": {}},
    }))
}

fn labels(text: &str) -> Result<Value, Failure> {
    let mut labels = serde_json::Map::new();
    for pair in text.split(',') {
        let (key, value) =
            pair.split_once('=').ok_or_else(|| Failure::error(format!("unexpected label spec: {pair}")))?;
        labels.insert(key.to_string(), json!(value));
    }
    Ok(Value::Object(labels))
}
