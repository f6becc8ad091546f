//! JSON as it is written, with what a plain parser would swallow told.

use std::fmt;

use kybern_core::json;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep brackets may lie in one another: one less than in any value, since the answer holds this one.
pub(super) const MAX_DEPTH: usize = json::MAX_DEPTH - 1;
/// Problems that are listed of one text.
const MAX_PROBLEMS: usize = 20;
/// Digits that every machine number keeps.
const SURE_DIGITS: usize = 15;

/// A value, and the places where the text says something that the value does not.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) value: Value,
    /// JSON pointers and sentences.
    pub(super) problems: Vec<(String, String)>,
}

/// Reads a text that is JSON from its beginning to its end.
///
/// # Errors
/// What is wrong with it, and where.
pub(super) fn parse(text: &str) -> Result<Parsed, String> {
    json::check_text(text.as_bytes()).map_err(|fault| fault.to_string())?;
    if json::depth_of_text(text.as_bytes()) > MAX_DEPTH {
        return Err(format!("lists and objects are nested deeper than {MAX_DEPTH} levels"));
    }
    let mut problems = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut path = String::new();
    let node = Node { path: &mut path, problems: &mut problems };
    let value = node.deserialize(&mut deserializer).map_err(|problem| problem.to_string())?;
    deserializer.end().map_err(|problem| problem.to_string())?;
    lost_digits(text, &mut problems);
    Ok(Parsed { value, problems })
}

fn tell(problems: &mut Vec<(String, String)>, path: &str, message: impl FnOnce() -> String) {
    if problems.len() < MAX_PROBLEMS {
        problems.push((path.to_owned(), message()));
    }
}

/// One value on the way down.
struct Node<'a> {
    path: &'a mut String,
    problems: &'a mut Vec<(String, String)>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        let length = self.path.len();
        loop {
            self.path.push_str(&format!("/{}", list.len()));
            let node = Node { path: self.path, problems: self.problems };
            let item = items.next_element_seed(node)?;
            self.path.truncate(length);
            match item {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let length = self.path.len();
        while let Some(name) = members.next_key::<String>()? {
            self.path.push('/');
            self.path.push_str(&name.replace('~', "~0").replace('/', "~1"));
            if object.contains_key(&name) {
                tell(self.problems, self.path, || "the key stands twice: the last value was taken".to_owned());
            }
            let value = members.next_value_seed(Node { path: self.path, problems: self.problems })?;
            self.path.truncate(length);
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

/// Tells of numbers with more digits than a machine number keeps. The text is known to be JSON.
fn lost_digits(text: &str, problems: &mut Vec<(String, String)>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' {
            at = past_string(bytes, at);
        } else if byte == b'-' || byte.is_ascii_digit() {
            let length = bytes[at..].iter().take_while(|b| b.is_ascii_digit() || b"+-.eE".contains(b)).count();
            let number = &text[at..at + length];
            if number.len() > SURE_DIGITS && loses(number) {
                tell(problems, "", || {
                    let shown: String = number.chars().take(60).collect();
                    format!("the number {shown} loses digits: write it as a text")
                });
                if problems.len() >= MAX_PROBLEMS {
                    return;
                }
            }
            at += length;
        } else {
            at += 1;
        }
    }
}

/// One past the end of the string that begins there.
pub(super) fn past_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn loses(number: &str) -> bool {
    if number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() {
        return false;
    }
    let Ok(value) = number.parse::<f64>() else { return false };
    significant(number) != significant(&format!("{value:e}"))
}

/// The digits that count, without point, exponent and zeros around them.
fn significant(number: &str) -> String {
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').to_owned()
}
