//! What can be broken and what is, what shows it, and what the requests of steady clients meet.
//!
//! Everything here is done by lines of the shell, so that a person learns the line along with the button.

use super::telling::{because_pieces, because_text};
use crate::api::kinds::apps::Deployment;
use crate::api::kinds::cluster::Node;
use crate::api::kinds::pod::Pod;
use crate::api::object::Resource;
use crate::app::requests::Requests;
use crate::app::view_model::ObjectReference;
use crate::cluster::actor::Actor;
use crate::cluster::history::History;
use crate::cluster::machine::Cluster;
use crate::cluster::network::trace::TraceRequest;
use crate::cluster::network::traffic::Flow;
use crate::cluster::signal::{CARDS, Card, Layer, Signal, signals};
use crate::i18n::{Catalogue, Piece};

/// The faults at the moment on screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultsView {
    /// Whom the lines are about: a node and an application.
    pub targets: Vec<String>,
    /// The signals that show at the moment.
    pub showing: Vec<String>,
    /// The faults that can befall what is chosen.
    pub cards: Vec<FaultCard>,
    /// The clients at work.
    pub flows: Vec<FlowView>,
    /// The line that sets a client to work.
    pub start_line: String,
}

/// The card of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultCard {
    /// Its word in the shell.
    pub word: &'static str,
    /// What it does.
    pub does: Vec<Piece>,
    /// What real event it stands for.
    pub stands_for: Vec<Piece>,
    /// Who repairs it.
    pub repaired_by: String,
    /// The signals that show it, and whether each shows at the moment.
    pub signals: Vec<(String, bool)>,
    /// Whether it is caused at the moment.
    pub is_caused: bool,
    /// The lines that cause it, then the one that mends it.
    pub lines: Vec<String>,
}

/// A client at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowView {
    /// Where it sends to, and from where.
    pub name: String,
    /// How many requests a tick.
    pub per_tick: u32,
    /// What came of everything: `18 ok, 2 timeout`.
    pub total: String,
    /// The latest ticks, oldest first: how many were sent and how many failed.
    pub ticks: Vec<(i64, u32, u32)>,
    /// The same in words, ticks with the same outcome together, the latest first.
    pub rows: Vec<(String, String)>,
    /// The line that ends it.
    pub stop_line: String,
}

/// The faults that can befall what is chosen, and all when nothing is.
pub fn faults_view(
    words: &Catalogue,
    history: &History,
    requests: &Requests,
    selected: Option<&ObjectReference>,
) -> FaultsView {
    let cluster = history.cluster();
    let last = requests.until_now(history).next_back();
    let last = last.and_then(|sent| TraceRequest::get(&sent.url, sent.number).ok());
    let steady = cluster.world.traffic.values().map(|flow| flow.request.clone());
    let asked: Vec<TraceRequest> = last.into_iter().chain(steady).collect();
    let showing = signals(cluster, &asked);
    let target = Target::of(cluster, requests, selected);
    let cards = CARDS.iter().filter(|card| target.can_have(card, selected));
    FaultsView {
        targets: [&target.node, &target.application]
            .into_iter()
            .filter(|name| !name.is_empty())
            .cloned()
            .collect(),
        showing: showing.iter().map(|signal| because_text(words, &signal.name())).collect(),
        cards: cards.map(|card| card_view(words, cluster, card, &target, &showing)).collect(),
        flows: cluster.world.traffic.iter().map(|(name, flow)| flow_view(cluster, name, flow)).collect(),
        start_line: ["traffic start ", &requests.url, " --rate 20"].concat(),
    }
}

/// What the lines are about.
struct Target {
    node: String,
    application: String,
    host: String,
}

