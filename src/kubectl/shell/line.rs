//! A line of the shell into statements.

/// When a statement is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Connector {
    /// In any case.
    Always,
    /// If the one before it succeeded: `&&`.
    IfOk,
    /// If the one before it failed: `||`.
    IfFailed,
}

/// A pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// When it is carried out.
    pub(super) connector: Connector,
    /// The commands, each its words.
    pub(super) stages: Vec<Vec<String>>,
    /// The here-document that the first command reads.
    pub(super) document: Option<String>,
    /// The file that the first command reads.
    pub(super) from_file: Option<String>,
    /// Whether the next one does not wait for it: `&`.
    pub(super) in_background: bool,
}

/// Begins something that is filled in when the command is carried out: `$NAME`, `$(command)`.
pub(super) const FILLED: char = '\u{1}';
/// The same between double quotes, so that it stays one word.
pub(super) const FILLED_QUOTED: char = '\u{3}';
/// Begins a word that says what becomes of a command's output instead of being an argument.
pub(super) const REDIRECT: char = '\u{4}';
/// The errors go where the output goes.
pub(super) const ERRORS_TOO: &str = "\u{4}2>&1";
/// The errors go nowhere.
pub(super) const NO_ERRORS: &str = "\u{4}2>";
/// A stage that drops what it reads.
pub(super) const DROP: &str = "\u{4}drop";
/// A stage that writes what it reads to a file.
pub(super) const WRITE: &str = "\u{4}write";
/// A stage that writes what it reads behind what is in a file.
pub(super) const APPEND: &str = "\u{4}append";

/// Ends it.
pub(super) const FILLED_END: char = '\u{2}';

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Pipe,
    And,
    Or,
    Then,
    Background,
    From,
    /// `>`, `>>`: of which descriptor (3 stands for both), and whether behind what is there.
    To(char, bool),
    /// `2>&1`.
    ErrorsToo,
    /// The number of a here-document.
    Document(usize),
}

/// Reads a text of one or more lines.
///
/// # Errors
/// A sentence about what the shell does not know or what is missing.
pub(super) fn parse(text: &str) -> Result<Vec<Statement>, String> {
    let (tokens, documents) = tokens(text)?;
    let mut statements = Vec::new();
    let mut connector = Connector::Always;
    let mut stages: Vec<Vec<String>> = vec![Vec::new()];
    let (mut document, mut from_file) = (None, None);
    let mut expects_file = false;
    let mut expects_target = None;
    let mut written: Option<[String; 2]> = None;
    let end = std::iter::once(Token::Then);
    for token in tokens.into_iter().chain(end) {
        if expects_file && !matches!(token, Token::Word(_)) {
            return Err("syntax error: a file name must follow <".to_string());
        }
        if expects_target.is_some() && !matches!(token, Token::Word(_)) {
            return Err("syntax error: a file name must follow >".to_string());
        }
        match token {
            Token::Word(word) if expects_target.is_some() => {
                let (descriptor, appends) = expects_target.take().unwrap_or(('1', false));
                let stage = stages.last_mut();
                if descriptor != '1'
                    && let Some(stage) = stage
                {
                    stage.push(if descriptor == '2' { NO_ERRORS } else { ERRORS_TOO }.to_string());
                }
                if descriptor != '2' {
                    let how = match (word.as_str(), appends) {
                        ("/dev/null", _) => DROP,
                        (_, true) => APPEND,
                        (_, false) => WRITE,
                    };
                    written = Some([how.to_string(), word]);
                }
            }
            Token::To(descriptor, appends) => expects_target = Some((descriptor, appends)),
            Token::ErrorsToo => {
                if let Some(stage) = stages.last_mut() {
                    stage.push(ERRORS_TOO.to_string());
                }
            }
            Token::Word(word) if expects_file => {
                from_file = Some(word);
                expects_file = false;
            }
            Token::Word(word) => {
                if let Some(stage) = stages.last_mut() {
                    stage.push(word);
                }
            }
            Token::From => expects_file = true,
            Token::Document(number) => document = documents.get(number).cloned(),
            Token::Pipe => {
                if stages.last().is_none_or(Vec::is_empty) {
                    return Err("syntax error near unexpected token `|'".to_string());
                }
                stages.extend(written.take().map(Vec::from));
                stages.push(Vec::new());
            }
            Token::And | Token::Or | Token::Then | Token::Background => {
                let empty = stages.last().is_none_or(Vec::is_empty);
                if empty && (stages.len() > 1 || token != Token::Then || connector != Connector::Always) {
                    let shown = match token {
                        Token::And => "&&",
                        Token::Or => "||",
                        Token::Background => "&",
                        _ => "newline",
                    };
                    return Err(format!("syntax error near unexpected token `{shown}'"));
                }
                let mut stages = std::mem::replace(&mut stages, vec![Vec::new()]);
                stages.extend(written.take().map(Vec::from));
                if !empty {
                    let (document, from_file) = (document.take(), from_file.take());
                    let in_background = token == Token::Background;
                    statements.push(Statement { connector, stages, document, from_file, in_background });
                }
                connector = match token {
                    Token::And => Connector::IfOk,
                    Token::Or => Connector::IfFailed,
                    _ => Connector::Always,
                };
            }
        }
    }
    Ok(statements)
}

