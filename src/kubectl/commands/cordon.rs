//! `kubectl cordon` and `uncordon`: keeps new Pods off a node, and lets them on again.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/drain/drain.go` (`RunCordonOrUncordon`, v1.36).
//! Leaves out: nothing.

use serde_json::json;

use super::{Call, DryRun, Pending};
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::Flag;
use crate::kubectl::resources;

/// The flags of both.
pub const FLAGS: &[&[Flag]] = &[flags::SELECTOR, flags::DRY_RUN];

/// Keeps new Pods off.
pub fn cordon(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let (_, failures) = set(call, true)?;
    Failure::all(failures).map_or(Ok(None), Err)
}

/// Lets Pods on again.
pub fn uncordon(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let (_, failures) = set(call, false)?;
    Failure::all(failures).map_or(Ok(None), Err)
}

/// Marks the nodes that are named or selected; hands them back, and what failed.
pub(super) fn set(call: &mut Call, unschedulable: bool) -> Result<(Vec<String>, Vec<Failure>), Failure> {
    let verb = if unschedulable { "cordon" } else { "uncordon" };
    let command = call.path.rsplit(' ').next().unwrap_or(verb).to_string();
    let selects = call.flags.given("selector");
    if call.args.is_empty() && !selects {
        return Err(Failure::usage(&call.path, format!("USAGE: {command} NODE [flags]")));
    }
    if !call.args.is_empty() && selects {
        return Err(Failure::error("error: cannot specify both a node name and a --selector option"));
    }
    let dry_run = call.dry_run()?;
    let mut failures = Vec::new();
    let mut nodes = Vec::new();
    if selects {
        let found = resources::list(&*call.host, Kind::Node, &call.narrowing());
        nodes = found.map_err(|status| Failure::server(&status))?;
    }
    for name in &call.args {
        let name = name.strip_prefix("node/").or_else(|| name.strip_prefix("nodes/")).unwrap_or(name);
        match resources::read(&*call.host, Kind::Node, "", name) {
            Ok(node) => nodes.push(node.clone()),
            Err(status) => failures.push(Failure::server(&status)),
        }
    }
    let mut marked = Vec::new();
    for object in nodes {
        let Object::Node(node) = &object else { continue };
        let name = &node.meta.name;
        marked.push(name.to_string());
        if node.spec.unschedulable == unschedulable {
            call.say(format!("node/{name} already {verb}ed{}", dry_run.suffix()));
            continue;
        }
        if dry_run != DryRun::Client {
            let value = if unschedulable { json!(true) } else { json!(null) };
            let body = json!({"spec": {"unschedulable": value}});
            let mut request = Request::new(Verb::StrategicPatch, Kind::Node, "", name, body);
            request.options.dry_run = dry_run == DryRun::Server;
            if let Err(status) = call.host.ask(request) {
                failures.push(Failure::error(format!("unable to {verb} node {name}: {}", status.message)));
                continue;
            }
        }
        call.say(format!("node/{name} {verb}ed{}", dry_run.suffix()));
    }
    Ok((marked, failures))
}
