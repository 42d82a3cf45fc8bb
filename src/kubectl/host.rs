//! What kubectl runs against: a cluster to read, a server to ask, files to apply.

use crate::api::kind::Kind;
use crate::api::time::Timestamp;
use crate::cluster::command::Fault;
use crate::cluster::machine::Cluster;
use crate::cluster::network::trace::{Trace, TraceRequest};
use crate::cluster::server::authn::Credentials;
use crate::cluster::server::request::{Request, Response};
use crate::cluster::server::status::Status;
use crate::cluster::settings::Settings;
use crate::cluster::store::Store;

/// What a command can reach. The page, the command line and the tests each have one.
pub trait Host {
    /// The whole cluster, as it is now.
    fn cluster(&self) -> &Cluster;

    /// The newest state, as the API server would answer a read.
    fn store(&self) -> &Store {
        &self.cluster().store
    }

    /// The time.
    fn now(&self) -> Timestamp {
        self.cluster().now()
    }

    /// How the cluster was set up: who its users are.
    fn settings(&self) -> &Settings {
        &self.cluster().settings
    }

    /// Who asks.
    fn credentials(&self) -> Credentials {
        Credentials::default()
    }

    /// Takes note of a read, for who wants to see the requests (`-v=6`).
    fn note(&self, _verb: &str, _path: &dyn Fn() -> String, _code: u16) {}

    /// Asks the API server to write; recorded as a command of the session.
    ///
    /// # Errors
    /// The server's refusal.
    fn ask(&mut self, request: Request) -> Result<Response, Status>;

    /// Causes a fault, or mends one; recorded as a command of the session. `false` where that is not possible.
    fn cause(&mut self, _fault: Fault) -> bool {
        false
    }

    /// Sends a request for the sake of its answer.
    fn send(&mut self, request: &TraceRequest) -> Trace {
        self.cluster().trace(request)
    }

    /// The text of a file by name: a tab of the editor, or a file beside a script.
    fn file(&self, name: &str) -> Option<String>;

    /// The names of the files there are, in order.
    fn files(&self) -> Vec<String> {
        Vec::new()
    }

    /// Writes a file: it can be read from now on. `false` where that is not possible.
    fn write(&mut self, _name: &str, _text: &str) -> bool {
        false
    }

    /// Opens a text in the editor under that name. `false` where there is no editor.
    fn open(&mut self, _name: &str, _text: &str) -> bool {
        false
    }

    /// The kinds that the server offers, all of them by default.
    fn kinds(&self) -> &'static [Kind] {
        Kind::ALL
    }
}