/// A here-document that is announced but not read yet.
struct Announced {
    end: String,
    strip_tabs: bool,
    /// Whether variables and commands are filled in: no part of the ending word is quoted.
    is_filled: bool,
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    tokens: Vec<Token>,
    word: Option<String>,
    announced: Vec<Announced>,
    documents: Vec<String>,
}

fn tokens(text: &str) -> Result<(Vec<Token>, Vec<String>), String> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        tokens: Vec::new(),
        word: None,
        announced: Vec::new(),
        documents: Vec::new(),
    };
    reader.read()?;
    Ok((reader.tokens, reader.documents))
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), String> {
        while let Some(character) = self.rest.next() {
            match character {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_word();
                    self.read_documents()?;
                    if matches!(self.tokens.last(), Some(Token::Word(_) | Token::Document(_))) {
                        self.tokens.push(Token::Then);
                    }
                }
                '#' if self.word.is_none() => while self.rest.next_if(|&c| c != '\n').is_some() {},
                '\'' => self.quoted()?,
                '"' => self.double_quoted()?,
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(next) => self.push(next),
                },
                ';' => self.separate(Token::Then),
                '|' if self.rest.next_if_eq(&'|').is_some() => self.separate(Token::Or),
                '|' => self.separate(Token::Pipe),
                '&' if self.rest.next_if_eq(&'&').is_some() => self.separate(Token::And),
                '&' if self.rest.next_if_eq(&'>').is_some() => {
                    let appends = self.rest.next_if_eq(&'>').is_some();
                    self.separate(Token::To('3', appends));
                }
                '&' => self.separate(Token::Background),
                '<' if self.rest.next_if_eq(&'<').is_some() => self.announce()?,
                '<' => self.separate(Token::From),
                '>' => self.redirect(),
                '$' => self.filled(FILLED)?,
                '`' => return Err("command substitution `…` is not known here".to_string()),
                other => self.push(other),
            }
        }
        self.end_word();
        self.read_documents()
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take() {
            self.tokens.push(Token::Word(word));
        }
    }

    fn separate(&mut self, token: Token) {
        self.end_word();
        self.tokens.push(token);
    }

    fn quoted(&mut self) -> Result<(), String> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                Some(character) => self.push(character),
                None => return Err("a quote ' is not closed".to_string()),
            }
        }
    }

    fn double_quoted(&mut self) -> Result<(), String> {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('"') => return Ok(()),
                Some('\\') => match self.rest.next() {
                    Some('\n') => {}
                    Some(next @ ('"' | '\\' | '$' | '`')) => self.push(next),
                    Some(next) => {
                        self.push('\\');
                        self.push(next);
                    }
                    None => return Err("a quote \" is not closed".to_string()),
                },
                Some('$') => self.filled(FILLED_QUOTED)?,
                Some(character) => self.push(character),
                None => return Err("a quote \" is not closed".to_string()),
            }
        }
    }

    /// What stands behind a `$`: a name, `{name}`, or a command in parentheses.
    fn filled(&mut self, mark: char) -> Result<(), String> {
        let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let mut inner = String::new();
        match self.rest.peek() {
            Some('(') => {
                let mut depth = 0;
                loop {
                    let Some(character) = self.rest.next() else {
                        return Err("a parenthesis ( is not closed".to_string());
                    };
                    match character {
                        '(' => depth += 1,
                        ')' => depth -= 1,
                        _ => {}
                    }
                    inner.push(character);
                    if depth == 0 {
                        break;
                    }
                }
            }
            Some('{') => {
                self.rest.next();
                while let Some(character) = self.rest.next_if(|c| *c != '}') {
                    inner.push(character);
                }
                self.rest.next();
            }
            Some('?') => inner.extend(self.rest.next()),
            Some(c) if c.is_ascii_alphabetic() || *c == '_' => {
                while let Some(character) = self.rest.next_if(is_name) {
                    inner.push(character);
                }
            }
            _ => {
                self.push('$');
                return Ok(());
            }
        }
        let word = self.word.get_or_insert_default();
        word.push(mark);
        word.push_str(&inner);
        word.push(FILLED_END);
        Ok(())
    }

    /// `> file`, `>> file`, `2> file`, `2>&1`.
    fn redirect(&mut self) {
        let word = self.word.take();
        let descriptor = match word.as_deref() {
            Some("2") => '2',
            _ => '1',
        };
        if let Some(word) = word.filter(|word| !matches!(word.as_str(), "1" | "2")) {
            self.tokens.push(Token::Word(word));
        }
        if self.rest.next_if_eq(&'&').is_some() {
            match (descriptor, self.rest.next_if(|c| matches!(c, '1' | '2'))) {
                ('2', Some('1')) => self.tokens.push(Token::ErrorsToo),
                (_, Some(_)) => {}
                (_, None) => self.tokens.push(Token::To('3', false)),
            }
            return;
        }
        let appends = self.rest.next_if_eq(&'>').is_some();
        self.tokens.push(Token::To(descriptor, appends));
    }

    fn announce(&mut self) -> Result<(), String> {
        self.end_word();
        let strip_tabs = self.rest.next_if_eq(&'-').is_some();
        while self.rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let (mut end, mut is_filled) = (String::new(), true);
        while let Some(character) = self.rest.next_if(|c| !c.is_whitespace() && !"|;&<>".contains(*c)) {
            match character {
                '\'' | '"' | '\\' => is_filled = false,
                character => end.push(character),
            }
        }
        if end.is_empty() {
            return Err("a here-document (<<) needs a word that ends it".to_string());
        }
        self.tokens.push(Token::Document(self.documents.len() + self.announced.len()));
        self.announced.push(Announced { end, strip_tabs, is_filled });
        Ok(())
    }

    fn read_documents(&mut self) -> Result<(), String> {
        for announced in std::mem::take(&mut self.announced) {
            let mut document = String::new();
            loop {
                if self.rest.peek().is_none() {
                    return Err(format!("the here-document is not ended by {}", announced.end));
                }
                let mut line = String::new();
                while let Some(character) = self.rest.next_if(|&c| c != '\n') {
                    line.push(character);
                }
                self.rest.next();
                let line = if announced.strip_tabs { line.trim_start_matches('\t') } else { &line };
                if line.trim_end_matches('\r') == announced.end {
                    break;
                }
                document.push_str(line);
                document.push('\n');
            }
            self.documents.push(if announced.is_filled { with_marks(&document)? } else { document });
        }
        Ok(())
    }
}

