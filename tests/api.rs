//! The layer `api` and the server's stages that work on values, tried on recorded cases.

#![allow(clippy::unwrap_used)]

#[path = "api/defaults.rs"]
mod defaults;
#[path = "api/hostile.rs"]
mod hostile;
#[path = "api/invalid.rs"]
mod invalid;
#[path = "api/recorded.rs"]
mod recorded;
#[path = "api/round_trip.rs"]
mod round_trip;
