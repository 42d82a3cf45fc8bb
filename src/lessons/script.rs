//! The script language of lessons, stories, tests and `kubestep run`. docs/SCRIPTS.md tells it with examples.
//!
//! A line is an instruction, a comment (`#`), or what one would type in the terminal. Here-documents span lines.

use std::fmt;

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// It as written, here-documents included.
    pub text: String,
    /// What it asks for.
    pub instruction: Instruction,
}

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// A line of the terminal.
    Shell(String),
    /// Whole ticks.
    Tick(u32),
    /// Single work items.
    Step(u32),
    /// Ticks until nothing but heartbeats is left.
    UntilQuiet,
    /// Moments back.
    Back(u32),
    /// A request, from outside or from a Pod (`name` or `namespace/name`).
    Trace {
        /// The Pod that sends it.
        from: Option<String>,
        /// Where to.
        url: String,
    },
    /// What happened to an object, and why: `pod/web`, with a namespace if one is named.
    Why {
        /// Its kind and its name, or the beginning of its name.
        object: String,
        /// Its namespace; the terminal's for none.
        namespace: Option<String>,
    },
    /// A change of a file in the editor; `old` must stand in it.
    Edit {
        /// The file's name.
        file: String,
        /// What stands there.
        old: String,
        /// What is to stand there.
        new: String,
    },
    /// The answer to a lesson's question.
    Predict {
        /// The question.
        prediction: String,
        /// The answer.
        choice: String,
    },
    /// What the last command or request must have printed.
    Expect(Expectation),
}

/// What must have been printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// This text.
    Shows(String),
    /// Not this text.
    Hides(String),
    /// This exit code.
    Exit(i32),
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ScriptError {}

/// The most ticks or steps that one line may ask for.
pub const COUNT_LIMIT: u32 = 100_000;

/// Reads a script.
///
/// # Errors
/// The first line that cannot be read.
pub fn parse(script: &str) -> Result<Vec<Line>, ScriptError> {
    let mut lines = Vec::new();
    let mut rest = script.lines().enumerate();
    while let Some((index, text)) = rest.next() {
        let number = index + 1;
        let mut text = text.trim().to_string();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        for end in here_documents(&text) {
            let mut is_ended = false;
            for (_, body) in rest.by_ref() {
                text.push('\n');
                text.push_str(body);
                let body = if end.strips_tabs { body.trim_start_matches('\t') } else { body };
                if body.trim_end() == end.word {
                    is_ended = true;
                    break;
                }
            }
            if !is_ended {
                let message = format!("nothing ends the text that `<<{}` begins", end.word);
                return Err(ScriptError { line: number, message });
            }
        }
        let instruction = instruction(&text).map_err(|message| ScriptError { line: number, message })?;
        lines.push(Line { number, text, instruction });
    }
    Ok(lines)
}

fn instruction(text: &str) -> Result<Instruction, String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    match word {
        "tick" => count(rest).map(Instruction::Tick),
        "step" => count(rest).map(Instruction::Step),
        "back" => count(rest).map(Instruction::Back),
        "until" if rest == "quiet" => Ok(Instruction::UntilQuiet),
        "until" => Err("`until` is followed by `quiet`".to_string()),
        "trace" => trace(rest),
        "edit" => edit(rest),
        "why" => why(rest),
        "predict" => {
            let (prediction, choice) =
                rest.split_once(char::is_whitespace).ok_or("`predict` names a question and an answer")?;
            Ok(Instruction::Predict { prediction: prediction.to_string(), choice: choice.trim().to_string() })
        }
        "expect" => expectation(rest).map(Instruction::Expect),
        _ => Ok(Instruction::Shell(text.to_string())),
    }
}

fn count(text: &str) -> Result<u32, String> {
    if text.is_empty() {
        return Ok(1);
    }
    let count = text.parse().ok().filter(|count| (1..=COUNT_LIMIT).contains(count));
    count.ok_or(format!("`{text}` is no number from 1 to {COUNT_LIMIT}"))
}

fn trace(text: &str) -> Result<Instruction, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (from, url) = match words.as_slice() {
        [url] if !url.starts_with("--") => (None, *url),
        ["--from", pod, url] | [url, "--from", pod] => (Some((*pod).to_string()), *url),
        [option, url] if option.starts_with("--from=") => {
            (Some(option.trim_start_matches("--from=").to_string()), *url)
        }
        _ => return Err("`trace` is followed by an address, and `--from POD` if a Pod sends it".to_string()),
    };
    Ok(Instruction::Trace { from, url: url.to_string() })
}

fn why(text: &str) -> Result<Instruction, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (object, namespace) = match words.as_slice() {
        [object] => (*object, None),
        ["-n", namespace, object] | [object, "-n", namespace] => (*object, Some((*namespace).to_string())),
        _ => ("", None),
    };
    if !object.contains('/') {
        return Err("`why` is followed by KIND/NAME, and `-n NAMESPACE`".to_string());
    }
    Ok(Instruction::Why { object: object.to_string(), namespace })
}

