//! Own tools: versions, acts on what was read, one version that is active, and how many there may be.

use std::sync::Arc;

use futures::future::join_all;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::OwnToolId;
use kybern_core::time::Millis;
use kybern_core::tool::own::{
    MAX_ACTIVE, MAX_ACTIVE_BYTES, MAX_VERSIONS, NewOwnTool, OwnDefinition, OwnTool, OwnToolAct, OwnToolChange,
    OwnToolFilter, OwnToolStatus,
};
use serde_json::json;

use super::fixture::{code, pages};
use super::{FullHarness, Home, Spoilt, World};

const FIND: &str = "crm.find_customer";
const PING: &str = "crm.ping";

fn definition(key: &str, description: &str) -> OwnDefinition {
    let definition = json!({
        "key": key,
        "description": description,
        "inputSchema": {"type": "object", "properties": {"n": {"type": "number", "maximum": 0.1}}},
        "effect": "keyed",
        "risk": "R3",
        "tags": ["customers"],
        "http": {
            "method": "POST",
            "url": "https://crm.example.com/find",
            "headers": {"X-Key": {"secret": "crm_token"}},
            "json": {"n": "{{ args.n }}", "text": "\"Überfracht\"\n"},
        },
    });
    serde_json::from_value(definition).unwrap()
}

async fn try_draft(w: &World, home: &Home, definition: OwnDefinition) -> Result<OwnTool, Error> {
    let new = NewOwnTool { id: OwnToolId::from_uuid(w.id()), definition, by: home.user, at: w.now() };
    w.store().draft_own_tool(home.scope, &new, w.event("own_tool.draft")).await
}

async fn draft(w: &World, home: &Home, key: &str) -> OwnTool {
    try_draft(w, home, definition(key, "Finds a customer.")).await.unwrap()
}

/// Acts on a version as it was read.
async fn act(w: &World, home: &Home, before: &OwnTool, act: &OwnToolAct) -> Result<OwnTool, Error> {
    let event = w.event(act.action());
    let after = before.clone().after(act, home.user, None, w.now())?;
    let change = OwnToolChange { before: before.clone(), after: after.clone() };
    w.store().change_own_tool(home.scope, &change, event).await.map(|()| after)
}

async fn approved(w: &World, home: &Home, definition: OwnDefinition) -> OwnTool {
    let drafted = try_draft(w, home, definition).await.unwrap();
    let review = act(w, home, &drafted, &OwnToolAct::Submit).await.unwrap();
    act(w, home, &review, &OwnToolAct::Approve(review.definition.hash())).await.unwrap()
}

async fn activate(w: &World, home: &Home, tool: &OwnTool) -> Result<OwnTool, Error> {
    act(w, home, tool, &OwnToolAct::Activate(tool.definition.hash())).await
}

async fn active(w: &World, home: &Home) -> Vec<(String, u32)> {
    let active = w.store().active_own_tools(home.scope).await.unwrap();
    active.iter().map(|tool| (tool.definition.key.clone(), tool.version)).collect()
}

fn named(active: &[(&str, u32)]) -> Vec<(String, u32)> {
    active.iter().map(|(key, version)| ((*key).to_owned(), *version)).collect()
}

pub async fn an_own_tool_goes_its_way_and_every_step_is_audited(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = draft(&w, &home, FIND).await;
    assert_eq!((first.version, first.status, first.author), (1, OwnToolStatus::Draft, home.user));
    assert_eq!(w.store().own_tool(home.scope, first.id).await.unwrap(), Some(first.clone()));
    let review = act(&w, &home, &first, &OwnToolAct::Submit).await.unwrap();
    let sent_back = act(&w, &home, &review, &OwnToolAct::Reject("no time-out".to_owned())).await.unwrap();
    assert_eq!(w.store().own_tool(home.scope, first.id).await.unwrap(), Some(sent_back));
    let good = approved(&w, &home, definition(FIND, "Finds one.")).await;
    let used = activate(&w, &home, &good).await.unwrap();
    assert_eq!((used.version, used.approved_by), (2, Some(home.user)));
    assert_eq!(w.store().own_tool(home.scope, good.id).await.unwrap(), Some(used.clone()));
    assert_eq!(**w.store().active_own_tools(home.scope).await.unwrap(), *std::slice::from_ref(&used));
    let off = act(&w, &home, &used, &OwnToolAct::Disable).await.unwrap();
    assert!(active(&w, &home).await.is_empty());
    activate(&w, &home, &off).await.unwrap();
    assert_eq!(active(&w, &home).await, named(&[(FIND, 2)]));
    let acts = w.acts(&home).await;
    let expected = ["draft", "submit", "reject", "draft", "submit", "approve", "activate", "disable", "activate"]
        .map(|act| format!("own_tool.{act}"));
    assert_eq!(acts[acts.len() - 9..], expected);
}

