//! `kubestep run`: plays a script and prints a transcript.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use kubestep::api::manifest;
use kubestep::app::view_model::transcript::VOICE;
use kubestep::cluster::history::History;
use kubestep::cluster::settings::Settings;
use kubestep::i18n::Language;
use kubestep::lessons::player::{Played, Player};
use kubestep::lessons::script::{self, Instruction, Line};
use serde_json::{Value, json};

/// The longest file that is read beside a script.
const FILE_LIMIT_BYTES: u64 = 10 << 20;

/// How a script is played.
pub struct Options {
    /// The seed of the cluster.
    pub seed: u64,
    /// Whether facts and requests are printed as lines of JSON.
    pub json: bool,
    /// The language of what is told.
    pub language: Language,
}

/// Plays the script in a file, or from standard input (`-`).
///
/// # Errors
/// When it cannot be read.
pub fn command(path: &Path, options: &Options) -> Result<ExitCode, String> {
    let mut text = String::new();
    let folder = if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
        PathBuf::from(".")
    } else {
        text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        path.parent().map(Path::to_path_buf).unwrap_or_default()
    };
    let lines = script::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut player = Player::new(History::new(Settings::playground(options.seed)), BTreeMap::new());
    player.language = options.language;
    player.voice = VOICE;
    for line in &lines {
        fetch_files(line, &folder, &mut player.files);
        let played = player.play(line);
        if options.json {
            print_json(line, &played, &player)
        } else {
            print_text(line, &played, &player)
        }
        if let Some(failure) = &played.failure {
            eprintln!("{}: line {}: {failure}", path.display(), line.number);
            return Ok(ExitCode::FAILURE);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Reads the files beside the script that a line names, unless they were read (and perhaps edited) before.
pub fn fetch_files(line: &Line, folder: &Path, files: &mut BTreeMap<String, String>) {
    let words: Vec<&str> = match &line.instruction {
        Instruction::Shell(text) => text.lines().next().unwrap_or_default().split_whitespace().collect(),
        Instruction::Edit { file, .. } => vec![file],
        _ => return,
    };
    for word in words {
        let word = word.rsplit('=').next().unwrap_or(word).trim_matches(['\'', '"']);
        let word = word.strip_prefix("-f").filter(|rest| !rest.is_empty()).unwrap_or(word);
        for name in word.split(',') {
            let path = folder.join(name);
            let is_small = std::fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= FILE_LIMIT_BYTES);
            if is_small
                && !files.contains_key(name)
                && let Ok(bytes) = std::fs::read(&path)
            {
                files.insert(name.to_string(), manifest::text_of(&bytes));
            }
        }
    }
}

fn print_text(line: &Line, played: &Played, player: &Player) {
    match &line.instruction {
        Instruction::Shell(text) => println!("$ {text}"),
        Instruction::Expect(_) => return,
        _ => println!("> {}", line.text),
    }
    let moves_time = matches!(
        line.instruction,
        Instruction::Tick(_) | Instruction::Step(_) | Instruction::UntilQuiet | Instruction::Back(_)
    );
    let cluster = player.history.cluster();
    print!("{}", played.output.stdout);
    print!("{}", played.output.stderr);
    if moves_time {
        let quiet = if cluster.is_quiet() { " (quiet)" } else { "" };
        println!("t={}{quiet}", cluster.visible_tick());
    } else if matches!(line.instruction, Instruction::Shell(_)) && played.output.exit != 0 {
        println!("(exit {})", played.output.exit);
    }
    println!();
}

fn print_json(line: &Line, played: &Played, player: &Player) {
    let mut entry = json!({
        "line": line.number, "text": line.text, "tick": player.history.cluster().visible_tick(),
    });
    if matches!(line.instruction, Instruction::Shell(_)) {
        entry["stdout"] = json!(played.output.stdout);
        entry["stderr"] = json!(played.output.stderr);
        entry["exit"] = json!(played.output.exit);
    }
    let mut lines: Vec<Value> = vec![entry];
    lines.extend(played.facts.iter().map(|fact| {
        let mut value = fact.to_value();
        value["tick"] = json!(player.history.cluster().shown(fact.tick));
        value
    }));
    lines.extend(played.trace.iter().map(|trace| json!({"trace": trace.to_value()})));
    for line in lines {
        println!("{line}");
    }
}
