//! Original bytes, named by their content.

use async_trait::async_trait;
use bytes::Bytes;
use kybern_core::error::Result;
use kybern_core::ports::BlobStore;
use kybern_core::tenant::TenantScope;

use super::MemStore;

#[async_trait]
impl BlobStore for MemStore {
    async fn put_blob(&self, scope: TenantScope, bytes: Bytes) -> Result<String> {
        let hash = blake3::hash(&bytes).to_hex().to_string();
        self.run(|state| {
            let now = state.now;
            state.blobs.insert((scope.tenant(), hash.clone()), (bytes, now));
            Ok(hash)
        })
    }

    async fn blob(&self, scope: TenantScope, hash: &str) -> Result<Option<Bytes>> {
        let place = (scope.tenant(), hash.to_owned());
        self.run(|state| Ok(state.blobs.get(&place).map(|(bytes, _)| bytes.clone())))
    }
}
