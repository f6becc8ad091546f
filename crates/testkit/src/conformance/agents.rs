//! What tenants say about agents: versions that follow one another, and keys that are taken once.

use std::sync::Arc;

use futures::future::join_all;
use kybern_core::agent::{AgentDraft, OwnAgent, bundled_id};
use kybern_core::error::ErrorCode;
use kybern_core::id::{AgentId, PromptId};
use kybern_core::prompt::{NewPrompt, PromptStatus};
use kybern_core::time::Timestamp;

use super::fixture::code;
use super::{FullHarness, Home, World};

fn draft(name: &str) -> AgentDraft {
    AgentDraft {
        description: "For \"tests\"".to_owned(),
        emoji: Some("🧪".to_owned()),
        tools: vec!["calculator".to_owned()],
        tool_groups: vec!["memory".to_owned()],
        triggers: vec!["credit note".to_owned()],
        temperature: 0.25,
        ..AgentDraft::named(name, "You help\nwith two lines.")
    }
    .checked()
    .expect("the draft is well-formed")
}

fn agent(w: &World, name: &str) -> OwnAgent {
    let (id, draft, at) = (AgentId::from_uuid(w.id()), draft(name), w.now());
    OwnAgent { id, key: draft.key.clone(), draft: Some(draft), version: 1, created_at: at, updated_at: at }
}

async fn put(w: &World, home: &Home, agent: &OwnAgent) -> Result<(), kybern_core::error::Error> {
    let put = w.store().put_agent(home.scope, agent, None, vec![w.event("agent.put")]).await;
    put.map(|begun| assert_eq!(begun, None))
}

async fn head(w: &World, home: &Home) -> i64 {
    w.store().audit_head(home.scope).await.unwrap().map_or(0, |(seq, _)| seq)
}

pub async fn an_agent_is_read_back_as_it_was_written(h: FullHarness) {
    let (w, home) = World::new(h).await;
    assert!(w.store().agents(home.scope).await.unwrap().is_empty());
    let (writer, billing) = (agent(&w, "Writer"), agent(&w, "Billing"));
    put(&w, &home, &writer).await.unwrap();
    put(&w, &home, &billing).await.unwrap();
    let gone = OwnAgent { draft: None, version: 2, ..billing.clone() };
    assert_eq!(*w.store().agents(home.scope).await.unwrap(), [billing, writer.clone()], "by key");
    put(&w, &home, &gone).await.unwrap();
    assert_eq!(*w.store().agents(home.scope).await.unwrap(), [gone, writer]);
}

pub async fn a_version_follows_the_one_that_is_stored(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = agent(&w, "Writer");
    for early in [0, 2] {
        let refused = put(&w, &home, &OwnAgent { version: early, ..first.clone() }).await;
        assert_eq!(code(refused), ErrorCode::Conflict);
    }
    put(&w, &home, &first).await.unwrap();
    let before = head(&w, &home).await;
    assert_eq!(code(put(&w, &home, &first).await), ErrorCode::Conflict);
    let taken = OwnAgent { id: AgentId::from_uuid(w.id()), ..first.clone() };
    assert_eq!(code(put(&w, &home, &taken).await), ErrorCode::Conflict, "the key is another agent's");
    assert_eq!(head(&w, &home).await, before, "what is refused is no act");
    put(&w, &home, &OwnAgent { version: 2, ..first }).await.unwrap();
    assert_eq!(head(&w, &home).await, before + 1);
}

pub async fn the_first_version_of_a_bundled_agent_follows_the_programs(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let writer = agent(&w, "Writer");
    let first = OwnAgent { id: bundled_id(&writer.key), version: 2, ..writer };
    for early in [0, 1, 3] {
        let refused = put(&w, &home, &OwnAgent { version: early, ..first.clone() }).await;
        assert_eq!(code(refused), ErrorCode::Conflict, "version {early}");
    }
    put(&w, &home, &first).await.unwrap();
    assert_eq!(code(put(&w, &home, &first).await), ErrorCode::Conflict, "somebody else was first");
    put(&w, &home, &OwnAgent { version: 3, ..first.clone() }).await.unwrap();
    let event = w.event("agent.reset");
    w.store().drop_agents(home.scope, &[(first.id, 3)], w.now(), event).await.unwrap();
    assert_eq!(code(put(&w, &home, &OwnAgent { version: 4, ..first.clone() }).await), ErrorCode::Conflict);
    put(&w, &home, &first).await.unwrap();
}

