//! `kubectl apply --force`: an object that cannot be changed as the file says is deleted and created anew.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/apply/patcher.go: deleteAndCreate` (v1.36).
//! Leaves out: bringing the old object back when the new one is refused.

use crate::cluster::server::request::Request;
use crate::kubectl::execution::{Output, Poll};
use crate::kubectl::failure::Failure;
use crate::kubectl::host::Host;

/// Objects that are created as soon as those they replace are gone.
#[derive(Clone, Debug, PartialEq)]
pub struct Replacing {
    /// The creations that are left, in order, and what is printed after each.
    pub left: Vec<(Request, String)>,
}

impl Replacing {
    /// Creates what can be created by now.
    pub fn poll(&mut self, host: &mut dyn Host) -> Poll {
        let mut printed = Output::default();
        while let Some((request, line)) = self.left.first() {
            if host.store().object(&request.key()).is_some() {
                return Poll { printed, finished: None };
            }
            match host.ask(request.clone()) {
                Ok(_) => printed.stdout.push_str(line),
                Err(status) => {
                    printed.stderr.push_str(&format!("{}\n", Failure::server(&status).text));
                    return Poll { printed, finished: Some(1) };
                }
            }
            self.left.remove(0);
        }
        Poll { printed, finished: Some(0) }
    }
}
