//! What a script writes: files, and lines of output.

use super::super::process::{Deed, Moment};
use super::{MAX_BYTES, Shell, Target};

/// Folders that every image has.
const FOLDERS: [&str; 18] = [
    "/",
    "/bin",
    "/dev",
    "/dev/null",
    "/etc",
    "/home",
    "/lib",
    "/mnt",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sys",
    "/tmp",
    "/usr",
    "/var",
    "/var/lib",
    "/var/log",
];

impl Shell<'_> {
    /// The text of a file, if it is there.
    pub(super) fn file(&self, file: &str) -> Option<String> {
        if let Some(text) = self.written.get(file) {
            return Some(text.clone());
        }
        let is_removed =
            self.removed.iter().any(|gone| file == gone || file.starts_with(&format!("{gone}/")));
        if is_removed { None } else { (self.around.read)(file) }
    }

    /// Whether a file or a folder is there.
    pub(super) fn has_file(&self, file: &str) -> bool {
        let file = if file.len() > 1 { file.trim_end_matches('/') } else { file };
        FOLDERS.contains(&file)
            || self.file(file).is_some()
            || self.paths().iter().any(|path| path.starts_with(&format!("{file}/")))
    }

    /// The files that are there.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = (self.around.list)();
        paths.retain(|path| self.file(path).is_some());
        paths.extend(self.written.keys().cloned());
        paths.sort();
        paths.dedup();
        paths
    }

    /// Writes lines to where the command's output goes.
    pub(super) fn put(&mut self, lines: impl IntoIterator<Item = String>, target: &Target) {
        match &target.file {
            _ if target.dropped => {}
            Some((file, behind)) => {
                let text: String = lines.into_iter().map(|line| line + "\n").collect();
                if *behind { self.append(file.clone(), text) } else { self.write(file.clone(), text) }
            }
            None => lines.into_iter().for_each(|line| self.print(line)),
        }
    }

    /// Writes a line about an error.
    pub(super) fn complain(&mut self, line: String, target: &Target) {
        if target.quiet {
            return;
        }
        if !self.beside {
            self.moments.push(Moment { at_seconds: self.at_seconds(), deed: Deed::Print(line.clone()) });
        }
        self.errors.push(line);
    }

    pub(super) fn print(&mut self, line: String) {
        if let Some(caught) = self.caught.last_mut() {
            caught.push(line);
            return;
        }
        self.moments.push(Moment { at_seconds: self.at_seconds(), deed: Deed::Print(line.clone()) });
        self.output.push(line);
    }

    pub(super) fn write(&mut self, file: String, text: String) {
        // Files that grow for ever are kept as long as a log.
        let start = text.len().saturating_sub(MAX_BYTES);
        let text = text.get(start..).unwrap_or_default().to_string();
        let deed = Deed::Write(file.clone(), text.clone());
        self.moments.push(Moment { at_seconds: self.at_seconds(), deed });
        self.removed.remove(&file);
        self.written.insert(file, text);
    }

    /// Writes behind what stands in the file.
    pub(super) fn append(&mut self, file: String, more: String) {
        let deed = Deed::Append(file.clone(), more.clone());
        let mut text = self.file(&file).unwrap_or_default();
        text.push_str(&more);
        // What the script itself can read of a file that grows for ever is its end.
        let start = (text.len().saturating_sub(MAX_BYTES)..text.len()).find(|at| text.is_char_boundary(*at));
        let text = text.split_off(start.unwrap_or(0));
        self.moments.push(Moment { at_seconds: self.at_seconds(), deed });
        self.removed.remove(&file);
        self.written.insert(file, text);
    }

    pub(super) fn remove(&mut self, file: String) {
        self.moments.push(Moment { at_seconds: self.at_seconds(), deed: Deed::Remove(file.clone()) });
        self.written.retain(|written, _| *written != file && !written.starts_with(&format!("{file}/")));
        self.removed.insert(file);
    }
}
