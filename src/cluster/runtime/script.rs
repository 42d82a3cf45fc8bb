//! A small interpreter of the shell idioms that manifests use, from a text to what happens at which second.
//!
//! Understands `sleep`, `echo`, `printf`, `exit`, `touch`, `rm`, `cat`, `test`/`[`, `true`, `false`, `mkdir`, `cd`, `set`,
//! `export`; `;`, newlines, `&&`, `||`, `!`, `while`/`until … do … done`, `if … then … else … fi`, `for … in … do … done`,
//! `exec`, output redirected to a file, quotes, variables of the environment.
//!
//! Leaves out: everything else. A command that is not understood runs for ever, as a server would.

use std::collections::{BTreeMap, BTreeSet};

use super::process::{Cycle, Deed, End, Moment, Program};

/// The longest script that is read.
const MAX_BYTES: usize = 16 << 10;

/// The most commands that are carried out.
const MAX_COMMANDS: u32 = 20_000;

/// What a command run inside a container came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; `None` when it would run for ever.
    pub exit_code: Option<i32>,
    /// What it wrote, a line each.
    pub output: Vec<String>,
    /// What it did to files, in order.
    pub deeds: Vec<Deed>,
    /// Whether it told the container's first process to stop.
    pub signalled: bool,
}

/// What a script does from its start on; `program` is what the image's own server does, for when the script comes to a
/// command that is not understood.
pub fn program_of(script: &str, environment: &BTreeMap<String, String>, mut program: Program) -> Program {
    let no_file = |_: &str| false;
    let mut shell = Shell::new(environment, &no_file);
    let flow = shell.run_text(script);
    if shell.met_unknown {
        program.moments.extend(shell.moments);
    } else {
        program.listens.clear();
        program.moments = shell.moments;
    }
    program.cycle = shell.cycle;
    program.end = match flow {
        Flow::Endless => None,
        Flow::Next | Flow::Break => Some((shell.last_code, shell.milliseconds)),
        Flow::Exit(code) => Some((code, shell.milliseconds)),
    }
    .map(|(exit_code, milliseconds)| End {
        after_seconds: milliseconds / 1000,
        exit_code,
        reason: if exit_code == 0 { "Completed" } else { "Error" }.to_string(),
    });
    program
}

/// What a script comes to that is run beside a process, as a probe or `kubectl exec` does.
pub fn run_beside(
    script: &str,
    environment: &BTreeMap<String, String>,
    has_file: &dyn Fn(&str) -> bool,
) -> Ran {
    let mut shell = Shell::new(environment, has_file);
    let exit_code = match shell.run_text(script) {
        Flow::Endless => None,
        Flow::Next | Flow::Break => Some(shell.last_code),
        Flow::Exit(code) => Some(code),
    };
    let deeds = shell.moments.into_iter().map(|moment| moment.deed);
    let deeds = deeds.filter(|deed| !matches!(deed, Deed::Print(_))).collect();
    Ran { exit_code, output: shell.output, deeds, signalled: shell.signalled }
}

/// Words as a shell line that means exactly them.
pub fn quoted(words: &[String]) -> String {
    let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// How it goes on after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Exit(i32),
    Endless,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Operator(&'static str),
}

struct Shell<'a> {
    environment: BTreeMap<String, String>,
    has_file: &'a dyn Fn(&str) -> bool,
    touched: BTreeSet<String>,
    removed: BTreeSet<String>,
    milliseconds: i64,
    moments: Vec<Moment>,
    cycle: Option<Cycle>,
    output: Vec<String>,
    last_code: i32,
    commands_left: u32,
    /// Whether a command came up that is not understood, which may be the image's own server.
    met_unknown: bool,
    /// Whether the first process was told to stop.
    signalled: bool,
}

const OPERATORS: [&str; 12] = ["&&", "||", ";;", ";", "\n", ">>", ">", "|", "&", "(", ")", "<"];

