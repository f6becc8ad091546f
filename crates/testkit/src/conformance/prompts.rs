//! Governed prompts: versions, acts on what was read, and one that is active.

use futures::future::join_all;
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::{PromptId, UserId};
use kybern_core::prompt::{NewPrompt, OfAgent, Prompt, PromptAct, PromptChange, PromptFilter, PromptStatus};

use super::fixture::{code, pages};
use super::{FullHarness, Home, World};

const WRITER: Option<&str> = Some("writer");

async fn draft(w: &World, home: &Home, agent: Option<&str>, text: &str) -> Prompt {
    let new = NewPrompt {
        id: PromptId::from_uuid(w.id()),
        agent: agent.map(str::to_owned),
        text: text.to_owned(),
        by: home.user,
        at: w.now(),
    };
    w.store().draft_prompt(home.scope, &new, w.event("prompt.draft")).await.unwrap()
}

/// Acts on a prompt as it was read, in place of `retires`.
async fn act(
    w: &World,
    home: &Home,
    before: &Prompt,
    act: PromptAct,
    retires: Option<&Prompt>,
) -> Result<Prompt, Error> {
    let event = w.event(act.action());
    let after = before.clone().after(act, home.user, None, w.now())?;
    let change = PromptChange { before: before.clone(), after: after.clone(), retires: retires.cloned() };
    w.store().change_prompt(home.scope, &change, event).await.map(|()| after)
}

async fn approved(w: &World, home: &Home, agent: Option<&str>, text: &str) -> Prompt {
    let drafted = draft(w, home, agent, text).await;
    let review = act(w, home, &drafted, PromptAct::Submit, None).await.unwrap();
    act(w, home, &review, PromptAct::approval_of(&review), None).await.unwrap()
}

async fn active(w: &World, home: &Home) -> Vec<(Option<String>, u32)> {
    let mut active: Vec<_> = w.store().active_prompts(home.scope).await.unwrap().iter().cloned().collect();
    active.sort_by(|a, b| a.agent.cmp(&b.agent));
    active.iter().map(|prompt| (prompt.agent.clone(), prompt.version)).collect()
}

pub async fn a_prompt_goes_its_way_and_every_step_is_audited(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = draft(&w, &home, WRITER, "You write.\n\"Briefly\".").await;
    assert_eq!((first.version, first.status, first.authors.as_slice()), (1, PromptStatus::Draft, &[home.user][..]));
    assert_eq!(w.store().prompt(home.scope, first.id).await.unwrap(), Some(first.clone()));
    let edited = act(&w, &home, &first, PromptAct::Edit("You edit.".to_owned()), None).await.unwrap();
    let review = act(&w, &home, &edited, PromptAct::Submit, None).await.unwrap();
    let back = act(&w, &home, &review, PromptAct::Reject("too short".to_owned()), None).await.unwrap();
    assert_eq!(w.store().prompt(home.scope, first.id).await.unwrap().unwrap().note.as_deref(), Some("too short"));
    let review = act(&w, &home, &back, PromptAct::Submit, None).await.unwrap();
    let good = act(&w, &home, &review, PromptAct::approval_of(&review), None).await.unwrap();
    let used = act(&w, &home, &good, PromptAct::activation_of(&good), None).await.unwrap();
    assert_eq!(w.store().prompt(home.scope, first.id).await.unwrap(), Some(used.clone()));
    assert_eq!(*w.store().active_prompts(home.scope).await.unwrap(), [std::sync::Arc::new(used)]);
    let acts = w.acts(&home).await;
    let expected =
        ["draft", "edit", "submit", "reject", "submit", "approve", "activate"].map(|act| format!("prompt.{act}"));
    assert_eq!(acts[acts.len() - 7..], expected);
}

pub async fn versions_count_up_for_each_agent(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut versions = Vec::new();
    for agent in [None, WRITER, WRITER, None, Some("planner"), WRITER] {
        versions.push(draft(&w, &home, agent, "You help.").await.version);
    }
    assert_eq!(versions, [1, 1, 2, 2, 1, 3]);
    let drafts = (0..10).map(async |_| draft(&w, &home, None, "You help.").await.version);
    let mut given = join_all(drafts).await;
    given.sort_unstable();
    assert_eq!(given, (3..13).collect::<Vec<_>>());
}

pub async fn an_act_on_what_was_changed_meanwhile_is_a_conflict(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = draft(&w, &home, WRITER, "You write.").await;
    let edited = act(&w, &home, &first, PromptAct::Edit("You edit.".to_owned()), None).await.unwrap();
    let head = w.store().audit_head(home.scope).await.unwrap();
    assert_eq!(code(act(&w, &home, &first, PromptAct::Submit, None).await), ErrorCode::Conflict);
    let nobody = Prompt { id: PromptId::from_uuid(w.id()), ..edited.clone() };
    assert_eq!(code(act(&w, &home, &nobody, PromptAct::Submit, None).await), ErrorCode::Conflict);
    assert_eq!(w.store().audit_head(home.scope).await.unwrap(), head, "what is refused is no act");
    let tries = (0..20)
        .map(async |_| act(&w, &home, &edited, PromptAct::Submit, None).await.map(drop).map_err(|error| error.code()));
    let answers = join_all(tries).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(ErrorCode::Conflict))));
}

