//! One fact explained: who, what it had seen, what it wrote, and because of what.

use std::sync::Arc;

use super::telling::{actor_tag, because_pieces, because_text, fact_pieces, fact_text, is_telling, lane_tag};
use super::{ActorTag, Cell, ObjectReference, Table};
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::cluster::actor::Actor;
use crate::cluster::fact::{Fact, FactId, What};
use crate::cluster::history::History;
use crate::cluster::verdict::Verdicts;
use crate::i18n::{Catalogue, Piece};

/// The explanation of one fact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// Who did it.
    pub actor: ActorTag,
    /// The tick.
    pub tick: i64,
    /// The step within the tick, counted from 1; 0 for a command of the learner.
    pub step: usize,
    /// What happened, as a headline.
    pub headline: Vec<Piece>,
    /// The reason in a sentence.
    pub reason: Vec<Piece>,
    /// What the actor had seen.
    pub saw: Vec<Observation>,
    /// What it wrote.
    pub wrote: Vec<Write>,
    /// Verdicts that go with it.
    pub verdicts: Vec<Table>,
    /// The chain back to the learner's own command, first cause first.
    pub chain: Vec<Link>,
    /// The kubectl line that shows it.
    pub command: String,
    /// Facts of the same step, so that none is hidden.
    pub siblings: Vec<Link>,
}

/// One thing seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The object looked at.
    pub object: Option<ObjectReference>,
    /// What was seen.
    pub text: String,
}

/// One write and what it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// What was done, such as `created`.
    pub verb: String,
    /// The object written.
    pub object: ObjectReference,
    /// The fields that changed.
    pub lines: Vec<DiffLine>,
    /// Why it did not go through, if it did not.
    pub refusal: String,
}

/// One line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// What happened to the line.
    pub sign: Sign,
    /// The line.
    pub text: String,
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It stands as before.
    Same,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}

/// One link of the chain of causes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The index of its fact.
    pub fact: usize,
    /// Who.
    pub actor: ActorTag,
    /// When.
    pub tick: i64,
    /// What happened.
    pub text: String,
    /// Whether it is the fact being explained.
    pub is_here: bool,
}

/// The most fields that one write shows.
const LINES_LIMIT: usize = 16;

/// The explanation of a fact; `None` when it did not happen on this branch.
pub fn why_view(words: &Catalogue, history: &History, id: FactId) -> Option<Why> {
    let fact = history.fact(id)?;
    let cluster = history.cluster();
    let head = head_of(history, fact);
    let members = members_of(history, head);
    let shown = if matches!(fact.what, What::Reconciled { .. }) {
        most_telling(&members).unwrap_or(fact)
    } else {
        fact
    };
    let verdicts = members.iter().filter_map(|member| match &member.what {
        What::Compared { verdicts, .. } => Some(verdict_tables(words, verdicts)),
        _ => None,
    });
    let mut tables: Vec<Table> = verdicts.flatten().collect();
    tables.extend(stage_table(words, &members));
    let telling: Vec<&Arc<Fact>> = members.iter().copied().filter(|member| is_telling(member)).collect();
    let mut chain: Vec<Link> = history
        .causes(shown.id)
        .into_iter()
        .filter(|cause| !matches!(cause.what, What::Reconciled { .. } | What::Staged { .. }))
        // What you asked for says it already.
        .filter(|cause| cause.actor != Actor::You || matches!(cause.what, What::Asked { .. }))
        .map(|cause| link(words, history, cause, false))
        .collect();
    chain.reverse();
    chain.push(link(words, history, shown, true));
    Some(Why {
        actor: actor_tag(words, &shown.actor),
        tick: cluster.shown(shown.tick),
        step: shown.step as usize,
        headline: fact_pieces(words, shown),
        reason: head.because.as_ref().map(|because| because_pieces(words, because)).unwrap_or_default(),
        saw: head
            .saw
            .iter()
            .map(|saw| Observation { object: None, text: because_text(words, saw) })
            .collect(),
        wrote: members.iter().filter_map(|member| write_of(words, member)).collect(),
        verdicts: tables,
        chain,
        command: command_for(shown),
        siblings: if telling.len() > 1 {
            telling
                .into_iter()
                .take(20)
                .map(|member| link(words, history, member, member.id == shown.id))
                .collect()
        } else {
            Vec::new()
        },
    })
}

/// The fact that begins the step, or the request, that a fact belongs to.
fn head_of<'a>(history: &'a History, fact: &'a Arc<Fact>) -> &'a Arc<Fact> {
    let mut head = fact;
    loop {
        if matches!(head.what, What::Reconciled { .. } | What::Asked { .. }) {
            return head;
        }
        match head.cause.and_then(|cause| history.fact(cause)) {
            Some(cause) if cause.tick == fact.tick && cause.step == fact.step => head = cause,
            _ => return head,
        }
    }
}

