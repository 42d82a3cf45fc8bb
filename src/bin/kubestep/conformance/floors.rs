//! The number of cases that passed before, per area: `area = number` lines with comments.

use std::collections::BTreeMap;
use std::path::Path;

/// Reads the file.
///
/// # Errors
/// When it cannot be read or a line says something else.
pub fn read(path: &Path) -> Result<BTreeMap<String, usize>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|line| format!("{}: cannot read `{line}`", path.display()))
}

fn parse(text: &str) -> Result<BTreeMap<String, usize>, String> {
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (area, floor) = line.split_once('=').ok_or(line)?;
            Ok((area.trim().to_string(), floor.trim().parse().map_err(|_| line)?))
        })
        .collect::<Result<_, &str>>()
        .map_err(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_are_numbers_by_area() {
        assert_eq!(parse("# a\napi = 3 # b\n\n"), Ok(BTreeMap::from([("api".to_string(), 3)])));
        assert_eq!(parse("api: 3"), Err("api: 3".to_string()));
    }
}
