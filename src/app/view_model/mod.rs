//! What each pane draws: plain values, already worded, with no Kubernetes decision left to make.

pub mod editor;
pub mod faults;
pub mod lesson;
pub mod map;
pub mod object;
pub mod pods;
pub mod road;
pub mod scheduling;
pub mod share;
pub mod telling;
pub mod terminal;
pub mod timeline;
pub mod trace;
pub mod transcript;
pub mod transport;
pub mod why;
pub mod workload;

pub use mark::{Mark, Marks};
pub use reference::ObjectReference;
pub use table::{Cell, Table};
pub use tint::{ActorTag, Tint};

mod mark;
mod reference;
mod table;
mod tint;
