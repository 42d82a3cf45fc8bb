//! The machine as a whole: ticks, steps, facts and their causes, history; what the controllers do in it; promises that
//! hold whatever is asked.

#![allow(clippy::unwrap_used)]

mod cluster {
    pub mod controllers;
    pub mod ground;
    pub mod history;
    pub mod machine;
    pub mod properties;
    pub mod stage;
}