pub async fn versions_count_up_for_each_tool(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut versions = Vec::new();
    for key in [FIND, PING, PING, FIND, PING] {
        versions.push(draft(&w, &home, key).await.version);
    }
    assert_eq!(versions, [1, 1, 2, 2, 3]);
    let mut given = join_all((0..10).map(async |_| draft(&w, &home, FIND).await.version)).await;
    given.sort_unstable();
    assert_eq!(given, (3..13).collect::<Vec<_>>());
}

pub async fn an_act_on_a_version_that_was_changed_meanwhile_is_a_conflict(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = draft(&w, &home, FIND).await;
    let review = act(&w, &home, &first, &OwnToolAct::Submit).await.unwrap();
    let head = w.store().audit_head(home.scope).await.unwrap();
    assert_eq!(code(act(&w, &home, &first, &OwnToolAct::Submit).await), ErrorCode::Conflict);
    let nobody = OwnTool { id: OwnToolId::from_uuid(w.id()), ..first };
    assert_eq!(code(act(&w, &home, &nobody, &OwnToolAct::Submit).await), ErrorCode::Conflict);
    assert_eq!(w.store().audit_head(home.scope).await.unwrap(), head, "what is refused is no act");
    let approve = OwnToolAct::Approve(review.definition.hash());
    let tries = (0..20).map(async |_| act(&w, &home, &review, &approve).await.map(drop).map_err(|error| error.code()));
    let answers = join_all(tries).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(ErrorCode::Conflict))));
}

pub async fn one_version_of_a_tool_is_active(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut ready = Vec::new();
    for n in 0..5 {
        ready.push(approved(&w, &home, definition(FIND, &format!("Text {n}."))).await);
    }
    let ping = approved(&w, &home, definition(PING, "Pings.")).await;
    activate(&w, &home, &ping).await.unwrap();
    let first = activate(&w, &home, &ready[0]).await.unwrap();
    assert_eq!(active(&w, &home).await, named(&[(FIND, 1), (PING, 1)]));
    w.harness.clock.advance(Millis(5));
    let second = activate(&w, &home, &ready[1]).await.unwrap();
    assert_eq!(active(&w, &home).await, named(&[(FIND, 2), (PING, 1)]));
    let retired = w.store().own_tool(home.scope, first.id).await.unwrap().unwrap();
    assert_eq!(retired, OwnTool { status: OwnToolStatus::Disabled, updated_at: second.updated_at, ..first });
    // Back to the one before.
    activate(&w, &home, &retired).await.unwrap();
    assert_eq!(active(&w, &home).await, named(&[(FIND, 1), (PING, 1)]));
    let tries = ready[2..].iter().map(async |one| activate(&w, &home, one).await.map(drop));
    let answers = join_all(tries).await;
    assert!(answers.iter().all(Result::is_ok), "each is as it was read: {answers:?}");
    let found = w.store().own_tools(home.scope, &OwnToolFilter::default(), None, 100).await.unwrap().items;
    let count = found.iter().filter(|tool| tool.status == OwnToolStatus::Active).count();
    assert_eq!((count, active(&w, &home).await.len()), (2, 2));
}

