//! The editor.

use super::why::DiffLine;
use crate::app::difference::difference_of;
use crate::app::state::State;

/// What the editor shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditorView {
    /// The files, in tab order.
    pub files: Vec<FileTab>,
    /// The file on screen.
    pub shown: usize,
    /// Its text as the state knows it; the editor reports changes.
    pub text: String,
    /// Counts up when the text was replaced from outside, so that the editor takes it over.
    pub revision: usize,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The difference against the live objects, when asked for.
    pub difference: Option<Difference>,
    /// The kubectl line Apply stands for.
    pub command: String,
    /// Whether the moment on screen is in the past, so that Apply forks.
    pub forks: bool,
    /// Whether the text cannot be changed.
    pub is_read_only: bool,
}

/// One tab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTab {
    /// The file's name.
    pub name: String,
    /// Whether it has problems.
    pub has_problems: bool,
    /// Whether it differs from what was applied last.
    pub is_changed: bool,
}

/// Something wrong at a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from 1; 0 when it belongs to no line.
    pub line: usize,
    /// The API server's own words.
    pub message: String,
    /// A hint in the screen's language; may be empty.
    pub hint: String,
    /// Whether it is no mistake, but something to know.
    pub is_notice: bool,
}

/// The file against the live objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The lines, with a few around each change.
    pub lines: Vec<DiffLine>,
    /// The kubectl line it stands for.
    pub command: String,
}

/// The editor.
pub fn editor_view(state: &State) -> EditorView {
    let file = state.file();
    EditorView {
        files: state
            .files
            .iter()
            .enumerate()
            .map(|(at, file)| FileTab {
                name: file.name.clone(),
                has_problems: at == state.shown_file
                    && state.problems.iter().any(|problem| !problem.is_notice),
                is_changed: !file.text.is_empty() && file.text != file.applied,
            })
            .collect(),
        shown: state.shown_file,
        text: file.text.clone(),
        revision: state.editor_revision,
        problems: state.problems.clone(),
        difference: state.has_difference.then(|| Difference {
            lines: difference_of(&state.history.cluster().store, &file.text),
            command: ["kubectl diff -f ", &file.name].concat(),
        }),
        command: ["kubectl apply -f ", &file.name].concat(),
        forks: !state.history.is_at_end(),
        is_read_only: state.embed.as_ref().is_some_and(|embed| embed.is_read_only),
    }
}
