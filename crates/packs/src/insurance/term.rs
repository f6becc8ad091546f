//! The term of a policy: when it begins, and when it ends.

use std::collections::{HashMap, HashSet};

use kybern_core::model::ExtractedField;

use super::policies::GROUP;
use crate::args::as_text;
use crate::reading::ReadDocument;

/// What its dates may be called.
const EFFECTIVE: &[&str] = &["effective", "effective_date"];
const EXPIRATION: &[&str] = &["expiration", "expiration_date"];
const PERIOD: &[&str] = &["period", "policy_period", "term"];

/// What is wrong with dates that contradict each other.
const REVERSED: &str = "the policy would end before it begins";

/// When a policy with these fields begins, and when it ends.
pub(super) fn of(fields: &[&ExtractedField]) -> (Option<String>, Option<String>) {
    let values =
        |names: &'static [&'static str]| fields.iter().filter(move |field| names.contains(&field.name.as_str()));
    let first = |names: &'static [&'static str]| values(names).find_map(|field| as_text(&field.value));
    let period = |end: &str| values(PERIOD).find_map(|field| field.value.get(end).and_then(as_text));
    (first(EFFECTIVE).or_else(|| period("start")), first(EXPIRATION).or_else(|| period("end")))
}

/// Marks the dates of policies that would end before they begin: one of the two is wrong, and nobody but a person knows
/// which.
pub(super) fn mark_reversed(document: &mut ReadDocument) {
    let is_policys = |field: &ExtractedField| field.group.as_deref().is_none_or(|group| group == GROUP);
    let whose = |field: &ExtractedField| (field.group.is_some(), field.item);
    let mut policies: HashMap<_, Vec<&ExtractedField>> = HashMap::new();
    for field in document.extraction.fields.iter().filter(|field| is_policys(field)) {
        policies.entry(whose(field)).or_default().push(field);
    }
    // Dates are ISO, so that their order is the order of their text.
    let is_reversed = |fields: &[&ExtractedField]| matches!(of(fields), (Some(begins), Some(ends)) if ends < begins);
    let reversed = policies.into_iter().filter(|(_, fields)| is_reversed(fields));
    let reversed: HashSet<_> = reversed.map(|(policy, _)| policy).collect();
    let is_date =
        |field: &ExtractedField| [EFFECTIVE, EXPIRATION, PERIOD].into_iter().flatten().any(|name| *name == field.name);
    for field in document.extraction.fields.iter_mut().filter(|field| is_policys(field) && is_date(field)) {
        if reversed.contains(&whose(field)) {
            field.problem.get_or_insert_with(|| REVERSED.to_owned());
        }
    }
}
