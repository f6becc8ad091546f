//! What this pack's records say about a company: what insurers are still asked for, open deals, policies, and when
//! somebody last wrote about it.

use std::collections::BTreeMap;

use kybern_core::dossier::{DomainState, EntityRecords, MAX_ITEMS, RecordOwner, RecordsOf, StateFact, StateItem};
use kybern_core::ports::StateProvider;
use kybern_core::record::Record;
use kybern_core::time::Timestamp;
use serde_json::Value;

use super::correspondence::CORRESPONDENCE;
use super::kinds::{self, DEAL, LOSS_RUN_REQUEST, POLICY};
use super::loss_run_request as request;
use crate::args::{objects, text, texts};

/// What insurance has to say in a dossier.
pub(super) struct InsuranceState;

impl StateProvider for InsuranceState {
    fn domain(&self) -> &'static str {
        "insurance"
    }

    fn reads(&self) -> Vec<RecordsOf> {
        let of_entity = |kind| RecordsOf { kind, lookup: "entity", owner: RecordOwner::Entity };
        let requests = RecordsOf { kind: LOSS_RUN_REQUEST, lookup: "deal", owner: RecordOwner::Of(DEAL) };
        vec![of_entity(DEAL), of_entity(POLICY), requests]
    }

    fn state(&self, _entity: &Record, known: &EntityRecords) -> DomainState {
        let facts = [
            ("pending_requests", known.count(LOSS_RUN_REQUEST, pending_request)),
            ("open_deals", known.count(DEAL, open_deal)),
            ("policies", known.count(POLICY, policy)),
            ("last_contact", last_contact(known)),
        ];
        let said = |fact: &StateFact| fact.count > 0 || fact.more;
        // A company of which no insurance is known is not said to have none of it.
        if !facts.iter().any(|(_, fact)| said(fact)) {
            return BTreeMap::new();
        }
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}

fn item(record: &Record, says: String) -> StateItem {
    let source = record.props.get("source").and_then(Value::as_object);
    let task = source.and_then(|source| text(source, "task")).or_else(|| text(&record.props, "source_task"));
    StateItem { task: task.and_then(|task| task.parse().ok()), ..StateItem::of(record, says) }
}

/// The parts that there are, with commas.
fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn pending_request(record: &Record) -> Option<StateItem> {
    let numbers = texts(&record.props, "policy_numbers").join(" ");
    let says = joined([text(&record.props, "status"), text(&record.props, "insurer"), Some(numbers)]);
    request::is_open(record).then(|| item(record, says))
}

fn open_deal(record: &Record) -> Option<StateItem> {
    let stage = text(&record.props, "stage").unwrap_or_default();
    let says = joined([
        text(&record.props, "pipeline_type"),
        Some(stage.clone()),
        text(&record.props, "effective_date").map(|date| format!("effective {date}")),
    ]);
    (!kinds::is_closed(&stage)).then(|| item(record, says))
}

fn policy(record: &Record) -> Option<StateItem> {
    let says = joined([
        text(&record.props, "policy_number"),
        text(&record.props, "insurer"),
        Some(texts(&record.props, "lines").join(" ")),
        text(&record.props, "expiration").map(|date| format!("until {date}")),
    ]);
    Some(item(record, says))
}

/// The letters that are noted on requests, the newest first: letters are counted, not requests.
fn last_contact(known: &EntityRecords) -> StateFact {
    let mut letters: Vec<StateItem> = Vec::new();
    for record in known.of(LOSS_RUN_REQUEST) {
        for entry in objects(&record.props, CORRESPONDENCE) {
            let at = entry.get("at").and_then(|at| serde_json::from_value::<Timestamp>(at.clone()).ok());
            let (Some(at), Some(what)) = (at, text(&entry, "what")) else { continue };
            let task = text(&entry, "task").and_then(|task| task.parse().ok());
            let says = joined([Some(what), text(&record.props, "insurer"), text(&entry, "address")]);
            letters.push(StateItem { at, task, ..StateItem::of(record, says) });
        }
    }
    letters.sort_by_key(|letter| std::cmp::Reverse((letter.at, letter.record_id)));
    let (count, last_at) = (letters.len(), letters.first().map(|letter| letter.at));
    letters.truncate(MAX_ITEMS);
    StateFact { count, more: known.has_more(LOSS_RUN_REQUEST), last_at, items: letters }
}

