//! Arguments of statements. Each carries its type even when it is null, because PostgreSQL asks for it.

use std::borrow::Cow;

use kybern_core::task::TaskStatus;
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

use crate::error::{Result, StoreError};

/// One argument.
#[derive(Clone, Debug)]
pub(crate) enum Arg<'a> {
    /// A number, a moment in milliseconds, or a flag.
    I64(Option<i64>),
    /// A confidence.
    F64(Option<f64>),
    /// Text, also JSON.
    Text(Option<Cow<'a, str>>),
    /// Bytes.
    Blob(&'a [u8]),
    /// An id.
    Uuid(Option<Uuid>),
    /// Ids; PostgreSQL only.
    Uuids(Vec<Option<Uuid>>),
    /// Numbers; PostgreSQL only.
    I64s(Vec<Option<i64>>),
    /// Confidences; PostgreSQL only.
    F64s(Vec<Option<f64>>),
    /// Texts; PostgreSQL only.
    Texts(Vec<Option<Cow<'a, str>>>),
}

impl<'a> Arg<'a> {
    /// An empty array of the type that a letter names: `u`uid, `i`nteger, `f`loat, `t`ext.
    fn empty(letter: char) -> Option<Self> {
        match letter {
            'u' => Some(Self::Uuids(Vec::new())),
            'i' => Some(Self::I64s(Vec::new())),
            'f' => Some(Self::F64s(Vec::new())),
            't' => Some(Self::Texts(Vec::new())),
            _ => None,
        }
    }

    /// Adds a value to an array of its type.
    fn push(&mut self, value: Self) -> Option<()> {
        match (self, value) {
            (Self::I64s(column), Self::I64(value)) => column.push(value),
            (Self::F64s(column), Self::F64(value)) => column.push(value),
            (Self::Texts(column), Self::Text(value)) => column.push(value),
            (Self::Uuids(column), Self::Uuid(value)) => column.push(value),
            _ => return None,
        }
        Some(())
    }
}

/// Rows of arguments as one array for each column, of the types that the letters name: what `unnest` makes rows of
/// again. PostgreSQL only.
///
/// # Errors
/// When a value is not of its column's type.
pub(crate) fn columns<'a, const N: usize>(
    letters: &str,
    rows: impl Iterator<Item = [Arg<'a>; N]>,
) -> Result<Vec<Arg<'a>>> {
    let fault = || StoreError::Decode {
        row: "arguments".to_owned(),
        problem: format!("the columns of a statement for many rows are not {letters}"),
    };
    let mut columns: Vec<Arg<'a>> = letters.chars().filter_map(Arg::empty).collect();
    if columns.len() != N {
        return Err(fault());
    }
    for row in rows {
        for (column, value) in columns.iter_mut().zip(row) {
            column.push(value).ok_or_else(fault)?;
        }
    }
    Ok(columns)
}

macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::db::Arg::from($value)),*] };
}
pub(crate) use args;

/// A text as both databases keep it: PostgreSQL takes no U+0000, so it becomes U+FFFD, as in broken encodings. What an
/// outside system answered must not keep a step from being committed.
pub(super) fn kept(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0, text.as_bytes()).is_some() {
        Cow::Owned(text.replace('\0', "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A count as the database keeps it; the largest one when it does not fit.
pub(crate) fn count(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Self::I64(Some(value))
    }
}

impl From<Option<i64>> for Arg<'_> {
    fn from(value: Option<i64>) -> Self {
        Self::I64(value)
    }
}

impl From<u32> for Arg<'_> {
    fn from(value: u32) -> Self {
        Self::I64(Some(i64::from(value)))
    }
}

impl From<Option<u32>> for Arg<'_> {
    fn from(value: Option<u32>) -> Self {
        Self::I64(value.map(i64::from))
    }
}

impl From<bool> for Arg<'_> {
    fn from(value: bool) -> Self {
        Self::I64(Some(i64::from(value)))
    }
}

impl From<Timestamp> for Arg<'_> {
    fn from(value: Timestamp) -> Self {
        Self::I64(Some(value.as_millis()))
    }
}

impl From<Option<Timestamp>> for Arg<'_> {
    fn from(value: Option<Timestamp>) -> Self {
        Self::I64(value.map(Timestamp::as_millis))
    }
}

impl From<Millis> for Arg<'_> {
    fn from(value: Millis) -> Self {
        Self::I64(Some(count(value.0)))
    }
}

impl From<f64> for Arg<'_> {
    fn from(value: f64) -> Self {
        Self::F64(Some(value))
    }
}

impl From<Option<f64>> for Arg<'_> {
    fn from(value: Option<f64>) -> Self {
        Self::F64(value)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(Some(Cow::Borrowed(value)))
    }
}

impl<'a> From<&'a String> for Arg<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(Some(Cow::Borrowed(value)))
    }
}

impl<'a> From<Option<&'a str>> for Arg<'a> {
    fn from(value: Option<&'a str>) -> Self {
        Self::Text(value.map(Cow::Borrowed))
    }
}

impl From<String> for Arg<'_> {
    fn from(value: String) -> Self {
        Self::Text(Some(Cow::Owned(value)))
    }
}

impl From<Option<String>> for Arg<'_> {
    fn from(value: Option<String>) -> Self {
        Self::Text(value.map(Cow::Owned))
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Blob(value)
    }
}

impl From<Uuid> for Arg<'_> {
    fn from(value: Uuid) -> Self {
        Self::Uuid(Some(value))
    }
}

impl From<Option<Uuid>> for Arg<'_> {
    fn from(value: Option<Uuid>) -> Self {
        Self::Uuid(value)
    }
}

impl From<TenantScope> for Arg<'_> {
    fn from(value: TenantScope) -> Self {
        Self::Uuid(Some(value.tenant().as_uuid()))
    }
}

impl From<TaskStatus> for Arg<'_> {
    fn from(value: TaskStatus) -> Self {
        Self::Text(Some(Cow::Borrowed(value.as_str())))
    }
}
