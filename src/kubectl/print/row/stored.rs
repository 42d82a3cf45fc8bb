//! The kinds that are only stored: their columns, and their cells read off the JSON.

use serde_json::Value;

use super::{Column, always, extension, or_none, wide};
use crate::api::kind::Kind;
use crate::api::labels::Selector;
use crate::api::object::Object;
use crate::api::time::Timestamp;
use crate::kubectl::duration;
use crate::kubectl::print::value::{access_modes, count, number, or, selector, text};

/// The columns of a kind.
pub(super) fn columns(kind: Kind) -> &'static [Column] {
    const CREATED: &[Column] = &[always("NAME"), always("CREATED AT")];
    const BINDING: &[Column] = &[
        always("NAME"),
        always("ROLE"),
        always("AGE"),
        wide("USERS"),
        wide("GROUPS"),
        wide("SERVICEACCOUNTS"),
    ];
    if let Some((_, columns)) = extension::COLUMNS.iter().find(|(known, _)| *known == kind) {
        return columns;
    }
    match kind {
        Kind::Secret => const { &[always("NAME"), always("TYPE"), always("DATA"), always("AGE")] },
        Kind::ResourceQuota => const { &[always("NAME"), always("REQUEST"), always("LIMIT"), always("AGE")] },
        Kind::LimitRange | Kind::Role | Kind::ClusterRole => CREATED,
        Kind::RoleBinding | Kind::ClusterRoleBinding => BINDING,
        Kind::PersistentVolumeClaim => {
            const {
                &[
                    always("NAME"),
                    always("STATUS"),
                    always("VOLUME"),
                    always("CAPACITY"),
                    always("ACCESS MODES"),
                    always("STORAGECLASS"),
                    always("VOLUMEATTRIBUTESCLASS"),
                    always("AGE"),
                    wide("VOLUMEMODE"),
                ]
            }
        }
        Kind::PersistentVolume => {
            const {
                &[
                    always("NAME"),
                    always("CAPACITY"),
                    always("ACCESS MODES"),
                    always("RECLAIM POLICY"),
                    always("STATUS"),
                    always("CLAIM"),
                    always("STORAGECLASS"),
                    always("VOLUMEATTRIBUTESCLASS"),
                    always("REASON"),
                    always("AGE"),
                    wide("VOLUMEMODE"),
                ]
            }
        }
        Kind::ReplicationController => super::workload::REPLICA_SET,
        Kind::PodTemplate => {
            const { &[always("NAME"), always("CONTAINERS"), always("IMAGES"), always("POD LABELS")] }
        }
        Kind::StatefulSet => {
            const { &[always("NAME"), always("READY"), always("AGE"), wide("CONTAINERS"), wide("IMAGES")] }
        }
        Kind::DaemonSet => {
            const {
                &[
                    always("NAME"),
                    always("DESIRED"),
                    always("CURRENT"),
                    always("READY"),
                    always("UP-TO-DATE"),
                    always("AVAILABLE"),
                    always("NODE SELECTOR"),
                    always("AGE"),
                    wide("CONTAINERS"),
                    wide("IMAGES"),
                    wide("SELECTOR"),
                ]
            }
        }
        Kind::Job => {
            const {
                &[
                    always("NAME"),
                    always("STATUS"),
                    always("COMPLETIONS"),
                    always("DURATION"),
                    always("AGE"),
                    wide("CONTAINERS"),
                    wide("IMAGES"),
                    wide("SELECTOR"),
                ]
            }
        }
        Kind::CronJob => {
            const {
                &[
                    always("NAME"),
                    always("SCHEDULE"),
                    always("TIMEZONE"),
                    always("SUSPEND"),
                    always("ACTIVE"),
                    always("LAST SCHEDULE"),
                    always("AGE"),
                    wide("CONTAINERS"),
                    wide("IMAGES"),
                    wide("SELECTOR"),
                ]
            }
        }
        Kind::HorizontalPodAutoscaler => {
            const {
                &[
                    always("NAME"),
                    always("REFERENCE"),
                    always("TARGETS"),
                    always("MINPODS"),
                    always("MAXPODS"),
                    always("REPLICAS"),
                    always("AGE"),
                ]
            }
        }
        Kind::PodDisruptionBudget => {
            const {
                &[
                    always("NAME"),
                    always("MIN AVAILABLE"),
                    always("MAX UNAVAILABLE"),
                    always("ALLOWED DISRUPTIONS"),
                    always("AGE"),
                ]
            }
        }
        Kind::NetworkPolicy => const { &[always("NAME"), always("POD-SELECTOR"), always("AGE")] },
        Kind::StorageClass => {
            const {
                &[
                    always("NAME"),
                    always("PROVISIONER"),
                    always("RECLAIMPOLICY"),
                    always("VOLUMEBINDINGMODE"),
                    always("ALLOWVOLUMEEXPANSION"),
                    always("AGE"),
                ]
            }
        }
        Kind::RuntimeClass => const { &[always("NAME"), always("HANDLER"), always("AGE")] },
        Kind::PriorityClass => {
            const {
                &[
                    always("NAME"),
                    always("VALUE"),
                    always("GLOBAL-DEFAULT"),
                    always("AGE"),
                    always("PREEMPTIONPOLICY"),
                ]
            }
        }
        Kind::ControllerRevision => {
            const { &[always("NAME"), always("CONTROLLER"), always("REVISION"), always("AGE")] }
        }
        _ => const { &[always("NAME"), always("AGE")] },
    }
}

