//! What a terminal remembers between lines.

use super::commands::streams::Forward;

/// One terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The namespace of the current context.
    pub namespace: String,
    /// The user of the current context; empty for the cluster's first one.
    pub user: String,
    /// The lines that were run, oldest first; a line equal to the one before it is not kept again.
    pub history: Vec<String>,
    /// What the configuration file calls the cluster and its first context.
    pub cluster_name: String,
    /// Whether only the first user has a context, and the server's certificate is not looked at, as in the recordings.
    pub recorded_config: bool,
    /// The variables of the shell, by name.
    pub variables: Vec<(String, String)>,
    /// The shell in a container that one is in: `kubectl exec -it web -- sh`.
    pub inside: Option<Inside>,
    /// How deeply commands inside commands are nested at the moment.
    pub depth: usize,
    /// How many requests were sent.
    pub requests: u64,
    /// The local ports that are forwarded, until the next ones are.
    pub forwards: Vec<Forward>,
}

/// A shell in a container that lines are typed into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The Pod's namespace.
    pub namespace: String,
    /// The Pod's name.
    pub pod: String,
    /// The container.
    pub container: String,
    /// Whether the Pod is deleted when the shell is left.
    pub removes: bool,
    /// The exit code of the last command.
    pub exit: i32,
}

/// The name of the cluster and of its first context.
pub const CLUSTER_NAME: &str = "kubestep";

/// The most lines that are remembered.
pub const HISTORY_LINES: usize = 500;

impl Default for Session {
    fn default() -> Self {
        Self {
            namespace: "default".to_string(),
            user: String::new(),
            history: Vec::new(),
            cluster_name: CLUSTER_NAME.to_string(),
            recorded_config: false,
            variables: Vec::new(),
            inside: None,
            depth: 0,
            requests: 0,
            forwards: Vec::new(),
        }
    }
}

impl Session {
    /// A terminal whose current namespace is that one.
    pub fn in_namespace(namespace: &str) -> Self {
        Self { namespace: namespace.to_string(), ..Self::default() }
    }

    /// Sets a variable of the shell.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        if self.variables.len() < HISTORY_LINES {
            self.variables.push((name.to_string(), value.to_string()));
        }
    }

    /// Remembers a line.
    pub fn remember(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() || self.history.last().is_some_and(|last| last == line) {
            return;
        }
        if self.history.len() == HISTORY_LINES {
            self.history.remove(0);
        }
        self.history.push(line.to_string());
    }
}
