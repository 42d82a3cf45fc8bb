//! Terms by which a Pod chooses nodes: labels and names.
//!
//! Models: `component-helpers/scheduling/corev1/nodeaffinity` (v1.36). Leaves out: nothing.

use serde_json::Value;

use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::PodSpec;
use crate::api::names;

/// Whether a Pod's selector and required terms choose the node.
///
/// Models: `GetRequiredNodeAffinity(pod).Match(node)`.
pub fn selects(spec: &PodSpec, node: &Node) -> bool {
    let required = node_affinity(spec).and_then(|a| a.get("requiredDuringSchedulingIgnoredDuringExecution"));
    has_selected_labels(spec, node)
        && required.map(RequiredTerms::read).is_none_or(|terms| terms.match_node(node))
}

/// Whether the node has the labels of the Pod's selector.
pub fn has_selected_labels(spec: &PodSpec, node: &Node) -> bool {
    spec.node_selector.iter().all(|(key, value)| node.meta.labels.get(key) == Some(value))
}

/// The Pod's terms on nodes, if it has any.
pub fn node_affinity(spec: &PodSpec) -> Option<&Value> {
    spec.rest.get("affinity")?.get("nodeAffinity").filter(|value| !value.is_null())
}

/// Terms of which at least one must match.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequiredTerms {
    terms: Vec<Term>,
}

/// A term that adds its weight to the score of nodes that match.
#[derive(Clone, Debug, PartialEq)]
pub struct PreferredTerm {
    weight: i64,
    term: Term,
}

/// Requirements that must all be met; none at all match nothing.
#[derive(Clone, Debug, Default, PartialEq)]
struct Term {
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Requirement {
    key: String,
    operator: String,
    values: Vec<String>,
}

/// Which nodes the names in the terms leave over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedNodes {
    /// Any: some term names none.
    Any,
    /// These, in order.
    Only(Vec<String>),
    /// None: the names contradict each other.
    Conflict,
}

impl RequiredTerms {
    /// Reads a `NodeSelector`.
    pub fn read(value: &Value) -> Self {
        let terms = value.get("nodeSelectorTerms").and_then(Value::as_array);
        Self { terms: terms.into_iter().flatten().map(Term::read).collect() }
    }

    /// Whether the node matches one of the terms.
    pub fn match_node(&self, node: &Node) -> bool {
        self.terms.iter().any(|term| term.match_node(node))
    }

    /// Which nodes can match at all, going by the names in the terms.
    pub fn named_nodes(&self) -> NamedNodes {
        let mut names: Vec<String> = Vec::new();
        for term in &self.terms {
            let mut of_term: Option<Vec<String>> = None;
            for field in term.fields.iter().filter(|f| f.key == "metadata.name" && f.operator == "In") {
                of_term = Some(match of_term {
                    None => field.values.clone(),
                    Some(names) => names.into_iter().filter(|name| field.values.contains(name)).collect(),
                });
            }
            match of_term {
                None => return NamedNodes::Any,
                Some(of_term) => names.extend(of_term),
            }
        }
        names.sort();
        names.dedup();
        if names.is_empty() && !self.terms.is_empty() {
            NamedNodes::Conflict
        } else {
            NamedNodes::Only(names)
        }
    }
}

impl PreferredTerm {
    /// Reads a `PreferredSchedulingTerm`.
    pub fn read(value: &Value) -> Option<Self> {
        let weight = value.get("weight")?.as_i64()?;
        Some(Self { weight, term: Term::read(value.get("preference")?) })
    }

    /// Its weight if the node matches, else 0.
    pub fn weight_for(&self, node: &Node) -> i64 {
        if self.term.match_node(node) { self.weight } else { 0 }
    }
}

impl Term {
    fn read(value: &Value) -> Self {
        let list = |name: &str| {
            let items = value.get(name).and_then(Value::as_array);
            items.into_iter().flatten().map(Requirement::read).collect()
        };
        let labels: Vec<Requirement> = list("matchExpressions");
        // No label can have such a value: the term cannot be read, and matches nothing.
        if labels.iter().flat_map(|it| &it.values).any(|value| !names::label_value(value).is_empty()) {
            return Self::default();
        }
        Self { labels, fields: list("matchFields") }
    }

