//! The publisher of the root certificate: every namespace has it in the ConfigMap `kube-root-ca.crt`, so that Pods can
//! trust the API server.
//!
//! Watches: Namespaces, ConfigMaps.
//! Writes: ConfigMaps.
//! Models: `pkg/controller/certificates/rootcacertpublisher/publisher.go` (v1.36).
//! Leaves out: a real certificate: nothing in this cluster is encrypted.

use std::sync::Arc;

use crate::api::kind::Kind;
use crate::api::kinds::cluster::{ConfigMap, Namespace};
use crate::api::meta::{Name, ObjectKey};
use crate::cluster::because::Because;
use crate::cluster::component::{Outcome, View};
use crate::cluster::queue::WorkKey;
use crate::cluster::server::write::Operation;
use crate::cluster::store::Change;

const NAME: &str = "kube-root-ca.crt";
const KEY: &str = "ca.crt";
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nTm90aGluZyBpbiB0aGlzIGNsdXN0ZXIgaXMgZW5jcnlwdGVkLg==\n-----END CERTIFICATE-----\n";
const DESCRIPTION: &str = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/// The keys that a change concerns: namespaces.
pub fn concerns(_view: &View<'_>, change: &Change) -> Vec<WorkKey> {
    match change.key.kind {
        Kind::Namespace if change.new.is_some() => vec![WorkKey::Object(change.key.clone())],
        Kind::ConfigMap if &*change.key.name == NAME && change.old.is_some() => {
            vec![WorkKey::Object(ObjectKey::new(Kind::Namespace, "", change.key.namespace.clone()))]
        }
        _ => Vec::new(),
    }
}

/// Handles one namespace.
pub fn reconcile(view: &View<'_>, key: &WorkKey) -> Outcome {
    let namespace = key.object().and_then(|key| view.store.at::<Namespace>(key));
    let Some(namespace) = namespace.filter(|namespace| !namespace.meta.is_terminating()) else {
        return Outcome::nothing(Because::new("because.rootca.gone"));
    };
    let name = &namespace.meta.name;
    let known = view.store.get::<ConfigMap>(name, NAME);
    let is_whole = |map: &&Arc<ConfigMap>| {
        map.data.len() == 1 && map.data.get(KEY).is_some_and(|text| text == CERTIFICATE)
    };
    if known.is_some_and(|map| is_whole(&map)) {
        return Outcome::nothing(Because::new("because.rootca.nothing").with("namespace", name));
    }
    let mut map = known.map(|map| (**map).clone()).unwrap_or_default();
    map.meta.name = Name::from(NAME);
    map.meta.namespace = name.clone();
    map.meta.annotations.insert("kubernetes.io/description".to_string(), DESCRIPTION.to_string());
    map.data = [(KEY.to_string(), CERTIFICATE.to_string())].into();
    let (key, operation) = match known {
        Some(_) => ("because.rootca.restore", Operation::Update(map.into())),
        None => ("because.rootca.create", Operation::Create(map.into())),
    };
    let because = Because::new(key).with("namespace", name);
    let mut outcome = Outcome::nothing(because.clone());
    outcome.writes.push(operation.because(because));
    outcome
}
