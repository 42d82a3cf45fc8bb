//! The tools beside kubectl: to pipe into, and a few comforts.

use super::network::{self, Place};
use super::pattern::Pattern;
use super::plain::{ALIAS, alias, alias_of, base64, date, diff, echo, jq};
use super::{CLEAR, fault, line, traffic};
use crate::api::time::Timestamp;
use crate::cluster::runtime::script::{holds, seq};
use crate::kubectl::commands::Pending;
use crate::kubectl::execution::{Execution, Output, Poll};
use crate::kubectl::host::Host;
use crate::kubectl::session::Session;

/// The tools, and what each does.
pub(crate) const TOOLS: &[(&str, &str)] = &[
    ("alias", "give a command another name (alias k=kubectl)"),
    ("awk", "print columns ('{print $1}')"),
    ("base64", "encode, or decode (-d)"),
    ("cat", "print files, or what is piped in"),
    ("clear", "empty the terminal"),
    ("curl", "send a request from outside the cluster (-s, -i, -I, -f, -H, -X, -o, -w)"),
    ("cut", "keep columns (-d, -f)"),
    ("date", "print the cluster's time (+%H:%M)"),
    ("diff", "compare two files"),
    ("dig", "look up a name (+short)"),
    ("echo", "print its arguments (-n, -e)"),
    ("env", "list the variables"),
    ("export", "set a variable"),
    ("fault", "break or mend a part of the cluster (stop kubelet node-2)"),
    ("grep", "keep the lines that match (-i, -v, -c, -n, -o, -w, -A 2, -B 2, -C 2, -E, -F)"),
    ("head", "keep the first lines (-n 10)"),
    ("help", "list the commands"),
    ("history", "list the lines that were run"),
    ("jq", "filter JSON ('.items[].metadata.name', -r, -c)"),
    ("ls", "list the files"),
    ("nslookup", "look up a name"),
    ("sed", "replace in every line ('s/old/new/g')"),
    ("seq", "count (1 5)"),
    ("sleep", "let time pass"),
    ("sort", "sort the lines (-r, -n, -u)"),
    ("tee", "write to a file what is piped in, and pass it on (-a)"),
    ("tail", "keep the last lines (-n 10)"),
    ("test", "compare texts, numbers and files ([ \"$a\" = b ])"),
    ("tr", "replace characters (-d)"),
    ("traffic", "send requests in every tick (start URL --rate 20)"),
    ("uniq", "drop lines equal to the one before (-c)"),
    ("unset", "forget a variable"),
    ("vi", "open a file in the editor (also vim, nano)"),
    ("watch", "run a command again and again (-n 2)"),
    ("wc", "count lines, words and bytes (-l, -w, -c)"),
    ("wget", "send a request (-qO-)"),
    ("xargs", "run a command with what is piped in"),
];

/// Tools of a real machine that have nothing to do here, and what does their work.
const ELSEWHERE: &[(&str, &str)] = &[
    ("docker", "images come from the simulated registry"),
    ("helm", "apply manifests instead"),
    ("kind", "the cluster is there already"),
    ("kubectx", "use `kubectl config use-context`"),
    ("kubens", "use `kubectl config set-context --current --namespace=NAME`"),
    ("minikube", "the cluster is there already; `kubectl get nodes -o wide` shows addresses"),
    ("openssl", "there are no keys to make here"),
    ("ssh", "nodes have no shell; `kubectl debug node/NAME` looks into one"),
    ("sudo", "you may do everything already"),
];

