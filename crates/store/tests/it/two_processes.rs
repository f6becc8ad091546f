//! Two processes on one PostgreSQL: what each remembers of keys, plans, agents, prompts, preferences and knowledge does
//! not outlive a change by the other.

use std::sync::Arc;
use std::time::Duration;

use kybern_core::actor::Role;
use kybern_core::agent::{AgentDraft, OwnAgent};
use kybern_core::audit::AuditEvent;
use kybern_core::id::{
    AgentId, JobId, KeyId, KnowledgeId, LessonId, MemoryId, OwnToolId, PlanId, PromptId, TenantId, UserId,
};
use kybern_core::identity::{ApiKey, Tenant, User};
use kybern_core::job::NewJob;
use kybern_core::knowledge::{Indexed, IndexedPiece, KnowledgeAct, KnowledgeDocument, KnowledgeStatus};
use kybern_core::lesson::{Lesson, LessonAct, LessonChange, LessonSource, Teaching};
use kybern_core::memory::{Memory, NewMemory, Subject, Trust};
use kybern_core::plan::parse;
use kybern_core::ports::{
    AgentStore as _, IdSource as _, IdentityStore as _, KnowledgeStore as _, LessonStore as _, MemoryStore as _,
    OwnToolStore as _, PlanStore as _, PreferenceStore as _, PromptStore as _, Store, TaskStore as _,
};
use kybern_core::preference::{Formality, Preferences};
use kybern_core::prompt::{NewPrompt, PromptAct, PromptChange};
use kybern_core::task::{Commit, CommitRefused, Effect, MemoryEffect, Noun, NounEffect};
use kybern_core::tool::own::{NewOwnTool, OwnToolAct, OwnToolChange};
use kybern_testkit::{SeededIds, SimClock};
use serde_json::json;

use crate::support::{self, Database};
use crate::work;

const HASH: &str = "the keyed hash of a key";

fn event(action: &str) -> AuditEvent {
    AuditEvent::by_executor(action, "key:test", json!({}))
}

/// The tenant of the tests, with its admin and a key.
pub async fn tenant(store: &dyn Store, ids: &SeededIds) -> (User, ApiKey) {
    let tenant = Tenant { id: TenantId::DEFAULT, name: "Home".into(), slug: "home".into(), created_at: work::NOW };
    let admin = User {
        id: UserId::from_uuid(ids.next()),
        name: "Admin".to_owned(),
        email: "admin@example.com".to_owned(),
        roles: vec![Role::Admin],
        timezone: "UTC".to_owned(),
        created_at: work::NOW,
        made_by_user_id: None,
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
        made_by_key_id: None,
        made_by_user_id: None,
    };
    store.create_tenant(&tenant, &admin, &key, HASH, event("tenant.create")).await.unwrap();
    (admin, key)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_one_process_revokes_is_refused_by_the_other_once_that_is_answered() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let (one, other) = (database.store(clock.clone()).await, database.store(clock.clone()).await);
    let ids = work::ids(9);
    let (admin, key) = tenant(&one, &ids).await;
    assert_eq!(other.key_holder(HASH).await.unwrap().unwrap().roles, [Role::Admin]);

    let begun = tokio::time::Instant::now();
    one.set_roles(work::home(), admin.id, &[Role::Viewer], event("user.roles")).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(500), "it was answered while another process may remember");
    assert_eq!(other.key_holder(HASH).await.unwrap().unwrap().roles, [Role::Viewer]);

    one.revoke_key(work::home(), key.id, work::NOW, event("key.revoke")).await.unwrap();
    assert_eq!(other.key_holder(HASH).await.unwrap(), None);
    assert_eq!(one.key_holder(HASH).await.unwrap(), None);
}

/// Carries out a change until the other process knows of it. The clock stands still meanwhile, so that nothing that is
/// known grows old: only the hint that comes with the change can end it. (While a blocking task is at work the runtime
/// does not move a clock that stands.)
async fn is_heard<T: std::fmt::Debug>(change: impl Future<Output = T>, known: impl AsyncFn() -> bool) {
    let (over, patience) = std::sync::mpsc::channel::<()>();
    let mut gone = tokio::task::spawn_blocking(move || patience.recv_timeout(Duration::from_secs(20)));
    tokio::time::pause();
    assert!(!known().await, "from here on it knows what was before");
    let heard = async {
        while !known().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        // It is answered only when time has passed.
        answer = change => panic!("answered at once: {answer:?}"),
        _in_vain = &mut gone => panic!("the other process heard nothing"),
        () = heard => {}
    }
    drop(over);
    drop(gone.await);
    tokio::time::resume();
}

