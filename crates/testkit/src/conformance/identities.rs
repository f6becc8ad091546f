//! Tenants, users and keys.

use kybern_core::actor::{Right, Role};
use kybern_core::error::ErrorCode;
use kybern_core::id::{KeyId, TenantId, UserId};
use kybern_core::identity::{Tenant, User};
use kybern_core::time::Timestamp;

use super::fixture::{HOUR, code};
use super::{Harness, Home, World};

async fn add_user(w: &World, home: &Home, email: &str, roles: &[Role]) -> User {
    let user = w.user(UserId::from_uuid(w.id()), email, roles);
    w.store().create_user(home.scope, &user, w.event("user.create")).await.unwrap();
    user
}

pub async fn a_tenant_comes_with_its_user_and_key(h: Harness) {
    let (w, home) = World::new(h).await;
    let tenant = w.store().tenant(home.scope.tenant()).await.unwrap().unwrap();
    assert_eq!((tenant.name.as_str(), tenant.slug.as_str()), ("Tenant first", "first"));
    assert_eq!(w.store().tenant_by_slug("first").await.unwrap(), Some(tenant));
    assert_eq!(w.store().tenant_by_slug("none").await.unwrap(), None);
    let user = w.store().user(home.scope, home.user).await.unwrap().unwrap();
    assert_eq!((user.email.as_str(), user.roles.as_slice()), ("admin@first.example", [Role::Admin].as_slice()));
    let holder = w.store().key_holder(&home.key_hash).await.unwrap().unwrap();
    assert_eq!((holder.tenant, holder.user, holder.roles), (home.scope.tenant(), home.user, vec![Role::Admin]));
    assert_eq!(w.store().audit_head(home.scope).await.unwrap().map(|(seq, _)| seq), Some(1));
}

pub async fn a_name_and_a_slug_are_taken_once(h: Harness) {
    let (w, _home) = World::new(h).await;
    let before = w.store().tenants().await.unwrap();
    for (name, slug) in [("Tenant first", "fresh"), ("Fresh", "first")] {
        let id = TenantId::from_uuid(w.id());
        let tenant = Tenant { id, name: name.to_owned(), slug: slug.to_owned(), created_at: w.now() };
        let user = w.user(UserId::from_uuid(w.id()), "a@b.example", &[Role::Admin]);
        let key = w.key(user.id, &[]);
        let refused = w.store().create_tenant(&tenant, &user, &key, "another hash", w.event("tenant.create")).await;
        assert_eq!(code(refused), ErrorCode::Conflict);
        assert_eq!(w.store().tenant(id).await.unwrap(), None);
    }
    assert_eq!(w.store().tenants().await.unwrap(), before);
    assert_eq!(w.store().key_holder("another hash").await.unwrap(), None);
}

pub async fn tenants_are_listed_oldest_first(h: Harness) {
    let (w, home) = World::new(h).await;
    let before: Vec<TenantId> = w.store().tenants().await.unwrap().iter().map(|tenant| tenant.id).collect();
    assert!(before.contains(&home.scope.tenant()));
    w.harness.clock.advance(HOUR);
    let second = w.tenant("second").await;
    w.harness.clock.advance(HOUR);
    let third = w.tenant("third").await;
    let after: Vec<TenantId> = w.store().tenants().await.unwrap().iter().map(|tenant| tenant.id).collect();
    assert_eq!(after[before.len()..], [second.scope.tenant(), third.scope.tenant()]);
}

pub async fn an_address_is_taken_once_in_a_tenant(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let user = add_user(&w, &home, "a@b.example", &[Role::Viewer, Role::Reviewer]).await;
    assert_eq!(w.store().user(home.scope, user.id).await.unwrap(), Some(user.clone()));
    let twin = w.user(UserId::from_uuid(w.id()), "a@b.example", &[]);
    let refused = w.store().create_user(home.scope, &twin, w.event("user.create")).await;
    assert_eq!(code(refused), ErrorCode::Conflict);
    w.store().create_user(other.scope, &twin, w.event("user.create")).await.unwrap();
    assert_eq!(w.store().users(home.scope).await.unwrap().len(), 2);
}

