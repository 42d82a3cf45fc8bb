//! The tools beside kubectl: to pipe into, and a few comforts.

use super::CLEAR;
use super::network::{self, Place};
use super::pattern::Pattern;
use crate::kubectl::execution::Output;
use crate::kubectl::host::Host;
use crate::kubectl::session::Session;

/// The tools, and what each does.
pub(crate) const TOOLS: &[(&str, &str)] = &[
    ("cat", "print files, or what is piped in"),
    ("clear", "empty the terminal"),
    ("curl", "send a request from outside the cluster (-s, -i, -I, -f, -H, -X, -o, -w)"),
    ("dig", "look up a name (+short)"),
    ("echo", "print its arguments"),
    ("grep", "keep the lines that match (-i, -v, -c, -n, -o, -w, -E, -F)"),
    ("head", "keep the first lines (-n 10)"),
    ("help", "list the commands"),
    ("history", "list the lines that were run"),
    ("ls", "list the files"),
    ("nslookup", "look up a name"),
    ("sort", "sort the lines (-r, -n, -u)"),
    ("tail", "keep the last lines (-n 10)"),
    ("uniq", "drop lines equal to the one before (-c)"),
    ("wc", "count lines, words and bytes (-l, -w, -c)"),
    ("wget", "send a request (-qO-)"),
];

/// Tools that people may expect and that a later release has.
const LATER: &[&str] = &["awk", "cut", "sed", "sleep", "watch", "xargs"];

/// Runs a tool.
pub(super) fn run(
    command: &str,
    args: &[String],
    input: Option<&str>,
    session: &mut Session,
    host: &mut dyn Host,
) -> Output {
    match command {
        "cat" => cat(args, input, host),
        "curl" | "wget" | "nslookup" | "dig" => {
            let words: Vec<String> =
                std::iter::once(command.to_string()).chain(args.iter().cloned()).collect();
            session.requests += 1;
            network::run(&words, &Place::Outside, session.requests - 1, &session.forwards, host)
        }
        "clear" => Output::of(CLEAR),
        "echo" => Output::of(format!("{}\n", args.join(" "))),
        "true" | ":" => Output::default(),
        "false" => Output { exit: 1, ..Output::default() },
        "grep" | "egrep" | "fgrep" => grep(command, args, input, host),
        "head" | "tail" => ends(command, args, input, host),
        "help" => Output::of(help()),
        "history" => {
            let lines =
                session.history.iter().enumerate().map(|(index, line)| format!("{:>5}  {line}\n", index + 1));
            Output::of(lines.collect::<String>())
        }
        "ls" => Output::of(host.files().iter().map(|name| format!("{name}\n")).collect::<String>()),
        "sort" => sort(args, input, host),
        "uniq" => uniq(args, input, host),
        "wc" => count(args, input, host),
        _ if LATER.contains(&command) => {
            failed(&format!("{command} is not in this release of Kubestep; try `help`"), 127)
        }
        _ => failed(&format!("{command}: command not found"), 127),
    }
}

fn failed(message: &str, exit: i32) -> Output {
    Output { stderr: format!("{message}\n"), exit, ..Output::default() }
}

fn help() -> String {
    let mut out = "kubectl          controls the cluster: try `kubectl help`\n".to_string();
    for (name, about) in TOOLS {
        out.push_str(&format!("{name:<16} {about}\n"));
    }
    out.push_str("\nCommands can be joined by | ; && and ||, and here-documents (<<EOF) are known.\n");
    out
}

/// The options (letters without dashes, and values) and the other arguments.
fn options(args: &[String], with_value: &str) -> (Vec<(char, String)>, Vec<String>) {
    let (mut options, mut others) = (Vec::new(), Vec::new());
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.strip_prefix('-').filter(|letters| !letters.is_empty() && !letters.starts_with('-')) {
            Some(digits) if digits.chars().all(|c| c.is_ascii_digit()) => {
                options.push(('n', digits.to_string()))
            }
            Some(letters) => {
                for (at, letter) in letters.char_indices() {
                    if with_value.contains(letter) {
                        let attached = &letters[at + letter.len_utf8()..];
                        let value = if attached.is_empty() {
                            args.next().cloned()
                        } else {
                            Some(attached.to_string())
                        };
                        options.push((letter, value.unwrap_or_default()));
                        break;
                    }
                    options.push((letter, String::new()));
                }
            }
            None => others.push(arg.clone()),
        }
    }
    (options, others)
}

/// The text to work on: the files named, or what is piped in.
fn text(command: &str, files: &[String], input: Option<&str>, host: &dyn Host) -> Result<String, Output> {
    if files.is_empty() {
        return Ok(input.unwrap_or_default().to_string());
    }
    let mut out = String::new();
    for name in files {
        match name.as_str() {
            "-" => out.push_str(input.unwrap_or_default()),
            _ => match host.file(name) {
                Some(text) => out.push_str(&text),
                None => return Err(failed(&format!("{command}: {name}: No such file or directory"), 1)),
            },
        }
    }
    Ok(out)
}

