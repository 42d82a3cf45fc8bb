//! The terminal.

use crate::app::state::State;

/// What the terminal shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalView {
    /// Lines so far, oldest first, bounded.
    pub lines: Vec<TerminalLine>,
    /// Earlier input, oldest first, for the up and down keys.
    pub history: Vec<String>,
    /// Whether a command is still running and Ctrl-C would stop it.
    pub is_busy: bool,
    /// The choices of the last Tab.
    pub completion: Option<Completion>,
    /// The prompt, such as `demo $`.
    pub prompt: String,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerminalLine {
    /// What sort of line.
    pub sort: LineSort,
    /// The text.
    pub text: String,
}

/// What sort of line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSort {
    /// What was typed.
    Input,
    /// What was answered.
    Output,
    /// What went wrong.
    Error,
}

/// The answer to Tab.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Counts up with every Tab, so that the same answer twice is seen twice.
    pub serial: usize,
    /// The line after completing what all choices share.
    pub line: String,
    /// What stands before the word being completed.
    pub stem: String,
    /// The words that could stand there, when there is more than one.
    pub choices: Vec<String>,
}

/// The terminal.
pub fn terminal_view(state: &State) -> TerminalView {
    TerminalView {
        lines: state.screenful.lines.clone(),
        history: state.shell.session.history.clone(),
        is_busy: state.shell.waiting.is_some(),
        completion: state.screenful.completion.clone(),
        prompt: match (state.shell.unfinished.is_empty(), state.shell.session.inside.is_some()) {
            (false, _) => ">",
            (true, true) => "/ #",
            (true, false) => "$",
        }
        .to_string(),
    }
}
