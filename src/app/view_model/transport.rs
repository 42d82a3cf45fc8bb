//! The clock and its buttons.

use crate::app::layout::PlaySpeed;
use crate::cluster::history::History;

/// Where we are in time, and what the buttons may do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transport {
    /// The tick on screen.
    pub tick: i64,
    /// Steps of this tick already done.
    pub step: usize,
    /// Steps of this tick known so far, done or waiting.
    pub steps: usize,
    /// Whether there is an earlier moment.
    pub can_go_back: bool,
    /// Whether nothing but heartbeats is left to do.
    pub is_quiet: bool,
    /// Whether time runs by itself.
    pub is_playing: bool,
    /// Whether the moment on screen is not the newest of its branch.
    pub is_past: bool,
    /// The speed, such as `1×`.
    pub speed: &'static str,
    /// The seed of the cluster.
    pub seed: u64,
}

/// Where the session stands in time.
pub fn transport_view(history: &History, speed: PlaySpeed, is_playing: bool) -> Transport {
    let cluster = history.cluster();
    let (step, steps) = cluster.steps().unwrap_or((0, 0));
    Transport {
        tick: cluster.visible_tick(),
        step: step as usize,
        steps: steps as usize,
        can_go_back: history.position().1 > 0,
        is_quiet: steps == 0 && cluster.is_quiet(),
        is_playing,
        is_past: !history.is_at_end(),
        speed: speed.label(),
        seed: cluster.settings.seed,
    }
}
