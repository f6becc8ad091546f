//! Plans: versions that never change, one of them active.

use kybern_core::error::ErrorCode;
use kybern_core::id::PlanId;
use kybern_core::plan::parse::{MAX_VERSION, PlanDraft, plan};
use kybern_core::plan::{Plan, PlanOrigin, PlanPlace};
use serde_json::{Value, json};

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
    let versions = w.store().plan_versions(home.scope, "test.plan", None, 9).await.unwrap().items;
    let told: Vec<_> = versions.iter().map(|plan| (plan.version, plan.active, plan.description.as_str())).collect();
    assert_eq!(told, [(3, true, "third"), (2, false, "second"), (1, false, "first")]);
    let told = |plans: &[Plan]| plans.iter().map(|plan| (plan.key.clone(), plan.version)).collect::<Vec<_>>();
    let keyed =
        |list: &[(&str, u32)]| list.iter().map(|(key, version)| ((*key).to_owned(), *version)).collect::<Vec<_>>();
    let in_use = w.store().plans(home.scope).await.unwrap();
    assert_eq!(told(&in_use), keyed(&[("test.a_plan", 1), ("test.plan", 3)]), "what is not in use is not read");
    let all = w.store().plan_page(home.scope, PlanPlace::default(), 9).await.unwrap();
    let whole = keyed(&[("test.a_plan", 1), ("test.plan", 3), ("test.plan", 2), ("test.plan", 1)]);
    assert_eq!((told(&all.items), all.next), (whole.clone(), None));
    assert!(w.store().plan_versions(home.scope, "test.none", None, 9).await.unwrap().items.is_empty());
    let second = versions[1].id.unwrap();
    assert_eq!(w.store().find_plan(home.scope, second).await.unwrap().as_ref(), Some(&versions[1]));
    let other = w.tenant("other").await;
    assert_eq!(w.store().find_plan(other.scope, second).await.unwrap(), None);
    for limit in 1..5 {
        let (mut paged, mut after) = (Vec::new(), Some(PlanPlace::default()));
        while let Some(place) = after {
            let page = w.store().plan_page(home.scope, place, limit).await.unwrap();
            paged.extend(told(&page.items));
            after = page.next.map(|next| next.parse().unwrap());
        }
        assert_eq!(paged, whole, "{limit}");
    }
    let below = w.store().plan_versions(home.scope, "test.plan", Some(3), 1).await.unwrap();
    assert_eq!((told(&below.items), below.next.as_deref()), (keyed(&[("test.plan", 2)]), Some("2:test.plan")));
}

pub async fn the_audit_of_a_plan_names_its_version(h: Harness) {
    let (w, home) = World::new(h).await;
    for version in [None, Some(7), None] {
        write(&w, &home, draft("test.plan", "it", version)).await;
    }
    let events = w.store().audit_events(home.scope, 0, 100).await.unwrap();
    let events = events.iter().filter(|event| event.event.action == "plan.put");
    let told: Vec<&Value> = events.map(|event| &event.event.detail["version"]).collect();
    assert_eq!(told, [&json!(1), &json!(7), &json!(8)]);
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
    assert_eq!(
        w.store().plan_versions(home.scope, "test.plan", None, 9).await.unwrap().items[0].description,
        "seventh"
    );
    assert_eq!(write(&w, &home, draft("test.plan", "eighth", None)).await.version, 8);
}

pub async fn after_the_last_version_there_is_no_next_one(h: Harness) {
    let (w, home) = World::new(h).await;
    let last = write(&w, &home, draft("test.plan", "last", Some(MAX_VERSION))).await;
    let next = draft("test.plan", "next", None);
    let refused = w.store().put_plan(home.scope, PlanId::from_uuid(w.id()), next, w.now(), w.event("plan.put")).await;
    assert_eq!(refused.unwrap_err().code(), ErrorCode::Unprocessable);
    assert_eq!(write(&w, &home, draft("test.plan", "free", Some(8))).await.version, 8);
    assert_eq!(last.version, MAX_VERSION);
}

pub async fn a_plan_is_taken_out_of_use_and_brought_back(h: Harness) {
    let (w, home) = World::new(h).await;
    write(&w, &home, draft("test.plan", "first", None)).await;
    write(&w, &home, draft("test.plan", "second", None)).await;
    let set = async |key, active| w.store().set_plan_active(home.scope, key, active, w.event("plan.set")).await;
    let active = async || {
        let versions = w.store().plan_versions(home.scope, "test.plan", None, 9).await.unwrap().items;
        versions.into_iter().filter(|plan| plan.active).map(|plan| plan.version).collect::<Vec<_>>()
    };
    set("test.plan", false).await.unwrap();
    assert!(active().await.is_empty() && w.store().active_plans(None).await.unwrap().is_empty());
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
    for n in 0..20 {
        write(&w, &other, draft(&format!("test.more_{n:02}"), "more", None)).await;
    }
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let next = w.store().active_plans(after).await.unwrap();
        let Some((scope, plan)) = next.last() else { break };
        after = Some((scope.tenant(), plan.key.clone()));
        all.extend(next);
    }
    assert_eq!(all.len(), 22);
    all.retain(|(_, plan)| plan.key == "test.plan");
    let told = |home: &Home| {
        let own = all.iter().filter(|(scope, _)| *scope == home.scope);
        own.map(|(_, plan)| (plan.version, plan.description.as_str())).collect::<Vec<_>>()
    };
    assert_eq!((all.len(), told(&home), told(&other)), (2, vec![(2, "second")], vec![(1, "theirs")]));
}

pub async fn a_tenant_uses_so_many_plans_and_so_many_bytes_of_them(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let put = async |home: &Home, draft| {
        let id = PlanId::from_uuid(w.id());
        w.store().put_plan(home.scope, id, draft, w.now(), w.event("plan.put")).await
    };
    let set = async |key, active| w.store().set_plan_active(home.scope, key, active, w.event("plan.set")).await;
    let large = |key: &str| PlanDraft { examples: vec!["x".repeat(500_000)], ..draft(key, "large", None) };
    for n in 0..8 {
        put(&home, large(&format!("large.plan_{n}"))).await.unwrap();
    }
    let head = w.store().audit_head(home.scope).await.unwrap();
    let refused = put(&home, large("large.plan_8")).await.unwrap_err();
    assert!(refused.to_string().contains("bytes") && refused.code() == ErrorCode::Unprocessable, "{refused}");
    assert_eq!(w.store().audit_head(home.scope).await.unwrap(), head, "what is refused is no act");
    assert_eq!(w.store().plans(home.scope).await.unwrap().len(), 8);
    // A new version takes the place of the one before, and others have their own room.
    assert_eq!(put(&home, large("large.plan_7")).await.unwrap().version, 2);
    put(&other, large("large.plan_8")).await.unwrap();
    let first = w.store().plan_page(home.scope, PlanPlace::default(), 200).await.unwrap();
    assert!(first.next.is_some() && first.items.len() < 9, "a page ends with its bytes: {}", first.items.len());
    set("large.plan_0", false).await.unwrap();
    put(&home, large("large.plan_8")).await.unwrap();
    assert_eq!(code(set("large.plan_0", true).await), ErrorCode::Unprocessable);
    assert_eq!(w.store().plans(home.scope).await.unwrap().len(), 8);
    set("large.plan_1", false).await.unwrap();
    set("large.plan_0", true).await.unwrap();
}
