//! Plans: versions that never change, one of them active.

use kybern_core::error::ErrorCode;
use kybern_core::id::PlanId;
use kybern_core::plan::parse::{PlanDraft, plan};
use kybern_core::plan::{Plan, PlanOrigin};
use serde_json::json;

use super::fixture::code;
use super::{Harness, Home, World};

fn draft(key: &str, description: &str, version: Option<u32>) -> PlanDraft {
    let written = plan(&json!({
        "key": key,
        "intentKey": "test.intent",
        "description": description,
        "keywords": ["one", "two"],
        "examples": ["please do it"],
        "priority": -3,
        "output": "state",
        "steps": [{"id": "only", "tool": "test.noop", "args": {"list": ["{{ state.x }}", false, null]}}],
    }));
    PlanDraft { version, ..written.expect("the draft is well-formed") }
}

async fn write(w: &World, home: &Home, draft: PlanDraft) -> Plan {
    w.store().put_plan(home.scope, PlanId::from_uuid(w.id()), draft, w.now(), w.event("plan.put")).await.unwrap()
}

pub async fn a_plan_is_read_back_as_it_was_written(h: Harness) {
    let (w, home) = World::new(h).await;
    let written = write(&w, &home, draft("test.plan", "first", None)).await;
    assert_eq!((written.version, written.active, written.origin), (1, true, PlanOrigin::Tenant));
    assert!(written.quarantine.is_empty() && written.id.is_some());
    let read = w.store().plans(home.scope).await.unwrap();
    assert_eq!(*read, std::slice::from_ref(&written));
    assert_eq!(read[0].freeze().hash(), written.freeze().hash());
}

pub async fn versions_count_up_and_the_newest_is_active(h: Harness) {
    let (w, home) = World::new(h).await;
    for description in ["first", "second", "third"] {
        write(&w, &home, draft("test.plan", description, None)).await;
    }
    write(&w, &home, draft("test.a_plan", "another", None)).await;
    let versions = w.store().plan_versions(home.scope, "test.plan").await.unwrap();
    let told: Vec<_> = versions.iter().map(|plan| (plan.version, plan.active, plan.description.as_str())).collect();
    assert_eq!(told, [(3, true, "third"), (2, false, "second"), (1, false, "first")]);
    let all = w.store().plans(home.scope).await.unwrap();
    let told: Vec<_> = all.iter().map(|plan| (plan.key.as_str(), plan.version)).collect();
    assert_eq!(told, [("test.a_plan", 1), ("test.plan", 3), ("test.plan", 2), ("test.plan", 1)]);
    assert!(w.store().plan_versions(home.scope, "test.none").await.unwrap().is_empty());
}

pub async fn a_version_is_written_once(h: Harness) {
    let (w, home) = World::new(h).await;
    write(&w, &home, draft("test.plan", "seventh", Some(7))).await;
    let head = w.store().audit_head(home.scope).await.unwrap();
    let again = draft("test.plan", "other", Some(7));
    let id = PlanId::from_uuid(w.id());
    let refused = w.store().put_plan(home.scope, id, again, w.now(), w.event("plan.put")).await;
    assert_eq!(code(refused), ErrorCode::Conflict);
    assert_eq!(w.store().audit_head(home.scope).await.unwrap(), head, "what is refused is no act");
    assert_eq!(w.store().plan_versions(home.scope, "test.plan").await.unwrap()[0].description, "seventh");
    assert_eq!(write(&w, &home, draft("test.plan", "eighth", None)).await.version, 8);
}

pub async fn a_plan_is_taken_out_of_use_and_brought_back(h: Harness) {
    let (w, home) = World::new(h).await;
    write(&w, &home, draft("test.plan", "first", None)).await;
    write(&w, &home, draft("test.plan", "second", None)).await;
    let set = async |key, active| w.store().set_plan_active(home.scope, key, active, w.event("plan.set")).await;
    let active = async || {
        let versions = w.store().plan_versions(home.scope, "test.plan").await.unwrap();
        versions.into_iter().filter(|plan| plan.active).map(|plan| plan.version).collect::<Vec<_>>()
    };
    set("test.plan", false).await.unwrap();
    assert!(active().await.is_empty() && w.store().all_active_plans().await.unwrap().is_empty());
    set("test.plan", true).await.unwrap();
    assert_eq!(active().await, [2]);
    assert_eq!(code(set("test.none", false).await), ErrorCode::NotFound);
}

pub async fn active_plans_of_all_tenants_are_checked_at_start(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    write(&w, &home, draft("test.plan", "first", None)).await;
    write(&w, &home, draft("test.plan", "second", None)).await;
    write(&w, &other, draft("test.plan", "theirs", None)).await;
    let all = w.store().all_active_plans().await.unwrap();
    let told = |home: &Home| {
        let own = all.iter().filter(|(scope, _)| *scope == home.scope);
        own.map(|(_, plan)| (plan.version, plan.description.as_str())).collect::<Vec<_>>()
    };
    assert_eq!((all.len(), told(&home), told(&other)), (2, vec![(2, "second")], vec![(1, "theirs")]));
}
