//! `for`, `while`, `until` and `if`: statements gathered into blocks.

use super::line::{Connector, Statement};

/// One thing to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A pipeline.
    Run(Statement),
    /// `for NAME in WORDS; do …; done`: the words are filled in when it is come to.
    For { connector: Connector, name: String, words: Vec<String>, body: Vec<Step> },
    /// `while …; do …; done`, or `until`.
    While { connector: Connector, is_until: bool, condition: Vec<Step>, body: Vec<Step> },
    /// `if …; then …; else …; fi`; an `elif` is an `if` in what is done otherwise.
    If { connector: Connector, condition: Vec<Step>, then: Vec<Step>, otherwise: Vec<Step> },
    /// Under way: the turns of a `for` that are left.
    Turns { name: String, items: Vec<String>, body: Vec<Step> },
    /// Under way: the condition of a `while` has been looked at.
    Looked { is_until: bool, condition: Vec<Step>, body: Vec<Step> },
    /// Under way: a turn of a `while` is over.
    Again { is_until: bool, condition: Vec<Step>, body: Vec<Step> },
    /// Under way: the condition of an `if` has been looked at.
    Choose { then: Vec<Step>, otherwise: Vec<Step> },
}

/// The words that end a block or a part of one.
const ENDS: [&str; 6] = ["do", "done", "then", "elif", "else", "fi"];

/// Gathers statements into blocks.
///
/// # Errors
/// In a shell's words, when a block is not whole.
pub(super) fn gather(statements: Vec<Statement>) -> Result<Vec<Step>, String> {
    let mut reader = Reader { rest: statements.into_iter().peekable() };
    let steps = reader.steps()?;
    match reader.rest.peek().map(first_word) {
        Some(word) => Err(unexpected(word)),
        None => Ok(steps),
    }
}

fn unexpected(word: &str) -> String {
    format!("syntax error near unexpected token `{word}'")
}

fn first_word(statement: &Statement) -> &str {
    statement.stages.first().and_then(|words| words.first()).map_or("", String::as_str)
}

struct Reader {
    rest: std::iter::Peekable<std::vec::IntoIter<Statement>>,
}

impl Reader {
    /// The steps up to a word that ends a part, or to the end.
    fn steps(&mut self) -> Result<Vec<Step>, String> {
        let mut steps = Vec::new();
        while let Some(statement) = self.rest.next_if(|statement| !ENDS.contains(&first_word(statement))) {
            steps.push(self.step(statement)?);
        }
        Ok(steps)
    }

    fn step(&mut self, mut statement: Statement) -> Result<Step, String> {
        let connector = statement.connector;
        Ok(match first_word(&statement) {
            "for" => {
                let words = std::mem::take(&mut statement.stages[0]);
                let (name, words) = match words.as_slice() {
                    [_, name, is_in, words @ ..] if is_in == "in" => (name.clone(), words.to_vec()),
                    _ => return Err("a loop is written: for NAME in WORDS; do COMMANDS; done".to_string()),
                };
                let body = self.part("do")?;
                self.end("done")?;
                Step::For { connector, name, words, body }
            }
            word @ ("while" | "until") => {
                let is_until = word == "until";
                let condition = self.steps_behind(statement)?;
                let body = self.part("do")?;
                self.end("done")?;
                Step::While { connector, is_until, condition, body }
            }
            "if" => self.choice(statement)?,
            _ => Step::Run(statement),
        })
    }

    fn choice(&mut self, statement: Statement) -> Result<Step, String> {
        let connector = statement.connector;
        let condition = self.steps_behind(statement)?;
        let then = self.part("then")?;
        let otherwise = match self.rest.peek().map(first_word) {
            Some("elif") => {
                let Some(mut statement) = self.rest.next() else { return Err(unexpected("newline")) };
                statement.connector = Connector::Always;
                vec![self.choice(statement)?]
            }
            Some("else") => {
                let otherwise = self.part("else")?;
                self.end("fi")?;
                otherwise
            }
            _ => {
                self.end("fi")?;
                Vec::new()
            }
        };
        Ok(Step::If { connector, condition, then, otherwise })
    }

    /// The steps of a part that begins with `word`.
    fn part(&mut self, word: &str) -> Result<Vec<Step>, String> {
        match self.rest.next() {
            Some(statement) if first_word(&statement) == word => self.steps_behind(statement),
            Some(statement) => Err(unexpected(first_word(&statement))),
            None => Err(unexpected("end of file")),
        }
    }

    /// The steps from a statement on whose first word is not part of a command.
    fn steps_behind(&mut self, mut statement: Statement) -> Result<Vec<Step>, String> {
        statement.connector = Connector::Always;
        statement.stages[0].remove(0);
        let mut steps = Vec::new();
        if !statement.stages[0].is_empty() {
            steps.push(self.step(statement)?);
        } else if statement.stages.len() > 1 {
            return Err(unexpected("|"));
        }
        steps.extend(self.steps()?);
        if steps.is_empty() {
            return Err(unexpected(self.rest.peek().map_or("end of file", first_word)));
        }
        Ok(steps)
    }

    fn end(&mut self, word: &str) -> Result<(), String> {
        match self.rest.next() {
            Some(statement) if first_word(&statement) == word => match statement.stages.as_slice() {
                [words] if words.len() == 1 && !statement.in_background => Ok(()),
                _ => Err(format!("what stands behind {word} is not known: end the line there")),
            },
            Some(statement) => Err(unexpected(first_word(&statement))),
            None => Err(unexpected("end of file")),
        }
    }
}
