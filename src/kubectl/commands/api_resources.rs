//! `kubectl api-resources`: the kinds that a server of v1.36 has.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/apiresources/apiresources.go` (v1.36).
//! Leaves out: nothing; kinds that are not simulated are listed too.

use super::{Call, Pending};
use crate::api::discovery::{self, ApiResource};
use crate::cluster::server::custom;
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
    let added = custom::kinds(call.host.store()).into_iter().filter_map(discovery::added);
    let mut rows: Vec<ApiResource> = discovery::resources().chain(added).collect();
    rows.sort_by_key(|row| (row.group(), row.plural));
    rows.retain(|row| group.as_ref().is_none_or(|group| row.group() == group));
    rows.retain(|row| namespaced.is_none_or(|namespaced| row.namespaced == namespaced));
    let (verbs, categories) = (call.flags.list("verbs"), call.flags.list("categories"));
    let holds = |list: &str, word: &String| list.split(',').any(|one| one == word);
    rows.retain(|row| verbs.iter().all(|verb| holds(row.verbs, verb)));
    rows.retain(|row| categories.iter().all(|category| holds(row.categories, category)));
    match call.flags.text("sort-by") {
        Some("name") => rows.sort_by_key(|row| row.plural),
        Some("kind") => rows.sort_by_key(|row| row.kind),
        Some(other) if !other.is_empty() => {
            return Err(Failure::error("--sort-by accepts only name or kind"));
        }
        _ => {}
    }
    if output == "name" {
        for row in rows {
            match row.group() {
                "" => call.say(row.plural),
                group => call.say(format!("{}.{group}", row.plural)),
            }
        }
        return Ok(None);
    }
    let mut text = String::new();
    if !call.flags.on("no-headers") {
        text.push_str("NAME\tSHORTNAMES\tAPIVERSION\tNAMESPACED\tKIND");
        text.push_str(if output == "wide" { "\tVERBS\tCATEGORIES\n" } else { "\n" });
    }
    for row in rows {
        text.push_str(&format!(
            "{}\t{}\t{}\t{}\t{}",
            row.plural, row.short_names, row.api_version, row.namespaced, row.kind
        ));
        if output == "wide" {
            text.push_str(&format!("\t{}\t{}", row.verbs, row.categories));
        }
        text.push('\n');
    }
    call.output.stdout.push_str(&tabs::align(&text, table::MINIMUM, table::PADDING));
    Ok(None)
}
