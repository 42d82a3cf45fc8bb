//! The small shell around kubectl.
//!
//! It knows quotes, `;`, `&&`, `||`, pipes, here-documents (`<<EOF`, `<<'EOF'`, `<<-EOF`), `< file`, comments, variables,
//! `$(…)` of commands that do not wait, `for`, `while`, `until` and `if`, `&` behind `kubectl port-forward`, and a few tools to pipe into. It knows no writing
//! to files other than those of the editor.

mod block;
mod fault;
mod fill;
mod jq;
mod line;
pub(crate) mod network;
mod pattern;
mod plain;
mod tools;
mod traffic;

pub use tools::Repeated;
pub(crate) use tools::TOOLS;

use std::collections::VecDeque;

use super::commands::{self, Call, Pending};
use super::execution::{Execution, Output, Poll};
use super::host::Host;
use super::session::{Inside, Session};
use block::Step;
use line::{Connector, Statement};

/// What `clear` prints: the control sequence that empties a terminal.
pub const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// The most statements that one text may hold.
const MAX_STATEMENTS: usize = 1000;
/// The most statements that loops carry out before something waits.
const MAX_STEPS: usize = 10_000;

/// Carries out a line (or several, with here-documents) of a terminal.
pub fn run(line: &str, session: &mut Session, host: &mut dyn Host) -> Execution {
    run_with_input(line, None, session, host)
}

/// Whether a text goes on in the next line: a here-document is not ended, a quote or a parenthesis not closed.
pub fn is_unfinished(text: &str) -> bool {
    match line::parse(text) {
        Ok(_) => text.ends_with('\\') && !text.ends_with("\\\\"),
        Err(problem) => problem.ends_with(" is not closed") || problem.contains(" is not ended by "),
    }
}

/// Carries out a line whose first command reads `input`.
pub fn run_with_input(
    line: &str,
    input: Option<&str>,
    session: &mut Session,
    host: &mut dyn Host,
) -> Execution {
    session.remember(line);
    if session.inside.is_some() && input.is_none() && session.depth == 0 {
        return Execution::Finished(type_inside(line, session, host));
    }
    let statements = match line::parse(line) {
        Ok(statements) if statements.len() > MAX_STATEMENTS => {
            return Execution::Finished(refused("too many commands in one line"));
        }
        Ok(statements) => statements,
        Err(problem) => return Execution::Finished(refused(&problem)),
    };
    let steps = match block::gather(statements) {
        Ok(steps) => steps,
        Err(problem) => return Execution::Finished(refused(&problem)),
    };
    let mut script = Script { steps: steps.into(), input: input.map(str::to_string), exit: 0 };
    let mut output = Output::default();
    match script.advance(session, host, &mut output) {
        None => {
            output.exit = script.exit;
            Execution::Finished(output)
        }
        Some(paused) => Execution::Waiting(output, Box::new(Waiting { paused, script })),
    }
}

/// Carries out a line in the shell of a container that one is in.
fn type_inside(line: &str, session: &mut Session, host: &mut dyn Host) -> Output {
    let Some(mut inside) = session.inside.take() else { return Output::default() };
    let line = line.trim();
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (None, _) => {
            session.inside = Some(inside);
            Output::default()
        }
        (Some("exit" | "logout"), code) => {
            let exit = code.and_then(|code| code.parse().ok()).unwrap_or(inside.exit);
            let mut output = Output { exit, ..Output::default() };
            if inside.removes {
                output.stdout = commands::attach::remove(&inside, host);
            } else if exit != 0 {
                output.stderr = format!("command terminated with exit code {exit}\n");
            }
            output
        }
        _ => {
            let Inside { namespace, pod, container, .. } = &inside;
            let words = ["kubectl", "-n", namespace, "exec", pod, "-c", container, "--", "sh", "-c", line];
            let (mut output, _) = run_command(&words.map(str::to_string), None, session, host);
            let told = format!("command terminated with exit code {}\n", output.exit);
            match output.stderr.strip_suffix(&told) {
                Some(rest) => {
                    inside.exit = output.exit;
                    output.stderr = rest.to_string();
                    session.inside = Some(inside);
                }
                // The container has ended, and its shell with it.
                None if output.exit != 0 => {}
                None => {
                    inside.exit = 0;
                    session.inside = Some(inside);
                }
            }
            output
        }
    }
}

fn refused(problem: &str) -> Output {
    Output { stderr: format!("kubestep: {problem}\n"), exit: 2, ..Output::default() }
}

/// The statements that are left, and the exit code of the last one.
#[derive(Clone, Debug)]
struct Script {
    steps: VecDeque<Step>,
    input: Option<String>,
    exit: i32,
}

