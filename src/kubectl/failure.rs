//! How kubectl says that something went wrong.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/util/helpers.go` (v1.36).
//! Leaves out: refused connections and expired credentials.

use crate::cluster::server::status::Status;

/// A command that failed: what stands on standard error, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The text, without its last newline; empty when all was said before.
    pub text: String,
    /// The exit code.
    pub exit: i32,
}

impl Failure {
    /// A text as it is.
    pub fn exactly(text: impl Into<String>) -> Self {
        Self { text: text.into(), exit: 1 }
    }

    /// `error: …`.
    pub fn error(message: impl std::fmt::Display) -> Self {
        Self::exactly(format!("error: {message}"))
    }

    /// `error: …`, with the hint that a wrong use of `path` (as `kubectl get`) gets.
    pub fn usage(path: &str, message: impl std::fmt::Display) -> Self {
        Self::error(format!("{message}\nSee '{path} -h' for help and examples"))
    }

    /// `error: …`, with the hint that a wrong flag of `path` gets.
    pub fn flag(path: &str, message: impl std::fmt::Display) -> Self {
        Self::error(format!("{message}\nSee '{path} --help' for usage."))
    }

    /// Nothing more to say, but a failure.
    pub fn silent() -> Self {
        Self::exactly("")
    }

    /// What the server refused.
    pub fn server(status: &Status) -> Self {
        Self::server_when("", status)
    }

    /// What the server refused, with what was being done: `error when creating "x.yaml": `.
    pub fn server_when(doing: &str, status: &Status) -> Self {
        if status.reason == "Invalid" {
            return Self::exactly(invalid(status));
        }
        match status.reason {
            "" => Self::exactly(format!("Error from server: {doing}{}", status.message)),
            reason => Self::exactly(format!("Error from server ({reason}): {doing}{}", status.message)),
        }
    }

    /// Several failures, one after the other; `None` of none.
    pub fn all(failures: Vec<Self>) -> Option<Self> {
        if failures.is_empty() {
            return None;
        }
        let texts: Vec<String> =
            failures.into_iter().map(|failure| failure.text).filter(|t| !t.is_empty()).collect();
        Some(Self::exactly(texts.join("\n")))
    }
}

/// The list of an object's mistakes, each once.
fn invalid(status: &Status) -> String {
    let details = &status.details;
    let mut lines: Vec<String> = Vec::new();
    for cause in &details.causes {
        let line = match cause.field.as_str() {
            "" => cause.message.clone(),
            field => format!("{field}: {}", cause.message),
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let unnamed = details.kind.is_empty() && details.name.is_empty();
    let head = match unnamed {
        true => "The request is invalid".to_string(),
        false => format!("The {} \"{}\" is invalid", details.kind, details.name),
    };
    match lines.as_slice() {
        [] if unnamed => format!("{head}: {}", status.message),
        [] => head,
        [one] => format!("{head}: {one}"),
        many => format!("{head}: \n* {}", many.join("\n* ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kind::Kind;
    use crate::cluster::server::status::Cause;

    fn cause(field: &str, message: &str) -> Cause {
        Cause { reason: "FieldValueInvalid", message: message.into(), field: field.into() }
    }

    #[test]
    fn refusals_read_as_kubectl_prints_them() {
        let invalid = |causes| Status::invalid(Kind::Deployment, "web", causes);
        for (about, status, text) in [
            (
                "a missing object",
                Status::not_found(Kind::Pod, "web"),
                "Error from server (NotFound): pods \"web\" not found",
            ),
            ("one mistake", invalid(vec![cause("a", "b")]), "The Deployment \"web\" is invalid: a: b"),
            (
                "two mistakes, one of them told twice",
                invalid(vec![cause("a", "b"), cause("a", "b"), cause("c", "d")]),
                "The Deployment \"web\" is invalid: \n* a: b\n* c: d",
            ),
            ("no mistake named", invalid(vec![]), "The Deployment \"web\" is invalid"),
        ] {
            assert_eq!(Failure::server(&status).text, text, "{about}");
        }
    }
}
