//! What is wrong with a manifest before it is applied: the API server's own stages, asked without storing.

use std::sync::Arc;

use super::view_model::editor::Problem;
use crate::api::kind::Kind;
use crate::api::kinds::cluster::Namespace;
use crate::api::manifest::{Document, parse};
use crate::api::schema::root_of;
use crate::cluster::machine::Cluster;
use crate::cluster::server::decode::{decode, identity_problems, no_match};
use crate::cluster::server::request::{FieldValidation, Request, Verb};
use crate::i18n::{Catalogue, Text};

/// The most problems that are told at once.
const PROBLEMS_LIMIT: usize = 50;

/// The problems of a text, by line.
pub fn problems_of(words: &Catalogue, cluster: &Arc<Cluster>, text: &str) -> Vec<Problem> {
    let manifest = parse(text);
    let mut problems: Vec<Problem> = manifest
        .documents
        .iter()
        .flat_map(|document| problems_in(words, cluster, document))
        .chain(manifest.error.map(|error| at_line(error.at.line, error.message)))
        .collect();
    problems.truncate(PROBLEMS_LIMIT);
    problems.sort_by_key(|problem| problem.line);
    problems
}

fn at_line(line: u32, message: String) -> Problem {
    Problem { line: line as usize, message, hint: String::new(), is_notice: false }
}

fn problems_in(words: &Catalogue, cluster: &Arc<Cluster>, document: &Document) -> Vec<Problem> {
    let missing = identity_problems(&document.value);
    if !missing.is_empty() {
        return missing.into_iter().map(|text| at_line(document.first_line, text.to_string())).collect();
    }
    let text = |name: &str| document.value[name].as_str().unwrap_or_default();
    let (api_version, kind_name) = (text("apiVersion"), text("kind"));
    let place = |path: &str| document.places.of(path).line;
    let (Some(kind), Some(shape)) =
        (Kind::from_manifest(api_version, kind_name), root_of(api_version, kind_name))
    else {
        return vec![at_line(place("kind"), no_match(api_version, kind_name))];
    };
    let doubled = document
        .duplicates
        .iter()
        .map(|twice| at_line(twice.at.line, ["duplicate field \"", &twice.path, "\""].concat()));
    let mut problems: Vec<Problem> = doubled.collect();
    if let Err(error) = decode(shape, &document.value, FieldValidation::Strict) {
        problems.extend(error.problems.into_iter().map(|problem| Problem {
            line: place(&problem.path) as usize,
            message: problem.text,
            hint: match problem.hint {
                Some(hint) => Text::new("editor.did_you_mean").with("field", hint).render(words),
                None => String::new(),
            },
            is_notice: false,
        }));
    }
    if problems.is_empty() {
        problems.extend(refusals_of(cluster, kind, document));
    }
    if !kind.info().simulated {
        let message = Text::new("editor.only_stored").with("kind", kind_name).render(words);
        problems.push(Problem { is_notice: true, ..at_line(place("kind"), message) });
    }
    problems
}

/// What validation and admission say, asked of a copy of the cluster that is thrown away.
fn refusals_of(cluster: &Arc<Cluster>, kind: Kind, document: &Document) -> Vec<Problem> {
    let metadata = &document.value["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let namespace = match (kind.is_namespaced(), metadata["namespace"].as_str()) {
        (false, _) => "",
        (true, namespace) => namespace.unwrap_or("default"),
    };
    let mut copy = Cluster::clone(cluster);
    let mut body = document.value.clone();
    // The text may create its namespace itself; for looking through the rest, any will do.
    let is_there = namespace.is_empty() || cluster.store.get::<Namespace>("", namespace).is_some();
    let namespace = if is_there { namespace } else { "default" };
    if !is_there {
        body["metadata"]["namespace"] = namespace.into();
    }
    let mut request = Request::new(Verb::Create, kind, namespace, name, body);
    request.options.dry_run = true;
    let Err(status) = copy.ask(&request, &mut Vec::new()) else {
        return Vec::new();
    };
    // Taken names and namespaces that the same text creates are the business of Apply.
    if matches!(status.reason, "AlreadyExists" | "NotFound" | "Conflict") {
        return Vec::new();
    }
    if status.details.causes.is_empty() {
        return vec![at_line(document.first_line, status.message)];
    }
    let causes = status.details.causes.iter();
    causes
        .map(|cause| {
            at_line(
                document.places.of(&cause.field).line,
                [&cause.field, ": ", cause.message.as_str()].concat(),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::session::FIRST_MANIFEST;
    use crate::cluster::settings::Settings;
    use crate::i18n::{Language, catalogue};

    fn check(text: &str) -> Vec<(usize, String)> {
        let cluster = Arc::new(Cluster::boot(Settings::bare(1, Vec::new())));
        let problems = problems_of(catalogue(Language::En), &cluster, text);
        problems.into_iter().map(|problem| (problem.line, problem.message)).collect()
    }

    #[test]
    fn the_first_manifest_is_right() {
        assert_eq!(check(FIRST_MANIFEST), []);
    }

    #[test]
    fn a_misspelt_field_is_marked_at_its_line() {
        let text = FIRST_MANIFEST.replace("replicas: 3", "replica: 3");
        assert_eq!(check(&text), [(12, "unknown field \"spec.replica\"".to_string())]);
    }

    #[test]
    fn a_kind_that_nothing_acts_on_is_accepted_with_a_notice_at_its_line() {
        let cluster = Arc::new(Cluster::boot(Settings::bare(1, Vec::new())));
        let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\n";
        let problems = problems_of(catalogue(Language::En), &cluster, text);
        assert_eq!(
            problems.iter().map(|p| (p.line, p.is_notice)).collect::<Vec<_>>(),
            [(2, true)],
            "{problems:?}"
        );
    }

    #[test]
    fn broken_yaml_is_marked_where_it_breaks() {
        assert_eq!(check("a: [1\nb: 2\n").len(), 1);
        assert_eq!(check("kind: Pod\n").len(), 1, "no apiVersion");
    }
}
