//! `kubectl create namespace`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_namespace.go` (v1.36).
//! Leaves out: nothing.

use serde_json::json;

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::Flag;

/// The flags of `create namespace`.
pub const FLAGS: &[&[Flag]] = &[form::FLAGS];

/// Creates a namespace.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let value = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {}, "status": {},
    });
    form::send(call, Kind::Namespace, value, &Told::Plainly)
}
