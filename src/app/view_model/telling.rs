//! How facts are told: who, and what in a sentence.

use super::pods::trouble_of;
use super::{ActorTag, ObjectReference, Tint};
use crate::api::kind::Kind;
use crate::api::kinds::apps::ReplicaSet;
use crate::api::kinds::event::Event;
use crate::api::kinds::pod::Pod;
use crate::api::object::Object;
use crate::cluster::actor::Actor;
use crate::cluster::because::Because;
use crate::cluster::fact::{Fact, RuntimeEvent, What};
use crate::cluster::queue::WorkKey;
use crate::i18n::{Catalogue, Piece};

/// The colour of an actor.
pub fn tint_of(actor: &Actor) -> Tint {
    match actor {
        Actor::You => Tint::You,
        Actor::ApiServer => Tint::ApiServer,
        Actor::Deployment => Tint::Deployment,
        Actor::ReplicaSet | Actor::ReplicationController => Tint::ReplicaSet,
        Actor::EndpointSlice | Actor::Endpoints | Actor::EndpointSliceMirroring => Tint::Endpoints,
        Actor::Scheduler => Tint::Scheduler,
        Actor::Kubelet(_) => Tint::Kubelet,
        Actor::KubeProxy(_) | Actor::CoreDns | Actor::IngressController => Tint::Route,
        _ => Tint::Other,
    }
}

/// An actor with the name that people use, and its node if there are many of it.
pub fn actor_tag(words: &Catalogue, actor: &Actor) -> ActorTag {
    let mut name = words.say(&["actor.", actor.word()].concat(), &[]);
    if let Some(node) = actor.node() {
        name.push_str(" · ");
        name.push_str(node);
    }
    ActorTag::new(tint_of(actor), name)
}

/// The same without the node: one name for all kubelets.
pub fn lane_tag(words: &Catalogue, actor: &Actor) -> ActorTag {
    ActorTag::new(tint_of(actor), words.say(&["lane.", actor.word()].concat(), &[]))
}

/// A "because" or a "saw" in words.
pub fn because_pieces(words: &Catalogue, because: &Because) -> Vec<Piece> {
    let args: Vec<(&str, &str)> = because.args.iter().map(|(name, value)| (*name, value.as_str())).collect();
    words.pieces(because.key, &args)
}

/// The same without marks.
pub fn because_text(words: &Catalogue, because: &Because) -> String {
    because_pieces(words, because).into_iter().map(|piece| piece.text).collect()
}

/// Whether the fact tells of a failure.
pub fn is_failure(fact: &Fact) -> bool {
    match &fact.what {
        What::Staged { refusal, .. } => refusal.is_some(),
        What::Refused { .. } => true,
        What::Compared { verdicts, .. } => verdicts.chosen.is_none(),
        What::Ran { event, .. } => match event {
            RuntimeEvent::PullFailed { .. } => true,
            RuntimeEvent::Exited { exit_code } => *exit_code != 0,
            RuntimeEvent::ProbeChanged { success, .. } => !success,
            _ => false,
        },
        _ => false,
    }
}

/// Whether the fact is worth a line of its own: not the stages of a request that passed, not bookkeeping.
pub fn is_telling(fact: &Fact) -> bool {
    match &fact.what {
        What::Staged { refusal, .. } => refusal.is_some(),
        What::Reconciled { .. } => false,
        What::Wrote { key, .. } => !matches!(key.kind, Kind::Event | Kind::Lease),
        _ => !fact.routine,
    }
}

/// Whether the API server refused what the learner asked for (what components ask for is told as `Refused`).
pub fn is_refused_request(fact: &Fact) -> bool {
    matches!(fact.what, What::Staged { refusal: Some(_), .. })
}

/// What happened, in a sentence.
pub fn fact_pieces(words: &Catalogue, fact: &Fact) -> Vec<Piece> {
    match &fact.what {
        What::Asked { request } => words.pieces("fact.asked", &[("request", request)]),
        What::Staged { stage, refusal: None, .. } => words
            .pieces("fact.stage_passed", &[("stage", &words.say(&["stage.", stage.word()].concat(), &[]))]),
        What::Staged { stage, refusal: Some(status), .. } => words.pieces(
            "fact.stage_refused",
            &[("stage", &words.say(&["stage.", stage.word()].concat(), &[])), ("message", &status.message)],
        ),
        What::Reconciled { key, .. } => match (&fact.because, key) {
            (Some(because), _) => because_pieces(words, because),
            (None, WorkKey::Object(key)) => {
                words.pieces("fact.looked", &[("object", &ObjectReference::from(key).title())])
            }
            (None, _) => words.pieces("fact.synced", &[]),
        },
        What::Wrote { key, old, new } => {
            wrote_pieces(words, &ObjectReference::from(key), old.as_ref(), new.as_ref())
        }
        What::Refused { key, status, .. } => words.pieces(
            "fact.refused",
            &[("object", &ObjectReference::from(key).title()), ("message", &status.message)],
        ),
        What::Compared { pod, verdicts } => {
            let pod = ObjectReference::from(pod).name;
            match &verdicts.chosen {
                Some(node) => words.pieces("fact.chose_node", &[("pod", &pod), ("node", node)]),
                None => words.pieces("fact.no_node", &[("pod", &pod)]),
            }
        }
        What::Ran { pod, container, event } => {
            ran_pieces(words, &ObjectReference::from(pod).name, container, event)
        }
        What::Programmed { revision, changes } => words.pieces(
            "fact.programmed",
            &[("revision", &revision.to_string()), ("count", &changes.len().to_string())],
        ),
    }
}

