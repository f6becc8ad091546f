//! Identifiers that a tenant describes by a pattern.

use kybern_core::model::ValuePattern;

use super::{ReadValue, indent};

/// How well what matches fits its kind.
const FIT: f64 = 0.97;

/// What a text begins with, where it matches; marks before it may be a part of it, such as a bracket.
pub(super) fn identifier(text: &str, pattern: &ValuePattern) -> Option<ReadValue> {
    let blanks = text.len() - text.trim_start().len();
    [blanks, indent(text)].into_iter().find_map(|start| {
        let length = pattern.leads(text.get(start..)?)?;
        let value = text.get(start..start + length)?.trim();
        (!value.is_empty()).then(|| ReadValue::new(value, start, start + value.len(), FIT))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matches_is_read_with_its_place() {
        let pattern = ValuePattern::new(r"\([A-Z]\) ?[0-9]{3}|[A-Z][0-9]{3}").unwrap();
        let read = |text: &str| identifier(text, &pattern).map(|read| (read.value, read.start, read.end));
        assert_eq!(read("  (K) 204, of today"), Some(("(K) 204".into(), 2, 9)));
        assert_eq!(read(" \"K204\""), Some(("K204".into(), 2, 6)));
        assert_eq!(read("no K204"), None);
    }
}
