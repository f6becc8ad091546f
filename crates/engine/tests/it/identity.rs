//! Keys and platform admins across tenants: what falls with a key, which key is the last, and who is found by recovery.

use kybern_core::actor::{Actor, Right, Role};
use kybern_core::audit::AuditEvent;
use kybern_core::command::Command;
use kybern_core::error::ErrorCode;
use kybern_core::id::{KeyId, RequestId, TenantId, UserId};
use kybern_core::identity::ApiKey;
use kybern_core::ports::IdentityStore as _;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use kybern_engine::identity::{FirstAdmin, NewKey, Revoke};
use serde_json::json;
use uuid::Uuid;

use crate::live::Live;
use crate::outside::pause;
use crate::world::World;

const FORCE: Revoke = Revoke { cascade: None, force: true };

fn key_id(n: u128) -> KeyId {
    KeyId::from_uuid(Uuid::from_u128(n))
}

impl Live<'_> {
    /// Stores a key, made with another one.
    async fn hand_out(&self, scope: TenantScope, user: UserId, n: u128, with: Option<KeyId>) -> KeyId {
        let key = ApiKey {
            id: key_id(n),
            user_id: user,
            name: format!("key {n}"),
            prefix: "kyb_1234".to_owned(),
            roles: Vec::new(),
            scopes: Vec::new(),
            expires_at: None,
            revoked_at: None,
            created_at: self.now(),
            made_by_key_id: with,
            made_by_user_id: None,
        };
        let audit = AuditEvent::by_executor("key.create", format!("key:{}", key.id), json!({}));
        self.world.store.create_key(scope, &key, &format!("hash-{n}"), audit).await.unwrap();
        key.id
    }

    async fn grant(&self, scope: TenantScope, user: UserId, roles: &[Role]) {
        let audit = AuditEvent::by_executor("user.set_roles", format!("user:{user}"), json!({}));
        self.world.store.set_roles(scope, user, roles, audit).await.unwrap();
    }

    async fn with_key(&self, key: &str) -> Actor {
        let request = RequestId::from_uuid(Uuid::nil());
        self.engine.identity().authenticate(key, request, None).await.unwrap()
    }
}

#[test]
fn a_visitor_is_told_that_their_own_key_would_fall() {
    World::new().run(async |live| {
        let (visitor, home) = live.world.visitor();
        let user = visitor.user().unwrap();
        let (here, local) = (live.world.scope(), live.world.actor.user().unwrap());
        let maker = live.hand_out(here, local, 1, None).await;
        let own = live.hand_out(home, user, 2, Some(maker)).await;
        live.hand_out(home, user, 3, None).await;
        let by_key = kybern_testkit::actors::user_by(here.tenant(), user, own, visitor.roles());
        let identity = live.engine.identity();
        let refused = identity.revoke_key(&by_key, maker, Revoke::default()).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Conflict);
        assert!(refused.to_string().contains("your own key among them, in other organisations"), "{refused}");
        identity.revoke_key(&by_key, maker, Revoke { cascade: Some(true), force: false }).await.unwrap();
        assert!(!live.world.store.key_stands(own).await.unwrap());
        // What has fallen takes nothing along any more.
        let below = live.hand_out(here, local, 4, Some(own)).await;
        let careful = Revoke { cascade: Some(false), force: false };
        let at_home = kybern_testkit::actors::user(home.tenant(), user, visitor.roles());
        assert!(identity.revoke_key(&at_home, own, careful).await.unwrap().is_empty());
        assert!(!live.world.store.key_stands(below).await.unwrap());
    });
}

