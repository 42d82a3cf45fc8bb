//! Equal values that are made again and again, once in memory: what the Pods of one owner have in common.

use std::cell::RefCell;
use std::sync::Arc;

/// How many values are remembered.
const KEPT: usize = 16;

/// The values that were shared last. It decides where a value lies, never what it is.
pub struct Recent<T>(RefCell<Vec<Arc<T>>>);

impl<T: PartialEq> Recent<T> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(RefCell::new(Vec::new()))
    }

    /// The value, shared with the equal one that was made before it, if that is not long ago.
    pub fn shared(&self, value: T) -> Arc<T> {
        let mut kept = self.0.borrow_mut();
        match kept.iter().position(|known| **known == value) {
            Some(at) => kept[..=at].rotate_right(1),
            None => {
                kept.truncate(KEPT - 1);
                kept.insert(0, Arc::new(value));
            }
        }
        Arc::clone(&kept[0])
    }
}

impl<T: PartialEq> Default for Recent<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_lie_in_one_place_until_many_others_came() {
        let recent = Recent::new();
        let first = recent.shared(7);
        assert!(Arc::ptr_eq(&first, &recent.shared(7)));
        for other in 100..100 + KEPT {
            recent.shared(other);
        }
        let later = recent.shared(7);
        assert!(first == later && !Arc::ptr_eq(&first, &later));
    }
}
