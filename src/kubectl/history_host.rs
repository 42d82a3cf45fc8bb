//! A session's history as the host of kubectl.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::host::Host;
use crate::cluster::command::{Command, Fault};
use crate::cluster::fact::Fact;
use crate::cluster::history::History;
use crate::cluster::machine::Cluster;
use crate::cluster::network::trace::{Trace, TraceRequest};
use crate::cluster::server::request::{Request, Response};
use crate::cluster::server::status::Status;

/// A session to read and to ask, and files by name.
#[derive(Debug)]
pub struct HistoryHost<'a> {
    history: &'a mut History,
    files: &'a BTreeMap<String, String>,
    /// The cluster at the present moment: kept here so that a store can be lent out.
    cluster: Arc<Cluster>,
    /// The texts that were opened in the editor, with their names.
    pub opened: Vec<(String, String)>,
    /// The files that were written, with their texts.
    pub written: BTreeMap<String, String>,
    /// Whether there is an editor.
    pub has_editor: bool,
    /// Every request that was sent, with its journey.
    pub traces: Vec<Trace>,
    /// Every fact that the requests led to, oldest first.
    pub facts: Vec<Arc<Fact>>,
}

impl<'a> HistoryHost<'a> {
    /// A host over that session.
    pub fn new(history: &'a mut History, files: &'a BTreeMap<String, String>) -> Self {
        let cluster = Arc::clone(history.cluster());
        Self {
            history,
            files,
            cluster,
            opened: Vec::new(),
            written: BTreeMap::new(),
            has_editor: false,
            traces: Vec::new(),
            facts: Vec::new(),
        }
    }
}

impl Host for HistoryHost<'_> {
    fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    fn send(&mut self, request: &TraceRequest) -> Trace {
        let trace = self.cluster.trace(request);
        self.traces.push(trace.clone());
        trace
    }

    fn ask(&mut self, request: Request) -> Result<Response, Status> {
        let performed = self.history.perform(Command::Ask(request));
        self.cluster = Arc::clone(self.history.cluster());
        self.facts.extend(performed.facts);
        performed.answer.unwrap_or_else(|| Err(Status::method_not_allowed()))
    }

    fn cause(&mut self, fault: Fault) -> bool {
        let performed = self.history.perform(Command::Fault(fault));
        self.cluster = Arc::clone(self.history.cluster());
        self.facts.extend(performed.facts);
        true
    }

    fn write(&mut self, name: &str, text: &str) -> bool {
        self.written.insert(name.to_string(), text.to_string());
        true
    }

    fn open(&mut self, name: &str, text: &str) -> bool {
        if self.has_editor {
            self.opened.push((name.to_string(), text.to_string()));
        }
        self.has_editor
    }

    fn file(&self, name: &str) -> Option<String> {
        self.written.get(name).or_else(|| self.files.get(name)).cloned()
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = self.files.keys().chain(self.written.keys()).cloned().collect();
        names.sort();
        names.dedup();
        names
    }
}
