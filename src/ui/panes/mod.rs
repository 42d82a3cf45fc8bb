//! The panes: each draws one view model and decides nothing about Kubernetes.

pub mod bar;
pub mod dialogs;
pub mod editor;
pub mod embed;
pub mod faults;
pub mod inspector;
pub mod lesson;
pub mod map;
pub mod object;
pub mod path;
pub mod road;
pub mod scheduling;
pub mod terminal;
pub mod timeline;
pub mod trace;
pub mod transport;
pub mod why;