/// Words and operators; quotes are taken off, variables are filled in later only for `$` outside single quotes.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text;
    let end = |word: &mut Option<String>, tokens: &mut Vec<Token>| {
        if let Some(word) = word.take() {
            tokens.push(Token::Word(word));
        }
    };
    while let Some(letter) = rest.chars().next() {
        if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            // A digit before `>` names the stream: `2>&1`.
            if operator.starts_with('>')
                && word
                    .as_deref()
                    .is_some_and(|w| w.len() == 1 && w.starts_with(|c: char| c.is_ascii_digit()))
            {
                word = None;
            }
            end(&mut word, &mut tokens);
            rest = &rest[operator.len()..];
            if operator.starts_with('>') && rest.starts_with('&') {
                rest = rest[1..].trim_start_matches(|c: char| c.is_ascii_digit());
                continue;
            }
            tokens.push(Token::Operator(operator));
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            ' ' | '\t' | '\r' => end(&mut word, &mut tokens),
            '#' if word.is_none() => rest = rest.find('\n').map_or("", |at| &rest[at..]),
            '\'' => {
                let close = rest.find('\'').unwrap_or(rest.len());
                // What stands in single quotes is protected by a mark until variables are filled in.
                word.get_or_insert_default().push_str(&rest[..close].replace('$', "\u{1}"));
                rest = rest.get(close + 1..).unwrap_or("");
            }
            '"' => {
                let word = word.get_or_insert_default();
                let mut letters = rest.char_indices();
                let mut close = rest.len();
                while let Some((at, letter)) = letters.next() {
                    match letter {
                        '"' => {
                            close = at;
                            break;
                        }
                        '\\' => match letters.next() {
                            Some((_, escaped @ ('"' | '\\'))) => word.push(escaped),
                            Some((_, '$')) => word.push('\u{1}'),
                            Some((_, other)) => word.extend(['\\', other]),
                            None => {}
                        },
                        letter => word.push(letter),
                    }
                }
                rest = rest.get(close + 1..).unwrap_or("");
            }
            '\\' => {
                let escaped = rest.chars().next();
                rest = escaped.map_or("", |c| &rest[c.len_utf8()..]);
                match escaped {
                    Some('\n') | None => {}
                    Some(c) => word.get_or_insert_default().push(c),
                }
            }
            '$' if rest.starts_with('(') => {
                let close = rest.find(')').unwrap_or(rest.len());
                let word = word.get_or_insert_default();
                word.push('$');
                word.push_str(rest.get(..=close).unwrap_or(rest));
                rest = rest.get(close + 1..).unwrap_or("");
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    end(&mut word, &mut tokens);
    tokens
}

impl<'a> Shell<'a> {
    fn new(environment: &BTreeMap<String, String>, has_file: &'a dyn Fn(&str) -> bool) -> Self {
        Self {
            environment: environment.clone(),
            has_file,
            touched: BTreeSet::new(),
            removed: BTreeSet::new(),
            milliseconds: 0,
            moments: Vec::new(),
            cycle: None,
            output: Vec::new(),
            last_code: 0,
            commands_left: MAX_COMMANDS,
            met_unknown: false,
            signalled: false,
        }
    }

    fn run_text(&mut self, text: &str) -> Flow {
        if text.len() > MAX_BYTES {
            return Flow::Endless;
        }
        self.run(&tokens(text))
    }

    /// Carries out a list of commands.
    fn run(&mut self, mut rest: &[Token]) -> Flow {
        let mut skip = false;
        while !rest.is_empty() {
            match &rest[0] {
                Token::Operator(";" | "\n" | "&") => {
                    (skip, rest) = (false, &rest[1..]);
                }
                Token::Operator("&&") => (skip, rest) = (self.last_code != 0, &rest[1..]),
                Token::Operator("||") => (skip, rest) = (self.last_code == 0, &rest[1..]),
                Token::Operator(_) => return Flow::Endless,
                Token::Word(word) => {
                    let (command, after) = match word.as_str() {
                        "while" | "until" | "for" => block(rest, "done"),
                        "if" => block(rest, "fi"),
                        _ => simple(rest),
                    };
                    rest = after;
                    if skip {
                        continue;
                    }
                    match self.command(command) {
                        Flow::Next => {}
                        flow => return flow,
                    }
                }
            }
        }
        Flow::Next
    }

    fn command(&mut self, tokens: &[Token]) -> Flow {
        if self.commands_left == 0 {
            return Flow::Endless;
        }
        self.commands_left -= 1;
        match tokens.first() {
            Some(Token::Word(word)) if word == "while" || word == "until" => {
                self.run_loop(tokens, word == "until")
            }
            Some(Token::Word(word)) if word == "for" => self.run_for(tokens),
            Some(Token::Word(word)) if word == "if" => self.run_if(tokens),
            _ => self.run_simple(tokens),
        }
    }

    fn run_loop(&mut self, tokens: &[Token], negated: bool) -> Flow {
        let Some((condition, body)) = split_at_word(&tokens[1..], "do") else { return Flow::Endless };
        let body = body.strip_suffix(&[Token::Word("done".to_string())]).unwrap_or(body);
        loop {
            let before = (self.milliseconds, self.moments.len(), self.files());
            match self.run(condition) {
                Flow::Next => {}
                flow => return flow,
            }
            if (self.last_code == 0) == negated {
                self.last_code = 0;
                return Flow::Next;
            }
            match self.run(body) {
                Flow::Next => {}
                Flow::Break => return Flow::Next,
                flow => return flow,
            }
            // A round that leaves the files as they were goes the same way for ever.
            if self.files() == before.2 {
                let moments = self.moments.split_off(before.1);
                let from_seconds = before.0 / 1000;
                let round =
                    moments.into_iter().map(|m| Moment { at_seconds: m.at_seconds - from_seconds, ..m });
                let period_seconds = ((self.milliseconds - before.0) / 1000).max(1);
                self.cycle = Some(Cycle { from_seconds, period_seconds, moments: round.collect() });
                return Flow::Endless;
            }
            if self.commands_left == 0 {
                return Flow::Endless;
            }
        }
    }

    fn run_for(&mut self, tokens: &[Token]) -> Flow {
        let Some((head, body)) = split_at_word(&tokens[1..], "do") else { return Flow::Endless };
        let body = body.strip_suffix(&[Token::Word("done".to_string())]).unwrap_or(body);
        let [Token::Word(name), Token::Word(_), values @ ..] = head else { return Flow::Endless };
        let mut words = Vec::new();
        for value in values {
            if let Token::Word(word) = value {
                words.extend(self.numbers(word).unwrap_or_else(|| vec![self.filled(word)]));
            }
        }
        for word in words {
            self.environment.insert(name.clone(), word);
            match self.run(body) {
                Flow::Next => {}
                Flow::Break => break,
                flow => return flow,
            }
        }
        Flow::Next
    }

    /// `$(seq 3)`, `$(seq 1 3)` or `{1..3}`.
    fn numbers(&self, word: &str) -> Option<Vec<String>> {
        let (from, to) = if let Some(inside) = word.strip_prefix("$(seq ").and_then(|w| w.strip_suffix(')')) {
            let mut bounds = inside.split_whitespace().map(str::parse::<i64>);
            match (bounds.next()?.ok()?, bounds.next()) {
                (to, None) => (1, to),
                (from, Some(to)) => (from, to.ok()?),
            }
        } else {
            let (from, to) = word.strip_prefix('{')?.strip_suffix('}')?.split_once("..")?;
            (from.parse().ok()?, to.parse().ok()?)
        };
        Some((from..=to).take(1000).map(|number: i64| number.to_string()).collect())
    }

    fn run_if(&mut self, tokens: &[Token]) -> Flow {
        let Some((condition, rest)) = split_at_word(&tokens[1..], "then") else { return Flow::Endless };
        let rest = rest.strip_suffix(&[Token::Word("fi".to_string())]).unwrap_or(rest);
        let (yes, no) = split_at_word(rest, "else").unwrap_or((rest, &[]));
        match self.run(condition) {
            Flow::Next => {}
            flow => return flow,
        }
        let branch = if self.last_code == 0 { yes } else { no };
        self.last_code = 0;
        self.run(branch)
    }

    fn run_simple(&mut self, tokens: &[Token]) -> Flow {
        let mut words = Vec::new();
        let mut into_file = None;
        let mut tokens = tokens.iter();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => words.push(self.filled(word)),
                Token::Operator(">" | ">>") => {
                    if let Some(Token::Word(file)) = tokens.next() {
                        into_file = Some(self.filled(file));
                    }
                }
                // Pipes only carry output to commands that are not modelled.
                Token::Operator(_) => break,
            }
        }
        let mut negated = false;
        while words.first().is_some_and(|word| word == "!" || word == "exec") {
            negated |= words.remove(0) == "!";
        }
        if words.is_empty() {
            if let Some(file) = into_file {
                self.touch(file);
            }
            self.last_code = 0;
            return Flow::Next;
        }
        let flow = self.carry_out(&words, into_file);
        if negated && flow == Flow::Next {
            self.last_code = i32::from(self.last_code == 0);
        }
        flow
    }

    fn carry_out(&mut self, words: &[String], into_file: Option<String>) -> Flow {
        let (name, arguments) = (words[0].as_str(), &words[1..]);
        let plain: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
        let mut code = 0;
        match name.rsplit('/').next().unwrap_or(name) {
            "true" | ":" | "cd" | "set" | "export" | "mkdir" | "chmod" | "trap" | "wait" | "umask"
            | "ulimit" | "sync" => {}
            "false" => code = 1,
            "exit" => {
                return Flow::Exit(arguments.first().and_then(|a| a.parse().ok()).unwrap_or(self.last_code));
            }
            "break" => return Flow::Break,
            "echo" | "printf" | "date" | "hostname" | "env" | "ls" | "id" | "uname" | "whoami" => {
                let line = match name {
                    "hostname" => self.environment.get("HOSTNAME").cloned().unwrap_or_default(),
                    "echo" | "printf" => {
                        let shown: Vec<&str> = arguments
                            .iter()
                            .map(String::as_str)
                            .skip_while(|w| matches!(*w, "-n" | "-e"))
                            .collect();
                        shown.join(" ").trim_end_matches("\\n").to_string()
                    }
                    _ => String::new(),
                };
                if name == "ls" && plain.iter().any(|file| !self.has_file(file)) {
                    code = 1;
                }
                match into_file {
                    Some(file) if file.starts_with("/dev/") => self.print(line),
                    Some(file) => self.touch(file),
                    None => self.print(line),
                }
            }
            "sleep" => match duration_milliseconds(arguments.first().map_or("", String::as_str)) {
                Some(milliseconds) => self.milliseconds = self.milliseconds.saturating_add(milliseconds),
                None => return Flow::Endless,
            },
            "touch" => plain.into_iter().for_each(|file| self.touch(file.clone())),
            "rm" => plain.into_iter().for_each(|file| self.remove(file.clone())),
            "cat" => {
                for file in plain {
                    if !self.has_file(file) && !file.starts_with("/etc/") && !file.starts_with("/proc/") {
                        self.print(format!("cat: can't open '{file}': No such file or directory"));
                        code = 1;
                    }
                }
            }
            "test" | "[" | "[[" => match self.test(arguments) {
                Some(holds) => code = i32::from(!holds),
                None => return Flow::Endless,
            },
            "sim-ok" => {}
            "sim-fail" => code = 1,
            "kill" => {
                // The first process of a container is safe from SIGKILL sent from inside.
                let told = arguments.first().map_or("", String::as_str);
                let asks = !matches!(told, "-9" | "-KILL" | "-SIGKILL" | "-0" | "-l");
                self.signalled |= asks && arguments.iter().any(|word| word == "1");
            }
            "pgrep" | "pidof" | "pkill" => {}
            "sh" | "bash" | "ash" | "dash" => {
                match arguments.iter().position(|word| word.starts_with('-') && word.ends_with('c')) {
                    Some(at) if at + 1 < arguments.len() => return self.run_text(&arguments[at + 1]),
                    _ => return Flow::Endless,
                }
            }
            word if word.contains('=') && arguments.is_empty() && !word.starts_with('=') => {
                if let Some((name, value)) = word.split_once('=') {
                    self.environment.insert(name.to_string(), value.to_string());
                }
            }
            _ => {
                self.met_unknown = true;
                return Flow::Endless;
            }
        }
        self.last_code = code;
        Flow::Next
    }

    fn test(&self, arguments: &[String]) -> Option<bool> {
        let words: Vec<&str> =
            arguments.iter().map(String::as_str).filter(|word| !matches!(*word, "]" | "]]")).collect();
        Some(match words.as_slice() {
            ["!", rest @ ..] => {
                let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
                !self.test(&rest)?
            }
            ["-f" | "-e" | "-s" | "-r" | "-d" | "-x", file] => self.has_file(file),
            ["-z", text] => text.is_empty(),
            ["-n", text] => !text.is_empty(),
            [a, "=" | "==", b] => a == b,
            [a, "!=", b] => a != b,
            [a, comparison, b] => {
                let (a, b) = (a.parse::<i64>().ok()?, b.parse::<i64>().ok()?);
                match *comparison {
                    "-eq" => a == b,
                    "-ne" => a != b,
                    "-lt" => a < b,
                    "-le" => a <= b,
                    "-gt" => a > b,
                    "-ge" => a >= b,
                    _ => return None,
                }
            }
            [text] => !text.is_empty(),
            [] => false,
            _ => return None,
        })
    }

    fn files(&self) -> (usize, usize) {
        (self.touched.len(), self.removed.len())
    }

    fn has_file(&self, file: &str) -> bool {
        let is_removed =
            self.removed.iter().any(|gone| file == gone || file.starts_with(&format!("{gone}/")));
        self.touched.contains(file) || (!is_removed && (self.has_file)(file))
    }

    fn at_seconds(&self) -> i64 {
        self.milliseconds / 1000
    }

    fn print(&mut self, line: String) {
        self.moments.push(Moment { at_seconds: self.at_seconds(), deed: Deed::Print(line.clone()) });
        self.output.push(line);
    }

    fn touch(&mut self, file: String) {
        if file.starts_with("/dev/") || file.starts_with("/proc/") {
            return;
        }
        self.moments.push(Moment { at_seconds: self.at_seconds(), deed: Deed::Touch(file.clone()) });
        self.removed.remove(&file);
        self.touched.insert(file);
    }

    fn remove(&mut self, file: String) {
        self.moments.push(Moment { at_seconds: self.at_seconds(), deed: Deed::Remove(file.clone()) });
        self.touched.retain(|touched| *touched != file && !touched.starts_with(&format!("{file}/")));
        self.removed.insert(file);
    }

    /// The word with `$NAME`, `${NAME}` and `${NAME:-default}` filled in.
    fn filled(&self, word: &str) -> String {
        let mut filled = String::new();
        let mut rest = word;
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(inside) = rest.strip_prefix('{') {
                let close = inside.find('}').unwrap_or(inside.len());
                let (name, default) = inside[..close].split_once(":-").unwrap_or((&inside[..close], ""));
                filled.push_str(self.environment.get(name).map_or(default, String::as_str));
                rest = inside.get(close + 1..).unwrap_or("");
            } else if rest.starts_with('(') {
                let close = rest.find(')').unwrap_or(rest.len());
                if rest.get(1..close).is_some_and(|command| command.trim() == "hostname") {
                    filled.push_str(self.environment.get("HOSTNAME").map_or("", String::as_str));
                } else {
                    filled.push('$');
                    filled.push_str(rest.get(..=close).unwrap_or(rest));
                }
                rest = rest.get(close + 1..).unwrap_or("");
            } else {
                let length =
                    rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                if length == 0 {
                    filled.push('$');
                }
                filled.push_str(self.environment.get(&rest[..length]).map_or("", String::as_str));
                rest = &rest[length..];
            }
        }
        filled.push_str(rest);
        filled.replace('\u{1}', "$")
    }
}

