//! Sessions: commands as typed, with what they printed.
//!
//! Where the order of rows is chance, a text can match in several ways. All are tried: the cluster is a value, so a
//! session that fails further down goes on from an earlier way to match.

use kubestep::api::kinds::cluster::Node;
use kubestep::cluster::settings::Settings;
use kubestep::kubectl::Output;
use regex_lite::Regex;
use serde_json::Value;

use super::case::Case;
use super::placeholder::Bindings;
use super::stage::{COMMAND_TAKES_TICKS, Stage, recorded_node};
use super::text::{self, Tolerance};

/// The most ways to match that are followed in one session.
const MAX_WAYS: usize = 240;

/// How long `until` waits.
const UNTIL_TICKS: u64 = 90;

/// Words that a Pod shows in turn while it fails.
const CRASH_WORDS: [&str; 4] = ["CrashLoopBackOff", "Error", "ImagePullBackOff", "ErrImagePull"];

/// Plays a case.
///
/// # Errors
/// What differs, the step first: of all ways to match, those that lead furthest.
pub fn play(case: &Case) -> Result<(), String> {
    let steps = case.value.get("steps").and_then(Value::as_array).cloned().unwrap_or_default();
    // Areas with nodes are told by what their sessions wait for; an API server alone has none.
    let has_nodes = case.area != "api";
    let nodes =
        if has_nodes { ["node-1", "node-2", "node-3"].map(recorded_node).to_vec() } else { Vec::new() };
    let flag = |key: &str| case.value.get(key) == Some(&Value::Bool(true));
    let settings =
        Settings { service_account_admission: flag("service_account_admission"), ..Settings::bare(1, nodes) };
    let mut player = Player {
        steps: &steps,
        unordered: flag("unordered"),
        learner: has_nodes,
        ways_left: MAX_WAYS,
        furthest: (0, String::new()),
    };
    let scene = Scene { stage: Stage::new(settings), bindings: Bindings::default(), awaited: String::new() };
    if player.go(0, scene) { Ok(()) } else { Err(player.furthest.1) }
}

/// A moment of a session.
#[derive(Clone)]
struct Scene {
    stage: Stage,
    bindings: Bindings,
    /// The text that the last `until` waited for.
    awaited: String,
}

struct Player<'a> {
    steps: &'a [Value],
    unordered: bool,
    /// Whether the tolerances of sessions with nodes hold.
    learner: bool,
    ways_left: usize,
    /// The difference that was met furthest down.
    furthest: (usize, String),
}

