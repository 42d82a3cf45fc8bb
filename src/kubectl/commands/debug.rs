//! `kubectl debug`: a container beside those of a Pod, a changed copy of a Pod, or a Pod that looks into a node.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/debug/debug.go`, `profiles.go` (v1.36).
//! Leaves out: `--custom`, `-f`; of the profiles only what `general` and `sysadmin` share.

use serde_json::{Value, json};

use super::attach::Attached;
use super::{Call, Pending, pod_of};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::object::Object;
use crate::cluster::fnv::fnv1a_64;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources;

/// The flags of `debug`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    &[
        Flag::long("arguments-only", Takes::Nothing),
        Flag::long("attach", Takes::Nothing),
        Flag::both("container", 'c', Takes::Text),
        Flag::long("copy-to", Takes::Text),
        Flag::long("custom", Takes::Text),
        Flag::long("env", Takes::Texts),
        Flag::long("image", Takes::Text),
        Flag::long("image-pull-policy", Takes::Text),
        Flag::long("keep-annotations", Takes::Nothing),
        Flag::long("keep-labels", Takes::Nothing),
        Flag::long("keep-liveness", Takes::Nothing),
        Flag::long("keep-readiness", Takes::Nothing),
        Flag::long("keep-startup", Takes::Nothing),
        Flag::long("profile", Takes::Text),
        Flag::both("quiet", 'q', Takes::Nothing),
        Flag::long("replace", Takes::Nothing),
        Flag::long("same-node", Takes::Nothing),
        Flag::long("set-image", Takes::List),
        Flag::long("share-processes", Takes::Nothing),
        Flag::both("stdin", 'i', Takes::Nothing),
        Flag::long("target", Takes::Text),
        Flag::both("tty", 't', Takes::Nothing),
    ],
];

/// Makes the container or the Pod, and attaches to it with `-i`.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let named = call.before_dashes.unwrap_or(call.args.len());
    let words = call.args.split_off(named);
    let copy = call.text("copy-to");
    if call.text("image").is_none()
        && (copy.is_none() || call.flags.list("set-image").is_empty() && words.is_empty())
    {
        return Err(Failure::error("you must specify --image when not using --copy-to."));
    }
    if copy.is_some() && call.flags.given("target") {
        return Err(Failure::usage(
            &call.path,
            "--target is incompatible with --copy-to. Use --share-processes instead.",
        ));
    }
    if call.flags.on("tty") && !call.flags.on("stdin") {
        return Err(Failure::usage(&call.path, "-i/--stdin is required for containers with -t/--tty=true"));
    }
    let [word] = call.args.as_slice() else {
        return Err(Failure::error("NAME or TYPE/NAME is required for debug"));
    };
    let word = word.clone();
    let object = pod_of::object(call, &word)?.map_err(|status| Failure::server(&status))?;
    match (&object, copy) {
        (Object::Node(node), _) => {
            let name = node.meta.name.to_string();
            look_into(call, &name, words)
        }
        (Object::Pod(pod), Some(copy)) => copied(call, &pod.clone(), &copy, words),
        (Object::Pod(pod), None) => beside(call, &pod.clone(), words),
        _ => Err(Failure::error(format!("\"{}\" not supported by debug", object.kind().name()))),
    }
}

/// Five letters that no other command gets.
fn suffix(call: &Call) -> String {
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let mut number = fnv1a_64(format!("{}/{}", call.host.store().revision(), call.host.now().0).into_bytes());
    let mut letter = || {
        let letter = LETTERS[(number % 27) as usize];
        number /= 27;
        char::from(letter)
    };
    (0..5).map(|_| letter()).collect()
}