/// Runs a tool.
pub(super) fn run(
    command: &str,
    args: &[String],
    input: Option<&str>,
    session: &mut Session,
    host: &mut dyn Host,
) -> Output {
    if let Some((name, value)) = assignment(command) {
        session.set(name, value);
        return Output::default();
    }
    match command {
        "export" => {
            args.iter().filter_map(|arg| assignment(arg)).for_each(|(name, value)| session.set(name, value));
            Output::default()
        }
        "awk" | "cut" | "sed" | "tr" => edit(command, args, input, host),
        "tee" => {
            let (options, files) = options(args, "");
            let appends = options.iter().any(|(option, _)| *option == 'a');
            write(&files, appends, input, host, true)
        }
        line::DROP => Output::default(),
        line::WRITE => write(args, false, input, host, false),
        line::APPEND => write(args, true, input, host, false),
        "cat" => cat(args, input, host),
        "curl" | "wget" | "nslookup" | "dig" => {
            let words: Vec<String> =
                std::iter::once(command.to_string()).chain(args.iter().cloned()).collect();
            session.requests += 1;
            network::run(&words, &Place::Outside, session.requests - 1, &session.forwards, host)
        }
        "clear" => Output::of(CLEAR),
        "echo" | "printf" => echo(command, args),
        "alias" => alias(args, session),
        "unalias" => {
            session.variables.retain(|(name, _)| !args.iter().any(|arg| *name == alias_of(arg)));
            Output::default()
        }
        "unset" => {
            session.variables.retain(|(name, _)| !args.contains(name));
            Output::default()
        }
        "env" | "printenv" => {
            let shown = session.variables.iter().filter(|(name, _)| !name.starts_with(ALIAS));
            Output::of(shown.map(|(name, value)| format!("{name}={value}\n")).collect::<String>())
        }
        "base64" => base64(args, input, host),
        "date" => date(args, host.now()),
        "diff" => diff(args, input, host),
        "jq" => jq(args, input, host),
        "less" | "more" => cat(args, input, host),
        "vi" | "vim" | "nano" | "code" => {
            let Some(name) = args.iter().find(|arg| !arg.starts_with('-')) else {
                return failed(&format!("usage: {command} FILE"), 1);
            };
            let text = host.file(name).unwrap_or_default();
            match host.open(name, &text) {
                true => Output::default(),
                false => failed(&format!("{command}: there is no editor here"), 1),
            }
        }
        "true" | ":" => Output::default(),
        "fault" => fault::run(args, session, host),
        "traffic" => traffic::run(args, session, host),
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
        "seq" => match seq(args) {
            Some(numbers) => {
                Output::of(numbers.iter().map(|number| format!("{number}\n")).collect::<String>())
            }
            None => failed("usage: seq [FIRST [STEP]] LAST", 1),
        },
        "test" | "[" | "[[" => {
            let file = |name: &str| host.file(name).map(|text| !text.is_empty());
            match holds(args, &file) {
                Some(holds) => Output { exit: i32::from(!holds), ..Output::default() },
                None => failed(&format!("{command}: {}: the comparison is not known", args.join(" ")), 2),
            }
        }
        "sort" => sort(args, input, host),
        "uniq" => uniq(args, input, host),
        "wc" => count(args, input, host),
        _ => match ELSEWHERE.iter().find(|(name, _)| *name == command) {
            Some((_, why)) => failed(&format!("{command}: command not found: {why}"), 127),
            None => failed(&format!("{command}: command not found"), 127),
        },
    }
}

/// Writes what is piped in to files.
fn write(
    files: &[String],
    appends: bool,
    input: Option<&str>,
    host: &mut dyn Host,
    passes_on: bool,
) -> Output {
    let input = input.unwrap_or_default();
    for name in files.iter().filter(|name| *name != "/dev/null") {
        let before = if appends { host.file(name).unwrap_or_default() } else { String::new() };
        if !host.write(name, &[before.as_str(), input].concat()) {
            return failed(&format!("{name}: files cannot be written here"), 1);
        }
    }
    Output::of(if passes_on { input } else { "" })
}

pub(super) fn failed(message: &str, exit: i32) -> Output {
    Output { stderr: format!("{message}\n"), exit, ..Output::default() }
}

fn help() -> String {
    let mut out = "kubectl          controls the cluster: try `kubectl help`\n".to_string();
    for (name, about) in TOOLS {
        out.push_str(&format!("{name:<16} {about}\n"));
    }
    out.push_str("\nCommands can be joined by | ; && and ||, output can be written to files (> and >>), here-documents (<<EOF), for, while, until and if are known.\n");
    out
}

