//! The words of a lesson: one Markdown file per language.
//!
//! ```markdown
//! # The title
//!
//! What it is about, in a sentence.
//!
//! ## part ID          the text of a part: paragraphs, `- ` items, fenced code
//! ## goal ID          what is to be caused or seen
//! ## question ID      the question, `- choice: text` items, and `> ` what is said once time has told
//! ## hint ID          a hint
//! ## end              what is said when all goals are met
//! ```

use std::collections::BTreeMap;

use super::format::Lesson;
use crate::i18n::{Piece, Tone};

/// A lesson's words in one language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Telling {
    /// The title.
    pub title: String,
    /// What it is about.
    pub about: Vec<Block>,
    /// The parts, by name.
    pub parts: BTreeMap<String, Vec<Block>>,
    /// The goals, by name.
    pub goals: BTreeMap<String, Vec<Block>>,
    /// The questions, by name.
    pub questions: BTreeMap<String, Question>,
    /// The hints, by name.
    pub hints: BTreeMap<String, Vec<Block>>,
    /// What is said at the end.
    pub end: Vec<Block>,
}

/// A question's words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: Vec<Block>,
    /// The answers, by name.
    pub choices: BTreeMap<String, Vec<Piece>>,
    /// What is said once time has told.
    pub told: Vec<Block>,
}

/// One block of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A paragraph.
    Paragraph(Vec<Piece>),
    /// A list item.
    Item(Vec<Piece>),
    /// Lines as they are.
    Code(String),
}

impl Telling {
    /// Reads a Markdown file.
    ///
    /// # Errors
    /// A sentence that names what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut telling = Self::default();
        let mut sections: Vec<(String, Vec<&str>)> = vec![(String::new(), Vec::new())];
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= line.starts_with("```");
            match line.strip_prefix("## ") {
                Some(heading) if !is_code => sections.push((heading.trim().to_string(), Vec::new())),
                _ => sections.last_mut().expect("there is a first section").1.push(line),
            }
        }
        for (heading, lines) in &sections {
            let (sort, id) = heading.split_once(' ').unwrap_or((heading, ""));
            let id = id.trim().to_string();
            let is_twice = match sort {
                "" => {
                    let title = lines.iter().find_map(|line| line.strip_prefix("# "));
                    telling.title = title.ok_or("the first line is `# ` and the title")?.trim().to_string();
                    let rest: Vec<&str> =
                        lines.iter().copied().filter(|line| !line.starts_with("# ")).collect();
                    telling.about = blocks_of(&rest);
                    false
                }
                "part" => telling.parts.insert(id.clone(), blocks_of(lines)).is_some(),
                "goal" => telling.goals.insert(id.clone(), blocks_of(lines)).is_some(),
                "hint" => telling.hints.insert(id.clone(), blocks_of(lines)).is_some(),
                "question" => telling.questions.insert(id.clone(), question_of(lines)?).is_some(),
                "end" => {
                    telling.end = blocks_of(lines);
                    false
                }
                _ => return Err(format!("`## {heading}` is no heading of a lesson")),
            };
            if is_twice {
                return Err(format!("`## {heading}` stands twice"));
            }
        }
        Ok(telling)
    }

    /// What it lacks for that lesson, or says too much.
    pub fn problems(&self, lesson: &Lesson) -> Vec<String> {
        let mut problems = Vec::new();
        let mut compare = |sort: &str, wanted: Vec<&String>, found: Vec<(&String, bool)>| {
            for id in &wanted {
                if !found.iter().any(|(known, is_empty)| known == id && !is_empty) {
                    problems.push(format!("`## {sort} {id}` is missing or empty"));
                }
            }
            for (id, _) in found {
                if !wanted.contains(&id) {
                    problems.push(format!("`## {sort} {id}` is not in lesson.yaml"));
                }
            }
        };
        let texts = |map: &BTreeMap<String, Vec<Block>>| -> Vec<(String, bool)> {
            map.iter().map(|(id, blocks)| (id.clone(), blocks.is_empty())).collect()
        };
        let borrowed = |list: &[(String, bool)]| -> Vec<(String, bool)> { list.to_vec() };
        for (sort, wanted, found) in [
            ("part", lesson.parts.iter().map(|p| &p.id).collect::<Vec<_>>(), borrowed(&texts(&self.parts))),
            ("goal", lesson.goals.iter().map(|g| &g.id).collect(), texts(&self.goals)),
            ("hint", lesson.hints.iter().map(|h| &h.id).collect(), texts(&self.hints)),
        ] {
            compare(sort, wanted, found.iter().map(|(id, is_empty)| (id, *is_empty)).collect());
        }
        let questions: Vec<(&String, bool)> =
            self.questions.iter().map(|(id, question)| (id, question.text.is_empty())).collect();
        compare("question", lesson.predictions.iter().map(|p| &p.id).collect(), questions);
        for prediction in &lesson.predictions {
            let Some(question) = self.questions.get(&prediction.id) else { continue };
            let wanted: Vec<&String> = prediction.choices.iter().map(|(id, _)| id).collect();
            let found: Vec<&String> = question.choices.keys().collect();
            for id in &wanted {
                if !found.contains(id) {
                    problems.push(format!("question {}: the answer `{id}` is missing", prediction.id));
                }
            }
            for id in found {
                if !wanted.contains(&id) {
                    problems
                        .push(format!("question {}: the answer `{id}` is not in lesson.yaml", prediction.id));
                }
            }
            if question.told.is_empty() {
                problems.push(format!("question {}: nothing is said once time has told", prediction.id));
            }
        }
        for (name, is_empty) in [("about", self.about.is_empty()), ("end", self.end.is_empty())] {
            if is_empty {
                problems.push(format!("`{name}` is missing"));
            }
        }
        problems
    }
}

