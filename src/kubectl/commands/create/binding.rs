//! `kubectl create rolebinding`, `kubectl create clusterrolebinding` and `kubectl create serviceaccount`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_rolebinding.go`, `create_clusterrolebinding.go`,
//! `create_serviceaccount.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Value, json};

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};

const GROUP: &str = "rbac.authorization.k8s.io";

/// The flags of both.
pub const FLAGS: &[&[Flag]] = &[
    form::FLAGS,
    &[
        Flag::long("clusterrole", Takes::Text),
        Flag::long("role", Takes::Text),
        Flag::long("user", Takes::Texts),
        Flag::long("group", Takes::Texts),
        Flag::long("serviceaccount", Takes::Texts),
    ],
];

/// The flags of `create serviceaccount`.
pub const ACCOUNT_FLAGS: &[&[Flag]] = &[form::FLAGS];

/// Creates a RoleBinding.
pub fn role_binding(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let text = |flag: &str| call.flags.text(flag).unwrap_or_default().to_string();
    let (kind, role) = match (text("clusterrole"), text("role")) {
        (role, none) if !role.is_empty() && none.is_empty() => ("ClusterRole", role),
        (none, role) if !role.is_empty() && none.is_empty() => ("Role", role),
        _ => return Err(Failure::error("exactly one of clusterrole or role must be specified")),
    };
    let value = binding(call, "RoleBinding", &name, kind, &role)?;
    form::send(call, Kind::RoleBinding, value, &Told::As("rolebinding"))
}

/// Creates a ClusterRoleBinding.
pub fn cluster_role_binding(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let role = call.flags.text("clusterrole").unwrap_or_default().to_string();
    if role.is_empty() {
        return Err(Failure::error("clusterrole must be specified"));
    }
    let value = binding(call, "ClusterRoleBinding", &name, "ClusterRole", &role)?;
    form::send(call, Kind::ClusterRoleBinding, value, &Told::As("clusterrolebinding"))
}

/// Creates a ServiceAccount.
pub fn service_account(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let value = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}});
    form::send(call, Kind::ServiceAccount, value, &Told::As("serviceaccount"))
}

fn binding(call: &Call, kind: &str, name: &str, role_kind: &str, role: &str) -> Result<Value, Failure> {
    let mut subjects = Vec::new();
    for (flag, kind) in [("user", "User"), ("group", "Group")] {
        for name in call.flags.texts(flag) {
            subjects.push(json!({"apiGroup": GROUP, "kind": kind, "name": name}));
        }
    }
    for account in call.flags.texts("serviceaccount") {
        let parts: Vec<&str> = account.split(':').collect();
        let [namespace, name] = parts[..] else {
            return Err(Failure::error("serviceaccount must be <namespace>:<name>"));
        };
        if namespace.is_empty() || name.is_empty() {
            return Err(Failure::error("serviceaccount must be <namespace>:<name>"));
        }
        subjects.push(json!({"kind": "ServiceAccount", "name": name, "namespace": namespace}));
    }
    let mut value = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": {"name": name},
        "roleRef": {"apiGroup": GROUP, "kind": role_kind, "name": role},
    });
    if !subjects.is_empty() {
        value["subjects"] = Value::Array(subjects);
    }
    Ok(value)
}
