//! `kubectl diff`: what applying files would change.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/diff/diff.go` (v1.36), and the unified output of `diff -u -N`.
//! Leaves out: `--prune`, `--server-side`, other programs in `KUBECTL_EXTERNAL_DIFF`.

use serde_json::Value;

use super::{Call, DryRun, Pending, apply, files};
use crate::api::kind::Kind;
use crate::api::manifest;
use crate::api::schema;
use crate::cluster::server::patch;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format;
use crate::kubectl::resources;

/// The flags of `diff`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::SELECTOR,
    flags::FIELD_MANAGER,
    &[
        Flag::long("concurrency", Takes::Number),
        Flag::long("force-conflicts", Takes::Nothing),
        Flag::long("prune", Takes::Nothing),
        Flag::long("prune-allowlist", Takes::Texts),
        Flag::long("server-side", Takes::Nothing),
        Flag::long("show-managed-fields", Takes::Nothing),
    ],
];

/// Lines around a change.
const CONTEXT_LINES: usize = 3;
/// The longest texts that are compared line by line.
const MAX_LINES: usize = 3000;

/// Shows the differences; exits with 1 when there are some.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if !call.args.is_empty() {
        return Err(Failure::usage(&call.path, format!("Unexpected args: [{}]", call.args.join(" "))));
    }
    if !call.flags.given("filename") && !call.flags.given("kustomize") {
        return Err(Failure::error("must specify one of -f and -k"));
    }
    let read = files::read(call)?;
    let mut failures = read.failures;
    let mut differs = false;
    for described in read.objects {
        match pair(call, &described) {
            Ok((live, merged)) => {
                let kind = described.kind;
                let group = kind.api_version().replace('/', ".");
                let name = [&group, kind.name(), &described.namespace, &described.name].join(".");
                let text = unified(&live, &merged, &name, call);
                differs |= !text.is_empty();
                call.output.stdout.push_str(&text);
            }
            Err(failure) => failures.push(failure),
        }
    }
    if let Some(failure) = Failure::all(failures) {
        return Err(Failure { exit: 2, ..failure });
    }
    if differs { Err(Failure::silent()) } else { Ok(None) }
}

/// The object as it is, and as it would be; empty where there is none.
fn pair(call: &mut Call, described: &files::Described) -> Result<(String, String), Failure> {
    let kind = described.kind;
    let live = match resources::read(&*call.host, kind, &described.namespace, &described.name) {
        Ok(object) => Some(object.clone()),
        Err(status) if status.reason == "NotFound" => None,
        Err(status) => return Err(Failure::server(&status)),
    };
    let mut modified = described.value.clone();
    let (verb, body) = match &live {
        None => (Verb::Create, modified),
        Some(object) => {
            apply::annotate(&mut modified);
            let live = object.to_value();
            let original = object.meta().annotations.get(apply::LAST_APPLIED);
            let original: Value =
                original.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
            let patch = match schema::root(kind.group(), kind.version(), kind.name()) {
                Some(root) => patch::three_way(root, &original, &modified, &live).map_err(Failure::error)?,
                None => patch::three_way_merge(&original, &modified, &live),
            };
            (if matches!(kind, Kind::Custom(_)) { Verb::MergePatch } else { Verb::StrategicPatch }, patch)
        }
    };
    let mut request = Request::new(verb, kind, &described.namespace, &described.name, body);
    request.options.dry_run = call.dry_run()? != DryRun::Client;
    let response = call.host.ask(request).map_err(|status| Failure::server(&status))?;
    let shown = |mut value: Value| {
        format::hide_managed_fields(&mut value);
        if let Some(annotations) = value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
            annotations.remove(apply::LAST_APPLIED);
        }
        if value["metadata"]["annotations"].as_object().is_some_and(serde_json::Map::is_empty)
            && let Some(metadata) = value["metadata"].as_object_mut()
        {
            metadata.remove("annotations");
        }
        mask(kind.name(), &mut value);
        manifest::to_yaml(&value)
    };
    let before = live.map(|object| shown(object.to_value())).unwrap_or_default();
    Ok((before, shown(response.object)))
}

/// What a Secret holds is not shown.
fn mask(kind: &str, value: &mut Value) {
    if kind == "Secret"
        && let Some(data) = value.get_mut("data").and_then(Value::as_object_mut)
    {
        data.values_mut().for_each(|text| *text = Value::String("***".to_string()));
    }
}