pub async fn roles_are_replaced(h: Harness) {
    let (w, home) = World::new(h).await;
    let user = add_user(&w, &home, "a@b.example", &[Role::Viewer]).await;
    let set = async |id, roles: &[Role]| w.store().set_roles(home.scope, id, roles, w.event("user.roles")).await;
    set(user.id, &[Role::Operator, Role::Reviewer]).await.unwrap();
    let roles = w.store().user(home.scope, user.id).await.unwrap().unwrap().roles;
    assert_eq!(roles, [Role::Operator, Role::Reviewer]);
    assert_eq!(code(set(UserId::from_uuid(w.id()), &[]).await), ErrorCode::NotFound);
}

pub async fn a_key_is_revoked_at_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut key = w.key(home.user, &[]);
    key.scopes = vec!["read".to_owned()];
    key.expires_at = Some(w.now().plus(HOUR));
    w.store().create_key(home.scope, &key, "the hash", w.event("key.create")).await.unwrap();
    let holder = w.store().key_holder("the hash").await.unwrap().unwrap();
    assert_eq!((holder.key, &holder.scopes, holder.expires_at), (key.id, &key.scopes, key.expires_at));

    let at = w.now();
    w.store().revoke_key(home.scope, key.id, at, w.event("key.revoke")).await.unwrap();
    assert_eq!(w.store().key_holder("the hash").await.unwrap(), None);
    w.store().revoke_key(home.scope, key.id, at.plus(HOUR), w.event("key.revoke")).await.unwrap();
    let stored = w.store().keys(home.scope).await.unwrap().into_iter().find(|stored| stored.id == key.id).unwrap();
    assert_eq!(stored.revoked_at, Some(at), "revoking it again changes nothing");
    let unknown = w.store().revoke_key(home.scope, KeyId::from_uuid(w.id()), at, w.event("key.revoke")).await;
    assert_eq!(code(unknown), ErrorCode::NotFound);
    assert!(w.store().key_holder(&home.key_hash).await.unwrap().is_some());
}

pub async fn a_key_falls_with_every_key_that_it_was_made_with(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let root = w.store().keys(home.scope).await.unwrap()[0].id;
    let make = async |home: &Home, by: KeyId, hash: &str| {
        let key = kybern_core::identity::ApiKey { made_by_key_id: Some(by), ..w.key(home.user, &[]) };
        w.store().create_key(home.scope, &key, hash, w.event("key.create")).await.unwrap();
        key.id
    };
    let first = make(&home, root, "first").await;
    let second = make(&home, first, "second").await;
    // A platform admin makes one in another tenant, and an admin there another one with it.
    let abroad = make(&other, second, "abroad").await;
    let below = make(&other, abroad, "below").await;
    let lives = async |hash: &str| w.store().key_holder(hash).await.unwrap().is_some();
    for hash in ["first", "second", "abroad", "below"] {
        assert!(lives(hash).await, "{hash}");
    }
    let at = w.now();
    let fall_with = async |id: KeyId, at: Timestamp| {
        let below = w.store().keys_below(id, at).await.unwrap();
        assert!(below.iter().all(|(_, user)| [home.user, other.user].contains(user)), "{below:?}");
        let mut below: Vec<KeyId> = below.into_iter().map(|(key, _)| key).collect();
        below.sort();
        below
    };
    let sorted = |mut ids: Vec<KeyId>| {
        ids.sort();
        ids
    };
    assert_eq!(fall_with(first, at).await, sorted(vec![second, abroad, below]));
    assert_eq!(fall_with(abroad, at).await, [below]);
    assert!(fall_with(below, at).await.is_empty());
    let ends = kybern_core::identity::ApiKey {
        made_by_key_id: Some(second),
        expires_at: Some(at.plus(HOUR)),
        ..w.key(home.user, &[])
    };
    w.store().create_key(home.scope, &ends, "ends", w.event("key.create")).await.unwrap();
    assert_eq!(fall_with(second, at).await, sorted(vec![abroad, below, ends.id]));
    assert_eq!(fall_with(second, at.plus(HOUR)).await, sorted(vec![abroad, below]), "one that has ended does not fall");
    w.store().revoke_key(home.scope, first, at, w.event("key.revoke")).await.unwrap();
    for hash in ["first", "second", "abroad", "below"] {
        assert!(!lives(hash).await, "{hash}");
    }
    for id in [first, second, abroad, below, KeyId::from_uuid(w.id())] {
        assert!(!w.store().key_stands(id).await.unwrap(), "{id}");
    }
    assert!(w.store().key_stands(root).await.unwrap());
    assert!(lives(&home.key_hash).await && lives(&other.key_hash).await);
    // What is made afterwards with a key that has fallen never works.
    make(&home, second, "late").await;
    assert!(!lives("late").await);
    let stored = w.store().keys(home.scope).await.unwrap();
    let of = |id: KeyId| stored.iter().find(|key| key.id == id).unwrap();
    assert_eq!((of(second).revoked_at, of(second).made_by_key_id), (Some(at), Some(first)));
    assert_eq!(of(root).revoked_at, None);
    assert_eq!(stored.iter().filter(|key| key.revoked_at == Some(at)).count(), 4, "the late one as well");
}

