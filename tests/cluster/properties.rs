//! What holds whatever is asked: random commands, and promises that are looked at after every tick.

use std::collections::BTreeMap;

use kubestep::api::kind::Kind;
use kubestep::api::kinds::apps::{Deployment, ReplicaSet};
use kubestep::api::kinds::pod::Pod;
use kubestep::cluster::server::request::Propagation;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::controllers::assert_quiet_looks_change_nothing;
use super::ground::{Stage, deployment, empty_nodes};

/// Something that a person does.
#[derive(Clone, Debug)]
enum Act {
    /// Creates the Deployment, with surge and unavailable; both 0 stand for `Recreate`.
    Create { name: &'static str, replicas: i32, bounds: (i32, i32) },
    /// Sets the number of replicas.
    Scale { name: &'static str, replicas: i32 },
    /// Sets the image.
    SetImage { name: &'static str, tag: &'static str },
    /// Pauses or resumes.
    Pause { name: &'static str, paused: bool },
    /// Deletes the Deployment.
    Delete { name: &'static str, propagation: Propagation },
    /// Deletes one Pod.
    DeletePod { number: usize },
    /// Takes a label off a Pod, so that its ReplicaSet loses it.
    Unlabel { number: usize },
    /// Lets ticks pass.
    Wait { ticks: u32 },
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("web"), Just("api")]
}

fn act() -> impl Strategy<Value = Act> {
    let propagation =
        prop_oneof![Just(Propagation::Background), Just(Propagation::Foreground), Just(Propagation::Orphan)];
    prop_oneof![
        3 => (name(), 0..6, (0..3, 0..3)).prop_map(|(name, replicas, bounds)| Act::Create { name, replicas, bounds }),
        3 => (name(), 0..8).prop_map(|(name, replicas)| Act::Scale { name, replicas }),
        3 => (name(), prop_oneof![Just("1.27"), Just("1.28"), Just("1.29")])
            .prop_map(|(name, tag)| Act::SetImage { name, tag }),
        1 => (name(), any::<bool>()).prop_map(|(name, paused)| Act::Pause { name, paused }),
        1 => (name(), propagation).prop_map(|(name, propagation)| Act::Delete { name, propagation }),
        2 => (0..16_usize).prop_map(|number| Act::DeletePod { number }),
        1 => (0..16_usize).prop_map(|number| Act::Unlabel { number }),
        6 => (1..12_u32).prop_map(|ticks| Act::Wait { ticks }),
    ]
}

/// What was true before the last tick.
#[derive(Default)]
struct Before {
    nodes: BTreeMap<String, String>,
    revisions: BTreeMap<String, i64>,
    /// Pods asked for, by the uid of the Deployment.
    totals: BTreeMap<String, i32>,
}

/// Does what is asked; refusals are as good an answer as any.
fn perform(stage: &mut Stage, act: &Act) -> u32 {
    let pod_name = |stage: &Stage, number: usize| {
        let pods = stage.all::<Pod>();
        (!pods.is_empty()).then(|| pods[number % pods.len()].meta.name.to_string())
    };
    match act {
        Act::Create { name, replicas, bounds: (surge, unavailable) } => {
            let strategy = match (surge, unavailable) {
                (0, 0) => json!({"type": "Recreate"}),
                _ => {
                    json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
                }
            };
            let value = deployment(name, *replicas, "nginx:1.27", json!({"strategy": strategy}));
            let _ = stage.create(Kind::Deployment, value);
        }
        Act::Scale { name, replicas } => {
            let _ = stage.patch(Kind::Deployment, name, json!({"spec": {"replicas": replicas}}));
        }
        Act::SetImage { name, tag } => {
            let containers = json!([{"name": "c", "image": format!("nginx:{tag}")}]);
            let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
            let _ = stage.patch(Kind::Deployment, name, patch);
        }
        Act::Pause { name, paused } => {
            let paused = if *paused { json!(true) } else { Value::Null };
            let _ = stage.patch(Kind::Deployment, name, json!({"spec": {"paused": paused}}));
        }
        Act::Delete { name, propagation } => {
            let _ = stage.delete(Kind::Deployment, name, *propagation);
        }
        Act::DeletePod { number } => {
            if let Some(pod) = pod_name(stage, *number) {
                let _ = stage.delete(Kind::Pod, &pod, Propagation::Background);
            }
        }
        Act::Unlabel { number } => {
            if let Some(pod) = pod_name(stage, *number) {
                let _ = stage.patch(Kind::Pod, &pod, json!({"metadata": {"labels": {"app": null}}}));
            }
        }
        Act::Wait { ticks } => return *ticks,
    }
    0
}

fn total_of(stage: &Stage, deployment: &Deployment) -> i32 {
    let sets = stage.all::<ReplicaSet>();
    let own = sets.iter().filter(|set| set.meta.is_controlled_by(&deployment.meta.uid));
    own.map(|set| set.spec.replicas.unwrap_or(1)).sum()
}

/// The bound above which a rolling update may not go.
fn at_most(deployment: &Deployment) -> Option<i32> {
    let rolling = deployment.spec.strategy.rolling_update.as_ref()?;
    let wanted = deployment.spec.replicas.unwrap_or(1);
    Some(wanted + rolling.max_surge.as_ref()?.scaled(wanted, true)?)
}

fn look(stage: &Stage, before: &mut Before) -> Result<(), TestCaseError> {
    for pod in stage.all::<Pod>() {
        if pod.is_bound() {
            let node =
                before.nodes.entry(pod.meta.uid.to_string()).or_insert_with(|| pod.node_name.to_string());
            prop_assert_eq!(node.as_str(), &*pod.node_name, "a Pod stays on its node");
        }
    }
    for deployment in stage.all::<Deployment>() {
        let uid = deployment.meta.uid.to_string();
        let revision: i64 = deployment
            .meta
            .annotations
            .get("deployment.kubernetes.io/revision")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let last = before.revisions.insert(uid.clone(), revision).unwrap_or(0);
        prop_assert!(revision >= last, "revisions grow: {} after {}", revision, last);

        let total = total_of(stage, &deployment);
        let last_total = before.totals.insert(uid, total).unwrap_or(0);
        if let Some(most) = at_most(&deployment) {
            prop_assert!(
                total <= most.max(last_total),
                "a rolling update asks for at most {} Pods, not {} (before: {})",
                most,
                total,
                last_total
            );
        }
    }
    Ok(())
}

/// At rest: every promise about the end.
fn look_at_rest(stage: &mut Stage) -> Result<(), TestCaseError> {
    let store = &stage.cluster.store;
    for object in store.objects() {
        for owner in &object.meta().owner_references {
            let exists = store.objects().any(|other| other.meta().uid == owner.uid);
            prop_assert!(exists || object.meta().is_terminating(), "{} has lost its owner", object.key());
        }
    }
    for deployment in stage.all::<Deployment>().iter().filter(|deployment| !deployment.spec.paused) {
        let wanted = deployment.spec.replicas.unwrap_or(1);
        let status = &deployment.status;
        prop_assert_eq!(
            (status.updated_replicas, status.replicas, status.available_replicas, status.observed_generation),
            (wanted, wanted, wanted, deployment.meta.generation),
            "the rollout of {} has arrived",
            deployment.meta.name
        );
    }
    for set in stage.all::<ReplicaSet>() {
        let pods = stage.all::<Pod>();
        let own =
            pods.iter().filter(|pod| pod.meta.is_controlled_by(&set.meta.uid) && pod.is_active()).count();
        prop_assert_eq!(i32::try_from(own).unwrap(), set.spec.replicas.unwrap_or(1), "{}", set.meta.name);
    }
    assert_quiet_looks_change_nothing(stage);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_asked_the_promises_hold(seed in 0..1000_u64, acts in prop::collection::vec(act(), 1..24)) {
        let mut stage = Stage::new(empty_nodes(seed));
        let mut before = Before::default();
        for act in &acts {
            let ticks = perform(&mut stage, act);
            for _ in 0..ticks {
                stage.tick();
                look(&stage, &mut before)?;
            }
        }
        for _ in 0..200 {
            stage.tick();
            look(&stage, &mut before)?;
        }
        look_at_rest(&mut stage)?;
    }

    #[test]
    fn a_rolling_update_never_leaves_its_bounds(
        seed in 0..1000_u64,
        replicas in 1..8_i32,
        (surge, unavailable) in (0..3_i32, 0..3_i32).prop_filter("one must move", |bounds| *bounds != (0, 0)),
        waits in prop::collection::vec(1..20_u32, 1..6),
    ) {
        let mut stage = Stage::new(empty_nodes(seed));
        let strategy = json!({
            "type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable},
        });
        let value = deployment("web", replicas, "nginx:0", json!({"strategy": strategy}));
        stage.create(Kind::Deployment, value).unwrap();
        stage.settle();
        let mut sawtooth = false;
        for (number, wait) in waits.iter().enumerate() {
            let containers = json!([{"name": "c", "image": format!("nginx:{}", number + 1)}]);
            let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
            stage.patch(Kind::Deployment, "web", patch).unwrap();
            for _ in 0..*wait {
                stage.tick();
                let pods = stage.all::<Pod>();
                let active = i32::try_from(pods.iter().filter(|pod| pod.is_active()).count()).unwrap();
                let ready = i32::try_from(pods.iter().filter(|pod| pod.is_active() && pod.is_ready()).count()).unwrap();
                prop_assert!(active <= replicas + surge, "{} Pods of at most {}", active, replicas + surge);
                let least = replicas - unavailable.min(replicas);
                prop_assert!(ready >= least, "{} ready Pods of at least {}", ready, least);
                sawtooth |= active != replicas || ready != replicas;
            }
        }
        prop_assert!(sawtooth || waits.iter().sum::<u32>() < 8, "the rollout moved");
    }
}
