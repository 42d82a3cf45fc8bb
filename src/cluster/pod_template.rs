//! A Pod as a template describes it.
//!
//! Models: `pkg/controller/controller_utils.go: GetPodFromTemplate` (v1.36).
//! Leaves out: nothing.

use std::sync::Arc;

use serde_json::Value;

use crate::api::kinds::apps::PodTemplateSpec;
use crate::api::kinds::pod::Pod;
use crate::api::meta::{Name, ObjectMeta, OwnerReference};

/// A Pod of the template, in its owner's namespace, with a name that the server makes from the owner's. All Pods of
/// one template share its spec.
pub fn pod_of(template: &PodTemplateSpec, owner: &ObjectMeta, reference: OwnerReference) -> Pod {
    const NODE_NAME: &str = "nodeName";
    let meta = ObjectMeta {
        generate_name: format!("{}-", owner.name).into(),
        namespace: owner.namespace.clone(),
        labels: template.meta.labels.clone(),
        annotations: template.meta.annotations.clone(),
        finalizers: template.meta.finalizers.clone(),
        owner_references: vec![reference].into(),
        ..ObjectMeta::default()
    };
    let mut pod = Pod { meta, spec: Arc::clone(&template.spec), ..Pod::default() };
    // A Pod keeps its node beside the shared spec.
    if let Some(node) = template.spec.rest.get(NODE_NAME).and_then(Value::as_str) {
        pod.node_name = Name::from(node);
        Arc::make_mut(&mut pod.spec).rest.set(NODE_NAME, None);
    }
    pod
}