/// A pipeline whose command waits.
#[derive(Clone, Debug)]
struct Paused {
    pending: Pending,
    /// What the waiting command has printed, for the stages after it.
    held: String,
    stages: VecDeque<Vec<String>>,
}

/// A line that waits for the cluster. Poll it after every tick; drop it for Ctrl-C.
#[derive(Clone, Debug)]
pub struct Waiting {
    paused: Paused,
    script: Script,
}

impl Waiting {
    /// Looks whether what it waits for has happened; the rest of the line follows at once.
    pub fn poll(&mut self, session: &mut Session, host: &mut dyn Host) -> Poll {
        let mut poll = self.paused.pending.poll(host);
        if !self.paused.stages.is_empty() {
            self.paused.held.push_str(&std::mem::take(&mut poll.printed.stdout));
        }
        let Some(exit) = poll.finished.take() else { return poll };
        if let Pending::Attach(attached) = &self.paused.pending {
            session.inside = attached.entered().or(session.inside.take());
        }
        let stages = std::mem::take(&mut self.paused.stages);
        self.script.exit = exit;
        let mut next = None;
        if !stages.is_empty() {
            let held = std::mem::take(&mut self.paused.held);
            next = self.script.pipe(stages, Some(held), session, host, &mut poll.printed);
        }
        if next.is_none() {
            next = self.script.advance(session, host, &mut poll.printed);
        }
        match next {
            Some(paused) => self.paused = paused,
            None => {
                poll.finished = Some(self.script.exit);
                poll.printed.exit = self.script.exit;
            }
        }
        poll
    }
}

impl Script {
    /// Carries out what is left until something waits.
    fn advance(&mut self, session: &mut Session, host: &mut dyn Host, output: &mut Output) -> Option<Paused> {
        let mut steps = 0;
        while let Some(step) = self.steps.pop_front() {
            steps += 1;
            if steps > MAX_STEPS {
                self.stop(
                    format!("more than {MAX_STEPS} commands without waiting: let time pass with sleep"),
                    output,
                );
                return None;
            }
            let connector = match &step {
                Step::Run(Statement { connector, .. })
                | Step::For { connector, .. }
                | Step::While { connector, .. }
                | Step::If { connector, .. } => *connector,
                _ => Connector::Always,
            };
            let skipped = match connector {
                Connector::Always => false,
                Connector::IfOk => self.exit != 0,
                Connector::IfFailed => self.exit == 0,
            };
            if skipped {
                continue;
            }
            let succeeded = self.exit == 0;
            match step {
                Step::Run(statement) => {
                    let paused = self.carry_out(statement, session, host, output);
                    if paused.is_some() {
                        return paused;
                    }
                }
                Step::For { name, words, body, .. } => match fill::words(&words, self.exit, session, host) {
                    Ok(items) => self.next(Vec::new(), Step::Turns { name, items, body }),
                    Err(problem) => self.stop(problem, output),
                },
                Step::Turns { items, .. } if items.is_empty() => {}
                Step::Turns { name, mut items, body } => {
                    session.set(&name, &items.remove(0));
                    self.next(body.clone(), Step::Turns { name, items, body });
                }
                Step::While { is_until, condition, body, .. } | Step::Again { is_until, condition, body } => {
                    self.next(condition.clone(), Step::Looked { is_until, condition, body });
                }
                Step::Looked { is_until, condition, body } if succeeded != is_until => {
                    self.next(body.clone(), Step::Again { is_until, condition, body });
                }
                Step::Looked { .. } => self.exit = 0,
                Step::If { condition, then, otherwise, .. } => {
                    self.next(condition, Step::Choose { then, otherwise });
                }
                Step::Choose { then, otherwise } => {
                    self.exit = 0;
                    let chosen = if succeeded { then } else { otherwise };
                    chosen.into_iter().rev().for_each(|step| self.steps.push_front(step));
                }
            }
        }
        None
    }

    /// Puts steps, and one behind them, before everything that is left.
    fn next(&mut self, steps: Vec<Step>, behind: Step) {
        self.steps.push_front(behind);
        steps.into_iter().rev().for_each(|step| self.steps.push_front(step));
    }

    /// Gives up the rest.
    fn stop(&mut self, problem: String, output: &mut Output) {
        output.stderr.push_str(&refused(&problem).stderr);
        self.exit = 2;
        self.steps.clear();
    }

    /// `break` and `continue`: drops what is left of the turn, and with `break` the turns that are left.
    fn leave(&mut self, ends_loop: bool) {
        while let Some(step) = self.steps.pop_front() {
            if matches!(step, Step::Turns { .. } | Step::Again { .. }) {
                if !ends_loop {
                    self.steps.push_front(step);
                }
                return;
            }
        }
    }

