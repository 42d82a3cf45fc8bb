//! How kubectl says that something went wrong.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/util/helpers.go` (v1.36).
//! Leaves out: expired credentials.

use crate::cluster::server::status::Status;

/// A command that failed: what stands on standard error, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The text, without its last newline; empty when all was said before.
    pub text: String,
    /// The exit code.
    pub exit: i32,
    /// The text when it is told among others; `None` for the same.
    pub among_others: Option<String>,
}

impl Failure {
    /// A text as it is.
    pub fn exactly(text: impl Into<String>) -> Self {
        Self { text: text.into(), exit: 1, among_others: None }
    }

    /// `error: …`; among others, kubectl leaves out the word.
    pub fn error(message: impl std::fmt::Display) -> Self {
        let message = message.to_string();
        Self { text: format!("error: {message}"), exit: 1, among_others: Some(message) }
    }

    /// `error: …`, with the hint that a wrong use of `path` (as `kubectl get`) gets.
    pub fn usage(path: &str, message: impl std::fmt::Display) -> Self {
        Self::error(format!("{message}\nSee '{path} -h' for help and examples"))
    }

    /// `error: …`, with the hint that a wrong flag of `path` gets.
    pub fn flag(path: &str, message: impl std::fmt::Display) -> Self {
        Self::error(format!("{message}\nSee '{path} --help' for usage."))
    }

    /// Nobody answers at the server's address.
    pub fn unreachable() -> Self {
        let server = super::commands::config::SERVER.trim_start_matches("https://");
        Self::exactly(format!(
            "The connection to the server {server} was refused - did you specify the right host or port?"
        ))
    }

    /// The server answers, but nothing is behind it.
    pub fn store_lost() -> Self {
        Self::exactly("Error from server: etcdserver: request timed out")
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
        if status.code == 0 {
            return Self::unreachable();
        }
        let text = match status.reason {
            "" => format!("Error from server: {doing}{}", status.message),
            reason => format!("Error from server ({reason}): {doing}{}", status.message),
        };
        if status.code == 401 {
            let message = format!("You must be logged in to the server ({})", status.message);
            return Self::error(message);
        }
        match status.reason {
            "Invalid" => Self { text: invalid(status), exit: 1, among_others: Some(text) },
            _ => Self::exactly(text),
        }
    }

    /// Several failures that kubectl tells as one: `[a, b]`.
    pub fn bracketed(failures: Vec<Self>) -> Vec<Self> {
        if failures.len() < 2 {
            return failures;
        }
        let texts: Vec<String> = failures.into_iter().map(Self::listed).collect();
        vec![Self::exactly(format!("[{}]", texts.join(", ")))]
    }

    fn listed(self) -> String {
        self.among_others.unwrap_or(self.text)
    }

    /// Several failures, one after the other; `None` of none.
    pub fn all(failures: Vec<Self>) -> Option<Self> {
        let mut failures: Vec<Self> = failures;
        if failures.len() < 2 {
            return failures.pop();
        }
        let texts: Vec<String> = failures.into_iter().map(Self::listed).filter(|t| !t.is_empty()).collect();
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

    #[test]
    fn several_failures_are_told_without_the_first_word() {
        let refused = Status::invalid(Kind::Pod, "web", vec![cause("a", "b")]);
        let both =
            || vec![Failure::error("no such kind"), Failure::server_when("error when creating: ", &refused)];
        let told =
            "no such kind\nError from server (Invalid): error when creating: Pod \"web\" is invalid: a: b";
        assert_eq!(Failure::all(both()).unwrap().text, told);
        let one = Failure::all(both().into_iter().take(1).collect()).unwrap();
        assert_eq!(one.text, "error: no such kind");
    }
}