/// The names and the images of a template's containers.
fn containers(template: &Value) -> [String; 2] {
    let of = |field: &str| {
        let containers = template["spec"]["containers"].as_array().into_iter().flatten();
        containers.map(|container| text(&container[field])).collect::<Vec<_>>().join(",")
    };
    [of("name"), of("image")]
}

/// An object's cells.
pub(super) fn cells(object: &Object, age: String, now: Timestamp) -> Vec<String> {
    let value = object.to_value();
    let (spec, status) = (&value["spec"], &value["status"]);
    let name = object.meta().name.to_string();
    let mut cells = vec![name];
    match object.kind() {
        Kind::Secret => cells.extend([text(&value["type"]), count(&value["data"]).to_string(), age]),
        Kind::ResourceQuota => {
            let (requests, limits) = quota(spec, status);
            cells.extend([requests, limits, age]);
        }
        Kind::LimitRange | Kind::Role | Kind::ClusterRole => {
            let created = object.meta().creation_timestamp.map(|time| time.to_string());
            cells.push(created.unwrap_or_default());
        }
        Kind::RoleBinding | Kind::ClusterRoleBinding => {
            let role = &value["roleRef"];
            cells.extend([format!("{}/{}", text(&role["kind"]), text(&role["name"])), age]);
            for kind in ["User", "Group", "ServiceAccount"] {
                let subjects = value["subjects"].as_array().into_iter().flatten();
                let named = subjects.filter(|subject| subject["kind"] == kind).map(|subject| match kind {
                    "ServiceAccount" => format!("{}/{}", text(&subject["namespace"]), text(&subject["name"])),
                    _ => text(&subject["name"]),
                });
                cells.push(named.collect::<Vec<_>>().join(", "));
            }
        }
        Kind::PersistentVolumeClaim => {
            let bound = !spec["volumeName"].is_null();
            let shown = |text: String| if bound { text } else { String::new() };
            cells.extend([
                text(&status["phase"]),
                text(&spec["volumeName"]),
                shown(text(&status["capacity"]["storage"])),
                shown(access_modes(&status["accessModes"])),
                text(&spec["storageClassName"]),
                or(&spec["volumeAttributesClassName"], "<unset>"),
                age,
                or(&spec["volumeMode"], "<unset>"),
            ]);
        }
        Kind::PersistentVolume => {
            let claim = &spec["claimRef"];
            let claimed = format!("{}/{}", text(&claim["namespace"]), text(&claim["name"]));
            cells.extend([
                text(&spec["capacity"]["storage"]),
                access_modes(&spec["accessModes"]),
                text(&spec["persistentVolumeReclaimPolicy"]),
                text(&status["phase"]),
                if claim.is_null() { String::new() } else { claimed },
                text(&spec["storageClassName"]),
                or(&spec["volumeAttributesClassName"], "<unset>"),
                text(&status["reason"]),
                age,
                or(&spec["volumeMode"], "<unset>"),
            ]);
        }
        Kind::ReplicationController => {
            cells.push(number(&spec["replicas"]));
            cells.extend(["replicas", "readyReplicas"].map(|field| number(&status[field])));
            cells.push(age);
            cells.extend(containers(&spec["template"]));
            cells.push(Selector::from_labels(&crate::api::labels::labels_of(&spec["selector"])).to_string());
        }
        Kind::PodTemplate => {
            cells.extend(containers(&value["template"]));
            let labels = crate::api::labels::labels_of(&value["template"]["metadata"]["labels"]);
            cells.push(or_none(&Selector::from_labels(&labels).to_string()));
        }
        Kind::StatefulSet => {
            cells
                .extend([format!("{}/{}", number(&status["readyReplicas"]), number(&spec["replicas"])), age]);
            cells.extend(containers(&spec["template"]));
        }
        Kind::DaemonSet => {
            for field in [
                "desiredNumberScheduled",
                "currentNumberScheduled",
                "numberReady",
                "updatedNumberScheduled",
                "numberAvailable",
            ] {
                cells.push(number(&status[field]));
            }
            let nodes = crate::api::labels::labels_of(&spec["template"]["spec"]["nodeSelector"]);
            cells.extend([or_none(&Selector::from_labels(&nodes).to_string()), age]);
            cells.extend(containers(&spec["template"]));
            cells.push(selector(&spec["selector"]));
        }
        Kind::Job => {
            let (state, duration) = job(status, object.meta().is_terminating(), now);
            let wanted = match (&spec["completions"], spec["parallelism"].as_i64().unwrap_or(0)) {
                (Value::Null, parallel) if parallel > 1 => format!("1 of {parallel}"),
                (Value::Null, _) => "1".to_string(),
                (completions, _) => text(completions),
            };
            cells.extend([state, format!("{}/{wanted}", number(&status["succeeded"])), duration, age]);
            cells.extend(containers(&spec["template"]));
            cells.push(selector(&spec["selector"]));
        }
        Kind::CronJob => {
            let last = status["lastScheduleTime"].as_str().and_then(Timestamp::parse);
            cells.extend([
                text(&spec["schedule"]),
                or(&spec["timeZone"], "<none>"),
                match spec["suspend"] {
                    Value::Bool(true) => "True".to_string(),
                    _ => "False".to_string(),
                },
                status["active"].as_array().map_or(0, Vec::len).to_string(),
                last.map_or("<none>".to_string(), |last| duration::age(Some(last), now)),
                age,
            ]);
            let template = &spec["jobTemplate"]["spec"];
            cells.extend(containers(&template["template"]));
            cells.push(selector(&template["selector"]));
        }
        Kind::HorizontalPodAutoscaler => {
            let target = &spec["scaleTargetRef"];
            cells.extend([
                format!("{}/{}", text(&target["kind"]), text(&target["name"])),
                metrics(&spec["metrics"], &status["currentMetrics"]),
                or(&spec["minReplicas"], "<unset>"),
                number(&spec["maxReplicas"]),
                number(&status["currentReplicas"]),
                age,
            ]);
        }
        Kind::PodDisruptionBudget => cells.extend([
            or(&spec["minAvailable"], "N/A"),
            or(&spec["maxUnavailable"], "N/A"),
            number(&status["disruptionsAllowed"]),
            age,
        ]),
        Kind::NetworkPolicy => cells.extend([selector(&spec["podSelector"]), age]),
        Kind::StorageClass => cells.extend([
            text(&value["provisioner"]),
            or(&value["reclaimPolicy"], "Delete"),
            text(&value["volumeBindingMode"]),
            or(&value["allowVolumeExpansion"], "false"),
            age,
        ]),
        Kind::RuntimeClass => cells.extend([text(&value["handler"]), age]),
        Kind::PriorityClass => cells.extend([
            number(&value["value"]),
            or(&value["globalDefault"], "false"),
            age,
            text(&value["preemptionPolicy"]),
        ]),
        Kind::ControllerRevision => {
            let owner = &value["metadata"]["ownerReferences"][0];
            let group = owner["apiVersion"].as_str().and_then(|version| version.split_once('/'));
            let kind = text(&owner["kind"]).to_ascii_lowercase();
            let kind = group.map_or(kind.clone(), |(group, _)| format!("{kind}.{group}"));
            let controller = format!("{kind}/{}", text(&owner["name"]));
            cells.extend([
                if owner.is_null() { "<none>".to_string() } else { controller },
                number(&value["revision"]),
                age,
            ]);
        }
        kind => cells.extend(extension::cells(kind, &value, &age)),
    }
    cells
}

