//! A trace as plain text: for transcripts, for the terminal and for copying.
//!
//! One line a hop, its candidates and notes below it; for a drop the repair and the kubectl line that shows it:
//!
//! ```text
//! GET http://shop.example/api → 503  t = 7
//! ✓ DNS: shop.example is 203.0.113.10
//! ✗ Service api:80: no endpoint to send to
//!     2xkqp  match  Ready  8080  listed  not loaded yet
//!     One tick away. The store has it; the Ingress controller loads it in the next tick.
//!     $ kubectl -n demo get service api
//! · Pod: not reached
//! ```

use crate::cluster::because::Because;
use crate::cluster::machine::EPOCH;
use crate::cluster::network::trace::{Candidate, Hop, HopResult, Trace};
use crate::i18n::Catalogue;

/// The whole journey, with a line break at the end.
pub fn render_trace(trace: &Trace, words: &Catalogue) -> String {
    let at = trace.at.seconds_since(EPOCH).to_string();
    let mut text = format!(
        "{} → {}  {}\n",
        trace.request,
        trace.outcome.sees.word(),
        words.say("trace.text.at", &[("tick", &at)])
    );
    for hop in &trace.hops {
        render_hop(&mut text, hop, words);
    }
    let list = trace.not_modelled.iter().map(|what| say(what, words)).collect::<Vec<_>>().join(", ");
    text.push_str(&words.say("trace.text.not_modelled", &[("list", &list)]));
    text.push('\n');
    text
}

/// A sentence in the language of the catalogue, without marks.
pub fn say(because: &Because, words: &Catalogue) -> String {
    let args: Vec<(&str, &str)> = because.args.iter().map(|(name, value)| (*name, value.as_str())).collect();
    words.say(because.key, &args)
}

fn render_hop(text: &mut String, hop: &Hop, words: &Catalogue) {
    let mark = match hop.result {
        HopResult::Pass => '✓',
        HopResult::Drop(_) => '✗',
        HopResult::NotVerifiable => '?',
        HopResult::NotReached => '·',
    };
    let name = say(&hop.stage.name(), words);
    let subject = if hop.subject.is_empty() { String::new() } else { format!(" {}", hop.subject) };
    text.push_str(&format!("{mark} {name}{subject}: {}\n", say(&hop.finding, words)));
    let rows: Vec<Vec<String>> = hop.candidates.iter().map(|candidate| row_of(candidate, words)).collect();
    for line in aligned(&rows) {
        text.push_str(&format!("    {line}\n"));
    }
    for note in &hop.notes {
        text.push_str(&format!("    {}\n", say(note, words)));
    }
    if let HopResult::Drop(dropped) = &hop.result {
        text.push_str(&format!("    {}\n    $ {}\n", say(&dropped.repair, words), dropped.command));
    }
}

fn row_of(candidate: &Candidate, words: &Catalogue) -> Vec<String> {
    let mut row = vec![candidate.name.clone()];
    row.extend(candidate.cells.iter().map(|cell| say(&cell.text, words)));
    row.push(say(&candidate.reason, words));
    row
}

/// Columns of equal width, two spaces apart.
fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|c| rows.iter().filter_map(|row| row.get(c)).map(|cell| width(cell)).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<String>| {
        let mut line = String::new();
        for (cell, column_width) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(column_width - width(cell) + 2));
        }
        line.trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// How many columns a terminal takes for a text: two for Hangul and its like.
fn width(text: &str) -> usize {
    text.chars()
        .map(|letter| if matches!(letter, '\u{1100}'..='\u{11ff}' | '\u{3000}'..='\u{d7ff}') { 2 } else { 1 })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::machine::Cluster;
    use crate::cluster::network::trace::TraceRequest;
    use crate::cluster::settings::Settings;
    use crate::i18n::{Language, catalogue};

    #[test]
    fn an_empty_cluster_drops_a_request_at_the_entry_in_both_languages() {
        let cluster = Cluster::empty(Settings::default());
        let trace = cluster.trace(&TraceRequest::get("http://shop.example/api", 0).unwrap());
        let english = render_trace(&trace, catalogue(Language::En));
        let first: Vec<&str> = english.lines().take(3).collect();
        assert_eq!(first[0].split("  ").next(), Some("GET http://shop.example/api → timeout"));
        assert_eq!(first[1], "✓ DNS: shop.example is 203.0.113.10");
        assert!(english.contains("✗ Entry: nobody has the address 203.0.113.10"), "{english}");
        let korean = render_trace(&trace, catalogue(Language::Ko));
        assert!(korean.contains("· Pod: 도달하지 못했다"), "{korean}");
    }

    #[test]
    fn columns_line_up_also_in_hangul() {
        let rows = [vec!["가나".to_string(), "x".to_string()], vec!["abc".to_string(), "y".to_string()]];
        assert_eq!(aligned(&rows), ["가나  x", "abc   y"]);
    }
}
