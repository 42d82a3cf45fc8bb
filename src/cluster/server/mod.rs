//! The API server: the only way into the store.
//!
//! A person's request runs all stages ([`pipeline`]); a component's write, which is typed and made by code, runs
//! admission and storage ([`transaction`]).

pub mod admit;
pub mod authn;
pub mod authz;
pub mod custom;
pub mod decode;
pub mod default;
pub mod events;
pub mod eviction;
pub mod fields;
pub mod managed;
pub mod patch;
pub mod pipeline;
pub mod prepare;
pub mod request;
pub mod scale;
pub mod select;
pub mod status;
pub mod transaction;
pub mod validate;
pub mod write;
