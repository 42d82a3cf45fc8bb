//! The API server.

pub mod request;
pub mod status;
pub mod write;
