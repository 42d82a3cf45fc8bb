//! The cluster: who works in it, what runs where, and the way of the last request.

use super::pods::card_of;
use super::telling::{is_telling, lane_tag};
use super::{ActorTag, Mark, Marks, ObjectReference};
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::Pod;
use crate::cluster::actor::Actor;
use crate::cluster::history::History;
use crate::cluster::machine::Cluster;
use crate::cluster::queue::WorkKey;
use crate::i18n::Catalogue;

/// The whole map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterMap {
    /// The components of the control plane that stand on the road or have something to do.
    pub actors: Vec<ActorCard>,
    /// The names of the others, in words; empty when there are none.
    pub idle: String,
    /// The nodes.
    pub nodes: Vec<NodeCard>,
    /// Pods without a node.
    pub unplaced: Vec<PodCard>,
    /// Whether there are too many Pods for cards, so that a grid of marks is drawn.
    pub is_dense: bool,
    /// The way of the last request.
    pub path: Option<RequestPath>,
    /// The address the request form offers.
    pub request_url: String,
}

/// One component of the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorCard {
    /// Who.
    pub tag: ActorTag,
    /// What it has to do or did last, in a few words.
    pub note: String,
    /// The keys in its queue, in order of their due time.
    pub queue: Vec<String>,
    /// Whether it did the step on screen.
    pub is_acting: bool,
    /// The fact it wrote last, by index.
    pub fact: Option<usize>,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCard {
    /// Which node.
    pub object: ObjectReference,
    /// `Ready`, `NotReady`, `cordoned` …
    pub state: String,
    /// Whether it takes no new Pods.
    pub is_off: bool,
    /// CPU asked for by its Pods, in thousandths.
    pub cpu_used_millicores: i64,
    /// CPU it can give, in thousandths.
    pub cpu_total_millicores: i64,
    /// The same in words, such as `cpu 1.25 / 2`.
    pub cpu_label: String,
    /// The learner's Pods first, then the system's.
    pub pods: Vec<PodCard>,
}

/// One Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodCard {
    /// Which Pod.
    pub object: ObjectReference,
    /// Its name, shortened in the middle.
    pub short_name: String,
    /// What there is to say about it.
    pub note: String,
    /// Exists and achieves its purpose.
    pub marks: Marks,
    /// Whether it belongs to the system and stays quiet.
    pub is_system: bool,
    /// Whether the last step changed it.
    pub is_changed: bool,
    /// Whether it is the selected object.
    pub is_selected: bool,
    /// A short word for its version, such as the image tag; empty when there is only one.
    pub version: String,
}

/// The way of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath {
    /// The address asked for.
    pub url: String,
    /// What the client saw, such as `503`.
    pub answer: String,
    /// Whether it was what the client wanted.
    pub is_success: bool,
    /// The tick at which it was sent.
    pub tick: i64,
    /// Hops in order.
    pub hops: Vec<PathHop>,
}

/// One hop of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathHop {
    /// Its name.
    pub name: String,
    /// What happened, in a few words.
    pub note: String,
    /// Passed, dropped or not reached.
    pub mark: Mark,
    /// Whether the trace stands here.
    pub is_here: bool,
}

/// From this many Pods on, the map draws a grid of marks.
const DENSE_PODS: usize = 300;

/// What the map needs to know beside the history.
#[derive(Clone, Copy, Debug)]
pub struct MapContext<'a> {
    /// The selected object.
    pub selected: Option<&'a ObjectReference>,
    /// The address of the request form.
    pub request_url: &'a str,
    /// The cluster at the moment before, to tell what changed.
    pub before: Option<&'a Cluster>,
    /// The last request up to the moment.
    pub path: Option<&'a RequestPath>,
}

/// The cluster at the moment on screen.
pub fn map_view(words: &Catalogue, history: &History, context: &MapContext<'_>) -> ClusterMap {
    let now = history.cluster();
    let before = context.before;
    let is_changed = |pod: &Pod| {
        before.is_some_and(|before| {
            before
                .store
                .get::<Pod>(&pod.meta.namespace, &pod.meta.name)
                .is_none_or(|old| old.meta.resource_version != pod.meta.resource_version)
        })
    };
    let card = |pod: &Pod| card_of(words, pod, is_changed(pod), context.selected);
    let unplaced: Vec<PodCard> = now
        .store
        .list::<Pod>()
        .filter(|pod| !pod.is_bound() && !pod.is_finished())
        .map(|pod| card(pod))
        .collect();
    let nodes: Vec<NodeCard> = now
        .store
        .list::<Node>()
        .map(|node| {
            let pods = now.store.pods_on(&node.meta.name).map(|pod| card(pod)).collect();
            node_card(words, now, node, pods)
        })
        .collect();
    let total = unplaced.len() + nodes.iter().map(|node| node.pods.len()).sum::<usize>();
    let (actors, idle) = actor_cards(words, history);
    ClusterMap {
        actors,
        idle,
        nodes,
        unplaced,
        is_dense: total > DENSE_PODS,
        path: context.path.cloned(),
        request_url: context.request_url.to_string(),
    }
}

