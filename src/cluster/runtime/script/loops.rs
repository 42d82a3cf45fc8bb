//! Loops: round after round, until one can be seen to go on in the same way for ever.

use std::collections::{BTreeMap, BTreeSet};

use super::super::process::{Cycle, Deed, Moment};
use super::flow::split_at_word;
use super::words::Token;
use super::{Flow, Shell};

/// One round of a loop: the variables before and behind it, when it began, and what it did.
struct Round {
    before: BTreeMap<String, String>,
    after: BTreeMap<String, String>,
    began_milliseconds: i64,
    took_milliseconds: i64,
    moments: Vec<Moment>,
}

/// Everything that decides how a loop goes on.
type Standing = (BTreeMap<String, String>, Vec<String>, BTreeSet<String>);

impl Shell<'_> {
    pub(super) fn run_loop(&mut self, tokens: &[Token], negated: bool) -> Flow {
        let Some((condition, body)) = split_at_word(&tokens[1..], "do") else { return Flow::Endless };
        let body = body.strip_suffix(&[Token::Word("done".to_string())]).unwrap_or(body);
        // A loop that only counts goes on counting for ever.
        let decides = |token: &Token| match token {
            Token::Word(word) => {
                matches!(
                    word.as_str(),
                    "if" | "case" | "break" | "exit" | "return" | "test" | "[" | "[[" | "while" | "until"
                )
            }
            Token::Operator(operator) => matches!(*operator, "&&" | "||"),
        };
        let is_filled = |token: &Token| matches!(token, Token::Word(word) if word.contains('$'));
        let only_counts = !condition.iter().any(is_filled) && !body.iter().any(decides);
        let mut last: Option<Round> = None;
        loop {
            let before = (self.milliseconds, self.moments.len());
            let standing = self.standing();
            match self.run(condition) {
                Flow::Next => {}
                flow => return flow,
            }
            if (self.last_code == 0) == negated {
                self.last_code = 0;
                return Flow::Next;
            }
            match self.run(body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => return Flow::Next,
                flow => return flow,
            }
            let exhausted = self.commands_left == 0;
            let settled = before.0 / 1000 >= self.around.settled_seconds;
            // A round that leaves everything as it was goes the same way for ever.
            if exhausted || settled && self.standing() == standing {
                let moments = self.moments.split_off(before.1);
                let from_seconds = before.0 / 1000;
                let round =
                    moments.into_iter().map(|m| Moment { at_seconds: m.at_seconds - from_seconds, ..m });
                let period_seconds = ((self.milliseconds - before.0) / 1000).max(1);
                let moments = round.collect();
                self.cycle = Some(Cycle { from_seconds, period_seconds, moments, counts: Vec::new() });
                return Flow::Endless;
            }
            if !only_counts || !settled || self.beside {
                continue;
            }
            let round = Round {
                before: standing.0,
                after: self.environment.clone(),
                began_milliseconds: before.0,
                took_milliseconds: self.milliseconds - before.0,
                moments: self.moments[before.1..].to_vec(),
            };
            if let Some(cycle) = last.as_ref().and_then(|last| counting(last, &round)) {
                self.moments.truncate(before.1);
                self.cycle = Some(cycle);
                return Flow::Endless;
            }
            last = Some(round);
        }
    }

    pub(super) fn standing(&self) -> Standing {
        (self.environment.clone(), self.written.keys().cloned().collect(), self.removed.clone())
    }
}

/// The cycle that two rounds in a row begin, if they differ in nothing but numbers that grow by the same amount.
fn counting(last: &Round, round: &Round) -> Option<Cycle> {
    if last.moments.len() != round.moments.len() || last.took_milliseconds != round.took_milliseconds {
        return None;
    }
    let mut counts: Vec<(i64, i64)> = Vec::new();
    for (name, before) in &round.before {
        let (earlier, after) = (last.before.get(name)?, round.after.get(name)?);
        if earlier == before && before == after {
            continue;
        }
        let number = |text: &String| text.parse::<i64>().ok();
        let (earlier, before, after) = (number(earlier)?, number(before)?, number(after)?);
        if after - before != before - earlier {
            return None;
        }
        counts.extend([(before, after - before), (after, after - before)]);
    }
    if counts.is_empty() || last.before.len() != round.before.len() || counts.len() > 10 {
        return None;
    }
    let began_seconds = |round: &Round| round.began_milliseconds / 1000;
    let templates = |round: &Round, back: i64| -> Vec<Moment> {
        let values: Vec<i64> = counts.iter().map(|(value, step)| value - back * step).collect();
        let template = |text: &String| templated(text, &values);
        let change = |moment: &Moment| {
            let deed = match &moment.deed {
                Deed::Print(line) => Deed::Print(template(line)),
                Deed::Write(file, text) => Deed::Write(template(file), template(text)),
                Deed::Append(file, text) => Deed::Append(template(file), template(text)),
                Deed::Remove(file) => Deed::Remove(template(file)),
            };
            Moment { at_seconds: moment.at_seconds - began_seconds(round), deed }
        };
        round.moments.iter().map(change).collect()
    };
    let moments = templates(round, 0);
    (moments == templates(last, 1)).then(|| Cycle {
        from_seconds: began_seconds(round),
        period_seconds: (round.took_milliseconds / 1000).max(1),
        moments,
        counts: counts.clone(),
    })
}

/// The text with a mark in the place of each number that is one of the values.
fn templated(text: &str, values: &[i64]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (number, tail) = behind.split_at(end);
        match values.iter().position(|value| value.to_string() == number) {
            Some(index) => out.push_str(&Cycle::mark(index)),
            None => out.push_str(number),
        }
        rest = tail;
    }
    out.push_str(rest);
    out
}
