//! The terminal's side of kubectl.

/// The terminal's memory.
#[derive(Clone, Debug, Default)]
pub struct Shell {
    /// Earlier lines, oldest first.
    pub history: Vec<String>,
}
