//! Kubestep: Kubernetes you can step, rewind and trace.
//!
//! Layers, each importing only those above it: [`api`] (the nouns), [`cluster`] (the machine), `kubectl` (the words),
//! `lessons`, `share`, `app` (what the screen knows) and, behind the feature `ui`, `ui` (what it shows).

pub mod api;
pub mod app;
pub mod cluster;
pub mod i18n;
pub mod kubectl;
pub mod lessons;
pub mod share;
#[cfg(feature = "ui")]
pub mod ui;