/// The container that is added.
fn container(call: &Call, name: &str, words: Vec<String>) -> Value {
    let mut container = json!({
        "image": call.text("image").unwrap_or_default(), "name": name, "resources": {},
        "terminationMessagePolicy": "File",
    });
    if !words.is_empty() {
        container[if call.flags.on("arguments-only") { "args" } else { "command" }] = json!(words);
    }
    let mut env = Vec::new();
    for pair in call.flags.texts("env") {
        if let Some((name, value)) = pair.split_once('=') {
            env.push(json!({"name": name, "value": value}));
        }
    }
    if !env.is_empty() {
        container["env"] = Value::Array(env);
    }
    if let Some(policy) = call.text("image-pull-policy") {
        container["imagePullPolicy"] = json!(policy);
    }
    for flag in ["stdin", "tty"] {
        if call.flags.on(flag) {
            container[flag] = json!(true);
        }
    }
    match call.text("profile").as_deref() {
        Some("sysadmin") => container["securityContext"] = json!({"privileged": true}),
        Some("legacy" | "restricted" | "baseline") => {}
        _ => container["securityContext"] = json!({"capabilities": {"add": ["SYS_PTRACE"]}}),
    }
    container
}

/// The name of a new container, which is said when nobody chose it.
fn name_of(call: &mut Call) -> String {
    call.text("container").unwrap_or_else(|| {
        let name = format!("debugger-{}", suffix(call));
        if !call.flags.on("quiet") {
            call.warn(format!("Defaulting debug container name to {name}."));
        }
        name
    })
}

/// An ephemeral container in a Pod that runs.
fn beside(call: &mut Call, pod: &Pod, words: Vec<String>) -> Result<Option<Pending>, Failure> {
    let target = call.text("target");
    if let Some(target) = target.as_ref().filter(|_| !call.flags.on("quiet")) {
        call.warn(format!(
            "Targeting container \"{target}\". If you don't see processes from this container it may be because the container runtime doesn't support this feature."
        ));
    }
    let name = name_of(call);
    let mut added = container(call, &name, words);
    if let Some(target) = target {
        added["targetContainerName"] = json!(target);
    }
    let patch = json!({"spec": {"ephemeralContainers": [added]}});
    let mut request =
        Request::new(Verb::StrategicPatch, Kind::Pod, &pod.meta.namespace, &pod.meta.name, patch);
    request.subresource = "ephemeralcontainers".to_string();
    call.host.ask(request).map_err(|status| Failure::server(&status))?;
    attach(call, &pod.meta.namespace.clone(), &pod.meta.name.clone(), name)
}

