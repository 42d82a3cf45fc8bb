//! The machine: a cluster as a value, moved by commands, recorded in facts.

pub mod actor;
pub mod because;
pub mod boot;
pub mod command;
pub mod component;
pub mod controllers;
pub mod diff;
pub mod fact;
pub mod fnv;
pub mod history;
pub mod kubelet;
pub mod machine;
pub mod network;
pub mod ownership;
pub mod queue;
pub mod request_path;
pub mod rng;
pub mod runtime;
pub mod scheduler;
pub mod server;
pub mod service_target;
pub mod settings;
pub mod store;
pub mod verdict;
pub mod workload;
pub mod world;
