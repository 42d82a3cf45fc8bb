//! Containers, in Pods and in templates.

use serde_json::Value;

use crate::api::kinds::pod::{Container, ContainerState, ContainerStatus, Probe};
use crate::api::quantity::Quantity;
use crate::kubectl::duration;
use std::collections::BTreeMap;

/// The block of a list of containers. `space` is empty in a Pod and two blanks in a template; statuses come in any
/// order.
pub(super) fn list(
    title: &str,
    containers: &[Container],
    statuses: Option<&[ContainerStatus]>,
    space: &str,
) -> String {
    let mut out = if containers.is_empty() {
        format!("{space}{title}: <none>\n")
    } else {
        format!("{space}{title}:\n")
    };
    let name_indent = if space.is_empty() { "  " } else { "   " };
    for container in containers {
        let status =
            statuses.and_then(|statuses| statuses.iter().find(|status| status.name == container.name));
        out.push_str(&format!("{name_indent}{}:\n", container.name));
        if let Some(status) = status {
            line(&mut out, "Container ID", &status.container_id);
        }
        line(&mut out, "Image", &container.image);
        if let Some(status) = status {
            line(&mut out, "Image ID", &status.image_id);
        }
        ports(&mut out, container);
        words(&mut out, "Command", &container.command);
        words(&mut out, "Args", &container.args);
        if let Some(status) = status {
            state(&mut out, "State", &status.state);
            if status.last_state.terminated.is_some() {
                state(&mut out, "Last State", &status.last_state);
            }
            line(&mut out, "Ready", if status.ready { "True" } else { "False" });
            line(&mut out, "Restart Count", &status.restart_count.to_string());
        }
        resources(&mut out, "Limits", &container.resources.limits);
        resources(&mut out, "Requests", &container.resources.requests);
        for (title, probe) in [
            ("Liveness", &container.liveness_probe),
            ("Readiness", &container.readiness_probe),
            ("Startup", &container.startup_probe),
        ] {
            if let Some(probe) = probe {
                line(&mut out, title, &probe_text(probe));
            }
        }
        environment(&mut out, container);
        mounts(&mut out, container);
    }
    out
}

fn line(out: &mut String, title: &str, text: &str) {
    out.push_str(&format!("    {title}:\t{text}\n"));
}

fn ports(out: &mut String, container: &Container) {
    let text = |host: bool| {
        let texts: Vec<String> = container
            .ports
            .iter()
            .map(|port| {
                let number = if host { port.host_port } else { port.container_port };
                let protocol = if port.protocol.is_empty() { "TCP" } else { &port.protocol };
                match port.name.as_str() {
                    "" => format!("{number}/{protocol}"),
                    name => format!("{number}/{protocol} ({name})"),
                }
            })
            .collect();
        if texts.is_empty() { "<none>".to_string() } else { texts.join(", ") }
    };
    let plural = if container.ports.len() > 1 { "s" } else { "" };
    line(out, &format!("Port{plural}"), &text(false));
    line(out, &format!("Host Port{plural}"), &text(true));
}

fn words(out: &mut String, title: &str, words: &[String]) {
    if words.is_empty() {
        return;
    }
    out.push_str(&format!("    {title}:\n"));
    for word in words {
        for part in word.split('\n') {
            out.push_str(&format!("      {part}\n"));
        }
    }
}

fn state(out: &mut String, title: &str, state: &ContainerState) {
    let time =
        |time: Option<_>| time.map_or("Mon, 01 Jan 0001 00:00:00 +0000".to_string(), duration::rfc1123);
    if let Some(running) = &state.running {
        line(out, title, "Running");
        out.push_str(&format!("      Started:\t{}\n", time(running.started_at)));
    } else if let Some(waiting) = &state.waiting {
        line(out, title, "Waiting");
        if !waiting.reason.is_empty() {
            out.push_str(&format!("      Reason:\t{}\n", waiting.reason));
        }
    } else if let Some(ended) = &state.terminated {
        line(out, title, "Terminated");
        let mut detail = |title: &str, text: &str| out.push_str(&format!("      {title}:\t{text}\n"));
        if !ended.reason.is_empty() {
            detail("Reason", &ended.reason);
        }
        if !ended.message.is_empty() {
            detail("Message", &ended.message);
        }
        detail("Exit Code", &ended.exit_code.to_string());
        if ended.signal > 0 {
            detail("Signal", &ended.signal.to_string());
        }
        detail("Started", &time(ended.started_at));
        detail("Finished", &time(ended.finished_at));
    } else {
        line(out, title, "Waiting");
    }
}

