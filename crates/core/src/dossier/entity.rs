//! Which kinds of records stand for something outside, and how one is found by what people call it.

use crate::record::Lookup;

/// A kind of record that stands for something outside: a company, a vehicle.
#[derive(Clone, Copy, Debug)]
pub struct EntityKind {
    /// The kind of its records.
    pub kind: &'static str,
    /// The lookups under which an entity stands that people call so: by name, by an identifier. What any of them finds
    /// may be meant.
    pub lookups: fn(called: &str) -> Vec<Lookup>,
}