/// The options (letters without dashes, and values) and the other arguments.
pub(super) fn options(args: &[String], with_value: &str) -> (Vec<(char, String)>, Vec<String>) {
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
pub(super) fn text(
    command: &str,
    files: &[String],
    input: Option<&str>,
    host: &dyn Host,
) -> Result<String, Output> {
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
    let (options, mut others) = options(args, "eABCm");
    let on = |letter: char| options.iter().any(|(option, _)| *option == letter);
    let around = |letter: char| {
        let given = options.iter().rev().find(|(option, _)| *option == letter || *option == 'C');
        given.and_then(|(_, count)| count.parse::<usize>().ok()).unwrap_or(0)
    };
    let (before, after) = (around('B'), around('A'));
    let pattern = match options.iter().find(|(option, _)| *option == 'e') {
        Some((_, pattern)) => pattern.clone(),
        None if others.is_empty() => return failed("usage: grep [-ABCcEFimnoqvw] PATTERN [FILE]", 2),
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
    let most = options.iter().find(|(option, _)| *option == 'm');
    let most = most.and_then(|(_, most)| most.parse().ok()).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.lines().collect();
    let (mut out, mut found) = (String::new(), 0_usize);
    // The first line that is not printed yet, and up to where lines after a match are printed.
    let (mut next, mut until) = (0, 0);
    for (index, line) in lines.iter().enumerate() {
        let characters: Vec<char> = line.chars().collect();
        let place = pattern.find(line).filter(|&(from, to)| {
            !on('w') || !(from > 0 && is_word(characters.get(from - 1)) || is_word(characters.get(to)))
        });
        let is_found = place.is_some() != on('v') && found < most;
        found += usize::from(is_found);
        if on('c') || on('q') || !(is_found || index < until) {
            continue;
        }
        let first = if is_found { index.saturating_sub(before).max(next) } else { index };
        if before + after > 0 && next > 0 && first > next {
            out.push_str("--\n");
        }
        for (number, line) in lines.iter().enumerate().take(index + 1).skip(first) {
            let matches = number == index && is_found;
            if on('n') {
                out.push_str(&format!("{}{}", number + 1, if matches { ':' } else { '-' }));
            }
            match place.filter(|_| on('o') && matches) {
                Some((from, to)) => out.extend(&characters[from..to]),
                None => out.push_str(line),
            }
            out.push('\n');
        }
        next = index + 1;
        if is_found {
            until = index + 1 + after;
        }
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

/// `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then_some((name, value))
}

/// The tools that change every line.
fn edit(command: &str, args: &[String], input: Option<&str>, host: &mut dyn Host) -> Output {
    let with_value = match command {
        "awk" => "F",
        "cut" => "dfc",
        _ => "e",
    };
    let (options, mut others) = options(args, with_value);
    let value = |letter: char| {
        options.iter().rev().find(|(option, _)| *option == letter).map(|(_, value)| value.clone())
    };
    let is_on = |letter: char| options.iter().any(|(option, _)| *option == letter);
    let script = match (command, value('e')) {
        ("cut", _) => String::new(),
        (_, Some(script)) => script,
        _ if others.is_empty() => return failed(&format!("usage: {command} SCRIPT"), 2),
        _ => others.remove(0),
    };
    let set =
        if command == "tr" && !is_on('d') && !others.is_empty() { others.remove(0) } else { String::new() };
    let text = match text(command, &others, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    let unescaped = |text: &str| text.replace("\\n", "\n").replace("\\t", "\t");
    if command == "tr" {
        let (from, to): (Vec<char>, Vec<char>) =
            (unescaped(&script).chars().collect(), unescaped(&set).chars().collect());
        let of = |c: char| match from.iter().position(|known| *known == c) {
            None => Some(c),
            Some(_) if to.is_empty() => None,
            Some(at) => to.get(at).or(to.last()).copied(),
        };
        return Output::of(text.chars().filter_map(of).collect::<String>());
    }
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        let changed = match command {
            "cut" => Some(cut(line, value('d').as_deref().unwrap_or("\t"), &value('f').unwrap_or_default())),
            "awk" => awk(&script, value('F').as_deref(), line, index + 1),
            _ => match substitute(&script, line) {
                Some(line) => Some(line),
                None => return failed(&format!("{command}: only s/old/new/ is known here"), 1),
            },
        };
        if let Some(line) = changed {
            out.push_str(&line);
            out.push('\n');
        }
    }
    Output::of(out)
}

/// The columns of `-f 1,3-4`.
fn cut(line: &str, delimiter: &str, fields: &str) -> String {
    let parts: Vec<&str> = line.split(delimiter).collect();
    if parts.len() == 1 {
        return line.to_string();
    }
    let wanted = |at: usize| {
        fields.split(',').any(|range| match range.split_once('-') {
            None => range.parse() == Ok(at),
            Some((from, to)) => at >= from.parse().unwrap_or(1) && at <= to.parse().unwrap_or(usize::MAX),
        })
    };
    let kept: Vec<&str> =
        parts.iter().enumerate().filter(|(index, _)| wanted(index + 1)).map(|(_, part)| *part).collect();
    kept.join(delimiter)
}

/// `{print $1, $3}`, `NR>1 {print $1}` and `/pattern/ {print}`.
fn awk(script: &str, separator: Option<&str>, line: &str, number: usize) -> Option<String> {
    let (condition, action) = script.split_once('{').unwrap_or((script, "print}"));
    let condition = condition.trim();
    let holds = if let Some(pattern) = condition.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Pattern::new(pattern, true, false).find(line).is_some()
    } else if let Some(least) = condition.strip_prefix("NR>").or(condition.strip_prefix("NR > ")) {
        least.trim().parse::<usize>().is_ok_and(|least| number > least)
    } else if let Some(exact) = condition.strip_prefix("NR==") {
        exact.trim().parse() == Ok(number)
    } else {
        true
    };
    if !holds {
        return None;
    }
    let columns: Vec<&str> = match separator {
        None | Some(" ") => line.split_whitespace().collect(),
        Some(separator) => line.split(separator).collect(),
    };
    let action = action.trim().trim_end_matches('}').trim().trim_start_matches("print").trim();
    if action.is_empty() {
        return Some(line.to_string());
    }
    let of = |term: &str| match term.trim() {
        "$0" => line.to_string(),
        "$NF" => columns.last().copied().unwrap_or_default().to_string(),
        "NR" => number.to_string(),
        term => match term.strip_prefix('$').and_then(|digits| digits.parse::<usize>().ok()) {
            Some(at) => columns.get(at.wrapping_sub(1)).copied().unwrap_or_default().to_string(),
            None => term.trim_matches('"').to_string(),
        },
    };
    let join = |list: &str| -> String {
        // Terms side by side are joined without a blank; quotes keep their blanks.
        let mut out = String::new();
        let mut rest = list.trim();
        while !rest.is_empty() {
            let end = match rest.strip_prefix('"').and_then(|inner| inner.find('"')) {
                Some(end) => end + 2,
                None => rest.find([' ', '"']).unwrap_or(rest.len()).max(1),
            };
            out.push_str(&of(&rest[..end]));
            rest = rest[end..].trim_start();
        }
        out
    };
    Some(action.split(',').map(join).collect::<Vec<_>>().join(" "))
}

/// `s/old/new/`, with `g` for all places.
fn substitute(script: &str, line: &str) -> Option<String> {
    let rest = script.strip_prefix('s')?;
    let delimiter = rest.chars().next()?;
    let parts: Vec<&str> = rest[delimiter.len_utf8()..].split(delimiter).collect();
    let [old, new, flags] = parts.as_slice() else { return None };
    let pattern = Pattern::new(old, false, flags.contains('i') || flags.contains('I'));
    let mut out = String::new();
    let mut rest = line.to_string();
    while let Some((from, to)) = pattern.find(&rest) {
        let letters: Vec<char> = rest.chars().collect();
        out.extend(&letters[..from]);
        out.push_str(new);
        rest = letters[to..].iter().collect();
        if !flags.contains('g') || to == from {
            break;
        }
    }
    Some(out + &rest)
}

/// The tools that wait: `sleep` and `watch`.
pub(super) fn waits(
    command: &str,
    args: &[String],
    session: &Session,
    host: &mut dyn Host,
) -> Option<(Output, Option<Pending>)> {
    match command {
        "sleep" => {
            let text = args.first().map_or("", String::as_str);
            let plain = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            let unit = match &text[plain.len()..] {
                "m" => 60.0,
                "h" => 3600.0,
                _ => 1.0,
            };
            let seconds = plain.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
            let Some(seconds) = seconds else {
                return Some((failed(&format!("sleep: invalid time interval '{text}'"), 1), None));
            };
            let until = Timestamp(host.now().0 + (seconds * unit).ceil() as i64);
            let pending = (until > host.now()).then_some(Pending::Sleep(until));
            Some((Output::default(), pending))
        }
        "watch" => {
            let (options, words) = leading_options(args);
            let every = options.and_then(|seconds| seconds.parse::<f64>().ok()).unwrap_or(2.0);
            if words.is_empty() {
                return Some((failed("usage: watch [-n SECONDS] COMMAND", 1), None));
            }
            let mut repeated = Repeated {
                line: if words.len() == 1 { words[0].clone() } else { quoted(words) },
                every_seconds: (every.ceil() as i64).max(1),
                next: host.now(),
                session: Box::new(Session { history: Vec::new(), ..session.clone() }),
            };
            let poll = repeated.poll(host);
            Some((poll.printed, Some(Pending::Repeat(repeated))))
        }
        _ => None,
    }
}

/// `-n 2` (or `-n2`) in front of a command.
fn leading_options(args: &[String]) -> (Option<String>, &[String]) {
    match args {
        [flag, value, rest @ ..] if flag == "-n" => (Some(value.clone()), rest),
        [flag, rest @ ..] if flag.starts_with("-n") => (Some(flag[2..].to_string()), rest),
        [flag, rest @ ..] if flag.starts_with('-') => leading_options(rest),
        rest => (None, rest),
    }
}

/// Words as a line that is read as the same words.
fn quoted(words: &[String]) -> String {
    let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// A command that is run again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    line: String,
    every_seconds: i64,
    next: Timestamp,
    session: Box<Session>,
}

impl Repeated {
    /// Runs the command when it is time; it never ends by itself.
    pub fn poll(&mut self, host: &mut dyn Host) -> Poll {
        if host.now() < self.next {
            return Poll::default();
        }
        self.next = Timestamp(host.now().0 + self.every_seconds);
        let output = match super::run(&self.line, &mut self.session, host) {
            Execution::Finished(output) | Execution::Waiting(output, _) => output,
        };
        let head = format!("{CLEAR}Every {}.0s: {}\n\n", self.every_seconds, self.line.replace('\'', ""));
        let stdout = format!("{head}{}", output.stdout);
        Poll { printed: Output { stdout, stderr: output.stderr, exit: 0 }, finished: None }
    }
}
