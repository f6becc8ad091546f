//! Reading back the JSON that was written.
//!
//! Nothing deeper than `kybern_core::json::MAX_DEPTH` is written any more, and the reader goes twice as deep. Databases
//! from before that limit hold deeper rows; those are read level by level, on a stack that is large enough for them.

use std::collections::BTreeMap;

use kybern_core::json::depth_of_text;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::value::RawValue;
use serde_json::{Error, Value};

/// How deep a row may be. Whoever clones, compares or writes it has an ordinary stack.
const MAX_DEPTH: usize = 512;
/// Bytes of the stack on which such a row is read.
const STACK: usize = 16 * 1024 * 1024;

/// Reads a value.
pub(crate) fn read<T: DeserializeOwned + Send>(text: &str) -> Result<T, Error> {
    match serde_json::from_str(text) {
        Err(error) if is_too_deep(&error) => read_deep(text),
        read => read,
    }
}

/// Whether the reader gave up because of its own limit.
fn is_too_deep(error: &Error) -> bool {
    error.is_syntax() && error.to_string().starts_with("recursion limit exceeded")
}

fn read_deep<T: DeserializeOwned + Send>(text: &str) -> Result<T, Error> {
    let depth = depth_of_text(text.as_bytes());
    if depth > MAX_DEPTH {
        return Err(Error::custom(format!("it is nested {depth} levels deep, this program reads {MAX_DEPTH}")));
    }
    std::thread::scope(|scope| {
        let reading =
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || T::deserialize(value(text)?));
        let reading = reading.map_err(|error| Error::custom(format!("no thread to read a deep row: {error}")))?;
        reading.join().unwrap_or_else(|_panic| Err(Error::custom("reading a deep row broke off")))
    })
}

/// A value whose outer levels are taken off one by one until the rest is no deeper than the reader goes. Passing over
/// what is inside needs no stack.
fn value(text: &str) -> Result<Value, Error> {
    match serde_json::from_str(text) {
        Err(error) if is_too_deep(&error) => {}
        read => return read,
    }
    if text.trim_start().starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(text)?;
        return items.into_iter().map(|item| value(item.get())).collect();
    }
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
    members.into_iter().map(|(name, member)| Ok((name, value(member.get())?))).collect()
}

#[cfg(test)]
mod tests {
    use kybern_core::task::{JournalEntry, JournalRow, StepOutcome};
    use kybern_core::time::{Millis, Timestamp};
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> Value {
        (0..depth)
            .fold(json!("end"), |inner, n| if n % 2 == 0 { json!([1, inner]) } else { json!({"a": 0, "b": inner}) })
    }

    #[test]
    fn what_is_deeper_than_the_reader_goes_is_read() {
        for depth in [0, 1, 64, 126, 127, 128, 129, 130, 300, MAX_DEPTH] {
            let written = nested(depth);
            assert_eq!(read::<Value>(&written.to_string()).unwrap(), written, "{depth}");
        }
    }

    #[test]
    fn a_row_of_the_journal_may_hold_it() {
        let row = JournalRow {
            seq: 1,
            step: None,
            tool: None,
            attempt: 0,
            generation: 0,
            at: Timestamp::default(),
            duration: Millis(0),
            summary: String::new(),
            entry: JournalEntry::Finished(std::sync::Arc::new(StepOutcome::completed(nested(400)))),
        };
        assert_eq!(read::<JournalRow>(&serde_json::to_string(&row).unwrap()).unwrap(), row);
    }

    #[test]
    fn depth_is_bounded_and_faults_are_told() {
        let far = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert!(read::<Value>(&far).unwrap_err().to_string().contains("1000000 levels deep, this program reads 512"));
        for broken in ["", "{", "[1,", "nope", &"[".repeat(300)] {
            assert!(read::<Value>(broken).is_err(), "{broken}");
        }
        assert!(read::<u32>("[]").is_err());
    }
}
