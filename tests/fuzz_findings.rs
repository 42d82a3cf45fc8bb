//! Inputs that fuzzing found something with, and the seeds, against the properties that are fuzzed (`fuzz/properties.rs`).
//!
//! Where cargo-fuzz cannot be had, `FUZZ_SECONDS=600 cargo test --release --test fuzz_findings` changes the seeds at
//! random for that long per property; without it, for a moment only.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_types, reason = "how long to go on is about the time on the wall")]

#[path = "../fuzz/properties.rs"]
mod properties;

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

type Property = fn(&[u8]);

const PROPERTIES: &[(&str, Property)] = &[
    ("yaml", properties::yaml),
    ("json", properties::json),
    ("quantity", properties::quantity),
    ("selector", properties::selector),
    ("patch", properties::patch),
    ("link", properties::link),
    ("shell", properties::shell),
    ("request", properties::request),
];

/// The inputs of a folder, sorted by name.
fn inputs(folder: &str, name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(folder).join(name);
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.display().to_string(), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

#[test]
fn saved_inputs_find_nothing_any_more() {
    for (name, property) in PROPERTIES {
        let seeds = inputs("seeds", name);
        assert!(!seeds.is_empty(), "{name} has no seed");
        for (path, bytes) in seeds.into_iter().chain(inputs("findings", name)) {
            println!("{path}");
            property(&bytes);
        }
    }
}

#[test]
fn changed_seeds_find_nothing() {
    let seconds: u64 = env::var("FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    for (name, property) in PROPERTIES {
        let seeds = inputs("seeds", name);
        let end = Instant::now() + Duration::from_secs(seconds).max(Duration::from_millis(100));
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below.max(1)
        };
        while Instant::now() < end && !seeds.is_empty() {
            let mut bytes = seeds[draw(seeds.len())].1.clone();
            for _ in 0..=draw(6) {
                let (at, other) = (draw(bytes.len() + 1), draw(bytes.len() + 1));
                match draw(4) {
                    0 if at < bytes.len() => bytes[at] = draw(256) as u8,
                    1 => bytes.insert(at, b" \n:-[]{},\"'&*!|>#%@0\\\0"[draw(22)]),
                    2 => drop(bytes.drain(at.min(other)..at.max(other).min(at.min(other) + 20))),
                    _ => {
                        let piece = bytes[at.min(other)..at.max(other).min(at.min(other) + 40)].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
            }
            println!("{name}: {:?}", String::from_utf8_lossy(&bytes));
            property(&bytes);
        }
    }
}
