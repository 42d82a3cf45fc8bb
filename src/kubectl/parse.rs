//! Words into a command with flags, as kubectl's own parser does it.
//!
//! Flags may stand anywhere: `--name=value`, `--name value`, `-n value`, `-nvalue`, `-n=value`, `-Ao wide`; after `--`
//! everything is an argument.
//!
//! Models: `spf13/pflag/flag.go`, `spf13/cobra/command.go` (as used by kubectl v1.36).
//! Leaves out: deprecated flags, plugins, and the completion that the parser itself offers.

use std::collections::BTreeMap;

use super::commands::{self, Command, Run};
use super::failure::Failure;
use super::flags::GLOBAL;
use super::{duration, suggest};

/// One flag of a command.
#[derive(Debug)]
pub struct Flag {
    /// Its name, without dashes.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// What follows it.
    pub takes: Takes,
}

/// What follows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing, or `=true` or `=false`.
    Nothing,
    /// A text; the last one counts.
    Text,
    /// A whole number.
    Number,
    /// A span of time.
    Duration,
    /// Texts, separated by commas or given again.
    List,
    /// Texts, given again but not separated by commas.
    Texts,
    /// Nothing, which means this text, or `=text`.
    Optional(&'static str),
}

impl Flag {
    /// A flag without a letter.
    pub const fn long(long: &'static str, takes: Takes) -> Self {
        Self { long, short: None, takes }
    }

    /// A flag with a letter.
    pub const fn both(long: &'static str, short: char, takes: Takes) -> Self {
        Self { long, short: Some(short), takes }
    }

    /// How errors call it.
    fn display(&self) -> String {
        match self.short {
            Some(short) => format!("-{short}, --{}", self.long),
            None => format!("--{}", self.long),
        }
    }

    fn check(&self, value: &str) -> Result<(), String> {
        let problem = match self.takes {
            Takes::Nothing if parse_bool(value).is_none() => {
                format!("strconv.ParseBool: parsing \"{value}\": invalid syntax")
            }
            Takes::Number if value.parse::<i64>().is_err() => {
                format!("strconv.ParseInt: parsing \"{value}\": invalid syntax")
            }
            Takes::Duration => match duration::parse(value) {
                Ok(_) => return Ok(()),
                Err(problem) => problem,
            },
            _ => return Ok(()),
        };
        Err(format!("invalid argument \"{value}\" for \"{}\" flag: {problem}", self.display()))
    }
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// The flags that were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags(BTreeMap<&'static str, Vec<String>>);

impl Flags {
    /// Whether the flag was given at all.
    pub fn given(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Gives a flag a text, as if it had been typed last.
    pub fn set(&mut self, name: &'static str, text: &str) {
        self.0.entry(name).or_default().push(text.to_string());
    }

    /// The last text given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.last().map(String::as_str)
    }

    /// Every text given, in order.
    pub fn texts(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Every item given, in order, cut at commas.
    pub fn list(&self, name: &str) -> Vec<String> {
        self.texts(name).iter().flat_map(|text| text.split(',')).map(str::to_string).collect()
    }

    /// Whether a flag without value was given and not denied.
    pub fn on(&self, name: &str) -> bool {
        self.switch(name).unwrap_or(false)
    }

    /// The state of a flag without value, if it was given.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.text(name).and_then(parse_bool)
    }

    /// The number given.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// The span of time given, in seconds.
    pub fn seconds(&self, name: &str) -> Option<i64> {
        duration::parse(self.text(name)?).ok()
    }

