//! `fault`: what goes wrong in a cluster, typed.
//!
//! ```text
//! fault stop kubelet node-2        fault start kubelet node-2
//! fault stop controller-manager    fault power-off node-1
//! fault kill shop/api-0            fault
//! fault stop etcd 1                fault app hang deployment/web
//! fault lag endpointslice 20       fault explain cut
//! ```

use crate::api::kind::Kind;
use crate::api::meta::Name;
use crate::cluster::actor::Actor;
use crate::cluster::because::Because;
use crate::cluster::command::Fault;
use crate::cluster::runtime::process::Ailment;
use crate::cluster::signal::{CARDS, Card};
use crate::cluster::world::ETCD_MEMBERS;
use crate::i18n::{Catalogue, Language, catalogue};
use crate::kubectl::execution::Output;
use crate::kubectl::host::Host;
use crate::kubectl::session::Session;
use crate::kubectl::trace_text::say;

const USAGE: &str = "usage: fault stop|start COMPONENT [NODE], fault stop|start etcd [MEMBER], fault stop|start registry,
fault power-off|power-on|cut|join|fill-disk|free-disk|fill-memory|free-memory NODE, fault kill POD,
fault app crash|hang|slow|unready|leak|stop|heal NAME, fault dns HOST ADDRESS|none, fault lag COMPONENT [NODE] TICKS,
fault backup|restore, fault explain [FAULT]
components: api-server, scheduler, controller-manager, kubelet NODE, kube-proxy NODE, coredns, ingress-controller, and
each controller by its name";

/// The names that people use for components, and the words of the actors.
const NAMES: &[(&str, &str)] = &[
    ("api-server", "apiserver"),
    ("kube-apiserver", "apiserver"),
    ("kube-scheduler", "scheduler"),
    ("kube-controller-manager", "controller-manager"),
    ("kube-proxy", "kubeproxy"),
    ("ingress-controller", "ingresscontroller"),
    ("ingress-nginx-controller", "ingresscontroller"),
    ("horizontal-pod-autoscaler", "autoscaler"),
];

/// Runs the command.
pub(super) fn run(args: &[String], session: &Session, host: &mut dyn Host) -> Output {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let faults = match words.as_slice() {
        [] => return Output::of(told(&*host)),
        ["explain", rest @ ..] => return explained(rest.first().copied()),
        ["stop", "registry"] => Ok(vec![Fault::BreakRegistry]),
        ["start", "registry"] => Ok(vec![Fault::MendRegistry]),
        ["stop", "etcd", rest @ ..] => members(rest.first().copied(), Fault::StopMember),
        ["start", "etcd", rest @ ..] => members(rest.first().copied(), Fault::StartMember),
        ["backup"] => Ok(vec![Fault::BackUp]),
        ["restore"] if host.cluster().world.backup.is_none() => Err("there is no backup".to_string()),
        ["restore"] => Ok(vec![Fault::Restore]),
        ["dns", name, address] => {
            let address = (*address != "none").then(|| (*address).to_string());
            Ok(vec![Fault::Record(name.to_ascii_lowercase(), address)])
        }
        ["app", ailment, name] => application(ailment, name, session),
        ["lag", component, rest @ .., ticks] => match ticks.parse::<u32>() {
            Ok(ticks) => actors(component, rest, &*host)
                .map(|all| all.into_iter().map(|actor| Fault::Lag(actor, ticks)).collect()),
            Err(_) => Err(USAGE.to_string()),
        },
        ["stop", component, rest @ ..] => {
            actors(component, rest, &*host).map(|all| all.into_iter().map(Fault::Stop).collect::<Vec<_>>())
        }
        ["start", component, rest @ ..] => {
            actors(component, rest, &*host).map(|all| all.into_iter().map(Fault::Start).collect())
        }
        [word, node] if on_node(word).is_some() => node_named(node, &*host)
            .map(|node| on_node(word).into_iter().map(|fault| fault(node.clone())).collect()),
        ["kill", pod] => {
            let (namespace, name) = pod.split_once('/').unwrap_or((session.namespace.as_str(), pod));
            let found = host.store().get::<crate::api::kinds::pod::Pod>(namespace, name).is_some();
            match found {
                true => Ok(vec![Fault::Kill(namespace.into(), name.into())]),
                false => Err(format!("there is no Pod {namespace}/{name}")),
            }
        }
        _ => Err(USAGE.to_string()),
    };
    match faults {
        Ok(faults) => {
            let was_possible = faults.into_iter().all(|fault| host.cause(fault));
            match was_possible {
                true => Output::default(),
                false => failed("faults cannot be caused here"),
            }
        }
        Err(problem) => failed(&problem),
    }
}

fn failed(problem: &str) -> Output {
    Output { stderr: format!("fault: {problem}\n"), exit: 1, ..Output::default() }
}

/// The fault of that name that befalls a node.
fn on_node(word: &str) -> Option<fn(Name) -> Fault> {
    Some(match word {
        "power-off" => Fault::PowerOff,
        "power-on" => Fault::PowerOn,
        "cut" => Fault::Cut,
        "join" => Fault::Join,
        "fill-disk" => Fault::FillDisk,
        "free-disk" => Fault::FreeDisk,
        "fill-memory" => Fault::FillMemory,
        "free-memory" => Fault::FreeMemory,
        _ => return None,
    })
}

