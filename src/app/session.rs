//! What the page remembers beside the cluster's history: files, the terminal, requests sent.

use std::collections::BTreeMap;

use super::view_model::terminal::{Completion, LineSort, TerminalLine};

/// One file of the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its text when it was applied last; empty before.
    pub applied: String,
}

/// The most files that the editor holds.
pub const FILES_LIMIT: usize = 20;

/// The manifest that a new session opens with.
pub const FIRST_MANIFEST: &str = include_str!("first_manifest.yaml");

/// The files by name, as kubectl finds them.
pub fn by_name(files: &[File]) -> BTreeMap<String, String> {
    files.iter().map(|file| (file.name.clone(), file.text.clone())).collect()
}

/// What stands in the terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screenful {
    /// The lines, oldest first.
    pub lines: Vec<TerminalLine>,
    /// The answer to the last Tab.
    pub completion: Option<Completion>,
    /// How many Tabs there were.
    pub tabs: usize,
}

/// The most lines that the terminal keeps.
pub const LINES_LIMIT: usize = 2000;

impl Screenful {
    /// Adds the lines of a text.
    pub fn print(&mut self, sort: LineSort, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = text.strip_suffix('\n').unwrap_or(text);
        self.lines.extend(text.split('\n').map(|line| TerminalLine { sort, text: line.to_string() }));
        if self.lines.len() > LINES_LIMIT {
            self.lines.drain(..self.lines.len() - LINES_LIMIT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_keeps_the_newest_lines() {
        let mut screenful = Screenful::default();
        screenful.print(LineSort::Output, "");
        assert!(screenful.lines.is_empty(), "nothing prints nothing");
        for _ in 0..LINES_LIMIT {
            screenful.print(LineSort::Output, "a\n\nb\n");
        }
        assert_eq!(screenful.lines.len(), LINES_LIMIT);
        assert_eq!(screenful.lines.last().map(|line| line.text.as_str()), Some("b"));
    }
}
