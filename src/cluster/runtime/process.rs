//! The process of a container: a program, and the moment it started.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::applications::Answers;
use super::script::{Answered, Question};
use crate::api::sharing::{Recent, Shared, Word};
use crate::api::time::Timestamp;

/// In a line: stands for the date and time at which it was written, as `date` prints it.
pub const DATE: char = '\u{e000}';
/// The same as seconds since 1970.
pub const SECONDS: char = '\u{e001}';
/// The same as `09:00:05`.
pub const CLOCK: char = '\u{e002}';
/// The same as `2026/01/05 09:00:05`.
pub const SLASHED: char = '\u{e003}';

/// In a line: stands for the part of the time that the next letter tells, as in a format of `date`.
pub const PART: char = '\u{e005}';

/// In a line of a cycle: stands for the number, at the place that the next letter tells, that grows with every round.
pub const COUNT: char = '\u{e004}';

/// The line as it was written at that time.
pub fn stamped(line: &str, at: Timestamp) -> String {
    if !line.contains([DATE, SECONDS, CLOCK, SLASHED, PART]) {
        return line.to_string();
    }
    let part = |letter: char| at.part(letter).unwrap_or_default();
    let mut line = line.to_string();
    if line.contains(PART) {
        for letter in "YmdHMSabeFTZsN".chars() {
            line = line.replace(&format!("{PART}{letter}"), &part(letter));
        }
        line = line.replace(PART, "%");
    }
    let all = |letters: &str, between: &str| letters.chars().map(part).collect::<Vec<_>>().join(between);
    line.replace(DATE, &all("abeTZY", " "))
        .replace(SECONDS, &part('s'))
        .replace(CLOCK, &part('T'))
        .replace(SLASHED, &format!("{} {}", all("Ymd", "/"), part('T')))
}

/// What a container runs, as a function of the seconds since it started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The ports it listens on.
    pub listens: Vec<Listener>,
    /// How it answers HTTP requests.
    pub answers: Answers,
    /// What it does beside listening, in the order of time.
    pub moments: Vec<Moment>,
    /// What it does over and over behind the last moment.
    pub cycle: Option<Cycle>,
    /// How it ends by itself; `None` when it runs for ever.
    pub end: Option<End>,
    /// What it does when it is told to stop.
    pub stop: Stop,
    /// The memory it uses.
    pub memory_bytes: i64,
    /// What it has asked of the network, in the order in which it asked first.
    pub asks: Vec<Question>,
    /// The file whose growth it writes to its output, as `tail -F` does; and whether from its first line on.
    pub follows: Option<(String, bool)>,
    /// Why it cannot be started, in the runtime's words; nothing else counts then.
    pub start_error: Option<String>,
    /// What ails it, by somebody's fault.
    pub ails: Option<Ailment>,
}

/// What can ail an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ailment {
    /// It ends a second after it started.
    Crash,
    /// It takes connections and answers none.
    Hang,
    /// Its next start takes [`SLOW_SECONDS`] longer.
    Slow,
    /// It says in its readiness probe that it is not ready, and answers requests.
    Unready,
    /// It takes [`LEAK_BYTES_PER_SECOND`] more memory every second, until it is killed for it.
    Leak,
    /// It runs and listens nowhere, as a database that somebody has stopped.
    Stop,
}

impl Ailment {
    /// Every ailment.
    pub const ALL: [Self; 6] = [Self::Crash, Self::Hang, Self::Slow, Self::Unready, Self::Leak, Self::Stop];

    /// A stable word: `crash`, `hang`, `slow`, …
    pub fn word(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Slow => "slow",
            Self::Unready => "unready",
            Self::Leak => "leak",
            Self::Stop => "stop",
        }
    }
}

/// How much longer an application takes that starts slowly.
pub const SLOW_SECONDS: i64 = 40;

/// How fast a leaking application grows.
pub const LEAK_BYTES_PER_SECOND: i64 = 8 << 20;