fn text_of<'v>(step: &'v Value, key: &str) -> &'v str {
    step.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl Player<'_> {
    /// Plays the steps from `index` on. Returns whether all match in some way.
    fn go(&mut self, index: usize, mut scene: Scene) -> bool {
        let Some(step) = self.steps.get(index) else { return true };
        scene.bindings = named(text_of(step, "run"), &scene);
        let line = [text_of(step, "run"), text_of(step, "stdin")].concat();
        if let Some(node) = scene.bindings.unbound(&line).filter(|name| name.starts_with("node")) {
            return self.with_each_node(index, node, &scene);
        }
        let ways = match self.step(step, &mut scene) {
            Ok(ways) => ways,
            Err(difference) => {
                if index >= self.furthest.0 {
                    self.furthest = (index, format!("step {}: {difference}", index + 1));
                }
                return false;
            }
        };
        for (number, bindings) in ways.into_iter().enumerate() {
            if number > 0 {
                if self.ways_left == 0 {
                    return false;
                }
                self.ways_left -= 1;
            }
            if self.go(index + 1, Scene { bindings, ..scene.clone() }) {
                return true;
            }
        }
        false
    }

    /// Goes on with each node that `name` may stand for: a command names one that nothing has shown.
    fn with_each_node(&mut self, index: usize, name: &str, scene: &Scene) -> bool {
        let nodes: Vec<String> =
            scene.stage.cluster.store.list::<Node>().map(|node| node.meta.name.to_string()).collect();
        nodes.iter().any(|node| {
            let mut scene = scene.clone();
            scene.bindings.bind(name, node) && self.go(index, scene)
        })
    }

    /// Plays one step. Returns the ways in which it matches.
    fn step(&self, step: &Value, scene: &mut Scene) -> Result<Vec<Bindings>, String> {
        if step.get("settle").is_some() {
            scene.stage.settle_namespace();
            return Ok(vec![scene.bindings.clone()]);
        }
        if let Some(seconds) = step.get("sleep").and_then(Value::as_f64) {
            scene.stage.advance(seconds.ceil() as u64);
            return Ok(vec![scene.bindings.clone()]);
        }
        if let Some(until) = step.get("until") {
            wait_until(until, scene)?;
            return Ok(vec![scene.bindings.clone()]);
        }
        let line = filled(text_of(step, "run"), &scene.bindings)?;
        let input = step.get("stdin").and_then(Value::as_str);
        let input = input.map(|input| filled(input, &scene.bindings)).transpose()?;
        let mut met = None;
        let output = match step.get("watched_seconds").and_then(Value::as_f64) {
            None => scene.stage.run(&line, input.as_deref()),
            Some(seconds) => {
                let meanwhile = step.get("meanwhile");
                let at =
                    meanwhile.and_then(|m| m.get("at")).and_then(Value::as_f64).unwrap_or(0.0).ceil() as u64;
                let then = meanwhile.map(|m| (at, text_of(m, "run").to_string()));
                let (output, answer) = scene.stage.watch(&line, seconds.ceil() as u64, then);
                met = meanwhile.zip(answer);
                output
            }
        };
        if self.learner && scene.stage.take_wrote() {
            scene.stage.advance(COMMAND_TAKES_TICKS);
        }
        if !self.learner {
            // Such sessions wait for nothing: between two commands the controllers had time enough.
            scene.stage.settle(1);
        }
        let mut ways = vec![scene.bindings.clone()];
        if let Some((meanwhile, answer)) = &met {
            ways = self.compare(text_of(meanwhile, "run"), meanwhile, answer, scene)?;
        }
        let mut found = Vec::new();
        let mut difference = String::new();
        for bindings in ways {
            let scene = Scene { bindings, ..scene.clone() };
            match self.compare(&line, step, &output, &scene) {
                Ok(more) => found.extend(more),
                Err(text) => difference = text,
            }
        }
        if found.is_empty() { Err(difference) } else { Ok(found) }
    }

    fn compare(
        &self,
        line: &str,
        step: &Value,
        output: &Output,
        scene: &Scene,
    ) -> Result<Vec<Bindings>, String> {
        let awaited = CRASH_WORDS.iter().any(|word| scene.awaited.contains(word));
        let tolerance = Tolerance {
            rows_as_sets: self.learner,
            counts: self.learner,
            crash_words: self.learner && !awaited,
            unordered: self.unordered || step.get("unordered") == Some(&Value::Bool(true)),
        };
        // How often `rollout status` looks while a rollout goes on is chance, as the area's README tells.
        let looks_again = self.learner && line.contains("rollout status") && !line.contains("--watch=false");
        let approximate = looks_again || step.get("approximate") == Some(&Value::Bool(true));
        let stdout = match step.get("stdout_only_lines_matching").and_then(Value::as_str) {
            Some(pattern) => matching_lines(&output.stdout, pattern)?,
            None => output.stdout.clone(),
        };
        if let Some(exit) = step.get("exit").and_then(Value::as_i64)
            && exit != i64::from(output.exit)
        {
            let shown = format!("{}{}", output.stdout, output.stderr);
            let expected = format!("{}{}", text_of(step, "stdout"), text_of(step, "stderr"));
            let texts = text::difference(&expected, &shown, tolerance, &scene.bindings);
            return Err(format!("{line}\n- exit {exit}\n+ exit {}\n{texts}", output.exit));
        }
        let mut ways = vec![scene.bindings.clone()];
        for (name, got) in [("stdout", &stdout), ("stderr", &output.stderr)] {
            let Some(expected) = step.get(name).and_then(Value::as_str) else { continue };
            let found: Vec<Bindings> = ways
                .iter()
                .flat_map(|way| match (approximate && name == "stdout", tolerance.unordered) {
                    (true, _) if looks_again => matches_looks(expected, got, tolerance, way),
                    (true, _) => matches_roughly(expected, got, tolerance, way),
                    (_, true) => text::matches(&split_lists(expected), &split_lists(got), tolerance, way),
                    _ => text::matches(expected, got, tolerance, way),
                })
                .collect();
            if found.is_empty() {
                let texts = text::difference(expected, got, tolerance, &ways[0]);
                return Err(format!("{line}\n{name}:\n{texts}"));
            }
            ways = found;
        }
        Ok(ways)
    }
}