/// The tokens up to the `end` that closes the block at the beginning, and the rest.
fn block<'t>(tokens: &'t [Token], end: &str) -> (&'t [Token], &'t [Token]) {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        match word.as_str() {
            "while" | "until" | "for" | "if"
                if at == 0 || matches!(tokens[at - 1], Token::Operator(_)) || is_keyword(&tokens[at - 1]) =>
            {
                depth += 1
            }
            "done" | "fi" => {
                depth -= 1;
                if depth == 0 && word == end {
                    return tokens.split_at(at + 1);
                }
            }
            _ => {}
        }
    }
    (tokens, &[])
}

fn is_keyword(token: &Token) -> bool {
    matches!(token, Token::Word(word) if matches!(word.as_str(), "do" | "then" | "else" | "!"))
}

/// The tokens of one simple command, and the rest.
fn simple(tokens: &[Token]) -> (&[Token], &[Token]) {
    let ends = |token: &Token| matches!(token, Token::Operator(";" | "\n" | "&&" | "||" | "&"));
    tokens.split_at(tokens.iter().position(ends).unwrap_or(tokens.len()))
}

/// The tokens before and behind the first such word that is not inside an inner block.
fn split_at_word<'t>(tokens: &'t [Token], word: &str) -> Option<(&'t [Token], &'t [Token])> {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(found) = token else { continue };
        if depth == 0 && found == word {
            return Some((&tokens[..at], &tokens[at + 1..]));
        }
        match found.as_str() {
            "while" | "until" | "for" | "if" => depth += 1,
            "done" | "fi" => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `5`, `0.5`, `5s`, `2m`, `1h`, `1d`, and Go's `1m30s`; `None` for `infinity` and whatever is no duration.
pub fn duration_milliseconds(text: &str) -> Option<i64> {
    let mut total: i64 = 0;
    let mut rest = text;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(digits);
        let letters = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(letters);
        let unit_milliseconds = match unit {
            "ms" => 1,
            "" | "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return None,
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let thousandths: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
        let part = whole.checked_mul(1000)?.checked_add(thousandths)?.checked_mul(unit_milliseconds)? / 1000;
        total = total.checked_add(part)?;
        rest = behind;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str) -> Program {
        let environment = BTreeMap::from([("HOSTNAME".to_string(), "api-1".to_string())]);
        program_of(script, &environment, Program::default())
    }

    fn end(script: &str) -> Option<(i64, i32)> {
        run(script).end.map(|end| (end.after_seconds, end.exit_code))
    }

    #[test]
    fn a_script_ends_when_and_as_it_says() {
        for (script, expected) in [
            ("exit 3", Some((0, 3))),
            ("sleep 5; exit 1", Some((5, 1))),
            ("echo hello && sleep 2 && false", Some((2, 1))),
            ("false || sleep 4", Some((4, 0))),
            ("sleep 1h", Some((3600, 0))),
            ("sleep infinity", None),
            ("while true; do echo hi; sleep 5; done", None),
            ("touch /tmp/a; while [ -f /tmp/a ]; do sleep 3; rm /tmp/a; done; exit 7", Some((3, 7))),
            ("if [ -f /x ]; then exit 1; else exit 2; fi", Some((0, 2))),
            ("for i in 1 2 3; do sleep 2; done", Some((6, 0))),
            ("/app/server --port 80", None),
            ("sh -c 'sleep 2; exit 4'", Some((2, 4))),
            ("", Some((0, 0))),
            ("# a comment\nexit 1", Some((0, 1))),
        ] {
            assert_eq!(end(script), expected, "{script}");
        }
    }

    #[test]
    fn the_well_known_liveness_example_touches_and_removes_its_file() {
        let program = run("touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600");
        let deeds: Vec<_> = program.moments.iter().map(|m| (m.at_seconds, m.deed.clone())).collect();
        let file = "/tmp/healthy".to_string();
        assert_eq!(deeds, [(0, Deed::Touch(file.clone())), (30, Deed::Remove(file))]);
        assert_eq!(program.end.map(|end| end.after_seconds), Some(630));
    }

    #[test]
    fn a_loop_without_end_is_a_cycle() {
        let program = run("echo start; while true; do echo \"from $HOSTNAME\"; sleep 5; done");
        let cycle = program.cycle.unwrap();
        assert_eq!((cycle.from_seconds, cycle.period_seconds), (0, 5));
        assert_eq!(cycle.moments[0].deed, Deed::Print("from api-1".to_string()));
    }

    #[test]
    fn a_probe_sees_the_files_of_the_process() {
        let has = |file: &str| file == "/tmp/healthy";
        let run = |script: &str| run_beside(script, &BTreeMap::new(), &has);
        assert_eq!(run("cat /tmp/healthy").exit_code, Some(0));
        assert_eq!(run("test -f /tmp/ready").exit_code, Some(1));
        assert_eq!(run("cat /tmp/ready").output, ["cat: can't open '/tmp/ready': No such file or directory"]);
        assert_eq!(run("[ -f /tmp/healthy ] && exit 0 || exit 1").exit_code, Some(0));
    }
}
