//! The terminal's side of kubectl.

/// The terminal's memory.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// Earlier lines, oldest first.
    pub history: Vec<String>,
    namespace: String,
}

impl Shell {
    /// The namespace of the current context.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Makes a namespace the current one.
    pub fn use_namespace(&mut self, namespace: &str) {
        self.namespace = namespace.to_string();
    }
}
