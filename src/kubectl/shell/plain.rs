//! Tools that know neither the cluster nor its network: `alias`, `echo`, `base64`, `date`, `diff`, `jq`.

use super::jq as filter;
use super::tools::{failed, options, text};
use crate::api::time::Timestamp;
use crate::kubectl::execution::Output;
use crate::kubectl::host::Host;
use crate::kubectl::session::Session;

/// What an alias is kept under among the variables.
pub(super) const ALIAS: &str = "alias ";

/// The name that an alias is kept under.
pub(super) fn alias_of(name: &str) -> String {
    format!("{ALIAS}{name}")
}

/// `alias`: gives a command another name, or lists what has one.
pub(super) fn alias(args: &[String], session: &mut Session) -> Output {
    let mut out = String::new();
    for arg in args {
        let Some((name, value)) = arg.split_once('=') else {
            let known = session.variables.iter().find(|(name, _)| *name == alias_of(arg));
            let Some((_, value)) = known else {
                return failed(&format!("alias: {arg}: not found"), 1);
            };
            out.push_str(&format!("alias {arg}='{value}'\n"));
            continue;
        };
        session.set(&alias_of(name), value);
    }
    if args.is_empty() {
        for (name, value) in &session.variables {
            if let Some(name) = name.strip_prefix(ALIAS) {
                out.push_str(&format!("alias {name}='{value}'\n"));
            }
        }
    }
    Output::of(out)
}

/// The words of a command whose first word is an alias.
pub(super) fn unaliased(words: &mut Vec<String>, session: &Session) {
    let Some(first) = words.first() else { return };
    let known = session.variables.iter().find(|(name, _)| name.strip_prefix(ALIAS) == Some(first));
    if let Some((_, value)) = known {
        let value: Vec<String> = value.split_whitespace().map(str::to_string).collect();
        words.splice(0..1, value);
    }
}

/// `echo` and `printf`.
pub(super) fn echo(command: &str, args: &[String]) -> Output {
    let count =
        args.iter().take_while(|arg| matches!(arg.as_str(), "-n" | "-e" | "-ne" | "-en" | "-E")).count();
    let (options, words) = args.split_at(if command == "echo" { count } else { 0 });
    let on = |letter: char| options.iter().any(|option| option.contains(letter));
    let unescaped = |text: &str| text.replace("\\n", "\n").replace("\\t", "\t");
    if command == "printf" {
        let Some((format, values)) = words.split_first() else { return failed("usage: printf FORMAT", 2) };
        let mut values = values.iter();
        let mut out = String::new();
        loop {
            let left = values.len();
            let mut parts = format.split('%');
            out.push_str(parts.next().unwrap_or_default());
            for part in parts {
                match part.chars().next() {
                    Some('s' | 'd') => {
                        out.push_str(values.next().map_or("", String::as_str));
                        out.push_str(&part[1..]);
                    }
                    _ => out.push_str(&format!("%{part}")),
                }
            }
            if values.len() == 0 || values.len() == left {
                return Output::of(unescaped(&out));
            }
        }
    }
    let text = words.join(" ");
    let text = if on('e') { unescaped(&text) } else { text };
    Output::of(if on('n') { text } else { text + "\n" })
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A text in base64.
pub(super) fn base64_encoded(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_usize, |bits, at| bits << 8 | usize::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let letter = char::from(LETTERS[bits >> (18 - 6 * at) & 63]);
            out.push(if at > chunk.len() { '=' } else { letter });
        }
    }
    out
}

