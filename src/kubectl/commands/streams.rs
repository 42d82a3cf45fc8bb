//! `kubectl port-forward` and `kubectl cp`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/portforward/portforward.go`, `pkg/cmd/cp` (v1.36).
//! Leaves out: `--address`; copying directories, and `tar`, which a real container must have.

use serde_json::Value;

use super::{Call, Pending, exec, pod_of};
use crate::api::kind::Kind;
use crate::api::kinds::networking::Service;
use crate::api::kinds::pod::Pod;
use crate::api::meta::Uid;
use crate::api::object::Object;
use crate::cluster::server::authz::Access;
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources;

/// The flags of `port-forward`.
pub const PORT_FORWARD: &[&[Flag]] =
    &[&[Flag::long("address", Takes::List), Flag::long("pod-running-timeout", Takes::Duration)]];
/// The flags of `attach`.
pub const ATTACH: &[&[Flag]] = exec::FLAGS;
/// The flags of `cp`.
pub const CP: &[&[Flag]] = &[&[
    Flag::both("container", 'c', Takes::Text),
    Flag::long("no-preserve", Takes::Nothing),
    Flag::long("retries", Takes::Number),
]];
/// What a stream from a Pod asks of the server.
pub(super) fn stream_of<'a>(pod: &'a Pod, subresource: &'a str) -> Access<'a> {
    Access { subresource, ..Access::to("create", Kind::Pod, &pod.meta.namespace, &pod.meta.name) }
}

/// Copies a file between the editor and a container, by the programs `cat` and `tee` in it.
pub fn cp(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let [source, destination] = call
        .args
        .clone()
        .try_into()
        .map_err(|_: Vec<String>| Failure::error("source and destination are required"))?;
    let remote = |word: &str| word.split_once(':').map(|(pod, path)| (pod.to_string(), path.to_string()));
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_string();
    match (remote(&source), remote(&destination)) {
        (None, None) => {
            Err(Failure::usage(&call.path, "one of src or dest must be a remote file specification"))
        }
        (Some(_), Some(_)) => Err(Failure::error("one of src or dest must be a local file specification")),
        (_, Some((_, path))) | (Some((_, path)), _) if path.is_empty() => {
            Err(Failure::error("filepath can not be empty"))
        }
        (None, Some((pod, path))) => {
            let text = call.host.file(&source);
            let text =
                text.ok_or_else(|| Failure::error(format!("{source} doesn't exist in local filesystem")))?;
            let path = if path.ends_with('/') { path + &base(&source) } else { path };
            inside(call, &pod, &["tee", &path], &text)?;
            Ok(None)
        }
        (Some((pod, path)), None) => {
            let text = inside(call, &pod, &["cat", &path], "")?;
            let name = if destination.ends_with(['/', '.']) { base(&path) } else { destination };
            match call.host.write(name.trim_start_matches("./"), &text) {
                true => Ok(None),
                false => Err(Failure::error(format!("open {name}: files cannot be written here"))),
            }
        }
    }
}

/// Runs a program in the Pod `NAME` or `NAMESPACE/NAME` and gives what it prints.
fn inside(call: &mut Call, pod: &str, words: &[&str], stdin: &str) -> Result<String, Failure> {
    if let Some((namespace, _)) = pod.split_once('/') {
        call.flags.set("namespace", namespace);
    }
    let name = pod.rsplit('/').next().unwrap_or(pod);
    let (pod, container) = exec::target(call, name, "attach to")?;
    let words = words.iter().map(ToString::to_string).collect();
    let executed = exec::ask(call, &pod, &container, words, stdin)?;
    match executed.exit_code {
        0 => Ok(executed.stdout),
        exit => {
            call.output.stderr.push_str(&executed.stderr);
            Err(Failure { exit, ..Failure::error(format!("command terminated with exit code {exit}")) })
        }
    }
}

/// One local port, and where it leads: to a Pod, or without one to the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forward {
    /// The local port.
    pub local: i32,
    /// The Pod's port.
    pub remote: i32,
    /// The Pod's namespace.
    pub namespace: String,
    /// The Pod's name.
    pub pod: String,
    /// The Pod's uid.
    pub uid: Uid,
}