fn edit(text: &str) -> Result<Instruction, String> {
    let wrong = "`edit` is written `edit FILE: OLD => NEW`";
    let (file, change) = text.split_once(':').ok_or(wrong)?;
    let (old, new) = change.split_once("=>").ok_or(wrong)?;
    let (file, old, new) = (file.trim(), old.trim(), new.trim());
    if file.is_empty() || old.is_empty() {
        return Err(wrong.to_string());
    }
    Ok(Instruction::Edit { file: file.to_string(), old: old.to_string(), new: new.to_string() })
}

fn expectation(text: &str) -> Result<Expectation, String> {
    if let Some(code) = text.strip_prefix("exit ") {
        return code.trim().parse().map(Expectation::Exit).map_err(|_| format!("`{code}` is no exit code"));
    }
    match text.strip_prefix("not ") {
        _ if text.is_empty() => Err("`expect` is followed by a text".to_string()),
        Some(text) => Ok(Expectation::Hides(text.trim().to_string())),
        None => Ok(Expectation::Shows(text.to_string())),
    }
}

/// The word that ends a here-document.
struct HereEnd {
    word: String,
    strips_tabs: bool,
}

/// The here-documents that a line begins, outside of quotes.
fn here_documents(line: &str) -> Vec<HereEnd> {
    let mut ends = Vec::new();
    let mut quote = None;
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '#') if rest.len() == line.len() => return ends,
            (None, '<') if rest.starts_with("<<") && !rest.starts_with("<<<") => {
                let after = rest[2..].trim_start();
                let strips_tabs = after.starts_with('-');
                let after = after.trim_start_matches('-').trim_start();
                let word: String =
                    after.chars().take_while(|c| !c.is_whitespace() && !"|;&<>".contains(*c)).collect();
                let word = word.trim_matches(['\'', '"']).to_string();
                if !word.is_empty() {
                    ends.push(HereEnd { word, strips_tabs });
                }
                rest = &rest[1..];
            }
            _ => {}
        }
        rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Result<Instruction, String> {
        parse(text).map(|mut lines| lines.remove(0).instruction).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_is_an_instruction_or_what_one_would_type() {
        let trace = |from: Option<&str>| Instruction::Trace {
            from: from.map(str::to_string),
            url: "http://shop.example/api".to_string(),
        };
        for (text, expected) in [
            ("tick", Instruction::Tick(1)),
            ("tick 12", Instruction::Tick(12)),
            ("  step 2  ", Instruction::Step(2)),
            ("until quiet", Instruction::UntilQuiet),
            ("back", Instruction::Back(1)),
            ("trace http://shop.example/api", trace(None)),
            ("trace --from demo/a http://shop.example/api", trace(Some("demo/a"))),
            ("trace http://shop.example/api --from a", trace(Some("a"))),
            (
                "edit a.yaml: nginx:1.27 => nginx:1.28",
                Instruction::Edit {
                    file: "a.yaml".to_string(),
                    old: "nginx:1.27".to_string(),
                    new: "nginx:1.28".to_string(),
                },
            ),
            (
                "predict who deployment",
                Instruction::Predict { prediction: "who".to_string(), choice: "deployment".to_string() },
            ),
            ("why pod/web", Instruction::Why { object: "pod/web".to_string(), namespace: None }),
            (
                "why -n shop rs/web",
                Instruction::Why { object: "rs/web".to_string(), namespace: Some("shop".to_string()) },
            ),
            ("expect 3/3", Instruction::Expect(Expectation::Shows("3/3".to_string()))),
            ("expect not Pending", Instruction::Expect(Expectation::Hides("Pending".to_string()))),
            ("expect exit 1", Instruction::Expect(Expectation::Exit(1))),
            ("kubectl get pods | wc -l", Instruction::Shell("kubectl get pods | wc -l".to_string())),
        ] {
            assert_eq!(only(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn comments_and_empty_lines_are_passed_over_and_lines_keep_their_numbers() {
        let lines = parse("# a comment\n\ntick\n   # another\nkubectl get pods\n").unwrap();
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [3, 5]);
    }

    #[test]
    fn a_here_document_belongs_to_its_line() {
        let lines = parse("kubectl apply -f - <<'EOF'\nkind: Pod\n# not a comment\nEOF\ntick\n").unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].text, "kubectl apply -f - <<'EOF'\nkind: Pod\n# not a comment\nEOF");
    }

    #[test]
    fn what_cannot_be_read_names_its_line() {
        for (text, expected) in [
            ("tick\ntick x", "line 2: `x` is no number from 1 to 100000"),
            ("tick 0", "line 1: `0` is no number from 1 to 100000"),
            ("until Ready", "line 1: `until` is followed by `quiet`"),
            ("trace", "line 1: `trace` is followed by an address, and `--from POD` if a Pod sends it"),
            ("edit a.yaml x", "line 1: `edit` is written `edit FILE: OLD => NEW`"),
            ("expect", "line 1: `expect` is followed by a text"),
            ("cat <<EOF\na", "line 1: nothing ends the text that `<<EOF` begins"),
        ] {
            assert_eq!(parse(text).map_err(|error| error.to_string()), Err(expected.to_string()), "{text}");
        }
    }
}
