//! Small things that several panes draw. Each function returns its markup and decides nothing.

pub mod actor;
pub mod diff;
pub mod icon;
pub mod line;
pub mod manifest;
pub mod marks;
pub mod pieces;
pub mod tabs;
pub mod verdicts;
