//! The address of an object on the screen.

use crate::api::kind::Kind;
use crate::api::meta::ObjectKey;

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
        [self.kind.as_str(), "/", self.name.as_str()].concat()
    }

    /// Its key in a store; `None` for a kind that is not known.
    pub fn key(&self) -> Option<ObjectKey> {
        let kind = Kind::ALL.iter().copied().find(|kind| kind.name() == self.kind)?;
        Some(ObjectKey::new(kind, self.namespace.as_str(), self.name.as_str()))
    }

    /// The flag and resource that name it in a kubectl line: `-n demo pod/api-1`.
    pub fn in_kubectl(&self) -> (String, String) {
        let namespace = match self.namespace.as_str() {
            "" | "default" => String::new(),
            namespace => ["-n ", namespace, " "].concat(),
        };
        (namespace, [self.kind.to_lowercase().as_str(), "/", &self.name].concat())
    }
}

impl From<&ObjectKey> for ObjectReference {
    fn from(key: &ObjectKey) -> ObjectReference {
        ObjectReference::new(key.kind.name(), &key.namespace, &key.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_goes_to_its_key_and_back() {
        let reference = ObjectReference::new("Pod", "demo", "api-1");
        assert_eq!(ObjectReference::from(&reference.key().expect("Pod is a kind")), reference);
        assert_eq!(ObjectReference::new("Nonsense", "", "x").key(), None);
    }
}