fn resources(out: &mut String, title: &str, list: &BTreeMap<String, Quantity>) {
    if list.is_empty() {
        return;
    }
    out.push_str(&format!("    {title}:\n"));
    for (name, quantity) in list {
        out.push_str(&format!("      {name}:\t{quantity}\n"));
    }
}

/// `http-get http://:8080/healthz delay=0s timeout=1s period=10s #success=1 #failure=3`.
fn probe_text(probe: &Probe) -> String {
    let bounds = format!(
        "delay={}s timeout={}s period={}s #success={} #failure={}",
        probe.initial_delay_seconds,
        probe.timeout_seconds,
        probe.period_seconds,
        probe.success_threshold,
        probe.failure_threshold
    );
    if let Some(exec) = &probe.exec {
        return format!("exec [{}] {bounds}", exec.command.join(" "));
    }
    if let Some(get) = &probe.http_get {
        let host = get.rest.get("host").and_then(Value::as_str).unwrap_or_default();
        let scheme = if get.scheme.is_empty() { "http".to_string() } else { get.scheme.to_lowercase() };
        let slash = if get.path.starts_with('/') || get.path.is_empty() { "" } else { "/" };
        return format!("http-get {scheme}://{host}:{}{slash}{} {bounds}", get.port, get.path);
    }
    if let Some(socket) = &probe.tcp_socket {
        let host = socket.rest.get("host").and_then(Value::as_str).unwrap_or_default();
        return format!("tcp-socket {host}:{} {bounds}", socket.port);
    }
    if let Some(grpc) = probe.rest.get("grpc") {
        let service = grpc.get("service").and_then(Value::as_str).unwrap_or_default();
        return format!("grpc <pod>:{} {service} {bounds}", grpc["port"]);
    }
    format!("unknown {bounds}")
}

fn environment(out: &mut String, container: &Container) {
    if let Some(sources) =
        container.rest.get("envFrom").and_then(Value::as_array).filter(|list| !list.is_empty())
    {
        out.push_str("    Environment Variables from:\n");
        for source in sources {
            let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_string();
            for (field, word) in [("configMapRef", "ConfigMap"), ("secretRef", "Secret")] {
                if let Some(reference) = source.get(field) {
                    let prefix = match text(source, "prefix").as_str() {
                        "" => String::new(),
                        prefix => format!(" with prefix '{prefix}'"),
                    };
                    let optional = reference["optional"].as_bool().unwrap_or(false);
                    out.push_str(&format!(
                        "      {}\t{word}{prefix}\tOptional: {optional}\n",
                        text(reference, "name")
                    ));
                }
            }
        }
    }
    if container.env.is_empty() {
        line(out, "Environment", "<none>");
        return;
    }
    out.push_str("    Environment:\n");
    for variable in &container.env {
        let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_string();
        let from = &variable.value_from;
        let shown = if from.is_null() {
            let mut lines = variable.value.split('\n');
            let mut shown = lines.next().unwrap_or_default().to_string();
            for more in lines {
                shown.push_str(&format!("\n\t{more}"));
            }
            shown
        } else if let Some(field) = from.get("fieldRef") {
            let version = text(field, "apiVersion");
            let version = if version.is_empty() { "v1".to_string() } else { version };
            format!(" ({version}:{})", text(field, "fieldPath"))
        } else if let Some(field) = from.get("resourceFieldRef") {
            format!(" ({})", text(field, "resource"))
        } else {
            let (word, reference) = match from.get("configMapKeyRef") {
                Some(reference) => ("config map", reference),
                None => ("secret", &from["secretKeyRef"]),
            };
            let optional = reference["optional"].as_bool().unwrap_or(false);
            format!(
                "<set to the key '{}' in {word} '{}'>\tOptional: {optional}",
                text(reference, "key"),
                text(reference, "name")
            )
        };
        out.push_str(&format!("      {}:\t{shown}\n", variable.name));
    }
}

fn mounts(out: &mut String, container: &Container) {
    let Some(mounts) =
        container.rest.get("volumeMounts").and_then(Value::as_array).filter(|list| !list.is_empty())
    else {
        line(out, "Mounts", "<none>");
        return;
    };
    out.push_str("    Mounts:\n");
    let mut lines: Vec<String> = mounts
        .iter()
        .map(|mount| {
            let text = |name: &str| mount[name].as_str().unwrap_or_default();
            let mut flags =
                vec![if mount["readOnly"].as_bool() == Some(true) { "ro" } else { "rw" }.to_string()];
            if !text("subPath").is_empty() {
                flags.push(format!("path=\"{}\"", text("subPath")));
            }
            format!("      {} from {} ({})\n", text("mountPath"), text("name"), flags.join(","))
        })
        .collect();
    lines.sort();
    out.push_str(&lines.concat());
}
