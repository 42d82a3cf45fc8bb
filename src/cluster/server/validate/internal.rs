//! Objects as the server holds them inside, where a refusal shows them: other names, other order, nothing left out.
//!
//! Models: the order of fields in `pkg/apis/core/types.go`, `k8s.io/apimachinery/pkg/util/diff` (v1.36).
//! Leaves out: the volumes of single cloud providers, which are shown by name only.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::field::{quoted, shown};

/// The types: a name, then the fields in order. What follows a field's name says how it is held: `"`, `0` and `!` are
/// an empty text, zero and false where nothing is given; `:T` is a record of that type, or a list of them; `=T` is one
/// that is always there; `+T` has its fields in this place. Everything else is null where nothing is given.
const TYPES: &str = include_str!("internal.txt");

/// A value of the table's type, on one line.
pub fn compact(kind: &str, value: &Value) -> String {
    let mut writer = Writer { out: String::new(), pretty: false, depth: 0 };
    writer.record(kind, value);
    writer.out
}

/// The lines in which two values of the table's type differ, as a unified diff.
pub fn difference(kind: &str, old: &Value, new: &Value) -> String {
    let lines = |value| {
        let mut writer = Writer { out: String::new(), pretty: true, depth: 0 };
        writer.record(kind, value);
        writer.out
    };
    unified(&lines(old), &lines(new))
}

fn fields_of(kind: &str) -> impl Iterator<Item = &'static str> {
    let line = TYPES.lines().find(|line| line.split(' ').next() == Some(kind));
    line.into_iter().flat_map(|line| line.split(' ').skip(1))
}

/// A field's name as manifests write it: `DNSPolicy` is `dnsPolicy`.
fn manifest_name(name: &str) -> String {
    let characters: Vec<char> = name.chars().collect();
    let capitals = characters.iter().take_while(|c| c.is_ascii_uppercase()).count();
    let lowered = if capitals > 1 && capitals < characters.len() { capitals - 1 } else { capitals };
    let lower = |(at, c): (usize, &char)| if at < lowered { c.to_ascii_lowercase() } else { *c };
    characters.iter().enumerate().map(lower).collect()
}

struct Writer {
    out: String,
    pretty: bool,
    depth: usize,
}

impl Writer {
    fn line(&mut self) {
        if self.pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', self.depth));
        }
    }

    fn member(&mut self, first: &mut bool, name: &str) {
        if !std::mem::replace(first, false) {
            self.out.push(',');
        }
        self.line();
        self.out.push_str(&quoted(name));
        self.out.push_str(if self.pretty { ": " } else { ":" });
    }

    fn record(&mut self, kind: &str, value: &Value) {
        self.out.push('{');
        self.depth += 1;
        let mut first = true;
        self.fields(kind, value, &mut first);
        self.depth -= 1;
        if !first {
            self.line();
        }
        self.out.push('}');
    }

    fn fields(&mut self, kind: &str, value: &Value, first: &mut bool) {
        for field in fields_of(kind) {
            let end = field.find(['"', '!', '0', ':', '=', '+']).unwrap_or(field.len());
            let (name, held) = field.split_at(end);
            if let Some(kind) = held.strip_prefix('+') {
                self.fields(kind, value, first);
                continue;
            }
            let given = match (kind, name) {
                ("ObjectMeta", name) => {
                    // Metadata has the names of manifests, and leaves out what is not there.
                    if let Some(given) = value["metadata"].get(name).filter(|given| !given.is_null()) {
                        self.member(first, name);
                        self.plain(given);
                    }
                    continue;
                }
                ("PodSpec", "SecurityContext") => Some(security_context(value)),
                _ => value.get(manifest_name(name)).cloned(),
            };
            self.member(first, name);
            match (given.filter(|given| !given.is_null()), held.chars().next()) {
                (Some(Value::Array(items)), Some(':')) => self.list(&items, |writer, item| {
                    writer.record(&held[1..], item);
                }),
                (Some(given), Some(':' | '=')) => self.record(&held[1..], &given),
                (None, Some('=')) => self.record(&held[1..], &Value::Null),
                (Some(given), _) => self.plain(&given),
                (None, Some('"')) => self.out.push_str("\"\""),
                (None, Some('0')) => self.out.push('0'),
                (None, Some('!')) => self.out.push_str("false"),
                (None, _) => self.out.push_str("null"),
            }
        }
    }

    fn list(&mut self, items: &[Value], write: impl Fn(&mut Self, &Value)) {
        self.out.push('[');
        self.depth += 1;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.line();
            write(self, item);
        }
        self.depth -= 1;
        if !items.is_empty() {
            self.line();
        }
        self.out.push(']');
    }

    /// A value without a type of its own.
    fn plain(&mut self, value: &Value) {
        match value {
            Value::Array(items) => self.list(items, Self::plain),
            Value::Object(members) => {
                self.out.push('{');
                self.depth += 1;
                let mut first = true;
                for (name, value) in members {
                    self.member(&mut first, name);
                    self.plain(value);
                }
                self.depth -= 1;
                if !first {
                    self.line();
                }
                self.out.push('}');
            }
            other => {
                let _ = write!(self.out, "{}", shown(other));
            }
        }
    }
}

