//! A small interpreter of the shell idioms that manifests use, from a text to what happens at which second.
//!
//! Understands `sleep`, `echo`, `printf`, `exit`, `touch`, `rm`, `cat`, `test`/`[`, `true`, `false`, `date`, `grep`, `head`,
//! `tail`, `wc`, `seq`, `env`, `ls`, `ps`, `kill`, `nslookup`, `wget`, `curl`, `nc` and some more; `;`, newlines, `&&`, `||`, `!`,
//! pipes, `while`/`until … do … done`, `if … then … elif … else … fi`, `for … in … do … done`, `exec`, `trap … TERM`, output redirected to a file,
//! quotes, variables, `$(…)`, `$((…))`.
//!
//! What a script finds out from the network (does a name resolve, does a port answer) is a [`Question`]; whoever runs the
//! process notes when the answer changes, and plays the script again from its start: the past comes out the same.
//!
//! Leaves out: everything else. A command that is not understood runs for ever, as a server would.

mod files;
mod flow;
mod loops;
mod network;
mod tools;
mod words;

pub(crate) use tools::{formatted, holds, seq, unescaped};

use std::collections::{BTreeMap, BTreeSet};

use self::words::tokens;
use super::applications::Answers;
use super::process::{Cycle, Deed, End, Listener, Moment, Program, Stop};

/// The longest script that is read.
const MAX_BYTES: usize = 16 << 10;

/// The most commands that are carried out.
const MAX_COMMANDS: u32 = 8000;

/// Something that a script asks of the network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The host's name or address.
    pub host: String,
    /// The port; `None` when only the name matters.
    pub port: Option<i32>,
    /// The path of an HTTP request; empty for none.
    pub path: String,
}

/// What a question came to: the address or the body, or nothing.
pub type Answered = Option<String>;

/// What a script meets.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// Variables.
    pub environment: &'a BTreeMap<String, String>,
    /// The text of a file that is there before the script, or beside it.
    pub read: &'a dyn Fn(&str) -> Option<String>,
    /// The files that are there.
    pub list: &'a dyn Fn() -> Vec<String>,
    /// The answer to a question in that second of the script; and from which second on no answer changes any more.
    pub ask: &'a dyn Fn(&Question, i64) -> Answered,
    /// The second from which on no answer changes any more, as far as is known.
    pub settled_seconds: i64,
    /// What the first process of the container is called.
    pub main: &'a str,
    /// What is read from standard input.
    pub input: &'a str,
    /// The address that the process has.
    pub address: &'a str,
    /// Whether there is nothing but the usual commands: another one is not found.
    pub is_plain: bool,
}

/// What a command run inside a container came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The exit code; `None` when it would run for ever.
    pub exit_code: Option<i32>,
    /// What it wrote, a line each.
    pub output: Vec<String>,
    /// What it wrote about errors, a line each.
    pub errors: Vec<String>,
    /// What it did to files, in order.
    pub deeds: Vec<Deed>,
    /// Whether it told the container's first process to stop.
    pub signalled: bool,
    /// Whether it came to a command that is not understood.
    pub unknown: bool,
    /// The file whose growth it would go on to write.
    pub follows: Option<String>,
}

/// What a script does from its start on; `program` is what the image's own server does, for when the script comes to a
/// command that is not understood.
pub fn program_of(script: &str, around: &Surroundings<'_>, mut program: Program) -> Program {
    let mut shell = Shell::new(around);
    let flow = shell.run_text(script);
    if shell.met_unknown {
        // The server writes its lines when it starts, which is when the script comes to it.
        let since = shell.at_seconds();
        for moment in &mut program.moments {
            moment.at_seconds += since;
        }
        for listener in &mut program.listens {
            listener.after_seconds += since;
        }
        shell.moments.append(&mut program.moments);
        program.moments = shell.moments;
    } else {
        program.listens = shell.listens;
        if let Some(folder) = shell.serves {
            program.answers = Answers::Files(folder);
        }
        program.moments = shell.moments;
    }
    program.cycle = shell.cycle;
    program.asks = shell.asks;
    program.follows = shell.follows;
    program.start_error = shell.not_found;
    if let Some((seconds, exit_code)) = shell.on_term {
        program.stop = Stop::After { seconds, exit_code };
    }
    program.end = match flow {
        Flow::Endless => None,
        Flow::Next | Flow::Break | Flow::Continue => Some((shell.last_code, shell.milliseconds)),
        Flow::Exit(code) => Some((code, shell.milliseconds)),
    }
    .map(|(exit_code, milliseconds)| End {
        after_seconds: milliseconds / 1000,
        exit_code,
        reason: End::reason_of(exit_code),
    });
    program
}