fn cat(args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    text("cat", args, input, host).map_or_else(|failure| failure, Output::of)
}

fn grep(command: &str, args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let (options, mut others) = options(args, "eAB");
    let on = |letter: char| options.iter().any(|(option, _)| *option == letter);
    let pattern = match options.iter().find(|(option, _)| *option == 'e') {
        Some((_, pattern)) => pattern.clone(),
        None if others.is_empty() => return failed("usage: grep [-icnovwEF] PATTERN [FILE]", 2),
        None => others.remove(0),
    };
    let pattern = if on('F') || command == "fgrep" {
        Pattern::fixed(&pattern, on('i'))
    } else {
        Pattern::new(&pattern, on('E') || command == "egrep", on('i'))
    };
    let text = match text("grep", &others, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    let is_word = |character: Option<&char>| character.is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let (mut out, mut found) = (String::new(), 0_usize);
    for (index, line) in text.lines().enumerate() {
        let characters: Vec<char> = line.chars().collect();
        let place = pattern.find(line).filter(|&(from, to)| {
            !on('w') || !(from > 0 && is_word(characters.get(from - 1)) || is_word(characters.get(to)))
        });
        if place.is_some() == on('v') {
            continue;
        }
        found += 1;
        if on('c') || on('q') {
            continue;
        }
        if on('n') {
            out.push_str(&format!("{}:", index + 1));
        }
        match place.filter(|_| on('o')) {
            Some((from, to)) => out.extend(&characters[from..to]),
            None => out.push_str(line),
        }
        out.push('\n');
    }
    if on('c') {
        out = format!("{found}\n");
    }
    Output { stdout: out, exit: i32::from(found == 0), ..Output::default() }
}

fn ends(command: &str, args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let (options, others) = options(args, "nc");
    let given = options.iter().rev().find(|(option, _)| *option == 'n').map_or("10", |(_, value)| value);
    let (from_start, digits) = match given.strip_prefix('+') {
        Some(digits) => (true, digits),
        None => (false, given),
    };
    let Ok(count) = digits.parse::<usize>() else {
        return failed(&format!("{command}: invalid number of lines: '{given}'"), 1);
    };
    let text = match text(command, &others, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let kept = match (command, from_start) {
        ("head", _) => &lines[..count.min(lines.len())],
        (_, true) => &lines[count.saturating_sub(1).min(lines.len())..],
        (_, false) => &lines[lines.len().saturating_sub(count)..],
    };
    Output::of(kept.concat())
}

fn sort(args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let (options, others) = options(args, "kt");
    let on = |letter: char| options.iter().any(|(option, _)| *option == letter);
    let text = match text("sort", &others, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    let column: usize = options
        .iter()
        .find(|(option, _)| *option == 'k')
        .and_then(|(_, value)| value.split(',').next()?.parse().ok())
        .unwrap_or(0);
    let key = |line: &str| match column {
        0 => line.to_string(),
        column => line.split_whitespace().skip(column - 1).collect::<Vec<_>>().join(" "),
    };
    let number = |line: &str| {
        let key = key(line);
        let digits: String =
            key.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        digits.parse::<i64>().unwrap_or(0)
    };
    let mut lines: Vec<&str> = text.lines().collect();
    if on('n') {
        lines.sort_by_key(|line| number(line));
    } else {
        lines.sort_by_key(|line| key(line));
    }
    if on('r') {
        lines.reverse();
    }
    if on('u') {
        lines.dedup();
    }
    Output::of(lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

fn uniq(args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let (options, others) = options(args, "");
    let text = match text("uniq", &others, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    let mut runs: Vec<(usize, &str)> = Vec::new();
    for line in text.lines() {
        match runs.last_mut() {
            Some((count, last)) if *last == line => *count += 1,
            _ => runs.push((1, line)),
        }
    }
    let counted = options.iter().any(|(option, _)| *option == 'c');
    let shown = |(count, line): (usize, &str)| {
        if counted { format!("{count:>7} {line}\n") } else { format!("{line}\n") }
    };
    Output::of(runs.into_iter().map(shown).collect::<String>())
}

fn count(args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let (options, others) = options(args, "");
    let text = match text("wc", &others, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    let counts =
        [('l', text.matches('\n').count()), ('w', text.split_whitespace().count()), ('c', text.len())];
    let asked: Vec<usize> = counts
        .iter()
        .filter(|(letter, _)| options.is_empty() || options.iter().any(|(option, _)| option == letter))
        .map(|(_, count)| *count)
        .collect();
    Output::of(match asked.as_slice() {
        [one] => format!("{one}\n"),
        many => many.iter().map(|count| format!("{count:>7}")).collect::<String>() + "\n",
    })
}
