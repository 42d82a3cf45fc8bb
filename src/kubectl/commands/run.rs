//! `kubectl run`: one Pod of one image.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/run/run.go` (v1.36).
//! Leaves out: `--pod-running-timeout`, typing into a process other than a shell.

use serde_json::{Map, Value, json};

use super::attach::Attached;
use super::{Call, DryRun, Pending, apply, create};
use crate::api::kind::Kind;
use crate::api::kinds::pod::Pod;
use crate::api::schema;
use crate::cluster::server::patch;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;

/// The flags of `run`.
pub const FLAGS: &[&[Flag]] = &[
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    flags::SAVE_CONFIG,
    &[
        Flag::long("image", Takes::Text),
        Flag::long("image-pull-policy", Takes::Text),
        Flag::both("labels", 'l', Takes::Text),
        Flag::long("annotations", Takes::Texts),
        Flag::long("env", Takes::Texts),
        Flag::long("port", Takes::Text),
        Flag::long("expose", Takes::Nothing),
        Flag::long("command", Takes::Nothing),
        Flag::long("restart", Takes::Text),
        Flag::both("stdin", 'i', Takes::Nothing),
        Flag::both("tty", 't', Takes::Nothing),
        Flag::long("attach", Takes::Nothing),
        Flag::long("rm", Takes::Nothing),
        Flag::long("leave-stdin-open", Takes::Nothing),
        Flag::long("pod-running-timeout", Takes::Duration),
        Flag::long("overrides", Takes::Text),
        Flag::long("override-type", Takes::Text),
        Flag::both("quiet", 'q', Takes::Nothing),
        Flag::long("privileged", Takes::Nothing),
    ],
];

/// Creates a Pod, and a Service for it with `--expose`.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let Some((name, words)) = call.args.split_first() else {
        return Err(Failure::usage(&call.path, "NAME is required for run"));
    };
    let (name, words) = (name.clone(), words.to_vec());
    let image = call.flags.text("image").unwrap_or_default().to_string();
    if !is_image(&image) {
        return Err(Failure::error(format!("Invalid image name \"{image}\": invalid reference format")));
    }
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let (stdin, tty) = (call.flags.on("stdin"), call.flags.on("tty"));
    let attaches = if call.flags.given("attach") { call.flags.on("attach") } else { stdin };
    if tty && !stdin {
        return Err(Failure::error("-i/--stdin is required for containers with -t/--tty=true"));
    }
    if call.flags.on("rm") && !attaches {
        return Err(Failure::usage(&call.path, "--rm should only be used for attached containers"));
    }
    if attaches && dry_run != DryRun::No {
        return Err(Failure::usage(
            &call.path,
            "--dry-run=[server|client] can't be used with attached containers options (--attach, --stdin, or --tty)",
        ));
    }
    let restart = call.flags.text("restart").unwrap_or("Always").to_string();
    if !matches!(restart.as_str(), "Always" | "OnFailure" | "Never") {
        return Err(Failure::usage(&call.path, format!("invalid restart policy: {restart}")));
    }
    let expose = call.flags.on("expose");
    let port = match call.flags.text("port").filter(|port| !port.is_empty()) {
        Some(text) => Some(
            text.parse::<i32>()
                .map_err(|_| Failure::error(format!("strconv.Atoi: parsing \"{text}\": invalid syntax")))?,
        ),
        None => None,
    };
    if expose && port.is_none() {
        return Err(Failure::usage(&call.path, "--port must be set when exposing a service"));
    }
    let labels = match call.flags.text("labels").filter(|labels| !labels.is_empty()) {
        Some(text) => pairs(text)?,
        None => Map::from_iter([("run".to_string(), json!(name))]),
    };
    let mut container = json!({"image": image, "name": name, "resources": {}});
    if !words.is_empty() {
        let field = if call.flags.on("command") { "command" } else { "args" };
        container[field] = json!(words);
    }
    let mut env = Vec::new();
    for variable in call.flags.texts("env") {
        let (key, value) = variable
            .split_once('=')
            .filter(|(key, _)| !key.is_empty())
            .ok_or_else(|| Failure::error(format!("invalid env: {variable}")))?;
        env.push(json!({"name": key, "value": value}));
    }
    if !env.is_empty() {
        container["env"] = Value::Array(env);
    }
    if let Some(port) = port {
        container["ports"] = json!([{"containerPort": port}]);
    }
    if let Some(policy) = call.flags.text("image-pull-policy").filter(|policy| !policy.is_empty()) {
        container["imagePullPolicy"] = json!(policy);
    }
    let mut metadata = json!({"labels": labels, "name": name});
    let annotations = call.flags.texts("annotations");
    if !annotations.is_empty() {
        metadata["annotations"] = Value::Object(pairs(&annotations.join(","))?);
    }
    if stdin {
        container["stdin"] = json!(true);
        if !call.flags.on("leave-stdin-open") {
            container["stdinOnce"] = json!(true);
        }
    }
    if tty {
        container["tty"] = json!(true);
    }
    if call.flags.on("privileged") {
        container["securityContext"] = json!({"privileged": true});
    }
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"containers": [container], "dnsPolicy": "ClusterFirst", "restartPolicy": restart},
        "status": {},
    });
    override_with(call, &mut pod)?;
    if expose {
        let service = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"ports": [{"port": port, "protocol": "TCP", "targetPort": port}], "selector": labels},
            "status": {"loadBalancer": {}},
        });
        send(call, &format, Kind::Service, service, dry_run)?;
    }
    let said = call.output.stdout.len();
    send(call, &format, Kind::Pod, pod, dry_run)?;
    if !attaches {
        return Ok(None);
    }
    call.output.stdout.truncate(said);
    let Some(made) = call.host.store().get::<Pod>(call.namespace(), &name) else { return Ok(None) };
    let mut attached = Attached::to(made, name);
    (attached.stdin, attached.tty) = (stdin, tty && !call.session.recorded_config);
    attached.quiet = call.flags.on("quiet");
    attached.removes = call.flags.on("rm");
    attached.exits = true;
    Ok(Some(Pending::Attach(attached)))
}

