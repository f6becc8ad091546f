//! A value where it was found, before it is known to which item it belongs.

use kybern_core::model::FieldPattern;
use serde_json::Value;

use super::values::{DOUBTED, ReadValue};

/// How sure a way of finding is, before the value itself is checked.
pub(super) mod sure {
    /// After a label and a colon.
    pub(in super::super) const COLON: f64 = 0.97;
    /// In the cell to the right of a label.
    pub(in super::super) const BESIDE: f64 = 0.96;
    /// In a table's column.
    pub(in super::super) const COLUMN: f64 = 0.97;
    /// Beneath a label.
    pub(in super::super) const BENEATH: f64 = 0.92;
    /// After a label without a colon, where only such a value can stand.
    pub(in super::super) const GLUED: f64 = 0.9;
    /// A term that stands by itself, as in a heading.
    pub(in super::super) const HEADING: f64 = 0.75;
    /// A name that nobody labelled, known by its words.
    pub(in super::super) const SIGNED: f64 = 0.75;
    /// An amount beside the term that it belongs to.
    pub(in super::super) const AMOUNT: f64 = 0.85;
    /// Passed on from what stands above all items.
    pub(in super::super) const SHARED: f64 = 0.9;
    /// A value that nobody labelled, but that cannot be much else.
    pub(in super::super) const BARE: f64 = 0.7;
    /// A value that nobody labelled, and that may well be something else.
    pub(in super::super) const GUESS: f64 = 0.5;
}

/// A value of a field, somewhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Occurrence {
    /// Index of the field.
    pub(super) field: usize,
    /// Index of the page.
    pub(super) page: usize,
    /// Index of the line on which its label stands.
    pub(super) line: usize,
    /// Byte by which it is ordered on its page: its label's.
    pub(super) at: usize,
    /// Normalised.
    pub(super) value: Value,
    /// First byte in the page's text.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// From 0 to 1.
    pub(super) confidence: f64,
    /// What is wrong with it.
    pub(super) problem: Option<String>,
    /// The table and its row.
    pub(super) row: Option<(usize, usize)>,
    /// Whether it is one of several values that its field may have.
    pub(super) many: bool,
}

/// Where something was looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchPlace {
    /// Index of the field.
    pub(super) field: usize,
    /// Index of the page.
    pub(super) page: usize,
    /// Index of the line.
    pub(super) line: usize,
    /// Byte by which it is ordered.
    pub(super) at: usize,
}

impl Occurrence {
    /// A value that was read from the text beginning at byte `base`.
    pub(super) fn new(place: SearchPlace, read: ReadValue, base: usize, sure: f64) -> Self {
        Self {
            field: place.field,
            page: place.page,
            line: place.line,
            at: place.at,
            value: read.value,
            start: base + read.start,
            end: base + read.end,
            confidence: sure * read.fit,
            problem: read.problem,
            row: None,
            many: false,
        }
    }

    /// Doubts an amount that its field cannot have.
    pub(super) fn weigh(&mut self, pattern: &FieldPattern) {
        let out = || pattern.range.and_then(|range| range.problem(pattern.value, &self.value));
        if self.problem.is_none()
            && let Some(problem) = out()
        {
            self.problem = Some(problem);
            self.confidence *= DOUBTED;
        }
    }

    /// A term that was found.
    pub(super) fn term(place: SearchPlace, value: &str, span: (usize, usize), sure: f64) -> Self {
        let read = ReadValue { value: value.into(), start: span.0, end: span.1, fit: 1.0, problem: None };
        Self { many: true, ..Self::new(place, read, 0, sure) }
    }
}
