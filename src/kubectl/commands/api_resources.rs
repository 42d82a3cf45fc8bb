//! `kubectl api-resources`: the kinds that the cluster has.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/apiresources/apiresources.go` (v1.36).
//! Leaves out: kinds that the cluster does not have.

use super::{Call, Pending};
use crate::api::kind::Kind;
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::{table, tabs};

/// The flags of `api-resources`.
pub const FLAGS: &[&[Flag]] = &[&[
    Flag::both("output", 'o', Takes::Text),
    Flag::long("api-group", Takes::Text),
    Flag::long("namespaced", Takes::Nothing),
    Flag::long("no-headers", Takes::Nothing),
    Flag::long("sort-by", Takes::Text),
    Flag::long("verbs", Takes::List),
    Flag::long("categories", Takes::List),
    Flag::long("cached", Takes::Nothing),
]];

const VERBS: &str = "create,delete,deletecollection,get,list,patch,update,watch";

/// Lists the kinds, by group and name.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, format!("unexpected arguments: [{}]", call.args.join(" "))));
    }
    let output = call.flags.text("output").unwrap_or_default().to_string();
    if !matches!(output.as_str(), "" | "wide" | "name") {
        return Err(Failure::error(format!("--output {output} is not available")));
    }
    let group = call.flags.text("api-group").map(str::to_string);
    let namespaced = call.flags.switch("namespaced");
    let mut kinds: Vec<Kind> = call.host.kinds().to_vec();
    kinds.retain(|kind| group.as_ref().is_none_or(|group| kind.group() == group));
    kinds.retain(|kind| namespaced.is_none_or(|namespaced| kind.is_namespaced() == namespaced));
    let categories = call.flags.list("categories");
    kinds.retain(|kind| {
        categories.is_empty() || (kind.info().in_all && categories.iter().any(|c| c == "all"))
    });
    match call.flags.text("sort-by") {
        Some("name") => kinds.sort_by_key(|kind| kind.plural()),
        Some("kind") => kinds.sort_by_key(|kind| kind.name()),
        Some(other) if !other.is_empty() => {
            return Err(Failure::error("--sort-by accepts only name or kind"));
        }
        _ => kinds.sort_by_key(|kind| (kind.group(), kind.plural())),
    }
    if output == "name" {
        for kind in kinds {
            call.say(kind.group_resource());
        }
        return Ok(None);
    }
    let mut text = String::new();
    if !call.flags.on("no-headers") {
        text.push_str("NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND");
        text.push_str(if output == "wide" { "\tVERBS\tCATEGORIES\n" } else { "\n" });
    }
    for kind in kinds {
        let info = kind.info();
        text.push_str(&format!(
            "{}\t{}\t{}\t{}\t{}",
            info.plural,
            info.short_names.join(","),
            kind.api_version(),
            info.namespaced,
            info.name
        ));
        if output == "wide" {
            text.push_str(&format!("\t{VERBS}\t{}", if info.in_all { "all" } else { "" }));
        }
        text.push('\n');
    }
    call.output.stdout.push_str(&tabs::align(&text, table::MINIMUM, table::PADDING));
    Ok(None)
}
