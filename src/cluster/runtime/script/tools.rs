//! The commands that the small shell knows.

use super::super::process::{CLOCK, DATE, Listener, PART, SECONDS};
use super::{Flow, Shell, Target, duration_milliseconds};

/// How long a one-liner of an interpreter computes.
const COMPUTES_MILLISECONDS: i64 = 5000;

/// The most digits that are computed.
const MAX_DIGITS: usize = 5000;

impl Shell<'_> {
    pub(super) fn carry_out(&mut self, words: &[String], target: &Target) -> Flow {
        let (name, arguments) = (words[0].as_str(), &words[1..]);
        let name = name.rsplit('/').next().unwrap_or(name);
        let plain: Vec<String> = arguments.iter().filter(|word| !word.starts_with('-')).cloned().collect();
        let has = |flag: char| {
            arguments.iter().any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains(flag))
        };
        let mut code = 0;
        match name {
            "true" | ":" | "cd" | "set" | "export" | "chmod" | "chown" | "wait" | "umask" | "ulimit"
            | "sync" | "apk" | "apt-get" | "local" | "readonly" | "unset" | "shift" => {
                for (name, value) in arguments.iter().filter_map(|word| word.split_once('=')) {
                    self.environment.insert(name.to_string(), value.to_string());
                }
            }
            "false" => code = 1,
            "exit" | "return" => {
                return Flow::Exit(arguments.first().and_then(|a| a.parse().ok()).unwrap_or(self.last_code));
            }
            "break" => return Flow::Break,
            "continue" => return Flow::Continue,
            "echo" => {
                let flags =
                    arguments.iter().take_while(|w| matches!(w.as_str(), "-n" | "-e" | "-ne" | "-en"));
                let flags: Vec<&String> = flags.collect();
                let text = arguments[flags.len()..].join(" ");
                let text = if flags.iter().any(|flag| flag.contains('e')) { unescaped(&text) } else { text };
                // Without its own end of line, one that the text brings along ends the line.
                let is_open = flags.iter().any(|flag| flag.contains('n'));
                let text = text.strip_suffix('\n').filter(|_| is_open).unwrap_or(&text);
                self.put(text.split('\n').map(str::to_string), target);
            }
            "printf" => {
                let text = formatted(arguments);
                self.put(text.strip_suffix('\n').unwrap_or(&text).split('\n').map(str::to_string), target);
            }
            "date" => {
                let mark = match arguments.iter().find_map(|word| word.strip_prefix('+')) {
                    Some("%s") => SECONDS.to_string(),
                    Some("%T" | "%H:%M:%S") => CLOCK.to_string(),
                    Some(format) => format.replace('%', &PART.to_string()),
                    None => DATE.to_string(),
                };
                self.put([mark], target);
            }
            "hostname" => {
                let line = match has('i') || has('I') {
                    true => self.around.address.to_string(),
                    false => self.environment.get("HOSTNAME").cloned().unwrap_or_default(),
                };
                self.put([line], target);
            }
            "env" | "printenv" => {
                let lines: Vec<String> = match plain.first() {
                    Some(_) => plain.iter().filter_map(|name| self.environment.get(name).cloned()).collect(),
                    None => {
                        // In the order in which a runtime hands them over.
                        let place = |name: &str| match name {
                            "PATH" => 0,
                            "HOSTNAME" => 1,
                            "HOME" => 3,
                            _ => 2,
                        };
                        let mut all: Vec<(&String, &String)> = self.environment.iter().collect();
                        all.sort_by_key(|(name, _)| place(name));
                        all.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
                    }
                };
                code = i32::from(lines.is_empty());
                self.put(lines, target);
            }
            "whoami" => self.put(["root".to_string()], target),
            "id" => self.put(["uid=0(root) gid=0(root) groups=0(root)".to_string()], target),
            "uname" => self.put(["Linux".to_string()], target),
            "pwd" => self.put(["/".to_string()], target),
            "ps" => {
                let line = |id: u32, command: &str| format!("{id:>5} root      0:00 {command}");
                let main = self.around.main;
                let head = "PID   USER     TIME  COMMAND".to_string();
                self.put([head, line(1, main), line(7, &words.join(" "))], target);
            }
            "ls" => code = self.list_files(&plain, target),
            "sleep" => match duration_milliseconds(arguments.first().map_or("", String::as_str)) {
                Some(milliseconds) => self.milliseconds = self.milliseconds.saturating_add(milliseconds),
                None => return Flow::Endless,
            },
            "touch" => {
                for file in plain {
                    let text = self.file(&file).unwrap_or_default();
                    self.write(file, text);
                }
            }
            "mkdir" => plain.into_iter().for_each(|folder| self.write(folder, String::new())),
            "rm" | "rmdir" => plain.into_iter().for_each(|file| self.remove(file)),
            "cp" | "mv" => {
                if let [from, to] = plain.as_slice() {
                    match self.file(from) {
                        Some(text) => {
                            self.write(to.clone(), text);
                            if name == "mv" {
                                self.remove(from.clone());
                            }
                        }
                        None => {
                            self.complain(
                                format!("{name}: can't stat '{from}': No such file or directory"),
                                target,
                            );
                            code = 1;
                        }
                    }
                }
            }
            "tail" if has('f') || has('F') => {
                let from_start = arguments.iter().any(|word| word.ends_with("+1"));
                let file = plain.iter().rev().find(|word| word.starts_with('/') || word.contains('.'));
                self.follows =
                    file.filter(|file| *file != "/dev/null").map(|file| (file.clone(), from_start));
                return Flow::Endless;
            }
            "httpd" if self.around.is_plain => return self.serve_files(arguments, target),
            "nc" | "ncat" | "netcat" if arguments.iter().any(|w| w.starts_with('-') && w.contains('l')) => {
                if let Some(port) = plain.iter().rev().find_map(|word| word.parse().ok()) {
                    self.listens.push(Listener { port, after_seconds: self.at_seconds() });
                }
                return Flow::Endless;
            }
            "dd" | "fallocate" | "truncate" => {}
            "basename" | "dirname" => {
                let path = plain.first().map_or("", String::as_str).trim_end_matches('/');
                let (folder, file) = path.rsplit_once('/').unwrap_or((".", path));
                let shown = if name == "basename" {
                    file
                } else if folder.is_empty() {
                    "/"
                } else {
                    folder
                };
                self.put([shown.to_string()], target);
            }
            "expr" => {
                let value = self.computed(&arguments.join("").replace('\\', ""));
                code = i32::from(value == 0);
                self.put([value.to_string()], target);
            }
            "nproc" => self.put(["2".to_string()], target),
            "cat" | "head" | "tail" | "wc" | "grep" | "sort" | "uniq" | "tee" | "tr" | "cut" | "awk"
            | "sed" | "tac" | "nl" | "xargs" => code = self.filter(name, arguments, target),
            "seq" => self.put(seq(arguments).unwrap_or_default(), target),
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
            "pgrep" | "pidof" | "pkill" => {
                let main = self.around.main;
                code = i32::from(!main.is_empty() && !plain.iter().all(|word| main.contains(word.as_str())));
            }
            "trap" => self.set_trap(arguments),
            "sh" | "bash" | "ash" | "dash" => {
                match arguments.iter().position(|word| word.starts_with('-') && word.ends_with('c')) {
                    Some(at) if at + 1 < arguments.len() => {
                        self.in_script = true;
                        return self.run_text(&arguments[at + 1]);
                    }
                    _ if plain.is_empty() => {
                        let script = std::mem::take(&mut self.input).join("\n");
                        return self.run_text(&script);
                    }
                    _ => match self.file(&plain[0]) {
                        Some(script) => return self.run_text(&script),
                        None if self.around.is_plain => {
                            let line =
                                format!("{name}: can't open '{}': No such file or directory", plain[0]);
                            self.complain(line, target);
                            code = 2;
                        }
                        None => return Flow::Endless,
                    },
                }
            }
            "perl" | "python" | "python3" | "node" | "ruby" | "php"
                if arguments
                    .iter()
                    .any(|word| matches!(word.as_str(), "-c" | "-e" | "-wle" | "-le" | "-r")) =>
            {
                self.milliseconds = self.milliseconds.saturating_add(COMPUTES_MILLISECONDS);
                let wanted = arguments.iter().find_map(|word| word.split_once("bpi(")?.1.split_once(')'));
                if let Some(digits) = wanted.and_then(|(digits, _)| digits.parse::<usize>().ok()) {
                    self.put([pi(digits.min(MAX_DIGITS))], target);
                }
            }
            _ => match self.ask_network(name, arguments, target) {
                Some(flow) => return flow,
                None => match self.file(&words[0]) {
                    Some(script) => return self.run_text(&script),
                    None if (self.around.is_plain || self.beside) && self.in_script => {
                        self.complain(format!("sh: {}: not found", words[0]), target);
                        code = 127;
                    }
                    None => {
                        self.met_unknown = true;
                        self.not_found = self.around.is_plain.then(|| words[0].clone());
                        return Flow::Endless;
                    }
                },
            },
        }
        self.last_code = code;
        Flow::Next
    }

    /// The small web server of busybox.
    fn serve_files(&mut self, arguments: &[String], target: &Target) -> Flow {
        let behind = |flag: &str| {
            let at = arguments.iter().position(|word| word == flag)?;
            arguments.get(at + 1).map(String::as_str)
        };
        let place = behind("-p").unwrap_or("80");
        // `8080`, or `0.0.0.0:8080`; anything else would be a host's name.
        let port = place.rsplit(':').next().and_then(|port| port.parse::<i32>().ok());
        let Some(port) = port.filter(|port| (1..=65_535).contains(port) && !place.contains('/')) else {
            self.complain(format!("httpd: bad address '{place}'"), target);
            self.last_code = 1;
            return Flow::Next;
        };
        self.listens.push(Listener { port, after_seconds: self.at_seconds() });
        let folder = behind("-h").unwrap_or("").trim_end_matches('/');
        self.serves =
            Some(if folder.starts_with('/') { folder.to_string() } else { "/".to_string() + folder });
        self.last_code = 0;
        match arguments.iter().any(|word| word.starts_with('-') && word.contains('f')) {
            true => Flow::Endless,
            false => Flow::Next,
        }
    }

    fn list_files(&mut self, plain: &[String], target: &Target) -> i32 {
        let folders = if plain.is_empty() { vec!["/".to_string()] } else { plain.to_vec() };
        let mut code = 0;
        for folder in folders {
            if !self.has_file(&folder) {
                self.complain(format!("ls: {folder}: No such file or directory"), target);
                code = 1;
                continue;
            }
            let prefix = format!("{}/", folder.trim_end_matches('/'));
            let mut names: Vec<String> = self
                .paths()
                .iter()
                .filter_map(|path| path.strip_prefix(&prefix)?.split('/').next().map(str::to_string))
                .collect();
            if prefix == "/" {
                let usual = ["bin", "dev", "etc", "home", "lib", "proc", "root", "sys", "tmp", "usr", "var"];
                names.extend(usual.map(str::to_string));
            } else if names.is_empty() && self.file(&folder).is_some_and(|text| !text.is_empty()) {
                names.push(folder);
            }
            names.sort();
            names.dedup();
            self.put(names, target);
        }
        code
    }

    /// Commands that read lines, from files or from what was piped to them.
    fn filter(&mut self, name: &str, arguments: &[String], target: &Target) -> i32 {
        let mut plain: Vec<String> = Vec::new();
        let mut flags = String::new();
        let mut number: Option<usize> = None;
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.strip_prefix('-') {
                Some("n" | "c") if matches!(name, "head" | "tail") => {
                    number = words.next().and_then(|n| n.parse().ok());
                }
                Some(flag) if !flag.is_empty() => {
                    number = number.or(flag.trim_start_matches('n').parse().ok());
                    flags.push_str(flag);
                }
                _ => plain.push(word.clone()),
            }
        }
        let takes_pattern = matches!(name, "grep" | "awk" | "sed" | "tr" | "cut");
        let pattern = if takes_pattern && !plain.is_empty() { plain.remove(0) } else { String::new() };
        let mut lines: Vec<String> = Vec::new();
        let mut code = 0;
        if plain.is_empty() || matches!(name, "tee" | "tr" | "xargs") {
            lines = std::mem::take(&mut self.input);
        } else {
            for file in &plain {
                match self.file(file) {
                    Some(text) => lines.extend(text.lines().map(str::to_string)),
                    None => {
                        let how = if name == "cat" { "can't open" } else { "cannot open" };
                        self.complain(format!("{name}: {how} '{file}': No such file or directory"), target);
                        code = 1;
                    }
                }
            }
        }
        let count = number.unwrap_or(10);
        match name {
            "head" => lines.truncate(count),
            "tail" => {
                lines.drain(..lines.len().saturating_sub(count));
            }
            "sort" => lines.sort(),
            "uniq" => lines.dedup(),
            "tac" => lines.reverse(),
            "wc" => {
                let words = lines.iter().map(|line| line.split_whitespace().count()).sum::<usize>();
                let bytes = lines.iter().map(|line| line.len() + 1).sum::<usize>();
                let count = match flags.as_str() {
                    "w" => words,
                    "c" => bytes,
                    _ => lines.len(),
                };
                lines = vec![match plain.as_slice() {
                    [file] => format!("{count} {file}"),
                    _ => count.to_string(),
                }];
            }
            "grep" => {
                let fold =
                    |text: &str| if flags.contains('i') { text.to_lowercase() } else { text.to_string() };
                let wanted = fold(pattern.trim_start_matches('^').trim_end_matches('$'));
                lines.retain(|line| fold(line).contains(&wanted) != flags.contains('v'));
                code = code.max(i32::from(lines.is_empty()));
                if flags.contains('c') {
                    lines = vec![lines.len().to_string()];
                }
                if flags.contains('q') {
                    lines.clear();
                }
            }
            "tee" => {
                for file in &plain {
                    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
                    self.write(file.clone(), text);
                }
            }
            _ => {}
        }
        self.put(lines, target);
        code
    }

    /// `trap ACTION TERM`: what the action comes to, and how long it takes.
    fn set_trap(&mut self, arguments: &[String]) {
        let [action, signals @ ..] = arguments else { return };
        if !signals.iter().any(|signal| matches!(signal.as_str(), "TERM" | "SIGTERM" | "15")) || action == "-"
        {
            return;
        }
        let mut inner = Shell::new(self.around);
        inner.environment = self.environment.clone();
        let flow = inner.run_text(action);
        self.on_term = match flow {
            Flow::Exit(code) => Some((inner.at_seconds(), code)),
            // An action that does not exit lets the process go on.
            _ => None,
        };
    }

    fn test(&self, arguments: &[String]) -> Option<bool> {
        let file =
            |name: &str| self.has_file(name).then(|| self.file(name).is_some_and(|text| !text.is_empty()));
        holds(arguments, &file)
    }
}

