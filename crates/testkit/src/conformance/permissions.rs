//! What users may let tools do, and what tenants say about tools.

use kybern_core::actor::Role;
use kybern_core::error::ErrorCode;
use kybern_core::money::NanoUsd;
use kybern_core::policy::{Preset, ToolPolicy};
use kybern_core::tool::{Risk, ToolPrice, ToolRateLimits, ToolSetting};

use super::fixture::code;
use super::{Harness, Spoilt, World};

pub async fn a_policy_is_said_changed_and_taken_back(h: Harness) {
    let (w, home) = World::new(h).await;
    let store = w.store();
    let rules = store.user_rules(home.scope, home.user).await.unwrap().unwrap();
    assert_eq!(rules.policy, None);
    let mut policy = ToolPolicy::preset(Preset::Restrictive);
    policy.allowed_hosts = Some(vec!["*.example.com".to_owned()]);
    policy.denied_tools.insert("core.notify".to_owned());
    for said in [Some(ToolPolicy::preset(Preset::Permissive)), Some(policy), None] {
        store.set_policy(home.scope, home.user, said.as_ref(), w.event("user.set_permissions")).await.unwrap();
        let rules = store.user_rules(home.scope, home.user).await.unwrap().unwrap();
        assert_eq!(rules.policy, said, "it holds at once");
    }
    assert_eq!(w.acts_of(&home, "user.set_permissions").await, 3);
}

pub async fn rules_follow_the_roles_at_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let store = w.store();
    store.user_rules(home.scope, home.user).await.unwrap();
    store.set_roles(home.scope, home.user, &[Role::Viewer], w.event("user.set_roles")).await.unwrap();
    assert_eq!(store.user_rules(home.scope, home.user).await.unwrap().unwrap().roles, [Role::Viewer]);
}

pub async fn what_holds_for_a_user_abroad_is_what_was_said_at_home(h: Harness) {
    let (w, home) = World::new(h).await;
    w.tenant("second").await;
    let store = w.store();
    let abroad = async || store.rules_abroad(home.user).await.unwrap().unwrap();
    assert!(abroad().await.roles.is_empty(), "an admin of one tenant is nobody in another");
    store
        .set_roles(home.scope, home.user, &[Role::Admin, Role::PlatformAdmin], w.event("user.set_roles"))
        .await
        .unwrap();
    let policy = ToolPolicy::preset(Preset::Restrictive);
    store.set_policy(home.scope, home.user, Some(&policy), w.event("user.set_permissions")).await.unwrap();
    let rules = abroad().await;
    assert_eq!((rules.roles.as_slice(), rules.policy.as_ref()), ([Role::PlatformAdmin].as_slice(), Some(&policy)));
    assert!(store.rules_abroad(kybern_core::id::UserId::from_uuid(w.id())).await.unwrap().is_none());
}

pub async fn a_setting_takes_the_place_of_the_one_before(h: Harness) {
    let (w, home) = World::new(h).await;
    let store = w.store();
    assert!(store.tool_settings(home.scope).await.unwrap().is_empty());
    let price = Some(ToolPrice::fixed(NanoUsd(5)));
    let first = ToolSetting { price, risk: Some(Risk::R3), ..ToolSetting::of("b.tool", w.now()) };
    let second = ToolSetting { enabled: false, ..ToolSetting::of("a.tool", w.now()) };
    let third =
        ToolSetting { limits: Some(ToolRateLimits::per_minute(2)), confirm: true, four_eyes: true, ..first.clone() };
    for setting in [&first, &second, &third] {
        store.put_tool_setting(home.scope, setting, w.event("tool.set")).await.unwrap();
    }
    assert_eq!(*store.tool_settings(home.scope).await.unwrap(), [second, third]);
}

pub async fn what_one_tenant_says_is_nothing_to_another(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let store = w.store();
    let policy = ToolPolicy::preset(Preset::Permissive);
    let refused = store.set_policy(other.scope, home.user, Some(&policy), w.event("x.y")).await;
    assert_eq!(code(refused), ErrorCode::NotFound);
    assert!(store.user_rules(other.scope, home.user).await.unwrap().is_none());
    store.put_tool_setting(home.scope, &ToolSetting::of("a.tool", w.now()), w.event("tool.set")).await.unwrap();
    assert!(store.tool_settings(other.scope).await.unwrap().is_empty());
}

pub async fn a_setting_that_cannot_be_read_harms_its_own_tool_only(h: Harness) {
    let (w, home) = World::new(h).await;
    let (store, at) = (w.store(), w.now());
    let good = ToolSetting { confirm: true, ..ToolSetting::of("b.tool", at) };
    for setting in [&ToolSetting::of("a.tool", at), &good] {
        store.put_tool_setting(home.scope, setting, w.event("tool.set")).await.unwrap();
    }
    w.harness.spoil(Spoilt::ToolSetting(home.scope.tenant(), "a.tool")).await;
    let read = store.tool_settings(home.scope).await.unwrap();
    assert_eq!(*read, [ToolSetting::unreadable("a.tool", at), good.clone()]);
    assert!(!read[0].enabled && read[0].confirm && read[0].four_eyes);
    let anew = ToolSetting { enabled: true, ..read[0].clone() };
    store.put_tool_setting(home.scope, &anew, w.event("tool.set")).await.unwrap();
    assert_eq!(*store.tool_settings(home.scope).await.unwrap(), [anew, good]);
}