/// What a leaking application without a limit can take.
const LEAK_MOST_BYTES: i64 = 1 << 30;

impl Program {
    /// Makes it ail from that second of its life on. `limit_bytes` is its container's limit of memory.
    pub fn ail(&mut self, ailment: Ailment, age_seconds: i64, limit_bytes: Option<i64>) {
        self.ails = Some(ailment);
        let mut end = |after_seconds: i64, exit_code: i32, reason: &str| {
            self.end = Some(End { after_seconds, exit_code, reason: reason.to_string() });
        };
        match ailment {
            Ailment::Crash => {
                end(age_seconds + 1, 1, "Error");
                self.listens.clear();
                let at = self.moments.partition_point(|moment| moment.at_seconds <= age_seconds);
                let deed = Deed::Print("panic: runtime error: invalid memory address".to_string());
                self.moments.insert(at, Moment { at_seconds: age_seconds, deed });
            }
            Ailment::Leak => {
                let left = limit_bytes.unwrap_or(LEAK_MOST_BYTES) - self.memory_bytes;
                end(age_seconds + (left / LEAK_BYTES_PER_SECOND).max(1), 137, "OOMKilled");
            }
            Ailment::Slow if age_seconds == 0 => {
                self.listens.iter_mut().for_each(|listener| listener.after_seconds += SLOW_SECONDS);
            }
            _ => {}
        }
    }

    /// What ailed it does not any more.
    pub fn recover(&mut self) {
        if self.ails.take() == Some(Ailment::Leak) {
            self.end = None;
        }
    }
}

/// One port that a program listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The port.
    pub port: i32,
    /// Seconds from its start until it listens.
    pub after_seconds: i64,
}

/// Something that a program does at one second of its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Seconds from its start, or from the start of the round in a cycle.
    pub at_seconds: i64,
    /// What it does.
    pub deed: Deed,
}

/// What a program can do beside listening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Writes a line to its output.
    Print(String),
    /// Writes a file: its path and its text.
    Write(String, String),
    /// Writes behind what stands in a file: its path and the text.
    Append(String, String),
    /// Removes a file, or everything below a folder.
    Remove(String),
}

/// What a program does over and over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// When the first round begins.
    pub from_seconds: i64,
    /// How long one round takes; at least 1.
    pub period_seconds: i64,
    /// What it does in a round.
    pub moments: Vec<Moment>,
    /// The numbers that grow: each one's value in the first round, and by how much it grows.
    pub counts: Vec<(i64, i64)>,
}

/// How a program ends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Seconds from its start.
    pub after_seconds: i64,
    /// Its exit code.
    pub exit_code: i32,
    /// `Completed`, `Error`, `OOMKilled`.
    pub reason: String,
}

impl Program {
    /// The program, kept once for all that were started alike lately.
    pub fn shared(self) -> Arc<Self> {
        thread_local!(static RECENT: Recent<Program> = Recent::default());
        RECENT.with(|recent| recent.share(self))
    }
}

impl End {
    /// The reason that goes with an exit code.
    pub fn reason_of(exit_code: i32) -> String {
        if exit_code == 0 { "Completed" } else { "Error" }.to_string()
    }
}

/// What a program does when it is told to stop (SIGTERM).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// Dies of the signal at once, with exit code 143.
    #[default]
    AtOnce,
    /// Finishes its work, then exits.
    After {
        /// Seconds it takes.
        seconds: i64,
        /// Its exit code.
        exit_code: i32,
    },
    /// Ignores the signal, as the first process of a container does that has no handler for it.
    Never,
}

