//! `kubectl rollout restart`: the same Pods anew.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/rollout/rollout_restart.go` (v1.36).
//! Leaves out: nothing.

use serde_json::json;

use crate::api::kind::Kind;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::commands::{Call, DryRun, Pending, create};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::Flag;
use crate::kubectl::print::format::Format;

/// The flags of `rollout restart`.
pub const FLAGS: &[&[Flag]] = &[flags::FILES, flags::SELECTOR, flags::OUTPUT, flags::FIELD_MANAGER];

const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// Marks the Pod template with the time, so that every Pod is replaced.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let format = Format::of(&call.flags, false)?;
    let (objects, mut failures) = super::objects(call)?;
    for object in objects {
        let (kind, name) = (object.kind(), object.meta().name.clone());
        let shown = format!("{} \"{name}\"", kind.group_resource());
        if !matches!(kind, Kind::Deployment | Kind::StatefulSet | Kind::DaemonSet) {
            failures.push(Failure::error(format!("{shown} restarting is not supported")));
            continue;
        }
        let value = object.to_value();
        if value["spec"]["paused"] == true {
            failures.push(Failure::error(format!(
                "{shown} can't restart paused deployment (run rollout resume first)"
            )));
            continue;
        }
        let now = call.host.now().to_string();
        if value["spec"]["template"]["metadata"]["annotations"][RESTARTED_AT] == now.as_str() {
            failures.push(Failure::error(format!(
                "failed to create patch for {name}: if restart has already been triggered within the past second, please wait before attempting to trigger another"
            )));
            continue;
        }
        let body = json!({"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: now}}}}});
        let request = Request::new(Verb::StrategicPatch, kind, &object.meta().namespace, &name, body);
        match call.host.ask(request) {
            Ok(response) => {
                create::print(call, &format, kind.printed(), response.object, "restarted", DryRun::No)?
            }
            Err(status) => failures.push(Failure::error(format!("failed to patch: {}", status.message))),
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}
