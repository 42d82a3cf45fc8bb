//! Plays scripts: a history, a terminal, files, requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::evidence::{Deeds, What};
use super::script::{Expectation, Instruction, Line};
use crate::api::kind::Kind;
use crate::cluster::command::Command;
use crate::cluster::fact::Fact;
use crate::cluster::history::History;
use crate::cluster::network::trace::{Trace, TraceRequest};
use crate::i18n::{Catalogue, Language, catalogue};
use crate::kubectl::history_host::HistoryHost;
use crate::kubectl::trace_text::{render_trace, say};
use crate::kubectl::{Execution, Output, Session, run};

/// The most ticks that `until quiet` or a waiting command lets pass.
pub const TICKS_LIMIT: u32 = 3600;

/// When nothing is due for longer than this, `until quiet` rests.
const REST_TICKS: u64 = 40;

/// A session that a script is played on.
#[derive(Clone, Debug)]
pub struct Player {
    /// The session.
    pub history: History,
    /// What the terminal remembers.
    pub terminal: Session,
    /// The files, by name.
    pub files: BTreeMap<String, String>,
    /// What was done beside commands.
    pub deeds: Deeds,
    /// The language of what is printed.
    pub language: Language,
    /// How facts are told.
    pub voice: Voice,
    /// Requests sent.
    requests: u64,
    /// What was printed last, by a command or a request.
    last: Output,
}

/// How facts are told. The words stand in a layer above this one.
#[derive(Clone, Copy, Debug)]
pub struct Voice {
    /// What happened, with reasons, a line each.
    pub tell: fn(&Catalogue, &History, &[Arc<Fact>]) -> String,
    /// What happened to an object of that kind whose name is, or begins with, the text; `None` if nothing did.
    pub why: fn(&Catalogue, &History, Kind, &str, &str) -> Option<String>,
}

/// A voice that tells nothing.
const SILENT: Voice = Voice { tell: |_, _, _| String::new(), why: |_, _, _, _, _| None };

/// What came of one line.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// What was printed.
    pub output: Output,
    /// The facts it led to.
    pub facts: Vec<Arc<Fact>>,
    /// The request's journey.
    pub trace: Option<Trace>,
    /// Why the script ends here: an expectation that did not hold, a file that is not there.
    pub failure: Option<String>,
}

impl Player {
    /// A player on that session.
    pub fn new(history: History, files: BTreeMap<String, String>) -> Self {
        Self {
            history,
            terminal: Session::default(),
            files,
            deeds: Deeds::default(),
            language: Language::default(),
            voice: SILENT,
            requests: 0,
            last: Output::default(),
        }
    }

    /// Plays one line.
    pub fn play(&mut self, line: &Line) -> Played {
        match &line.instruction {
            Instruction::Shell(text) => self.shell(text),
            Instruction::Tick(count) => self.commands(&Command::Tick, *count),
            Instruction::Step(count) => self.commands(&Command::Step, *count),
            Instruction::UntilQuiet => self.until_quiet(),
            Instruction::Back(count) => {
                let (_, moment) = self.history.position();
                self.history.seek(moment.saturating_sub(*count as usize));
                Played::default()
            }
            Instruction::Trace { from, url } => self.trace(from.as_deref(), url),
            Instruction::Edit { file, old, new } => self.edit(file, old, new),
            Instruction::Why { object, namespace } => self.why(object, namespace.as_deref()),
            Instruction::Predict { prediction, choice } => {
                let what = What::Predicted { prediction: prediction.clone(), choice: choice.clone() };
                self.deeds.record(&self.history, what);
                Played::default()
            }
            Instruction::Expect(expectation) => {
                Played { failure: self.check(expectation), ..Played::default() }
            }
        }
    }

