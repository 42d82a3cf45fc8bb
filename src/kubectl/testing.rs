//! A terminal over a real cluster, for tests.

use std::collections::BTreeMap;

use super::execution::Execution;
use super::history_host::HistoryHost;
use super::session::Session;
use super::shell::{self, Waiting};
use crate::cluster::command::Command;
use crate::cluster::history::History;
use crate::cluster::settings::Settings;

/// A cluster, a terminal in namespace `demo`, and files.
pub(crate) struct Terminal {
    pub(crate) history: History,
    pub(crate) session: Session,
    pub(crate) files: BTreeMap<String, String>,
}

/// The most ticks that a command may wait.
const MAX_TICKS: u32 = 600;

impl Terminal {
    pub(crate) fn new() -> Self {
        let history = History::new(Settings::default());
        let mut terminal = Self { history, session: Session::default(), files: BTreeMap::new() };
        terminal.input("kubectl create -f -", "apiVersion: v1\nkind: Namespace\nmetadata: {name: demo}\n");
        terminal.session.namespace = "demo".to_string();
        terminal
    }

    /// Runs a line; lets time pass while it waits. What is printed, standard error in lines that begin with `E|`.
    pub(crate) fn run(&mut self, line: &str) -> String {
        self.with(line, None)
    }

    pub(crate) fn input(&mut self, line: &str, input: &str) -> String {
        self.with(line, Some(input))
    }

    fn with(&mut self, line: &str, input: Option<&str>) -> String {
        let mut host = HistoryHost::new(&mut self.history, &self.files);
        let execution = shell::run_with_input(line, input, &mut self.session, &mut host);
        let mut written = std::mem::take(&mut host.written);
        self.files.append(&mut written);
        let (mut output, mut waiting): (_, Option<Box<Waiting>>) = match execution {
            Execution::Finished(output) => (output, None),
            Execution::Waiting(output, waiting) => (output, Some(waiting)),
        };
        for _ in 0..MAX_TICKS {
            let Some(still) = &mut waiting else { break };
            self.history.perform(Command::Tick);
            let mut host = HistoryHost::new(&mut self.history, &self.files);
            let poll = still.poll(&mut self.session, &mut host);
            let mut written = std::mem::take(&mut host.written);
            self.files.append(&mut written);
            output.append(&poll.printed);
            if let Some(exit) = poll.finished {
                output.exit = exit;
                waiting = None;
            }
        }
        assert!(waiting.is_none(), "{line} still waits after {MAX_TICKS} ticks:\n{}", output.stdout);
        let mut shown = output.stdout;
        for line in output.stderr.lines() {
            shown.push_str(&format!("E|{line}\n"));
        }
        if output.exit != 0 {
            shown.push_str(&format!("[exit {}]\n", output.exit));
        }
        shown
    }
}
