//! The tables of an archive, as the database itself has them: a table or column of a new migration is in every backup from
//! then on.

use std::collections::{BTreeMap, BTreeSet};

use crate::db::Tx;
use crate::error::{Result, StoreError};

/// How a column is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ColumnKind {
    /// An id.
    U,
    /// A number.
    I,
    /// A fraction.
    F,
    /// Text.
    T,
}

impl ColumnKind {
    /// The kind of a column by the type that the database has for it.
    fn of(declared: &str) -> Option<Self> {
        Some(match declared {
            "BLOB" | "uuid" => Self::U,
            "INTEGER" | "bigint" | "integer" | "smallint" => Self::I,
            "REAL" | "double precision" => Self::F,
            "TEXT" | "text" => Self::T,
            _ => return None,
        })
    }
}

/// What belongs to one database or one process, and is in no archive; `blob` is, as files.
const LEFT_OUT: [&str; 4] = ["blob", "master_key", "probe", "schema_migration"];

/// Its tables, columns and their types.
const SQLITE_COLUMNS: &str = "SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c \
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid";
/// Which table refers to which.
const SQLITE_PARENTS: &str =
    "SELECT t.name, k.\"table\" FROM sqlite_schema t, pragma_foreign_key_list(t.name) k WHERE t.type = 'table'";
/// Its tables without their partitions, columns and their types.
const POSTGRES_COLUMNS: &str = "SELECT t.relname::text, c.attname::text, format_type(c.atttypid, NULL) \
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid \
    WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition \
    AND c.attnum > 0 AND NOT c.attisdropped ORDER BY t.relname, c.attnum";
/// Which table refers to which.
const POSTGRES_PARENTS: &str = "SELECT t.relname::text, p.relname::text FROM pg_constraint k \
    JOIN pg_class t ON t.oid = k.conrelid JOIN pg_class p ON p.oid = k.confrelid \
    WHERE k.contype = 'f' AND t.relnamespace = current_schema()::regnamespace";

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<(String, ColumnKind)>,
}

impl Table {
    /// The column that says whose a row is.
    pub(super) fn owner(&self) -> &'static str {
        if self.name == "tenant" { "id" } else { "tenant_id" }
    }

    /// The same column's place.
    pub(super) fn owner_at(&self) -> usize {
        self.columns.iter().position(|(name, _)| *name == self.owner()).unwrap_or(0)
    }

    /// A query of its rows, tenant by tenant; of one tenant only where `one` is set.
    pub(super) fn select(&self, one: bool) -> String {
        let columns: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let filter = if one { format!(" WHERE {} = $1", self.owner()) } else { String::new() };
        format!("SELECT {} FROM {}{filter} ORDER BY {}", columns.join(", "), self.name, self.owner())
    }

    /// An insertion of some of its columns, for several rows at once.
    pub(super) fn insert(&self, columns: &[&str], rows: usize) -> String {
        let width = columns.len();
        let row = |n: usize| {
            let places: Vec<String> = (1..=width).map(|at| format!("${}", n * width + at)).collect();
            format!("({})", places.join(", "))
        };
        let values: Vec<String> = (0..rows).map(row).collect();
        format!("INSERT INTO {} ({}) VALUES {}", self.name, columns.join(", "), values.join(", "))
    }
}

/// Every table, parents before children.
pub(super) async fn every_table(tx: &mut Tx) -> Result<Vec<Table>> {
    let (columns, parents) =
        if tx.is_postgres() { (POSTGRES_COLUMNS, POSTGRES_PARENTS) } else { (SQLITE_COLUMNS, SQLITE_PARENTS) };
    let mut tables: BTreeMap<String, Vec<(String, ColumnKind)>> = BTreeMap::new();
    tx.each_row(columns, &[], |mut row| {
        let (table, column, declared) = (row.text()?, row.text()?, row.text()?);
        if LEFT_OUT.contains(&table.as_str()) {
            return Ok(());
        }
        let kind = ColumnKind::of(&declared)
            .ok_or_else(|| StoreError::Archive(format!("no archive holds a {declared}, which {table}.{column} is")))?;
        tables.entry(table).or_default().push((column, kind));
        Ok(())
    })
    .await?;
    let mut waits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    tx.each_row(parents, &[], |mut row| {
        let (child, parent) = (row.text()?, row.text()?);
        if child != parent {
            waits.entry(child).or_default().insert(parent);
        }
        Ok(())
    })
    .await?;
    Ok(in_order(tables, &waits))
}

/// Parents before children. What would go round in a circle, which no migration makes, comes last.
fn in_order(
    mut tables: BTreeMap<String, Vec<(String, ColumnKind)>>,
    waits: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<Table> {
    let mut ordered = Vec::with_capacity(tables.len());
    while !tables.is_empty() {
        let waiting = |name: &String| waits.get(name).is_some_and(|of| of.iter().any(|of| tables.contains_key(of)));
        let mut ready: Vec<String> = tables.keys().filter(|name| !waiting(name)).cloned().collect();
        if ready.is_empty() {
            ready = tables.keys().cloned().collect();
        }
        for name in ready {
            if let Some(columns) = tables.remove(&name) {
                ordered.push(Table { name, columns });
            }
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_before_their_children() {
        let tables = ["a", "b", "c"].map(|name| (name.to_owned(), Vec::new())).into();
        let waits =
            [("a".to_owned(), ["c".to_owned()].into()), ("c".to_owned(), ["b".to_owned(), "gone".to_owned()].into())];
        let names: Vec<String> = in_order(tables, &waits.into()).into_iter().map(|table| table.name).collect();
        assert_eq!(names, ["b", "c", "a"]);
    }
}