pub async fn one_prompt_of_an_agent_is_active(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (one, two) = (approved(&w, &home, WRITER, "One.").await, approved(&w, &home, WRITER, "Two.").await);
    let all = approved(&w, &home, None, "All.").await;
    let one = act(&w, &home, &one, PromptAct::activation_of(&one), None).await.unwrap();
    act(&w, &home, &all, PromptAct::activation_of(&all), None).await.unwrap();
    assert_eq!(active(&w, &home).await, [(None, 1), (Some("writer".to_owned()), 1)]);
    // Without making room, and with making another's.
    let two_first = act(&w, &home, &two, PromptAct::activation_of(&two), None).await;
    assert_eq!(code(two_first), ErrorCode::Conflict);
    assert_eq!(code(act(&w, &home, &two, PromptAct::activation_of(&two), Some(&two)).await), ErrorCode::Conflict);
    let two = act(&w, &home, &two, PromptAct::activation_of(&two), Some(&one)).await.unwrap();
    assert_eq!(active(&w, &home).await, [(None, 1), (Some("writer".to_owned()), 2)]);
    let retired = w.store().prompt(home.scope, one.id).await.unwrap().unwrap();
    assert_eq!(retired.status, PromptStatus::Retired);
    act(&w, &home, &retired, PromptAct::activation_of(&retired), Some(&two)).await.unwrap();
    assert_eq!(active(&w, &home).await, [(None, 1), (Some("writer".to_owned()), 1)]);
}

pub async fn of_ten_that_are_activated_at_once_one_is(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut ready = Vec::new();
    for n in 0..10 {
        ready.push(approved(&w, &home, WRITER, &format!("Text {n}.")).await);
    }
    let tries = ready.iter().map(async |one| {
        act(&w, &home, one, PromptAct::activation_of(one), None).await.map(drop).map_err(|error| error.code())
    });
    let answers = join_all(tries).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(ErrorCode::Conflict))), "{answers:?}");
    let done = answers.iter().filter(|answer| answer.is_ok()).count();
    assert_eq!((done, active(&w, &home).await.len()), (1, 1));
}

pub async fn pages_of_prompts_visit_each_once_newest_first(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let mut made = Vec::new();
    for agent in [None, WRITER, WRITER, None, WRITER] {
        made.push(draft(&w, &home, agent, "You help.").await);
    }
    made[1] = act(&w, &home, &made[1], PromptAct::Submit, None).await.unwrap();
    made.reverse();
    let filter = |agent, status| PromptFilter { agent, status };
    let writer = || OfAgent::One("writer".to_owned());
    for (wanted, places) in [
        (filter(OfAgent::Any, None), vec![0, 1, 2, 3, 4]),
        (filter(OfAgent::All, None), vec![1, 4]),
        (filter(writer(), None), vec![0, 2, 3]),
        (filter(writer(), Some(PromptStatus::Review)), vec![3]),
        (filter(OfAgent::Any, Some(PromptStatus::Active)), vec![]),
        (filter(OfAgent::One("nobody".to_owned()), None), vec![]),
    ] {
        let seen = pages(async |after| w.store().prompts(home.scope, &wanted, after, 2).await.unwrap()).await;
        let expected: Vec<Prompt> = places.iter().map(|n: &usize| made[*n].clone()).collect();
        assert_eq!(seen, expected, "{wanted:?}");
    }
}

pub async fn another_tenant_neither_sees_nor_changes_a_prompt(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let mine = approved(&w, &home, WRITER, "Mine.").await;
    assert_eq!(w.store().prompt(other.scope, mine.id).await.unwrap(), None);
    let listed = w.store().prompts(other.scope, &PromptFilter::default(), None, 10).await.unwrap();
    assert!(listed.items.is_empty());
    assert_eq!(code(act(&w, &other, &mine, PromptAct::activation_of(&mine), None).await), ErrorCode::Conflict);
    act(&w, &home, &mine, PromptAct::activation_of(&mine), None).await.unwrap();
    assert!(w.store().active_prompts(other.scope).await.unwrap().is_empty());
    let theirs = approved(&w, &other, WRITER, "Theirs.").await;
    assert_eq!(theirs.version, 1);
    act(&w, &other, &theirs, PromptAct::activation_of(&theirs), None).await.unwrap();
    let authors: Vec<UserId> = w.store().active_prompts(home.scope).await.unwrap()[0].authors.clone();
    assert_eq!(authors, [home.user]);
}