impl Target {
    fn of(cluster: &Cluster, requests: &Requests, selected: Option<&ObjectReference>) -> Target {
        let store = &cluster.store;
        let of_pod = |reference: &ObjectReference| {
            store.get::<Pod>(&reference.namespace, &reference.name).map(|pod| pod.node_name.to_string())
        };
        let node = selected.and_then(|reference| match reference.kind.as_str() {
            "Node" => Some(reference.name.clone()),
            "Pod" => of_pod(reference).filter(|node| !node.is_empty()),
            _ => None,
        });
        let first_node = || store.list::<Node>().next().map(|node| node.meta.name.to_string());
        let is_own = |deployment: &&std::sync::Arc<Deployment>| {
            !matches!(&*deployment.meta.namespace, "kube-system" | "ingress-nginx")
        };
        let first = || {
            let own = store.list::<Deployment>().find(is_own)?;
            Some(ObjectReference::from(&own.key()))
        };
        let application = selected.filter(|reference| runs(reference)).cloned().or_else(first);
        let host = requests.url.split("://").last().unwrap_or_default();
        Target {
            node: node.or_else(first_node).unwrap_or_default(),
            application: application.map(|it| [&it.namespace, "/", &it.name].concat()).unwrap_or_default(),
            host: host.split(['/', ':']).next().unwrap_or_default().to_string(),
        }
    }

    fn can_have(&self, card: &Card, selected: Option<&ObjectReference>) -> bool {
        let is_of_node = card.repaired_by == Layer::Node || card.word == "kube-proxy";
        let is_known = card.repaired_by != Layer::Application || !self.application.is_empty();
        is_known
            && match selected.map(|reference| reference.kind.as_str()) {
                Some("Node") => is_of_node,
                Some("Pod") => {
                    is_of_node || card.repaired_by == Layer::Application || card.word == "registry"
                }
                Some("Service" | "Ingress" | "EndpointSlice") => {
                    matches!(card.repaired_by, Layer::Addons | Layer::Outside) || card.word == "lag"
                }
                Some(_) if selected.is_some_and(runs) => {
                    matches!(card.repaired_by, Layer::Application | Layer::ControlPlane)
                        || card.word == "registry"
                }
                _ => true,
            }
    }

    /// The lines that cause a fault and the one that mends it.
    fn lines(&self, card: &Card) -> Vec<String> {
        let (word, node, application) = (card.word, self.node.as_str(), self.application.as_str());
        let lines: Vec<Vec<&str>> = match word {
            "etcd" => vec![vec!["stop", word, "1"], vec!["stop", word], vec!["start", word]],
            "restore" => vec![vec!["backup"], vec!["restore"]],
            "lag" => vec![vec![word, "endpointslice", "20"], vec![word, "endpointslice", "0"]],
            "kubelet" | "kube-proxy" => vec![vec!["stop", word, node], vec!["start", word, node]],
            "power-off" => vec![vec![word, node], vec!["power-on", node]],
            "cut" => vec![vec![word, node], vec!["join", node]],
            "fill-disk" => vec![vec![word, node], vec!["free-disk", node]],
            "fill-memory" => vec![vec![word, node], vec!["free-memory", node]],
            "dns" => vec![vec![word, &self.host, "198.51.100.9"], vec![word, &self.host, "none"]],
            _ if card.repaired_by == Layer::Application => {
                vec![vec!["app", word, application], vec!["app", "heal", application]]
            }
            _ => vec![vec!["stop", word], vec!["start", word]],
        };
        lines.into_iter().map(|words| ["fault ", &words.join(" ")].concat()).collect()
    }

    fn has(&self, cluster: &Cluster, card: &Card) -> bool {
        let world = &cluster.world;
        let stopped = |wanted: &dyn Fn(&Actor) -> bool| world.stopped.iter().any(wanted);
        let on_node = |actor: &Actor| actor.node().is_some_and(|node| **node == *self.node);
        match card.word {
            "api-server" => stopped(&|actor| *actor == Actor::ApiServer),
            "etcd" => !world.lost_members.is_empty(),
            "scheduler" => stopped(&|actor| *actor == Actor::Scheduler),
            "coredns" => stopped(&|actor| *actor == Actor::CoreDns),
            "ingress-controller" => stopped(&|actor| *actor == Actor::IngressController),
            "kubelet" => stopped(&|actor| matches!(actor, Actor::Kubelet(_)) && on_node(actor)),
            "kube-proxy" => stopped(&|actor| matches!(actor, Actor::KubeProxy(_)) && on_node(actor)),
            "controller-manager" => stopped(&|actor| *actor == Actor::Deployment),
            "lag" => !world.lags.is_empty(),
            "power-off" => world.dark.iter().any(|node| **node == *self.node),
            "cut" => world.cut.keys().any(|node| **node == *self.node),
            "fill-disk" => world.full_disks.iter().any(|node| **node == *self.node),
            "fill-memory" => world.full_memories.iter().any(|node| **node == *self.node),
            "registry" => world.is_registry_down,
            "dns" => world.external_dns.contains_key(&self.host),
            word => world.ailments.iter().any(|((namespace, name), ailment)| {
                ailment.word() == word && [namespace, "/", name].concat() == self.application
            }),
        }
    }
}

