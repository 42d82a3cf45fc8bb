//! `kubectl create service`: clusterip, nodeport, loadbalancer, externalname.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_service.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Value, json};

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Command, NOTHING, Pending, Run};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

const FLAGS: &[&[Flag]] = &[form::FLAGS, &[Flag::long("tcp", Takes::List)]];
const CLUSTER_IP: &[&[Flag]] = &[FLAGS[0], FLAGS[1], &[Flag::long("clusterip", Takes::Text)]];
const NODE_PORT: &[&[Flag]] = &[FLAGS[0], FLAGS[1], &[Flag::long("node-port", Takes::Number)]];
const EXTERNAL: &[&[Flag]] = &[FLAGS[0], FLAGS[1], &[Flag::long("external-name", Takes::Text)]];

/// The commands below `create service`.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "clusterip",
        about: "Create a ClusterIP service",
        flags: CLUSTER_IP,
        run: Run::Does(cluster_ip),
        ..NOTHING
    },
    Command {
        name: "externalname",
        about: "Create an ExternalName service",
        flags: EXTERNAL,
        required: &["external-name"],
        run: Run::Does(external_name),
        ..NOTHING
    },
    Command {
        name: "loadbalancer",
        about: "Create a LoadBalancer service",
        flags: FLAGS,
        run: Run::Does(load_balancer),
        ..NOTHING
    },
    Command {
        name: "nodeport",
        about: "Create a NodePort service",
        flags: NODE_PORT,
        run: Run::Does(node_port),
        ..NOTHING
    },
];

fn cluster_ip(call: &mut Call) -> Result<Option<Pending>, Failure> {
    create(call, "ClusterIP", "ClusterIP")
}

fn node_port(call: &mut Call) -> Result<Option<Pending>, Failure> {
    create(call, "NodePort", "NodePort")
}

fn load_balancer(call: &mut Call) -> Result<Option<Pending>, Failure> {
    create(call, "LoadBalancer", "LoadBalancer")
}

fn external_name(call: &mut Call) -> Result<Option<Pending>, Failure> {
    create(call, "ExternalName", "ExternalName")
}

fn create(call: &mut Call, service_type: &str, what: &str) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let labels = json!({"app": name});
    let mut spec = json!({"selector": labels, "type": service_type});
    let headless = call.flags.text("clusterip") == Some("None");
    let ports = ports(&call.flags.list("tcp"), call.flags.number("node-port"))?;
    if ports.is_empty() && !headless && service_type != "ExternalName" {
        return Err(Failure::error("at least one tcp port specifier must be provided"));
    }
    if !ports.is_empty() {
        spec["ports"] = Value::Array(ports);
    }
    if let Some(address) = call.flags.text("clusterip").filter(|address| !address.is_empty()) {
        spec["clusterIP"] = json!(address);
    }
    if let Some(target) = call.flags.text("external-name") {
        spec["externalName"] = json!(target);
    }
    let value = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"labels": labels, "name": name}, "spec": spec,
        "status": {"loadBalancer": {}},
    });
    form::send(call, Kind::Service, value, &Told::As(&format!("{what} service")))
}

/// `80`, `80:8080`, `80:http`.
fn ports(texts: &[String], node_port: Option<i64>) -> Result<Vec<Value>, Failure> {
    texts
        .iter()
        .map(|text| {
            let (port, target) = text.split_once(':').unwrap_or((text, ""));
            let number: u16 = port.parse().map_err(|_| {
                Failure::error(format!("strconv.ParseUint: parsing \"{port}\": invalid syntax"))
            })?;
            let target_value = match (target, target.parse::<u16>()) {
                ("", _) => json!(number),
                (_, Ok(target)) => json!(target),
                (name, Err(_)) => json!(name),
            };
            let name = if target.is_empty() { port.to_string() } else { format!("{port}-{target}") };
            let mut value =
                json!({"name": name, "port": number, "protocol": "TCP", "targetPort": target_value});
            if let Some(node_port) = node_port.filter(|port| *port > 0) {
                value["nodePort"] = json!(node_port);
            }
            Ok(value)
        })
        .collect()
}
