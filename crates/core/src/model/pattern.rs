//! Regular expressions that tenants give to describe identifiers: bounded, and matched in linear time.

use regex::{Regex, RegexBuilder};

/// Characters of a pattern as it is written.
pub const MAX_SOURCE: usize = 200;
/// Bytes of one compiled pattern, and of the states that one search may keep.
pub const MAX_COMPILED: usize = 64 * 1024;
/// Groups that may stand in each other.
const MAX_NESTING: u32 = 20;
/// Bytes of a text in which a value is looked for: it stands at the beginning.
const MAX_TEXT: usize = 256;

/// What an identifier looks like: the whole of it matches, and no letter or digit goes on behind it.
#[derive(Clone, Debug)]
pub struct ValuePattern {
    source: String,
    regex: Regex,
}

impl PartialEq for ValuePattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl ValuePattern {
    /// About how many bytes one takes, at most.
    pub const BYTES: usize = 2 * MAX_COMPILED;

    /// Compiles a pattern.
    ///
    /// # Errors
    /// What is wrong with it, with the remedy.
    pub fn new(source: &str) -> Result<Self, String> {
        if source.is_empty() || source.chars().count() > MAX_SOURCE {
            return Err(format!("a pattern has 1 to {MAX_SOURCE} characters, such as \"DN-[0-9]{{6}}\""));
        }
        // Alone first: a bracket too many must not close the group around it.
        compile(source)?;
        let regex = compile(&format!(r"\A({source})(?:\z|[^0-9A-Za-z])"))?;
        if regex.is_match("") {
            return Err("the pattern matches an empty text: say what an identifier has to contain".to_owned());
        }
        Ok(Self { source: source.to_owned(), regex })
    }

    /// As it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many bytes at the beginning of a text are such an identifier.
    #[must_use]
    pub fn leads(&self, text: &str) -> Option<usize> {
        let text_begins = text.get(..text.floor_char_boundary(MAX_TEXT))?;
        let found = self.regex.captures(text_begins)?.get(1)?.end();
        let goes_on = text.get(found..)?.starts_with(char::is_alphanumeric);
        (found > 0 && !goes_on).then_some(found)
    }
}

fn compile(source: &str) -> Result<Regex, String> {
    let built =
        RegexBuilder::new(source).size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED).nest_limit(MAX_NESTING).build();
    built.map_err(|fault| {
        if matches!(fault, regex::Error::CompiledTooBig(_)) {
            return "the pattern is too large: use smaller counts, and [0-9] or [A-Z] for \\d or \\w".to_owned();
        }
        let reason = fault.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("it is no regular expression without look-around and back-references: {reason}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_matches_from_end_to_end() {
        let pattern = ValuePattern::new("DN-[0-9]{2,4}|DN-X").unwrap();
        let leads = |text: &str| pattern.leads(text);
        assert_eq!(leads("DN-0042, of today"), Some(7));
        assert_eq!(leads("DN-0042"), Some(7));
        assert_eq!(leads("DN-X\tDN-0042"), Some(4));
        for other in ["DN-1", "DN-00421", "DN-0042A", "DN-0042é", " DN-0042", "dn-0042", ""] {
            assert_eq!(leads(other), None, "{other:?}");
        }
        assert_eq!(ValuePattern::new("é+").unwrap().leads(&"é".repeat(900)), None, "what goes on is another");
    }

    #[test]
    fn a_pattern_that_explodes_or_is_none_is_refused() {
        for (bad, part) in [
            ("", "1 to 200"),
            ("[0-9]*", "empty text"),
            ("a)|(b", "no regular expression"),
            ("(a)\\1", "no regular expression"),
            ("(?=a)a", "no regular expression"),
            ("[A-Z", "no regular expression"),
            ("(\\w{1,99}x){1,99}", "too large"),
            (&"(".repeat(30), "no regular expression"),
        ] {
            let fault = ValuePattern::new(bad).unwrap_err();
            assert!(fault.contains(part), "{bad}: {fault}");
        }
        assert!(ValuePattern::new(&"a".repeat(MAX_SOURCE + 1)).is_err());
        assert!(ValuePattern::new("\\d{4}-\\d{6}").is_ok());
    }
}