pub async fn a_key_that_falls_with_one_of_another_tenant_is_shown_and_audited_in_its_own(h: Harness) {
    let (w, home) = World::new(h).await;
    let (other, third) = (w.tenant("second").await, w.tenant("third").await);
    let make = async |home: &Home, by: Option<KeyId>, hash: &str| {
        let key = kybern_core::identity::ApiKey { made_by_key_id: by, ..w.key(home.user, &[]) };
        w.store().create_key(home.scope, &key, hash, w.event("key.create")).await.unwrap();
        key.id
    };
    let first = make(&home, None, "first").await;
    let abroad = make(&other, Some(first), "abroad").await;
    let below = make(&other, Some(abroad), "below").await;
    let back = make(&home, Some(below), "back").await;
    let revoked = async |home: &Home| {
        let events = w.store().audit_events(home.scope, 0, 100).await.unwrap();
        let events = events.into_iter().map(|link| link.event).filter(|event| event.action == "key.revoke");
        events.collect::<Vec<_>>()
    };
    let fell = async |home: &Home, id: KeyId| {
        let keys = w.store().keys(home.scope).await.unwrap();
        keys.into_iter().find(|key| key.id == id).unwrap().revoked_at
    };
    assert_eq!((fell(&other, abroad).await, fell(&home, back).await), (None, None));
    let at = w.now();
    w.store().revoke_key(home.scope, first, at, w.event("key.revoke")).await.unwrap();
    for (home, id) in [(&other, abroad), (&other, below), (&home, back)] {
        assert_eq!(fell(home, id).await, Some(at), "{id}");
    }
    let told = revoked(&other).await;
    let mut subjects: Vec<String> = told.iter().map(|event| event.subject.clone()).collect();
    subjects.sort();
    let mut expected = vec![format!("key:{abroad}"), format!("key:{below}")];
    expected.sort();
    assert_eq!(subjects, expected);
    let text = format!("{told:?}");
    for id in [home.scope.tenant().to_string(), first.to_string(), back.to_string(), home.user.to_string()] {
        assert!(!text.contains(&id), "{text}");
    }
    assert_eq!((revoked(&home).await.len(), revoked(&third).await.len()), (1, 0));
    // What has fallen does not fall again, neither with that key nor by itself.
    w.store().revoke_key(home.scope, first, at, w.event("key.revoke")).await.unwrap();
    assert_eq!(revoked(&other).await.len(), 2);
    w.store().revoke_key(other.scope, abroad, at.plus(HOUR), w.event("key.revoke")).await.unwrap();
    assert_eq!((revoked(&home).await.len(), fell(&other, abroad).await), (1, Some(at)));
}