pub async fn the_active_tools_are_the_same_list_while_nothing_changes(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let ready = approved(&w, &home, definition(FIND, "Finds.")).await;
    let list = async || w.store().active_own_tools(home.scope).await.unwrap();
    let before = list().await;
    assert!(before.is_empty());
    let used = activate(&w, &home, &ready).await.unwrap();
    let known = list().await;
    assert_eq!(known.len(), 1);
    // Drafts change nothing of what is in use, nor does what changes in other nouns.
    draft(&w, &home, FIND).await;
    draft(&w, &home, PING).await;
    w.tenant("second").await;
    assert!(Arc::ptr_eq(&known, &list().await));
    act(&w, &home, &used, &OwnToolAct::Disable).await.unwrap();
    assert!(list().await.is_empty());
}

pub async fn pages_of_own_tools_visit_each_once_newest_first(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut made = Vec::new();
    for key in [FIND, PING, PING, FIND, PING] {
        made.push(draft(&w, &home, key).await);
    }
    made[1] = act(&w, &home, &made[1], &OwnToolAct::Submit).await.unwrap();
    made.reverse();
    let filter = |key: Option<&str>, status| OwnToolFilter { key: key.map(str::to_owned), status };
    for (wanted, places) in [
        (filter(None, None), vec![0, 1, 2, 3, 4]),
        (filter(Some(PING), None), vec![0, 2, 3]),
        (filter(Some(PING), Some(OwnToolStatus::Review)), vec![3]),
        (filter(None, Some(OwnToolStatus::Active)), vec![]),
        (filter(Some("crm.nothing"), None), vec![]),
    ] {
        let seen = pages(async |after| w.store().own_tools(home.scope, &wanted, after, 2).await.unwrap()).await;
        let expected: Vec<OwnTool> = places.iter().map(|n: &usize| made[*n].clone()).collect();
        assert_eq!(seen, expected, "{wanted:?}");
    }
}

pub async fn a_deleted_tool_is_gone_with_every_version(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let ready = approved(&w, &home, definition(FIND, "Finds.")).await;
    activate(&w, &home, &ready).await.unwrap();
    draft(&w, &home, FIND).await;
    let other = draft(&w, &home, PING).await;
    let delete = async |key: &str| {
        w.store().delete_own_tool(home.scope, key, w.now(), w.event("own_tool.delete")).await.unwrap()
    };
    let head = w.store().audit_head(home.scope).await.unwrap();
    assert!(!delete("crm.nothing").await);
    assert_eq!(w.store().audit_head(home.scope).await.unwrap(), head, "nothing was deleted");
    assert!(delete(FIND).await);
    assert!(active(&w, &home).await.is_empty());
    let left = w.store().own_tools(home.scope, &OwnToolFilter::default(), None, 10).await.unwrap();
    assert_eq!(left.items, [other]);
    assert!(!delete(FIND).await);
    let event = w.store().audit_events(home.scope, 0, 100).await.unwrap().pop().unwrap().event;
    assert_eq!(event.action, "own_tool.delete");
    assert_eq!(draft(&w, &home, FIND).await.version, 1, "it begins anew");
}

pub async fn another_tenant_neither_sees_nor_changes_an_own_tool(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let mine = approved(&w, &home, definition(FIND, "Mine.")).await;
    assert_eq!(w.store().own_tool(other.scope, mine.id).await.unwrap(), None);
    let listed = w.store().own_tools(other.scope, &OwnToolFilter::default(), None, 10).await.unwrap();
    assert!(listed.items.is_empty());
    assert_eq!(code(activate(&w, &other, &mine).await), ErrorCode::Conflict);
    activate(&w, &home, &mine).await.unwrap();
    assert!(active(&w, &other).await.is_empty());
    let theirs = approved(&w, &other, definition(FIND, "Theirs.")).await;
    assert_eq!(theirs.version, 1);
    activate(&w, &other, &theirs).await.unwrap();
    assert_eq!(w.store().active_own_tools(home.scope).await.unwrap()[0].definition.description, "Mine.");
    assert!(w.store().delete_own_tool(other.scope, FIND, w.now(), w.event("own_tool.delete")).await.unwrap());
    assert_eq!(active(&w, &home).await, named(&[(FIND, 1)]));
}

