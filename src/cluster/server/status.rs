//! `metav1.Status`: how the API server says no.

use serde_json::{Value, json};

use crate::api::kind::Kind;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The HTTP code.
    pub code: u16,
    /// `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Forbidden`, `BadRequest`, …
    pub reason: &'static str,
    /// The text for a person.
    pub message: String,
    /// What it is about.
    pub details: Details,
}

/// What a refusal is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// The object's name.
    pub name: String,
    /// The group.
    pub group: String,
    /// The kind (`Invalid`) or the resource (others).
    pub kind: String,
    /// Each single mistake.
    pub causes: Vec<Cause>,
    /// After how many seconds to try again; 0 where it does not say.
    pub retry_after_seconds: i64,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `FieldValueInvalid`, `FieldValueRequired`, …
    pub reason: &'static str,
    /// The text, without the field.
    pub message: String,
    /// The field's path.
    pub field: String,
}

impl Status {
    fn new(code: u16, reason: &'static str, message: String, kind: Kind, name: &str) -> Self {
        let details = Details {
            name: name.to_string(),
            group: kind.group().to_string(),
            kind: kind.plural().to_string(),
            causes: Vec::new(),
            ..Details::default()
        };
        Self { code, reason, message, details }
    }

    /// 404: no such object.
    pub fn not_found(kind: Kind, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", kind.group_resource()), kind, name)
    }

    /// 409: the name is taken.
    pub fn already_exists(kind: Kind, name: &str) -> Self {
        Self::new(
            409,
            "AlreadyExists",
            format!("{} \"{name}\" already exists", kind.group_resource()),
            kind,
            name,
        )
    }

    /// 409: the object has changed since it was read.
    pub fn conflict(kind: Kind, name: &str) -> Self {
        let why =
            "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict_because(kind, name, why)
    }

    /// 409: for the given reason.
    pub fn conflict_because(kind: Kind, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {} \"{name}\": {why}", kind.group_resource());
        Self::new(409, "Conflict", message, kind, name)
    }

    /// 403: not allowed, for the given reason.
    pub fn forbidden(kind: Kind, name: &str, why: &str) -> Self {
        let name_part = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        let message = format!("{}{name_part} is forbidden: {why}", kind.group_resource());
        Self::new(403, "Forbidden", message, kind, name)
    }

    /// 403: not allowed to touch a resource, which need not be one that the cluster has.
    pub fn forbidden_resource(group: &str, resource: &str, name: &str, why: &str) -> Self {
        let full = if group.is_empty() { resource.to_string() } else { format!("{resource}.{group}") };
        let name_part = if name.is_empty() { String::new() } else { format!(" \"{name}\"") };
        let details = Details {
            name: name.to_string(),
            group: group.to_string(),
            kind: resource.to_string(),
            causes: Vec::new(),
            ..Details::default()
        };
        Self {
            code: 403,
            reason: "Forbidden",
            message: format!("{full}{name_part} is forbidden: {why}"),
            details,
        }
    }

    /// Nobody answers at the API server's address.
    pub fn unreachable() -> Self {
        Self {
            code: 0,
            reason: "",
            message: "dial tcp 203.0.113.9:6443: connect: connection refused".to_string(),
            details: Details::default(),
        }
    }

    /// 500: etcd has lost its quorum.
    pub fn store_lost() -> Self {
        Self {
            code: 500,
            reason: "",
            message: "etcdserver: request timed out".to_string(),
            details: Details::default(),
        }
    }

    /// 401: nobody whom the cluster knows.
    pub fn unauthorized() -> Self {
        Self {
            code: 401,
            reason: "Unauthorized",
            message: "Unauthorized".to_string(),
            details: Details::default(),
        }
    }

    /// 404: with a text of its own.
    pub fn not_found_because(kind: Kind, name: &str, message: String) -> Self {
        Self::new(404, "NotFound", message, kind, name)
    }

    /// 422: values that are not allowed; `causes` in the server's order.
    pub fn invalid(kind: Kind, name: &str, causes: Vec<Cause>) -> Self {
        let texts: Vec<String> =
            causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
        let list = match texts.as_slice() {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let group = if kind.group().is_empty() { String::new() } else { format!(".{}", kind.group()) };
        let message = format!("{}{group} \"{name}\" is invalid: {list}", kind.name());
        let mut status = Self::new(422, "Invalid", message, kind, name);
        status.details.kind = kind.name().to_string();
        status.details.causes = causes;
        status
    }

    /// 400: cannot be read.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self { code: 400, reason: "BadRequest", message: message.into(), details: Details::default() }
    }

    /// 500: something behind the server failed, for the given reason.
    pub fn internal(why: impl std::fmt::Display) -> Self {
        let message = format!("Internal error occurred: {why}");
        Self { code: 500, reason: "InternalError", message, details: Details::default() }
    }

    /// 404: there is no such resource at all.
    pub fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource".to_string();
        Self { code: 404, reason: "NotFound", message, details: Details::default() }
    }

    /// 405: the verb does not exist for the resource.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource".to_string();
        Self { code: 405, reason: "MethodNotAllowed", message, details: Details::default() }
    }

    /// 415: such a patch does not exist for a kind that somebody added.
    pub fn unsupported_media_type() -> Self {
        let message = "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml".to_string();
        Self { code: 415, reason: "UnsupportedMediaType", message, details: Details::default() }
    }

    /// As the JSON that a client receives.
    pub fn to_value(&self) -> Value {
        let cause = |c: &Cause| json!({"reason": c.reason, "message": c.message, "field": c.field});
        let details = &self.details;
        let mut value = json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "message": self.message,
            "reason": self.reason, "code": self.code,
            "details": {
                "name": details.name, "group": details.group, "kind": details.kind,
                "causes": details.causes.iter().map(cause).collect::<Vec<_>>(),
            },
        });
        if details.retry_after_seconds > 0 {
            value["details"]["retryAfterSeconds"] = json!(details.retry_after_seconds);
        }
        value
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Status {}