/// Whether Pods come of it.
fn runs(reference: &ObjectReference) -> bool {
    matches!(
        reference.kind.as_str(),
        "Pod" | "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet" | "Job"
    )
}

fn card_view(
    words: &Catalogue,
    cluster: &Cluster,
    card: &Card,
    target: &Target,
    showing: &[Signal],
) -> FaultCard {
    let signals = card.signals.iter();
    FaultCard {
        word: card.word,
        does: because_pieces(words, &card.does()),
        stands_for: because_pieces(words, &card.stands_for()),
        repaired_by: because_text(words, &card.repaired_by.name()),
        signals: signals
            .map(|signal| (because_text(words, &signal.name()), showing.contains(signal)))
            .collect(),
        is_caused: target.has(cluster, card),
        lines: target.lines(card),
    }
}

fn flow_view(cluster: &Cluster, name: &str, flow: &Flow) -> FlowView {
    let mut rows: Vec<(i64, i64, String)> = Vec::new();
    for (tick, tally) in &flow.strip {
        let (tick, summary) = (cluster.shown(*tick), tally.summary());
        match rows.last_mut() {
            Some((_, to, last)) if *last == summary => *to = tick,
            _ => rows.push((tick, tick, summary)),
        }
    }
    let when = |from: i64, to: i64| match from == to {
        true => ["t=", &from.to_string()].concat(),
        false => ["t=", &from.to_string(), " – ", &to.to_string()].concat(),
    };
    FlowView {
        name: name.to_string(),
        per_tick: flow.per_tick,
        total: flow.total.summary(),
        ticks: flow
            .strip
            .iter()
            .map(|(tick, tally)| (cluster.shown(*tick), tally.sent, tally.failures()))
            .collect(),
        rows: rows.into_iter().rev().map(|(from, to, summary)| (when(from, to), summary)).collect(),
        stop_line: ["traffic stop ", name.split(' ').next().unwrap_or_default()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::message::Message;
    use crate::app::state::State;
    use crate::app::update::update;
    use crate::cluster::settings::Settings;
    use crate::i18n::{Language, catalogue};

    fn view(state: &State, selected: Option<&ObjectReference>) -> FaultsView {
        faults_view(catalogue(Language::En), &state.history, &state.requests, selected)
    }

    #[test]
    fn every_line_of_every_card_is_one_that_the_shell_takes_and_shows_and_mends_its_fault() {
        let fresh = || {
            let mut state = State::new(Settings::default());
            update(&mut state, Message::ApplyAsked);
            state
        };
        for card in view(&fresh(), None).cards {
            let mut state = fresh();
            for (at, line) in card.lines.iter().enumerate() {
                let before = state.history.moments();
                update(&mut state, Message::CommandChosen(line.clone()));
                assert!(state.history.moments() > before, "`{line}` changes the cluster");
                let now = view(&state, None).cards.into_iter().find(|now| now.word == card.word);
                let is_caused = now.expect("the card stays").is_caused;
                let expected = card.word != "restore" && at + 1 < card.lines.len();
                assert_eq!(is_caused, expected, "after `{line}`");
            }
        }
    }

    #[test]
    fn a_chosen_node_is_what_the_lines_are_about() {
        let state = State::new(Settings::default());
        let shown = view(&state, Some(&ObjectReference::new("Node", "", "node-2")));
        let cut = shown.cards.iter().find(|card| card.word == "cut").expect("a node can be cut off");
        assert_eq!(cut.lines, ["fault cut node-2", "fault join node-2"]);
        assert!(shown.cards.iter().all(|card| card.word != "crash"), "a node is not an application");
    }
}
