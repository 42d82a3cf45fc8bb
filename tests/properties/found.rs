//! Sessions that broke a promise once, as short as they could be made.

use super::act::Act;

/// What was wrong, and the session that showed it.
pub fn sessions() -> Vec<(&'static str, Vec<Act>)> {
    Vec::new()
}
