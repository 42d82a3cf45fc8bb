//! `kubectl rollout history`: the revisions that can be rolled back to.
//!
//! Models: `k8s.io/kubectl/pkg/polymorphichelpers/history.go` (v1.36).
//! Leaves out: `-o`.

use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::{describe, tabs};

/// The flags of `rollout history`.
pub const FLAGS: &[&[Flag]] =
    &[flags::FILES, flags::SELECTOR, flags::OUTPUT, &[Flag::long("revision", Takes::Number)]];

/// Shows the revisions, or the template of one.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let revision = call.flags.number("revision").unwrap_or(0);
    if revision < 0 {
        return Err(Failure::error(format!("revision must be a positive integer: {revision}")));
    }
    let (objects, mut failures) = super::objects(call)?;
    for object in objects {
        let Some(revisions) = super::revised(&object, &*call.host) else {
            let kind = object.kind();
            failures.push(Failure::error(format!(
                "no history viewer has been implemented for {}.{}",
                kind.plural(),
                kind.group()
            )));
            continue;
        };
        let name = format!("{}/{}", object.kind().printed(), object.meta().name);
        if revision > 0 {
            let Some(found) = revisions.iter().find(|found| found.number == revision) else {
                failures.push(Failure::error("unable to find the specified revision"));
                continue;
            };
            let mut template = found.template.clone();
            if let Some(cause) = &found.cause {
                template.meta.annotations.insert(super::CHANGE_CAUSE.to_string(), cause.clone());
            }
            call.say(format!("{name} with revision #{revision}"));
            let text = describe::template::text(&template);
            call.output.stdout.push_str(&text);
            call.output.stdout.push('\n');
            continue;
        }
        call.say(format!("{name} "));
        if revisions.is_empty() {
            call.say("No rollout history found.");
            continue;
        }
        let mut table = "REVISION\tCHANGE-CAUSE\n".to_string();
        for found in &revisions {
            table.push_str(&format!("{}\t{}\n", found.number, found.cause.as_deref().unwrap_or("<none>")));
        }
        call.output.stdout.push_str(&tabs::align(&table, 0, 2));
        call.output.stdout.push('\n');
    }
    Failure::all(failures).map_or(Ok(None), Err)
}
