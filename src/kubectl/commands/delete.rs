//! `kubectl delete`: by name, by selector, by file, all of a kind.
//!
//! The line `deleted` is printed as soon as the server has accepted; the command then waits until the object is gone.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/delete/delete.go` (v1.36).
//! Leaves out: `--interactive`.

pub(super) mod raw;

use serde_json::Value;

use super::{Call, DryRun, Pending};
use crate::api::meta::{ObjectKey, Uid};
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::cluster::server::authz::Access;
use crate::cluster::server::request::{Propagation, Request, Verb};
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::host::Host;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources::{self, Wanted};

/// The flags of `delete`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::FIELD_SELECTOR,
    flags::ALL_NAMESPACES,
    flags::ALL,
    flags::DRY_RUN,
    flags::TIMEOUT,
    &[
        Flag::both("output", 'o', Takes::Text),
        Flag::long("cascade", Takes::Optional("background")),
        Flag::long("force", Takes::Nothing),
        Flag::long("grace-period", Takes::Number),
        Flag::long("ignore-not-found", Takes::Nothing),
        Flag::both("interactive", 'i', Takes::Nothing),
        Flag::long("now", Takes::Nothing),
        Flag::long("raw", Takes::Text),
        Flag::long("wait", Takes::Nothing),
    ],
];

const FORCE_WARNING: &str = "Warning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.";

/// Deletes, and waits until what was deleted is gone.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if let Some(path) = call.flags.text("raw").filter(|path| !path.is_empty()).map(str::to_string) {
        return raw::delete(call, &path);
    }
    if let Some(output) = call.flags.text("output").filter(|output| *output != "name" && !output.is_empty()) {
        return Err(Failure::error(format!(
            "unexpected -o output mode: {output}. We only support '-o name'"
        )));
    }
    let propagation = match call.flags.text("cascade").unwrap_or("background") {
        "background" | "true" => Propagation::Background,
        "foreground" => Propagation::Foreground,
        "orphan" | "false" => Propagation::Orphan,
        other => {
            return Err(Failure::error(format!(
                "invalid cascade value ({other}). Must be \"background\", \"foreground\", or \"orphan\""
            )));
        }
    };
    let dry_run = call.dry_run()?;
    let grace = grace_of(call)?;
    if call.flags.on("interactive") {
        return Err(Failure::error("delete --interactive is not in this release of Kubestep"));
    }
    let selects = call.flags.on("all") || call.flags.given("selector") || call.flags.given("field-selector");
    if call.flags.on("all") && call.flags.text("selector").is_some_and(|selector| !selector.is_empty()) {
        return Err(Failure::error("cannot set --all and --selector at the same time"));
    }
    let (objects, mut failures) = targets(call, selects)?;
    if call.flags.on("ignore-not-found") || selects {
        failures.retain(|failure| !failure.text.contains("(NotFound)"));
    }
    if grace == Some(0) {
        call.warn(FORCE_WARNING);
    }
    let mut gone = Gone { waits: Vec::new(), until: None };
    let mut deleted = 0;
    for object in objects {
        match delete(call, &object, propagation, grace, dry_run) {
            Ok(still_there) => {
                deleted += 1;
                gone.waits.extend(still_there);
            }
            Err(failure) => failures.push(failure),
        }
    }
    if deleted == 0 && failures.is_empty() && !call.flags.on("ignore-not-found") {
        call.say("No resources found");
    }
    if let Some(failure) = Failure::all(failures) {
        return Err(failure);
    }
    let waits = call.flags.switch("wait").unwrap_or(true) && dry_run == DryRun::No;
    if !waits || gone.is_over(&*call.host) {
        return Ok(None);
    }
    let timeout_seconds = call.flags.seconds("timeout").unwrap_or(0);
    gone.until = (timeout_seconds > 0).then(|| Timestamp(call.host.now().0 + timeout_seconds));
    Ok(Some(Pending::Delete(gone)))
}

