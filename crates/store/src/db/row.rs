//! Rows, read column by column in the order of the SELECT.

use rusqlite::types::Value as SqliteValue;
use serde::de::DeserializeOwned;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use kybern_core::time::Timestamp;

use super::json;
use crate::error::{Result, StoreError};

/// A row and the column that is read next.
pub(crate) struct Row {
    cells: Cells,
    at: usize,
    statement: &'static str,
}

enum Cells {
    Sqlite(Vec<SqliteValue>),
    Postgres(Box<PgRow>),
}

impl Row {
    pub(crate) fn sqlite(statement: &'static str, cells: Vec<SqliteValue>) -> Self {
        Self { cells: Cells::Sqlite(cells), at: 0, statement }
    }

    pub(crate) fn postgres(statement: &'static str, row: PgRow) -> Self {
        Self { cells: Cells::Postgres(Box::new(row)), at: 0, statement }
    }

    /// About how many bytes it holds.
    pub(crate) fn bytes(&self) -> usize {
        match &self.cells {
            Cells::Sqlite(cells) => cells
                .iter()
                .map(|cell| match cell {
                    SqliteValue::Text(text) => text.len(),
                    SqliteValue::Blob(bytes) => bytes.len(),
                    SqliteValue::Null | SqliteValue::Integer(_) | SqliteValue::Real(_) => size_of::<SqliteValue>(),
                })
                .sum(),
            Cells::Postgres(row) => {
                let of = |at| row.try_get_raw(at).ok().and_then(|cell| cell.as_bytes().ok().map(<[u8]>::len));
                (0..row.len()).filter_map(of).sum()
            }
        }
    }

    /// The id in its first column, whichever column is read next.
    pub(crate) fn first_id(&mut self) -> Result<Uuid> {
        let at = std::mem::take(&mut self.at);
        let id = self.uuid();
        self.at = at;
        id
    }

    /// A fault of the present row.
    pub(crate) fn fault(&self, problem: impl Into<String>) -> StoreError {
        StoreError::Decode { row: self.statement.to_owned(), problem: problem.into() }
    }

    fn wrong(&self, at: usize) -> StoreError {
        self.fault(format!("column {at} is missing or of another type"))
    }

