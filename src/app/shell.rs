//! The terminal: lines go to kubectl and come back as text.

use super::session::by_name;
use super::state::State;
use super::time::Standing;
use super::view_model::telling::is_refused_request;
use super::view_model::terminal::{Completion, LineSort};
use crate::i18n::{Text, catalogue};
use crate::kubectl::history_host::HistoryHost;
use crate::kubectl::shell::{CLEAR, is_unfinished};
use crate::kubectl::{Execution, Output, Session, Waiting, complete, run};
use crate::lessons::evidence::What;

/// The terminal's memory and the line that still runs.
#[derive(Debug, Default)]
pub struct Shell {
    /// Namespace and earlier lines.
    pub session: Session,
    /// The line that waits for the cluster.
    pub waiting: Option<Box<Waiting>>,
    /// The lines typed so far of a text that is not ended, such as a here-document.
    pub unfinished: String,
}

/// The longest text that is typed line by line.
const UNFINISHED_LIMIT_BYTES: usize = 64 << 10;

/// The most choices that Tab offers.
const CHOICES_LIMIT: usize = 60;

/// Carries out a line as it was typed.
pub fn enter(state: &mut State, line: &str) {
    state.screenful.completion = None;
    state.screenful.print(LineSort::Input, if line.is_empty() { " " } else { line });
    let begun = std::mem::take(&mut state.shell.unfinished);
    let goes_on = !begun.is_empty();
    interrupt(state);
    let text = if goes_on { [&begun, "\n", line].concat() } else { line.to_string() };
    if state.shell.session.inside.is_none() && text.len() < UNFINISHED_LIMIT_BYTES && is_unfinished(&text) {
        state.shell.unfinished = text;
        return;
    }
    let line = text.as_str();
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [first, rest @ ..] = words.as_slice()
        && *first == "curl"
        && !goes_on
        && !line.contains(['|', ';', '&'])
        && rest.len() == 1
        && !["localhost", "127.0.0.1"].iter().any(|local| rest[0].contains(local))
    {
        state.shell.session.remember(line);
        curl(state, rest);
        return;
    }
    let files = by_name(&state.files);
    let before = Standing::of(state);
    let position = state.moment();
    let mut host = HistoryHost::new(&mut state.history, &files);
    host.has_editor = true;
    let execution = run(line, &mut state.shell.session, &mut host);
    let mut opened = std::mem::take(&mut host.opened);
    opened.extend(std::mem::take(&mut host.written));
    for (name, text) in opened {
        super::update::open_file(state, &name, &text);
    }
    match execution {
        Execution::Finished(output) => print(state, &output),
        Execution::Waiting(output, waiting) => {
            print(state, &output);
            state.shell.waiting = Some(waiting);
        }
    }
    super::lesson::record(state, What::Typed { line: line.to_string() });
    if state.moment() != position {
        super::time::moved(state, before);
        let refused = before.fresh_facts(state).find(|fact| is_refused_request(fact)).map(|fact| fact.id);
        state.fact = refused;
    }
}

/// Looks whether the line that waits can go on: called whenever time has moved.
pub fn poll(state: &mut State) {
    let Some(mut waiting) = state.shell.waiting.take() else { return };
    let files = by_name(&state.files);
    let mut host = HistoryHost::new(&mut state.history, &files);
    let poll = waiting.poll(&mut state.shell.session, &mut host);
    for (name, text) in std::mem::take(&mut host.written) {
        super::update::open_file(state, &name, &text);
    }
    print(state, &poll.printed);
    if poll.finished.is_none() {
        state.shell.waiting = Some(waiting);
    }
}

/// Ctrl-C: the line that waits is dropped.
pub fn interrupt(state: &mut State) {
    state.shell.unfinished.clear();
    if state.shell.waiting.take().is_some() {
        state.screenful.print(LineSort::Output, "^C");
    }
}

/// Tab: what all choices share is filled in, and the choices are offered.
pub fn tab(state: &mut State, before_caret: &str) {
    let files = by_name(&state.files);
    let host = HistoryHost::new(&mut state.history, &files);
    let found = complete::complete(before_caret, before_caret.len(), &state.shell.session, &host);
    let stem = before_caret.get(..found.from).unwrap_or_default().to_string();
    let word = before_caret.get(found.from..).unwrap_or_default();
    let filled = match found.candidates.as_slice() {
        [] => word.to_string(),
        [only] if only.text.ends_with(['=', '/']) => only.text.clone(),
        [only] => [&only.text, " "].concat(),
        _ if found.common().len() > word.len() => found.common().to_string(),
        _ => word.to_string(),
    };
    state.screenful.tabs += 1;
    state.screenful.completion = Some(Completion {
        serial: state.screenful.tabs,
        line: [stem.as_str(), &filled].concat(),
        stem,
        choices: if found.candidates.len() > 1 {
            found.candidates.into_iter().take(CHOICES_LIMIT).map(|candidate| candidate.text).collect()
        } else {
            Vec::new()
        },
    });
}

/// A request from the terminal is a request like any other: it is traced, and its answer is printed.
fn curl(state: &mut State, words: &[&str]) {
    let Some(url) = words.iter().find(|word| !word.starts_with('-')) else {
        state.screenful.print(LineSort::Error, "curl: (2) no URL specified");
        return;
    };
    let url = url.trim_matches(['"', '\'']);
    let (_, moment) = state.history.position();
    match state.requests.send(&state.history, moment, url) {
        Ok(sent) => {
            let announcement =
                Text::new("announce.request").with("url", &sent.url).with("answer", &sent.answer);
            let trace = super::requests::trace_of(&state.history, sent);
            let is_success = sent.is_success;
            if let Some(trace) = trace {
                super::lesson::record(state, What::traced(&trace));
                let body = trace.outcome.body.replace('\r', "");
                state.screenful.print(if is_success { LineSort::Output } else { LineSort::Error }, &body);
            }
            state.announcement = announcement;
        }
        Err(because) => {
            let text = super::view_model::telling::because_text(catalogue(state.language), &because);
            state.screenful.print(LineSort::Error, &["curl: (3) ", text.as_str()].concat());
        }
    }
}

fn print(state: &mut State, output: &Output) {
    let stdout = match output.stdout.rfind(CLEAR) {
        Some(at) => {
            state.screenful.lines.clear();
            &output.stdout[at + CLEAR.len()..]
        }
        None => output.stdout.as_str(),
    };
    state.screenful.print(LineSort::Output, stdout);
    state.screenful.print(LineSort::Error, &output.stderr);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::view_model::terminal::terminal_view;
    use crate::cluster::settings::Settings;

    #[test]
    fn a_here_document_is_typed_line_by_line_until_it_ends() {
        let mut state = State::new(Settings::bare(1, Vec::new()));
        for line in [
            "cat <<EOF | kubectl apply -f -",
            "apiVersion: v1",
            "kind: Namespace",
            "metadata:",
            "  name: typed",
        ] {
            enter(&mut state, line);
            assert_eq!(terminal_view(&state).prompt, ">");
        }
        enter(&mut state, "EOF");
        let view = terminal_view(&state);
        assert_eq!(view.prompt, "$");
        assert!(
            view.lines.iter().any(|line| line.text.contains("namespace/typed created")),
            "{:?}",
            view.lines
        );
        enter(&mut state, "echo 'not closed");
        interrupt(&mut state);
        assert_eq!(terminal_view(&state).prompt, "$");
    }
}
