//! One recorded session and the digests of the cluster after each of its commands. The native tests and the tests in
//! WebAssembly both compile this file.

use std::collections::BTreeMap;

use kubestep::cluster::history::History;
use kubestep::cluster::settings::Settings;
use kubestep::lessons::player::Player;
use kubestep::lessons::script;
use kubestep::share::{Replay, Shared, link};

const SCRIPT: &str = include_str!("session.script");
const MANIFEST: &str = include_str!("shop.yaml");

/// The digests that were written down, one a line.
pub const WRITTEN_DOWN: &str = include_str!("digests.txt");

/// Plays the session.
pub fn play() -> History {
    let files = BTreeMap::from([("shop.yaml".to_string(), MANIFEST.to_string())]);
    let mut player = Player::new(History::new(Settings::default()), files);
    for line in script::parse(SCRIPT).expect("the script can be read") {
        let played = player.play(&line);
        assert_eq!(played.failure, None, "line {}", line.number);
    }
    player.history
}

/// The digest of the cluster at the beginning and after every command.
pub fn digests(history: &History) -> Vec<String> {
    let moments = &history.current().moments;
    let ends = moments
        .iter()
        .enumerate()
        .filter(|(index, moment)| moments.get(index + 1).is_none_or(|next| next.commands != moment.commands));
    ends.map(|(_, moment)| moment.cluster.digest()).collect()
}

/// The same session by its link, played again.
pub fn replay(history: &History) -> History {
    let shared = link::decode(&link::encode(&Shared::of(history))).expect("a link of ours is read");
    let mut replay = Replay::new(&shared);
    while !replay.advance(1) {}
    replay.finish()
}