    fn required<T>(&mut self, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.wrong(self.at.saturating_sub(1)))
    }

    /// A number, or null.
    pub(crate) fn opt_i64(&mut self) -> Result<Option<i64>> {
        let at = self.step();
        match &mut self.cells {
            Cells::Sqlite(cells) => match cells.get(at) {
                Some(SqliteValue::Integer(value)) => Ok(Some(*value)),
                Some(SqliteValue::Null) => Ok(None),
                _ => Err(self.wrong(at)),
            },
            Cells::Postgres(row) => row.try_get(at).map_err(|_| self.wrong(at)),
        }
    }

    /// A fraction, or null.
    pub(crate) fn opt_f64(&mut self) -> Result<Option<f64>> {
        let at = self.step();
        match &mut self.cells {
            Cells::Sqlite(cells) => match cells.get(at) {
                Some(SqliteValue::Real(value)) => Ok(Some(*value)),
                Some(SqliteValue::Null) => Ok(None),
                _ => Err(self.wrong(at)),
            },
            Cells::Postgres(row) => row.try_get(at).map_err(|_| self.wrong(at)),
        }
    }

    /// Text, or null.
    pub(crate) fn opt_text(&mut self) -> Result<Option<String>> {
        let at = self.step();
        match &mut self.cells {
            Cells::Sqlite(cells) => match cells.get_mut(at).map(|cell| std::mem::replace(cell, SqliteValue::Null)) {
                Some(SqliteValue::Text(value)) => Ok(Some(value)),
                Some(SqliteValue::Null) => Ok(None),
                _ => Err(self.wrong(at)),
            },
            Cells::Postgres(row) => row.try_get(at).map_err(|_| self.wrong(at)),
        }
    }

    /// An id, or null.
    pub(crate) fn opt_uuid(&mut self) -> Result<Option<Uuid>> {
        let at = self.step();
        match &mut self.cells {
            Cells::Sqlite(cells) => match cells.get(at) {
                Some(SqliteValue::Blob(bytes)) => Uuid::from_slice(bytes).map(Some).map_err(|_| self.wrong(at)),
                Some(SqliteValue::Null) => Ok(None),
                _ => Err(self.wrong(at)),
            },
            Cells::Postgres(row) => row.try_get(at).map_err(|_| self.wrong(at)),
        }
    }

    /// Bytes.
    pub(crate) fn blob(&mut self) -> Result<Vec<u8>> {
        let at = self.step();
        match &mut self.cells {
            Cells::Sqlite(cells) => match cells.get_mut(at).map(|cell| std::mem::replace(cell, SqliteValue::Null)) {
                Some(SqliteValue::Blob(bytes)) => Ok(bytes),
                _ => Err(self.wrong(at)),
            },
            Cells::Postgres(row) => row.try_get(at).map_err(|_| self.wrong(at)),
        }
    }

    /// A number.
    pub(crate) fn i64(&mut self) -> Result<i64> {
        let value = self.opt_i64()?;
        self.required(value)
    }

    /// A number that is never negative nor large.
    pub(crate) fn u32(&mut self) -> Result<u32> {
        let value = self.i64()?;
        u32::try_from(value).map_err(|_| self.fault(format!("{value} is out of range")))
    }

    /// A number that is never negative.
    pub(crate) fn u64(&mut self) -> Result<u64> {
        let value = self.i64()?;
        u64::try_from(value).map_err(|_| self.fault(format!("{value} is out of range")))
    }

    pub(crate) fn flag(&mut self) -> Result<bool> {
        Ok(self.i64()? != 0)
    }

    /// A fraction.
    pub(crate) fn f64(&mut self) -> Result<f64> {
        let value = self.opt_f64()?;
        self.required(value)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let value = self.opt_text()?;
        self.required(value)
    }

    /// An id.
    pub(crate) fn uuid(&mut self) -> Result<Uuid> {
        let value = self.opt_uuid()?;
        self.required(value)
    }

    /// A moment.
    pub(crate) fn time(&mut self) -> Result<Timestamp> {
        Ok(Timestamp::from_millis(self.i64()?))
    }

    /// A moment, or null.
    pub(crate) fn opt_time(&mut self) -> Result<Option<Timestamp>> {
        Ok(self.opt_i64()?.map(Timestamp::from_millis))
    }

    /// A value kept as JSON.
    pub(crate) fn json<T: DeserializeOwned + Send>(&mut self) -> Result<T> {
        let text = self.text()?;
        json::read(&text).map_err(|error| self.fault(format!("column {}: {error}", self.at - 1)))
    }

    /// A value kept as JSON, or null.
    pub(crate) fn opt_json<T: DeserializeOwned + Send>(&mut self) -> Result<Option<T>> {
        match self.opt_text()? {
            None => Ok(None),
            Some(text) => {
                json::read(&text).map(Some).map_err(|error| self.fault(format!("column {}: {error}", self.at - 1)))
            }
        }
    }

    /// A value kept as JSON; the default when it cannot be read, which `unreadable` then tells.
    pub(crate) fn json_or_default<T: DeserializeOwned + Default + Send>(
        &mut self,
        unreadable: &mut Option<String>,
    ) -> T {
        let read = self.json();
        read.unwrap_or_else(|error| Self::left_out(unreadable, &error))
    }

    /// The same for one that may be null.
    pub(crate) fn opt_json_or_none<T: DeserializeOwned + Send>(
        &mut self,
        unreadable: &mut Option<String>,
    ) -> Option<T> {
        let read = self.opt_json();
        read.unwrap_or_else(|error| Self::left_out(unreadable, &error))
    }

    /// A name that `parse` knows, or one in its place that does no harm.
    pub(crate) fn named_or<T>(
        &mut self,
        parse: impl FnOnce(&str) -> Option<T>,
        harmless: T,
        unreadable: &mut Option<String>,
    ) -> T {
        let read = self.named(parse);
        read.unwrap_or_else(|error| {
            Self::left_out::<()>(unreadable, &error);
            harmless
        })
    }

    fn left_out<T: Default>(unreadable: &mut Option<String>, error: &StoreError) -> T {
        unreadable.get_or_insert_with(|| error.to_string());
        T::default()
    }

    /// A name that `parse` knows.
    pub(crate) fn named<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        let name = self.text()?;
        parse(&name).ok_or_else(|| self.fault(format!("{name:?} is not known to this program")))
    }

    fn step(&mut self) -> usize {
        self.at += 1;
        self.at - 1
    }
}
