//! Which objects of a kind a list, or a deletion of many, is about.
//!
//! Models: `apiserver/pkg/storage/selection_predicate.go`, the field label conversions of each group
//! (`pkg/apis/*/v1/conversion.go`) (v1.36).
//! Leaves out: limits and continuations.

use serde_json::Value;

use crate::api::kind::Kind;
use crate::api::labels::{FieldSelector, Selector};
use crate::api::object::Object;

/// A label selector and a field selector together.
#[derive(Debug)]
pub struct Selection {
    labels: Selector,
    fields: FieldSelector,
}

impl Selection {
    /// Reads both, as a query spells them.
    ///
    /// # Errors
    /// When one cannot be read or names a field that cannot be selected by.
    pub fn parse(kind: Kind, labels: &str, fields: &str) -> Result<Self, String> {
        let selection = Self { labels: Selector::parse(labels)?, fields: FieldSelector::parse(fields)? };
        match selection.fields.terms.iter().find(|(field, ..)| !can_select(kind, field)) {
            Some((field, ..)) => Err(format!("field label not supported: {field}")),
            None => Ok(selection),
        }
    }

    /// Whether the object is one of them.
    pub fn keeps(&self, object: &Object) -> bool {
        self.labels.matches(&object.meta().labels)
            && (self.fields.terms.is_empty() || {
                let value = object.to_value();
                self.fields.matches(|field| field_text(&value, field))
            })
    }
}

/// A value as a field selector compares it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn can_select(kind: Kind, field: &str) -> bool {
    if matches!(field, "metadata.name" | "metadata.namespace") {
        return true;
    }
    let fields: &[&str] = match kind {
        Kind::Pod => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        Kind::Event => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        Kind::Node => &["spec.unschedulable"],
        Kind::Namespace => &["status.phase"],
        Kind::ReplicaSet => &["status.replicas"],
        Kind::Service => &["spec.clusterIP", "spec.type"],
        _ => &[],
    };
    fields.contains(&field)
}

fn field_text(value: &Value, field: &str) -> String {
    let field = if field == "source" { "source.component" } else { field };
    let found = field.split('.').try_fold(value, |value, name| value.get(name));
    match found {
        None | Some(Value::Null) => match field {
            "spec.hostNetwork" | "spec.unschedulable" => "false".to_string(),
            _ => String::new(),
        },
        Some(Value::Array(items)) => {
            let texts: Vec<&str> = items.iter().filter_map(|item| item.get("ip")?.as_str()).collect();
            texts.join(",")
        }
        Some(found) => text_of(found),
    }
}
