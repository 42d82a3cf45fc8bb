//! What a client asks the API server for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::authn::Credentials;
use crate::api::kind::Kind;
use crate::api::meta::{Name, ObjectKey};

/// One request of a person's client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// What is to be done.
    pub verb: Verb,
    /// To which kind.
    pub kind: Kind,
    /// In which namespace; empty for kinds of the whole cluster.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub namespace: Name,
    /// To which object; empty for a create with `generateName`.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub name: Name,
    /// `status`, `scale`, `binding`, `eviction`; empty for the object itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    /// The object or the patch.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub body: Value,
    /// Options.
    #[serde(default, skip_serializing_if = "Options::is_default")]
    pub options: Options,
    /// Who asks.
    #[serde(default, skip_serializing_if = "is_own")]
    pub credentials: Box<Credentials>,
}

fn is_own(credentials: &Credentials) -> bool {
    credentials.is_default()
}

fn is_empty(name: &Name) -> bool {
    name.is_empty()
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verb {
    /// POST.
    Create,
    /// PUT: the whole object.
    Update,
    /// PATCH with `application/merge-patch+json`.
    MergePatch,
    /// PATCH with `application/strategic-merge-patch+json`.
    StrategicPatch,
    /// PATCH with `application/json-patch+json`.
    JsonPatch,
    /// PATCH with `application/apply-patch+yaml`: server-side apply.
    Apply,
    /// DELETE of one object.
    Delete,
    /// DELETE of all objects that the options' selectors leave.
    DeleteCollection,
}

impl Verb {
    /// The verb as rules name it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::MergePatch | Self::StrategicPatch | Self::JsonPatch | Self::Apply => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

/// Options of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// `dryRun=All`: everything but the storing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// What happens to unknown and duplicate fields.
    #[serde(default, skip_serializing_if = "FieldValidation::is_strict")]
    pub field_validation: FieldValidation,
    /// For a delete: what happens to dependents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub propagation: Option<Propagation>,
    /// For a delete: seconds of grace; absent for the object's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace_seconds: Option<i64>,
    /// For a delete: only if the object still has this uid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// For a deletion of many: the label selector; empty for all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label_selector: String,
    /// For a deletion of many: the field selector; empty for all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field_selector: String,
    /// Who is to be remembered as the manager of the fields that are written; empty for nobody.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub field_manager: String,
    /// For an apply: takes fields from their managers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

impl Options {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What happens to unknown and duplicate fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FieldValidation {
    /// The request is refused: kubectl's default.
    #[default]
    Strict,
    /// They are dropped with a warning.
    Warn,
    /// They are dropped.
    Ignore,
}

impl FieldValidation {
    fn is_strict(&self) -> bool {
        *self == Self::Strict
    }
}

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Propagation {
    /// They are deleted afterwards: the default.
    Background,
    /// They are deleted first.
    Foreground,
    /// They stay.
    Orphan,
}

impl Request {
    /// A request with a body and no options.
    pub fn new(verb: Verb, kind: Kind, namespace: &str, name: &str, body: Value) -> Self {
        Self {
            verb,
            kind,
            namespace: namespace.into(),
            name: name.into(),
            subresource: String::new(),
            body,
            options: Options::default(),
            credentials: Box::default(),
        }
    }

    /// The object it is about.
    pub fn key(&self) -> ObjectKey {
        ObjectKey { kind: self.kind, namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// `create Deployment demo/api`, `patch Pod demo/a status`.
    pub fn summary(&self) -> String {
        let verb = self.verb.word();
        if self.verb == Verb::DeleteCollection {
            let place =
                if self.namespace.is_empty() { String::new() } else { format!(" in {}", self.namespace) };
            return format!("{verb} {}{place}", self.kind.name());
        }
        match self.subresource.as_str() {
            "" => format!("{verb} {}", self.key()),
            subresource => format!("{verb} {} {subresource}", self.key()),
        }
    }
}

/// The answer to a request that was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The object after the request (before it, for a delete that removed it at once), as JSON.
    pub object: Value,
    /// Whether anything was changed.
    pub changed: bool,
    /// Warnings for the person.
    pub warnings: Vec<String>,
}
