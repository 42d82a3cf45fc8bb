//! One object from all sides.

use super::{Marks, ObjectReference, why::Link};

/// The selected object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectView {
    /// Which object.
    pub object: ObjectReference,
    /// Whether it exists at the moment on screen.
    pub exists: bool,
    /// Its two marks.
    pub marks: Marks,
    /// What they mean here, in a sentence.
    pub status: String,
    /// Its owners, nearest first.
    pub owners: Vec<ObjectReference>,
    /// What it owns.
    pub dependents: Vec<ObjectReference>,
    /// Its conditions as name, state and message.
    pub conditions: Vec<Condition>,
    /// Its events, newest last.
    pub events: Vec<EventLine>,
    /// Everything that wrote it, newest last.
    pub history: Vec<Link>,
    /// As `kubectl get -o yaml` prints it.
    pub yaml: String,
    /// The kubectl line that shows it.
    pub command: String,
    /// The kubectl line that deletes it.
    pub delete_command: String,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its type.
    pub name: String,
    /// `True`, `False` or `Unknown`.
    pub state: String,
    /// Reason and message.
    pub note: String,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLine {
    /// Whether it is a warning.
    pub is_warning: bool,
    /// Its reason.
    pub reason: String,
    /// Who reported it.
    pub source: String,
    /// The tick of its last occurrence.
    pub tick: i64,
    /// How often.
    pub count: u64,
    /// Its message.
    pub message: String,
}
