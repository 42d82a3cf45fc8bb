//! The machine as a whole: ticks, steps, facts and their causes, history.

mod cluster {
    pub mod history;
    pub mod machine;
    pub mod stage;
}
