//! Rust text as the rules need it: code without comments, string literals with their lines, and which lines are
//! tests. It knows tokens, not grammar; a macro that builds strings piece by piece escapes it.

pub(crate) use super::rust_reader::Literal;
use super::rust_reader::Reader;

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
        let (code, literals) = Reader::read(text);
        let code: Vec<String> = code.lines().map(str::to_owned).collect();
        let tests = test_lines(&code);
        Self { code, literals, tests }
    }

    /// The lines outside tests, numbered from 1: no comments, and string literals emptied.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.code.iter().zip(&self.tests).enumerate();
        lines.filter(|(_, (_, test))| !**test).map(|(index, (line, _))| (index + 1, line.as_str()))
    }

    /// All lines, tests too, in the same form.
    pub(crate) fn all_code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.code.iter().enumerate();
        lines.map(|(index, line)| (index + 1, line.as_str()))
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
        assert_eq!(
            literals("f(\"a\\\"b\");\ng(r#\"c \"d\"\ne\"#, b\"f\");"),
            [(1, "a\\\"b".to_owned()), (2, "c \"d\"\ne".to_owned()), (3, "f".to_owned()),]
        );
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
