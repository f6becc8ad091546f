//! What a step makes of memories, plans and other tasks: with the step or not at all, and only while they are as the
//! step has read them.

use std::sync::Arc;

use futures::future::join_all;
use kybern_core::id::{MemoryId, PlanId, TaskId, UserId};
use kybern_core::memory::{MAX_OF_SUBJECT, Memory, NewMemory, Subject, Trust};
use kybern_core::plan::parse::{PlanDraft, plan};
use kybern_core::task::{
    Commit, CommitRefused, Effect, Lease, MemoryEffect, Noun, NounEffect, PlanEffect, SteerAction, TaskStatus,
};
use serde_json::json;

use super::{FullHarness, Harness, Home, World};

fn memory(w: &World, of: UserId, content: &str) -> Memory {
    let new = NewMemory::fact(Subject::User(of), content);
    Memory::of(new, MemoryId::from_uuid(w.id()), Trust::Tool, w.now()).unwrap()
}

fn draft(key: &str, version: u32) -> PlanDraft {
    let written = plan(&json!({"key": key, "steps": [{"id": "only", "tool": "test.noop"}]})).unwrap();
    PlanDraft { version: Some(version), ..written }
}

fn noun(w: &World, what: Noun) -> Commit {
    w.effects(vec![Effect::Noun(Box::new(NounEffect { what, audit: w.event("noun.test") }))])
}

async fn try_to(w: &World, lease: &Lease, what: Noun) -> Result<(), CommitRefused> {
    w.store().commit(lease, noun(w, what).into()).await.map(drop)
}

fn put(w: &World, key: &str, version: u32) -> Noun {
    Noun::Plan(PlanEffect::Put { id: PlanId::from_uuid(w.id()), draft: draft(key, version) })
}

fn is_changed(answer: &Result<(), CommitRefused>) -> bool {
    matches!(answer, Err(CommitRefused::Changed { .. }))
}

async fn memories(w: &World, home: &Home) -> Vec<String> {
    let all = w.store().memories_of(home.scope, Subject::User(home.user)).await.unwrap();
    all.into_iter().map(|(memory, _)| memory.content).collect()
}

async fn versions(w: &World, home: &Home, key: &str) -> Vec<(u32, bool)> {
    let all = w.store().plan_versions(home.scope, key, None, 9).await.unwrap().items;
    all.iter().map(|plan| (plan.version, plan.active)).collect()
}

pub async fn a_memory_is_written_changed_and_removed_by_commits(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let first = memory(&w, home.user, "Likes trains.");
    try_to(&w, &lease, Noun::Memory(MemoryEffect::Add(first.clone()))).await.unwrap();
    assert_eq!(memories(&w, &home).await, ["Likes trains."]);
    let after = Memory { content: "Likes ships.".to_owned(), ..first.clone() };
    let change = MemoryEffect::Change { before: first.clone(), after: Box::new(after.clone()) };
    try_to(&w, &lease, Noun::Memory(change.clone())).await.unwrap();
    assert_eq!(memories(&w, &home).await, ["Likes ships."]);
    // It is not as it was read any more: nothing is written, and the other effects are not either.
    let mut stale = noun(&w, Noun::Memory(change));
    stale
        .effects
        .insert(0, noun(&w, Noun::Memory(MemoryEffect::Add(memory(&w, home.user, "Beside it.")))).effects.remove(0));
    assert!(is_changed(&w.store().commit(&lease, stale.into()).await.map(drop)));
    assert!(is_changed(&try_to(&w, &lease, Noun::Memory(MemoryEffect::Remove(first))).await));
    assert_eq!(memories(&w, &home).await, ["Likes ships."]);
    try_to(&w, &lease, Noun::Memory(MemoryEffect::Remove(after))).await.unwrap();
    assert!(memories(&w, &home).await.is_empty());
}

pub async fn a_memory_of_nobody_or_of_somebody_with_too_many_refuses_the_commit(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let stranger = memory(&w, UserId::from_uuid(w.id()), "Likes trains.");
    assert!(is_changed(&try_to(&w, &lease, Noun::Memory(MemoryEffect::Add(stranger))).await));
    for n in 0..MAX_OF_SUBJECT {
        let one = memory(&w, home.user, &format!("Fact {n}."));
        w.store().add_memory(home.scope, &one, None, w.event("memory.add")).await.unwrap();
    }
    let one_more = memory(&w, home.user, "One more.");
    assert!(is_changed(&try_to(&w, &lease, Noun::Memory(MemoryEffect::Add(one_more))).await));
}

pub async fn a_commit_that_is_written_again_remembers_once(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let effects = noun(&w, Noun::Memory(MemoryEffect::Add(memory(&w, home.user, "Likes trains.")))).effects;
    let commit = Arc::new(Commit { rows: vec![w.row(1)], effects, ..w.blank() });
    w.store().commit(&lease, Arc::clone(&commit)).await.unwrap();
    w.store().commit_again(&lease, commit).await.unwrap();
    assert_eq!(memories(&w, &home).await, ["Likes trains."]);
}