fn node_card(words: &Catalogue, now: &Cluster, node: &Node, mut pods: Vec<PodCard>) -> NodeCard {
    pods.sort_by_key(|pod| pod.is_system);
    let used = now
        .store
        .pods_on(&node.meta.name)
        .filter(|pod| !pod.is_finished())
        .flat_map(|pod| pod.spec.containers.iter())
        .filter_map(|container| container.resources.requests.get("cpu"))
        .map(|cpu| cpu.milli())
        .sum();
    let total = node.status.allocatable.get("cpu").map_or(0, |cpu| cpu.milli());
    let state = match (node.is_ready(), node.spec.unschedulable) {
        (false, _) => "map.not_ready",
        (true, true) => "map.cordoned",
        (true, false) => "map.ready",
    };
    NodeCard {
        object: ObjectReference::new("Node", "", &node.meta.name),
        state: words.say(state, &[]),
        is_off: node.spec.unschedulable || !node.is_ready(),
        cpu_used_millicores: used,
        cpu_total_millicores: total,
        cpu_label: words.say("map.cpu", &[("used", &cores(used)), ("total", &cores(total))]),
        pods,
    }
}

/// Thousandths as people write them: `1.25`, `2`.
fn cores(millicores: i64) -> String {
    let text = format!("{}.{:03}", millicores / 1000, millicores % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Whether a component stands on the road that the screen shows, and so is always on the map.
fn is_on_the_road(actor: &Actor) -> bool {
    matches!(actor, Actor::Deployment | Actor::ReplicaSet | Actor::Scheduler | Actor::EndpointSlice)
}

/// The components that exist once, the API server first; and those without work, by name.
fn actor_cards(words: &Catalogue, history: &History) -> (Vec<ActorCard>, String) {
    let now = history.cluster();
    let latest = |actor: &Actor| {
        history
            .facts()
            .rev()
            .take(400)
            .find(|fact| fact.actor == *actor && !fact.routine && is_telling(fact))
            .map(|fact| (fact.id.0 as usize, now.shown(fact.tick)))
    };
    let acted: Vec<Actor> =
        history.latest_facts().filter(|fact| !fact.routine).map(|fact| fact.actor.clone()).collect();
    let server = ActorCard {
        tag: lane_tag(words, &Actor::ApiServer),
        note: words.say("map.revision", &[("revision", &now.store.revision().to_string())]),
        queue: Vec::new(),
        is_acting: acted.contains(&Actor::ApiServer),
        fact: latest(&Actor::ApiServer).or_else(|| latest(&Actor::You)).map(|(fact, _)| fact),
    };
    let others = now.components().filter(|(actor, _)| {
        actor.node().is_none() && !matches!(actor, Actor::CoreDns | Actor::IngressController)
    });
    let mut cards = vec![server];
    let mut idle: Vec<String> = Vec::new();
    for (actor, component) in others {
        let waiting: Vec<(String, u64)> = component
            .queue
            .iter()
            .filter(|(key, _)| !key.is_routine())
            .map(|(key, due)| (short_key(key), due))
            .collect();
        let (is_acting, latest) = (acted.contains(actor), latest(actor));
        let has_acted = latest.is_some_and(|(_, tick)| tick > 0);
        if waiting.is_empty() && !is_acting && !has_acted && !is_on_the_road(actor) {
            idle.push(lane_tag(words, actor).name);
            continue;
        }
        let note = match waiting.first() {
            None => words.say("map.queue_empty", &[]),
            Some((first, due)) if *due > now.tick() + 1 => {
                words.say("map.queue_later", &[("first", first), ("tick", &now.shown(*due).to_string())])
            }
            Some((first, _)) => {
                words.say("map.queue", &[("count", &waiting.len().to_string()), ("first", first)])
            }
        };
        cards.push(ActorCard {
            tag: lane_tag(words, actor),
            note,
            queue: waiting.into_iter().map(|(key, _)| key).collect(),
            is_acting,
            fact: latest.map(|(fact, _)| fact),
        });
    }
    cards.sort_by_key(|card| card.tag.tint);
    let idle = match idle.is_empty() {
        true => String::new(),
        false => words.say("map.idle", &[("names", &idle.join(", "))]),
    };
    (cards, idle)
}

fn short_key(key: &WorkKey) -> String {
    match key.object() {
        Some(key) if key.namespace.is_empty() => super::pods::short_name(&key.name),
        Some(key) => [&key.namespace, "/", super::pods::short_name(&key.name).as_str()].concat(),
        None => "sync".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::settings::Settings;
    use crate::i18n::{Language, catalogue};

    #[test]
    fn who_has_nothing_to_do_and_does_not_stand_on_the_road_is_only_named() {
        let history = History::new(Settings::default());
        let (cards, idle) = actor_cards(catalogue(Language::En), &history);
        let names: Vec<&str> = cards.iter().map(|card| card.tag.name.as_str()).collect();
        assert_eq!(names, ["API server", "deployment", "replicaset", "scheduler", "endpointslice"]);
        assert!(idle.contains("statefulset") && idle.contains("garbage coll."), "{idle}");
    }

    #[test]
    fn cores_are_written_without_needless_digits() {
        for (millicores, expected) in [(0, "0"), (2000, "2"), (1250, "1.25"), (100, "0.1"), (5, "0.005")] {
            assert_eq!(cores(millicores), expected);
        }
    }
}
