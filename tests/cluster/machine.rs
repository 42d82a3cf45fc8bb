//! What a tick and a step are.

use kubestep::cluster::actor::Actor;
use kubestep::cluster::command::Command;
use kubestep::cluster::fact::What;
use kubestep::cluster::machine::{Cluster, Moved};

use super::stage::{SHOP, ask, create_all, playground, ready, tick, until_quiet};

#[test]
fn an_installed_cluster_is_quiet_and_its_system_pods_are_ready() {
    let history = playground();
    assert!(history.cluster().is_quiet());
    assert_eq!((ready(&history, "kube-system"), ready(&history, "ingress-nginx")), (5, 1));
}

#[test]
fn apply_stores_the_wish_and_nothing_runs() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    assert_eq!(history.cluster().store.list_in::<kubestep::api::kinds::pod::Pod>("demo").count(), 0);
    assert!(!history.cluster().is_quiet());
}

#[test]
fn each_link_of_the_chain_is_a_tick_of_its_own_done_by_its_own_actor() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    let mut first_writers = Vec::new();
    for _ in 0..4 {
        let performed = ask(&mut history, Command::Tick);
        let writers: std::collections::BTreeSet<_> = performed
            .facts
            .iter()
            .filter(|fact| matches!(&fact.what, What::Wrote { key, .. } if &*key.namespace == "demo" && key.kind.name() != "Event"))
            .map(|fact| fact.actor.word())
            .collect();
        first_writers.push(writers);
    }
    assert!(
        first_writers[0].contains("deployment") && !first_writers[0].contains("replicaset"),
        "{first_writers:?}"
    );
    assert!(
        first_writers[1].contains("replicaset") && !first_writers[1].contains("scheduler"),
        "{first_writers:?}"
    );
    assert!(
        first_writers[2].contains("scheduler") && !first_writers[2].contains("kubelet"),
        "{first_writers:?}"
    );
    assert!(first_writers[3].contains("kubelet"), "{first_writers:?}");
}

#[test]
fn steps_of_a_tick_end_where_the_tick_ends() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    tick(&mut history, 2);
    let mut by_steps: Cluster = (**history.cluster()).clone();
    let mut by_tick = by_steps.clone();
    let mut facts = Vec::new();
    while by_steps.step(&mut facts) != Moved::TickEnded {}
    let mut tick_facts = Vec::new();
    by_tick.finish_tick(&mut tick_facts);
    assert_eq!(by_steps.digest(), by_tick.digest());
    assert_eq!(facts, tick_facts);
}

#[test]
fn every_write_leads_back_to_the_person_who_asked() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    until_quiet(&mut history);
    assert_eq!(ready(&history, "demo"), 3);
    let pods_ready: Vec<_> = history
        .facts()
        .filter(|fact| matches!(fact.actor, Actor::Kubelet(_)))
        .filter(|fact| matches!(&fact.what, What::Wrote { key, .. } if &*key.namespace == "demo"))
        .map(|fact| fact.id)
        .collect();
    assert!(!pods_ready.is_empty());
    for id in pods_ready {
        let chain = history.causes(id);
        assert!(chain.iter().any(|fact| fact.actor == Actor::You), "fact {id:?} leads back to {chain:?}");
    }
}

#[test]
fn every_write_says_why() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    until_quiet(&mut history);
    for fact in history.facts().filter(|fact| !matches!(fact.actor, Actor::You | Actor::ApiServer)) {
        if let What::Wrote { key, .. } = &fact.what {
            assert!(fact.because.is_some(), "{} wrote {key} without a reason", fact.actor);
        }
    }
}

#[test]
fn a_quiet_cluster_stays_as_it_is_but_for_heartbeats() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    until_quiet(&mut history);
    let before = history.all_facts().len();
    tick(&mut history, 50);
    let loud: Vec<_> = history.all_facts().iter().skip(before).filter(|fact| !fact.routine).collect();
    assert!(loud.is_empty(), "{loud:?}");
}
