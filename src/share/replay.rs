//! From a shared session back to a history, in slices that fit between two frames.

use super::session::Shared;
use crate::cluster::command::Command;
use crate::cluster::history::History;

/// A session being played again.
#[derive(Clone, Debug)]
pub struct Replay {
    history: History,
    left: std::vec::IntoIter<Command>,
    total: usize,
    position: usize,
}

impl Replay {
    /// Boots the session's cluster; its commands are still to be played.
    pub fn new(shared: &Shared) -> Self {
        let history = History::new(shared.settings.clone());
        let left = shared.commands.clone().into_iter();
        Self { history, total: left.len(), left, position: shared.position }
    }

    /// Plays up to that many commands. Returns whether all are played.
    pub fn advance(&mut self, commands: usize) -> bool {
        for command in self.left.by_ref().take(commands) {
            self.history.perform(command);
        }
        self.left.len() == 0
    }

    /// Commands played, and commands in all.
    pub fn progress(&self) -> (usize, usize) {
        (self.total - self.left.len(), self.total)
    }

    /// The history at the session's moment; what was not played yet is played first.
    pub fn finish(mut self) -> History {
        self.advance(usize::MAX);
        self.history.seek(self.position);
        self.history
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::kind::Kind;
    use crate::cluster::server::request::{Request, Verb};
    use crate::cluster::settings::Settings;
    use serde_json::json;

    #[test]
    fn a_session_played_again_is_the_same_cluster_at_every_moment() {
        let mut live = History::new(Settings::bare(7, Vec::new()));
        let body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "demo"}});
        live.perform(Command::Ask(Request::new(Verb::Create, Kind::Namespace, "", "demo", body)));
        for _ in 0..5 {
            live.perform(Command::Tick);
        }
        live.seek(3);
        let mut replay = Replay::new(&Shared::of(&live));
        assert!(!replay.advance(2));
        assert_eq!(replay.progress(), (2, 6));
        let again = replay.finish();
        assert_eq!((again.position(), again.moments()), (live.position(), live.moments()));
        assert_eq!(again.cluster().digest(), live.cluster().digest());
    }
}