/// One run of a container.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// The container's id, `containerd://` and 64 hexadecimal digits.
    pub container_id: Word,
    /// What runs.
    pub program: Arc<Program>,
    /// When it started.
    pub started_at: Timestamp,
    /// What commands run beside it did to its files, in the order of time.
    pub beside: Shared<Vec<(Timestamp, Deed)>>,
    /// What the network has answered it: by question, from which second of its life on which answer.
    pub answers: Shared<Vec<(Question, Vec<(i64, Answered)>)>>,
    /// The variables it was started with, where they came from other objects; `None` where the spec says them all.
    pub variables: Option<Arc<BTreeMap<String, String>>>,
    /// How it ended; `None` while it runs.
    pub ended: Option<Box<Ended>>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// The exit code.
    pub exit_code: i32,
    /// `Completed`, `Error`, `OOMKilled`.
    pub reason: String,
}

/// What a process says to an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Lines that one run can have written at most, as far as they are kept: older ones are rotated away.
const LOG_LINES: i64 = 1000;

impl Process {
    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.ended.is_none()
    }

    /// When it will have ended by itself; `None` when it runs for ever or has ended.
    pub fn ends_at(&self) -> Option<Timestamp> {
        let end = self.program.end.as_ref().filter(|_| self.is_running())?;
        Some(Timestamp(self.started_at.0 + end.after_seconds))
    }

    /// Whether it listens on that port.
    pub fn listens(&self, port: i32, now: Timestamp) -> bool {
        self.listens_from(port).is_some_and(|from| from <= now)
    }

    /// Since or from when it listens on that port; `None` when it never does in this run.
    pub fn listens_from(&self, port: i32) -> Option<Timestamp> {
        let is_up = self.is_running() && self.program.ails != Some(Ailment::Stop);
        let listener = self.program.listens.iter().find(|l| l.port == port).filter(|_| is_up)?;
        Some(Timestamp(self.started_at.0 + listener.after_seconds))
    }

    /// How it answers an HTTP request.
    pub fn answer(&self, pod_name: &str, pod_ip: &str, port: i32, path: &str) -> Answer {
        self.program.answers.answer(pod_name, pod_ip, port, path)
    }

    /// The lines it has written until `now`, oldest first, each with its time.
    pub fn log(&self, now: Timestamp) -> Vec<(Timestamp, String)> {
        let until = self.ended.as_ref().map_or(now, |ended| ended.at.min(now));
        let print = |(at, deed): (Timestamp, Cow<'_, Deed>)| match deed.as_ref() {
            Deed::Print(line) => Some((at, stamped(line, at))),
            _ => None,
        };
        self.deeds_until(until).into_iter().filter_map(print).collect()
    }

    /// The text of a file that it, or a command beside it, has written; `None` when there is no such file.
    pub fn file(&self, path: &str, now: Timestamp) -> Option<String> {
        let own = |deed: &Deed| FileChange::of(deed, path);
        let mut text = None;
        for (at, deed) in self.deeds_until(now) {
            if let Some(change) = own(&deed) {
                change.apply(at, &mut text);
            }
        }
        text
    }

    /// Whether it, or a command beside it, has removed a file that was there before.
    pub fn has_removed(&self, path: &str, now: Timestamp) -> bool {
        let deeds = self.deeds_until(now);
        let last = deeds.iter().rev().find_map(|(_, deed)| FileChange::of(deed, path));
        matches!(last, Some(FileChange::Gone))
    }

    /// What it, or a command beside it, did to files, in the order of time.
    pub fn file_deeds(&self, now: Timestamp) -> Vec<(Timestamp, Cow<'_, Deed>)> {
        let mut deeds = self.deeds_until(now);
        deeds.retain(|(_, deed)| !matches!(deed.as_ref(), Deed::Print(_)));
        deeds
    }

    /// The files that it, or a command beside it, has written, in no order.
    pub fn files(&self, now: Timestamp) -> Vec<String> {
        let deeds = self.deeds_until(now);
        let written = deeds.iter().filter_map(|(_, deed)| match deed.as_ref() {
            Deed::Write(file, _) | Deed::Append(file, _) => Some(file.clone()),
            _ => None,
        });
        let mut files: Vec<String> = written.collect();
        files.sort();
        files.dedup();
        files.retain(|file| self.file(file, now).is_some());
        files
    }

    /// The next moment after `now` at which it creates or removes a file.
    pub fn next_file_change(&self, now: Timestamp) -> Option<Timestamp> {
        let age = now.seconds_since(self.started_at);
        let changes = |m: &&Moment| !matches!(m.deed, Deed::Print(_));
        let program = &self.program;
        let once = program.moments.iter().filter(changes).map(|m| m.at_seconds).find(|&at| at > age);
        let round = program.cycle.as_ref().and_then(|cycle| {
            let rounds = (age - cycle.from_seconds).max(0) / cycle.period_seconds;
            let start = cycle.from_seconds + rounds * cycle.period_seconds;
            let at = |start: i64| {
                cycle.moments.iter().filter(changes).map(move |m| start + m.at_seconds).find(|&at| at > age)
            };
            at(start).or_else(|| at(start + cycle.period_seconds))
        });
        once.or(round).map(|at| Timestamp(self.started_at.0 + at))
    }

    /// Since or from when it answers that something is wrong; `None` when it never does.
    pub fn ails_from(&self) -> Option<Timestamp> {
        match self.program.answers {
            Answers::HealthyFor(seconds) => Some(Timestamp(self.started_at.0 + seconds + 1)),
            _ => None,
        }
    }

    /// The next moment after `now` at which it begins to answer so.
    pub fn next_turn(&self, now: Timestamp) -> Option<Timestamp> {
        self.ails_from().filter(|from| *from > now && self.is_running())
    }

    /// Takes the signal to stop, sent from inside: one that asked for none does nothing.
    pub fn take_signal(&mut self, now: Timestamp) {
        let (seconds, exit_code) = match self.program.stop {
            Stop::Never => return,
            Stop::AtOnce => (0, 143),
            Stop::After { seconds, exit_code } => (seconds, exit_code),
        };
        let after_seconds = now.seconds_since(self.started_at) + seconds;
        let reason = End::reason_of(exit_code);
        Arc::make_mut(&mut self.program).end = Some(End { after_seconds, exit_code, reason });
    }

    /// The process is killed.
    pub fn kill(&mut self, now: Timestamp, exit_code: i32, reason: &str) {
        if self.ended.is_some() {
            return;
        }
        let after_seconds = now.seconds_since(self.started_at);
        Arc::make_mut(&mut self.program).end =
            Some(End { after_seconds, exit_code, reason: reason.to_string() });
    }

    fn deeds_until(&self, until: Timestamp) -> Vec<(Timestamp, Cow<'_, Deed>)> {
        let until = self.ended.as_ref().map_or(until, |ended| ended.at.min(until));
        let age = until.seconds_since(self.started_at);
        let at = |seconds: i64| Timestamp(self.started_at.0 + seconds);
        let done = self.program.moments.iter().filter(|m| m.at_seconds <= age);
        let mut deeds: Vec<_> = done.map(|m| (at(m.at_seconds), Cow::Borrowed(&m.deed))).collect();
        if let Some(cycle) = &self.program.cycle
            && !cycle.moments.is_empty()
            && age >= cycle.from_seconds
        {
            let last = (age - cycle.from_seconds) / cycle.period_seconds;
            let per_round = i64::try_from(cycle.moments.len()).unwrap_or(i64::MAX);
            for round in (last - LOG_LINES / per_round).max(0)..=last {
                let start = cycle.from_seconds + round * cycle.period_seconds;
                let done = cycle.moments.iter().filter(|m| start + m.at_seconds <= age);
                deeds.extend(done.map(|m| (at(start + m.at_seconds), cycle.deed_in(round, &m.deed))));
            }
        }
        if !self.beside.is_empty() {
            let beside = self.beside.iter().filter(|(at, _)| *at <= until);
            deeds.extend(beside.map(|(at, deed)| (*at, Cow::Borrowed(deed))));
            deeds.sort_by_key(|(at, _)| *at);
        }
        deeds
    }
}

