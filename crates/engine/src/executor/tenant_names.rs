//! Names of tenants.

use std::sync::{Mutex, PoisonError};

use kybern_core::cache::ByteCache;
use kybern_core::error::{Error, Result};
use kybern_core::id::TenantId;
use kybern_core::ports::Store;

/// Bytes of names that are kept: tens of thousands of tenants.
const MOST: usize = 4 * 1024 * 1024;
/// About what an entry takes besides its name.
const ENTRY: usize = 64;

/// Names of tenants, which never change, so that not every task asks for one. Those that nobody has asked for lately go
/// first.
pub(crate) struct TenantNames {
    names: Mutex<ByteCache<TenantId, String>>,
}

impl Default for TenantNames {
    fn default() -> Self {
        Self { names: Mutex::new(ByteCache::new(MOST)) }
    }
}

impl TenantNames {
    pub(crate) async fn name(&self, store: &dyn Store, id: TenantId) -> Result<String> {
        let known = self.names.lock().unwrap_or_else(PoisonError::into_inner).get(&id);
        if let Some(name) = known {
            return Ok(name);
        }
        let tenant = store.tenant(id).await?.ok_or_else(|| Error::not_found("tenant", id))?;
        let bytes = tenant.name.len() + ENTRY;
        self.names.lock().unwrap_or_else(PoisonError::into_inner).keep(id, tenant.name.clone(), bytes);
        Ok(tenant.name)
    }
}
