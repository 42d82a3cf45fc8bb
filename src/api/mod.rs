//! The nouns: typed kinds, quantities, labels, the schema, manifests.

pub mod codec;
pub mod cron;
pub mod discovery;
pub mod int_or_string;
pub mod kind;
pub mod kinds;
pub mod labels;
pub mod manifest;
pub mod meta;
pub mod names;
pub mod object;
pub mod quantity;
pub mod schema;
pub mod sharing;
pub mod time;
pub mod versions;