/// What `test` and `[` answer; `None` for a comparison that is not known. `file` says whether there is a file of a name,
/// and whether something is in it.
pub(crate) fn holds(arguments: &[String], file: &dyn Fn(&str) -> Option<bool>) -> Option<bool> {
    let words: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| !matches!(*word, "]" | "]]")).collect();
    holds_of(&words, file)
}

fn holds_of(words: &[&str], file: &dyn Fn(&str) -> Option<bool>) -> Option<bool> {
    if let Some(at) = words.iter().position(|word| matches!(*word, "-a" | "-o")) {
        let (left, right) = (holds_of(&words[..at], file)?, holds_of(&words[at + 1..], file)?);
        return Some(if words[at] == "-a" { left && right } else { left || right });
    }
    Some(match words {
        ["!", rest @ ..] => !holds_of(rest, file)?,
        ["-f" | "-e" | "-r" | "-d" | "-x" | "-w", name] => file(name).is_some(),
        ["-s", name] => file(name) == Some(true),
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
        ["-z"] => true,
        ["-n"] => false,
        [text] => !text.is_empty(),
        [] => false,
        _ => return None,
    })
}

/// `\n` and `\t` as what they mean.
pub fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\t", "\t")
}

/// What `printf` writes: each `%s` or `%d` takes the next argument, and the format is used again as long as some are left.
pub fn formatted(arguments: &[String]) -> String {
    let Some((format, values)) = arguments.split_first() else { return String::new() };
    let mut values = values.iter();
    let mut text = String::new();
    let format = unescaped(format);
    loop {
        let left = values.len();
        let mut rest = format.as_str();
        while let Some(at) = rest.find('%') {
            text.push_str(&rest[..at]);
            let behind =
                rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
            let letter = behind.chars().next();
            match letter {
                Some('%') => text.push('%'),
                Some(_) => text.push_str(values.next().map_or("", String::as_str)),
                None => {}
            }
            rest = letter.map_or("", |letter| &behind[letter.len_utf8()..]);
        }
        text.push_str(rest);
        if values.len() == 0 || values.len() == left {
            return text;
        }
    }
}

