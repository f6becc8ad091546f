//! Which kinds of records stand for something outside, and how one is found by what people call it.

use crate::record::{Lookup, Record};

/// A kind of record that stands for something outside: a company, a vehicle.
#[derive(Clone, Copy, Debug)]
pub struct EntityKind {
    /// The kind of its records.
    pub kind: &'static str,
    /// The lookups under which an entity stands that people call so: by name, by an identifier. What any of them finds
    /// may be meant.
    pub lookups: fn(called: &str) -> Vec<Lookup>,
}

/// Under what an entity of a kind may stand that people call by some words.
#[derive(Clone, PartialEq, Debug)]
pub struct CalledEntity {
    /// The kind of its record.
    pub kind: &'static str,
    /// Its key.
    pub key: String,
    /// Its lookups: any of them.
    pub lookups: Vec<Lookup>,
}

impl EntityKind {
    /// Under what an entity of this kind stands that people call so.
    #[must_use]
    pub fn called(&self, called: &str) -> CalledEntity {
        CalledEntity { kind: self.kind, key: called.to_owned(), lookups: (self.lookups)(called) }
    }
}

/// The entities that somebody may mean.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundEntities {
    /// Their records, the oldest first.
    pub records: Vec<Record>,
    /// Whether there are more, which were not read.
    pub more: bool,
}
