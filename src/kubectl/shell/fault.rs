//! `fault`: what goes wrong in a cluster, typed.
//!
//! ```text
//! fault stop kubelet node-2        fault start kubelet node-2
//! fault stop controller-manager    fault power-off node-1
//! fault kill shop/api-0            fault
//! ```

use crate::api::meta::Name;
use crate::cluster::actor::Actor;
use crate::cluster::command::Fault;
use crate::kubectl::execution::Output;
use crate::kubectl::host::Host;
use crate::kubectl::session::Session;

const USAGE: &str = "usage: fault stop|start COMPONENT [NODE], fault power-off|power-on|fill-disk|free-disk NODE, fault kill POD
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
        ["stop", component, rest @ ..] => {
            actors(component, rest, &*host).map(|all| all.into_iter().map(Fault::Stop).collect::<Vec<_>>())
        }
        ["start", component, rest @ ..] => {
            actors(component, rest, &*host).map(|all| all.into_iter().map(Fault::Start).collect())
        }
        ["power-off", node] => node_named(node, &*host).map(|node| vec![Fault::PowerOff(node)]),
        ["power-on", node] => node_named(node, &*host).map(|node| vec![Fault::PowerOn(node)]),
        ["fill-disk", node] => node_named(node, &*host).map(|node| vec![Fault::FillDisk(node)]),
        ["free-disk", node] => node_named(node, &*host).map(|node| vec![Fault::FreeDisk(node)]),
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

/// What is broken at the moment.
fn told(host: &dyn Host) -> String {
    let world = &host.cluster().world;
    let stopped = world.stopped.iter().map(|actor| format!("stopped {actor}\n"));
    let dark = world.dark.iter().map(|node| format!("without power {node}\n"));
    let full = world.full_disks.iter().map(|node| format!("full disk {node}\n"));
    let told: String = stopped.chain(dark).chain(full).collect();
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
