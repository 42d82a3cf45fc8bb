//! The words: kubectl and the small shell around it.

pub mod host;