/// One member of etcd, or all.
fn members(named: Option<&str>, fault: fn(u8) -> Fault) -> Result<Vec<Fault>, String> {
    let is_meant = |member: &u8| named.is_none_or(|named| named == member.to_string());
    let meant: Vec<Fault> = ETCD_MEMBERS.into_iter().filter(is_meant).map(fault).collect();
    if meant.is_empty() { Err("etcd has the members 1, 2 and 3".to_string()) } else { Ok(meant) }
}

/// What ails an application, named by a Pod or by what its Pods' names begin with: `web`, `deployment/web`.
fn application(ailment: &str, name: &str, session: &Session) -> Result<Vec<Fault>, String> {
    let (front, name) = name.split_once('/').unwrap_or(("", name));
    let is_kind = front.is_empty() || Kind::from_resource(front).is_some();
    let namespace = if is_kind { session.namespace.as_str() } else { front };
    if ailment == "heal" {
        return Ok(vec![Fault::Cure(namespace.into(), name.into())]);
    }
    let known = Ailment::ALL.into_iter().find(|known| known.word() == ailment);
    let known = known.ok_or_else(|| USAGE.to_string())?;
    Ok(vec![Fault::Ail(namespace.into(), name.into(), known)])
}

/// The cards, or one.
fn explained(named: Option<&str>) -> Output {
    let words = catalogue(Language::En);
    let meant = |card: &&Card| named.is_none_or(|named| named == card.word);
    let told: String = CARDS.iter().filter(meant).map(|card| render_card(card, words)).collect();
    if told.is_empty() { failed("there is no such card") } else { Output::of(told) }
}

/// A card as text.
fn render_card(card: &Card, words: &Catalogue) -> String {
    let say = |because: Because| say(&because, words);
    let signals: Vec<String> = card.signals.iter().map(|signal| say(signal.name())).collect();
    let (does, stands, repairs) = (say(card.does()), say(card.stands_for()), say(card.repaired_by.name()));
    format!(
        "{}\n  {does}\n  {stands}\n  {}: {}\n  {}: {repairs}\n",
        card.word,
        say(Because::new("fault.signals")),
        signals.join("; "),
        say(Because::new("fault.repaired_by")),
    )
}

/// What is broken at the moment.
fn told(host: &dyn Host) -> String {
    let world = &host.cluster().world;
    let mut told = String::new();
    let mut tell = |line: String| told.push_str(&format!("{line}\n"));
    world.stopped.iter().for_each(|actor| tell(format!("stopped {actor}")));
    world.lost_members.iter().for_each(|member| tell(format!("stopped etcd {member}")));
    world.dark.iter().for_each(|node| tell(format!("without power {node}")));
    world.cut.keys().for_each(|node| tell(format!("cut off {node}")));
    world.full_disks.iter().for_each(|node| tell(format!("full disk {node}")));
    world.full_memories.iter().for_each(|node| tell(format!("full memory {node}")));
    world.lags.iter().for_each(|(actor, ticks)| tell(format!("lags {ticks} {actor}")));
    let ailing = |((namespace, name), ailment): (&(Name, Name), &Ailment)| {
        format!("app {} {namespace}/{name}", ailment.word())
    };
    world.ailments.iter().for_each(|entry| tell(ailing(entry)));
    if world.is_registry_down {
        tell("stopped registry".to_string());
    }
    if told.is_empty() { "nothing is broken\n".to_string() } else { told }
}

fn node_named(name: &str, host: &dyn Host) -> Result<Name, String> {
    let kubelet = Actor::Kubelet(name.into());
    match host.cluster().component(&kubelet) {
        Some(_) => Ok(name.into()),
        None => Err(format!("there is no node {name}")),
    }
}

/// The components of that name; those of every node where no node is named.
fn actors(component: &str, rest: &[&str], host: &dyn Host) -> Result<Vec<Actor>, String> {
    let word = NAMES.iter().find(|(name, _)| *name == component).map_or(component, |(_, word)| *word);
    if word == "apiserver" && rest.is_empty() {
        return Ok(vec![Actor::ApiServer]);
    }
    let all = host.cluster().components().map(|(actor, _)| actor);
    let is_meant = |actor: &&Actor| match word {
        "controller-manager" => is_in_controller_manager(actor),
        word => actor.word() == word || actor.event_source() == word,
    };
    let on_node = |actor: &&Actor| match (rest, actor.node()) {
        ([], _) => true,
        ([node], Some(own)) => **own == **node,
        _ => false,
    };
    let found: Vec<Actor> = all.filter(is_meant).filter(on_node).cloned().collect();
    match found.is_empty() {
        true => Err(format!("there is no component {component} {}\n{USAGE}", rest.join(" "))),
        false => Ok(found),
    }
}

/// Whether the actor is one of kube-controller-manager.
fn is_in_controller_manager(actor: &Actor) -> bool {
    let is_controller = *actor > Actor::ApiServer && *actor < Actor::Scheduler;
    is_controller && !matches!(actor, Actor::Provisioner | Actor::ServiceLoadBalancer)
}
