//! `kubectl rollout pause` and `resume`: holds a rollout and lets it go on.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/rollout/rollout_pause.go`, `rollout_resume.go` (v1.36).
//! Leaves out: nothing.

use serde_json::json;

use crate::api::object::Object;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::commands::{Call, DryRun, Pending, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::Flag;
use crate::kubectl::print::format::Format;

/// The flags of both.
pub const FLAGS: &[&[Flag]] = &[flags::FILES, flags::SELECTOR, flags::OUTPUT, flags::FIELD_MANAGER];

/// Holds a rollout.
pub fn pause(call: &mut Call) -> Result<Option<Pending>, Failure> {
    set_paused(call, true)
}

/// Lets a rollout go on.
pub fn resume(call: &mut Call) -> Result<Option<Pending>, Failure> {
    set_paused(call, false)
}

fn set_paused(call: &mut Call, paused: bool) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let (objects, mut failures) = super::objects(call)?;
    for object in objects {
        let (kind, name) = (object.kind(), object.meta().name.clone());
        let shown = format!("{} \"{name}\"", kind.group_resource());
        let Object::Deployment(deployment) = &object else {
            let what = if paused { "pausing" } else { "resuming" };
            failures.push(Failure::error(format!("{shown} {what} is not supported")));
            continue;
        };
        if deployment.spec.paused == paused {
            let problem = if paused { "is already paused" } else { "is not paused" };
            failures.push(Failure::error(format!("{shown} {problem}")));
            continue;
        }
        let body = json!({"spec": {"paused": if paused { json!(true) } else { json!(null) }}});
        let request = Request::new(Verb::StrategicPatch, kind, &deployment.meta.namespace, &name, body);
        match call.host.ask(request) {
            Ok(response) => {
                let word = if paused { "paused" } else { "resumed" };
                create::print(call, &format, kind.printed(), response.object, word, DryRun::No)?;
            }
            Err(status) => failures.push(Failure::error(format!("failed to patch: {}", status.message))),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}