pub async fn a_tool_has_so_many_versions(h: FullHarness) {
    let (w, home) = World::new(h).await;
    for _ in 0..MAX_VERSIONS {
        draft(&w, &home, FIND).await;
    }
    let refused = try_draft(&w, &home, definition(FIND, "One more.")).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Unprocessable);
    assert!(refused.to_string().contains("DELETE /api/tools/crm.find_customer"), "{refused}");
    draft(&w, &home, PING).await;
    assert!(w.store().delete_own_tool(home.scope, FIND, w.now(), w.event("own_tool.delete")).await.unwrap());
    draft(&w, &home, FIND).await;
}

pub async fn a_tenant_has_so_many_tools_active_and_so_many_bytes_of_them(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let large = |n: usize| {
        let mut large = definition(&format!("large.tool_{n}"), "A large one.");
        large.input_schema["description"] = json!("x".repeat(90_000));
        large
    };
    let each = large(0).bytes();
    let most = usize::try_from(MAX_ACTIVE_BYTES).unwrap() / each;
    let into_use = async |home: &Home, definition: OwnDefinition| {
        let tool = approved(&w, home, definition).await;
        activate(&w, home, &tool).await.unwrap()
    };
    let used = join_all((0..most).map(|n| into_use(&home, large(n)))).await;
    let more = approved(&w, &home, large(most)).await;
    let refused = activate(&w, &home, &more).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Unprocessable);
    assert!(refused.to_string().contains("/disable"), "{refused}");
    // Another version of one that is active takes its place.
    let next = approved(&w, &home, large(0)).await;
    activate(&w, &home, &next).await.unwrap();
    act(&w, &home, &used[1], &OwnToolAct::Disable).await.unwrap();
    activate(&w, &home, &more).await.unwrap();

    let other = w.tenant("second").await;
    let small = |n: u64| into_use(&other, definition(&format!("small.tool_{n}"), "A small one."));
    join_all((0..MAX_ACTIVE).map(small)).await;
    let more = approved(&w, &other, definition(PING, "Pings.")).await;
    assert_eq!(code(activate(&w, &other, &more).await), ErrorCode::Unprocessable);
    assert_eq!(active(&w, &other).await.len() as u64, MAX_ACTIVE);
}

pub async fn an_own_tool_that_cannot_be_read_harms_no_other(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let bad = approved(&w, &home, definition(FIND, "Finds.")).await;
    let bad = activate(&w, &home, &bad).await.unwrap();
    let ping = approved(&w, &home, definition(PING, "Pings.")).await;
    w.harness.spoil(Spoilt::OwnTool(bad.id)).await;
    activate(&w, &home, &ping).await.unwrap();
    assert_eq!(active(&w, &home).await, named(&[(PING, 1)]));
    let listed = w.store().own_tools(home.scope, &OwnToolFilter::default(), None, 10).await.unwrap();
    assert_eq!(listed.items.iter().map(|tool| tool.id).collect::<Vec<_>>(), [ping.id]);
    assert!(w.store().own_tool(home.scope, bad.id).await.is_err());
    let named_row = w.store().unreadable(10).await.unwrap();
    assert_eq!(named_row.iter().map(|row| row.table).collect::<Vec<_>>(), ["own_tool"]);
    assert!(named_row[0].id.contains(&bad.id.as_uuid().to_string()), "{named_row:?}");
    // Another version takes its place, though it is active and cannot be read.
    let good = approved(&w, &home, definition(FIND, "Finds again.")).await;
    activate(&w, &home, &good).await.unwrap();
    assert_eq!(active(&w, &home).await, named(&[(FIND, 2), (PING, 1)]));
    assert!(w.store().delete_own_tool(home.scope, FIND, w.now(), w.event("own_tool.delete")).await.unwrap());
    assert_eq!(w.store().unreadable(10).await.unwrap(), []);
}