    /// Carries out a pipeline; what it gives waits.
    fn carry_out(
        &mut self,
        statement: Statement,
        session: &mut Session,
        host: &mut dyn Host,
        output: &mut Output,
    ) -> Option<Paused> {
        if let [[word]] = statement.stages.iter().map(Vec::as_slice).collect::<Vec<_>>().as_slice()
            && matches!(word.as_str(), "break" | "continue")
        {
            self.leave(word == "break");
            return None;
        }
        let input = match (statement.document, statement.from_file) {
            (Some(document), _) => match fill::text(&document, self.exit, session, host) {
                Ok(document) => Some(document),
                Err(problem) => {
                    output.stderr.push_str(&refused(&problem).stderr);
                    self.exit = 2;
                    return None;
                }
            },
            (None, Some(name)) => match host.file(&name) {
                Some(text) => Some(text),
                None => {
                    output.stderr.push_str(&format!("kubestep: {name}: No such file or directory\n"));
                    self.exit = 1;
                    return None;
                }
            },
            (None, None) => self.input.take(),
        };
        match self.pipe(statement.stages.into(), input, session, host, output) {
            // The terminal remembers the ports that are forwarded.
            Some(Paused { pending: Pending::Forward(_), .. }) if statement.in_background => None,
            Some(_) if statement.in_background => {
                let problem = "only kubectl port-forward can run in the background (&)";
                output.stderr.push_str(&refused(problem).stderr);
                self.exit = 2;
                None
            }
            paused => paused,
        }
    }

    /// Carries out the stages of a pipeline until none is left or one waits.
    fn pipe(
        &mut self,
        mut stages: VecDeque<Vec<String>>,
        mut input: Option<String>,
        session: &mut Session,
        host: &mut dyn Host,
        output: &mut Output,
    ) -> Option<Paused> {
        while let Some(words) = stages.pop_front() {
            let mut words = match fill::words(&words, self.exit, session, host) {
                Ok(words) => words,
                Err(problem) => {
                    output.stderr.push_str(&refused(&problem).stderr);
                    self.exit = 2;
                    return None;
                }
            };
            plain::unaliased(&mut words, session);
            if words.first().is_some_and(|word| word == "xargs") {
                words = fill::arguments(&words, input.take().as_deref());
            }
            let is_on = |what: &str| words.iter().any(|word| word == what);
            let (errors_too, no_errors) = (is_on(line::ERRORS_TOO), is_on(line::NO_ERRORS));
            words.retain(|word| word != line::ERRORS_TOO && word != line::NO_ERRORS);
            let (mut printed, pending) = run_command(&words, input.as_deref(), session, host);
            if errors_too {
                // What came first is not known: tables and messages seldom come together.
                printed.stdout.push_str(&std::mem::take(&mut printed.stderr));
            }
            if !no_errors {
                output.stderr.push_str(&printed.stderr);
            }
            if !words.first().is_some_and(|word| word.starts_with(line::REDIRECT) && printed.exit == 0) {
                self.exit = printed.exit;
            }
            if let Some(pending) = pending {
                let held = if stages.is_empty() {
                    output.stdout.push_str(&printed.stdout);
                    String::new()
                } else {
                    std::mem::take(&mut printed.stdout)
                };
                return Some(Paused { pending, held, stages });
            }
            if stages.is_empty() {
                output.stdout.push_str(&printed.stdout);
            } else {
                input = Some(printed.stdout);
            }
        }
        None
    }
}

/// Carries out one command.
fn run_command(
    words: &[String],
    input: Option<&str>,
    session: &mut Session,
    host: &mut dyn Host,
) -> (Output, Option<Pending>) {
    let Some((command, args)) = words.split_first() else { return (Output::default(), None) };
    if let Some(pending) = tools::waits(command, args, session, host) {
        return pending;
    }
    if !matches!(command.as_str(), "kubectl" | "k") {
        return (tools::run(command, args, input, session, host), None);
    }
    let mut call = Call {
        session,
        host,
        input,
        path: "kubectl".to_string(),
        flags: super::parse::Flags::default(),
        args: Vec::new(),
        before_dashes: None,
        output: Output::default(),
    };
    let result = commands::run(args, &mut call);
    let mut output = call.output;
    match result {
        Ok(pending) => (output, pending),
        Err(failure) => {
            if !failure.text.is_empty() {
                output.stderr.push_str(&failure.text);
                output.stderr.push('\n');
            }
            output.exit = failure.exit;
            (output, None)
        }
    }
}
