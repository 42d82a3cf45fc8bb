//! `kubectl version`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/version/version.go` (v1.36).
//! Leaves out: the skew warning between client and server.

use serde_json::json;

use super::{Call, Pending};
use crate::api::manifest;
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

/// The flags of `version`.
pub const FLAGS: &[&[Flag]] =
    &[&[Flag::both("output", 'o', Takes::Text), Flag::long("client", Takes::Nothing)]];

/// The version whose behaviour is mirrored.
pub const KUBERNETES: &str = "v1.36.2";
const KUSTOMIZE: &str = "v5.8.1";

/// Says which versions of client and server these are.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let client_only = call.flags.on("client");
    let format = call.flags.text("output").unwrap_or_default().to_string();
    if !matches!(format.as_str(), "" | "yaml" | "json") {
        return Err(Failure::error("--output must be 'yaml' or 'json'"));
    }
    if format.is_empty() {
        call.say(format!("Client Version: {KUBERNETES}\nKustomize Version: {KUSTOMIZE}"));
        if !client_only {
            call.say(format!("Server Version: {KUBERNETES}"));
        }
        return Ok(None);
    }
    let version = json!({"gitVersion": KUBERNETES, "major": "1", "minor": "36"});
    let mut value = json!({"clientVersion": version, "kustomizeVersion": KUSTOMIZE});
    if !client_only {
        value["serverVersion"] = version;
    }
    let text = if format == "yaml" { manifest::to_yaml(&value) } else { manifest::to_json_pretty(&value) };
    call.output.stdout.push_str(&text);
    Ok(None)
}
