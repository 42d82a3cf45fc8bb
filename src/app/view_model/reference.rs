//! The address of an object on the screen.

/// Which object a tap means.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectReference {
    /// Its kind, such as `Pod`.
    pub kind: String,
    /// Its namespace; empty for cluster-wide kinds.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

impl ObjectReference {
    /// A reference from its parts.
    pub fn new(kind: &str, namespace: &str, name: &str) -> ObjectReference {
        ObjectReference { kind: kind.to_string(), namespace: namespace.to_string(), name: name.to_string() }
    }

    /// As people say it: `Pod/api-x2kqp`.
    pub fn title(&self) -> String {
        let mut title = self.kind.clone();
        title.push('/');
        title.push_str(&self.name);
        title
    }
}