#[test]
fn the_last_key_of_a_platform_admin_is_the_last_of_all_tenants() {
    World::new().run(async |live| {
        let (visitor, home) = live.world.visitor();
        let (here, local) = (live.world.scope(), live.world.actor.user().unwrap());
        live.grant(here, local, &[Role::Admin, Role::PlatformAdmin]).await;
        let admin = kybern_testkit::actors::user(TenantId::DEFAULT, local, &[Role::PlatformAdmin]);
        let identity = live.engine.identity();
        let revoke = async |id: KeyId, how: Revoke| identity.revoke_key(&admin, id, how).await;
        // The first key of the tenant is the only one that opens everything.
        let first = identity.keys(here).await.unwrap()[0].id;
        assert_eq!(revoke(first, Revoke::default()).await.unwrap_err().code(), ErrorCode::Conflict);
        // One that was made with it, though elsewhere, falls with it.
        live.hand_out(home, visitor.user().unwrap(), 2, Some(first)).await;
        let last = revoke(first, Revoke::default()).await.unwrap_err();
        assert!(last.to_string().contains("the last key of a platform admin that works"), "{last}");
        // Another tenant's that stands by itself stays.
        let other = live.hand_out(home, visitor.user().unwrap(), 3, None).await;
        revoke(first, Revoke::default()).await.unwrap();
        // A key that opens little can be what the last one was made with.
        let clerk = live.colleague("clerk", &[Role::Operator], None).await.user().unwrap();
        let little = live.hand_out(here, clerk, 4, None).await;
        live.hand_out(home, visitor.user().unwrap(), 5, Some(little)).await;
        let at_home = kybern_testkit::actors::user(home.tenant(), visitor.user().unwrap(), visitor.roles());
        identity.revoke_key(&at_home, other, Revoke::default()).await.unwrap();
        assert_eq!(revoke(little, Revoke::default()).await.unwrap_err().code(), ErrorCode::Conflict);
        revoke(little, FORCE).await.unwrap();
        // A key of another tenant is not told from none, be it the last or not.
        let foreign = revoke(other, Revoke::default()).await.unwrap_err();
        assert_eq!((foreign.code(), foreign.to_string()), (ErrorCode::NotFound, format!("there is no key {other}")));
    });
}

#[test]
fn a_platform_admins_key_falls_by_a_platform_admins_word_only_however_limited_it_is() {
    World::new().run(async |live| {
        let (here, identity) = (live.world.scope(), live.engine.identity());
        let ada = live.colleague("ada", &[Role::Admin], None).await.user().unwrap();
        let first = live.hand_out(here, ada, 1, None).await;
        let second = live.hand_out(here, ada, 2, Some(first)).await;
        let by = |key| kybern_testkit::actors::user_by(here.tenant(), ada, key, &[Role::Admin]);
        let bob = live.colleague("bob", &[Role::Operator], None).await.user().unwrap();
        let narrow = NewKey {
            name: "narrow".to_owned(),
            user_id: Some(bob),
            roles: vec![Role::Operator],
            scopes: vec!["read".to_owned(), "operate".to_owned()],
            expires_at: None,
        };
        let (narrow, _) = identity.create_key(&by(second), narrow).await.unwrap();
        live.grant(here, bob, &[Role::Operator, Role::PlatformAdmin]).await;
        let cascade = Revoke { cascade: Some(true), force: false };
        let refused = identity.revoke_key(&by(first), second, cascade).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::PermissionDenied);
        assert!(live.world.store.key_stands(narrow.id).await.unwrap());
        let platform = kybern_testkit::actors::user(here.tenant(), bob, &[Role::PlatformAdmin]);
        let fallen = identity.revoke_key(&platform, second, cascade).await.unwrap();
        assert_eq!(fallen.iter().map(|key| key.id).collect::<Vec<_>>(), [narrow.id]);
        assert!(!live.world.store.key_stands(narrow.id).await.unwrap());
    });
}

