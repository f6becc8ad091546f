//! What JSON can be stored and read again.
//!
//! Readers of JSON recurse, so each has a limit somewhere; what is written beyond it can never be read again. One limit
//! holds for everything that is taken in, bound or journaled, far below what the store reads back: wrapped in the rows
//! of the journal, a value of that depth is still readable.
//!
//! What is read takes more memory than its text: a value takes some tens of bytes and an object some hundreds, whatever
//! they take in the text. So the values of a text are counted before it is read.
//!
//! An integer that is no `i64` or `u64` would be read as the nearest number of a few digits less, and nobody would be
//! told: an account number that is written so would become another one. So such a text is not read.

mod canonical;

use std::io::Write;
use std::ops::Range;

use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use self::canonical::canonical_number;
pub use self::canonical::{canonical, canonical_members};
use crate::error::{Detail, Error};

/// How many lists and objects may stand in each other.
pub const MAX_DEPTH: usize = 64;
/// How many values a text may hold, counting lists and objects and everything in them. Ten megabytes of `{"":0}` hold
/// 3.4 million and take 700 MB once they are read; as many as this take 80 MB at worst.
pub const MAX_VALUES: usize = 200_000;
/// Bytes of the pointer that says where a value becomes too deep.
const MAX_POINTER: usize = 200;

/// The member by which the library of our rows marks a text that is JSON already. An object that has it is written like
/// any other and cannot be read again.
const RESERVED: &str = "$serde_json::private::RawValue";

/// Why a text is not read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is nested too deep, holds too many values, or an integer of too many digits.
    #[error(transparent)]
    TooMuch(#[from] Unstorable),
    /// It is no JSON.
    #[error(transparent)]
    Syntax(#[from] serde_json::Error),
}

/// Reads JSON that somebody else has written: the one way by which texts from outside become values.
///
/// # Errors
/// [`Unreadable`]; what is too much is refused before anything is made of it.
pub fn read(text: &[u8]) -> Result<Value, Unreadable> {
    check_exact(text)?;
    Ok(serde_json::from_slice(text)?)
}

/// A value that could be written and not read again, or a text that is not worth reading.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{fault}{place}: {}", .fault.remedy())]
pub struct Unstorable {
    fault: Fault,
    pointer: String,
    place: String,
}

/// Why a value is not stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
enum Fault {
    #[error("lists and objects are nested deeper than {MAX_DEPTH} levels")]
    Depth,
    #[error("the member name {RESERVED:?} is reserved")]
    Name,
    #[error("there are more than {MAX_VALUES} values")]
    Count,
    #[error("an integer has more digits than are kept, it is not between -2^63 and 2^64 - 1")]
    Digits,
}

impl Fault {
    const fn remedy(self) -> &'static str {
        match self {
            Self::Depth => "make it flatter, or pass the inner part as text",
            Self::Name => "use another name",
            Self::Count => "send it in several parts, or as a file",
            Self::Digits => "write it as a text, in quotes",
        }
    }
}

impl Unstorable {
    fn new(fault: Fault, segments: impl Iterator<Item = String>) -> Self {
        let mut pointer = String::new();
        for segment in segments {
            let segment = segment.replace('~', "~0").replace('/', "~1");
            if pointer.len() + segment.len() >= MAX_POINTER {
                break;
            }
            pointer.push('/');
            pointer.push_str(&segment);
        }
        // Names are whatever somebody sent: what is shown in a log or a terminal keeps no control characters.
        let shown: String = pointer.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        let place = if shown.is_empty() { String::new() } else { format!(" at {shown}") };
        Self { fault, pointer, place }
    }

    /// The fault, in an input that has the value at `base`.
    #[must_use]
    pub fn detail(&self, base: &str) -> Detail {
        Detail::new(format!("{base}{}", self.pointer), self.to_string())
    }

    /// The `VALIDATION_ERROR` for an input that has the value at `base`.
    #[must_use]
    pub fn at(&self, base: &str) -> Error {
        let Detail { path, message } = self.detail(base);
        Error::invalid(path, message)
    }
}

