//! Reading the members of a schema that somebody wrote: what is wrong is noted with its place, and reading goes on.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{MAX_LABELS, MAX_PATTERNS};
use crate::error::Detail;
use crate::lesson::label_of;
use crate::model::ValuePattern;
use crate::model::range::billionths;

/// Faults that are listed of one schema.
const MAX_FAULTS: usize = 20;
/// Characters of a name or key.
const MAX_NAME: usize = 64;

/// What has been read so far.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) faults: Vec<Detail>,
    labels: usize,
    patterns: usize,
}

impl Reader {
    pub(super) fn fault(&mut self, path: impl Into<String>, message: impl Into<String>) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(Detail::new(path, message));
        }
    }

    /// The members of an object that has no others than those that are known.
    pub(super) fn object<'v>(
        &mut self,
        value: &'v Value,
        path: &str,
        known: &[&str],
    ) -> Option<&'v Map<String, Value>> {
        let Value::Object(members) = value else {
            self.fault(path, format!("an object is needed, with {}", known.join(", ")));
            return None;
        };
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            let message = format!("{name:?} is not known here, use {}", known.join(", "));
            self.fault(format!("{path}/{}", escaped(name)), message);
        }
        Some(members)
    }

    /// The items of a list that may be left out.
    pub(super) fn list<'v>(&mut self, value: Option<&'v Value>, path: &str, most: usize) -> &'v [Value] {
        match value {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) if items.len() <= most => items,
            Some(Value::Array(items)) => {
                self.fault(path, format!("{} entries are more than {most}: use fewer", items.len()));
                &[]
            }
            Some(_) => {
                self.fault(path, "a list is needed");
                &[]
            }
        }
    }

    /// The texts of a list that is not empty.
    pub(super) fn texts<'v>(&mut self, value: Option<&'v Value>, path: &str) -> Vec<&'v str> {
        let before = self.faults.len();
        let items = self.list(value, path, MAX_LABELS);
        let texts: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        if before == self.faults.len() && (texts.is_empty() || texts.len() < items.len()) {
            self.fault(path, "a list of at least one text is needed");
        }
        texts
    }

    /// Words by which something is known, in small letters.
    pub(super) fn label(&mut self, text: &str, path: &str) -> Option<String> {
        self.labels += 1;
        if self.labels > MAX_LABELS {
            if self.labels == MAX_LABELS + 1 {
                self.fault(path, format!("the schema has more than {MAX_LABELS} labels: use fewer"));
            }
            return None;
        }
        label_of(text).map_err(|message| self.fault(path, format!("{message}, not {text:?}"))).ok()
    }

    /// Labels by language, all languages together.
    pub(super) fn labels(&mut self, value: Option<&Value>, path: &str) -> Vec<(String, String)> {
        let Some(Value::Object(languages)) = value.filter(|value| value.as_object().is_some_and(|all| !all.is_empty()))
        else {
            self.fault(path, "labels are given by language, as in {\"en\": [\"delivery note no\"]}");
            return Vec::new();
        };
        let mut labels = Vec::new();
        for (language, texts) in languages {
            let place = format!("{path}/{}", escaped(language));
            if !is_language(language) {
                self.fault(&place, format!("{language:?} is no language tag, such as \"en\" or \"pt-BR\""));
                continue;
            }
            for (n, text) in self.texts(Some(texts), &place).into_iter().enumerate() {
                let at = format!("{place}/{n}");
                labels.extend(self.label(text, &at).map(|label| (label, at)));
            }
        }
        labels
    }

    /// A name that becomes part of the result.
    pub(super) fn name(&mut self, value: Option<&Value>, path: &str) -> Option<String> {
        let is_name = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_lowercase())
                && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let message = format!("a name of 1 to {MAX_NAME} characters [a-z0-9_] is needed, a letter first");
        self.word(value, path, is_name, message)
    }

    /// A key of a kind of documents, or of a section.
    pub(super) fn key(&mut self, value: Option<&Value>, path: &str) -> Option<String> {
        let is_key = |text: &str| {
            text.starts_with(|c: char| c.is_ascii_alphabetic())
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let message = format!("a key of 1 to {MAX_NAME} characters [A-Za-z0-9_] is needed, a letter first");
        self.word(value, path, is_key, message)
    }

    fn word(
        &mut self,
        value: Option<&Value>,
        path: &str,
        fits: impl Fn(&str) -> bool,
        message: String,
    ) -> Option<String> {
        let word = value.and_then(Value::as_str).filter(|text| text.len() <= MAX_NAME && fits(text));
        if word.is_none() {
            self.fault(path, message);
        }
        word.map(str::to_owned)
    }

    /// A switch; off when it is left out.
    pub(super) fn switch(&mut self, value: Option<&Value>, path: &str) -> bool {
        match value {
            None | Some(Value::Null) => false,
            Some(Value::Bool(on)) => *on,
            Some(_) => {
                self.fault(path, "true or false is needed");
                false
            }
        }
    }

    /// A bound of an amount, in billionths: a whole number, or a decimal as text, since a float is never exact.
    pub(super) fn bound(&mut self, value: Option<&Value>, path: &str) -> Option<i64> {
        let value = value.filter(|value| !value.is_null())?;
        let text = value.as_str().map(str::to_owned).or_else(|| value.as_i64().map(|whole| whole.to_string()));
        let bound = text.as_deref().and_then(billionths);
        if bound.is_none() {
            let message = "a whole number up to nine billion, or a decimal as text is needed, such as 1000 or \"2.5\"";
            self.fault(path, message);
        }
        bound
    }

    /// A pattern of an identifier.
    pub(super) fn pattern(&mut self, value: Option<&Value>, path: &str) -> Option<ValuePattern> {
        let Some(source) = value.and_then(Value::as_str) else {
            self.fault(path, "an identifier needs a pattern, such as \"DN-[0-9]{6}\"");
            return None;
        };
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            self.fault(
                path,
                format!("the schema has more than {MAX_PATTERNS} patterns: use reference or text for some"),
            );
            return None;
        }
        ValuePattern::new(source).map_err(|message| self.fault(path, message)).ok()
    }

    /// Names the first of several that come twice.
    pub(super) fn unique<'n>(&mut self, names: impl Iterator<Item = &'n str>, path: &str, what: &str) {
        let mut seen = HashSet::new();
        for (n, name) in names.enumerate() {
            if !seen.insert(name) {
                self.fault(format!("{path}/{n}/{what}"), format!("{name:?} comes twice: give each its own {what}"));
            }
        }
    }
}

/// Whether it is a language tag of two or three letters, perhaps with a region or script.
fn is_language(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts
        .next()
        .is_some_and(|part| (2..=3).contains(&part.len()) && part.bytes().all(|letter| letter.is_ascii_lowercase()));
    language && parts.all(|part| (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// A member's name as a part of a JSON pointer, cut where it is long.
fn escaped(name: &str) -> String {
    let short: String = name.chars().take(MAX_NAME).collect();
    short.replace('~', "~0").replace('/', "~1")
}
