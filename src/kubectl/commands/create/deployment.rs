//! `kubectl create deployment`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_deployment.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Value, json};

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

/// The flags of `create deployment`.
pub const FLAGS: &[&[Flag]] = &[
    form::FLAGS,
    &[
        Flag::long("image", Takes::List),
        Flag::long("port", Takes::Number),
        Flag::both("replicas", 'r', Takes::Number),
    ],
];

/// Creates a Deployment of one or more images.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let images = call.flags.list("image");
    let name = form::name(call)?;
    let command = form::command(call);
    if images.len() > 1 && !command.is_empty() {
        return Err(Failure::error("cannot specify multiple --image options and command"));
    }
    let port = call.flags.number("port").filter(|port| *port >= 0);
    let containers: Vec<Value> = images
        .iter()
        .map(|image| {
            let mut container = json!({"image": image, "name": container_name(image), "resources": {}});
            if !command.is_empty() {
                container["command"] = json!(command);
            }
            if let Some(port) = port {
                container["ports"] = json!([{"containerPort": port}]);
            }
            container
        })
        .collect();
    let labels = json!({"app": name});
    let value = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"labels": labels, "name": name},
        "spec": {
            "replicas": call.flags.number("replicas").unwrap_or(1),
            "selector": {"matchLabels": labels},
            "strategy": {},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
        "status": {},
    });
    form::send(call, Kind::Deployment, value, &Told::As("deployment"))
}

/// The name that a container gets from its image: `registry/nginx:1.27` gives `nginx`.
fn container_name(image: &str) -> String {
    let last = image.rsplit('/').next().unwrap_or(image);
    let plain = last.split([':', '@']).next().unwrap_or(last);
    plain
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' })
        .collect()
}
