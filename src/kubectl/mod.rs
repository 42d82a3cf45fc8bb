//! The words: kubectl and the small shell around it.
//!
//! [`run`] carries out one line as a terminal would. Most commands finish at once; those that wait (`rollout status`,
//! `delete`, `get -w`) hand back a [`Waiting`] that is polled after every tick, so that nothing ever blocks, and that
//! is simply dropped on Ctrl-C.

pub mod acting;
pub mod commands;
pub mod complete;
pub mod duration;
pub mod execution;
pub mod failure;
pub mod flags;
pub mod go_template;
pub mod history_host;
pub mod host;
pub mod jsonpath;
pub mod parse;
pub mod print;
pub mod resources;
pub mod session;
pub mod shell;
pub mod suggest;
pub mod trace_text;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod transcripts;
#[cfg(test)]
mod tutorials;

pub use execution::{Execution, Output, Poll};
pub use session::Session;
pub use shell::{Waiting, run, run_with_input};