/// The facts of the step or request that `head` begins, in order. They follow one another in the history.
fn members_of<'a>(history: &'a History, head: &'a Arc<Fact>) -> Vec<&'a Arc<Fact>> {
    let facts = history.all_facts();
    let from = facts.binary_search_by(|fact| fact.id.cmp(&head.id)).unwrap_or(0);
    let is_begun = |fact: &Fact| matches!(fact.what, What::Reconciled { .. } | What::Asked { .. });
    let rest = facts.iter().skip(from + 1);
    std::iter::once(head)
        .chain(rest.take_while(|fact| fact.tick == head.tick && fact.step == head.step && !is_begun(fact)))
        .collect()
}

fn most_telling<'a>(members: &[&'a Arc<Fact>]) -> Option<&'a Arc<Fact>> {
    let compared = members.iter().find(|fact| matches!(fact.what, What::Compared { .. }));
    compared.or_else(|| members.iter().find(|fact| is_telling(fact))).copied()
}

/// A fact as a link of a chain.
pub fn link(words: &Catalogue, history: &History, fact: &Fact, is_here: bool) -> Link {
    Link {
        fact: fact.id.0 as usize,
        actor: lane_tag(words, &fact.actor),
        tick: history.cluster().shown(fact.tick),
        text: fact_text(words, fact),
        is_here,
    }
}

fn write_of(words: &Catalogue, fact: &Fact) -> Option<Write> {
    let (key, verb, refusal) = match &fact.what {
        What::Wrote { key, old: None, .. } => (key, "why.verb_created", String::new()),
        What::Wrote { key, new: None, .. } => (key, "why.verb_removed", String::new()),
        What::Wrote { key, .. } => (key, "why.verb_changed", String::new()),
        What::Refused { key, status, .. } => (key, "why.verb_refused", status.message.clone()),
        _ => return None,
    };
    Some(Write {
        verb: words.say(verb, &[]),
        object: ObjectReference::from(key),
        lines: match &fact.what {
            What::Wrote { new: Some(Object::Event(event)), .. } => {
                vec![DiffLine {
                    sign: Sign::Added,
                    text: [&event.reason, ": ", event.message.as_str()].concat(),
                }]
            }
            _ => field_lines(words, fact),
        },
        refusal,
    })
}

/// The changed fields, without those that change with every write.
fn field_lines(words: &Catalogue, fact: &Fact) -> Vec<DiffLine> {
    const BOOKKEEPING: [&str; 4] =
        ["metadata.resourceVersion", "metadata.uid", "metadata.creationTimestamp", "metadata.managedFields"];
    // What repeats other fields, or tells the time of what the line above tells.
    const NOISE: [&str; 8] = [
        "TransitionTime",
        "UpdateTime",
        "allocatedResources",
        "].resources",
        "imageID",
        "lastState",
        "volumeMounts",
        "hostIP",
    ];
    let is_new = matches!(fact.what, What::Wrote { old: None, .. });
    let mut lines = Vec::new();
    let mut more = 0;
    for change in fact.field_changes() {
        if change.path.starts_with("status.conditions") {
            continue;
        }
        let is_noise = BOOKKEEPING.iter().any(|noise| change.path.starts_with(noise))
            || NOISE.iter().any(|noise| change.path.contains(noise))
            || (is_new
                && (change.path == "apiVersion"
                    || change.path == "kind"
                    || change.path.starts_with("status")));
        if is_noise {
            continue;
        }
        if lines.len() >= LINES_LIMIT {
            more += 1;
            continue;
        }
        let line = |sign, value: &serde_json::Value| DiffLine {
            sign,
            text: [change.path.as_str(), ": ", &short_value(value)].concat(),
        };
        lines.extend(change.old.as_ref().map(|old| line(Sign::Removed, old)));
        lines.extend(change.new.as_ref().map(|new| line(Sign::Added, new)));
    }
    lines.extend(condition_lines(fact));
    if more > 0 {
        lines.push(DiffLine {
            sign: Sign::Same,
            text: words.say("why.more", &[("count", &more.to_string())]),
        });
    }
    lines
}

/// The conditions that changed, each as `Available=True MinimumReplicasAvailable`: their order in the list says nothing.
fn condition_lines(fact: &Fact) -> Vec<DiffLine> {
    let What::Wrote { old: Some(old), new: Some(new), .. } = &fact.what else {
        return Vec::new();
    };
    let told = |object: &Object| -> Vec<String> {
        let value = object.to_value();
        let conditions = value["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let text = |condition: &serde_json::Value, field: &str| {
            condition[field].as_str().unwrap_or_default().to_string()
        };
        conditions
            .iter()
            .map(|condition| {
                [
                    &text(condition, "type"),
                    "=",
                    text(condition, "status").as_str(),
                    " ",
                    &text(condition, "reason"),
                ]
                .concat()
            })
            .map(|line| line.trim_end().to_string())
            .collect()
    };
    let (old, new) = (told(old), told(new));
    let gone = old.iter().filter(|line| !new.contains(line)).map(|line| (Sign::Removed, line));
    let come = new.iter().filter(|line| !old.contains(line)).map(|line| (Sign::Added, line));
    gone.chain(come).map(|(sign, line)| DiffLine { sign, text: line.clone() }).collect()
}

