//! `kubestep share`: makes and reads links.

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use kubestep::cluster::history::History;
use kubestep::cluster::settings::Settings;
use kubestep::lessons::player::Player;
use kubestep::lessons::script;
use kubestep::share::{Shared, link};

/// Prints the link to where a script leads.
///
/// # Errors
/// When the script cannot be read or played.
pub fn encode(path: &Path, seed: u64) -> Result<ExitCode, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = script::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut player = Player::new(History::new(Settings::playground(seed)), Default::default());
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    for line in &lines {
        super::run::fetch_files(line, &folder, &mut player.files);
        if let Some(failure) = player.play(line).failure {
            return Err(format!("{}: line {}: {failure}", path.display(), line.number));
        }
    }
    let shared = Shared { files: player.files, ..Shared::of(&player.history) };
    println!("{}", link::encode(&shared));
    Ok(ExitCode::SUCCESS)
}

/// Prints what a link holds, as JSON. `-` reads it from standard input.
///
/// # Errors
/// The sentence with which it is refused.
pub fn decode(address: &str) -> Result<ExitCode, String> {
    let mut text = address.to_string();
    if address == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text).map_err(|error| format!("standard input: {error}"))?;
    }
    let shared = link::decode(text.trim()).map_err(|error| error.to_string())?;
    println!("{}", shared.to_text());
    Ok(ExitCode::SUCCESS)
}
