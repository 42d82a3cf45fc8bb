//! The stories: lessons as data, the script language they are played in, and the proof that they can be played.
//!
//! A lesson is a folder: `lesson.yaml` ([`format`]), one Markdown file per language ([`telling`]), the manifests it
//! opens with. Its goals are predicates ([`predicate`]) over what was caused and seen; [`progress`] folds them over a
//! session's history.

pub mod catalog;
pub mod check;
pub mod evidence;
pub mod format;
pub mod player;
pub mod predicate;
pub mod progress;
pub mod script;
pub mod telling;

pub use catalog::{all, lesson};
pub use evidence::{Deed, Deeds, Evidence};
pub use format::Lesson;
pub use progress::{GoalState, PredictionState, Progress, evaluate};