pub async fn the_keys_and_the_names_of_platform_admins_are_known_in_every_tenant(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let before = w.store().platform_admins().await.unwrap().len();
    assert!(w.store().platform_keys(w.now()).await.unwrap().is_empty(), "an admin is none");
    let all = [Role::PlatformAdmin];
    let here = add_user(&w, &home, "here@example.com", &all).await.id;
    w.harness.clock.advance(HOUR);
    let there = add_user(&w, &other, "there@example.com", &all).await.id;
    let admins = w.store().platform_admins().await.unwrap();
    assert_eq!(admins[before..], [(home.scope.tenant(), here), (other.scope.tenant(), there)]);

    let make = async |home: &Home, key: kybern_core::identity::ApiKey, hash: &str| {
        w.store().create_key(home.scope, &key, hash, w.event("key.create")).await.unwrap();
        key.id
    };
    let first = make(&home, w.key(here, &[]), "first").await;
    let by_first = kybern_core::identity::ApiKey { made_by_key_id: Some(first), ..w.key(there, &all) };
    let second = make(&other, by_first, "second").await;
    let narrow = kybern_core::identity::ApiKey { scopes: vec!["read".to_owned()], ..w.key(there, &[]) };
    make(&other, narrow, "narrow").await;
    make(&other, w.key(there, &[Role::Admin]), "admin").await;
    // A scope that stands for all of them takes nothing away.
    let wide = kybern_core::identity::ApiKey { scopes: vec!["*".to_owned()], ..w.key(there, &[]) };
    let wide = make(&other, wide, "wide").await;
    let ends = kybern_core::identity::ApiKey { expires_at: Some(w.now().plus(HOUR)), ..w.key(there, &[]) };
    let ends = make(&other, ends, "ends").await;
    let open = async |at: Timestamp| {
        let mut open = w.store().platform_keys(at).await.unwrap();
        open.sort();
        open
    };
    let sorted = |mut ids: Vec<KeyId>| {
        ids.sort();
        ids
    };
    assert_eq!(open(w.now()).await, sorted(vec![first, second, wide, ends]));
    assert_eq!(open(w.now().plus(HOUR)).await, sorted(vec![first, second, wide]));
    w.store().revoke_key(home.scope, first, w.now(), w.event("key.revoke")).await.unwrap();
    assert_eq!(open(w.now()).await, sorted(vec![wide, ends]), "the second fell with the first");
    w.store().set_roles(other.scope, there, &[Role::Admin], w.event("user.set_roles")).await.unwrap();
    assert!(open(w.now()).await.is_empty());
}

pub async fn whoever_acts_in_another_tenant_is_known_by_their_own(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let ann = add_user(&w, &home, "ann@example.com", &[Role::PlatformAdmin]).await;
    let acting = async |home: &Home, id| w.store().acting_user(home.scope, id).await.unwrap();
    assert_eq!(acting(&home, ann.id).await, Some((ann.clone(), true)));
    assert_eq!(acting(&other, ann.id).await, Some((ann.clone(), false)));
    assert_eq!(acting(&other, UserId::from_uuid(w.id())).await, None);
    let keep = async |home: &Home, caller| w.store().user_to_keep(home.scope, ann.id, caller).await;
    assert_eq!(keep(&home, Some(ann.id)).await.unwrap(), ann);
    let refused = keep(&other, Some(ann.id)).await.unwrap_err();
    assert!(refused.code() == ErrorCode::NotFound && refused.to_string().contains("belongs to another tenant"));
    // Somebody else is not told that there is such a user elsewhere.
    let stranger = keep(&other, Some(other.user)).await.unwrap_err();
    assert_eq!(stranger.to_string(), format!("there is no user {}", ann.id));
}

pub async fn who_made_a_user_or_a_key_is_kept(h: Harness) {
    let (w, home) = World::new(h).await;
    // A platform admin is a user of another tenant.
    let maker = Some(UserId::from_uuid(w.id()));
    let made = User { made_by_user_id: maker, ..w.user(UserId::from_uuid(w.id()), "made@example.com", &[Role::Admin]) };
    w.store().create_user(home.scope, &made, w.event("user.create")).await.unwrap();
    assert_eq!(w.store().user(home.scope, made.id).await.unwrap(), Some(made.clone()));
    let key = kybern_core::identity::ApiKey { made_by_user_id: Some(home.user), ..w.key(made.id, &[]) };
    w.store().create_key(home.scope, &key, "made", w.event("key.create")).await.unwrap();
    let (users, keys) = (w.store().users(home.scope).await.unwrap(), w.store().keys(home.scope).await.unwrap());
    assert!(users.contains(&made) && keys.contains(&key));
    assert!(users.iter().any(|user| user.id == home.user && user.made_by_user_id.is_none()));
}

