//! What the hooks of a container come to: after its start, and before its end.
//!
//! Models: `pkg/kubelet/lifecycle/handlers.go` (v1.36). Leaves out: `tcpSocket`, which does nothing upstream either; headers
//! of HTTP hooks.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::api::int_or_string::IntOrString;
use crate::api::kinds::pod::{Container, Pod};
use crate::api::time::Timestamp;
use crate::cluster::runtime::node::{Reply, RunningPod};
use crate::cluster::runtime::process::{Deed, Program, stamped};
use crate::cluster::runtime::script::{self, Surroundings};

/// What a hook comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hook {
    /// How long it takes; `None` when it would go on for ever.
    pub seconds: Option<i64>,
    /// Why it failed, in the kubelet's words.
    pub failure: Option<String>,
    /// What it does to the files of the container, and after how many seconds.
    pub deeds: Vec<(i64, Deed)>,
}

/// What a hook meets.
pub struct Around<'a> {
    /// The Pod.
    pub pod: &'a Pod,
    /// What runs of it.
    pub running: &'a RunningPod,
    /// The container's variables.
    pub environment: &'a BTreeMap<String, String>,
    /// Whether the runtime is the recorder's, in which commands take no time.
    pub recorded: bool,
    /// The time.
    pub now: Timestamp,
}

/// What the hook of that name comes to; `None` where the container has none.
pub fn hook(container: &Container, name: &str, around: &Around<'_>) -> Option<Hook> {
    let hook = container.rest.get("lifecycle")?.get(name)?;
    if let Some(seconds) = hook["sleep"]["seconds"].as_i64() {
        return Some(Hook { seconds: Some(seconds), ..Hook::default() });
    }
    let meta = &around.pod.meta;
    let whose = format!(
        "for Container \"{}\" in Pod \"{}_{}({})\"",
        container.name, meta.name, meta.namespace, meta.uid
    );
    let at_once = |failure: Option<String>| Hook { seconds: Some(0), failure, deeds: Vec::new() };
    if let Some(http) = hook.get("httpGet") {
        return Some(at_once(ask(container, http, around).err().map(|error| {
            let path = http["path"].as_str().unwrap_or_default();
            format!("HTTP lifecycle hook ({path}) {whose} failed - error: {error}")
        })));
    }
    let words = hook["exec"]["command"].as_array()?;
    let command: Vec<String> = words.iter().filter_map(|word| Some(word.as_str()?.to_string())).collect();
    let run = around.running.container(&container.name);
    let surroundings = Surroundings {
        environment: around.environment,
        read: &|file| run.and_then(|run| around.running.file(run, file, around.now)),
        list: &|| run.map(|run| around.running.files(run, around.now)).unwrap_or_default(),
        ask: &|_, _| None,
        settled_seconds: 0,
        main: "",
        input: "",
        address: &around.running.ip,
        is_plain: false,
    };
    let program = script::program_of(&script::quoted(&command), &surroundings, Program::default());
    let lines = program.moments.iter().filter_map(|moment| match &moment.deed {
        Deed::Print(line) => Some(stamped(line, around.now) + "\n"),
        _ => None,
    });
    let output: String = lines.collect();
    let deeds = program.moments.iter().filter(|moment| !matches!(moment.deed, Deed::Print(_)));
    let deeds = deeds.map(|moment| (moment.at_seconds, moment.deed.clone())).collect();
    let Some(end) = &program.end else {
        // A command that nobody knows (`nginx -s quit`) is done in a moment; a loop without an end is not.
        let seconds = if program.cycle.is_some() { None } else { Some(0) };
        return Some(Hook { seconds, failure: None, deeds });
    };
    let words = command.join(" ");
    let failure = (end.exit_code != 0).then(|| {
        format!(
            "Exec lifecycle hook ([{words}]) {whose} failed - error: command '{words}' exited with {}: {output}, message: {output:?}",
            end.exit_code
        )
    });
    let seconds = if around.recorded { 0 } else { end.after_seconds };
    Some(Hook { seconds: Some(seconds), failure, deeds })
}

fn ask(container: &Container, http: &Value, around: &Around<'_>) -> Result<(), String> {
    let port = match &http["port"] {
        Value::String(name) => {
            let named =
                container.ports.iter().find(|port| port.name == *name).map(|port| port.container_port);
            named
                .or(name.parse().ok())
                .ok_or_else(|| format!("couldn't find port: {}", IntOrString::Text(name.clone())))?
        }
        number => number.as_i64().and_then(|number| i32::try_from(number).ok()).unwrap_or(80),
    };
    let path = http["path"].as_str().filter(|path| !path.is_empty()).unwrap_or("/");
    let scheme = http["scheme"].as_str().unwrap_or("HTTP").to_lowercase();
    let ip = &around.running.ip;
    match around.running.ask(port, path, around.now) {
        Reply::Answered { .. } | Reply::Silent { .. } => Ok(()),
        Reply::Refused => Err(format!(
            "Get \"{scheme}://{ip}:{port}{path}\": dial tcp {ip}:{port}: connect: connection refused"
        )),
    }
}