fn short_value(value: &serde_json::Value) -> String {
    let text = match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(120) {
        Some((at, _)) => [&text[..at], "…"].concat(),
        None => text,
    }
}

/// Node × filter, and, where nodes were scored, node × score.
pub fn verdict_tables(words: &Catalogue, verdicts: &Verdicts) -> Vec<Table> {
    let mut plugins: Vec<&str> = Vec::new();
    for filter in verdicts.nodes.iter().flat_map(|node| node.filters.iter()) {
        if !plugins.contains(&filter.plugin) {
            plugins.push(filter.plugin);
        }
    }
    // Rules that every node passed say nothing here, unless nothing was refused at all.
    let refuses = |plugin: &str| {
        verdicts
            .nodes
            .iter()
            .flat_map(|node| node.filters.iter())
            .any(|filter| filter.plugin == plugin && !filter.reasons.is_empty())
    };
    let mut head = vec![words.say("why.node", &[])];
    head.extend(verdicts.nodes.iter().map(|node| node.node.to_string()));
    plugins.sort_by_key(|plugin| !refuses(plugin));
    let rows = plugins
        .iter()
        .map(|plugin| {
            let mut row = vec![Cell::Plain((*plugin).to_string())];
            row.extend(verdicts.nodes.iter().map(|node| {
                match node.filters.iter().find(|filter| filter.plugin == *plugin) {
                    None => Cell::Quiet("–".to_string()),
                    Some(filter) if filter.reasons.is_empty() => Cell::Passed(String::new()),
                    Some(filter) => Cell::Refused(filter.reasons.join(", ")),
                }
            }));
            row
        })
        .collect();
    let filters = Table { caption: words.say("why.nodes_caption", &[]), head: head.clone(), rows };
    let mut tables = vec![filters];
    tables.extend(score_table(words, verdicts));
    tables
}

fn score_table(words: &Catalogue, verdicts: &Verdicts) -> Option<Table> {
    let scored: Vec<_> = verdicts.nodes.iter().filter(|node| !node.scores.is_empty()).collect();
    let first = scored.first()?;
    let mut head = vec![words.say("why.node", &[])];
    head.extend(scored.iter().map(|node| node.node.to_string()));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for (plugin, _) in first.scores.iter() {
        if scored.iter().all(|node| node.scores.of(plugin) == 0) {
            continue;
        }
        let mut row = vec![Cell::Plain(plugin.to_string())];
        row.extend(scored.iter().map(|node| Cell::Plain(node.scores.of(plugin).to_string())));
        rows.push(row);
    }
    let mut total = vec![Cell::Plain(words.say("why.total", &[]))];
    total.extend(scored.iter().map(|node| {
        let sum = node.total().to_string();
        if verdicts.chosen.as_ref() == Some(&node.node) { Cell::Passed(sum) } else { Cell::Plain(sum) }
    }));
    rows.push(total);
    Some(Table { caption: words.say("why.score_caption", &[]), head, rows })
}

/// The stages that a request to the API server went through.
fn stage_table(words: &Catalogue, members: &[&Arc<Fact>]) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = members
        .iter()
        .filter_map(|member| match &member.what {
            What::Staged { stage, refusal, notes } => Some(vec![
                Cell::Plain(words.say(&["stage.", stage.word()].concat(), &[])),
                match refusal {
                    Some(status) => Cell::Refused(status.message.clone()),
                    None => Cell::Passed(notes.join(", ")),
                },
            ]),
            _ => None,
        })
        .collect();
    let head = vec![words.say("why.stage", &[]), words.say("why.stage_result", &[])];
    (!rows.is_empty()).then(|| Table { caption: words.say("why.stages", &[]), head, rows })
}

/// The kubectl line that shows what a fact speaks of.
fn command_for(fact: &Fact) -> String {
    let Some(key) = fact.object().filter(|key| !matches!(key.kind, Kind::Event)) else {
        return String::new();
    };
    let (namespace, resource) = ObjectReference::from(key).in_kubectl();
    let resource = resource.replacen('/', " ", 1);
    let verb = if matches!(key.kind, Kind::Pod | Kind::Deployment) { "describe " } else { "get " };
    let more = if verb == "get " { " -o yaml" } else { "" };
    ["kubectl ", &namespace, verb, &resource, more].concat()
}