/// The text that base64 stands for.
pub(super) fn base64_decoded(text: &str) -> Option<String> {
    let (mut out, mut bits, mut count) = (Vec::new(), 0_usize, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=') {
        bits = bits << 6 | LETTERS.iter().position(|letter| *letter == byte)?;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 255) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

/// `base64`, and `base64 -d`.
pub(super) fn base64(args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let decodes = args.iter().any(|arg| matches!(arg.as_str(), "-d" | "-D" | "--decode"));
    let keeps_lines = args.iter().any(|arg| arg == "-w0" || arg == "-w" || arg == "--wrap=0");
    let files: Vec<String> =
        args.iter().filter(|arg| !arg.starts_with('-') && *arg != "0").cloned().collect();
    let text = match text("base64", &files, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    if decodes {
        return base64_decoded(&text).map_or_else(|| failed("base64: invalid input", 1), Output::of);
    }
    let encoded = base64_encoded(text.as_bytes());
    if keeps_lines {
        return Output::of(encoded);
    }
    let lines = encoded.as_bytes().chunks(76).map(|line| format!("{}\n", String::from_utf8_lossy(line)));
    Output::of(lines.collect::<String>())
}

/// `Mon Jan  5 09:00:00 UTC 2026`, or what a format makes of it.
pub(super) fn date(args: &[String], now: Timestamp) -> Output {
    const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let text = now.to_string();
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let month = part(5, 7).parse::<usize>().unwrap_or(1).clamp(1, 12) * 3;
    let month = &MONTHS[month - 3..month];
    let day = DAYS[now.0.div_euclid(86_400).rem_euclid(7) as usize];
    let format = args.iter().find_map(|arg| arg.strip_prefix('+'));
    let format = format.unwrap_or("%a %b %e %H:%M:%S UTC %Y");
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        match letters.next().unwrap_or('%') {
            'a' => out.push_str(day),
            'b' => out.push_str(month),
            'e' => out.push_str(&format!("{:>2}", part(8, 10).trim_start_matches('0'))),
            'Y' => out.push_str(part(0, 4)),
            'm' => out.push_str(part(5, 7)),
            'd' => out.push_str(part(8, 10)),
            'H' => out.push_str(part(11, 13)),
            'M' => out.push_str(part(14, 16)),
            'S' => out.push_str(part(17, 19)),
            'F' => out.push_str(part(0, 10)),
            'T' => out.push_str(part(11, 19)),
            's' => out.push_str(&now.0.to_string()),
            'N' => out.push_str("000000000"),
            other => out.push(other),
        }
    }
    Output::of(out + "\n")
}

/// `diff`, which fails when the files differ.
pub(super) fn diff(args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let files: Vec<String> =
        args.iter().filter(|arg| *arg == "-" || !arg.starts_with('-')).cloned().collect();
    let [old, new] = files.as_slice() else { return failed("usage: diff FILE FILE", 2) };
    let mut texts = Vec::new();
    for name in [old, new] {
        match text("diff", std::slice::from_ref(name), input, host) {
            Ok(text) => texts.push(text),
            Err(failure) => return Output { exit: 2, ..failure },
        }
    }
    if texts[0] == texts[1] {
        return Output::default();
    }
    let unified = crate::kubectl::commands::diff::hunks(&texts[0], &texts[1]);
    Output { stdout: format!("--- {old}\n+++ {new}\n{unified}"), exit: 1, ..Output::default() }
}

/// `jq`, with its options.
pub(super) fn jq(args: &[String], input: Option<&str>, host: &dyn Host) -> Output {
    let long = |word: &str| match word {
        "--raw-output" => "-r".to_string(),
        "--compact-output" => "-c".to_string(),
        "--exit-status" => "-e".to_string(),
        "--slurp" => "-s".to_string(),
        "--null-input" => "-n".to_string(),
        "--join-output" => "-j".to_string(),
        other => other.to_string(),
    };
    let args: Vec<String> = args.iter().map(|word| long(word)).collect();
    let (options, others) = options(&args, "");
    let on = |letter: char| options.iter().any(|(option, _)| *option == letter);
    let (script, files) = match others.split_first() {
        Some((script, files)) => (script.as_str(), files),
        None => (".", others.as_slice()),
    };
    let text = match text("jq", files, input, host) {
        Ok(text) => text,
        Err(failure) => return failure,
    };
    let (stdout, problem, truth) = filter::run(script, &on, &text);
    let exit = match &problem {
        Some(problem) if problem.ends_with("compile error") => 3,
        Some(problem) if problem.starts_with("parse") => 2,
        Some(_) => 5,
        None => i32::from(on('e') && !truth),
    };
    let stderr = problem.map(|problem| format!("jq: {problem}\n")).unwrap_or_default();
    Output { stdout, stderr, exit }
}