pub async fn when_an_agent_was_made_stays_as_it_was_stored_first(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = agent(&w, "Writer");
    put(&w, &home, &first).await.unwrap();
    let later = Timestamp::from_millis(w.now().as_millis() + 5_000);
    let gone = OwnAgent { draft: None, version: 2, created_at: later, updated_at: later, ..first.clone() };
    let again = OwnAgent { version: 3, created_at: later, updated_at: later, ..first.clone() };
    for next in [gone, again] {
        put(&w, &home, &next).await.unwrap();
        let stored = w.store().agents(home.scope).await.unwrap();
        assert_eq!((stored[0].version, stored[0].created_at), (next.version, first.created_at));
    }
}

pub async fn of_twenty_who_write_the_same_version_of_an_agent_one_does(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = agent(&w, "Writer");
    put(&w, &home, &first).await.unwrap();
    let tries = (0..20).map(async |n| {
        let named = AgentDraft { name: format!("Writer {n}"), ..draft("Writer") };
        put(&w, &home, &OwnAgent { version: 2, draft: Some(named), ..first.clone() })
            .await
            .map_err(|error| error.code())
    });
    let answers = join_all(tries).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(ErrorCode::Conflict))), "{answers:?}");
    let done = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!((done, w.store().agents(home.scope).await.unwrap()[0].version), (1, 2));
}

pub async fn a_prompt_is_begun_with_the_change_of_an_agent(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = agent(&w, "Writer");
    put(&w, &home, &first).await.unwrap();
    let new = NewPrompt {
        id: PromptId::from_uuid(w.id()),
        agent: Some("writer".to_owned()),
        text: "You write.".to_owned(),
        by: home.user,
        at: w.now(),
    };
    let before = head(&w, &home).await;
    let events = || vec![w.event("agent.put"), w.event("prompt.draft")];
    let refused = w.store().put_agent(home.scope, &first, Some(&new), events()).await;
    assert_eq!(code(refused), ErrorCode::Conflict);
    assert_eq!(w.store().prompt(home.scope, new.id).await.unwrap(), None, "one is not without the other");
    let next = OwnAgent { version: 2, ..first };
    let begun = w.store().put_agent(home.scope, &next, Some(&new), events()).await.unwrap().unwrap();
    assert_eq!((begun.version, begun.status), (1, PromptStatus::Draft));
    assert_eq!(w.store().prompt(home.scope, new.id).await.unwrap(), Some(begun));
    assert_eq!(head(&w, &home).await, before + 2);
}

pub async fn agents_are_forgotten_together_or_not_at_all(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (one, two, other) = (agent(&w, "One"), agent(&w, "Two"), agent(&w, "Other"));
    for agent in [&one, &two, &other] {
        put(&w, &home, agent).await.unwrap();
    }
    let forget = async |dropped: &[(AgentId, u32)]| {
        w.store().drop_agents(home.scope, dropped, w.now(), w.event("agent.resync")).await
    };
    let before = head(&w, &home).await;
    assert_eq!(code(forget(&[(one.id, 1), (two.id, 2)]).await), ErrorCode::Conflict);
    for version in [0, 1] {
        let absent = (AgentId::from_uuid(w.id()), version);
        assert_eq!(code(forget(&[(one.id, 1), absent]).await), ErrorCode::NotFound, "version {version}");
    }
    assert_eq!(code(forget(&[(one.id, 0)]).await), ErrorCode::Conflict);
    assert_eq!(w.store().agents(home.scope).await.unwrap().len(), 3);
    assert_eq!(head(&w, &home).await, before);
    forget(&[(one.id, 1), (two.id, 1)]).await.unwrap();
    assert_eq!(*w.store().agents(home.scope).await.unwrap(), std::slice::from_ref(&other));
    assert_eq!(head(&w, &home).await, before + 1);
    put(&w, &home, &one).await.unwrap();
}

pub async fn what_a_tenant_says_about_agents_is_nothing_to_another(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let mine = agent(&w, "Writer");
    put(&w, &home, &mine).await.unwrap();
    assert!(w.store().agents(other.scope).await.unwrap().is_empty());
    let event = w.event("agent.delete");
    let refused = w.store().drop_agents(other.scope, &[(mine.id, 1)], w.now(), event).await;
    assert_eq!(code(refused), ErrorCode::NotFound);
    // The same id and key stand for another agent there: a bundled one's override has the same in every tenant.
    let theirs = OwnAgent { draft: None, ..mine.clone() };
    put(&w, &other, &theirs).await.unwrap();
    let mine_still: Arc<Vec<OwnAgent>> = w.store().agents(home.scope).await.unwrap();
    assert_eq!(*mine_still, [mine]);
    assert_eq!(*w.store().agents(other.scope).await.unwrap(), [theirs]);
}