/// A copy of a Pod with something changed.
fn copied(call: &mut Call, pod: &Pod, copy: &str, words: Vec<String>) -> Result<Option<Pending>, Failure> {
    let mut value = Object::from(pod.clone()).to_value();
    let old = value["metadata"].clone();
    let mut metadata = json!({"name": copy, "namespace": pod.meta.namespace.to_string()});
    for (flag, field) in [("keep-labels", "labels"), ("keep-annotations", "annotations")] {
        if call.flags.on(flag) {
            metadata[field] = old[field].clone();
        }
    }
    value["metadata"] = metadata;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("status");
    }
    let spec = &mut value["spec"];
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("ephemeralContainers");
        if !call.flags.on("same-node") {
            fields.remove("nodeName");
        }
    }
    if call.flags.on("share-processes") || !call.flags.given("share-processes") {
        spec["shareProcessNamespace"] = json!(true);
    }
    // The new Pod gets a volume with a token of its own.
    let is_token = |name: &Value| name.as_str().is_some_and(|name| name.starts_with("kube-api-access-"));
    if let Some(volumes) = spec["volumes"].as_array_mut() {
        volumes.retain(|volume| !is_token(&volume["name"]));
    }
    let images: Vec<(String, String)> = call
        .flags
        .list("set-image")
        .iter()
        .filter_map(|pair| pair.split_once('=').map(|(name, image)| (name.to_string(), image.to_string())))
        .collect();
    let chosen = call.text("container");
    let mut attached = None;
    if let Some(containers) = spec["containers"].as_array_mut() {
        for found in containers.iter_mut() {
            let name = found["name"].as_str().unwrap_or_default().to_string();
            if let Some(fields) = found.as_object_mut() {
                for (flag, field) in [
                    ("keep-liveness", "livenessProbe"),
                    ("keep-readiness", "readinessProbe"),
                    ("keep-startup", "startupProbe"),
                ] {
                    if !call.flags.on(flag) {
                        fields.remove(field);
                    }
                }
            }
            if let Some(mounts) = found["volumeMounts"].as_array_mut() {
                mounts.retain(|mount| !is_token(&mount["name"]));
            }
            if let Some((_, image)) = images.iter().find(|(of, _)| *of == name || of == "*") {
                found["image"] = json!(image);
            }
            if chosen.as_ref() == Some(&name) {
                attached = Some(name);
                if let Some(image) = call.text("image") {
                    found["image"] = json!(image);
                }
                if !words.is_empty() {
                    found["command"] = json!(words);
                    found["args"] = json!([]);
                }
                for flag in ["stdin", "tty"] {
                    if call.flags.on(flag) {
                        found[flag] = json!(true);
                    }
                }
            }
        }
    }
    if attached.is_none() && call.text("image").is_some() {
        let name = name_of(call);
        let added = container(call, &name, words);
        if let Some(containers) = value["spec"]["containers"].as_array_mut() {
            containers.push(added);
        }
        attached = Some(name);
    }
    let request = Request::new(Verb::Create, Kind::Pod, &pod.meta.namespace, copy, value);
    call.host.ask(request).map_err(|status| Failure::server(&status))?;
    if call.flags.on("replace") {
        let old = Request::new(Verb::Delete, Kind::Pod, &pod.meta.namespace, &pod.meta.name, Value::Null);
        call.host.ask(old).map_err(|status| Failure::server(&status))?;
    }
    let first = pod.spec.containers.first().map(|container| container.name.clone()).unwrap_or_default();
    attach(call, &pod.meta.namespace.clone(), copy, attached.unwrap_or(first))
}

/// A Pod on a node that shares what the node has.
fn look_into(call: &mut Call, node: &str, words: Vec<String>) -> Result<Option<Pending>, Failure> {
    let pod_name = format!("node-debugger-{node}-{}", suffix(call));
    let container_name = call.text("container").unwrap_or("debugger".to_string());
    if !call.flags.on("quiet") {
        call.say(format!(
            "Creating debugging pod {pod_name} with container {container_name} on node {node}."
        ));
    }
    let mut added = container(call, &container_name, words);
    added["volumeMounts"] = json!([{"mountPath": "/host", "name": "host-root"}]);
    let namespace = call.namespace().to_string();
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"}, "name": pod_name, "namespace": namespace,
        },
        "spec": {
            "containers": [added], "hostIPC": true, "hostNetwork": true, "hostPID": true, "nodeName": node,
            "restartPolicy": "Never", "tolerations": [{"operator": "Exists"}],
            "volumes": [{"hostPath": {"path": "/"}, "name": "host-root"}],
        },
    });
    let request = Request::new(Verb::Create, Kind::Pod, &namespace, &pod_name, pod);
    call.host.ask(request).map_err(|status| Failure::server(&status))?;
    attach(call, &namespace, &pod_name, container_name)
}

/// Waits for the container and shows its output, if there is an input or that was asked for.
fn attach(call: &Call, namespace: &str, pod: &str, container: String) -> Result<Option<Pending>, Failure> {
    let stdin = call.flags.on("stdin");
    if !(stdin || call.flags.on("attach")) {
        return Ok(None);
    }
    let found = resources::stored(&*call.host, Kind::Pod, namespace, pod);
    let found = found.map_err(|status| Failure::server(&status))?.get::<Pod>().cloned();
    Ok(found.map(|pod| {
        let mut attached = Attached::to(&pod, container);
        (attached.stdin, attached.tty) = (stdin, call.flags.on("tty") && !call.session.recorded_config);
        attached.quiet = call.flags.on("quiet");
        Pending::Attach(attached)
    }))
}
