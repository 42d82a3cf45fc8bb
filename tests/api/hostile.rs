//! Texts that mean harm: each ends in a clear error, soon.
//!
//! The aim is 100 ms in a released build. The bound that is asserted leaves room for slow machines; a build without
//! optimisation gets ten times as much.

#![allow(clippy::disallowed_types, reason = "this is about the time on the wall")]

use std::time::{Duration, Instant};

use kubestep::api::manifest::{self, MAX_BYTES, Manifest};

const BOUND: Duration = Duration::from_millis(if cfg!(debug_assertions) { 5000 } else { 500 });

fn bomb(levels: usize, width: usize) -> String {
    let mut text = format!("a0: &a0 [{}]\n", vec!["x"; width].join(","));
    for level in 1..levels {
        let items = vec![format!("*a{}", level - 1); width].join(",");
        text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    text
}

fn merge_bomb() -> String {
    let mut text = "a0: &a0 {k: 1, l: 2}\n".to_string();
    for level in 1..40 {
        text.push_str(&format!("a{level}: &a{level} {{<<: *a{}, x{level}: *a{}}}\n", level - 1, level - 1));
    }
    text
}

/// A document of about 10 MB that would be fine but for its size.
fn large() -> String {
    let line = "  key-of-some-length: value of some length, so that lines look like lines\n";
    format!("apiVersion: v1\nkind: ConfigMap\ndata:\n{}", line.repeat(10_000_000 / line.len()))
}

/// Texts, the word that the error holds, and how it came to be.
fn table() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let deep = 10_000;
    let flow = |open: &str, close: &str| format!("{}1{}", open.repeat(deep), close.repeat(deep));
    let block: String = (0..2500).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let mut nested_anchors: String = (0..120).map(|level| format!("&a{level} [")).collect();
    nested_anchors.push_str(&"x,".repeat(100_000));
    nested_anchors.push_str(&"]".repeat(120));
    let rows: Vec<(&str, String, &str)> = vec![
        ("an alias bomb", bomb(12, 9), "excessive aliasing"),
        ("a wide alias bomb", bomb(4, 500), "excessive aliasing"),
        ("a bomb of merge keys", merge_bomb(), "excessive aliasing"),
        ("anchors around anchors", nested_anchors, "excessive aliasing"),
        ("10 MB of YAML", large(), "larger than"),
        ("10 MB of JSON", format!("{{\"a\":\"{}\"}}", "x".repeat(10_000_000)), "larger than"),
        ("10 MB of nothing", " ".repeat(10_000_000), "larger than"),
        ("10 MB of brackets", "[".repeat(10_000_000), "larger than"),
        ("lists in lists, YAML", flow("[", "]"), "max depth"),
        ("maps in maps, YAML", format!("x: {}", flow("{a: ", "}")), "max depth"),
        ("lists in lists in a block", format!("a: 1\nb: {}", flow("[", "]")), "max depth"),
        ("lists in lists, a line each", format!("a: {}", "[\n ".repeat(deep)), "max depth"),
        ("dashes in dashes", format!("{}x", "- ".repeat(deep)), "max depth"),
        ("questions in questions", format!("{}x", "? ".repeat(deep)), "max depth"),
        ("maps in maps, a line each", block, "max depth"),
        ("lists that never end", "[".repeat(MAX_BYTES - 1), "max depth"),
        ("maps that never end", "{".repeat(MAX_BYTES - 9).replacen('{', "a: {", 1), "max depth"),
        (
            "lists that never end after a mistake",
            format!("a: b: c\n{}", "[".repeat(1_000_000)),
            "mapping values",
        ),
        (
            "lists that never end after no key",
            format!("a: {{[1]: 2}}\nb: {}", "[".repeat(1_000_000)),
            "max depth",
        ),
        ("lists in lists, JSON", format!("{{\"a\":{}}}", flow("[", "]")), "exceeded max depth"),
        ("maps in maps, JSON", flow("{\"a\":", "}"), "exceeded max depth"),
        ("a NUL in YAML", "a: b\0c\n".to_string(), "control characters"),
        ("a NUL at the beginning", "\0a: b\n".to_string(), "control characters"),
        ("only NULs", "\0".repeat(100_000), "control characters"),
        ("a NUL in JSON", "{\"a\": \"b\0c\"}".to_string(), "invalid character '\\x00'"),
        ("a NUL after JSON", "{\"a\": 1}\0".to_string(), "invalid character '\\x00'"),
        ("a quote that never ends", format!("a: \"{}", "x\n".repeat(1_000_000)), "unexpected end of stream"),
        ("an anchor inside itself", "a: &a [*a]".to_string(), "contains itself"),
        ("a tag that is no tag", "a: !<tag:x y".to_string(), "yaml"),
        ("a directive that never ends", format!("%{}", "x".repeat(1_000_000)), "yaml"),
        ("an escape that is none", "a: \"\\U99999999\"".to_string(), "yaml"),
    ];
    let mut rows: Vec<(&str, Vec<u8>, &str)> =
        rows.into_iter().map(|(sentence, text, word)| (sentence, text.into_bytes(), word)).collect();
    rows.push(("bytes that are no UTF-8", b"a: \xff\xfe".to_vec(), "invalid leading UTF-8 octet"));
    rows.push(("half a letter", b"a: \xed\xa0\x80".to_vec(), "UTF-8"));
    rows.push(("half a letter at the end", b"a: \xe2\x82".to_vec(), "UTF-8"));
    rows
}

#[test]
fn hostile_texts_end_in_a_clear_error_soon() {
    let mut slow = Vec::new();
    for (sentence, bytes, word) in table() {
        let start = Instant::now();
        let Manifest { error, documents } = manifest::parse_bytes(&bytes);
        drop(documents);
        let took = start.elapsed();
        println!("{took:>12.1?}  {sentence}");
        let message = error.map(|error| error.message).unwrap_or_default();
        assert!(message.contains(word), "{sentence}: {}", message.chars().take(200).collect::<String>());
        assert!(message.len() < 1000, "{sentence}: a message of {} bytes", message.len());
        if took > BOUND {
            slow.push(format!("{sentence}: {took:?}"));
        }
    }
    assert!(slow.is_empty(), "{slow:#?}");
}

#[test]
fn large_texts_that_are_fine_are_read() {
    let object = |index: usize| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{index}}}\ndata:\n  a: |\n    {}\n",
            "x".repeat(300)
        )
    };
    let text: String = (0..5000).map(object).collect();
    let start = Instant::now();
    let read = manifest::parse(&text);
    println!("{:>12.1?}  {} bytes that are fine", start.elapsed(), text.len());
    assert_eq!((read.error, read.documents.len()), (None, 5000));
}