    fn words(&self) -> &'static Catalogue {
        catalogue(self.language)
    }

    fn shell(&mut self, text: &str) -> Played {
        let mut played = Played::default();
        let mut host = HistoryHost::new(&mut self.history, &self.files);
        let execution = run(text, &mut self.terminal, &mut host);
        played.facts.append(&mut host.facts);
        let traces = std::mem::take(&mut host.traces);
        let mut written = std::mem::take(&mut host.written);
        self.files.append(&mut written);
        for trace in &traces {
            self.deeds.record(&self.history, What::traced(trace));
        }
        let mut failure = None;
        match execution {
            Execution::Finished(output) => played.output = output,
            Execution::Waiting(output, mut waiting) => {
                played.output = output;
                let mut ticks = 0;
                loop {
                    if ticks == TICKS_LIMIT {
                        let limit = TICKS_LIMIT.to_string();
                        failure = Some(self.words().say("script.waits-too-long", &[("limit", &limit)]));
                        break;
                    }
                    ticks += 1;
                    played.facts.extend(self.history.perform(Command::Tick).facts);
                    let mut host = HistoryHost::new(&mut self.history, &self.files);
                    let poll = waiting.poll(&mut self.terminal, &mut host);
                    played.facts.append(&mut host.facts);
                    let mut written = std::mem::take(&mut host.written);
                    self.files.append(&mut written);
                    played.output.append(&poll.printed);
                    if let Some(exit) = poll.finished {
                        played.output.exit = exit;
                        break;
                    }
                }
            }
        }
        self.deeds.record(&self.history, What::Typed { line: text.to_string() });
        self.last = played.output.clone();
        Played { failure, ..played }
    }

    fn commands(&mut self, command: &Command, count: u32) -> Played {
        let facts: Vec<Arc<Fact>> =
            (0..count).flat_map(|_| self.history.perform(command.clone()).facts).collect();
        self.told(Played { facts, ..Played::default() })
    }

    fn until_quiet(&mut self) -> Played {
        let mut played = Played::default();
        for _ in 0..TICKS_LIMIT {
            if self.is_at_rest() {
                return self.told(played);
            }
            played.facts.extend(self.history.perform(Command::Tick).facts);
        }
        let limit = TICKS_LIMIT.to_string();
        played.output.stderr = self.words().say("script.not-quiet", &[("limit", &limit)]) + "\n";
        self.told(played)
    }

    /// Whether nothing but heartbeats is due soon.
    fn is_at_rest(&self) -> bool {
        let cluster = self.history.cluster();
        cluster.next_busy_tick().is_none_or(|busy| busy > cluster.tick() + REST_TICKS)
    }

    /// What happened is what was printed.
    fn told(&mut self, mut played: Played) -> Played {
        played.output.stdout = (self.voice.tell)(self.words(), &self.history, &played.facts);
        self.last = played.output.clone();
        played
    }

    fn why(&mut self, object: &str, namespace: Option<&str>) -> Played {
        let (kind, name) = object.split_once('/').unwrap_or((object, ""));
        let namespace = namespace.unwrap_or(&self.terminal.namespace);
        let kind = Kind::from_resource(kind);
        let told = kind.and_then(|kind| {
            let namespace = if kind.is_namespaced() { namespace } else { "" };
            (self.voice.why)(self.words(), &self.history, kind, namespace, name)
        });
        let failure = told.is_none().then(|| self.words().say("script.nothing-known", &[("object", object)]));
        self.last = Output::of(told.unwrap_or_default());
        Played { output: self.last.clone(), failure, ..Played::default() }
    }

    fn trace(&mut self, from: Option<&str>, url: &str) -> Played {
        let request = TraceRequest::get(url, self.requests).map(|request| match from {
            None => request,
            Some(pod) => {
                let (namespace, name) = pod.split_once('/').unwrap_or((&self.terminal.namespace, pod));
                request.from_pod(namespace, name)
            }
        });
        match request {
            Err(because) => {
                let stderr = say(&because, self.words()) + "\n";
                self.last = Output { stderr, exit: 1, ..Output::default() };
                Played { output: self.last.clone(), ..Played::default() }
            }
            Ok(request) => {
                self.requests += 1;
                let trace = self.history.cluster().trace(&request);
                self.deeds.record(&self.history, What::traced(&trace));
                self.last = Output::of(render_trace(&trace, self.words()));
                Played { output: self.last.clone(), trace: Some(trace), ..Played::default() }
            }
        }
    }

    fn edit(&mut self, file: &str, old: &str, new: &str) -> Played {
        let failure = match self.files.get_mut(file) {
            None => Some(self.words().say("script.no-file", &[("file", file)])),
            Some(text) if !text.contains(old) => {
                Some(self.words().say("script.not-in-file", &[("file", file), ("text", old)]))
            }
            Some(text) => {
                *text = text.replace(old, new);
                None
            }
        };
        Played { failure, ..Played::default() }
    }

    fn check(&self, expectation: &Expectation) -> Option<String> {
        let shown = format!("{}{}", self.last.stdout, self.last.stderr);
        match expectation {
            Expectation::Shows(text) if !shown.contains(text.as_str()) => {
                Some(self.words().say("script.expected", &[("text", text)]))
            }
            Expectation::Hides(text) if shown.contains(text.as_str()) => {
                Some(self.words().say("script.expected-not", &[("text", text)]))
            }
            Expectation::Exit(code) if *code != self.last.exit => {
                let args = [("code", code.to_string()), ("got", self.last.exit.to_string())];
                let args = args.each_ref().map(|(name, value)| (*name, value.as_str()));
                Some(self.words().say("script.expected-exit", &args))
            }
            _ => None,
        }
    }
}