fn question_of(lines: &[&str]) -> Result<Question, String> {
    let mut question = Question::default();
    let (mut text, mut told) = (Vec::new(), Vec::new());
    for line in lines {
        if let Some(choice) = line.strip_prefix("- ") {
            let (id, words) =
                choice.split_once(':').ok_or(format!("an answer is `- name: text`, not `{line}`"))?;
            question.choices.insert(id.trim().to_string(), pieces_of(words.trim()));
        } else if let Some(line) = line.strip_prefix('>') {
            told.push(line.trim());
        } else {
            text.push(*line);
        }
    }
    question.text = blocks_of(&text);
    question.told = blocks_of(&told);
    Ok(question)
}

fn blocks_of(lines: &[&str]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut paragraph: Vec<&str> = Vec::new();
    let mut code: Option<Vec<&str>> = None;
    for line in lines.iter().copied().chain([""]) {
        if line.trim_start().starts_with("```") {
            match code.take() {
                Some(lines) => blocks.push(Block::Code(lines.join("\n"))),
                None => {
                    finish(&mut paragraph, &mut blocks);
                    code = Some(Vec::new());
                }
            }
        } else if let Some(code) = &mut code {
            code.push(line);
        } else if let Some(item) = line.strip_prefix("- ") {
            finish(&mut paragraph, &mut blocks);
            blocks.push(Block::Item(pieces_of(item.trim())));
        } else if line.trim().is_empty() {
            finish(&mut paragraph, &mut blocks);
        } else {
            paragraph.push(line.trim());
        }
    }
    blocks
}

fn finish(paragraph: &mut Vec<&str>, blocks: &mut Vec<Block>) {
    if !paragraph.is_empty() {
        blocks.push(Block::Paragraph(pieces_of(&paragraph.join(" "))));
        paragraph.clear();
    }
}

/// A text with `` `code` `` and `**strong**` as runs.
fn pieces_of(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let (mut tone, mut run) = (Tone::Plain, String::new());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let mark = match tone {
            Tone::Code if next == '`' => Some((Tone::Plain, 1)),
            Tone::Code => None,
            _ if next == '`' => Some((Tone::Code, 1)),
            Tone::Strong if rest.starts_with("**") => Some((Tone::Plain, 2)),
            Tone::Plain if rest.starts_with("**") => Some((Tone::Strong, 2)),
            _ => None,
        };
        match mark {
            Some((turned, length)) => {
                if !run.is_empty() {
                    pieces.push(Piece { tone, text: std::mem::take(&mut run) });
                }
                tone = turned;
                rest = &rest[length..];
            }
            None => {
                run.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    if !run.is_empty() {
        pieces.push(Piece { tone, text: run });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Piece {
        Piece { tone: Tone::Plain, text: text.to_string() }
    }

    #[test]
    fn a_telling_is_read_by_its_headings() {
        let text = "# Title\n\nAbout it.\n\n## part a\nOne\nline `x`.\n\n- item\n\n```\nkubectl get pods\n## no heading\n```\n## goal g\nDone\n## question q\nWho?\n- a: A `b`\n> Because.\n## hint h\nLook.\n## end\nWell.\n";
        let telling = Telling::read(text).unwrap();
        assert_eq!(telling.title, "Title");
        let code = Piece { tone: Tone::Code, text: "x".to_string() };
        assert_eq!(
            telling.parts["a"],
            [
                Block::Paragraph(vec![plain("One line "), code, plain(".")]),
                Block::Item(vec![plain("item")]),
                Block::Code("kubectl get pods\n## no heading".to_string()),
            ]
        );
        assert_eq!(telling.questions["q"].told, [Block::Paragraph(vec![plain("Because.")])]);
        assert_eq!(telling.end, [Block::Paragraph(vec![plain("Well.")])]);
    }

    #[test]
    fn what_is_no_heading_is_named() {
        assert_eq!(
            Telling::read("# T\n## gaol x\n"),
            Err("`## gaol x` is no heading of a lesson".to_string())
        );
        assert_eq!(Telling::read("text"), Err("the first line is `# ` and the title".to_string()));
    }
}