/// The same without marks.
pub fn fact_text(words: &Catalogue, fact: &Fact) -> String {
    fact_pieces(words, fact).into_iter().map(|piece| piece.text).collect()
}

fn wrote_pieces(
    words: &Catalogue,
    object: &ObjectReference,
    old: Option<&Object>,
    new: Option<&Object>,
) -> Vec<Piece> {
    let title = object.title();
    let say = |key: &str, more: &[(&str, &str)]| {
        let mut args = vec![("object", title.as_str()), ("name", object.name.as_str())];
        args.extend_from_slice(more);
        words.pieces(key, &args)
    };
    let (old, new) = match (old, new) {
        (None, Some(new)) => {
            return match new.get::<Event>() {
                Some(event) => say("fact.event", &[("reason", &event.reason), ("message", &event.message)]),
                None => say("fact.created", &[]),
            };
        }
        (Some(old), Some(new)) => (old, new),
        _ => return say("fact.removed", &[]),
    };
    if !old.meta().is_terminating() && new.meta().is_terminating() {
        return say("fact.stopping", &[]);
    }
    if let (Some(old), Some(new)) = (old.get::<Pod>(), new.get::<Pod>()) {
        if !old.is_bound() && new.is_bound() {
            return say("fact.bound", &[("node", &new.node_name)]);
        }
        if !old.is_ready() && new.is_ready() {
            return say("fact.ready", &[]);
        }
        if old.is_ready() && !new.is_ready() {
            return say("fact.unready", &[]);
        }
        if let Some(trouble) = trouble_of(new).filter(|trouble| trouble_of(old).as_ref() != Some(trouble)) {
            return say("fact.trouble", &[("reason", &trouble)]);
        }
        if old.status.phase != new.status.phase {
            return say("fact.phase", &[("phase", &new.status.phase)]);
        }
    }
    if let (Some(old), Some(new)) = (old.get::<ReplicaSet>(), new.get::<ReplicaSet>())
        && old.spec.replicas != new.spec.replicas
    {
        let count = |replicas: Option<i32>| replicas.unwrap_or(1).to_string();
        return say("fact.scaled", &[("old", &count(old.spec.replicas)), ("new", &count(new.spec.replicas))]);
    }
    if old.meta().generation == new.meta().generation && old.meta().generation > 0 {
        return say("fact.reported", &[]);
    }
    match new.get::<Event>() {
        Some(event) => say("fact.event", &[("reason", &event.reason), ("message", &event.message)]),
        None => say("fact.changed", &[]),
    }
}

fn ran_pieces(words: &Catalogue, pod: &str, container: &str, event: &RuntimeEvent) -> Vec<Piece> {
    let say = |key: &str, more: &[(&str, &str)]| {
        let mut args = vec![("pod", pod), ("container", container)];
        args.extend_from_slice(more);
        words.pieces(key, &args)
    };
    match event {
        RuntimeEvent::PullBegan { image } => say("fact.pull_began", &[("image", image)]),
        RuntimeEvent::Pulled { image } => say("fact.pulled", &[("image", image)]),
        RuntimeEvent::PullFailed { image, error } => {
            say("fact.pull_failed", &[("image", image), ("error", error)])
        }
        RuntimeEvent::Started => say("fact.started", &[]),
        RuntimeEvent::StopAsked { grace_seconds } => {
            say("fact.stop_asked", &[("seconds", &grace_seconds.to_string())])
        }
        RuntimeEvent::Exited { exit_code } => say("fact.exited", &[("code", &exit_code.to_string())]),
        RuntimeEvent::ProbeChanged { probe, success: true, .. } => {
            say("fact.probe_passed", &[("probe", probe)])
        }
        RuntimeEvent::ProbeChanged { probe, success: false, output } => {
            say("fact.probe_failed", &[("probe", probe), ("output", output)])
        }
    }
}
