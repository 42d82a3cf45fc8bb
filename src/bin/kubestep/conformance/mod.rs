//! `kubestep conformance`: plays cases recorded on a real cluster and compares.
//!
//! Knows formats, never cases: what to do follows from the keys of a case alone.

mod case;
mod floors;
mod nodes;
mod placeholder;
mod placement;
mod session;
mod setting;
mod stage;
mod state;
mod steps;
mod text;
mod timeline;
mod tree;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use case::{Case, Format};

/// After this long a case counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// The stack of a case's thread: deep recursion is a finding, not a crash of the whole run.
const STACK_BYTES: usize = 64 << 20;

/// Runs the command.
pub fn command(
    paths: &[PathBuf],
    show: &[String],
    list_failed: bool,
    floors: Option<&Path>,
) -> Result<ExitCode, String> {
    let floors = floors.map(floors::read).transpose()?;
    let mut cases: Vec<Case> = case::find(paths)?;
    if !show.is_empty() {
        cases.retain(|case| show.contains(&case.id));
        if cases.is_empty() {
            return Err(format!("no case {} in {}", show.join(", "), paths[0].display()));
        }
    }
    std::panic::set_hook(Box::new(|_| {}));
    let verdicts = play_all(cases);
    let mut totals: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (case, verdict) in &verdicts {
        let (passed, total) = totals.entry(case.area.clone()).or_default();
        *total += 1;
        *passed += usize::from(verdict.is_ok());
        match verdict {
            Ok(()) if !show.is_empty() => println!("{} passes\n", case.id),
            Err(difference) if !show.is_empty() => {
                println!("{}: {}\n{difference}\n", case.id, case.about);
            }
            Err(difference) if list_failed => println!("{} {}: {}", case.area, case.id, headline(difference)),
            _ => {}
        }
    }
    for (area, (passed, total)) in &totals {
        println!("{area} {passed}/{total}");
    }
    let mut code = ExitCode::SUCCESS;
    for (area, floor) in floors.unwrap_or_default() {
        let passed = totals.get(&area).map_or(0, |(passed, _)| *passed);
        if passed < floor {
            eprintln!("{area}: {passed} pass, {floor} did before");
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

/// The step and the first line that differs, in one line.
fn headline(difference: &str) -> String {
    let first = difference.lines().next().unwrap_or_default();
    let rest = || difference.lines().skip(1);
    let changed =
        rest().find(|line| line.starts_with("- ") || line.starts_with("+ ")).or_else(|| rest().next());
    format!("{first} {}", changed.unwrap_or_default()).trim().to_string()
}

/// Plays every case, each in a thread of its own, as many at a time as the machine has processors.
fn play_all(cases: Vec<Case>) -> Vec<(Arc<Case>, Result<(), String>)> {
    let cases: Vec<Arc<Case>> = cases.into_iter().map(Arc::new).collect();
    let next = AtomicUsize::new(0);
    let verdicts = Mutex::new(vec![None; cases.len()]);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { return };
                    let verdict = play_guarded(case);
                    if let Ok(mut verdicts) = verdicts.lock() {
                        verdicts[index] = Some(verdict);
                    }
                }
            });
        }
    });
    let verdicts = verdicts.into_inner().unwrap_or_default();
    let verdicts =
        verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(|| Err("was not played".to_string())));
    cases.into_iter().zip(verdicts).collect()
}

/// Plays one case; a panic or a hang is a failure like any other.
fn play_guarded(case: &Arc<Case>) -> Result<(), String> {
    let (sender, receiver) = mpsc::channel();
    let shared = Arc::clone(case);
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let verdict = std::panic::catch_unwind(|| play(&shared)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("panicked: {}", text.unwrap_or("without words")))
        });
        // The receiver has given up when nobody listens.
        let _ = sender.send(verdict);
    });
    match thread {
        Ok(_) => receiver
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|_| Err(format!("did not end within {} s", PATIENCE.as_secs()))),
        Err(error) => Err(format!("no thread: {error}")),
    }
}

fn play(case: &Case) -> Result<(), String> {
    match case.format {
        Format::Steps => steps::play(case),
        Format::Placement => placement::play(case),
        Format::Session => session::play(case),
        Format::Timeline => timeline::play(case),
        Format::Unknown => Err("the format is not known".to_string()),
    }
}
