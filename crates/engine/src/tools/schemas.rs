//! Compiled schemas of tenants' tools, kept as long as there is room for them.

use std::sync::Arc;

use jsonschema::Validator;
use kybern_core::error::Detail;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use serde_json::Value;

use crate::schema;

/// Bytes of schemas, as they are written, whose compiled forms are kept. A compiled form takes about ten times as much.
const KEPT_BYTES: u64 = 8 * 1024 * 1024;
/// Schemas that the cache expects to hold.
const EXPECTED: usize = 4_096;

struct Compiled {
    validator: Result<Validator, String>,
    bytes: u64,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Arc<str>, Arc<Compiled>> for ByBytes {
    fn weight(&self, _hash: &Arc<str>, compiled: &Arc<Compiled>) -> u64 {
        compiled.bytes
    }
}

/// Compiled schemas by the hash of the definition that they belong to: what one tenant's tools are worth, another's are
/// not kept for.
pub(super) struct Schemas(Cache<Arc<str>, Arc<Compiled>, ByBytes>);

impl Default for Schemas {
    fn default() -> Self {
        Self(Cache::with_weighter(EXPECTED, KEPT_BYTES, ByBytes))
    }
}

impl Schemas {
    /// The faults of a value under the schema of the definition with that hash.
    pub(super) fn check(&self, hash: &Arc<str>, of: &Value, value: &Value) -> Vec<Detail> {
        let compiled = self.0.get(hash).unwrap_or_else(|| {
            let bytes = u64::try_from(of.to_string().len()).unwrap_or(u64::MAX);
            let compiled = Arc::new(Compiled { validator: schema::compile(of), bytes });
            self.0.insert(Arc::clone(hash), Arc::clone(&compiled));
            compiled
        });
        match &compiled.validator {
            Ok(validator) => schema::bounded_faults(validator, of, value),
            Err(problem) => vec![Detail::new("", problem.clone())],
        }
    }
}
