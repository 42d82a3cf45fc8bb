//! How `kubestep run` tells what happened: lines of text for ticks, and the story of one object.

use std::fmt::Write as _;
use std::sync::Arc;

use super::telling::{actor_tag, because_text, fact_text, is_telling};
use crate::api::kind::Kind;
use crate::api::kinds::event::Event;
use crate::api::meta::ObjectKey;
use crate::cluster::fact::{Fact, What};
use crate::cluster::history::History;
use crate::i18n::Catalogue;
use crate::lessons::player::Voice;

/// The voice of transcripts.
pub const VOICE: Voice = Voice { tell, why };

/// The most facts that the story of one object tells: the last ones.
const MOST_FACTS: usize = 40;

/// What happened, a line each: when, who, what, and why in brackets.
pub fn tell(words: &Catalogue, history: &History, facts: &[Arc<Fact>]) -> String {
    let mut out = String::new();
    let mut last = None;
    for fact in facts.iter().filter(|fact| is_telling(fact)) {
        let tick = history.cluster().shown(fact.tick);
        let at = if last == Some(tick) { String::new() } else { format!("t={tick}") };
        last = Some(tick);
        line(words, &at, fact, &mut out);
    }
    out
}

fn line(words: &Catalogue, at: &str, fact: &Fact, out: &mut String) {
    let who = actor_tag(words, &fact.actor).name;
    let text = fact_text(words, fact);
    let reason = fact.because.as_ref().map(|because| because_text(words, because)).filter(|why| *why != text);
    let reason = reason.map(|why| format!(" [{why}]")).unwrap_or_default();
    let gap = if at.len() < 6 { "" } else { " " };
    let _ = writeln!(out, "{at:<6}{gap}{who}: {text}{reason}");
}

/// What happened to one object, and why: every write, event and verdict, and the chain that led to the last one.
///
/// `name` is the object's name or the beginning of it; of several, the one that something happened to last.
pub fn why(words: &Catalogue, history: &History, kind: Kind, namespace: &str, name: &str) -> Option<String> {
    let begins = format!("{name}-");
    let is_meant = |key: &ObjectKey, exactly: bool| {
        let fits = if exactly { *key.name == *name } else { key.name.starts_with(&begins) };
        key.kind == kind && *key.namespace == *namespace && fits
    };
    let facts = history.all_facts();
    let find = |exactly: bool| {
        facts.iter().rev().filter_map(|fact| fact.object()).find(|key| is_meant(key, exactly))
    };
    let key = find(true).or_else(|| find(false))?.clone();
    let concerns = |fact: &&Arc<Fact>| match &fact.what {
        What::Wrote { new: Some(new), .. } if new.get::<Event>().is_some() => {
            new.get::<Event>().is_some_and(|event| {
                let involved = &event.involved_object;
                involved.name == key.name
                    && involved.namespace == key.namespace
                    && involved.kind == kind.name()
            })
        }
        What::Reconciled { .. } => fact.because.is_some() && fact.object() == Some(&key) && !fact.routine,
        _ => fact.object() == Some(&key) && is_telling(fact),
    };
    let told: Vec<&Arc<Fact>> = facts.iter().filter(concerns).collect();
    let mut out = String::new();
    for (index, fact) in told.iter().enumerate().skip(told.len().saturating_sub(MOST_FACTS)) {
        // What was done for a reason tells the reason, too.
        let is_told_next =
            told.get(index + 1).is_some_and(|next| next.tick == fact.tick && next.because == fact.because);
        if is_told_next && matches!(fact.what, What::Reconciled { .. }) {
            continue;
        }
        let at = format!("t={}", history.cluster().shown(fact.tick));
        line(words, &at, fact, &mut out);
        if let What::Compared { verdicts, .. } = &fact.what {
            if verdicts.chosen.is_none() {
                let _ = writeln!(out, "      {}", verdicts.message);
            }
            for node in &verdicts.nodes {
                for filter in node.filters.iter().filter(|filter| !filter.reasons.is_empty()) {
                    let _ = writeln!(
                        out,
                        "      {}: {}: {}",
                        node.node,
                        filter.plugin,
                        filter.reasons.join(", ")
                    );
                }
            }
        }
    }
    let causes = told.last().map(|last| history.causes(last.id)).unwrap_or_default();
    let causes =
        causes.into_iter().filter(|fact| !matches!(fact.what, What::Reconciled { .. } | What::Staged { .. }));
    for fact in causes {
        let at = format!("t={}", history.cluster().shown(fact.tick));
        out.push_str("  ← ");
        line(words, &at, fact, &mut out);
    }
    Some(out)
}
