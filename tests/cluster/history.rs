//! Going back, forking, and playing again to the same bits.

use kubestep::cluster::command::Command;
use kubestep::cluster::history::History;
use kubestep::cluster::settings::Settings;

use super::stage::{SHOP, ask, create_all, playground, ready, tick, until_quiet};

#[test]
fn a_session_played_again_from_its_log_gives_the_same_bits() {
    let mut live = playground();
    create_all(&mut live, SHOP);
    tick(&mut live, 5);
    ask(&mut live, Command::Step);
    ask(&mut live, Command::Step);
    until_quiet(&mut live);
    let mut replayed = History::new(Settings::default());
    for command in &live.current().log {
        replayed.perform(command.clone());
    }
    assert_eq!(live.cluster().digest(), replayed.cluster().digest());
    assert_eq!(live.moments(), replayed.moments());
    assert_eq!(live.all_facts(), replayed.all_facts());
}

#[test]
fn going_back_shows_the_very_same_cluster_and_changes_nothing() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    tick(&mut history, 3);
    let (then, (_, moment)) = (history.cluster().digest(), history.position());
    tick(&mut history, 10);
    let now = history.cluster().digest();
    history.seek(moment);
    assert_eq!(history.cluster().digest(), then);
    history.seek(usize::MAX);
    assert_eq!(history.cluster().digest(), now);
    assert_eq!(history.branches().len(), 1);
}

#[test]
fn a_command_in_the_past_begins_a_branch_and_leaves_the_first_as_it_was() {
    let mut history = playground();
    create_all(&mut history, SHOP);
    tick(&mut history, 2);
    let (_, moment) = history.position();
    until_quiet(&mut history);
    assert_eq!(ready(&history, "demo"), 3);
    let end = history.cluster().digest();
    history.seek(moment);
    assert!(ask(&mut history, Command::Tick).forked);
    assert_eq!(history.position().0, 1);
    assert_eq!(history.current().parent, Some((0, moment)));
    until_quiet(&mut history);
    assert_eq!(history.cluster().digest(), end, "the same commands on a branch lead to the same cluster");
    history.switch(0, usize::MAX);
    assert_eq!(history.cluster().digest(), end);
}
