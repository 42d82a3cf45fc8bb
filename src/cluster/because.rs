//! Why, as a key into the catalogues and arguments: a sentence that no language has been chosen for yet.

use serde_json::{Map, Value};

/// A sentence to be: `because.<component>.<what>` with named arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Because {
    /// The catalogue key.
    pub key: &'static str,
    /// The arguments, by name.
    pub args: Vec<(&'static str, String)>,
}

impl Because {
    /// A sentence without arguments.
    pub fn new(key: &'static str) -> Self {
        Self { key, args: Vec::new() }
    }

    /// The same with one more argument.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.args.push((name, value.to_string()));
        self
    }

    /// As JSON: the key and the arguments.
    pub fn to_value(&self) -> Value {
        let args: Map<_, _> = self
            .args
            .iter()
            .map(|(name, value)| ((*name).to_string(), Value::String(value.clone())))
            .collect();
        serde_json::json!({"key": self.key, "args": args})
    }
}
