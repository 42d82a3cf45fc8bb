//! `kubestep lesson check`: proves that the lessons of a folder can be played.

use std::path::Path;
use std::process::ExitCode;

use kubestep::lessons::catalog::Folder;
use kubestep::lessons::check;

/// Checks one lesson's folder, or every lesson in a folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn check_all(path: &Path) -> Result<ExitCode, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut folders = Vec::new();
    if path.join("lesson.yaml").exists() {
        folders.push(path.to_path_buf());
    } else {
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let folder = entry.map_err(failed)?.path();
            if folder.join("lesson.yaml").exists() {
                folders.push(folder);
            }
        }
    }
    folders.sort();
    if folders.is_empty() {
        return Err(format!("{}: there is no lesson", path.display()));
    }
    let mut code = ExitCode::SUCCESS;
    for path in folders {
        let folder = read(&path)?;
        let problems = match folder.read() {
            Ok(told) => check::check(&told),
            Err(problem) => vec![problem],
        };
        if problems.is_empty() {
            println!("{}: can be played", folder.id);
        } else {
            code = ExitCode::FAILURE;
            for problem in problems {
                println!("{}: {problem}", folder.id);
            }
        }
    }
    Ok(code)
}

/// The folder's files as text.
fn read(path: &Path) -> Result<Folder, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let id = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_string();
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if let (true, Some(name)) = (file.is_file(), file.file_name().and_then(|name| name.to_str())) {
            files.push((name.to_string(), std::fs::read_to_string(&file).map_err(failed)?));
        }
    }
    files.sort();
    Ok(Folder { id, files })
}
