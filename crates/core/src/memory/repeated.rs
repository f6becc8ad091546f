//! What is said again in the same words.

use super::{Memory, MemoryStatus};
use crate::time::Timestamp;

/// What stands for a new memory already, among all that is remembered of its subject: what says the same, whatever the
/// case, and has not expired; what is active before what waits. What was rejected stands for it only where the new one
/// waits for a person as well: a suggestion is not made twice, but whoever may say it may say it again. An event stands
/// for no other: it may have happened again.
#[must_use]
pub fn said_before<'a>(
    known: impl IntoIterator<Item = &'a Memory>,
    new: &Memory,
    now: Timestamp,
) -> Option<&'a Memory> {
    if new.category.recurs() {
        return None;
    }
    let words = new.content.to_lowercase();
    let stands = |one: &&Memory| match one.status {
        MemoryStatus::Active | MemoryStatus::Pending => !one.has_expired(now),
        MemoryStatus::Rejected => new.status == MemoryStatus::Pending,
    };
    let same = |one: &&Memory| !one.category.recurs() && one.content.to_lowercase() == words;
    let order = |one: &&Memory| match one.status {
        MemoryStatus::Active => 0,
        MemoryStatus::Pending => 1,
        MemoryStatus::Rejected => 2,
    };
    known.into_iter().filter(stands).filter(same).min_by_key(order)
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::id::{MemoryId, UserId};
    use crate::memory::{MemoryCategory, NewMemory, Subject, Trust};

    const AT: Timestamp = Timestamp::from_millis(1_000);
    const LATER: Timestamp = Timestamp::from_millis(2_000);

    fn memory(n: u128, content: &str, status: MemoryStatus) -> Memory {
        let new = NewMemory::fact(Subject::User(UserId::from_uuid(Uuid::from_u128(1))), content);
        let memory = Memory::of(new, MemoryId::from_uuid(Uuid::from_u128(n)), Trust::User, AT).unwrap();
        Memory { status, ..memory }
    }

    fn found(known: &[Memory], new: &Memory) -> Option<u128> {
        said_before(known, new, LATER).map(|memory| memory.id.as_uuid().as_u128())
    }

    #[test]
    fn what_was_rejected_silences_suggestions_only() {
        use MemoryStatus::{Active, Pending, Rejected};
        let known = [memory(1, "Likes trains.", Rejected)];
        assert_eq!(found(&known, &memory(9, "likes TRAINS.", Pending)), Some(1));
        assert_eq!(found(&known, &memory(9, "Likes trains.", Active)), None);
        let known = [memory(1, "Likes trains.", Rejected), memory(2, "Likes trains.", Pending)];
        assert_eq!(found(&known, &memory(9, "Likes trains.", Active)), Some(2));
        let known = [memory(2, "Likes trains.", Pending), memory(3, "Likes trains.", Active)];
        assert_eq!(found(&known, &memory(9, "Likes trains.", Pending)), Some(3), "what is active goes first");
        assert_eq!(found(&known, &memory(9, "Likes ships.", Active)), None);
    }

    #[test]
    fn what_has_expired_can_be_said_again() {
        let over = Memory { expires_at: Some(LATER), ..memory(1, "Is closed.", MemoryStatus::Active) };
        assert_eq!(found(&[over], &memory(9, "Is closed.", MemoryStatus::Active)), None);
    }

    #[test]
    fn an_event_may_happen_again() {
        let event = |n| Memory { category: MemoryCategory::Event, ..memory(n, "Paid late.", MemoryStatus::Active) };
        assert_eq!(found(&[event(1)], &event(9)), None);
        let fact = memory(9, "Paid late.", MemoryStatus::Active);
        assert_eq!((found(&[event(1)], &fact), found(std::slice::from_ref(&fact), &event(1))), (None, None));
    }
}
