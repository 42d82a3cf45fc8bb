//! The sub-resource `scale`: how many Pods a Deployment, a ReplicaSet or a StatefulSet wants, and nothing else.
//!
//! Models: `registry/apps/deployment/storage.ScaleREST` and its siblings.

use std::sync::Arc;

use serde_json::{Value, json};

use super::pipeline::Passage;
use super::request::{Request, Response, Verb};
use super::status::{Cause, Status};
use super::transaction::{Transaction, Written};
use super::{managed, patch};
use crate::api::codec::Codec;
use crate::api::kinds::apps::LabelSelector;
use crate::api::labels::Selector;
use crate::api::object::Object;
use crate::cluster::fact::Stage;

/// Reads or changes the scale of a stored object.
///
/// # Errors
/// 404 for kinds without a scale, 422 for a negative number, 409 for a stale resourceVersion.
pub fn run(
    transaction: &mut Transaction<'_>,
    request: &Request,
    stored: &Object,
    passage: &mut Passage,
) -> Result<(Response, Written), Status> {
    let result = scale_of(stored).ok_or_else(|| Status::not_found(request.kind, &request.name));
    let mut scale = passage.check(Stage::Decode, result)?;
    let before = scale["spec"].clone();
    match request.verb {
        Verb::Update => scale = request.body.clone(),
        Verb::MergePatch | Verb::StrategicPatch => patch::merge(&mut scale, &request.body),
        Verb::Create | Verb::Delete | Verb::DeleteCollection | Verb::JsonPatch | Verb::Apply => {
            return passage.check(Stage::Decode, Err(Status::method_not_allowed()));
        }
    }
    passage.pass(Stage::Decode);
    passage.pass(Stage::Default);
    let replicas = scale["spec"]["replicas"].as_i64().unwrap_or(0);
    let result = i32::try_from(replicas)
        .ok()
        .filter(|replicas| *replicas >= 0)
        .ok_or_else(|| negative(request, replicas));
    let replicas = passage.check(Stage::Validate, result)?;
    passage.pass(Stage::Validate);
    let mut wanted = stored.clone();
    match &mut wanted {
        Object::Deployment(deployment) => Arc::make_mut(deployment).spec.replicas = Some(replicas),
        Object::ReplicaSet(replicaset) => Arc::make_mut(replicaset).spec.replicas = Some(replicas),
        Object::StatefulSet(set) => Arc::make_mut(set).spec.replicas = Some(replicas),
        Object::ReplicationController(found) => Arc::make_mut(found).spec.replicas = Some(replicas),
        _ => {}
    }
    if !request.options.field_manager.is_empty() && scale_of(&wanted).is_some_and(|new| new["spec"] != before)
    {
        let managed = managed::scaled(managed::managers_of(stored), request, replicas, transaction.now);
        wanted.meta_mut().rest.set("managedFields", managed);
        managed::settle(Some(stored), &mut wanted);
    }
    if let Some(revision) = scale["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()) {
        wanted.meta_mut().resource_version = crate::api::meta::Revision(revision);
    }
    let result = transaction.update(wanted);
    let written = passage.check(Stage::Admit, result)?;
    passage.pass(Stage::Admit);
    passage.pass(Stage::Store);
    let object = written.new.as_ref().and_then(scale_of).unwrap_or(Value::Null);
    Ok((Response { object, changed: !written.is_nothing(), warnings: Vec::new() }, written))
}

/// The object's `autoscaling/v1 Scale`; `None` for kinds that have none.
pub fn scale_of(object: &Object) -> Option<Value> {
    let as_selector;
    let (replicas, current, selector) = match object {
        Object::Deployment(d) => (d.spec.replicas, d.status.replicas, &d.spec.selector),
        Object::ReplicaSet(r) => (r.spec.replicas, r.status.replicas, &r.spec.selector),
        Object::StatefulSet(s) => (s.spec.replicas, s.status.replicas, &s.spec.selector),
        Object::ReplicationController(r) => {
            as_selector = LabelSelector { match_labels: r.spec.selector.clone(), ..LabelSelector::default() };
            (r.spec.replicas, r.status.replicas, &as_selector)
        }
        _ => return None,
    };
    let meta = object.meta();
    Some(json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {
            "name": &*meta.name, "namespace": &*meta.namespace, "uid": &*meta.uid,
            "resourceVersion": meta.resource_version.encode(),
            "creationTimestamp": meta.creation_timestamp.map(|time| time.to_string()),
        },
        "spec": {"replicas": replicas.unwrap_or(1)},
        "status": {"replicas": current, "selector": Selector::from_label_selector(&selector.encode()).to_string()},
    }))
}

fn negative(request: &Request, replicas: i64) -> Status {
    let cause = Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {replicas}: must be greater than or equal to 0"),
        field: "spec.replicas".to_string(),
    };
    let mut status = Status::invalid(request.kind, &request.name, vec![cause]);
    status.message = format!(
        "Scale.autoscaling \"{}\" is invalid: spec.replicas: Invalid value: {replicas}: must be greater than or equal to 0",
        request.name
    );
    status.details.kind = "Scale".to_string();
    status.details.group = "autoscaling".to_string();
    status
}
