//! What this pack's records say about a requester: their open tickets, and when they last wrote.

use std::collections::BTreeMap;

use kybern_core::dossier::{DomainState, EntityRecords, RecordOwner, RecordsOf, StateFact, StateItem};
use kybern_core::ports::StateProvider;
use kybern_core::record::Record;

use super::kinds::TICKET;
use super::ticket::{self, BY_REQUESTER};
use crate::args::{text, texts};

/// What the helpdesk has to say in a dossier.
pub(super) struct HelpdeskState;

impl StateProvider for HelpdeskState {
    fn domain(&self) -> &'static str {
        "helpdesk"
    }

    fn reads(&self) -> Vec<RecordsOf> {
        vec![RecordsOf { kind: TICKET, lookup: BY_REQUESTER, owner: RecordOwner::Entity }]
    }

    fn state(&self, _entity: &Record, known: &EntityRecords) -> DomainState {
        let open = known.count(TICKET, |record| (!ticket::is_closed(record)).then(|| item(record)));
        let closed = known.count(TICKET, |record| ticket::is_closed(record).then(|| item(record)));
        // Of an entity that has never asked for anything, nothing is said.
        let facts = [("open_tickets", open), ("closed_tickets", closed)];
        let said = |fact: &StateFact| fact.count > 0 || fact.more;
        if !facts.iter().any(|(_, fact)| said(fact)) {
            return BTreeMap::new();
        }
        facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
    }
}

fn item(record: &Record) -> StateItem {
    let parts = ["number", "status", "severity", "subject"].into_iter().filter_map(|name| text(&record.props, name));
    let task = texts(&record.props, "tasks").pop().and_then(|task| task.parse().ok());
    StateItem { task, ..StateItem::of(record, parts.collect::<Vec<_>>().join(", ")) }
}

#[cfg(test)]
mod tests {
    use kybern_core::dossier::FoundRecords;
    use kybern_core::id::RecordId;
    use kybern_core::time::Timestamp;
    use serde_json::{Value, json};
    use uuid::Uuid;

    use super::*;
    use crate::helpdesk::kinds::REQUESTER;

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

    #[test]
    fn open_and_closed_tickets_are_told_apart_and_nothing_is_said_of_a_stranger() {
        let requester = record(1, REQUESTER, json!({"address": "ops@bluefern.example"}));
        let ticket = |n, status: &str| {
            let task = Uuid::from_u128(9);
            let props =
                json!({"number": "HD-1", "status": status, "severity": "high", "subject": "x", "tasks": [task]});
            record(n, TICKET, props)
        };
        let records = vec![ticket(2, "open"), ticket(3, "escalated"), ticket(4, "closed")];
        let known = EntityRecords([(TICKET.to_owned(), FoundRecords { records, more: false })].into());
        let state = HelpdeskState.state(&requester, &known);
        assert_eq!((state["open_tickets"].count, state["closed_tickets"].count), (2, 1));
        let first = &state["open_tickets"].items[0];
        assert_eq!(first.says, "HD-1, open, high, x");
        assert_eq!(first.task.map(|task| task.as_uuid()), Some(Uuid::from_u128(9)));
        assert!(HelpdeskState.state(&requester, &EntityRecords::default()).is_empty());
    }
}
