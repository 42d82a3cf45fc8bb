//! The request path: proxies, DNS, Ingress, and the trace of a request through them.

pub mod dns;
pub mod ingress;
pub mod proxy;
