//! When a lesson about the spelling of a value counts, as the domain whose field it is judges it.

use async_trait::async_trait;
use serde_json::Value;

use super::record_store::RecordStore;
use crate::error::Result;
use crate::tenant::TenantScope;

/// A value that was read, and what the tenant has learned that it means.
#[derive(Clone, Copy, Debug)]
pub struct SpelledValue<'a> {
    /// The value as it is written.
    pub written: &'a str,
    /// What a lesson says that it means.
    pub value: &'a str,
    /// The fields of the same item of its list, and the single ones of its document, in that order, by name.
    pub beside: &'a [(&'a str, &'a Value)],
}

/// The rule of one field. A lesson is about words; the domain knows when the same words are somebody else's.
#[async_trait]
pub trait SpellingRule: Send + Sync {
    /// Whether the lesson counts for this value.
    async fn counts(&self, records: &dyn RecordStore, scope: TenantScope, spelled: SpelledValue<'_>) -> Result<bool>;
}