#[tokio::test]
async fn a_change_by_one_process_is_heard_by_the_other() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let (one, other) = (database.store(clock.clone()).await, database.store(clock.clone()).await);
    let ids = work::ids(10);
    let (admin, key) = tenant(&one, &ids).await;
    let put = async || {
        let draft = parse::plan(&json!({"key": "test.plan", "steps": [{"id": "only", "tool": "core.noop"}]})).unwrap();
        one.put_plan(work::home(), PlanId::from_uuid(ids.next()), draft, work::NOW, event("plan.put")).await.unwrap()
    };
    put().await;

    is_heard(put(), async || other.plans(work::home()).await.unwrap().iter().any(|plan| plan.version == 2)).await;
    let off = one.set_plan_active(work::home(), "test.plan", false, event("plan.off"));
    is_heard(off, async || other.plans(work::home()).await.unwrap().iter().all(|plan| !plan.active)).await;
    let narrowed = one.set_roles(work::home(), admin.id, &[Role::Viewer], event("user.roles"));
    is_heard(narrowed, async || other.key_holder(HASH).await.unwrap().unwrap().roles == [Role::Viewer]).await;
    let revoked = one.revoke_key(work::home(), key.id, work::NOW, event("key.revoke"));
    is_heard(revoked, async || other.key_holder(HASH).await.unwrap().is_none()).await;
}

#[tokio::test]
async fn what_one_process_says_of_agents_prompts_and_wishes_is_heard_by_the_other() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let (one, other) = (database.store(clock.clone()).await, database.store(clock.clone()).await);
    let (ids, home) = (work::ids(11), work::home());
    let (admin, _key) = tenant(&one, &ids).await;

    let draft = AgentDraft::named("Writer", "You write.").checked().unwrap();
    let (id, key) = (AgentId::from_uuid(ids.next()), draft.key.clone());
    let agent = OwnAgent { id, key, draft: Some(draft), version: 1, created_at: work::NOW, updated_at: work::NOW };
    let put = one.put_agent(home, &agent, None, vec![event("agent.put")]);
    is_heard(put, async || other.agents(home).await.unwrap().len() == 1).await;
    let known = other.agents(home).await.unwrap();
    assert!(Arc::ptr_eq(&known, &other.agents(home).await.unwrap()), "nothing has changed");
    let gone = [(id, 1)];
    let dropped = one.drop_agents(home, &gone, work::NOW, event("agent.resync"));
    is_heard(dropped, async || other.agents(home).await.unwrap().is_empty()).await;

    let (id, text) = (PromptId::from_uuid(ids.next()), "You write.".to_owned());
    let new = NewPrompt { id, agent: None, text, by: admin.id, at: work::NOW };
    let mut prompt = one.draft_prompt(home, &new, event("prompt.draft")).await.unwrap();
    let mut changes = Vec::new();
    let (approve, activate) = (PromptAct::approval_of(&prompt), PromptAct::activation_of(&prompt));
    for act in [PromptAct::Submit, approve, activate] {
        let after = prompt.clone().after(act, admin.id, None, work::NOW).unwrap();
        changes.push(PromptChange { before: prompt, after: after.clone(), retires: None });
        prompt = after;
    }
    let activation = changes.pop().unwrap();
    for change in changes {
        one.change_prompt(home, &change, event("prompt.step")).await.unwrap();
    }
    let activated = one.change_prompt(home, &activation, event("prompt.activate"));
    is_heard(activated, async || other.active_prompts(home).await.unwrap().len() == 1).await;

    let definition = serde_json::from_value(json!({
        "key": "crm.ping", "description": "Pings.", "inputSchema": {"type": "object"}, "effect": "read",
        "http": {"method": "GET", "url": "https://crm.example.com/ping"},
    }));
    let id = OwnToolId::from_uuid(ids.next());
    let new = NewOwnTool { id, definition: definition.unwrap(), by: admin.id, at: work::NOW };
    let mut tool = one.draft_own_tool(home, &new, event("own_tool.draft")).await.unwrap();
    let hash = tool.definition.hash();
    use OwnToolAct::{Activate, Approve, Disable, Submit};
    let mut steps = Vec::new();
    for act in [Submit, Approve(hash.clone()), Activate(hash), Disable] {
        let after = tool.clone().after(&act, admin.id, None, work::NOW).unwrap();
        steps.push(OwnToolChange { before: tool, after: after.clone() });
        tool = after;
    }
    for step in &steps[..2] {
        one.change_own_tool(home, step, event("own_tool.step")).await.unwrap();
    }
    let activated = one.change_own_tool(home, &steps[2], event("own_tool.activate"));
    is_heard(activated, async || other.active_own_tools(home).await.unwrap().len() == 1).await;
    let known = other.active_own_tools(home).await.unwrap();
    assert!(Arc::ptr_eq(&known, &other.active_own_tools(home).await.unwrap()), "nothing has changed");
    let disabled = one.change_own_tool(home, &steps[3], event("own_tool.disable"));
    is_heard(disabled, async || other.active_own_tools(home).await.unwrap().is_empty()).await;

    let formal = Preferences { formality: Formality::Formal, ..Preferences::default() };
    let said = one.set_preferences(home, admin.id, Some(&formal), work::NOW, event("preferences.set"));
    let heard = async || other.preferences(home, admin.id).await.unwrap().formality == Formality::Formal;
    is_heard(said, heard).await;

    let source = LessonSource { task_id: None, step_id: None, by: "user:1".to_owned() };
    let teaching = Teaching::TrustedSender { address: "ada@example.com".to_owned() };
    let before = Lesson::suggested(LessonId::from_uuid(ids.next()), teaching, source, work::NOW);
    one.add_lesson(home, &before, false, event("lesson.add")).await.unwrap();
    let after = before.clone().after(LessonAct::Accept, "user:1", 1, work::NOW).unwrap();
    let change = LessonChange { before, after };
    let accepted = one.change_lesson(home, &change, event("lesson.accept"));
    is_heard(accepted, async || other.lessons_in_use(home).await.unwrap().version() == 1).await;
}

