//! `kubectl create job` and `kubectl create cronjob`.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/create/create_job.go`, `create_cronjob.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Value, json};

use super::form::{self, Told};
use crate::api::kind::Kind;
use crate::kubectl::commands::{Call, Pending};
use crate::kubectl::failure::Failure;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::resources::{self, Wanted};

/// The flags of `create job`.
pub const JOB: &[&[Flag]] =
    &[form::FLAGS, &[Flag::long("image", Takes::Text), Flag::long("from", Takes::Text)]];
/// The flags of `create cronjob`.
pub const CRON_JOB: &[&[Flag]] = &[
    form::FLAGS,
    &[
        Flag::long("image", Takes::Text),
        Flag::long("schedule", Takes::Text),
        Flag::long("restart", Takes::Text),
    ],
];

/// Creates a Job of an image or of a CronJob's template.
pub fn job(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let command = form::command(call);
    let value = match (call.text("image"), call.text("from")) {
        (Some(image), None) => {
            json!({
                "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
                "spec": {"template": template(&name, &image, &command, "Never")}, "status": {},
            })
        }
        (None, Some(_)) if !command.is_empty() => {
            return Err(Failure::error("cannot specify --from and command"));
        }
        (None, Some(from)) => from_cron_job(call, &name, &from)?,
        _ => return Err(Failure::error("either --image or --from must be specified")),
    };
    form::send(call, Kind::Job, value, &Told::As("job"))
}

fn template(name: &str, image: &str, command: &[String], restart: &str) -> Value {
    let mut container = json!({"image": image, "name": name, "resources": {}});
    if !command.is_empty() {
        container["command"] = json!(command);
    }
    json!({"metadata": {}, "spec": {"containers": [container], "restartPolicy": restart}})
}

fn from_cron_job(call: &Call, name: &str, from: &str) -> Result<Value, Failure> {
    let wanted = resources::wanted(&[from.to_string()], &*call.host)?;
    let [Wanted::Named(kind, source)] = wanted.as_slice() else {
        return Err(resources::no_name_given());
    };
    let object = resources::read(&*call.host, *kind, call.namespace(), source)
        .map_err(|status| Failure::server(&status))?;
    if *kind != Kind::CronJob {
        return Err(Failure::error("from must be an existing cronjob"));
    }
    let value = object.to_value();
    let template = &value["spec"]["jobTemplate"];
    let mut annotations = template["metadata"]["annotations"].clone();
    if annotations.is_null() {
        annotations = json!({});
    }
    annotations["cronjob.kubernetes.io/instantiate"] = json!("manual");
    let mut metadata = json!({
        "annotations": annotations, "name": name,
        "ownerReferences": [{
            "apiVersion": "batch/v1", "controller": true, "kind": "CronJob", "name": source,
            "uid": value["metadata"]["uid"],
        }],
    });
    if let Some(labels) = template["metadata"].get("labels") {
        metadata["labels"] = labels.clone();
    }
    Ok(json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"], "status": {},
    }))
}

/// Creates a CronJob of an image.
pub fn cron_job(call: &mut Call) -> Result<Option<Pending>, Failure> {
    let name = form::name(call)?;
    let command = form::command(call);
    let image = call.text("image").unwrap_or_default();
    let restart = call.text("restart").unwrap_or("OnFailure".to_string());
    let schedule = call.text("schedule").unwrap_or_default();
    let value = json!({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name},
        "spec": {
            "jobTemplate": {
                "metadata": {"name": name},
                "spec": {"template": template(&name, &image, &command, &restart)},
            },
            "schedule": schedule,
        },
        "status": {},
    });
    form::send(call, Kind::CronJob, value, &Told::As("cronjob"))
}