fn send(
    call: &mut Call,
    format: &Format,
    kind: Kind,
    mut value: Value,
    dry_run: DryRun,
) -> Result<(), Failure> {
    if call.flags.on("save-config") {
        apply::annotate(&mut value);
    }
    if dry_run != DryRun::Client {
        let namespace = call.namespace().to_string();
        value["metadata"]["namespace"] = json!(namespace);
        let name = value["metadata"]["name"].as_str().unwrap_or_default().to_string();
        let mut request = Request::new(Verb::Create, kind, &namespace, &name, value);
        request.options.dry_run = dry_run == DryRun::Server;
        let response = call.host.ask(request).map_err(|status| Failure::server(&status))?;
        call.pass_on(&response.warnings);
        value = response.object;
    }
    create::print(call, format, kind.printed(), value, "created", dry_run)
}

/// Puts `--overrides` over what was made.
fn override_with(call: &Call, pod: &mut Value) -> Result<(), Failure> {
    let Some(text) = call.text("overrides") else { return Ok(()) };
    let invalid = || Failure::error("Invalid JSON Patch");
    let overrides: Value = serde_json::from_str(&text).map_err(|_| invalid())?;
    match call.flags.text("override-type") {
        None | Some("merge" | "") => {
            patch::merge(pod, &overrides);
            Ok(())
        }
        Some("json") => patch::json(pod, &overrides).map_err(|_| invalid()),
        Some("strategic") => match schema::root_of("v1", "Pod") {
            Some(kind) => patch::strategic(kind, pod, &overrides).map_err(|_| invalid()),
            None => Ok(()),
        },
        Some(other) => Err(Failure::error(format!(
            "invalid override type: {other}, expected one of: merge, json, strategic"
        ))),
    }
}

/// `a=1,b=2`.
fn pairs(text: &str) -> Result<Map<String, Value>, Failure> {
    text.split(',')
        .map(|pair| {
            let (key, value) = pair
                .split_once('=')
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(|| Failure::error(format!("unexpected label spec: {pair}")))?;
            Ok((key.to_string(), json!(value)))
        })
        .collect()
}

/// Whether a text can name an image: small letters, digits and separators, then a tag or a digest.
///
/// Models: `distribution/reference` (`ParseNormalizedNamed`), roughly.
fn is_image(text: &str) -> bool {
    let (rest, digest) = text.split_once('@').map_or((text, None), |(rest, digest)| (rest, Some(digest)));
    let (path, tag) = match rest.rsplit_once(':') {
        Some((path, tag)) if !tag.contains('/') => (path, Some(tag)),
        _ => (rest, None),
    };
    let is_tag = |tag: &str| {
        !tag.is_empty()
            && tag.len() <= 128
            && tag.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
            && !tag.starts_with(['.', '-'])
    };
    let parts: Vec<&str> = path.split('/').collect();
    let is_host = |part: &str| part.contains(['.', ':']) || part == "localhost";
    let is_part = |(index, part): (usize, &&str)| {
        if index == 0 && parts.len() > 1 && is_host(part) {
            return part.chars().all(|c| c.is_ascii_alphanumeric() || ".:-".contains(c));
        }
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c))
            && part.chars().next().is_some_and(|c| c.is_ascii_alphanumeric())
            && part.chars().last().is_some_and(|c| c.is_ascii_alphanumeric())
    };
    parts.iter().enumerate().all(is_part)
        && tag.is_none_or(is_tag)
        && digest.is_none_or(|digest| digest.contains(':') && !digest.ends_with(':'))
}

#[cfg(test)]
mod tests {
    use super::is_image;

    #[test]
    fn images_are_told_from_other_texts() {
        for (text, is) in [
            ("nginx", true),
            ("nginx:1.27", true),
            ("registry.example:5000/team/web:1.0", true),
            ("Nginx", false),
            ("bad image", false),
            ("", false),
            ("nginx:", false),
        ] {
            assert_eq!(is_image(text), is, "{text}");
        }
    }
}
