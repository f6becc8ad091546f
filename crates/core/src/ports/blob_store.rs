//! Original bytes, named by their content.

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::Result;
use crate::tenant::TenantScope;

/// Where bytes are kept.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Stores bytes durably and returns their BLAKE3 in hex. Storing the same bytes twice stores them once.
    async fn put_blob(&self, scope: TenantScope, bytes: Bytes) -> Result<String>;

    /// The bytes of that name; `None` when there are none, or they no longer match their name.
    async fn blob(&self, scope: TenantScope, hash: &str) -> Result<Option<Bytes>>;
}