/// What a script comes to that is run beside a process, as a probe or `kubectl exec` does.
pub fn run_beside(script: &str, around: &Surroundings<'_>) -> Ran {
    let mut shell = Shell::new(around);
    shell.beside = true;
    let exit_code = match shell.run_text(script) {
        Flow::Endless => None,
        Flow::Next | Flow::Break | Flow::Continue => Some(shell.last_code),
        Flow::Exit(code) => Some(code),
    };
    let deeds = shell.moments.into_iter().map(|moment| moment.deed);
    let deeds = deeds.filter(|deed| !matches!(deed, Deed::Print(_))).collect();
    let (output, errors) = (shell.output, shell.errors);
    let follows = shell.follows.map(|(file, _)| file);
    Ran { exit_code, output, errors, deeds, signalled: shell.signalled, unknown: shell.met_unknown, follows }
}

/// The same where there is nothing around it but files.
#[cfg(test)]
pub fn run_among(script: &str, read: &dyn Fn(&str) -> Option<String>) -> Ran {
    let around = Surroundings {
        environment: &BTreeMap::new(),
        read,
        list: &Vec::new,
        ask: &|_, _| None,
        settled_seconds: 0,
        main: "",
        input: "",
        address: "",
        is_plain: false,
    };
    run_beside(script, &around)
}

/// Words as a shell line that means exactly them.
pub fn quoted(words: &[String]) -> String {
    let quote = |word: &String| format!("'{}'", word.replace('\'', "'\\''"));
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// `$(NAME)` filled in where the name is known; `$$` stands for a `$` that is to stay.
pub fn expanded<'a>(text: &str, value_of: &dyn Fn(&str) -> Option<&'a String>) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('$') {
            filled.push('$');
            rest = behind;
        } else if let Some((name, behind)) = rest.strip_prefix('(').and_then(|inside| inside.split_once(')'))
        {
            match value_of(name) {
                Some(value) => filled.push_str(value),
                None => filled.push_str(&format!("$({name})")),
            }
            rest = behind;
        } else {
            filled.push('$');
        }
    }
    filled.push_str(rest);
    filled
}

/// How it goes on after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    Exit(i32),
    Endless,
}

/// Where the output of one command goes.
#[derive(Clone, Debug, Default)]
struct Target {
    /// Into this file, behind what is there or in its place.
    file: Option<(String, bool)>,
    /// Nowhere.
    dropped: bool,
    /// Whether errors go nowhere.
    quiet: bool,
}

struct Shell<'a> {
    around: &'a Surroundings<'a>,
    environment: BTreeMap<String, String>,
    written: BTreeMap<String, String>,
    removed: BTreeSet<String>,
    milliseconds: i64,
    moments: Vec<Moment>,
    cycle: Option<Cycle>,
    output: Vec<String>,
    errors: Vec<String>,
    /// Outputs that are caught for a pipe or a substitution, innermost last.
    caught: Vec<Vec<String>>,
    /// What the command reads.
    input: Vec<String>,
    last_code: i32,
    commands_left: u32,
    asks: Vec<Question>,
    /// What a trap makes of the signal to stop: seconds and exit code.
    on_term: Option<(i64, i32)>,
    /// Whether a command came up that is not understood, which may be the image's own server.
    met_unknown: bool,
    /// Whether it runs beside the container's own process.
    beside: bool,
    /// Whether the first process was told to stop.
    signalled: bool,
    /// Whether the command stands in a script, not in the container's own command.
    in_script: bool,
    /// The ports that its own server listens on.
    listens: Vec<Listener>,
    /// The folder whose files its own server answers with.
    serves: Option<String>,
    /// The file whose growth it writes; and whether from its first line on.
    follows: Option<(String, bool)>,
    /// Why the container's own command cannot be started.
    not_found: Option<String>,
}

impl<'a> Shell<'a> {
    fn new(around: &'a Surroundings<'a>) -> Self {
        Self {
            around,
            environment: around.environment.clone(),
            written: BTreeMap::new(),
            removed: BTreeSet::new(),
            milliseconds: 0,
            moments: Vec::new(),
            cycle: None,
            output: Vec::new(),
            errors: Vec::new(),
            caught: Vec::new(),
            input: around.input.lines().map(str::to_string).collect(),
            last_code: 0,
            commands_left: MAX_COMMANDS,
            asks: Vec::new(),
            on_term: None,
            met_unknown: false,
            beside: false,
            signalled: false,
            in_script: false,
            listens: Vec::new(),
            serves: None,
            follows: None,
            not_found: None,
        }
    }

    fn run_text(&mut self, text: &str) -> Flow {
        if text.len() > MAX_BYTES {
            return Flow::Endless;
        }
        self.run(&tokens(text))
    }

    fn at_seconds(&self) -> i64 {
        self.milliseconds / 1000
    }

