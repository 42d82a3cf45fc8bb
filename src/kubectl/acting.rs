//! A host as one user sees it: every request carries who asks, and who is to be remembered as the fields' manager.
//!
//! Models: `k8s.io/cli-runtime/pkg/genericclioptions/config_flags.go`, the field managers of kubectl's verbs (v1.36).

use super::host::Host;
use super::parse::Flags;
use crate::api::kind::Kind;
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

    fn credentials(&self) -> Credentials {
        self.credentials.clone()
    }

    fn ask(&mut self, mut request: Request) -> Result<Response, Status> {
        request.credentials = Box::new(self.credentials.clone());
        if request.options.field_manager.is_empty() && request.verb != Verb::Delete {
            request.options.field_manager = self.field_manager.clone();
        }
        self.host.ask(request)
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