/// What is to be deleted. Who names an object need not be allowed to read it.
fn targets(call: &mut Call, selects: bool) -> Result<(Vec<Object>, Vec<Failure>), Failure> {
    let wanted = match call.flags.given("filename") {
        true => return resources::targets(call),
        false => resources::wanted(&call.args, &*call.host)?,
    };
    let is_named = |wish: &Wanted| matches!(wish, Wanted::Named(..));
    if selects || wanted.is_empty() || !wanted.iter().all(is_named) {
        return resources::targets(call);
    }
    let (mut objects, mut failures) = (Vec::new(), Vec::new());
    let namespace = call.namespace().to_string();
    for wish in wanted {
        let Wanted::Named(kind, name) = wish else { continue };
        let result = resources::may(&*call.host, &Access::to("delete", kind, &namespace, &name))
            .and_then(|()| resources::stored(&*call.host, kind, &namespace, &name).cloned());
        match result {
            Ok(object) => objects.push(object),
            Err(status) => failures.push(Failure::server(&status)),
        }
    }
    Ok((objects, failures))
}

/// The grace period to ask for; `None` leaves it to the object.
fn grace_of(call: &Call) -> Result<Option<i64>, Failure> {
    let given = call.flags.number("grace-period").filter(|seconds| *seconds >= 0);
    let (force, now) = (call.flags.on("force"), call.flags.on("now"));
    if now && given.is_some() {
        return Err(Failure::error("--now and --grace-period cannot be specified together"));
    }
    if force && given.is_some_and(|seconds| seconds > 0) {
        return Err(Failure::error("--force and --grace-period greater than 0 cannot be specified together"));
    }
    Ok(match (given, now, force) {
        (_, true, false) => Some(1),
        (Some(0), _, false) => Some(1),
        (_, _, true) => Some(0),
        (given, ..) => given,
    })
}

/// Deletes one object; hands back what is still there.
fn delete(
    call: &mut Call,
    object: &Object,
    propagation: Propagation,
    grace_seconds: Option<i64>,
    dry_run: DryRun,
) -> Result<Option<(ObjectKey, Uid)>, Failure> {
    let key = object.key();
    if dry_run != DryRun::Client {
        let mut request = Request::new(Verb::Delete, key.kind, &key.namespace, &key.name, Value::Null);
        request.options.propagation = Some(propagation);
        request.options.grace_seconds = grace_seconds;
        request.options.dry_run = dry_run == DryRun::Server;
        let response = call.host.ask(request).map_err(|status| Failure::server(&status))?;
        call.pass_on(&response.warnings);
    }
    if call.flags.text("output") == Some("name") {
        call.say(format!("{}/{}", key.kind.printed(), key.name));
    } else {
        let word = if grace_seconds == Some(0) { "force deleted" } else { "deleted" };
        let place = if key.namespace.is_empty() {
            String::new()
        } else {
            format!(" from {} namespace", key.namespace)
        };
        call.say(format!("{} \"{}\" {word}{place}{}", key.kind.printed(), key.name, dry_run.suffix()));
    }
    Ok(Some((key, object.meta().uid.clone())))
}

/// Waiting for deleted objects to be gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Gone {
    waits: Vec<(ObjectKey, Uid)>,
    until: Option<Timestamp>,
}

impl Gone {
    fn is_over(&self, host: &dyn Host) -> bool {
        self.waits
            .iter()
            .all(|(key, uid)| host.store().object(key).is_none_or(|object| object.meta().uid != *uid))
    }

    /// Whether all are gone, or the time is up.
    pub fn poll(&self, host: &dyn Host) -> Poll {
        if self.is_over(host) {
            return Poll { printed: Output::default(), finished: Some(0) };
        }
        if self.until.is_some_and(|until| host.now() >= until) {
            let still = self.waits.iter().filter(|(key, _)| host.store().object(key).is_some());
            let lines: Vec<String> = still
                .map(|(key, _)| {
                    format!(
                        "error: timed out waiting for the condition on {}/{}\n",
                        key.kind.plural(),
                        key.name
                    )
                })
                .collect();
            let printed = Output { stderr: lines.concat(), ..Output::default() };
            return Poll { printed, finished: Some(1) };
        }
        Poll::default()
    }
}