#[test]
fn a_command_that_has_made_a_key_finds_it_whatever_its_user_has_lost_since() {
    World::new().run(async |live| {
        let (here, identity) = (live.world.scope(), live.engine.identity());
        let bob = live.colleague("bob", &[Role::Operator, Role::Reviewer], None).await.user().unwrap();
        let commanded =
            |n: u128, repeated: bool| live.world.actor.clone().commanding(Command::new(Uuid::from_u128(n), repeated));
        let new = || NewKey {
            name: "both".to_owned(),
            user_id: Some(bob),
            roles: vec![Role::Operator, Role::Reviewer],
            scopes: Vec::new(),
            expires_at: Some(live.now().plus(Millis(1_000))),
        };
        let ends = new().expires_at;
        let made = identity.create_key(&commanded(1, false), new()).await.unwrap();
        live.grant(here, bob, &[Role::Viewer]).await;
        pause(Millis(2_000)).await;
        let repeat = NewKey { expires_at: ends, ..new() };
        assert_eq!(identity.create_key(&commanded(1, true), repeat).await.unwrap(), made);
        let refused = identity.create_key(&commanded(2, false), new()).await.unwrap_err();
        let paths: Vec<&str> = refused.details().iter().map(|detail| detail.path.as_str()).collect();
        assert_eq!((refused.code(), paths), (ErrorCode::Validation, vec!["/roles/0", "/roles/1"]));
        live.grant(here, bob, &[Role::Operator]).await;
        let refused = identity.create_key(&commanded(3, false), new()).await.unwrap_err();
        assert_eq!(refused.details()[0].path, "/roles/1");
        live.grant(here, bob, &[Role::Operator, Role::Reviewer]).await;
        let late = NewKey { expires_at: ends, ..new() };
        let refused = identity.create_key(&commanded(4, false), late).await.unwrap_err();
        assert_eq!(refused.details()[0].path, "/expiresAt");
    });
}

const KEY: &str = "kyb_a_key_that_somebody_has_chosen_00001";

#[test]
fn recovery_finds_the_platform_admin_of_another_tenant() {
    World::new().run(async |live| {
        let (visitor, home) = live.world.visitor();
        let identity = live.engine.identity();
        assert!(matches!(identity.admin_key(KEY).await.unwrap(), FirstAdmin::Works));
        let by_key = live.with_key(KEY).await;
        assert_eq!((by_key.tenant(), by_key.user()), (home.tenant(), visitor.user()));
        // The command line does nothing in another tenant unasked.
        let local = identity.local_actor(RequestId::from_uuid(Uuid::nil())).await.unwrap();
        assert_eq!((local.tenant(), local.user()), (TenantId::DEFAULT, None));
        let first = live.world.actor.user().unwrap();
        live.grant(live.world.scope(), first, &[Role::PlatformAdmin]).await;
        let local = identity.local_actor(RequestId::from_uuid(Uuid::nil())).await.unwrap();
        assert_eq!((local.tenant(), local.user()), (TenantId::DEFAULT, Some(first)));
    });
}

#[test]
fn where_no_platform_admin_is_left_recovery_makes_one() {
    World::new().run(async |live| {
        let identity = live.engine.identity();
        let refused = identity.admin_key(KEY).await.map(drop).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::Unprocessable);
        assert!(refused.to_string().contains("kybern key recover"), "{refused}");
        assert_eq!(identity.recover(KEY).await.unwrap(), TenantId::DEFAULT);
        let by_key = live.with_key(KEY).await;
        assert!(by_key.may(Right::Platform) && by_key.tenant() == TenantId::DEFAULT);
        assert_ne!(by_key.user(), live.world.actor.user(), "nobody gets back what they had lost");
        let acts: Vec<String> = live.acts().await.into_iter().map(|act| act.action).collect();
        assert_eq!(acts[acts.len() - 2..], ["user.create", "key.recover"]);
        // A second time the one that there is gets another key.
        identity.recover("kyb_a_key_that_somebody_has_chosen_00002").await.unwrap();
        assert_eq!(live.world.store.platform_admins().await.unwrap().len(), 1);
    });
}
