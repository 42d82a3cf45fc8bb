//! The contrast of every pair of colours that stands on the screen, measured in the tokens: WCAG 2.2 AA, light and dark.

use std::collections::BTreeMap;
use std::path::Path;

/// Text and its ground, by the names of tokens. At least 4.5:1.
const TEXTS: [(&str, &[&str]); 15] = [
    ("text", &["surface", "ground", "sunken", "accent-soft", "failed-soft", "waiting-soft", "done-soft"]),
    ("text-soft", &["surface", "ground", "sunken", "accent-soft", "failed-soft"]),
    ("text-quiet", &["surface", "ground", "sunken", "accent-soft", "failed-soft"]),
    ("text-faint", &["surface", "ground", "sunken"]),
    ("accent", &["surface", "ground", "sunken", "accent-soft"]),
    ("on-accent", &["accent"]),
    ("done", &["surface", "done-soft", "sunken"]),
    ("waiting", &["surface", "waiting-soft", "sunken"]),
    ("failed", &["surface", "failed-soft", "ground", "sunken"]),
    ("name", &["surface"]),
    ("value", &["surface"]),
    ("actor-you", &["surface"]),
    ("actor-kubelet", &["surface"]),
    ("actor-scheduler", &["surface"]),
    ("actor-other", &["surface"]),
];

/// Shapes that carry meaning, edges of fields, and their ground. At least 3:1.
const SHAPES: [(&str, &[&str]); 12] = [
    ("done", &["surface", "ground"]),
    ("waiting", &["surface", "ground"]),
    ("failed", &["surface", "ground"]),
    ("edge", &["surface"]),
    ("accent", &["surface", "ground", "sunken"]),
    ("actor-api", &["surface"]),
    ("actor-deployment", &["surface"]),
    ("actor-replicaset", &["surface"]),
    ("actor-endpoints", &["surface"]),
    ("actor-route", &["surface"]),
    ("actor-other", &["surface"]),
    ("actor-kubelet", &["surface"]),
];

fn tokens() -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("styles/tokens.css");
    let sheet = std::fs::read_to_string(path).expect("the tokens can be read");
    let lines = sheet.lines().filter_map(|line| line.trim().strip_prefix("--")?.split_once(':'));
    lines
        .map(|(name, value)| (name.trim().to_string(), value.trim().trim_end_matches(';').to_string()))
        .collect()
}

/// Red, green and blue of a token, in the light or the dark scheme.
fn colour(tokens: &BTreeMap<String, String>, name: &str, is_dark: bool) -> [f64; 3] {
    let value = tokens.get(name).unwrap_or_else(|| panic!("no token {name}"));
    if let Some(inner) = value.strip_prefix("var(--").and_then(|rest| rest.strip_suffix(')')) {
        return colour(tokens, inner, is_dark);
    }
    let pair = value.strip_prefix("light-dark(").and_then(|rest| rest.strip_suffix(')'));
    let (light, dark) =
        pair.and_then(|pair| pair.split_once(", ")).unwrap_or_else(|| panic!("{name} is no pair"));
    let hex = if is_dark { dark } else { light }.trim_start_matches('#');
    let part = |at: usize| f64::from(u8::from_str_radix(&hex[at..at + 2], 16).expect("a hexadecimal colour"));
    [part(0), part(2), part(4)]
}

fn luminance(colour: [f64; 3]) -> f64 {
    let linear = |part: f64| {
        let part = part / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2])
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn too_weak(pairs: &[(&str, &[&str])], least: f64) -> Vec<String> {
    let tokens = tokens();
    let mut weak = Vec::new();
    for (front, grounds) in pairs {
        for ground in *grounds {
            for is_dark in [false, true] {
                let ratio = contrast(colour(&tokens, front, is_dark), colour(&tokens, ground, is_dark));
                if ratio < least {
                    let scheme = if is_dark { "dark" } else { "light" };
                    weak.push(format!("{front} on {ground} ({scheme}): {ratio:.2}"));
                }
            }
        }
    }
    weak
}

#[test]
fn text_stands_out_from_its_ground() {
    assert_eq!(too_weak(&TEXTS, 4.5), Vec::<String>::new());
}

#[test]
fn shapes_that_carry_meaning_stand_out_from_their_ground() {
    assert_eq!(too_weak(&SHAPES, 3.0), Vec::<String>::new());
}
