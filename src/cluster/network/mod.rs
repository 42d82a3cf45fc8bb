//! The request path: proxies, DNS, Ingress, and the trace of a request through them.
//!
//! Each data path works from *programmed* state, kept in the memory of the component that programmed it, and so lags the
//! store: by a tick while the component runs, by any time while it does not.

pub mod dns;
pub mod endpoints;
pub mod ingress;
pub mod programs;
pub mod proxy;
pub mod routes;
pub mod trace;
pub mod traffic;

#[cfg(test)]
mod fixture;
