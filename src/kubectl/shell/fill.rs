//! What is filled into words when a command is carried out: variables and the output of other commands.

use super::line::{self, FILLED, FILLED_END, FILLED_QUOTED};
use super::tools::assignment;
use crate::kubectl::execution::Execution;
use crate::kubectl::host::Host;
use crate::kubectl::session::Session;

/// The deepest nesting of `$(…)`.
const MAX_DEPTH: usize = 4;

/// The words with everything filled in; what was not quoted is cut at blanks.
///
/// # Errors
/// When a command in `$(…)` waits, or is nested too deeply.
pub(super) fn words(
    words: &[String],
    exit: i32,
    session: &mut Session,
    host: &mut dyn Host,
) -> Result<Vec<String>, String> {
    let is_filled = |word: &String| word.contains([FILLED, FILLED_QUOTED]);
    if !words.iter().any(is_filled) {
        return Ok(words.to_vec());
    }
    let mut out = Vec::new();
    for word in words {
        if !is_filled(word) {
            out.push(word.clone());
            continue;
        }
        let (mut current, mut given) = (String::new(), false);
        let mut rest = word.as_str();
        while let Some(at) = rest.find([FILLED, FILLED_QUOTED]) {
            current.push_str(&rest[..at]);
            given |= at > 0;
            // What is assigned to a variable stays one text.
            let quoted = rest[at..].starts_with(FILLED_QUOTED) || assignment(word).is_some();
            let inner = &rest[at + 1..];
            let end = inner.find(FILLED_END).unwrap_or(inner.len());
            let text = text_of(&inner[..end], exit, session, host)?;
            rest = inner.get(end + 1..).unwrap_or_default();
            if quoted {
                current.push_str(&text);
                given = true;
                continue;
            }
            let mut parts = text.split_whitespace();
            if let Some(first) = parts.next() {
                current.push_str(first);
                given = true;
            }
            for part in parts {
                out.push(std::mem::replace(&mut current, part.to_string()));
            }
        }
        current.push_str(rest);
        if given || !rest.is_empty() {
            out.push(current);
        }
    }
    Ok(out)
}

/// A text with everything filled in.
///
/// # Errors
/// As [`words`].
pub(super) fn text(
    text: &str,
    exit: i32,
    session: &mut Session,
    host: &mut dyn Host,
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find([FILLED, FILLED_QUOTED]) {
        out.push_str(&rest[..at]);
        let inner = &rest[at + 1..];
        let end = inner.find(FILLED_END).unwrap_or(inner.len());
        out.push_str(&text_of(&inner[..end], exit, session, host)?);
        rest = inner.get(end + 1..).unwrap_or_default();
    }
    out.push_str(rest);
    Ok(out)
}

/// What stands for a variable or a command; newlines at the end are dropped.
fn text_of(inner: &str, exit: i32, session: &mut Session, host: &mut dyn Host) -> Result<String, String> {
    if inner == "?" {
        return Ok(exit.to_string());
    }
    let Some(command) = inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) else {
        let known = session.variables.iter().find(|(name, _)| name == inner);
        return Ok(known.map(|(_, value)| value.clone()).unwrap_or_default());
    };
    if session.depth >= MAX_DEPTH {
        return Err("commands $(…) are nested too deeply".to_string());
    }
    line::parse(command)?;
    session.depth += 1;
    let history = session.history.len();
    let execution = super::run(command, session, host);
    session.depth -= 1;
    session.history.truncate(history);
    match execution {
        Execution::Finished(output) => Ok(output.stdout.trim_end_matches('\n').to_string()),
        Execution::Waiting(..) => Err("a command in $(…) may not wait".to_string()),
    }
}

/// The words of `xargs`: its command with what is piped in behind it.
pub(super) fn arguments(words: &[String], input: Option<&str>) -> Vec<String> {
    let mut command: Vec<String> = words[1..].to_vec();
    while command.first().is_some_and(|word| word.starts_with('-')) {
        let flag = command.remove(0);
        if matches!(flag.as_str(), "-n" | "-L" | "-I" | "-P") && !command.is_empty() {
            command.remove(0);
        }
    }
    if command.is_empty() {
        command.push("echo".to_string());
    }
    command.extend(input.unwrap_or_default().split_whitespace().map(str::to_string));
    command
}
