//! Same seed, same commands, same bits: live twice, live and replayed, and as written down (which is what WebAssembly
//! is compared with, see tests/wasm).

mod session;

use std::path::Path;
use std::sync::OnceLock;

use kubestep::cluster::history::History;

/// The session as it was played first, with its digests.
fn live() -> &'static (History, Vec<String>) {
    static LIVE: OnceLock<(History, Vec<String>)> = OnceLock::new();
    LIVE.get_or_init(|| {
        let history = session::play();
        let digests = session::digests(&history);
        (history, digests)
    })
}

#[test]
fn two_runs_of_a_session_are_the_same_bits_after_every_command() {
    assert_eq!(live().1, session::digests(&session::play()));
}

#[test]
fn a_session_replayed_from_its_link_is_the_same_bits_after_every_command() {
    let (history, digests) = live();
    let again = session::replay(history);
    assert_eq!(*digests, session::digests(&again));
    assert_eq!(history.moments(), again.moments());
}

/// After a change of what the cluster does, `make digests`, and say in the commit why it changed.
#[test]
fn the_digests_are_those_written_down() {
    let digests = live().1.join("\n") + "\n";
    if std::env::var_os("KUBESTEP_BLESS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/determinism/digests.txt");
        std::fs::write(path, &digests).expect("the file can be written");
        return;
    }
    let differs = digests.lines().zip(session::WRITTEN_DOWN.lines()).position(|(a, b)| a != b);
    let commands = (digests.lines().count(), session::WRITTEN_DOWN.lines().count());
    assert!(
        digests == session::WRITTEN_DOWN,
        "the session went another way from command {differs:?} on, with {commands:?} commands: \
         if that is meant, run `make digests`"
    );
}
