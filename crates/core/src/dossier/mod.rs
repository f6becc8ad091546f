//! The dossier of an entity: its record, what the packs' records say about it ([`StateFact`]), and what is remembered of
//! it. Each line names the record or the memory from which it comes.
//!
//! The core does not know what there is to say about an entity. A pack registers the kinds of records that are entities
//! ([`EntityKind`]), and a [`StateProvider`](crate::ports::StateProvider), which names the records that it wants to see
//! and counts them. All of it is read at one moment, so that a dossier is never half before and half after a change.

mod entity;
mod state;

use std::collections::BTreeMap;

use serde::Serialize;

pub use entity::{CalledEntity, EntityKind, FoundEntities};
pub use state::{EntityRecords, FoundRecords, MAX_ITEMS, RecordOwner, RecordsOf, StateFact, StateItem};

use crate::memory::{Memory, MemoryCategory};
use crate::record::Record;
use crate::time::Timestamp;

/// The most insights, and the most preferences, of a dossier.
pub const MAX_INSIGHTS: usize = 20;
/// The most events of a dossier.
pub const MAX_EVENTS: usize = 10;
/// The most entities that one name finds.
pub const MAX_FOUND: usize = 50;

/// What is said about an entity by one domain, by the name of the fact.
pub type DomainState = BTreeMap<String, StateFact>;

/// What a tenant knows of an entity.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Dossier {
    /// Its record.
    pub entity: Record,
    /// The moment at which all of it was read.
    pub as_of: Timestamp,
    /// What the records of each domain say about it, by the domain's name and the fact's.
    pub state: BTreeMap<String, DomainState>,
    /// Active insights and facts: the nearest to the question and weightiest first.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub insights: Vec<Memory>,
    /// Active preferences, in the same order.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub preferences: Vec<Memory>,
    /// What happened last, the newest first.
    #[cfg_attr(feature = "schema", schema(max_items = 10))]
    pub recent_events: Vec<Memory>,
    /// How many active memories have no place here; the list of memories has them all.
    pub memories_left_out: usize,
    /// `true`: whoever asks may not see what is remembered of entities, so none of it is here.
    pub memories_withheld: bool,
}

impl Dossier {
    /// The dossier of what was read. Memories come in the order in which they matter; those that do not hold at `as_of`
    /// are left out. `None` stands for memories that may not be seen.
    #[must_use]
    pub fn of(
        entity: Record,
        state: BTreeMap<String, DomainState>,
        memories: Option<Vec<Memory>>,
        as_of: Timestamp,
    ) -> Self {
        let memories_withheld = memories.is_none();
        let (mut insights, mut preferences, mut recent_events) = (Vec::new(), Vec::new(), Vec::new());
        for memory in memories.unwrap_or_default().into_iter().filter(|memory| memory.holds(as_of)) {
            match memory.category {
                MemoryCategory::Insight | MemoryCategory::Fact => insights.push(memory),
                MemoryCategory::Preference => preferences.push(memory),
                MemoryCategory::Event => recent_events.push(memory),
            }
        }
        recent_events.sort_by(|a: &Memory, b| b.created_at.cmp(&a.created_at).then_with(|| b.id.cmp(&a.id)));
        let mut memories_left_out = 0;
        for (list, most) in
            [(&mut insights, MAX_INSIGHTS), (&mut preferences, MAX_INSIGHTS), (&mut recent_events, MAX_EVENTS)]
        {
            memories_left_out += list.len().saturating_sub(most);
            list.truncate(most);
        }
        Self { entity, as_of, state, insights, preferences, recent_events, memories_left_out, memories_withheld }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Map;
    use uuid::Uuid;

    use super::*;
    use crate::id::{MemoryId, RecordId};
    use crate::memory::{NewMemory, Subject, Trust};
    use crate::time::Millis;

    const AT: Timestamp = Timestamp::from_millis(1_000);

    fn company() -> Record {
        Record {
            id: RecordId::from_uuid(Uuid::from_u128(1)),
            kind: "test.company".to_owned(),
            key: "c".to_owned(),
            props: Map::new(),
            version: 1,
            created_at: AT,
            updated_at: AT,
            unreadable: None,
        }
    }

    fn memory(n: u32, category: MemoryCategory, trust: Trust) -> Memory {
        let new = NewMemory { category, ..NewMemory::fact(Subject::Entity(company().id), &format!("memory {n}")) };
        let said = AT.plus(Millis(u64::from(n)));
        Memory::of(new, MemoryId::from_uuid(Uuid::from_u128(n.into())), trust, said).unwrap()
    }

    fn says(list: &[Memory]) -> Vec<&str> {
        list.iter().map(|memory| memory.content.as_str()).collect()
    }

    #[test]
    fn memories_stand_in_their_place_in_the_order_in_which_they_matter() {
        use MemoryCategory::{Event, Fact, Insight, Preference};
        let memories = vec![
            memory(4, Insight, Trust::Tool),
            memory(1, Event, Trust::Tool),
            memory(3, Event, Trust::User),
            memory(2, Fact, Trust::User),
            memory(5, Preference, Trust::User),
            memory(6, Insight, Trust::Model),
        ];
        let dossier = Dossier::of(company(), BTreeMap::new(), Some(memories), AT);
        assert_eq!(says(&dossier.insights), ["memory 4", "memory 2"], "what waits for a person is not there");
        assert_eq!(says(&dossier.preferences), ["memory 5"]);
        assert_eq!(says(&dossier.recent_events), ["memory 3", "memory 1"], "the newest first");
        assert_eq!((dossier.memories_left_out, dossier.memories_withheld), (0, false));
    }

    #[test]
    fn what_has_expired_is_not_there_and_what_has_no_place_is_counted() {
        let ends = Some(AT.plus(Millis(5)));
        let past = Memory { expires_at: ends, ..memory(1, MemoryCategory::Insight, Trust::User) };
        let many = (2..40).map(|n| memory(n, MemoryCategory::Event, Trust::User));
        let dossier = Dossier::of(company(), BTreeMap::new(), Some(many.chain([past]).collect()), AT.plus(Millis(5)));
        assert!(dossier.insights.is_empty());
        assert_eq!((dossier.recent_events.len(), dossier.memories_left_out), (MAX_EVENTS, 28));
        assert_eq!(dossier.recent_events[0].content, "memory 39");
    }

    #[test]
    fn what_may_not_be_seen_is_said_to_be_withheld() {
        let dossier = Dossier::of(company(), BTreeMap::new(), None, AT);
        assert!(dossier.memories_withheld && dossier.insights.is_empty());
    }
}
