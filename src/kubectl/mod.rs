//! The words: kubectl and the small shell around it.

pub mod history_host;
pub mod host;
pub mod trace_text;
