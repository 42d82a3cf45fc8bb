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

/// What only a server says of its version.
pub(super) const OF_SERVER: &[(&str, &str)] = &[
    ("emulationMajor", "1"),
    ("emulationMinor", "36"),
    ("minCompatibilityMajor", "1"),
    ("minCompatibilityMinor", "35"),
];

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
    // In the order of the fields, which is not that of the alphabet.
    let client = fields(&format, "clientVersion", &[]);
    let server = fields(&format, "serverVersion", OF_SERVER);
    let kustomize = match format.as_str() {
        "yaml" => format!("kustomizeVersion: {KUSTOMIZE}\n"),
        _ => format!("  \"kustomizeVersion\": \"{KUSTOMIZE}\""),
    };
    let text = match (format.as_str(), client_only) {
        ("yaml", true) => format!("{client}{kustomize}"),
        ("yaml", false) => format!("{client}{kustomize}{server}"),
        (_, true) => format!("{{\n{client},\n{kustomize}\n}}\n"),
        (_, false) => format!("{{\n{client},\n{kustomize},\n{server}\n}}\n"),
    };
    call.output.stdout.push_str(&text);
    Ok(None)
}

/// One version as JSON or YAML; some fields only a server has.
pub(super) fn fields(format: &str, title: &str, of_server: &[(&str, &str)]) -> String {
    let mut all = vec![("major", "1"), ("minor", "36")];
    all.extend(of_server);
    all.extend([
        ("gitVersion", KUBERNETES),
        ("gitCommit", "$Format:%H$"),
        ("gitTreeState", ""),
        ("buildDate", "1970-01-01T00:00:00Z"),
        ("goVersion", "go1.26.6"),
        ("compiler", "gc"),
        ("platform", "linux/amd64"),
    ]);
    if format == "yaml" {
        // YAML is written from a map, so its keys are sorted, and numbers are quoted.
        let map: std::collections::BTreeMap<_, _> = all.into_iter().collect();
        return manifest::to_yaml(&json!({title: map}));
    }
    let lines: Vec<String> = all.iter().map(|(name, value)| format!("    \"{name}\": \"{value}\"")).collect();
    format!("  \"{title}\": {{\n{}\n  }}", lines.join(",\n"))
}