/// Forwards local ports to a Pod, until it is gone or Ctrl-C is pressed.
pub fn port_forward(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let args = call.args.clone();
    let Some((word, ports)) = args.split_first().filter(|(_, ports)| !ports.is_empty()) else {
        return Err(required(call));
    };
    let object = pod_of::object(call, word)?.map_err(|status| Failure::server(&status))?;
    let pod = pod_of::pods(&*call.host, &object, "attach to")?.into_iter().next();
    let pod = pod.ok_or_else(|| Failure::error("timed out waiting for the condition"))?;
    let mut forwards = Vec::new();
    for text in ports {
        forwards.push(forward(&pod, &object, text)?);
    }
    if pod.status.phase != "Running" {
        return Err(Failure::error(format!(
            "unable to forward port because pod is not running. Current status={}",
            pod.status.phase
        )));
    }
    resources::may(&*call.host, &stream_of(&pod, "portforward"))
        .map_err(|status| Failure::error(format!("error upgrading connection: {}", status.message)))?;
    for Forward { local, remote, .. } in &forwards {
        call.say(format!(
            "Forwarding from 127.0.0.1:{local} -> {remote}\nForwarding from [::1]:{local} -> {remote}"
        ));
    }
    Ok(Some(forwarding(call, forwards)))
}

/// Remembers ports and keeps them open; those that lead elsewhere stay, as they are other commands' in a real terminal.
pub(super) fn forwarding(call: &mut Call, forwards: Vec<Forward>) -> Pending {
    let known = &mut call.session.forwards;
    known.retain(|old| old.pod.is_empty() != forwards.iter().all(|new| new.pod.is_empty()));
    known.retain(|old| forwards.iter().all(|new| new.local != old.local));
    known.extend(forwards.iter().cloned());
    Pending::Forward(Forwarding { forwards })
}

impl Forward {
    /// Whether there is still something at its end.
    pub fn is_alive(&self, host: &dyn Host) -> bool {
        let pod = host.store().get::<Pod>(&self.namespace, &self.pod);
        self.pod.is_empty()
            || pod.is_some_and(|pod| pod.meta.uid == self.uid && pod.status.phase == "Running")
    }
}

fn required(call: &Call) -> Failure {
    Failure::usage(&call.path, "TYPE/NAME and list of ports are required for port-forward")
}

/// Reads `8080:80`, `80`, `:80` and `8080:http`; a Service's port is its target's.
fn forward(pod: &Pod, object: &Object, text: &str) -> Result<Forward, Failure> {
    let (local, remote) = text.split_once(':').unwrap_or((text, text));
    let bad = |port: &str| {
        Failure::error(format!(
            "error parsing remote port {port}: strconv.ParseUint: parsing \"{port}\": invalid syntax"
        ))
    };
    let named = |name: &str| {
        let ports = pod.spec.containers.iter().flat_map(|container| &container.ports);
        ports.filter(|port| port.name == name).map(|port| port.container_port).next()
    };
    let mut port = match remote.parse::<u16>() {
        Ok(port) => i32::from(port),
        Err(_) => match object {
            Object::Service(service) => service_port(service, |port| port.name == remote)
                .map(|port| port.port)
                .ok_or_else(|| bad(remote))?,
            _ => named(remote).ok_or_else(|| {
                Failure::error(format!("Pod '{}' does not have a named port '{remote}'", pod.meta.name))
            })?,
        },
    };
    if let Object::Service(service) = object {
        let found = service_port(service, |candidate| candidate.port == port).ok_or_else(|| {
            Failure::error(format!("Service {} does not have a service port {port}", service.meta.name))
        })?;
        port = match crate::api::codec::Codec::encode(&found.target_port) {
            Value::String(name) => named(&name).unwrap_or(port),
            number => number.as_i64().and_then(|number| i32::try_from(number).ok()).unwrap_or(port),
        };
    }
    let local = match local {
        "" => 40_000 + port % 20_000,
        _ if local == remote => remote.parse::<u16>().map_or(port, i32::from),
        local => i32::from(local.parse::<u16>().map_err(|_| {
            Failure::error(format!(
                "error parsing local port \"{local}\": strconv.ParseUint: parsing \"{local}\": invalid syntax"
            ))
        })?),
    };
    Ok(Forward {
        local,
        remote: port,
        namespace: pod.meta.namespace.to_string(),
        pod: pod.meta.name.to_string(),
        uid: pod.meta.uid.clone(),
    })
}

fn service_port(
    service: &Service,
    is_meant: impl Fn(&crate::api::kinds::networking::ServicePort) -> bool,
) -> Option<&crate::api::kinds::networking::ServicePort> {
    service.spec.ports.iter().find(|port| is_meant(port))
}

/// Ports that are forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarding {
    /// Each of them.
    forwards: Vec<Forward>,
}

impl Forwarding {
    /// Ends when the Pod has ended.
    pub fn poll(&self, host: &dyn Host) -> Poll {
        if self.forwards.iter().all(|forward| forward.is_alive(host)) {
            return Poll::default();
        }
        let printed = Output { stderr: "error: lost connection to pod\n".to_string(), ..Output::default() };
        Poll { printed, finished: Some(1) }
    }
}
