//! What carrying out a line comes to.

use super::shell::Waiting;

/// What was printed, and the exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code; 0 is success.
    pub exit: i32,
}

impl Output {
    /// Only standard output, successful.
    pub fn of(stdout: impl Into<String>) -> Self {
        Self { stdout: stdout.into(), ..Self::default() }
    }

    /// Adds what came later; its exit code counts.
    pub fn append(&mut self, later: &Self) {
        self.stdout.push_str(&later.stdout);
        self.stderr.push_str(&later.stderr);
        self.exit = later.exit;
    }
}

/// A line that was carried out, or that still waits.
#[derive(Debug)]
pub enum Execution {
    /// It is done.
    Finished(Output),
    /// It has printed something (the exit code means nothing yet) and waits for the cluster.
    Waiting(Output, Box<Waiting>),
}

/// What one look at a waiting line gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Poll {
    /// What was printed since the last look.
    pub printed: Output,
    /// The exit code, once it is done.
    pub finished: Option<i32>,
}