/// The security context of a Pod, which holds inside what stands beside it in a manifest.
fn security_context(spec: &Value) -> Value {
    let mut context = spec["securityContext"].as_object().cloned().unwrap_or_else(Map::new);
    for name in ["hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers"] {
        if let Some(value) = spec.get(name) {
            context.insert(name.to_string(), value.clone());
        }
    }
    Value::Object(context)
}

/// The lines around each difference.
const CONTEXT_LINES: usize = 3;
/// Beyond this many lines that differ somewhere, no common lines are looked for between them.
const MAX_CHANGED_LINES: usize = 600;

/// A unified diff without its head.
fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = common(&old, &new);
    // Each edit: where it begins and ends in the old and in the new text.
    let mut edits: Vec<[usize; 4]> = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    for (in_old, in_new) in same.into_iter().chain([(old.len(), new.len())]) {
        if in_old > at_old || in_new > at_new {
            edits.push([at_old, in_old, at_new, in_new]);
        }
        (at_old, at_new) = (in_old + 1, in_new + 1);
    }
    let mut out = String::new();
    let mut rest = edits.as_slice();
    while let Some(first) = rest.first() {
        let near = |pair: &[[usize; 4]]| pair[1][0] - pair[0][1] <= 2 * CONTEXT_LINES;
        let count = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
        let (group, later) = rest.split_at(count);
        rest = later;
        let last = group[count - 1];
        let begin = first[0].saturating_sub(CONTEXT_LINES);
        let end = (last[1] + CONTEXT_LINES).min(old.len());
        let (new_begin, new_end) = (first[2] - (first[0] - begin), last[3] + (end - last[1]));
        let _ = writeln!(out, "@@ -{} +{} @@", range(begin, end), range(new_begin, new_end));
        let mut at = begin;
        for [from, to, new_from, new_to] in group {
            let lines = old[at..*from].iter().map(|line| (' ', line));
            let gone = old[*from..*to].iter().map(|line| ('-', line));
            let come = new[*new_from..*new_to].iter().map(|line| ('+', line));
            for (mark, line) in lines.chain(gone).chain(come) {
                let _ = writeln!(out, "{mark}{line}");
            }
            at = *to;
        }
        for line in &old[at..end] {
            let _ = writeln!(out, " {line}");
        }
    }
    out
}

fn range(begin: usize, end: usize) -> String {
    match end - begin {
        0 => format!("{begin},0"),
        1 => format!("{}", begin + 1),
        length => format!("{},{length}", begin + 1),
    }
}

/// The longest common lines, by their places in both texts.
fn common(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut same: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    if old_middle.len().max(new_middle.len()) <= MAX_CHANGED_LINES {
        let width = new_middle.len() + 1;
        let mut lengths = vec![0u16; (old_middle.len() + 1) * width];
        for (row, a) in old_middle.iter().enumerate().rev() {
            for (column, b) in new_middle.iter().enumerate().rev() {
                lengths[row * width + column] = match a == b {
                    true => lengths[(row + 1) * width + column + 1] + 1,
                    false => lengths[(row + 1) * width + column].max(lengths[row * width + column + 1]),
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < old_middle.len() && column < new_middle.len() {
            if old_middle[row] == new_middle[column] {
                same.push((head + row, head + column));
                (row, column) = (row + 1, column + 1);
            } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
                row += 1;
            } else {
                column += 1;
            }
        }
    }
    same.extend((0..tail).map(|at| (old.len() - tail + at, new.len() - tail + at)));
    same
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_of_manifests() {
        for (inside, outside) in [
            ("DNSPolicy", "dnsPolicy"),
            ("SELinuxOptions", "seLinuxOptions"),
            ("TTY", "tty"),
            ("HostIPC", "hostIPC"),
            ("HTTPGet", "httpGet"),
            ("Name", "name"),
            ("APIVersion", "apiVersion"),
        ] {
            assert_eq!(manifest_name(inside), outside);
        }
    }

    #[test]
    fn every_type_that_a_field_has_is_in_the_table() {
        for line in TYPES.lines() {
            for field in line.split(' ').skip(1) {
                if let Some((_, kind)) = field.split_once([':', '=', '+']) {
                    assert!(fields_of(kind).next().is_some(), "{kind} is not in the table");
                }
            }
        }
    }

    #[test]
    fn differences_have_their_context() {
        assert_eq!(
            unified("a\nb\nc\nd\ne\n", "a\nb\nc\nx\ne\n"),
            "@@ -1,5 +1,5 @@\n a\n b\n c\n-d\n+x\n e\n"
        );
        assert_eq!(unified("a\n", "a\nb\n"), "@@ -1 +1,2 @@\n a\n+b\n");
        assert_eq!(unified("a\n", "a\n"), "");
    }

    #[test]
    fn a_claim_is_shown_with_all_its_fields() {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        assert_eq!(
            compact("PersistentVolumeClaimSpec", &spec),
            r#"{"AccessModes":["ReadWriteOnce"],"Selector":null,"Resources":{"Limits":null,"Requests":{"storage":"1Gi"}},"VolumeName":"","StorageClassName":null,"VolumeMode":null,"DataSource":null,"DataSourceRef":null,"VolumeAttributesClassName":null}"#
        );
    }
}
