//! Which record is meant: by identifier, then by name and state, then by a name that is nearly the same.
//!
//! Two records whose identifiers contradict each other are never taken for one, however alike their names are.

use kybern_core::ports::RecordStore;
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;
use kybern_core::tool::ToolFailure;

use super::entity::{self, Described, IDENTIFIERS, UNKNOWN_TYPE};
use super::similarity::alike;

/// What was found.
#[derive(Debug)]
pub(super) enum Match {
    /// One record, and why it is that one.
    One(Box<Record>, &'static str),
    /// Nothing.
    None,
    /// Several that may be meant; a person chooses.
    Several(Vec<Record>, &'static str),
    /// The identifiers belong to different records, or to one that has another identifier of the same type.
    Conflict(Vec<Record>),
}

/// Finds the record that is meant.
pub(super) async fn find(
    store: &dyn RecordStore,
    scope: TenantScope,
    described: &Described,
) -> Result<Match, ToolFailure> {
    let by_identifier = holders(store, scope, described).await?;
    match by_identifier.as_slice() {
        [] => {}
        [(record, reason)] if !contradicts(record, described) => {
            return Ok(Match::One(Box::new(record.clone()), reason));
        }
        _ => return Ok(Match::Conflict(by_identifier.into_iter().map(|(record, _)| record).collect())),
    }
    let name = described.normal_name();
    if name.is_empty() {
        return Ok(Match::None);
    }
    let same = store.records_by_lookup(scope, entity::KIND, "name", &name).await?;
    let same: Vec<Record> = same.into_iter().filter(|record| may_be(record, described)).collect();
    match nearest_state(same, described) {
        Match::None => nearly(store, scope, described, &name).await,
        found => Ok(found),
    }
}

/// The records that hold one of the identifiers, each once, with the reason in the order of the identifiers.
async fn holders(
    store: &dyn RecordStore,
    scope: TenantScope,
    described: &Described,
) -> Result<Vec<(Record, &'static str)>, ToolFailure> {
    let mut found: Vec<(Record, &'static str)> = Vec::new();
    for (kind, value) in &described.identifiers {
        let reason = match *kind {
            "DOT" => "dot_match",
            "MC" => "mc_match",
            _ => "naic_match",
        };
        for record in store.records_by_lookup(scope, entity::KIND, kind, value).await? {
            if !found.iter().any(|(known, _)| known.id == record.id) {
                found.push((record, reason));
            }
        }
    }
    Ok(found)
}

/// Whether the record has another identifier of a type that is described.
pub(super) fn contradicts(record: &Record, described: &Described) -> bool {
    IDENTIFIERS.into_iter().any(|kind| match (entity::identifier_of(record, kind), described.identifier(kind)) {
        (Some(has), Some(said)) => has != said,
        (Some(_) | None, None) | (None, Some(_)) => false,
    })
}

/// Whether the record may be the company, as far as identifiers, type and state go.
fn may_be(record: &Record, described: &Described) -> bool {
    let type_of_record = entity::field_of(record, "entity_type");
    let insurer = |kind: Option<&str>| kind == Some("insurance_carrier");
    let known = described.entity_type.as_deref().filter(|kind| *kind != UNKNOWN_TYPE);
    let types_agree = insurer(type_of_record.as_deref()) == insurer(known) || known.is_none();
    let states_agree = match (entity::field_of(record, "state"), described.known_state()) {
        (Some(has), Some(said)) => has == said,
        (Some(_) | None, None) | (None, Some(_)) => true,
    };
    types_agree && states_agree && !contradicts(record, described)
}

/// Of several records with one name, the only one, or the only one in the same state.
fn nearest_state(mut records: Vec<Record>, described: &Described) -> Match {
    if records.len() > 1
        && let Some(state) = described.known_state()
    {
        let here = |record: &Record| entity::field_of(record, "state").as_deref() == Some(state.as_str());
        if records.iter().filter(|record| here(record)).count() == 1 {
            records.retain(here);
        }
    }
    match records.len() {
        0 => Match::None,
        1 => records.pop().map_or(Match::None, |record| Match::One(Box::new(record), "name_match")),
        _ => Match::Several(records, "the same name"),
    }
}

async fn nearly(
    store: &dyn RecordStore,
    scope: TenantScope,
    described: &Described,
    name: &str,
) -> Result<Match, ToolFailure> {
    let mut candidates: Vec<Record> = Vec::new();
    for lookup in entity::name_lookups(name).into_iter().filter(|lookup| lookup.name != "name") {
        // Many share a word, few are alike: their names are compared before any record is read.
        let names = store.lookup_values(scope, entity::KIND, (&lookup.name, &lookup.value), "name").await?;
        for (id, _) in names.into_iter().filter(|(_, other)| alike(name, other)) {
            if candidates.iter().any(|candidate| candidate.id == id) {
                continue;
            }
            candidates.extend(store.record_by_id(scope, id).await?.filter(|record| may_be(record, described)));
        }
    }
    Ok(match candidates.len() {
        0 => Match::None,
        1 => candidates.pop().map_or(Match::None, |record| Match::One(Box::new(record), "fuzzy_match")),
        _ => Match::Several(candidates, "nearly the same name"),
    })
}
