//! Which record is meant: by identifier, then by name and state, then by a name that is nearly the same and something
//! beside it that says so too. A name alone that is nearly the same settles nothing: `Baker Trucking` and `Barker
//! Trucking` are two companies.
//!
//! Two records whose identifiers contradict each other are never taken for one, however alike their names are. A number
//! and a name that point at different companies settle nothing: either may be a slip, so a person is asked.

use kybern_core::ports::RecordStore;
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;
use kybern_core::tool::ToolFailure;

use super::entity::{self, DescribedCompany, IDENTIFIERS, INSURER, UNKNOWN_TYPE};
use super::similarity::{alike, variants};
use crate::{company, contact};

/// What was found.
#[derive(Debug)]
pub(super) enum Match {
    /// One record, and why it is that one.
    One(Box<Record>, &'static str),
    /// Nothing.
    None,
    /// Several that may be meant; a person chooses.
    Several(Vec<Record>, &'static str),
    /// What is said contradicts these records.
    Conflict(Vec<Record>, Clash),
}

/// What contradicts what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clash {
    /// The identifiers belong to different records, or to one that has another identifier of the same type.
    Identifiers,
    /// The number is that of a company with another name.
    Name,
    /// The name is that of a company with another number.
    Number,
}

impl Clash {
    /// What a person is told.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Identifiers => {
                "the identifiers in the message contradict what is recorded: they belong to different companies, or to \
                 one that has another number"
            }
            Self::Name => {
                "the number in the message is recorded for a company with another name: one of the two may be wrong"
            }
            Self::Number => {
                "a company of this name is recorded with another number: the number may be wrong, or this is another \
                 company"
            }
        }
    }
}

/// Finds the record that is meant.
pub(super) async fn find(
    store: &dyn RecordStore,
    scope: TenantScope,
    described: &DescribedCompany,
) -> Result<Match, ToolFailure> {
    let by_identifier = holders(store, scope, described).await?;
    let name = described.normal_name();
    match by_identifier.as_slice() {
        [] => {}
        [(record, _)] if !contradicts(record, described) && is_named_otherwise(record, &name) => {
            let mut records = vec![record.clone()];
            let namesakes = store.records_by_lookup(scope, entity::KIND, "name", &name).await?;
            records.extend(namesakes.into_iter().filter(|other| other.id != record.id && is_of_type(other, described)));
            return Ok(Match::Conflict(records, Clash::Name));
        }
        [(record, reason)] if !contradicts(record, described) => {
            return Ok(Match::One(Box::new(record.clone()), reason));
        }
        _ => {
            let records = by_identifier.into_iter().map(|(record, _)| record).collect();
            return Ok(Match::Conflict(records, Clash::Identifiers));
        }
    }
    if name.is_empty() {
        return Ok(Match::None);
    }
    let same = store.records_by_lookup(scope, entity::KIND, "name", &name).await?;
    let (others, same): (Vec<Record>, Vec<Record>) = same
        .into_iter()
        .filter(|record| is_of_type(record, described) && is_of_state(record, described))
        .partition(|record| contradicts(record, described));
    match nearest_state(same, described) {
        Match::None if !others.is_empty() => Ok(Match::Conflict(others, Clash::Number)),
        Match::None => nearly(store, scope, described, &name).await,
        found => Ok(found),
    }
}

/// Whether a record's name cannot be another spelling of this one. Insurers of a group share their codes, and are known
/// by many names.
fn is_named_otherwise(record: &Record, name: &str) -> bool {
    let known = entity::field_of(record, "name").map(|known| company::normal_name(&known)).unwrap_or_default();
    let insurer = entity::field_of(record, "entity_type").as_deref() == Some(INSURER);
    !insurer && !name.is_empty() && !known.is_empty() && !variants(&known, name)
}

/// The records that hold one of the identifiers, each once, with the reason in the order of the identifiers.
async fn holders(
    store: &dyn RecordStore,
    scope: TenantScope,
    described: &DescribedCompany,
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
pub(super) fn contradicts(record: &Record, described: &DescribedCompany) -> bool {
    IDENTIFIERS.into_iter().any(|kind| match (company::recorded_number(record, kind), described.identifier(kind)) {
        (Some(has), Some(said)) => has != said,
        (Some(_) | None, None) | (None, Some(_)) => false,
    })
}

/// Whether the record may be the company, as far as identifiers, type and state go.
fn may_be(record: &Record, described: &DescribedCompany) -> bool {
    is_of_type(record, described) && is_of_state(record, described) && !contradicts(record, described)
}

fn is_of_type(record: &Record, described: &DescribedCompany) -> bool {
    let insurer = |kind: Option<&str>| kind == Some(INSURER);
    let known = described.entity_type.as_deref().filter(|kind| *kind != UNKNOWN_TYPE);
    insurer(entity::field_of(record, "entity_type").as_deref()) == insurer(known) || known.is_none()
}

fn is_of_state(record: &Record, described: &DescribedCompany) -> bool {
    match (entity::field_of(record, "state"), described.known_state()) {
        (Some(has), Some(said)) => has == said,
        (Some(_) | None, None) | (None, Some(_)) => true,
    }
}

/// Of several records with one name, the only one, or the only one in the same state.
fn nearest_state(mut records: Vec<Record>, described: &DescribedCompany) -> Match {
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
    described: &DescribedCompany,
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
    match candidates.as_slice() {
        [] => return Ok(Match::None),
        [only] if is_tied(only, described) => {}
        _ => return Ok(Match::Several(candidates, "nearly the same name")),
    }
    Ok(candidates.pop().map_or(Match::None, |record| Match::One(Box::new(record), "fuzzy_match")))
}

/// Whether more than a name says that the record is the company: its address, its telephone or its e-mail. A domain counts
/// where it is the company's own; that of an agent or of a mail provider is many companies'.
fn is_tied(record: &Record, described: &DescribedCompany) -> bool {
    let both = |field: &str, said: Option<&String>| Some((entity::field_of(record, field)?, said?.clone()));
    let plain =
        |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect() };
    let known_name = entity::field_of(record, "name").map(|name| company::normal_name(&name)).unwrap_or_default();
    let same_email = |(has, said): (String, String)| {
        let domain = contact::registered_domain(&has);
        has.eq_ignore_ascii_case(&said)
            || (domain.is_some()
                && domain == contact::registered_domain(&said)
                && contact::is_domain_of(&has, &known_name))
    };
    both("email", described.email.as_ref()).is_some_and(same_email)
        || both("phone", described.phone.as_ref()).is_some_and(|(has, said)| has == said)
        || both("address", described.address.as_ref()).is_some_and(|(has, said)| plain(&has) == plain(&said))
}