/// What a deed makes of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// It holds this text from then on.
    Text(String),
    /// This text comes behind what it holds.
    More(String),
    /// It is gone.
    Gone,
}

impl FileChange {
    /// What the deed makes of the file; `None` when it is about something else.
    pub fn of(deed: &Deed, path: &str) -> Option<Self> {
        match deed {
            Deed::Write(file, text) if file == path => Some(Self::Text(text.clone())),
            Deed::Append(file, text) if file == path => Some(Self::More(text.clone())),
            Deed::Remove(file) if is_within(path, file) => Some(Self::Gone),
            _ => None,
        }
    }

    /// Carries the change out on a text that may not be there.
    pub fn apply(self, at: Timestamp, text: &mut Option<String>) {
        match self {
            Self::Text(new) => *text = Some(stamped(&new, at)),
            Self::More(more) => text.get_or_insert_default().push_str(&stamped(&more, at)),
            Self::Gone => *text = None,
        }
    }
}

/// Whether the path is that folder, or below it.
pub fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder == "/")
}

impl Cycle {
    /// A deed as it is in that round: numbers that grow have grown.
    fn deed_in<'a>(&self, round: i64, deed: &'a Deed) -> Cow<'a, Deed> {
        let grown = |text: &String| {
            let mut text = text.clone();
            for (index, (first, step)) in self.counts.iter().enumerate() {
                text = text.replace(&Self::mark(index), &(first + round * step).to_string());
            }
            text
        };
        if self.counts.is_empty() {
            return Cow::Borrowed(deed);
        }
        Cow::Owned(match deed {
            Deed::Print(line) => Deed::Print(grown(line)),
            Deed::Write(file, text) => Deed::Write(grown(file), grown(text)),
            Deed::Append(file, text) => Deed::Append(grown(file), grown(text)),
            Deed::Remove(file) => Deed::Remove(grown(file)),
        })
    }

    /// What stands for the number at that place.
    pub fn mark(index: usize) -> String {
        format!("{COUNT}{index}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(program: Program) -> Process {
        let program = Arc::new(program);
        Process {
            container_id: "".into(),
            program,
            started_at: Timestamp(100),
            beside: Shared::default(),
            answers: Shared::default(),
            variables: None,
            ended: None,
        }
    }

    #[test]
    fn a_port_opens_when_the_program_has_started_up_and_closes_when_it_ends() {
        let listens = vec![Listener { port: 80, after_seconds: 2 }];
        let mut process = process(Program { listens, ..Program::default() });
        assert!(!process.listens(80, Timestamp(101)));
        assert!(process.listens(80, Timestamp(102)));
        assert!(!process.listens(81, Timestamp(102)));
        process.ended =
            Some(Box::new(Ended { at: Timestamp(105), exit_code: 0, reason: "Completed".to_string() }));
        assert!(!process.listens(80, Timestamp(106)));
    }

    #[test]
    fn a_file_comes_and_goes_with_the_moments() {
        let moment = |at_seconds, deed| Moment { at_seconds, deed };
        let file = "/tmp/healthy".to_string();
        let moments =
            vec![moment(0, Deed::Write(file.clone(), String::new())), moment(30, Deed::Remove(file.clone()))];
        let process = process(Program { moments, ..Program::default() });
        assert!(process.file(&file, Timestamp(100)).is_some());
        assert_eq!(process.next_file_change(Timestamp(100)), Some(Timestamp(130)));
        assert!(process.file(&file, Timestamp(130)).is_none());
        assert_eq!(process.next_file_change(Timestamp(130)), None);
    }

    #[test]
    fn a_cycle_writes_a_line_in_every_round() {
        let moments = vec![Moment { at_seconds: 0, deed: Deed::Print("tick".to_string()) }];
        let cycle = Some(Cycle { from_seconds: 0, period_seconds: 5, moments, counts: Vec::new() });
        let process = process(Program { cycle, ..Program::default() });
        assert_eq!(process.log(Timestamp(111)).len(), 3);
    }
}
