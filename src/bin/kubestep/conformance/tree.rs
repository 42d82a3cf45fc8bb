//! Whether a tree of values is what a recording expects, with placeholders in its texts.

use serde_json::{Map, Value};

use super::placeholder::{Bindings, Class};
use super::text::{Tolerance, matches_line};

/// The most ways of matching that are followed.
const MAX_WAYS: usize = 64;

/// How the items of a list compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One by one.
    Given,
    /// As a set.
    Free,
}

/// Every way (up to a bound) in which `got` is `expected`. Lists compare in order, except those whose key `free` names.
pub fn matches(expected: &Value, got: &Value, free: &[&str], bindings: &Bindings) -> Vec<Bindings> {
    value(expected, got, Order::Given, free, bindings)
}

/// The same for the items of two lists.
pub fn matches_list(
    expected: &[Value],
    got: &[Value],
    order: Order,
    free: &[&str],
    bindings: &Bindings,
) -> Vec<Bindings> {
    if expected.len() != got.len() {
        return Vec::new();
    }
    let mut ways = Vec::new();
    items(expected, &got.iter().collect::<Vec<_>>(), order, free, bindings, &mut ways);
    ways
}

fn value(expected: &Value, got: &Value, order: Order, free: &[&str], bindings: &Bindings) -> Vec<Bindings> {
    match (expected, got) {
        (Value::String(expected), Value::String(got)) => {
            let mut ways = vec![bindings.clone()];
            let (mut wanted, mut lines) = (expected.split('\n'), got.split('\n'));
            loop {
                match (wanted.next(), lines.next()) {
                    (None, None) => return ways,
                    (Some(wanted), Some(line)) => {
                        ways = ways
                            .iter()
                            .flat_map(|way| matches_line(wanted, line, Tolerance::default(), way))
                            .take(MAX_WAYS)
                            .collect();
                    }
                    _ => return Vec::new(),
                }
            }
        }
        (Value::Array(expected), Value::Array(got)) => matches_list(expected, got, order, free, bindings),
        (Value::Object(expected), Value::Object(got)) => map(expected, got, free, bindings),
        (Value::Number(expected), Value::Number(got)) if expected.as_f64() == got.as_f64() => {
            vec![bindings.clone()]
        }
        _ if expected == got => vec![bindings.clone()],
        _ => Vec::new(),
    }
}

fn map(
    expected: &Map<String, Value>,
    got: &Map<String, Value>,
    free: &[&str],
    bindings: &Bindings,
) -> Vec<Bindings> {
    if expected.len() != got.len() {
        return Vec::new();
    }
    let has_placeholder =
        |key: &str| key.match_indices('<').any(|(at, _)| Class::parse(&key[at..]).is_some());
    if expected.keys().any(|key| has_placeholder(key)) {
        // Pairs of key and value, in any order.
        let pairs = |map: &Map<String, Value>| -> Vec<Value> {
            map.iter().map(|(key, value)| Value::Array(vec![key.clone().into(), value.clone()])).collect()
        };
        return matches_list(&pairs(expected), &pairs(got), Order::Free, free, bindings);
    }
    let mut ways = vec![bindings.clone()];
    for (key, wanted) in expected {
        let Some(found) = got.get(key) else { return Vec::new() };
        let order = if free.contains(&key.as_str()) { Order::Free } else { Order::Given };
        ways = ways.iter().flat_map(|way| value(wanted, found, order, free, way)).take(MAX_WAYS).collect();
    }
    ways
}

fn items(
    expected: &[Value],
    got: &[&Value],
    order: Order,
    free: &[&str],
    bindings: &Bindings,
    ways: &mut Vec<Bindings>,
) {
    if ways.len() >= MAX_WAYS {
        return;
    }
    let Some((first, rest)) = expected.split_first() else {
        if !ways.contains(bindings) {
            ways.push(bindings.clone());
        }
        return;
    };
    let candidates = if order == Order::Free { got.len() } else { 1 };
    for position in 0..candidates {
        if got[..position].contains(&got[position]) {
            continue;
        }
        for way in value(first, got[position], Order::Given, free, bindings) {
            let mut left = got.to_vec();
            left.remove(position);
            items(rest, &left, order, free, &way, ways);
            // Where nothing new was bound, other partners would say the same.
            if way == *bindings && !ways.is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_bind_and_lists_compare_as_told() {
        for (expected, got, equal) in [
            (json!({"a": "web-<hash1>", "b": "<hash1>"}), json!({"a": "web-bcdfgh", "b": "bcdfgh"}), true),
            (json!({"a": "web-<hash1>", "b": "<hash1>"}), json!({"a": "web-bcdfgh", "b": "bcdfgg"}), false),
            (json!({"set": [1, 2]}), json!({"set": [2, 1]}), true),
            (json!({"list": [1, 2]}), json!({"list": [2, 1]}), false),
            (json!({"web-<hash1>": 1, "web-<hash2>": 2}), json!({"web-bbbbbb": 2, "web-cccccc": 1}), true),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), false),
        ] {
            let ways = matches(&expected, &got, &["set"], &Bindings::default());
            assert_eq!(!ways.is_empty(), equal, "{expected} {got}");
        }
    }
}
