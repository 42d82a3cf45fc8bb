//! The commands of a script in their order: lists, `if`, `for`, pipes, simple commands.

use super::words::{Token, counted};
use super::{Flow, Shell, Target};

impl Shell<'_> {
    /// Carries out a list of commands.
    pub(super) fn run(&mut self, mut rest: &[Token]) -> Flow {
        let mut skip = false;
        while !rest.is_empty() {
            match &rest[0] {
                Token::Operator(";" | "\n" | "&") => {
                    (skip, rest) = (false, &rest[1..]);
                }
                Token::Operator("&&") => (skip, rest) = (self.last_code != 0, &rest[1..]),
                Token::Operator("||") => (skip, rest) = (self.last_code == 0, &rest[1..]),
                Token::Operator("(" | ")") => rest = &rest[1..],
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

    pub(super) fn command(&mut self, tokens: &[Token]) -> Flow {
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
            _ => self.run_pipe(tokens),
        }
    }

    pub(super) fn run_for(&mut self, tokens: &[Token]) -> Flow {
        let Some((head, body)) = split_at_word(&tokens[1..], "do") else { return Flow::Endless };
        let body = body.strip_suffix(&[Token::Word("done".to_string())]).unwrap_or(body);
        let [Token::Word(name), Token::Word(_), values @ ..] = head else { return Flow::Endless };
        let mut words = Vec::new();
        for value in values {
            if let Token::Word(word) = value {
                match counted(word) {
                    Some(numbers) => words.extend(numbers),
                    // What a substitution writes falls into words.
                    None if word.contains("$(") => {
                        words.extend(self.filled(word).split_whitespace().map(str::to_string));
                    }
                    None => words.push(self.filled(word)),
                }
            }
        }
        for word in words {
            self.environment.insert(name.clone(), word);
            match self.run(body) {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                flow => return flow,
            }
        }
        Flow::Next
    }

    pub(super) fn run_if(&mut self, tokens: &[Token]) -> Flow {
        let Some((condition, rest)) = split_at_word(&tokens[1..], "then") else { return Flow::Endless };
        let rest = rest.strip_suffix(&[Token::Word("fi".to_string())]).unwrap_or(rest);
        let other = split_at_word(rest, "elif");
        let (yes, no) = match &other {
            Some((yes, _)) => (*yes, &[][..]),
            None => split_at_word(rest, "else").unwrap_or((rest, &[])),
        };
        match self.run(condition) {
            Flow::Next => {}
            flow => return flow,
        }
        let holds = self.last_code == 0;
        self.last_code = 0;
        match other {
            Some((_, rest)) if !holds => {
                let mut nested = vec![Token::Word("if".to_string())];
                nested.extend_from_slice(rest);
                self.run_if(&nested)
            }
            _ => self.run(if holds { yes } else { no }),
        }
    }

    /// Commands joined by `|`: each reads what the one before wrote.
    pub(super) fn run_pipe(&mut self, tokens: &[Token]) -> Flow {
        let mut parts = tokens.split(|token| *token == Token::Operator("|")).peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                let flow = self.run_simple(part);
                self.input.clear();
                return flow;
            }
            self.caught.push(Vec::new());
            let flow = self.run_simple(part);
            let caught = self.caught.pop().unwrap_or_default();
            if flow == Flow::Endless {
                return flow;
            }
            self.input = caught;
        }
        Flow::Next
    }

    pub(super) fn run_simple(&mut self, tokens: &[Token]) -> Flow {
        let mut words = Vec::new();
        let mut target = Target::default();
        let mut tokens = tokens.iter();
        while let Some(token) = tokens.next() {
            match token {
                Token::Word(word) => words.push(self.filled(word)),
                Token::Operator(operator @ (">" | ">>" | "<" | "2>" | "&>")) => {
                    let Some(Token::Word(file)) = tokens.next() else { continue };
                    let file = self.filled(file);
                    match *operator {
                        "<" => {
                            self.input =
                                self.file(&file).unwrap_or_default().lines().map(str::to_string).collect()
                        }
                        "2>" => target.quiet = true,
                        "&>" => target = Target { dropped: true, quiet: true, ..target },
                        _ if file == "/dev/null" => target.dropped = true,
                        _ if file.starts_with("/dev/std")
                            || file.starts_with("/dev/fd/")
                            || file.starts_with("/proc/") => {}
                        operator => target.file = Some((file, operator == ">>")),
                    }
                }
                Token::Operator(_) => break,
            }
        }
        let mut negated = false;
        while words.first().is_some_and(|word| word == "!" || word == "exec") {
            negated |= words.remove(0) == "!";
        }
        // Variables in front of a command hold for it alone; alone, from then on.
        while let Some((name, value)) = words.first().and_then(|word| word.split_once('='))
            && !name.is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            self.environment.insert(name.to_string(), value.to_string());
            words.remove(0);
            if words.is_empty() {
                self.last_code = 0;
                return Flow::Next;
            }
        }
        if words.is_empty() {
            if let Some((file, _)) = target.file {
                self.write(file, String::new());
            }
            self.last_code = 0;
            return Flow::Next;
        }
        let flow = self.carry_out(&words, &target);
        if negated && flow == Flow::Next {
            self.last_code = i32::from(self.last_code == 0);
        }
        flow
    }
}

/// The tokens up to the `end` that closes the block at the beginning, and the rest.
pub(super) fn block<'t>(tokens: &'t [Token], end: &str) -> (&'t [Token], &'t [Token]) {
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
    matches!(token, Token::Word(word) if matches!(word.as_str(), "do" | "then" | "else" | "elif" | "!"))
}

/// The tokens of one simple command, and the rest.
pub(super) fn simple(tokens: &[Token]) -> (&[Token], &[Token]) {
    let ends = |token: &Token| matches!(token, Token::Operator(";" | "\n" | "&&" | "||" | "&"));
    tokens.split_at(tokens.iter().position(ends).unwrap_or(tokens.len()))
}

/// The tokens before and behind the first such word that is not inside an inner block.
pub(super) fn split_at_word<'t>(tokens: &'t [Token], word: &str) -> Option<(&'t [Token], &'t [Token])> {
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
