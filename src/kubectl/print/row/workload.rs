//! Deployments and ReplicaSets.

use super::{Column, always, wide};
use crate::api::kinds::apps::{Deployment, LabelSelector, PodTemplateSpec, ReplicaSet};

pub(super) const DEPLOYMENT: &[Column] = &[
    always("NAME"),
    always("READY"),
    always("UP-TO-DATE"),
    always("AVAILABLE"),
    always("AGE"),
    wide("CONTAINERS"),
    wide("IMAGES"),
    wide("SELECTOR"),
];

pub(super) const REPLICA_SET: &[Column] = &[
    always("NAME"),
    always("DESIRED"),
    always("CURRENT"),
    always("READY"),
    always("AGE"),
    wide("CONTAINERS"),
    wide("IMAGES"),
    wide("SELECTOR"),
];

pub(super) fn deployment(deployment: &Deployment, age: String) -> Vec<String> {
    let (spec, status) = (&deployment.spec, &deployment.status);
    let (containers, images) = containers_and_images(&spec.template);
    vec![
        deployment.meta.name.to_string(),
        format!("{}/{}", status.ready_replicas, spec.replicas.unwrap_or(1)),
        status.updated_replicas.to_string(),
        status.available_replicas.to_string(),
        age,
        containers,
        images,
        selector_text(&spec.selector),
    ]
}

pub(super) fn replica_set(set: &ReplicaSet, age: String) -> Vec<String> {
    let (containers, images) = containers_and_images(&set.spec.template);
    vec![
        set.meta.name.to_string(),
        set.spec.replicas.unwrap_or(1).to_string(),
        set.status.replicas.to_string(),
        set.status.ready_replicas.to_string(),
        age,
        containers,
        images,
        selector_text(&set.spec.selector),
    ]
}

fn containers_and_images(template: &PodTemplateSpec) -> (String, String) {
    let names: Vec<&str> = template.spec.containers.iter().map(|container| container.name.as_str()).collect();
    let images: Vec<&str> =
        template.spec.containers.iter().map(|container| container.image.as_str()).collect();
    (names.join(","), images.join(","))
}

/// A selector as `app=web,tier in (a,b)`, or `<none>`.
pub(in crate::kubectl::print) fn selector_text(selector: &LabelSelector) -> String {
    let value = crate::api::codec::Codec::encode(selector);
    super::or_none(&crate::api::labels::Selector::from_label_selector(&value).to_string())
}
