//! A host as one user sees it: every request carries who asks, and who is to be remembered as the fields' manager.
//!
//! Models: `k8s.io/cli-runtime/pkg/genericclioptions/config_flags.go`, the field managers of kubectl's verbs (v1.36).

use std::cell::RefCell;

use super::commands::config::SERVER;
use super::host::Host;
use super::parse::Flags;
use super::resources::path_of;
use crate::api::kind::Kind;
use crate::api::time::Timestamp;
use crate::cluster::command::Fault;
use crate::cluster::machine::Cluster;
use crate::cluster::network::trace::{Trace, TraceRequest};
use crate::cluster::server::authn::Credentials;
use crate::cluster::server::request::{Request, Response, Verb};
use crate::cluster::server::status::Status;

/// A host behind somebody's credentials.
pub struct Acting<'a> {
    /// The host.
    pub host: &'a mut dyn Host,
    /// Who asks.
    pub credentials: Credentials,
    /// The manager of what is written.
    pub field_manager: String,
    /// The requests that were made, a line each, if somebody wants to see them.
    pub noted: Option<RefCell<String>>,
}

impl Host for Acting<'_> {
    fn cluster(&self) -> &Cluster {
        self.host.cluster()
    }

    fn cause(&mut self, fault: Fault) -> bool {
        self.host.cause(fault)
    }

    fn send(&mut self, request: &TraceRequest) -> Trace {
        self.host.send(request)
    }

    fn write(&mut self, name: &str, text: &str) -> bool {
        self.host.write(name, text)
    }

    fn open(&mut self, name: &str, text: &str) -> bool {
        self.host.open(name, text)
    }

    fn note(&self, verb: &str, path: &dyn Fn() -> String, code: u16) {
        let Some(noted) = &self.noted else { return };
        let word = match code {
            200 => "OK",
            201 => "Created",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            409 => "Conflict",
            422 => "Unprocessable Entity",
            _ => "",
        };
        let line = format!(
            "round_trippers.go:632] \"Response\" verb=\"{verb}\" url=\"{SERVER}{}\" status=\"{code} {word}\" milliseconds=1",
            path()
        );
        noted.borrow_mut().push_str(&log_line(self.now(), &line));
    }

    fn credentials(&self) -> Credentials {
        self.credentials.clone()
    }

    fn ask(&mut self, mut request: Request) -> Result<Response, Status> {
        request.credentials = Box::new(self.credentials.clone());
        if request.options.field_manager.is_empty() && request.verb != Verb::Delete {
            request.options.field_manager = self.field_manager.clone();
        }
        let verb = match request.verb {
            Verb::Create => "POST",
            Verb::Update => "PUT",
            Verb::Delete => "DELETE",
            _ => "PATCH",
        };
        let name =
            if request.verb == Verb::Create && request.subresource.is_empty() { "" } else { &request.name };
        let mut path = path_of(request.kind, &request.namespace, name);
        if !request.subresource.is_empty() {
            path.push('/');
            path.push_str(&request.subresource);
        }
        let answer = self.host.ask(request);
        let code = match &answer {
            Ok(_) if verb == "POST" => 201,
            Ok(_) => 200,
            Err(status) => status.code,
        };
        self.note(verb, &|| path.clone(), code);
        answer
    }

    fn file(&self, name: &str) -> Option<String> {
        self.host.file(name)
    }

    fn files(&self) -> Vec<String> {
        self.host.files()
    }

    fn kinds(&self) -> &'static [Kind] {
        self.host.kinds()
    }
}

/// A line of kubectl's own log.
pub fn log_line(now: Timestamp, text: &str) -> String {
    let now = now.to_string();
    let (month, day, time) = (
        now.get(5..7).unwrap_or_default(),
        now.get(8..10).unwrap_or_default(),
        now.get(11..19).unwrap_or_default(),
    );
    format!("I{month}{day} {time}.000000       1 {text}\n")
}

/// The manager that a verb writes as: `--field-manager`, or its own name.
///
/// `path` is `kubectl rollout undo`.
pub fn field_manager(path: &str, flags: &Flags) -> String {
    if let Some(given) = flags.text("field-manager").filter(|given| !given.is_empty()) {
        return given.to_string();
    }
    let verb = path.split(' ').nth(1).unwrap_or_default();
    match verb {
        "apply" if flags.on("server-side") => "kubectl".to_string(),
        "apply" => "kubectl-client-side-apply".to_string(),
        "create" | "replace" | "patch" | "label" | "annotate" | "edit" | "expose" | "run" | "set"
        | "autoscale" | "rollout" | "taint" => format!("kubectl-{verb}"),
        _ => "kubectl".to_string(),
    }
}