#[cfg(test)]
mod tests {
    use kybern_core::dossier::FoundRecords;
    use kybern_core::id::RecordId;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn record(n: u128, kind: &str, props: Value) -> Record {
        let at = Timestamp::from_millis(1_000);
        Record {
            id: RecordId::from_uuid(Uuid::from_u128(n)),
            kind: kind.to_owned(),
            key: n.to_string(),
            props: props.as_object().cloned().unwrap(),
            version: 1,
            created_at: at,
            updated_at: at,
            unreadable: None,
        }
    }

    fn known(records: Vec<Record>) -> EntityRecords {
        let mut known = EntityRecords::default();
        for record in records {
            let found: &mut FoundRecords = known.0.entry(record.kind.clone()).or_default();
            found.records.push(record);
        }
        known
    }

    fn company() -> Record {
        record(1, kinds::ENTITY, json!({"name": "Acme Hauling"}))
    }

    fn request(n: u128, status: &str, correspondence: Value) -> Record {
        let props = json!({
            "status": status, "insurer": "North Mutual", "policy_numbers": ["PLM-1"], "correspondence": correspondence,
        });
        record(n, LOSS_RUN_REQUEST, props)
    }

    #[test]
    fn requests_count_until_they_are_closed_and_deals_until_they_are_over() {
        let records = vec![
            request(2, "draft", json!([])),
            request(3, "requested", json!([])),
            request(4, "received", json!([])),
            request(5, "closed", json!([])),
            record(6, DEAL, json!({"stage": "new", "pipeline_type": "renewal", "source_task": Uuid::from_u128(9)})),
            record(7, DEAL, json!({"stage": "won", "pipeline_type": "renewal"})),
            record(8, POLICY, json!({"policy_number": "PLM-1", "lines": ["auto"], "expiration": "2026-05-01"})),
        ];
        let state = InsuranceState.state(&company(), &known(records));
        let count = |name: &str| state[name].count;
        assert_eq!((count("pending_requests"), count("open_deals"), count("policies")), (3, 1, 1));
        let line = &state["pending_requests"].items[0];
        assert_eq!((line.kind.as_str(), line.says.as_str()), (LOSS_RUN_REQUEST, "draft, North Mutual, PLM-1"));
        assert_eq!(line.record_id.as_uuid(), Uuid::from_u128(2));
        let deal = &state["open_deals"].items[0];
        assert_eq!(deal.task.map(|task| task.as_uuid()), Some(Uuid::from_u128(9)));
        assert_eq!(state["policies"].items[0].says, "PLM-1, auto, until 2026-05-01");
        assert_eq!((count("last_contact"), state["last_contact"].last_at), (0, None));
    }

    #[test]
    fn the_last_contact_is_the_newest_letter_of_any_request() {
        let letter = |what: &str, at: &str| json!({"what": what, "at": at, "address": "claims@north.example"});
        let early = request(2, "closed", json!([letter("asked", "2026-01-02T00:00:00Z")]));
        let both = json!([letter("asked", "2026-01-03T00:00:00Z"), letter("answered", "2026-01-09T00:00:00Z")]);
        let state = InsuranceState.state(&company(), &known(vec![request(3, "received", both), early]));
        let contact = &state["last_contact"];
        assert_eq!((contact.count, contact.last_at), (3, Some(contact.items[0].at)));
        assert_eq!(contact.items[0].says, "answered, North Mutual, claims@north.example");
        assert_eq!(contact.items[0].record_id.as_uuid(), Uuid::from_u128(3));
        assert_eq!(contact.items[2].record_id.as_uuid(), Uuid::from_u128(2), "the oldest last");
    }

    #[test]
    fn of_many_letters_twenty_are_shown_and_all_are_counted() {
        let letter = |n: u32| json!({"what": "asked", "at": format!("2026-01-{:02}T00:00:00Z", n + 1)});
        let letters: Vec<Value> = (0..25).map(letter).collect();
        let state = InsuranceState.state(&company(), &known(vec![request(2, "requested", json!(letters))]));
        let contact = &state["last_contact"];
        assert_eq!((contact.count, contact.items.len()), (25, MAX_ITEMS));
    }

    #[test]
    fn of_a_company_without_insurance_nothing_is_said() {
        assert!(InsuranceState.state(&company(), &EntityRecords::default()).is_empty());
        let unread = FoundRecords { records: Vec::new(), more: true };
        let state = InsuranceState.state(&company(), &EntityRecords([(DEAL.to_owned(), unread)].into()));
        assert!(state["open_deals"].more, "what was not looked at is not nothing");
    }
}
