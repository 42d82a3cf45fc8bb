//! What the screen knows: state, messages, a pure update, effects as data, and the view models the panes draw.
//!
//! Nothing here touches a browser. A click becomes a [`message::Message`], `update` turns it and the state into a new
//! state and [`effect::Effect`]s, and `view_model` projects the state for each pane.

pub mod assist;
pub mod checking;
pub mod difference;
pub mod effect;
pub mod layout;
pub mod lesson;
pub mod message;
pub mod requests;
pub mod screen;
pub mod session;
pub mod sharing;
pub mod shell;
pub mod state;
pub mod time;
pub mod update;
pub mod view_model;
