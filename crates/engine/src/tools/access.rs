//! Narrow views of the store for tools: records, users and outgoing messages to read, nothing to write.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::id::{OutboxId, RecordId};
use kybern_core::identity::User;
use kybern_core::outbox::OutboxStatus;
use kybern_core::ports::{OutboxView, Page, RecordStore, Store, UserDirectory};
use kybern_core::record::Record;
use kybern_core::tenant::TenantScope;

pub struct Records(pub Arc<dyn Store>);

#[async_trait]
impl RecordStore for Records {
    async fn record(&self, scope: TenantScope, kind: &str, key: &str) -> Result<Option<Record>> {
        self.0.record(scope, kind, key).await
    }

    async fn record_by_id(&self, scope: TenantScope, id: RecordId) -> Result<Option<Record>> {
        self.0.record_by_id(scope, id).await?.map(Record::whole).transpose()
    }

    async fn records_by_lookup(&self, scope: TenantScope, kind: &str, name: &str, value: &str) -> Result<Vec<Record>> {
        self.0.records_by_lookup(scope, kind, name, value).await
    }

    async fn lookup_values(
        &self,
        scope: TenantScope,
        kind: &str,
        by: (&str, &str),
        wanted: &str,
    ) -> Result<Vec<(RecordId, String)>> {
        self.0.lookup_values(scope, kind, by, wanted).await
    }

    async fn records(
        &self,
        scope: TenantScope,
        kind: &str,
        after: Option<RecordId>,
        limit: u32,
    ) -> Result<Page<Record>> {
        self.0.records(scope, kind, after, limit).await
    }

    async fn record_kinds(&self, scope: TenantScope) -> Result<Vec<(String, i64)>> {
        self.0.record_kinds(scope).await
    }
}

pub struct Users(pub Arc<dyn Store>);

#[async_trait]
impl UserDirectory for Users {
    async fn users_of(&self, scope: TenantScope) -> Result<Vec<User>> {
        self.0.users(scope).await
    }
}

/// The outgoing messages.
pub struct Outbox(pub Arc<dyn Store>);

#[async_trait]
impl OutboxView for Outbox {
    async fn status_of(&self, scope: TenantScope, id: OutboxId) -> Result<Option<OutboxStatus>> {
        let found = self.0.outbox_message(scope, id).await?.filter(|message| message.unreadable.is_none());
        Ok(found.map(|message| message.status))
    }

    async fn receiver_of(&self, scope: TenantScope, id: OutboxId) -> Result<Option<String>> {
        let found = self.0.outbox_message(scope, id).await?.filter(|message| message.unreadable.is_none());
        Ok(found.map(|message| message.message.target))
    }
}
