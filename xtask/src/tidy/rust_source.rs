//! Rust text as the rules need it: code without comments, string literals with their lines, and which lines are
//! tests. It knows tokens, not grammar; a macro that builds strings piece by piece escapes it.

/// One string literal, as written between its quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Literal {
    /// The line on which it opens, from 1.
    pub(crate) line: usize,
    /// What stands between the quotes, with escapes unread.
    pub(crate) text: String,
}

/// A file of Rust, taken apart.
#[derive(Debug)]
pub(crate) struct RustSource {
    code: Vec<String>,
    literals: Vec<Literal>,
    tests: Vec<bool>,
}

impl RustSource {
    /// Takes a text apart.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader::new(text);
        reader.run();
        let code: Vec<String> = reader.code.lines().map(str::to_owned).collect();
        let tests = test_lines(&code);
        Self { code, literals: reader.literals, tests }
    }

    /// The lines outside tests, numbered from 1: no comments, and string literals emptied.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.code.iter().zip(&self.tests).enumerate();
        lines.filter(|(_, (_, test))| !**test).map(|(index, (line, _))| (index + 1, line.as_str()))
    }

    /// The string literals outside tests.
    pub(crate) fn literals(&self) -> impl Iterator<Item = &Literal> {
        self.literals.iter().filter(|literal| !self.is_test_line(literal.line))
    }

    /// How many lines the file has outside tests, comments and blank lines included.
    pub(crate) fn lines(&self) -> usize {
        self.tests.iter().filter(|test| !**test).count()
    }

    fn is_test_line(&self, line: usize) -> bool {
        self.tests.get(line.saturating_sub(1)).copied().unwrap_or(false)
    }
}

/// Marks top-level items under `#[cfg(test)]`, from the attribute to the item's end. rustfmt puts a top-level
/// item's closing brace at the start of a line.
fn test_lines(code: &[String]) -> Vec<bool> {
    let mut marks = vec![false; code.len()];
    let mut index = 0;
    while index < code.len() {
        let line = code[index].trim_end();
        if line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test,") {
            let end = item_end(code, index);
            marks[index..=end].fill(true);
            index = end;
        }
        index += 1;
    }
    marks
}

fn item_end(code: &[String], start: usize) -> usize {
    for (index, line) in code.iter().enumerate().skip(start) {
        let line = line.trim_end();
        let one_line = !line.starts_with([' ', '#', '}']) && (line.ends_with(';') || line.ends_with('}'));
        if line.starts_with('}') || one_line {
            return index;
        }
    }
    code.len() - 1
}

struct Reader {
    chars: Vec<char>,
    at: usize,
    line: usize,
    code: String,
    literals: Vec<Literal>,
}

impl Reader {
    fn new(text: &str) -> Self {
        Self { chars: text.chars().collect(), at: 0, line: 1, code: String::new(), literals: Vec::new() }
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
        let Some(hashes) = self.raw_hashes() else { return };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<String> {
        RustSource::read(text).code().map(|(_, line)| line.trim_end().to_owned()).collect()
    }

    fn literals(text: &str) -> Vec<(usize, String)> {
        let source = RustSource::read(text);
        source.literals().map(|literal| (literal.line, literal.text.clone())).collect()
    }

    #[test]
    fn comments_vanish_and_lines_stay() {
        assert_eq!(code("a // b\n/* c /* d */\n e */ f\n"), ["a", "", " f"]);
        assert_eq!(code("let url = \"http://x\"; // y\n"), ["let url = \"\";"]);
    }

    #[test]
    fn literals_are_found_with_their_lines() {
        assert_eq!(literals("f(\"a\\\"b\");\ng(r#\"c \"d\"\ne\"#, b\"f\");"), [
            (1, "a\\\"b".to_owned()),
            (2, "c \"d\"\ne".to_owned()),
            (3, "f".to_owned()),
        ]);
        assert_eq!(literals("let rr = br\"x\"; for r in y {}"), [(1, "x".to_owned())]);
    }

    #[test]
    fn characters_are_not_mistaken_for_strings_and_lifetimes_stay() {
        assert_eq!(literals("let q = '\"'; let e = '\\''; f::<'a>(\"z\")"), [(1, "z".to_owned())]);
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), ["fn f<'a>(x: &'a str) {}"]);
    }

    #[test]
    fn test_items_are_left_out_and_what_follows_counts() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
        assert_eq!(code(text), ["fn a() {}", "fn c() {}"]);
        let text = "#[cfg(test)]\nuse x::y;\nfn c() {}\n#[cfg(test)]\nfn d() {}\nfn e() {}\n";
        assert_eq!(code(text), ["fn c() {}", "fn e() {}"]);
        assert_eq!(RustSource::read(text).lines(), 2);
    }

    #[test]
    fn an_unclosed_test_module_reaches_to_the_end() {
        assert_eq!(code("fn a() {}\n#[cfg(test)]\nmod tests {\n    x"), ["fn a() {}"]);
    }
}
