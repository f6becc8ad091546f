//! Two processes on one PostgreSQL: what each remembers of keys and plans does not outlive a change by the other.

use std::sync::Arc;
use std::time::Duration;

use kybern_core::actor::Role;
use kybern_core::audit::AuditEvent;
use kybern_core::id::{KeyId, TenantId, UserId};
use kybern_core::identity::{ApiKey, Tenant, User};
use kybern_core::ports::{IdSource as _, IdentityStore as _};
use kybern_testkit::SimClock;
use serde_json::json;

use crate::support::{self, Database};
use crate::work;

const HASH: &str = "the keyed hash of a key";

fn event(action: &str) -> AuditEvent {
    AuditEvent::by_executor(action, "key:test", json!({}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_one_process_revokes_is_refused_by_the_other_once_that_is_answered() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let (one, other) = (database.store(clock.clone()).await, database.store(clock.clone()).await);
    let ids = work::ids(9);
    let tenant = Tenant { id: TenantId::DEFAULT, name: "Home".into(), slug: "home".into(), created_at: work::NOW };
    let admin = User {
        id: UserId::from_uuid(ids.next()),
        name: "Admin".to_owned(),
        email: "admin@example.com".to_owned(),
        roles: vec![Role::Admin],
        timezone: "UTC".to_owned(),
        created_at: work::NOW,
    };
    let key = ApiKey {
        id: KeyId::from_uuid(ids.next()),
        user_id: admin.id,
        name: "first".to_owned(),
        prefix: "kyb_test".to_owned(),
        roles: Vec::new(),
        scopes: Vec::new(),
        expires_at: None,
        revoked_at: None,
        created_at: work::NOW,
    };
    one.create_tenant(&tenant, &admin, &key, HASH, event("tenant.create")).await.unwrap();
    assert_eq!(other.key_holder(HASH).await.unwrap().unwrap().roles, [Role::Admin]);

    let begun = tokio::time::Instant::now();
    one.set_roles(work::home(), admin.id, &[Role::Viewer], event("user.roles")).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(500), "it was answered while another process may remember");
    assert_eq!(other.key_holder(HASH).await.unwrap().unwrap().roles, [Role::Viewer]);

    one.revoke_key(work::home(), key.id, work::NOW, event("key.revoke")).await.unwrap();
    assert_eq!(other.key_holder(HASH).await.unwrap(), None);
    assert_eq!(one.key_holder(HASH).await.unwrap(), None);
}
