//! What a domain's records say about an entity.

use crate::dossier::{DomainState, EntityRecords, RecordsOf};
use crate::record::Record;

/// What one domain has to say in a dossier. It reads nothing itself: it names the records that it wants to see, which
/// are read with everything else at one moment, and says what follows from them.
pub trait StateProvider: Send + Sync {
    /// The domain, under which its facts stand.
    fn domain(&self) -> &'static str;

    /// The records that it wants to see, owners before what they own.
    fn reads(&self) -> Vec<RecordsOf>;

    /// What they say about the entity, by the names of the facts.
    fn state(&self, entity: &Record, known: &EntityRecords) -> DomainState;
}
