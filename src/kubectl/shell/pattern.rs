//! The patterns of `grep`: `.`, `[…]`, `*`, `+`, `?`, `^`, `$`, and alternatives with `|`.
//!
//! Leaves out: groups and counted repetition.

/// The most steps that matching one line may take.
const MAX_STEPS: usize = 100_000;

#[derive(Clone, Debug, PartialEq, Eq)]
enum One {
    Any,
    Character(char),
    Set(Vec<(char, char)>, bool),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    one: One,
    least: usize,
    more: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Branch {
    at_start: bool,
    at_end: bool,
    items: Vec<Item>,
}

/// A pattern, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    branches: Vec<Branch>,
    ignore_case: bool,
}

impl Pattern {
    /// Reads a pattern. `extended` is `grep -E`, in which `+`, `?` and `|` need no backslash.
    pub(super) fn new(text: &str, extended: bool, ignore_case: bool) -> Self {
        let text = if ignore_case { text.to_lowercase() } else { text.to_string() };
        let mut branches = vec![Branch { at_start: false, at_end: false, items: Vec::new() }];
        let characters: Vec<char> = text.chars().collect();
        let mut at = 0;
        while at < characters.len() {
            let (escaped, character) = match characters[at] {
                '\\' if at + 1 < characters.len() => {
                    at += 1;
                    (true, characters[at])
                }
                character => (false, character),
            };
            at += 1;
            let special = escaped != extended;
            let last = branches.len() - 1;
            let branch = &mut branches[last];
            let empty = branch.items.is_empty();
            let mut add = |one| branch.items.push(Item { one, least: 1, more: false });
            match character {
                '|' if special => {
                    branches.push(Branch { at_start: false, at_end: false, items: Vec::new() });
                }
                '*' if !escaped && !empty => repeat(branch, 0, true),
                '+' if special && !empty => repeat(branch, 1, true),
                '?' if special && !empty => repeat(branch, 0, false),
                '(' | ')' if special => {}
                '^' if !escaped && empty => branch.at_start = true,
                '$' if !escaped && (at == characters.len() || characters[at] == '|') => branch.at_end = true,
                '.' if !escaped => add(One::Any),
                '[' if !escaped => {
                    let (set, after) = read_set(&characters, at);
                    add(set);
                    at = after;
                }
                'd' if escaped => add(One::Set(vec![('0', '9')], false)),
                's' if escaped => add(One::Set(vec![(' ', ' '), ('\t', '\t')], false)),
                'w' if escaped => {
                    add(One::Set(vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')], false));
                }
                other => add(One::Character(other)),
            }
        }
        Self { branches, ignore_case }
    }

    /// A pattern that means its text.
    pub(super) fn fixed(text: &str, ignore_case: bool) -> Self {
        let text = if ignore_case { text.to_lowercase() } else { text.to_string() };
        let items = text.chars().map(|c| Item { one: One::Character(c), least: 1, more: false }).collect();
        Self { branches: vec![Branch { at_start: false, at_end: false, items }], ignore_case }
    }

    /// The first match in a line, as a range of characters.
    pub(super) fn find(&self, line: &str) -> Option<(usize, usize)> {
        let line: Vec<char> =
            if self.ignore_case { line.to_lowercase().chars().collect() } else { line.chars().collect() };
        let mut steps = 0;
        for start in 0..=line.len() {
            for branch in &self.branches {
                if branch.at_start && start > 0 {
                    continue;
                }
                if let Some(end) = matches(&branch.items, branch.at_end, &line, start, &mut steps) {
                    return Some((start, end));
                }
            }
        }
        None
    }
}

fn repeat(branch: &mut Branch, least: usize, more: bool) {
    if let Some(item) = branch.items.last_mut() {
        item.least = item.least.min(least);
        item.more |= more;
        if least == 0 && !more {
            item.least = 0;
        }
    }
}

fn read_set(characters: &[char], mut at: usize) -> (One, usize) {
    let negated = characters.get(at) == Some(&'^');
    at += usize::from(negated);
    let mut ranges = Vec::new();
    let first = at;
    while let Some(&character) = characters.get(at) {
        if character == ']' && at > first {
            return (One::Set(ranges, negated), at + 1);
        }
        match (characters.get(at + 1), characters.get(at + 2)) {
            (Some('-'), Some(&end)) if end != ']' => {
                ranges.push((character, end));
                at += 3;
            }
            _ => {
                ranges.push((character, character));
                at += 1;
            }
        }
    }
    (One::Set(ranges, negated), at)
}

fn fits(one: &One, character: char) -> bool {
    match one {
        One::Any => true,
        One::Character(expected) => *expected == character,
        One::Set(ranges, negated) => {
            ranges.iter().any(|(from, to)| (*from..=*to).contains(&character)) != *negated
        }
    }
}

fn matches(items: &[Item], at_end: bool, line: &[char], start: usize, steps: &mut usize) -> Option<usize> {
    *steps += 1;
    if *steps > MAX_STEPS {
        return None;
    }
    let Some((item, rest)) = items.split_first() else {
        return (!at_end || start == line.len()).then_some(start);
    };
    let most = if item.more { usize::MAX } else { 1 };
    let mut count = 0;
    while count < most && line.get(start + count).is_some_and(|&character| fits(&item.one, character)) {
        count += 1;
    }
    loop {
        if count < item.least {
            return None;
        }
        if let Some(end) = matches(rest, at_end, line, start + count, steps) {
            return Some(end);
        }
        if count == 0 {
            return None;
        }
        count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_what_grep_finds() {
        for (pattern, extended, line, found) in [
            ("Running", false, "web 1/1 Running", true),
            ("^web", false, "web 1/1", true),
            ("^1", false, "web 1/1", false),
            ("s$", false, "pods", true),
            ("a.c", false, "xabcx", true),
            ("0/[0-9]", false, "web 0/3", true),
            ("Error|Pending", true, "x Pending", true),
            ("Error|Pending", false, "x Pending", false),
            ("Error\\|Pending", false, "x Pending", true),
            ("ab*c", false, "ac", true),
            ("ab+c", true, "ac", false),
            ("[^a]", false, "aaa", false),
        ] {
            assert_eq!(
                Pattern::new(pattern, extended, false).find(line).is_some(),
                found,
                "{pattern} in {line}"
            );
        }
        assert!(Pattern::new("RUNNING", false, true).find("web Running").is_some());
        assert!(Pattern::fixed("a.c", false).find("abc").is_none());
    }
}
