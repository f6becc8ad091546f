//! A fault of the program in one unit of work stops nobody else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kybern_core::audit::{AuditEvent, AuditKey};
use kybern_core::digest::DigestKey;
use kybern_core::error::ErrorCode;
use kybern_core::id::TenantId;
use kybern_core::ports::{DataKey, Keys, Store};
use kybern_store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};
use kybern_testkit::{SimClock, TestKeys};
use serde_json::json;

use crate::{support, work};

/// Keys with which a unit of work panics, when it is told to.
#[derive(Default)]
struct Faulty {
    keys: TestKeys,
    panics: AtomicBool,
}

impl Keys for Faulty {
    fn api_key_hash(&self, key: &str) -> String {
        self.keys.api_key_hash(key)
    }

    fn callback_secret(&self, workflow_id: &str) -> String {
        self.keys.callback_secret(workflow_id)
    }

    fn webhook_secret(&self, tenant: TenantId, name: &str) -> String {
        self.keys.webhook_secret(tenant, name)
    }

    fn audit_key(&self, tenant: TenantId) -> AuditKey {
        assert!(!self.panics.load(Ordering::Relaxed), "a fault of the program");
        self.keys.audit_key(tenant)
    }

    fn digest_key(&self, tenant: TenantId) -> DigestKey {
        self.keys.digest_key(tenant)
    }

    fn cursor_key(&self, tenant: TenantId) -> DigestKey {
        self.keys.cursor_key(tenant)
    }

    fn seal(&self, purpose: &str, plain: &[u8]) -> Vec<u8> {
        self.keys.seal(purpose, plain)
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.keys.open(purpose, sealed)
    }

    fn new_data_key(&self, owner: &str) -> Option<Vec<u8>> {
        self.keys.new_data_key(owner)
    }

    fn seal_under(&self, key: DataKey<'_>, purpose: &str, plain: &[u8]) -> Option<Vec<u8>> {
        self.keys.seal_under(key, purpose, plain)
    }

    fn open_under(&self, key: DataKey<'_>, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.keys.open_under(key, purpose, sealed)
    }

    fn knows(&self, key: DataKey<'_>) -> bool {
        self.keys.knows(key)
    }
}

/// What was audited, a panic in the middle of it, and what is audited beside it and afterwards.
async fn goes_on(store: &dyn Store, keys: &Faulty) {
    let append = async |action: &str| {
        let event = AuditEvent::by_executor(action, "test", json!({}));
        store.append_audit(work::home(), work::NOW, event).await
    };
    append("first").await.unwrap();
    keys.panics.store(true, Ordering::Relaxed);
    let (one, other) = tokio::join!(append("second"), append("third"));
    for refused in [one, other] {
        assert_eq!(refused.unwrap_err().code(), ErrorCode::Internal);
    }
    keys.panics.store(false, Ordering::Relaxed);
    append("fourth").await.unwrap();
    let events = store.audit_events(work::home(), 0, 10).await.unwrap();
    let told: Vec<&str> = events.iter().map(|event| event.event.action.as_str()).collect();
    assert_eq!(told, ["first", "fourth"], "nothing half done");
}

#[tokio::test]
async fn a_panic_in_a_unit_of_work_fails_that_unit_alone_on_sqlite() {
    let (folder, keys) = (tempfile::tempdir().unwrap(), Arc::new(Faulty::default()));
    let path = folder.path().join("kybern.db");
    let store =
        SqliteStore::open(path, SqliteOptions::default(), keys.clone(), Arc::new(SimClock::new())).await.unwrap();
    goes_on(&store, &keys).await;
}

#[tokio::test]
async fn a_panic_in_a_unit_of_work_fails_that_unit_alone_on_postgres() {
    let Some(server) = support::server() else { return };
    let (database, keys) = (support::Database::create(&server).await, Arc::new(Faulty::default()));
    let clock = Arc::new(SimClock::new());
    let store = PostgresStore::connect(&database.url(), PostgresOptions::default(), keys.clone(), clock).await.unwrap();
    goes_on(&store, &keys).await;
}
