//! The schemas that tenants have read by lately: made once for each of them, and never seen by another.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::cache::{ByteCache, SharedCache};
use crate::error::Detail;
use crate::id::TenantId;
use crate::model::ExtractionSchema;

/// Bytes that are kept of one tenant's schemas, and of all.
const SHARE: usize = 4 * 1024 * 1024;
const MOST: usize = 32 * 1024 * 1024;
/// Bytes of the digests of schemas that were found good, and about how many one takes.
const GOOD: usize = 256 * 1024;
const DIGEST: usize = 64;

type Digest = [u8; 32];

/// Schemas by what they say.
pub struct OwnSchemas {
    /// Names that no schema of a tenant may have.
    taken: Vec<String>,
    kept: Mutex<SharedCache<TenantId, Digest, Arc<ExtractionSchema>>>,
    /// What was found good lately, so that it is not read for each call only to be checked.
    good: Mutex<ByteCache<Digest, ()>>,
}

impl fmt::Debug for OwnSchemas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnSchemas").field("taken", &self.taken).finish_non_exhaustive()
    }
}

impl OwnSchemas {
    /// None yet. `taken` are names that no schema of a tenant may have.
    #[must_use]
    pub fn new(taken: Vec<String>) -> Self {
        let (kept, good) = (SharedCache::new(SHARE, MOST), ByteCache::new(GOOD));
        Self { taken, kept: Mutex::new(kept), good: Mutex::new(good) }
    }

    /// What is wrong with a schema; empty when it can be read by.
    #[must_use]
    pub fn faults(&self, value: &Value) -> Vec<Detail> {
        let key = digest(value);
        let good = || self.good.lock().unwrap_or_else(PoisonError::into_inner);
        if good().get(&key).is_some() {
            return Vec::new();
        }
        match super::read(value, None, &self.names()) {
            Err(faults) => faults,
            Ok(_) => {
                good().keep(key, (), DIGEST);
                Vec::new()
            }
        }
    }

    /// A tenant's schema: the same one each time, so that what is made of it can be kept.
    ///
    /// # Errors
    /// As [`read`](super::read).
    pub fn get(&self, tenant: TenantId, value: &Value) -> Result<Arc<ExtractionSchema>, Vec<Detail>> {
        let key = digest(value);
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(schema) = kept().get(tenant, &key) {
            return Ok(schema);
        }
        let schema = Arc::new(super::read(value, Some(tenant), &self.names())?);
        kept().keep(tenant, key, Arc::clone(&schema), schema.bytes());
        Ok(schema)
    }

    fn names(&self) -> Vec<&str> {
        self.taken.iter().map(String::as_str).collect()
    }
}

fn digest(value: &Value) -> Digest {
    *blake3::hash(value.to_string().as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_tenant_gets_its_own_and_the_same_each_time() {
        let schemas = OwnSchemas::new(vec!["contact".to_owned()]);
        let tenant = |n: u128| TenantId::from_uuid(Uuid::from_u128(n));
        let named =
            |name: &str| json!({"name": name, "fields": [{"name": "a", "type": "text", "labels": {"en": ["label"]}}]});
        let first = schemas.get(tenant(1), &named("note")).unwrap();
        assert!(Arc::ptr_eq(&first, &schemas.get(tenant(1), &named("note")).unwrap()));
        let other = schemas.get(tenant(2), &named("note")).unwrap();
        assert!(!Arc::ptr_eq(&first, &other) && other.owner == Some(tenant(2)) && first.owner == Some(tenant(1)));
        for n in 0..20_000 {
            schemas.get(tenant(2), &named(&format!("n{n}"))).unwrap();
        }
        assert!(Arc::ptr_eq(&first, &schemas.get(tenant(1), &named("note")).unwrap()), "nobody's flood displaces it");
        assert!(schemas.kept.lock().unwrap().bytes() <= 2 * SHARE);
        assert_eq!(schemas.get(tenant(1), &named("contact")).unwrap_err()[0].path, "/name");
        for _ in 0..2 {
            assert_eq!(schemas.faults(&named("contact")).len(), 1);
            assert!(schemas.faults(&named("note")).is_empty());
        }
    }
}