pub async fn a_plan_is_stored_and_retired_at_the_version_that_was_read(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    try_to(&w, &lease, put(&w, "test.plan", 1)).await.unwrap();
    assert_eq!(w.store().plans(home.scope).await.unwrap()[0].version, 1);
    for version in [1, 3] {
        assert!(is_changed(&try_to(&w, &lease, put(&w, "test.plan", version)).await), "{version}");
    }
    try_to(&w, &lease, put(&w, "test.plan", 2)).await.unwrap();
    assert_eq!(versions(&w, &home, "test.plan").await, [(2, true), (1, false)]);
    let retire = |version| Noun::Plan(PlanEffect::Retire { key: "test.plan".to_owned(), version });
    assert!(is_changed(&try_to(&w, &lease, retire(1)).await));
    try_to(&w, &lease, retire(2)).await.unwrap();
    assert!(w.store().plans(home.scope).await.unwrap().is_empty());
    assert!(is_changed(&try_to(&w, &lease, retire(2)).await), "it is out of use already");
    try_to(&w, &lease, put(&w, "test.plan", 3)).await.unwrap();
    assert_eq!(versions(&w, &home, "test.plan").await, [(3, true), (2, false), (1, false)]);
}

pub async fn of_ten_who_store_the_same_version_by_a_commit_one_does(h: Harness) {
    let (w, home) = World::new(h).await;
    let mut commits = Vec::new();
    for _ in 0..10 {
        let lease = w.leased(&home, "w").await;
        let (store, commit) = (w.shared(), noun(&w, put(&w, "test.plan", 1)));
        commits.push(async move { store.commit(&lease, commit.into()).await.map(drop) });
    }
    let answers = join_all(commits).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_eq!(answers.iter().filter(|answer| is_changed(answer)).count(), 9, "{answers:?}");
    assert_eq!(versions(&w, &home, "test.plan").await, [(1, true)]);
}

pub async fn another_task_is_steered_by_a_commit_as_it_stands(h: Harness) {
    let (w, home) = World::new(h).await;
    let lease = w.leased(&home, "w").await;
    let other = w.queued(&home, w.new_task()).await.id;
    let wish = |wish| Noun::Task(other, wish);
    assert!(is_changed(&try_to(&w, &lease, wish(SteerAction::Resume)).await), "it is not paused");
    try_to(&w, &lease, wish(SteerAction::Pause)).await.unwrap();
    assert!(w.task(&home, other).await.paused_at.is_some());
    assert!(is_changed(&try_to(&w, &lease, wish(SteerAction::Pause)).await), "it is paused already");
    try_to(&w, &lease, wish(SteerAction::Resume)).await.unwrap();
    assert!(w.task(&home, other).await.paused_at.is_none());
    try_to(&w, &lease, wish(SteerAction::Cancel)).await.unwrap();
    assert!(w.task(&home, other).await.cancel_requested);
    let ended = w.leased(&home, "w").await;
    w.end(&ended, TaskStatus::Completed).await;
    for wish in [SteerAction::Cancel, SteerAction::Pause, SteerAction::Resume] {
        assert!(is_changed(&try_to(&w, &lease, Noun::Task(ended.task(), wish)).await), "it has ended");
    }
    let nobody = TaskId::from_uuid(w.id());
    assert!(is_changed(&try_to(&w, &lease, Noun::Task(nobody, SteerAction::Cancel)).await));
}

pub async fn nouns_of_another_tenant_are_nothing_to_a_commit(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("other").await;
    let lease = w.leased(&home, "w").await;
    let theirs = memory(&w, other.user, "Likes trains.");
    w.store().add_memory(other.scope, &theirs, None, w.event("memory.add")).await.unwrap();
    let task = w.queued(&other, w.new_task()).await.id;
    let id = PlanId::from_uuid(w.id());
    w.store().put_plan(other.scope, id, draft("test.plan", 1), w.now(), w.event("plan.put")).await.unwrap();
    let after = Memory { content: "Likes ships.".to_owned(), ..theirs.clone() };
    for what in [
        Noun::Memory(MemoryEffect::Add(memory(&w, other.user, "Likes cars."))),
        Noun::Memory(MemoryEffect::Change { before: theirs.clone(), after: Box::new(after) }),
        Noun::Memory(MemoryEffect::Remove(theirs)),
        Noun::Plan(PlanEffect::Retire { key: "test.plan".to_owned(), version: 1 }),
        put(&w, "test.plan", 2),
        Noun::Task(task, SteerAction::Cancel),
        Noun::Task(task, SteerAction::Pause),
    ] {
        let told = format!("{what:?}");
        // Where the same user id is known in both tenants, a memory of them is another one.
        if home.user != other.user || !matches!(what, Noun::Memory(MemoryEffect::Add(_))) {
            assert!(is_changed(&try_to(&w, &lease, what).await), "{told}");
        }
    }
    assert_eq!(memories(&w, &other).await, ["Likes trains."]);
    assert_eq!(versions(&w, &other, "test.plan").await, [(1, true)]);
    let theirs = w.task(&other, task).await;
    assert!(!theirs.cancel_requested && theirs.paused_at.is_none());
    try_to(&w, &lease, put(&w, "test.plan", 1)).await.unwrap();
    assert_eq!(versions(&w, &home, "test.plan").await, [(1, true)]);
}