/// The differences of two texts as `diff -u -N` prints them; nothing when they are equal.
fn unified(live: &str, merged: &str, name: &str, call: &Call) -> String {
    let changes = hunks(live, merged);
    if changes.is_empty() {
        return changes;
    }
    let number = 1_000_000_000 + call.host.now().0 % 1_000_000_000;
    let time = call.host.now().to_string().replace('T', " ").replace('Z', ".000000000 +0000");
    let (from, to) = (format!("/tmp/LIVE-{number}/{name}"), format!("/tmp/MERGED-{number}/{name}"));
    format!("diff -u -N {from} {to}\n--- {from}\t{time}\n+++ {to}\t{time}\n{changes}")
}

/// The changed places of two texts, each with the lines around it; nothing when they are equal.
pub(in crate::kubectl) fn hunks(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    let mut out = String::new();
    let changed: Vec<usize> = (0..edits.len()).filter(|&at| edits[at].0 != ' ').collect();
    let mut at = 0;
    while at < changed.len() {
        let mut last = at;
        while last + 1 < changed.len() && changed[last + 1] - changed[last] <= 2 * CONTEXT_LINES + 1 {
            last += 1;
        }
        let from = changed[at].saturating_sub(CONTEXT_LINES);
        let to = (changed[last] + CONTEXT_LINES + 1).min(edits.len());
        let count =
            |part: &[(char, &str)], other: char| part.iter().filter(|(sign, _)| *sign != other).count();
        let range = |sign: char| {
            let (before, length) = (count(&edits[..from], sign), count(&edits[from..to], sign));
            let start = if length == 0 { before } else { before + 1 };
            if length == 1 { start.to_string() } else { format!("{start},{length}") }
        };
        out.push_str(&format!("@@ -{} +{} @@\n", range('+'), range('-')));
        out.extend(edits[from..to].iter().map(|(sign, line)| format!("{sign}{line}\n")));
        at = last + 1;
    }
    out
}

/// Both texts in one: lines that stay (` `), go (`-`) and come (`+`).
fn edits<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<(char, &'t str)> {
    let same_start = old.iter().zip(new).take_while(|(o, n)| o == n).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let same_end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(o, n)| o == n).count();
    let (o, n) = (&old_rest[..old_rest.len() - same_end], &new_rest[..new_rest.len() - same_end]);
    let mut edits: Vec<(char, &str)> = old[..same_start].iter().map(|line| (' ', *line)).collect();
    let columns = n.len() + 1;
    let bounded = o.len() <= MAX_LINES && n.len() <= MAX_LINES && o.len() * n.len() <= MAX_LINES * 300;
    let mut lengths = vec![0_u32; if bounded { (o.len() + 1) * columns } else { 0 }];
    if bounded {
        for i in (0..o.len()).rev() {
            for j in (0..n.len()).rev() {
                lengths[i * columns + j] = if o[i] == n[j] {
                    lengths[(i + 1) * columns + j + 1] + 1
                } else {
                    lengths[(i + 1) * columns + j].max(lengths[i * columns + j + 1])
                };
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < o.len() || j < n.len() {
        if bounded && i < o.len() && j < n.len() && o[i] == n[j] {
            edits.push((' ', o[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < o.len()
            && (j == n.len() || !bounded || lengths[(i + 1) * columns + j] >= lengths[i * columns + j + 1])
        {
            edits.push(('-', o[i]));
            i += 1;
        } else {
            edits.push(('+', n[j]));
            j += 1;
        }
    }
    edits.extend(old_rest[old_rest.len() - same_end..].iter().map(|line| (' ', *line)));
    edits
}

#[cfg(test)]
mod tests {
    use super::edits;

    #[test]
    fn edits_keep_what_both_texts_have() {
        for (old, new, expected) in [
            ("a b c", "a b c", " a b c"),
            ("a b c", "a x c", " a-b+x c"),
            ("", "a b", "+a+b"),
            ("a b d", "a b c d", " a b+c d"),
        ] {
            let words = |text: &'static str| text.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>();
            let text: String =
                edits(&words(old), &words(new)).iter().map(|(sign, line)| format!("{sign}{line}")).collect();
            assert_eq!(text, expected, "{old} → {new}");
        }
    }
}