    fn add(&mut self, flag: &'static Flag, value: &str) -> Result<(), String> {
        flag.check(value)?;
        self.0.entry(flag.long).or_default().push(value.to_string());
        Ok(())
    }
}

/// A line of kubectl, understood.
#[derive(Debug)]
pub struct Parsed {
    /// `kubectl rollout status`.
    pub path: String,
    /// The command; `None` for kubectl itself.
    pub command: Option<&'static Command>,
    /// Its flags.
    pub flags: Flags,
    /// Its arguments.
    pub args: Vec<String>,
    /// How many of the arguments stand before `--`, if there was one.
    pub before_dashes: Option<usize>,
}

/// Reads the words after `kubectl`.
///
/// # Errors
/// In kubectl's words: an unknown command or flag, a missing or wrong value, a required flag that is missing.
pub fn parse(words: &[String]) -> Result<Parsed, Failure> {
    let mut words: Vec<String> = words.to_vec();
    let mut path = "kubectl".to_string();
    let mut command: Option<&'static Command> = None;
    let mut candidates = commands::ALL;
    while let Some(at) = first_argument(&words, command) {
        let word = words[at].clone();
        let Some(next) = candidates.iter().find(|candidate| candidate.is_called(&word)) else {
            if command.is_none() {
                return Err(unknown_command(&word));
            }
            break;
        };
        words.remove(at);
        path = format!("{path} {}", next.name);
        command = Some(next);
        match &next.run {
            Run::Group(commands) | Run::Either(_, commands) => candidates = commands,
            Run::Does(_) | Run::Later => break,
        }
    }
    let (flags, args, before_dashes) =
        read_flags(&words, command).map_err(|problem| Failure::flag(&path, problem))?;
    if !flags.on("help")
        && let Some(command) = command
    {
        let missing: Vec<String> = command
            .required
            .iter()
            .filter(|name| !flags.given(name))
            .map(|name| format!("\"{name}\""))
            .collect();
        if !missing.is_empty() {
            return Err(Failure::error(format!("required flag(s) {} not set", missing.join(", "))));
        }
    }
    Ok(Parsed { path, command, flags, args, before_dashes })
}

fn unknown_command(word: &str) -> Failure {
    let similar = suggest::suggestions(
        word,
        commands::ALL
            .iter()
            .filter(|command| command.name != "help")
            .map(|command| (command.name, command.meant_by)),
    );
    let mut text = format!("unknown command \"{word}\" for \"kubectl\"");
    if !similar.is_empty() {
        text.push_str("\n\nDid you mean this?");
        for name in similar {
            text.push_str(&format!("\n\t{name}"));
        }
    }
    Failure::error(text)
}

/// Every flag that a command knows: its own and the global ones.
pub fn flags_of(command: Option<&'static Command>) -> impl Iterator<Item = &'static Flag> {
    let own = command.map_or(&[] as &[&[Flag]], |command| command.flags);
    own.iter().copied().flatten().chain(GLOBAL)
}

fn find_long(command: Option<&'static Command>, name: &str) -> Option<&'static Flag> {
    flags_of(command).find(|flag| flag.long == name)
}

fn find_short(command: Option<&'static Command>, letter: char) -> Option<&'static Flag> {
    flags_of(command).find(|flag| flag.short == Some(letter))
}

/// Where the first word stands that is neither a flag nor a flag's value.
fn first_argument(words: &[String], command: Option<&'static Command>) -> Option<usize> {
    let needs_value = |flag: Option<&'static Flag>| {
        flag.is_none_or(|flag| !matches!(flag.takes, Takes::Nothing | Takes::Optional(_)))
    };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return None;
        }
        if let Some(name) = word.strip_prefix("--") {
            at += if !name.contains('=') && needs_value(find_long(command, name)) { 2 } else { 1 };
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let mut characters = letters.chars();
            let single = characters.next().filter(|_| characters.next().is_none());
            at += if single.is_some_and(|letter| needs_value(find_short(command, letter))) { 2 } else { 1 };
        } else {
            return Some(at);
        }
    }
    None
}

type Read = (Flags, Vec<String>, Option<usize>);

fn read_flags(words: &[String], command: Option<&'static Command>) -> Result<Read, String> {
    let (mut flags, mut args, mut before_dashes) = (Flags::default(), Vec::new(), None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            before_dashes = Some(args.len());
            args.extend(rest.by_ref().cloned());
        } else if let Some(text) = word.strip_prefix("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            if name.is_empty() || name.starts_with('-') {
                return Err(format!("bad flag syntax: {word}"));
            }
            let flag = find_long(command, name).ok_or_else(|| format!("unknown flag: --{name}"))?;
            match (value, flag.takes) {
                (Some(value), _) => flags.add(flag, value)?,
                (None, Takes::Nothing) => flags.add(flag, "true")?,
                (None, Takes::Optional(default)) => flags.add(flag, default)?,
                (None, _) => match rest.next() {
                    Some(value) => flags.add(flag, value)?,
                    None => return Err(format!("flag needs an argument: --{name}")),
                },
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            read_letters(letters, command, &mut flags, &mut rest)?;
        } else {
            args.push(word.clone());
        }
    }
    Ok((flags, args, before_dashes))
}

