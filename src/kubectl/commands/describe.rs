//! `kubectl describe`: an object in full, for a person.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/describe/describe.go` (v1.36).
//! Leaves out: `--chunk-size`, which changes nothing that is seen.

use super::{Call, Pending};
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::describe;
use crate::kubectl::resources::{self, Wanted};

/// The flags of `describe`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::ALL_NAMESPACES,
    &[Flag::long("show-events", Takes::Nothing), Flag::long("chunk-size", Takes::Number)],
];

/// Describes objects, by name, by the beginning of a name, or all of a kind.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if call.args.is_empty() && !call.flags.given("filename") {
        return Err(Failure::error(
            "You must specify the type of resource to describe. Use \"kubectl api-resources\" for a complete list of supported resources.",
        ));
    }
    let narrowing = call.narrowing();
    let mut by_prefix = false;
    let (objects, failures) = if call.flags.given("filename") {
        resources::targets(call)?
    } else {
        let wanted = resources::wanted(&call.args, &*call.host)?;
        let by_name = wanted.iter().any(|wish| matches!(wish, Wanted::Named(..)));
        if by_name && narrowing.labels.is_some() {
            return Err(resources::name_with_selector());
        }
        call.pass_on(&resources::warnings(&wanted));
        let (found, failures) = resources::find(&*call.host, &wanted, &narrowing);
        let objects: Vec<Object> = found.into_iter().flat_map(|found| found.objects).collect();
        match wanted.as_slice() {
            [Wanted::Named(kind, prefix)] if objects.is_empty() => {
                let similar = beginning_with(call, *kind, prefix);
                by_prefix = !similar.is_empty();
                if similar.is_empty() { (similar, failures) } else { (similar, Vec::new()) }
            }
            _ => (objects, failures),
        }
    };
    if objects.is_empty() && failures.is_empty() {
        if narrowing.namespace.is_some() {
            let line = format!("No resources found in {} namespace.", call.namespace());
            call.warn(line);
        } else {
            call.warn("No resources found");
        }
        return Ok(None);
    }
    // Objects found by the beginning of their name are described without events, with a line after each.
    let show_events = call.flags.switch("show-events").unwrap_or(true) && !by_prefix;
    for (index, object) in objects.iter().enumerate() {
        if index > 0 && !by_prefix {
            call.output.stdout.push_str("\n\n");
        }
        let text = describe::text(object, &*call.host, show_events);
        call.output.stdout.push_str(&text);
        if by_prefix {
            call.output.stdout.push('\n');
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

/// The objects whose names begin so, if none is called exactly so.
fn beginning_with(call: &Call, kind: Kind, prefix: &str) -> Vec<Object> {
    let all = resources::list(&*call.host, kind, &call.narrowing()).unwrap_or_default();
    all.into_iter().filter(|object| object.meta().name.starts_with(prefix)).collect()
}
