//! What is made of schemas and intents before anything is looked for: once for each of them, not for each message.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use kybern_core::cache::{ByteCache, SharedCache};
use kybern_core::id::TenantId;
use kybern_core::model::{ExtractionSchema, IntentSpec};

use super::analyse::Markers;
use super::examples::Examples;
use super::keywords::Keywords;
use super::lexicon::Lexicon;

/// Bytes that are kept of schemas, and of sets of intents. Bundled ones are shared by all tenants; those of a tenant
/// that has taught something are its own. Schemas that tenants wrote are kept apart, each within its own share.
const KEPT_SCHEMAS: usize = 32 * 1024 * 1024;
const KEPT_INTENTS: usize = 64 * 1024 * 1024;
const KEPT_OWN: usize = 32 * 1024 * 1024;
const KEPT_OWN_SHARE: usize = 4 * 1024 * 1024;

static SCHEMAS: LazyLock<PreparedCache<ExtractionSchema, PreparedSchema>> =
    LazyLock::new(|| PreparedCache::new(KEPT_SCHEMAS));
static OWN: LazyLock<OwnSchemaCache> = LazyLock::new(|| Mutex::new(SharedCache::new(KEPT_OWN_SHARE, KEPT_OWN)));
static INTENTS: LazyLock<PreparedCache<[IntentSpec], PreparedIntents>> =
    LazyLock::new(|| PreparedCache::new(KEPT_INTENTS));

/// A schema, ready to be looked for.
#[derive(Debug)]
pub(super) struct PreparedSchema {
    pub(super) schema: Arc<ExtractionSchema>,
    pub(super) markers: Markers,
    pub(super) lexicon: Lexicon,
}

impl PreparedSchema {
    /// What is known of a schema.
    pub(super) fn of(schema: &Arc<ExtractionSchema>) -> Arc<Self> {
        match schema.owner {
            None => SCHEMAS.get(schema, Self::new, |known| known.markers.bytes() + known.lexicon.bytes()),
            Some(tenant) => Self::own(tenant, schema),
        }
    }

    fn own(tenant: TenantId, schema: &Arc<ExtractionSchema>) -> Arc<Self> {
        let address = address_of(schema);
        let all = || OWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = all().get(tenant, &address) {
            return known;
        }
        let known = Arc::new(Self::new(schema));
        let bytes = known.markers.bytes() + known.lexicon.bytes() + schema.bytes();
        all().keep(tenant, address, (Arc::clone(schema), Arc::clone(&known)), bytes);
        known
    }

    pub(super) fn new(schema: &Arc<ExtractionSchema>) -> Self {
        let schema = Arc::clone(schema);
        Self { markers: Markers::new(&schema), lexicon: Lexicon::new(&schema), schema }
    }
}

/// Intents, ready to be looked for.
#[derive(Debug)]
pub(super) struct PreparedIntents {
    pub(super) specs: Arc<[IntentSpec]>,
    pub(super) keywords: Keywords,
    pub(super) examples: Examples,
}

impl PreparedIntents {
    /// What is known of intents.
    pub(super) fn of(intents: &Arc<[IntentSpec]>) -> Arc<Self> {
        INTENTS.get(intents, Self::new, |known| known.keywords.bytes() + known.examples.bytes())
    }

    pub(super) fn new(intents: &Arc<[IntentSpec]>) -> Self {
        let specs = Arc::clone(intents);
        Self { keywords: Keywords::new(&specs), examples: Examples::new(&specs), specs }
    }
}

/// What was made of shared values, by their address. An entry holds its value, so no other one comes to its address.
struct PreparedCache<S: ?Sized, K>(Mutex<ByteCache<usize, CacheEntry<S, K>>>);

type CacheEntry<S, K> = (Arc<S>, Arc<K>);

/// What was made of the schemas that tenants wrote.
type OwnSchemaCache = Mutex<SharedCache<TenantId, usize, CacheEntry<ExtractionSchema, PreparedSchema>>>;

fn address_of<S: ?Sized>(value: &Arc<S>) -> usize {
    Arc::as_ptr(value).cast::<()>().addr()
}

impl<S: ?Sized, K> PreparedCache<S, K> {
    fn new(bytes: usize) -> Self {
        Self(Mutex::new(ByteCache::new(bytes)))
    }

    fn get(&self, of: &Arc<S>, make: impl FnOnce(&Arc<S>) -> K, bytes: impl FnOnce(&K) -> usize) -> Arc<K> {
        let address = address_of(of);
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = all().get(&address) {
            return known;
        }
        // Made without the lock: of two that come at once, the later one stays.
        let known = Arc::new(make(of));
        let bytes = bytes(&known);
        all().keep(address, (Arc::clone(of), Arc::clone(&known)), bytes);
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_a_value_is_made_once_and_not_taken_for_that_of_another() {
        let schema = Arc::new(ExtractionSchema::default());
        let first = PreparedSchema::of(&schema);
        assert!(Arc::ptr_eq(&first, &PreparedSchema::of(&schema)));
        assert!(!Arc::ptr_eq(&first, &PreparedSchema::of(&Arc::new(ExtractionSchema::default()))));
        let intents: Arc<[IntentSpec]> = Arc::from([]);
        assert!(Arc::ptr_eq(&PreparedIntents::of(&intents), &PreparedIntents::of(&Arc::clone(&intents))));
    }

    #[test]
    fn what_a_tenant_wrote_is_made_once_and_stays_the_tenants() {
        let of = |n: u128| Some(TenantId::from_uuid(uuid::Uuid::from_u128(n)));
        let schema = |owner| Arc::new(ExtractionSchema { owner, ..ExtractionSchema::default() });
        let calm = schema(of(1));
        let first = PreparedSchema::of(&calm);
        for _ in 0..5_000 {
            PreparedSchema::of(&schema(of(2)));
        }
        assert!(Arc::ptr_eq(&first, &PreparedSchema::of(&calm)));
        assert!(OWN.lock().unwrap().bytes() <= KEPT_OWN);
    }

    #[test]
    fn what_is_kept_has_a_bound_and_no_address_is_used_again_while_it_is_kept() {
        let kept: PreparedCache<u64, u64> = PreparedCache::new(100);
        for n in 0..200_u64 {
            assert_eq!(*kept.get(&Arc::new(n), |of| **of, |_| 10), n);
        }
        assert!(kept.0.lock().unwrap().bytes() <= 100);
    }
}