/// What is used of each amount that a quota limits: requests and counts, then limits.
fn quota(spec: &Value, status: &Value) -> (String, String) {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (name, hard) in spec["hard"].as_object().into_iter().flatten() {
        let used = &status["used"][name.as_str()];
        let line = format!("{name}: {}/{}", or(used, "0"), text(hard));
        if name.starts_with("limits.") { limits.push(line) } else { requests.push(line) }
    }
    (requests.join(", "), limits.join(", "))
}

/// A Job's state, and how long it has run.
fn job(status: &Value, is_terminating: bool, now: Timestamp) -> (String, String) {
    let holds = |kind: &str| {
        let conditions = status["conditions"].as_array();
        conditions
            .into_iter()
            .flatten()
            .any(|condition| condition["type"] == kind && condition["status"] == "True")
    };
    let state = if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if is_terminating {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    let time = |field: &str| status[field].as_str().and_then(Timestamp::parse);
    let lasted =
        time("startTime").map(|start| duration::age(Some(start), time("completionTime").unwrap_or(now)));
    (state.to_string(), lasted.unwrap_or_default())
}

fn metrics(metrics: &Value, current: &Value) -> String {
    const SHOWN: usize = 2;
    let shown = |(index, metric): (usize, &Value)| {
        let kind = text(&metric["type"]);
        let field = match kind.as_str() {
            "" => return "<unknown type>".to_string(),
            kind => kind[..1].to_lowercase() + &kind[1..],
        };
        let (metric, now) = (&metric[field.as_str()], &current[index][field.as_str()]["current"]);
        let target = &metric["target"];
        let of = |field: &str| format!("{}/{}", or(&now[field], "<unknown>"), text(&target[field]));
        let is_average = !target["averageValue"].is_null();
        match kind.as_str() {
            "Resource" | "ContainerResource" if is_average => {
                format!("{}: {}", text(&metric["name"]), of("averageValue"))
            }
            "Resource" | "ContainerResource" => {
                let percent = |value: &Value, none: &str| {
                    value.as_i64().map_or(none.to_string(), |percent| format!("{percent}%"))
                };
                let now = percent(&now["averageUtilization"], "<unknown>");
                let wanted = percent(&target["averageUtilization"], "<auto>");
                format!("{}: {now}/{wanted}", text(&metric["name"]))
            }
            "Pods" => of("averageValue"),
            _ if is_average => format!("{} (avg)", of("averageValue")),
            _ => of("value"),
        }
    };
    let all = metrics.as_array().map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<String> = all.iter().enumerate().take(SHOWN).map(shown).collect();
    match all.len() {
        0 => "<none>".to_string(),
        count if count > SHOWN => format!("{} + {} more...", shown.join(", "), count - SHOWN),
        _ => shown.join(", "),
    }
}