    /// What a command writes when it is run by itself.
    fn substituted(&mut self, text: &str) -> String {
        if self.commands_left == 0 {
            return String::new();
        }
        self.caught.push(Vec::new());
        self.run_text(text);
        self.caught.pop().unwrap_or_default().join("\n")
    }
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
        with_answers(script, &[])
    }

    /// The program when the network answers from those seconds on.
    fn with_answers(script: &str, from: &[i64]) -> Program {
        let environment = BTreeMap::from([("HOSTNAME".to_string(), "api-1".to_string())]);
        let from = from.first().copied();
        let ask = |_: &Question, now: i64| from.filter(|from| *from <= now).map(|_| "10.96.0.7".to_string());
        let read = |file: &str| (file == "/etc/config/color").then(|| "blue\n".to_string());
        let around = Surroundings {
            environment: &environment,
            read: &read,
            list: &|| vec!["/etc/config/color".to_string()],
            ask: &ask,
            settled_seconds: from.unwrap_or(0),
            main: "sh",
            input: "",
            address: "10.244.1.2",
            is_plain: false,
        };
        program_of(script, &around, Program::default())
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
        assert_eq!(deeds, [(0, Deed::Write(file.clone(), String::new())), (30, Deed::Remove(file))]);
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
    fn a_loop_that_counts_goes_on_counting() {
        let program = run("i=0; while true; do echo \"$i: tick\"; i=$((i+1)); sleep 1; done");
        let process = crate::cluster::runtime::process::Process {
            container_id: "".into(),
            program: std::sync::Arc::new(program),
            started_at: crate::api::time::Timestamp(100),
            beside: Vec::new().into(),
            answers: Vec::new().into(),
            variables: None,
            ended: None,
        };
        let lines: Vec<String> =
            process.log(crate::api::time::Timestamp(105)).into_iter().map(|(_, line)| line).collect();
        assert_eq!(lines, ["0: tick", "1: tick", "2: tick", "3: tick", "4: tick", "5: tick"]);
    }

    #[test]
    fn a_probe_sees_the_files_of_the_process() {
        let read = |file: &str| (file == "/tmp/healthy").then(String::new);
        let run = |script: &str| run_among(script, &read);
        assert_eq!(run("cat /tmp/healthy").exit_code, Some(0));
        assert_eq!(run("test -f /tmp/ready").exit_code, Some(1));
        assert_eq!(run("cat /tmp/ready").errors, ["cat: can't open '/tmp/ready': No such file or directory"]);
        assert_eq!(run("[ -f /tmp/healthy ] && exit 0 || exit 1").exit_code, Some(0));
    }

    fn printed(script: &str) -> Vec<String> {
        let program = run(script);
        let moments = program.moments.iter().chain(program.cycle.iter().flat_map(|cycle| &cycle.moments));
        moments
            .filter_map(|moment| match &moment.deed {
                Deed::Print(line) => Some(line.clone()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn words_are_filled_in_piped_and_written() {
        for (script, expected) in [
            ("echo $((2 + 3 * 4)) $HOSTNAME ${NONE:-there}", vec!["14 api-1 there"]),
            ("echo 'a $HOSTNAME' \"b $HOSTNAME\"", vec!["a $HOSTNAME b api-1"]),
            ("i=1; i=$((i+1)); echo $i", vec!["2"]),
            ("echo one two | wc -w; echo $(hostname)", vec!["2", "api-1"]),
            ("printf 'a\\nb\\n' | grep b", vec!["b"]),
            ("seq 3 | tail -n 1", vec!["3"]),
            ("printf '%s-%s\\n' a b c d", vec!["a-b", "c-d"]),
            ("echo hi > /tmp/x; echo ho >> /tmp/x; cat /tmp/x", vec!["hi", "ho"]),
            ("cat /etc/config/color", vec!["blue"]),
            ("echo no > /dev/null; false || echo yes", vec!["yes"]),
            ("if false; then echo a; elif true; then echo b; else echo c; fi", vec!["b"]),
            ("for i in $(seq 2); do echo n$i; done", vec!["n1", "n2"]),
            ("ls /etc/config", vec!["color"]),
            ("cat /none 2>/dev/null; echo $?", vec!["1"]),
            ("echo -en 'a\\n'; A=1; B=2; export A B; printenv A B", vec!["a", "1", "2"]),
        ] {
            assert_eq!(printed(script), expected, "{script}");
        }
    }

    #[test]
    fn a_script_waits_for_a_name_until_it_resolves() {
        let script = "until nslookup db; do echo waiting for db; sleep 2; done; echo found";
        let waits = with_answers(script, &[]);
        assert_eq!((waits.end.clone(), waits.asks.len()), (None, 1));
        let found = with_answers(script, &[5]);
        assert_eq!(found.end.map(|end| (end.after_seconds, end.exit_code)), Some((6, 0)));
    }

    #[test]
    fn a_trap_makes_the_process_stop_as_it_says() {
        let program = run("trap 'echo bye; sleep 3; exit 0' TERM; while true; do sleep 1; done");
        assert_eq!(program.stop, Stop::After { seconds: 3, exit_code: 0 });
        assert_eq!(program.end, None);
    }

    #[test]
    fn pi_is_computed_and_printed() {
        let program = run("perl -Mbignum=bpi -wle 'print bpi(20)'");
        assert_eq!(program.end.as_ref().map(|end| end.exit_code), Some(0));
        assert_eq!(printed("perl -Mbignum=bpi -wle 'print bpi(20)'"), ["3.1415926535897932385"]);
    }
}