pub async fn who_made_an_account_is_known_across_tenants(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let made = |by: UserId, mail: &str| User {
        made_by_user_id: Some(by),
        ..w.user(UserId::from_uuid(w.id()), mail, &[Role::Admin])
    };
    let create = async |home: &Home, user: &User| {
        w.store().create_user(home.scope, user, w.event("user.create")).await.unwrap();
    };
    // Home's user makes a colleague, who makes an account in the other tenant, who makes a key for that tenant's user.
    let colleague = made(home.user, "colleague@example.com");
    create(&home, &colleague).await;
    let abroad = made(colleague.id, "abroad@example.com");
    create(&other, &abroad).await;
    let key = kybern_core::identity::ApiKey { made_by_user_id: Some(abroad.id), ..w.key(other.user, &[]) };
    w.store().create_key(other.scope, &key, "abroad", w.event("key.create")).await.unwrap();
    let makers = w.store().account_makers(&[other.user, home.user]).await.unwrap();
    assert!(makers.are_one(other.user, home.user) && makers.are_one(other.user, colleague.id));
    // A key of an earlier version names only the key that it was made with, and a revoked one was good once.
    let by_key = made(UserId::from_uuid(w.id()), "by-key@example.com");
    create(&other, &by_key).await;
    let with = w.store().keys(home.scope).await.unwrap()[0].id;
    let old = kybern_core::identity::ApiKey { made_by_key_id: Some(with), ..w.key(by_key.id, &[]) };
    w.store().create_key(other.scope, &old, "old", w.event("key.create")).await.unwrap();
    w.store().revoke_key(other.scope, old.id, w.now(), w.event("key.revoke")).await.unwrap();
    let makers = w.store().account_makers(&[by_key.id, home.user]).await.unwrap();
    assert!(makers.are_one(by_key.id, home.user));
    let makers = w.store().account_makers(&[home.user, colleague.id]).await.unwrap();
    assert!(makers.are_one(home.user, colleague.id));
    let stranger = made(UserId::from_uuid(w.id()), "stranger@example.com");
    create(&other, &stranger).await;
    let makers = w.store().account_makers(&[stranger.id, home.user]).await.unwrap();
    assert!(!makers.are_one(stranger.id, home.user));
    assert_eq!(w.store().account_makers(&[]).await.unwrap(), kybern_core::identity::AccountMakers::default());
}

pub async fn a_key_belongs_to_a_user_and_its_hash_is_taken_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let create =
        async |user, hash: &str| w.store().create_key(home.scope, &w.key(user, &[]), hash, w.event("key.create")).await;
    assert_eq!(code(create(UserId::from_uuid(w.id()), "fresh").await), ErrorCode::NotFound);
    assert_eq!(code(create(home.user, &home.key_hash).await), ErrorCode::Conflict);
    create(home.user, "fresh").await.unwrap();
    assert_eq!(w.store().keys(home.scope).await.unwrap().len(), 2);
}

pub async fn a_key_never_grants_more_than_its_user_has(h: Harness) {
    let (w, home) = World::new(h).await;
    let viewer = add_user(&w, &home, "viewer@b.example", &[Role::Viewer]).await;
    let may = async |hash: &str, right| {
        let holder = w.store().key_holder(hash).await.unwrap().unwrap();
        crate::actors::user(holder.tenant, holder.user, &holder.roles).may(right)
    };
    let create = async |user, roles: &[Role], hash: &str| {
        w.store().create_key(home.scope, &w.key(user, roles), hash, w.event("key.create")).await.unwrap();
    };
    create(viewer.id, &[Role::Admin], "too wide").await;
    assert!(!may("too wide", Right::Administer).await);
    create(home.user, &[Role::Viewer], "narrow").await;
    assert!(may("narrow", Right::Read).await && !may("narrow", Right::Administer).await);
    assert!(may(&home.key_hash, Right::Administer).await);
    // What is taken from the user is taken from the key.
    w.store().set_roles(home.scope, home.user, &[Role::Operator], w.event("user.roles")).await.unwrap();
    assert!(!may(&home.key_hash, Right::Administer).await && may(&home.key_hash, Right::Operate).await);
}
