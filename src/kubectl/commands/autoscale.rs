//! `kubectl autoscale`: an autoscaler for a workload.
//!
//! Models: `k8s.io/kubectl/pkg/cmd/autoscale/autoscale.go` (v1.36).
//! Leaves out: nothing.

use serde_json::{Value, json};

use super::{Call, DryRun, Pending, apply, create};
use crate::api::kind::Kind;
use crate::api::object::Object;
use crate::api::quantity::Quantity;
use crate::cluster::server::request::{Request, Verb};
use crate::kubectl::failure::Failure;
use crate::kubectl::flags;
use crate::kubectl::parse::{Flag, Takes};
use crate::kubectl::print::format::Format;
use crate::kubectl::resources;

/// The flags of `autoscale`.
pub const FLAGS: &[&[Flag]] = &[
    flags::FILES,
    flags::OUTPUT,
    flags::DRY_RUN,
    flags::FIELD_MANAGER,
    flags::SAVE_CONFIG,
    &[
        Flag::long("min", Takes::Number),
        Flag::long("max", Takes::Number),
        Flag::long("cpu-percent", Takes::Number),
        Flag::long("cpu", Takes::Text),
        Flag::long("memory", Takes::Text),
        Flag::long("name", Takes::Text),
    ],
];

/// Creates an autoscaler for each workload.
pub fn run(call: &mut Call) -> Result<Option<Pending>, Failure> {
    if call.flags.given("cpu-percent") {
        call.warn("Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU).");
    }
    let (min, max) = (call.flags.number("min").unwrap_or(-1), call.flags.number("max").unwrap_or(-1));
    if max < 1 {
        return Err(Failure::error(format!("--max=MAXPODS is required and must be at least 1, max: {max}")));
    }
    if max < min {
        return Err(Failure::error(format!(
            "--max=MAXPODS must be larger or equal to --min=MINPODS, max: {max}, min: {min}"
        )));
    }
    let metrics = metrics(call)?;
    let format = Format::of(&call.flags, false)?;
    let dry_run = call.dry_run()?;
    let (objects, mut failures) = resources::targets(call)?;
    if objects.is_empty() && failures.is_empty() {
        return Err(Failure::error("no objects passed to autoscale"));
    }
    for object in objects {
        if let Err(failure) = autoscale(call, &object, (min, max), &metrics, &format, dry_run) {
            failures.push(failure);
        }
    }
    Failure::all(failures).map_or(Ok(None), Err)
}

fn autoscale(
    call: &mut Call,
    object: &Object,
    (min, max): (i64, i64),
    metrics: &[Value],
    format: &Format,
    dry_run: DryRun,
) -> Result<(), Failure> {
    let (kind, meta) = (object.kind(), object.meta());
    if !matches!(kind.name(), "Deployment" | "ReplicaSet" | "StatefulSet" | "ReplicationController") {
        let full = if kind.group().is_empty() { String::new() } else { format!(".{}", kind.group()) };
        return Err(Failure::error(format!("cannot autoscale a {}{full}", kind.name())));
    }
    let name = call.text("name").unwrap_or_else(|| meta.name.to_string());
    let mut spec = json!({
        "maxReplicas": max,
        "scaleTargetRef": {"apiVersion": kind.api_version(), "kind": kind.name(), "name": &*meta.name},
    });
    if min > 0 {
        spec["minReplicas"] = json!(min);
    }
    if !metrics.is_empty() {
        spec["metrics"] = json!(metrics);
    }
    let mut value = json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": name},
        "spec": spec, "status": {"currentMetrics": null, "desiredReplicas": 0},
    });
    if call.flags.on("save-config") {
        apply::annotate(&mut value);
    }
    let kind = Kind::HorizontalPodAutoscaler;
    if dry_run != DryRun::Client {
        if let Some(map) = value.as_object_mut() {
            map.remove("status");
        }
        let mut request = Request::new(Verb::Create, kind, &meta.namespace, &name, value);
        request.options.dry_run = dry_run == DryRun::Server;
        // What the newest version refuses is tried in the older one, which knows a percentage of processors only.
        let fits_older = call.text("cpu").is_some() || call.flags.given("cpu-percent");
        let response = call.host.ask(request).map_err(|status| match fits_older {
            true => Failure::server(&status),
            false => Failure::error(
                "failed to create autoscaling/v2 HPA and the configuration is incompatible with autoscaling/v1: empty input",
            ),
        })?;
        call.pass_on(&response.warnings);
        value = response.object;
    }
    create::print(call, format, kind.printed(), value, "autoscaled", dry_run)
}

/// What is to be measured: `--cpu=70%` of what is requested, or `--cpu=500m` on average.
fn metrics(call: &Call) -> Result<Vec<Value>, Failure> {
    let mut metrics = Vec::new();
    let mut add = |name: &str, target: Value| {
        metrics.push(json!({"resource": {"name": name, "target": target}, "type": "Resource"}));
    };
    if let Some(percent) = call.flags.number("cpu-percent").filter(|percent| *percent >= 0) {
        add("cpu", json!({"averageUtilization": percent, "type": "Utilization"}));
    }
    for name in ["cpu", "memory"] {
        let Some(text) = call.text(name) else { continue };
        let invalid = |why: &str| Failure::error(format!("invalid value for --{name}: {why}"));
        if let Some(percent) = text.strip_suffix('%') {
            let percent: i64 = percent.parse().map_err(|_| invalid("invalid percentage"))?;
            add(name, json!({"averageUtilization": percent, "type": "Utilization"}));
        } else {
            Quantity::parse(&text).map_err(|why| invalid(&why.to_string()))?;
            add(name, json!({"averageValue": text, "type": "AverageValue"}));
        }
    }
    Ok(metrics)
}
