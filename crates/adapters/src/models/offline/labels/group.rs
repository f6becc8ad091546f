//! The fields of a group: where those of an item are, and what opens another.

use kybern_core::model::ValueKind;

use super::super::values;
use super::Labels;

/// What looks like a number and is none.
const OTHERS: [ValueKind; 4] = [ValueKind::Phone, ValueKind::Date, ValueKind::DateRange, ValueKind::Money];

impl Labels<'_> {
    /// Whether a field has the policies' numbers, and each opens an item of a list.
    pub(in super::super) fn is_opening_number(&self, field: usize) -> bool {
        let pattern = self.fields[field];
        pattern.opens_item && pattern.value == ValueKind::PolicyNumber
    }

    /// The first field of a kind in the group of a field.
    pub(in super::super) fn in_group_of(&self, field: usize, kind: ValueKind) -> Option<usize> {
        let group = &self.fields[field].group;
        self.fields.iter().position(|other| other.group == *group && other.value == kind)
    }

    /// The first field of the group of an opener that has names which words give away.
    pub(in super::super) fn name_of(&self, opener: usize) -> Option<usize> {
        (0..self.fields.len()).find(|field| self.is_name_of(opener, *field))
    }

    /// Whether a field has the names of the group of an opener, which words give away.
    pub(in super::super) fn is_name_of(&self, opener: usize, field: usize) -> bool {
        let pattern = self.fields[field];
        pattern.group == self.fields[opener].group && pattern.value == ValueKind::Name && !pattern.signs.is_empty()
    }

    /// Whether a field opens things of another group that have numbers too, such as losses.
    pub(in super::super) fn opens_others(&self, opener: usize, field: usize) -> bool {
        let other = self.fields[field];
        other.opens_item && other.value == ValueKind::Reference && other.group != self.fields[opener].group
    }

    /// Whether a text that may be a number is something else: it begins with a label, or it is a day, an amount …
    pub(in super::super) fn is_no_number(&self, text: &str) -> bool {
        self.begin(text) || OTHERS.iter().any(|kind| values::read(*kind, text).is_some())
    }
}
