//! Tools that know neither the cluster nor its network: `alias`, `echo`, `base64`, `date`, `diff`, `jq`.

use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, NO_PAD, STANDARD};
use base64::{Engine, alphabet};

use super::jq as filter;
use super::tools::{failed, options, text};
use crate::api::time::Timestamp;
use crate::cluster::runtime::script::{formatted, unescaped};
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
    if command == "printf" {
        return match words {
            [] => failed("usage: printf FORMAT", 2),
            words => Output::of(formatted(words)),
        };
    }
    let text = words.join(" ");
    let text = if on('e') { unescaped(&text) } else { text };
    Output::of(if on('n') { text } else { text + "\n" })
}

/// A text in base64.
pub(super) fn base64_encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The text that base64 stands for, with or without its padding, on one line or several.
pub(super) fn base64_decoded(text: &str) -> Option<String> {
    const LENIENT: GeneralPurposeConfig = NO_PAD.with_decode_allow_trailing_bits(true);
    let packed: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').collect();
    let bytes = GeneralPurpose::new(&alphabet::STANDARD, LENIENT).decode(packed).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
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
    let format = args.iter().find_map(|arg| arg.strip_prefix('+'));
    let mut out = String::new();
    let mut letters = format.unwrap_or("%a %b %e %H:%M:%S %Z %Y").chars();
    while let Some(letter) = letters.next() {
        match letter {
            '%' => {
                let letter = letters.next().unwrap_or('%');
                out.push_str(&now.part(letter).unwrap_or_else(|| letter.to_string()));
            }
            letter => out.push(letter),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_its_padding_and_line_ends() {
        assert_eq!(base64_encoded(b"admin"), "YWRtaW4=");
        for packed in ["YWRtaW4=", "YWRtaW4", "YWRt\naW4=\n"] {
            assert_eq!(base64_decoded(packed).as_deref(), Some("admin"), "{packed}");
        }
        assert_eq!(base64_decoded("a*b"), None);
    }
}
