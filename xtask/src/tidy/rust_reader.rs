//! Separates Rust text into code and string literals, and drops comments. The rules of Rust's tokens that matter
//! here: nested comments, raw strings, escapes, and quotes that are lifetimes.

/// One string literal, as written between its quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Literal {
    /// The line on which it opens, from 1.
    pub(crate) line: usize,
    /// What stands between the quotes, with escapes unread.
    pub(crate) text: String,
}

/// Walks a text once, character by character.
pub(super) struct Reader {
    chars: Vec<char>,
    at: usize,
    line: usize,
    code: String,
    literals: Vec<Literal>,
}

impl Reader {
    /// The text's code, with as many lines as the text, and its literals.
    pub(super) fn read(text: &str) -> (String, Vec<Literal>) {
        let mut reader =
            Self { chars: text.chars().collect(), at: 0, line: 1, code: String::new(), literals: Vec::new() };
        reader.run();
        (reader.code, reader.literals)
    }

    fn run(&mut self) {
        while let Some(next) = self.peek(0) {
            match next {
                '/' if self.peek(1) == Some('/') => self.skip_line_comment(),
                '/' if self.peek(1) == Some('*') => self.skip_block_comment(),
                '"' => self.string(),
                'r' if self.raw_hashes().is_some() => self.raw_string(),
                '\'' => self.quote(),
                _ => self.keep(),
            }
        }
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// Takes one character without keeping it; line ends are always kept.
    fn skip(&mut self) -> Option<char> {
        let taken = self.peek(0)?;
        self.at += 1;
        if taken == '\n' {
            self.line += 1;
            self.code.push('\n');
        }
        Some(taken)
    }

    fn keep(&mut self) {
        if let Some(taken) = self.skip().filter(|taken| *taken != '\n') {
            self.code.push(taken);
        }
    }

    fn skip_line_comment(&mut self) {
        while self.peek(0).is_some_and(|next| next != '\n') {
            self.at += 1;
        }
    }

    fn skip_block_comment(&mut self) {
        let mut depth = 0_usize;
        while self.peek(0).is_some() {
            match (self.peek(0), self.peek(1)) {
                (Some('/'), Some('*')) => depth += 1,
                (Some('*'), Some('/')) => depth -= 1,
                _ => {
                    self.skip();
                    continue;
                }
            }
            self.at += 2;
            if depth == 0 {
                break;
            }
        }
    }

    fn string(&mut self) {
        let line = self.line;
        let mut text = String::new();
        self.keep();
        while let Some(next) = self.peek(0).filter(|next| *next != '"') {
            text.extend(self.skip());
            if next == '\\' {
                text.extend(self.skip());
            }
        }
        self.keep();
        self.literals.push(Literal { line, text });
    }

    /// The number of hashes, if a raw string opens here.
    fn raw_hashes(&self) -> Option<usize> {
        let before = self.at.checked_sub(1).and_then(|at| self.chars.get(at)).copied();
        let prefixed = matches!(before, Some('b' | 'c'))
            && !self.at.checked_sub(2).and_then(|at| self.chars.get(at)).is_some_and(|c| is_word(*c));
        if before.is_some_and(is_word) && !prefixed {
            return None;
        }
        let hashes = (1..).take_while(|ahead| self.peek(*ahead) == Some('#')).count();
        (self.peek(1 + hashes) == Some('"')).then_some(hashes)
    }

    fn raw_string(&mut self) {
        let Some(hashes) = self.raw_hashes() else {
            return;
        };
        let line = self.line;
        let mut text = String::new();
        self.at += hashes + 2;
        while self.peek(0).is_some() && !self.closes_raw(hashes) {
            text.extend(self.skip());
        }
        self.at += hashes + 1;
        self.code.push_str("\"\"");
        self.literals.push(Literal { line, text });
    }

    fn closes_raw(&self, hashes: usize) -> bool {
        self.peek(0) == Some('"') && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'))
    }

    /// A character literal, which is emptied, or a lifetime, which is kept.
    fn quote(&mut self) {
        if self.peek(1) == Some('\\') {
            self.at += 3;
            while self.peek(0).is_some_and(|next| next != '\'' && next != '\n') {
                self.at += 1;
            }
            self.at += 1;
            self.code.push_str("''");
        } else if self.peek(2) == Some('\'') {
            self.at += 3;
            self.code.push_str("''");
        } else {
            self.keep();
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