#[tokio::test]
async fn what_one_process_publishes_and_takes_back_is_heard_by_the_other() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let (one, other) = (database.store(clock.clone()).await, database.store(clock.clone()).await);
    let (ids, home) = (work::ids(12), work::home());
    tenant(&one, &ids).await;
    let new = KnowledgeDocument {
        id: KnowledgeId::from_uuid(ids.next()),
        title: "Terms".to_owned(),
        filename: "terms.txt".to_owned(),
        content_type: "text/plain".to_owned(),
        hash: "00ff".to_owned(),
        size: 5,
        status: KnowledgeStatus::Indexing,
        published: false,
        error: None,
        pieces: 0,
        model: None,
        version: 1,
        created_by: None,
        created_at: work::NOW,
        updated_at: work::NOW,
    };
    let job = NewJob {
        id: JobId::from_uuid(ids.next()),
        kind: "test.index".to_owned(),
        payload: json!({}),
        dedupe_key: None,
        max_attempts: 1,
        due_at: work::NOW,
    };
    one.add_document(home, &new, &job, event("knowledge.add")).await.unwrap();
    let text = Indexed::Ready(vec![IndexedPiece { page: 1, text: "first".to_owned(), vector: None }]);
    one.end_indexing(home, (new.id, 1), &text, work::NOW, event("knowledge.index")).await.unwrap();
    let ready = one.document(home, new.id).await.unwrap().unwrap();
    let public = ready.clone().after(KnowledgeAct::Publish, work::NOW).unwrap();
    let published = one.change_document(home, (&ready, &public), None, event("knowledge.publish"));
    is_heard(published, async || other.published_pieces(home).await.unwrap().len() == 1).await;
    // What is read again because time has passed is the same list while nothing has changed.
    let known = other.published_pieces(home).await.unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::time::resume();
    assert!(Arc::ptr_eq(&known, &other.published_pieces(home).await.unwrap()));
    let gone = one.delete_document(home, new.id, work::NOW, event("knowledge.delete"));
    is_heard(gone, async || other.published_pieces(home).await.unwrap().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_is_told_of_another_processs_memory_finds_it_at_once() {
    let Some(server) = support::server() else { return };
    let database = Database::create(&server).await;
    let clock = Arc::new(SimClock::new());
    let (one, other) = (database.store(clock.clone()).await, database.store(clock.clone()).await);
    let ids = work::ids(12);
    let (admin, _) = tenant(&one, &ids).await;
    let subject = Subject::User(admin.id);
    let memory = || {
        let new = NewMemory::fact(subject, "Likes trains.");
        Memory::of(new, MemoryId::from_uuid(ids.next()), Trust::Tool, work::NOW).unwrap()
    };
    let lease = work::lease(&other, &ids).await;
    assert!(other.memories_of(work::home(), subject).await.unwrap().is_empty(), "from here on it knows that");
    let first = memory();
    one.add_memory(work::home(), &first, None, event("memory.add")).await.unwrap();
    let what = Noun::Memory(MemoryEffect::Add(memory()));
    let effect = Effect::Noun(Box::new(NounEffect { what, audit: event("memory.add") }));
    let refused =
        other.commit(&lease, Commit { effects: vec![effect], at: work::NOW, ..Commit::default() }.into()).await;
    assert!(matches!(refused, Err(CommitRefused::Changed { .. })), "{refused:?}");
    assert_eq!(other.memories_of(work::home(), subject).await.unwrap(), [(first, None)]);
}