/// Refuses a value that could not be read again: one that is nested too deep, or has a member of a reserved name.
///
/// # Errors
/// [`Unstorable`], which names the place, or as much of the way to it as is worth reading.
pub fn check_value(value: &Value) -> Result<(), Unstorable> {
    let mut way = Vec::new();
    find_fault(value, MAX_DEPTH, &mut way).map_or(Ok(()), |fault| Err(Unstorable::new(fault, way.into_iter().rev())))
}

/// Refuses an object that could not be read again.
///
/// # Errors
/// As [`check_value`].
pub fn check_members(members: &Map<String, Value>) -> Result<(), Unstorable> {
    let mut way = Vec::new();
    find_fault_of_members(members, MAX_DEPTH, &mut way)
        .map_or(Ok(()), |fault| Err(Unstorable::new(fault, way.into_iter().rev())))
}

/// The first fault of a value of which no more than `left` containers may stand in each other; `way` is then the way to
/// it, from its end. Recurses no deeper than `left`.
fn find_fault(value: &Value, left: usize, way: &mut Vec<String>) -> Option<Fault> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        Value::Array(_) if left == 0 => Some(Fault::Depth),
        Value::Array(items) => items.iter().enumerate().find_map(|(place, item)| {
            let fault = find_fault(item, left - 1, way)?;
            way.push(place.to_string());
            Some(fault)
        }),
        Value::Object(members) => find_fault_of_members(members, left, way),
    }
}

fn find_fault_of_members(members: &Map<String, Value>, left: usize, way: &mut Vec<String>) -> Option<Fault> {
    if left == 0 {
        return Some(Fault::Depth);
    }
    members.iter().find_map(|(name, member)| {
        let fault = if name == RESERVED { Some(Fault::Name) } else { find_fault(member, left - 1, way) }?;
        way.push(name.clone());
        Some(fault)
    })
}

/// A list or an object that is open where a text is being scanned.
enum OpenNode {
    List { place: usize },
    Object { name: Range<usize>, expects_name: bool },
}

/// Refuses a JSON text that is nested too deep or holds too many values, before anything is made of it. What is no JSON
/// is not its business.
///
/// # Errors
/// As [`check_value`].
pub fn check_text(text: &[u8]) -> Result<(), Unstorable> {
    scan(text, false)
}

/// Refuses also a JSON text with an integer that would lose digits when it is read.
///
/// # Errors
/// As [`check_value`].
pub fn check_exact(text: &[u8]) -> Result<(), Unstorable> {
    scan(text, true)
}

fn scan(text: &[u8], exact: bool) -> Result<(), Unstorable> {
    let mut open: Vec<OpenNode> = Vec::new();
    let (mut at, mut values) = (0, 0);
    while let Some(byte) = text.get(at) {
        if values > MAX_VALUES {
            return Err(Unstorable::new(Fault::Count, way(text, open)));
        }
        match byte {
            b'{' | b'[' if open.len() == MAX_DEPTH => {
                return Err(Unstorable::new(Fault::Depth, way(text, open)));
            }
            b'{' => {
                values += 1;
                open.push(OpenNode::Object { name: 0..0, expects_name: true });
            }
            b'[' => {
                values += 1;
                open.push(OpenNode::List { place: 0 });
            }
            b'}' | b']' => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(OpenNode::List { place }) => *place += 1,
                Some(OpenNode::Object { expects_name, .. }) => *expects_name = true,
                None => {}
            },
            b'"' => {
                let end = end_of_string(text, at + 1);
                match open.last_mut() {
                    Some(OpenNode::Object { name, expects_name }) if *expects_name => {
                        (*name, *expects_name) = (at + 1..end, false);
                    }
                    Some(_) | None => values += 1,
                }
                at = end;
            }
            b':' => {}
            space if space.is_ascii_whitespace() => {}
            _ => {
                values += 1;
                let end = end_of_literal(text, at);
                if exact && loses_digits(&text[at..end]) {
                    return Err(Unstorable::new(Fault::Digits, way(text, open)));
                }
                at = end;
                continue;
            }
        }
        at += 1;
    }
    Ok(())
}

