//! `kubectl create ingress`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_ingress.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Map, Value, json};

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

/// The flags of `create ingress`.
pub const FLAGS: &[&[Flag]] = &[
    form::FLAGS,
    &[
        Flag::long("class", Takes::Text),
        Flag::long("rule", Takes::Texts),
        Flag::long("default-backend", Takes::Text),
        Flag::long("annotation", Takes::Texts),
    ],
];

/// Creates an Ingress from rules `host/path=service:port[,tls[=secret]]`.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let rules = call.flags.texts("rule").to_vec();
    let default = call.flags.text("default-backend").filter(|text| !text.is_empty()).map(str::to_string);
    if rules.is_empty() && default.is_none() {
        return Err(Failure::error(
            "not enough information provided: every ingress has to either specify a default-backend (which catches all traffic) or a list of rules (which catch specific paths)",
        ));
    }
    let mut annotations = Map::new();
    for annotation in call.flags.texts("annotation") {
        let (key, value) = annotation.split_once('=').ok_or_else(|| {
            Failure::error(format!("annotation {annotation} is invalid and should be in format key=[value]"))
        })?;
        annotations.insert(key.to_string(), json!(value));
    }
    let mut spec = Map::new();
    if let Some(class) = call.flags.text("class").filter(|class| !class.is_empty()) {
        spec.insert("ingressClassName".to_string(), json!(class));
    }
    if let Some(default) = default {
        let backend = backend(&default)
            .ok_or_else(|| Failure::error("default-backend should be in format servicename:serviceport"))?;
        spec.insert("defaultBackend".to_string(), backend);
    }
    let (rules, tls) = rules_of(&rules)?;
    if !rules.is_empty() {
        spec.insert("rules".to_string(), Value::Array(rules));
    }
    if !tls.is_empty() {
        spec.insert("tls".to_string(), Value::Array(tls));
    }
    let mut metadata = json!({"name": name});
    if !annotations.is_empty() {
        metadata["annotations"] = Value::Object(annotations);
    }
    let value = json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata, "spec": spec,
        "status": {"loadBalancer": {}},
    });
    form::send(call, Kind::Ingress, value, &Told::As("ingress"))
}

fn backend(text: &str) -> Option<Value> {
    let (name, port) = text.split_once(':').filter(|(name, port)| !name.is_empty() && !port.is_empty())?;
    let port = match port.parse::<u16>() {
        Ok(number) => json!({"number": number}),
        Err(_) => json!({"name": port}),
    };
    Some(json!({"service": {"name": name, "port": port}}))
}

type RulesAndTls = (Vec<Value>, Vec<Value>);

fn rules_of(texts: &[String]) -> Result<RulesAndTls, Failure> {
    let (mut rules, mut tls): RulesAndTls = (Vec::new(), Vec::new());
    for text in texts {
        let invalid = || {
            Failure::error(format!(
                "rule {text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]"
            ))
        };
        let (place, rest) = text.split_once('=').ok_or_else(invalid)?;
        let (host, path) = place.split_once('/').ok_or_else(invalid)?;
        let (target, options) =
            rest.split_once(',').map_or((rest, None), |(target, options)| (target, Some(options)));
        let backend = backend(target).ok_or_else(invalid)?;
        let (path, path_type) = match path.strip_suffix('*') {
            Some(path) => (format!("/{path}"), "Prefix"),
            None => (format!("/{path}"), "Exact"),
        };
        let path = json!({"backend": backend, "path": path, "pathType": path_type});
        let same_host =
            |rule: &&mut Value| rule.get("host").and_then(Value::as_str).unwrap_or_default() == host;
        match rules.iter_mut().find(same_host) {
            Some(rule) => {
                if let Some(paths) = rule["http"]["paths"].as_array_mut() {
                    paths.push(path);
                }
            }
            None => {
                let mut rule = json!({"http": {"paths": [path]}});
                if !host.is_empty() {
                    rule["host"] = json!(host);
                }
                rules.push(rule);
            }
        }
        match options.map(|options| options.split_once('=').unwrap_or((options, ""))) {
            None => {}
            Some(("tls", secret)) => {
                let mut entry = Map::new();
                if !host.is_empty() {
                    entry.insert("hosts".to_string(), json!([host]));
                }
                if !secret.is_empty() {
                    entry.insert("secretName".to_string(), json!(secret));
                }
                tls.push(Value::Object(entry));
            }
            Some(_) => return Err(invalid()),
        }
    }
    Ok((rules, tls))
}
