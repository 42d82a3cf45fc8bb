//! `kubectl create secret`: generic, tls, docker-registry.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_secret.go`, `create_secret_tls.go`, `create_secret_docker.go` (v1.36).
//! Leaves out: whether a certificate belongs to its key.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::configmap::{self, SOURCES};
use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Command, NOTHING, Pending, Run};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

const TYPE: &[Flag] = &[Flag::long("type", Takes::Text)];
const PAIR: &[Flag] = &[
    Flag::long("cert", Takes::Text),
    Flag::long("key", Takes::Text),
    Flag::long("append-hash", Takes::Nothing),
];
const REGISTRY: &[Flag] = &[
    Flag::long("docker-username", Takes::Text),
    Flag::long("docker-password", Takes::Text),
    Flag::long("docker-email", Takes::Text),
    Flag::long("docker-server", Takes::Text),
];

/// The commands below `create secret`.
pub const COMMANDS: &[Command] = &[
    Command {
        name: "docker-registry",
        about: "Create a secret for use with a Docker registry",
        flags: &[form::FLAGS, SOURCES, REGISTRY],
        run: Run::Does(docker_registry),
        ..NOTHING
    },
    Command {
        name: "generic",
        about: "Create a secret from a local file, directory, or literal value",
        flags: &[form::FLAGS, SOURCES, TYPE],
        run: Run::Does(generic),
        ..NOTHING
    },
    Command {
        name: "tls",
        about: "Create a TLS secret",
        flags: &[form::FLAGS, PAIR],
        run: Run::Does(tls),
        ..NOTHING
    },
];

fn send(
    call: &mut Call,
    name: &str,
    secret_type: &str,
    data: Map<String, Value>,
) -> Result<Option<Pending>, Failure> {
    let mut value = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    let encode = |text: Value| json!(STANDARD.encode(text.as_str().unwrap_or_default()));
    if !data.is_empty() {
        value["data"] = Value::Object(data.into_iter().map(|(key, text)| (key, encode(text))).collect());
    }
    if !secret_type.is_empty() {
        value["type"] = json!(secret_type);
    }
    form::send(call, Kind::Secret, value, &Told::Briefly("secret"))
}

fn generic(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let data = configmap::data(call, "Secret", &name)?;
    let secret_type = call.text("type").unwrap_or_default();
    send(call, &name, &secret_type, data)
}

fn tls(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let (Some(key), Some(certificate)) = (call.text("key"), call.text("cert")) else {
        return Err(Failure::error("key and cert must be specified"));
    };
    let mut data = Map::new();
    for (field, path) in [("tls.crt", certificate), ("tls.key", key)] {
        let missing =
            || Failure::error(format!("Cannot read file {path}, open {path}: no such file or directory"));
        let text = call.host.file(&path).ok_or_else(missing)?;
        if !text.contains("-----BEGIN ") {
            let what = if field == "tls.crt" { "certificate" } else { "key" };
            return Err(Failure::error(format!("tls: failed to find any PEM data in {what} input")));
        }
        data.insert(field.to_string(), json!(text));
    }
    send(call, &name, "kubernetes.io/tls", data)
}

fn docker_registry(call: &mut Call) -> Result<Option<Pending>, Failure> {
    const FIELD: &str = ".dockerconfigjson";
    let name = form::name(call)?;
    let mut data = Map::new();
    if call.flags.given("from-file") {
        for source in call.flags.list("from-file") {
            let path = source.strip_prefix(".dockerconfigjson=").unwrap_or(&source);
            data.insert(FIELD.to_string(), json!(configmap::read(call, path)?));
        }
    } else {
        let (Some(user), Some(password)) = (call.text("docker-username"), call.text("docker-password"))
        else {
            return Err(Failure::error(
                "either --from-file or the combination of --docker-username, --docker-password and --docker-server is required",
            ));
        };
        let server = call.text("docker-server").unwrap_or("https://index.docker.io/v1/".to_string());
        let mut entry = json!({
            "auth": STANDARD.encode(format!("{user}:{password}")), "password": password, "username": user,
        });
        if let Some(email) = call.text("docker-email") {
            entry["email"] = json!(email);
        }
        data.insert(FIELD.to_string(), json!(json!({"auths": {server: entry}}).to_string()));
    }
    send(call, &name, "kubernetes.io/dockerconfigjson", data)
}