/// Pi to so many digits, rounded.
fn pi(digits: usize) -> String {
    // Machin's formula with numbers of nine decimal digits a limb, most significant first; three limbs to spare.
    const BASE: i64 = 1_000_000_000;
    let limbs = digits / 9 + 4;
    let divide = |number: &mut [i64], by: i64| {
        let mut left = 0;
        for limb in number.iter_mut() {
            let value = left * BASE + *limb;
            *limb = value / by;
            left = value % by;
        }
    };
    let add = |sum: &mut [i64], other: &[i64], sign: i64| {
        let mut carry = 0;
        for (limb, more) in sum.iter_mut().zip(other).rev() {
            let value = *limb + sign * more + carry;
            *limb = value.rem_euclid(BASE);
            carry = value.div_euclid(BASE);
        }
    };
    let mut sum = vec![0_i64; limbs];
    for (factor, inverse) in [(16, 5), (-4, 239)] {
        let mut power = vec![0_i64; limbs];
        power[0] = i64::abs(factor);
        divide(&mut power, inverse);
        let mut sign = i64::signum(factor);
        for odd in (1..).step_by(2) {
            if power.iter().all(|limb| *limb == 0) {
                break;
            }
            let mut term = power.clone();
            divide(&mut term, odd);
            add(&mut sum, &term, sign);
            divide(&mut power, inverse * inverse);
            sign = -sign;
        }
    }
    let text: String = sum[1..].iter().map(|limb| format!("{limb:09}")).collect();
    let behind = digits.saturating_sub(1);
    let mut shown: Vec<u8> = text.bytes().take(behind).collect();
    let mut whole = sum[0];
    if text.as_bytes().get(behind).is_some_and(|digit| *digit >= b'5') {
        let last = shown.iter().rposition(|digit| *digit != b'9');
        shown.iter_mut().skip(last.map_or(0, |last| last + 1)).for_each(|digit| *digit = b'0');
        match last {
            Some(last) => shown[last] += 1,
            None => whole += 1,
        }
    }
    let shown: String = shown.into_iter().map(char::from).collect();
    if shown.is_empty() { whole.to_string() } else { format!("{whole}.{shown}") }
}

/// The numbers of `seq [FIRST [STEP]] LAST`, at most a thousand; `None` when a word is none.
pub(crate) fn seq(words: &[String]) -> Option<Vec<String>> {
    let words = words.iter().filter(|word| !matches!(word.as_str(), "-w" | "--"));
    let bounds: Vec<i64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let (from, step, to) = match bounds.as_slice() {
        [to] => (1, 1, *to),
        [from, to] => (*from, 1, *to),
        [from, step, to] if *step != 0 => (*from, *step, *to),
        _ => return None,
    };
    let numbers = std::iter::successors(Some(from), |number| number.checked_add(step));
    let within = |number: &i64| if step > 0 { *number <= to } else { *number >= to };
    Some(numbers.take_while(within).take(1000).map(|number| number.to_string()).collect())
}
