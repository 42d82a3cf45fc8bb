//! The ServiceAccount controller: every namespace has an account `default`.
//!
//! Watches: Namespaces, ServiceAccounts.
//! Writes: ServiceAccounts.
//! Models: `pkg/controller/serviceaccount/serviceaccounts_controller.go` (v1.36).
//! Leaves out: nothing.

use crate::api::kind::Kind;
use crate::api::kinds::cluster::Namespace;
use crate::api::kinds::stored::ServiceAccount;
use crate::api::meta::{Name, ObjectKey};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

/// The account that Pods run as unless they name another.
const DEFAULT: &str = "default";

/// The keys that a change concerns: namespaces.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Namespace if change.new.is_some() => vec![WorkKey::Object(change.key.clone())],
        Kind::ServiceAccount if change.new.is_none() && &*change.key.name == DEFAULT => {
            vec![WorkKey::Object(ObjectKey::new(Kind::Namespace, "", change.key.namespace.clone()))]
        }
        _ => Vec::new(),
    }
}

/// Handles one namespace.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let namespace = key.object().and_then(|key| view.store.at::<Namespace>(key));
    let Some(namespace) = namespace.filter(|namespace| !namespace.meta.is_terminating()) else {
        return Outcome::nothing(Because::new("because.serviceaccount.gone"));
    };
    let name = &namespace.meta.name;
    if view.store.get::<ServiceAccount>(name, DEFAULT).is_some() {
        return Outcome::nothing(Because::new("because.serviceaccount.nothing").with("namespace", name));
    }
    let mut account = ServiceAccount::default();
    account.meta.name = Name::from(DEFAULT);
    account.meta.namespace = name.clone();
    let because = Because::new("because.serviceaccount.create").with("namespace", name);
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes.push(Operation::Create(account.into()).because(because));
    outcome
}