/// Binds what a command names before any output has shown it: the first object whose name is of that form.
fn named(line: &str, scene: &Scene) -> Bindings {
    let mut bindings = scene.bindings.clone();
    for word in line.split([' ', '/', '\'', '"']) {
        if bindings.unbound(word).is_none() || bindings.fill(word).starts_with('<') {
            continue;
        }
        let names = scene.stage.cluster.store.objects().map(|object| &object.meta().name);
        let found =
            names.flat_map(|name| text::matches_line(word, name, Tolerance::default(), &bindings)).next();
        if let Some(found) = found {
            bindings = found;
        }
    }
    bindings
}

fn filled(text: &str, bindings: &Bindings) -> Result<String, String> {
    match bindings.unbound(text) {
        Some(name) => Err(format!("{text}\nnothing has been seen that stands for <{name}>")),
        None => Ok(bindings.fill(text)),
    }
}

fn wait_until(until: &Value, scene: &mut Scene) -> Result<(), String> {
    let line = filled(text_of(until, "run"), &scene.bindings)?;
    let shows = filled(text_of(until, "shows"), &scene.bindings)?;
    scene.awaited = shows.clone();
    let mut last = Output::default();
    for _ in 0..UNTIL_TICKS {
        last = scene.stage.run(&line, None);
        if last.stdout.contains(&shows) || last.stderr.contains(&shows) {
            scene.stage.tick();
            return Ok(());
        }
        scene.stage.tick();
    }
    Err(format!("until {line}\n- shows {shows}\n+ {}{}", last.stdout, last.stderr))
}

/// The lines that match, as the recording kept them.
fn matching_lines(text: &str, pattern: &str) -> Result<String, String> {
    let pattern = Regex::new(pattern).map_err(|error| format!("the pattern {pattern}: {error}"))?;
    Ok(text.lines().filter(|line| pattern.is_match(line)).map(|line| format!("{line}\n")).collect())
}

/// A list in one line as lines.
fn split_lists(text: &str) -> String {
    text.replace(", ", "\n").replace(['[', ']'], "\n")
}

/// Texts whose length depends on timing: every line is one that was recorded, and the first and the last are the same.
fn matches_roughly(expected: &str, got: &str, tolerance: Tolerance, bindings: &Bindings) -> Vec<Bindings> {
    let wanted: Vec<&str> = expected.lines().collect();
    let lines: Vec<&str> = got.lines().collect();
    let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
        return if lines.is_empty() { vec![bindings.clone()] } else { Vec::new() };
    };
    let mut way = bindings.clone();
    for (index, line) in lines.iter().enumerate() {
        let candidates: Vec<&str> = match index {
            _ if index + 1 == lines.len() => vec![last],
            0 => vec![first],
            _ => wanted.clone(),
        };
        let found = candidates
            .iter()
            .find_map(|wanted| text::matches_line(wanted, line, tolerance, &way).into_iter().next());
        match found {
            Some(found) => way = found,
            None => return Vec::new(),
        }
    }
    if lines.is_empty() { Vec::new() } else { vec![way] }
}

/// What `rollout status` printed: the last line is the recorded one, and those before it say what is waited for.
fn matches_looks(expected: &str, got: &str, tolerance: Tolerance, bindings: &Bindings) -> Vec<Bindings> {
    let waits = |line: &&str| line.to_lowercase().starts_with("waiting for ");
    let (Some(wanted), Some((last, before))) = (
        expected.lines().last(),
        got.lines().collect::<Vec<_>>().split_last().map(|(l, b)| (*l, b.to_vec())),
    ) else {
        return text::matches(expected, got, tolerance, bindings);
    };
    if !before.iter().all(waits) {
        return Vec::new();
    }
    text::matches_line(wanted, last, tolerance, bindings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_depend_on_timing_compare_by_their_lines() {
        for (expected, got, equal) in [
            ("a\nb\nb\nc\n", "a\nb\nc\n", true),
            ("a\nb\nc\n", "a\nc\n", true),
            ("a\nb\nc\n", "a\nx\nc\n", false),
            ("a\nb\nc\n", "a\nb\n", false),
            ("a\n", "", false),
        ] {
            let ways = matches_roughly(expected, got, Tolerance::default(), &Bindings::default());
            assert_eq!(!ways.is_empty(), equal, "{expected:?} {got:?}");
        }
    }
}
