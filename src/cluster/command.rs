//! What can be asked of a cluster from outside: the only things that change it.

use serde::{Deserialize, Serialize};

use super::server::request::Request;

/// One command. A session is its settings and its commands; playing them again gives the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Command {
    /// A request to the API server.
    Ask(Request),
    /// The next work item of the tick; begins the next tick when none is under way.
    Step,
    /// To the end of the tick; begins the next one when none is under way.
    Tick,
}