fn read_letters(
    letters: &str,
    command: Option<&'static Command>,
    flags: &mut Flags,
    rest: &mut std::slice::Iter<'_, String>,
) -> Result<(), String> {
    let mut remaining = letters;
    while let Some(letter) = remaining.chars().next() {
        let after = &remaining[letter.len_utf8()..];
        let flag = find_short(command, letter)
            .ok_or_else(|| format!("unknown shorthand flag: '{letter}' in -{remaining}"))?;
        if let Some(value) = after.strip_prefix('=').filter(|value| !value.is_empty()) {
            return flags.add(flag, value);
        }
        match flag.takes {
            Takes::Nothing => flags.add(flag, "true")?,
            Takes::Optional(default) => flags.add(flag, default)?,
            _ if !after.is_empty() => return flags.add(flag, after),
            _ => {
                let value = rest
                    .next()
                    .ok_or_else(|| format!("flag needs an argument: '{letter}' in -{remaining}"))?;
                return flags.add(flag, value);
            }
        }
        remaining = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_string).collect()
    }

    #[test]
    fn flags_are_read_wherever_and_however_they_stand() {
        for line in [
            "get pods -n demo -o wide",
            "-n demo get pods --output=wide",
            "get -ndemo pods -owide",
            "get --namespace demo -o=wide pods",
            "get pods -o yaml -n demo -o wide",
        ] {
            let parsed = parse(&words(line)).unwrap();
            assert_eq!(parsed.path, "kubectl get", "{line}");
            assert_eq!(parsed.args, ["pods"], "{line}");
            assert_eq!(parsed.flags.text("namespace"), Some("demo"), "{line}");
            assert_eq!(parsed.flags.text("output"), Some("wide"), "{line}");
        }
    }

    #[test]
    fn letters_may_stand_together() {
        let parsed = parse(&words("get pods -Ao wide")).unwrap();
        assert!(parsed.flags.on("all-namespaces"));
        assert_eq!(parsed.flags.text("output"), Some("wide"));
    }

    #[test]
    fn mistakes_are_answered_in_kubectls_words() {
        for (line, text) in [
            ("gte pods", "error: unknown command \"gte\" for \"kubectl\"\n\nDid you mean this?\n\tget"),
            (
                "ger pods",
                "error: unknown command \"ger\" for \"kubectl\"\n\nDid you mean this?\n\tset\n\tget",
            ),
            ("list pods", "error: unknown command \"list\" for \"kubectl\"\n\nDid you mean this?\n\tget"),
            (
                "log web",
                "error: unknown command \"log\" for \"kubectl\"\n\nDid you mean this?\n\ttop\n\tlogs",
            ),
            ("xyzzy", "error: unknown command \"xyzzy\" for \"kubectl\""),
            ("get pods -o", "error: flag needs an argument: 'o' in -o\nSee 'kubectl get --help' for usage."),
            ("get pods --nope", "error: unknown flag: --nope\nSee 'kubectl get --help' for usage."),
            ("get pods -z", "error: unknown shorthand flag: 'z' in -z\nSee 'kubectl get --help' for usage."),
            (
                "create deploymnt web --image=nginx",
                "error: unknown flag: --image\nSee 'kubectl create --help' for usage.",
            ),
            ("scale deploy web", "error: required flag(s) \"replicas\" not set"),
            (
                "scale deploy web --replicas=two",
                "error: invalid argument \"two\" for \"--replicas\" flag: strconv.ParseInt: parsing \"two\": invalid syntax\nSee 'kubectl scale --help' for usage.",
            ),
        ] {
            assert_eq!(parse(&words(line)).unwrap_err().text, text, "{line}");
        }
    }
}
