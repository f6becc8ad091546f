//! Names of tenants.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use kybern_core::error::{Error, Result};
use kybern_core::id::TenantId;
use kybern_core::ports::Store;

/// Names of tenants, which never change, so that not every task asks for one.
#[derive(Default)]
pub(crate) struct TenantNames {
    names: Mutex<HashMap<TenantId, String>>,
}

impl TenantNames {
    pub(crate) async fn name(&self, store: &dyn Store, id: TenantId) -> Result<String> {
        let known = self.names.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned();
        if let Some(name) = known {
            return Ok(name);
        }
        let tenant = store.tenant(id).await?.ok_or_else(|| Error::not_found("tenant", id))?;
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(id, tenant.name.clone());
        Ok(tenant.name)
    }
}