/// How deep a JSON text is nested. What is no JSON has some depth or other.
#[must_use]
pub fn depth_of_text(text: &[u8]) -> usize {
    let (mut at, mut depth, mut deepest) = (0, 0_usize, 0);
    while let Some(byte) = text.get(at) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_string(text, at + 1),
            _ => {}
        }
        at += 1;
    }
    deepest
}

/// Where a number or a word ends.
fn end_of_literal(text: &[u8], from: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b':' | b'{' | b'}' | b'[' | b']' | b'"') || byte.is_ascii_whitespace();
    text[from..].iter().position(ends).map_or(text.len(), |length| from + length)
}

/// Whether a number or a word is an integer that fits neither an `i64` nor a `u64`.
fn loses_digits(literal: &[u8]) -> bool {
    let digits = literal.strip_prefix(b"-").unwrap_or(literal);
    let is_integer = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let fits = |text: &str| text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    is_integer && !std::str::from_utf8(literal).is_ok_and(fits)
}

/// Where the quote stands that closes a string, or the text ends.
fn end_of_string(text: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

fn way(text: &[u8], open: Vec<OpenNode>) -> impl Iterator<Item = String> {
    open.into_iter().map(|open| match open {
        OpenNode::List { place } => place.to_string(),
        OpenNode::Object { name, .. } => String::from_utf8_lossy(&text[name]).into_owned(),
    })
}

/// The bytes of something as JSON; of what cannot be written, as far as it can.
pub fn bytes_of<T: Serialize + ?Sized>(written: &T) -> usize {
    let mut counted = ByteCounter(0);
    drop(serde_json::to_writer(&mut counted, written));
    counted.0
}

/// Counts what is written, and keeps nothing.
struct ByteCounter(usize);

impl Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn lists(depth: usize) -> Value {
        (1..depth).fold(json!([]), |inner, _| json!([inner]))
    }

    #[test]
    fn the_limit_is_taken_and_one_more_is_not() {
        assert_eq!(check_value(&lists(MAX_DEPTH)), Ok(()));
        assert!(check_value(&lists(MAX_DEPTH + 1)).is_err());
        assert_eq!(check_text(lists(MAX_DEPTH).to_string().as_bytes()), Ok(()));
        assert!(check_text(lists(MAX_DEPTH + 1).to_string().as_bytes()).is_err());
        let members = |depth| json!({"a": lists(depth)}).as_object().cloned().unwrap();
        assert_eq!(check_members(&members(MAX_DEPTH - 1)), Ok(()));
        assert!(check_members(&members(MAX_DEPTH)).is_err());
    }

    #[test]
    fn the_place_is_named_and_the_remedy() {
        let value = json!({"a/b": [1, {"x": lists(MAX_DEPTH)}]});
        let fault = check_value(&value).unwrap_err().detail("/payload");
        assert!(fault.path.starts_with("/payload/a~1b/1/x/0/0"), "{}", fault.path);
        assert!(fault.message.contains("deeper than 64 levels at /a~1b/1/x/0"), "{}", fault.message);
        assert!(fault.message.ends_with("or pass the inner part as text"), "{}", fault.message);
        assert_eq!(check_text(value.to_string().as_bytes()), check_value(&value), "the same of a text");
        let value = json!({"a\n\u{1b}[2J": lists(MAX_DEPTH)});
        let shown = check_value(&value).unwrap_err().to_string();
        assert!(!shown.contains(char::is_control) && shown.contains("at /a"), "{shown}");
    }

    #[test]
    fn a_name_that_makes_an_object_unreadable_is_refused() {
        let planted = Value::Object([(RESERVED.to_owned(), json!("boom"))].into_iter().collect());
        assert!(serde_json::from_str::<Value>(&planted.to_string()).is_err(), "it is written and cannot be read");
        let fault = check_value(&json!({"a": [planted]})).unwrap_err().detail("/payload");
        assert_eq!(fault.path, format!("/payload/a/0/{RESERVED}"));
        assert!(fault.message.contains("is reserved at /a/0/") && fault.message.ends_with("use another name"));
    }

    #[test]
    fn a_long_way_is_cut_at_a_segment() {
        let deep = (0..MAX_DEPTH).fold(json!([]), |inner, n| json!({format!("{}{n}", "name".repeat(20)): inner}));
        let path = check_value(&deep).unwrap_err().detail("").path;
        assert!(path.len() <= MAX_POINTER && !path.is_empty() && deep.pointer(&path).is_some(), "{path}");
    }

    #[test]
    fn brackets_in_strings_do_not_count() {
        let text = json!({"a": "[".repeat(500), "b\"[": "\\\"{{{"}).to_string();
        assert_eq!(check_text(text.as_bytes()), Ok(()));
        assert_eq!(check_text(b"]]]\"\\"), Ok(()), "what is no JSON is left to its reader");
    }

    fn values(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(values).sum(),
            Value::Object(members) => members.values().map(values).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }

    #[test]
    fn as_many_values_as_are_allowed_are_read_and_one_more_is_not() {
        let list = |one: &str, times: usize| format!("[{}]", vec![one; times].join(", "));
        for (one, count) in
            [("0", 1), ("{\"\":0}", 2), ("\"a,[\"", 1), ("[]", 1), ("{ }", 1), ("-1.5e3", 1), ("[{}, null]", 3)]
        {
            let fits = (MAX_VALUES - 1) / count;
            assert_eq!(values(&read(list(one, fits).as_bytes()).unwrap()), 1 + fits * count, "{one}");
            let many = list(one, fits + 1);
            let Err(Unreadable::TooMuch(fault)) = read(many.as_bytes()) else { panic!("{one} is read") };
            assert!(fault.to_string().starts_with("there are more than 200000 values"), "{fault}");
        }
        let fault =
            check_text(format!("{{\"rows\": {}", list("1", MAX_VALUES)).as_bytes()).unwrap_err().detail("/payload");
        assert_eq!(fault.path, format!("/payload/rows/{}", MAX_VALUES - 2), "the place where it became too many");
    }

    #[test]
    fn an_integer_that_would_lose_digits_is_not_read() {
        for kept in ["18446744073709551615", "-9223372036854775808", "0", "-0", "1.5e300", "123456789012345678901.0"] {
            let text = format!("{{\"a\": [{kept}, \"123456789012345678901234567890\"]}}");
            read(text.as_bytes()).unwrap();
        }
        for lost in ["18446744073709551616", "-9223372036854775809", "123456789012345678901234567890"] {
            let text = format!("{{\"a\": [1, {{\"id\": {lost}}}]}}");
            let Err(Unreadable::TooMuch(fault)) = read(text.as_bytes()) else { panic!("{lost} is read") };
            let fault = fault.detail("/payload");
            assert_eq!(fault.path, "/payload/a/1/id");
            assert!(fault.message.ends_with("write it as a text, in quotes"), "{}", fault.message);
            assert_eq!(check_text(text.as_bytes()), Ok(()), "it can be stored");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), ".{0,6}".prop_map(Value::from)];
        leaf.prop_recursive(80, 200, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a\"/\\\\\\[{,:]{0,3}", inner, 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_text_is_as_deep_as_its_value(value in any_json(), wrapped in 0..MAX_DEPTH + 8) {
            let value = (0..wrapped).fold(value, |inner, n| if n % 2 == 0 { json!([inner]) } else { json!({"k": inner}) });
            let of_text = check_text(value.to_string().as_bytes());
            prop_assert_eq!(of_text.is_ok(), check_value(&value).is_ok());
            prop_assert_eq!(of_text.is_ok(), depth_of_text(value.to_string().as_bytes()) <= MAX_DEPTH);
        }
    }
}