/// A here-document with marks around what is filled in when it is read.
fn with_marks(document: &str) -> Result<String, String> {
    if !document.contains(['$', '\\', '`']) {
        return Ok(document.to_string());
    }
    let mut reader = Reader {
        rest: document.chars().peekable(),
        tokens: Vec::new(),
        word: Some(String::new()),
        announced: Vec::new(),
        documents: Vec::new(),
    };
    while let Some(character) = reader.rest.next() {
        match character {
            '$' => reader.filled(FILLED_QUOTED)?,
            '\\' => match reader.rest.next_if(|c| matches!(c, '$' | '`' | '\\' | '\n')) {
                Some('\n') => {}
                Some(next) => reader.push(next),
                None => reader.push('\\'),
            },
            other => reader.push(other),
        }
    }
    Ok(reader.word.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<Vec<String>, String> {
        let statements = parse(text)?;
        Ok(statements
            .into_iter()
            .map(|statement| {
                let stages: Vec<String> = statement.stages.iter().map(|words| words.join("·")).collect();
                let document = statement.document.map(|d| format!(" << {d:?}")).unwrap_or_default();
                format!("{:?} {}{document}", statement.connector, stages.join(" | "))
            })
            .collect())
    }

    #[test]
    fn lines_are_cut_as_a_shell_cuts_them() {
        for (text, expected) in [
            ("kubectl get pods", vec!["Always kubectl·get·pods"]),
            ("a 'b c' \"d \\\"e\\\"\" f\\ g", vec!["Always a·b c·d \"e\"·f g"]),
            ("a; b && c || d", vec!["Always a", "Always b", "IfOk c", "IfFailed d"]),
            ("a | grep x | wc -l", vec!["Always a | grep·x | wc·-l"]),
            ("a # a comment", vec!["Always a"]),
            ("a ''", vec!["Always a·"]),
            ("", vec![]),
            ("a 2>&1 | b", vec!["Always a·\u{4}2>&1 | b"]),
            ("a > b.yaml; c >> d", vec!["Always a | \u{4}write·b.yaml", "Always c | \u{4}append·d"]),
            ("a >/dev/null 2>&1 && b", vec!["Always a·\u{4}2>&1 | \u{4}drop·/dev/null", "IfOk b"]),
            ("a 2>/dev/null | b", vec!["Always a·\u{4}2> | b"]),
            ("cat <<EOF > x\na: $B\nEOF\n", vec!["Always cat | \u{4}write·x << \"a: \\u{3}B\\u{2}\\n\""]),
            ("cat <<'EOF'\na: $B\nEOF\n", vec!["Always cat << \"a: $B\\n\""]),
            (
                "cat <<EOF | kubectl apply -f -\nkind: Pod\n  x: 'y'\nEOF\nkubectl get pods\n",
                vec![
                    "Always cat | kubectl·apply·-f·- << \"kind: Pod\\n  x: 'y'\\n\"",
                    "Always kubectl·get·pods",
                ],
            ),
            ("kubectl apply -f - <<'END'\na: 1\nEND", vec!["Always kubectl·apply·-f·- << \"a: 1\\n\""]),
            ("a \\\n  b", vec!["Always a·b"]),
        ] {
            assert_eq!(shown(text), Ok(expected.iter().map(ToString::to_string).collect()), "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        for (text, problem) in [
            ("a 'b", "a quote ' is not closed"),
            ("a >", "syntax error: a file name must follow >"),
            ("a |", "syntax error near unexpected token `newline'"),
            ("| a", "syntax error near unexpected token `|'"),
            ("cat <<EOF\nx", "the here-document is not ended by EOF"),
            ("echo $(date", "a parenthesis ( is not closed"),
        ] {
            assert_eq!(shown(text), Err(problem.to_string()), "{text}");
        }
    }
}