    fn match_node(&self, node: &Node) -> bool {
        if self.labels.is_empty() && self.fields.is_empty() {
            return false;
        }
        let label = |requirement: &Requirement| {
            requirement.is_met_by(node.meta.labels.get(&requirement.key).map(String::as_str))
        };
        let field = |requirement: &Requirement| {
            requirement.key == "metadata.name" && requirement.is_met_by(Some(&node.meta.name))
        };
        self.labels.iter().all(label) && self.fields.iter().all(field)
    }
}

impl Requirement {
    fn read(value: &Value) -> Self {
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_string();
        let values = value.get("values").and_then(Value::as_array);
        let values = values.into_iter().flatten().filter_map(|v| Some(v.as_str()?.to_string())).collect();
        Self { key: text("key"), operator: text("operator"), values }
    }

    fn is_met_by(&self, value: Option<&str>) -> bool {
        let is_listed = |value: &str| self.values.iter().any(|candidate| candidate == value);
        let number = |text: &str| text.parse::<i64>().ok();
        let bound = self.values.first().and_then(|text| number(text));
        match self.operator.as_str() {
            "In" => value.is_some_and(is_listed),
            "NotIn" => !value.is_some_and(is_listed),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => value.and_then(number).zip(bound).is_some_and(|(value, bound)| value > bound),
            "Lt" => value.and_then(number).zip(bound).is_some_and(|(value, bound)| value < bound),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::codec::Codec;
    use serde_json::json;

    #[test]
    fn a_term_matches_when_all_its_requirements_are_met() {
        let node = json!({"metadata": {"name": "n1", "labels": {"disk": "ssd", "gen": "10"}}});
        let node = Node::decode(node).unwrap();
        let table = [
            (
                "a listed value matches",
                json!([{"key": "disk", "operator": "In", "values": ["ssd", "nvme"]}]),
                true,
            ),
            (
                "a missing label is not in a list",
                json!([{"key": "zone", "operator": "NotIn", "values": ["a"]}]),
                true,
            ),
            ("numbers compare as numbers", json!([{"key": "gen", "operator": "Gt", "values": ["9"]}]), true),
            ("a word is no number", json!([{"key": "disk", "operator": "Gt", "values": ["9"]}]), false),
            (
                "one unmet requirement is enough to fail",
                json!([{"key": "disk", "operator": "Exists"}, {"key": "gen", "operator": "DoesNotExist"}]),
                false,
            ),
            ("no requirement matches nothing", json!([]), false),
            (
                "a value that no label can have makes the term match nothing",
                json!([{"key": "disk", "operator": "NotIn", "values": ["not a label"]}]),
                false,
            ),
        ];
        for (sentence, expressions, expected) in table {
            let terms =
                RequiredTerms::read(&json!({"nodeSelectorTerms": [{"matchExpressions": expressions}]}));
            assert_eq!(terms.match_node(&node), expected, "{sentence}");
        }
    }

    #[test]
    fn names_in_the_terms_narrow_the_nodes_down() {
        let field = |names: &[&str]| json!({"key": "metadata.name", "operator": "In", "values": names});
        let named = |terms: Value| RequiredTerms::read(&json!({"nodeSelectorTerms": terms})).named_nodes();
        assert_eq!(
            named(json!([{"matchFields": [field(&["n1", "n2"]), field(&["n2"])]}])),
            NamedNodes::Only(vec!["n2".into()])
        );
        assert_eq!(named(json!([{"matchFields": [field(&["n1"]), field(&["n2"])]}])), NamedNodes::Conflict);
        assert_eq!(
            named(json!([{"matchFields": [field(&["n1"])]}, {"matchExpressions": []}])),
            NamedNodes::Any
        );
    }
}
