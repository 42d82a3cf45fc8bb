//! The indexes of an indexed Job: which are done, how they are written down, which come next.
//!
//! Models: `pkg/controller/job/indexed_job_utils.go` (v1.36): `parseIndexesFromString`, `orderedIntervals.String`,
//! `firstPendingIndexes`, `getIndexFailureCount`.
//! Leaves out: nothing.

use std::collections::BTreeSet;

use crate::api::kinds::pod::Pod;

/// The annotation and label with a Pod's index.
pub const COMPLETION_INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// The annotation that counts how often the index failed before this Pod.
pub const INDEX_FAILURES: &str = "batch.kubernetes.io/job-index-failure-count";
/// The annotation that counts the failures that do not count.
pub const INDEX_IGNORED_FAILURES: &str = "batch.kubernetes.io/job-index-ignored-failure-count";

/// Indexes in order.
pub type Indexes = BTreeSet<i32>;

/// The index of a Pod.
pub fn index_of(pod: &Pod) -> Option<i32> {
    pod.meta.annotations.get(COMPLETION_INDEX)?.parse().ok().filter(|index| *index >= 0)
}

/// How often the index had failed before the Pod, by that annotation.
pub fn failures_before(pod: &Pod, annotation: &str) -> i32 {
    pod.meta.annotations.get(annotation).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Reads `0-3,5`; what is not below `completions` is dropped.
pub fn parse(text: &str, completions: i32) -> Indexes {
    let mut indexes = Indexes::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) {
            indexes.extend(first..(last + 1).min(completions));
        }
    }
    indexes
}

/// Writes `0-3,5`: three and more in a row become a range.
pub fn write(indexes: &Indexes) -> String {
    let mut parts: Vec<(i32, i32)> = Vec::new();
    for &index in indexes {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => parts.push((index, index)),
        }
    }
    let text = |(first, last): &(i32, i32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

/// The first indexes below `completions` that are not `taken`, at most `count`.
pub fn first_pending(taken: &Indexes, count: usize, completions: i32) -> Vec<i32> {
    (0..completions).filter(|index| !taken.contains(index)).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_read_and_write_alike() {
        for text in ["", "0", "0,1", "0-2", "0,1,3", "0-3,5,7-9"] {
            assert_eq!(write(&parse(text, 100)), text);
        }
        assert_eq!(write(&parse("0-9", 3)), "0-2", "indexes beyond the completions are dropped");
    }

    #[test]
    fn the_lowest_free_indexes_come_first() {
        assert_eq!(first_pending(&parse("0,2", 5), 2, 5), [1, 3]);
        assert_eq!(first_pending(&parse("0-4", 5), 2, 5), Vec::<i32>::new());
    }
}
