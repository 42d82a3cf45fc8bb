//! The nouns.

pub mod labels;
pub mod names;
pub mod quantity;
