//! "Did you mean this?"
//!
//! Models: `spf13/cobra/command.go` (`SuggestionsFor`).
//! Leaves out: nothing.

/// The names that `typed` may stand for, in the order of `names`: at most two edits away, or beginning with it, or
/// declared to be meant by it.
pub fn suggestions<'a>(typed: &str, names: impl Iterator<Item = (&'a str, &'a [&'a str])>) -> Vec<&'a str> {
    let typed = typed.to_lowercase();
    names
        .filter(|(name, meant_by)| {
            distance(&typed, name) <= 2 || name.starts_with(&typed) || meant_by.contains(&typed.as_str())
        })
        .map(|(name, _)| name)
        .collect()
}

/// How many single-character edits lie between two words.
pub fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_edits() {
        for (left, right, edits) in
            [("", "abc", 3), ("get", "get", 0), ("gte", "get", 2), ("pods", "logs", 2)]
        {
            assert_eq!(distance(left, right), edits, "{left} {right}");
        }
    }
}
