//! Conversations and their turns in lists, for their user and for nobody else.

use kybern_core::approval::{ApprovalFilter, ApprovalStatus, NewApproval};
use kybern_core::error::ErrorCode;
use kybern_core::id::{ChatId, UserId};
use kybern_core::ports::TaskFilter;
use kybern_core::task::{Effect, Lease, NewTask, TaskStatus, WaitKind};
use kybern_core::time::Millis;

use super::chats::{started, waits};
use super::fixture::code;
use super::{FullHarness, World};

pub async fn turns_are_listed_for_their_user(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, Some(home.user)).await;
    let (mine, nobodys, other) = (w.turn(chat, "mine"), w.turn(chat, "nobody's"), w.new_task());
    let ids = [mine.id, nobodys.id, other.id];
    for task in [NewTask { user: Some(home.user), ..mine }, NewTask { user: None, ..nobodys }, other] {
        w.take_turn(&home, task).await;
    }
    let seen = async |talks_of, status| {
        let filter = TaskFilter { talks_of, status, limit: 200, ..TaskFilter::default() };
        w.store().tasks(home.scope, &filter).await.unwrap().items.into_iter().map(|task| task.id).collect::<Vec<_>>()
    };
    let stranger = UserId::from_uuid(w.id());
    assert_eq!(seen(None, None).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(seen(Some(home.user), None).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(seen(Some(stranger), None).await, [ids[2], ids[1]]);
    let running = seen(Some(stranger), Some(TaskStatus::Executing)).await;
    assert!(!running.contains(&ids[0]), "{running:?}");
}

pub async fn what_a_turn_asks_and_sends_is_listed_for_its_user(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (mut asked, mut sent) = (Vec::new(), Vec::new());
    // A turn of the user's, one of nobody's, and a task that is no turn.
    for user in [Some(home.user), None] {
        let chat = w.chat(&home, user).await;
        let task = NewTask { user, ..w.turn(chat, "hello") };
        asks_and_sends(&w, &started(w.take_turn(&home, task).await), &mut asked, &mut sent).await;
    }
    asks_and_sends(&w, &w.leased(&home, "w").await, &mut asked, &mut sent).await;
    let stranger = UserId::from_uuid(w.id());
    let readers = [
        (None, true, false),
        (Some(home.user), true, false),
        (Some(home.user), false, false),
        (Some(stranger), true, true),
        (Some(stranger), false, true),
    ];
    for (talks_of, calls, hides) in readers {
        let seen = |ids: &[(uuid::Uuid, bool)]| -> Vec<uuid::Uuid> {
            let private = |n: usize| n < ids.len() / 3;
            let shown = ids.iter().enumerate().filter(|(n, (_, call))| !(hides && private(*n) && !(*call && calls)));
            shown.map(|(_, (id, _))| *id).collect()
        };
        for status in [None, Some(ApprovalStatus::Pending)] {
            let filter = ApprovalFilter { status, task: None, talks_of, calls };
            let page = w.store().approvals(home.scope, filter, None, 200).await.unwrap();
            let found: Vec<uuid::Uuid> = page.items.iter().map(|one| one.asked.id.as_uuid()).collect();
            assert_eq!(found, seen(&asked), "{talks_of:?} {status:?}");
        }
        let done = ApprovalFilter { status: Some(ApprovalStatus::Denied), task: None, talks_of, calls };
        assert!(w.store().approvals(home.scope, done, None, 200).await.unwrap().items.is_empty());
        let messages = w.store().outbox(home.scope, talks_of, None, 200).await.unwrap().items;
        let found: Vec<uuid::Uuid> = messages.iter().rev().map(|one| one.message.id.as_uuid()).collect();
        assert_eq!(found, seen(&sent), "{talks_of:?}");
        let first = messages.last().and_then(|message| message.task_id);
        let of_task = ApprovalFilter { status: None, task: first, talks_of, calls };
        let found = w.store().approvals(home.scope, of_task, None, 200).await.unwrap().items.len();
        assert_eq!(found, 3, "all three questions of a task that is nobody's or one's own");
    }
}

/// A task asks for a form, whether a call may be made and whether another was, and sends a message.
async fn asks_and_sends(
    w: &World,
    lease: &Lease,
    asked: &mut Vec<(uuid::Uuid, bool)>,
    sent: &mut Vec<(uuid::Uuid, bool)>,
) {
    let mut effects = Vec::new();
    for (n, kind) in (1..).zip([WaitKind::Input, WaitKind::Confirmation, WaitKind::Ambiguous]) {
        let question = NewApproval { kind, ..super::approvals::question(w, &w.wait("s", n)) };
        asked.push((question.id.as_uuid(), kind.is_about_a_call()));
        effects.push(Effect::Ask(Box::new(question)));
    }
    let message = super::outbox::message(w);
    sent.push((message.id.as_uuid(), false));
    effects.push(Effect::Send(Box::new(message)));
    w.commit(lease, w.effects(effects)).await;
}

pub async fn chats_are_listed_by_user_cleared_and_deleted(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let user = Some(home.user);
    let (first, second, third) = (w.chat(&home, user).await, w.chat(&home, None).await, w.chat(&home, user).await);
    let ids = async |user, after, limit| {
        let page = w.store().chats(home.scope, user, after, limit).await.unwrap();
        (page.items.into_iter().map(|chat| chat.id).collect::<Vec<_>>(), page.next.is_some())
    };
    assert_eq!(ids(None, None, 10).await, (vec![third, second, first], false));
    assert_eq!(ids(user, None, 1).await, (vec![third], true));
    assert_eq!(ids(user, Some(third), 1).await, (vec![first], false));
    let task = w.turn(third, "hello");
    let lease = started(w.take_turn(&home, task.clone()).await);
    let waiting = waits(w.take_turn(&home, w.turn(third, "and")).await);
    let store = w.store();
    assert!(store.clear_chat(home.scope, third, w.now(), w.event("chat.reset")).await.unwrap());
    assert!(w.contents(&home, third).await.is_empty() && store.open_turns(home.scope, third).await.unwrap().is_empty());
    for id in [task.id, waiting] {
        assert!(store.task(home.scope, id).await.unwrap().unwrap().cancel_requested, "what goes on is wanted to end");
    }
    w.claim_only("w", waiting).await;
    let cleared = store.chat(home.scope, third).await.unwrap();
    w.harness.clock.advance(Millis(1_000));
    w.answered(&lease, &task, "too late").await;
    assert_eq!(store.chat(home.scope, third).await.unwrap(), cleared, "nothing was said in it");
    assert!(w.contents(&home, third).await.is_empty(), "what was cleared stays clear");
    let task = w.turn(third, "hello again");
    let lease = started(w.take_turn(&home, task.clone()).await);
    let late = waits(w.take_turn(&home, w.turn(third, "and")).await);
    assert!(store.delete_chat(home.scope, third, w.now(), w.event("chat.delete")).await.unwrap());
    assert!(!store.delete_chat(home.scope, third, w.now(), w.event("chat.delete")).await.unwrap());
    assert!(store.chat(home.scope, third).await.unwrap().is_none());
    w.claim_only("w", late).await;
    w.answered(&lease, &task, "to nobody").await;
    assert!(w.contents(&home, third).await.is_empty(), "the end of the task is taken all the same");
}

pub async fn another_tenant_sees_and_changes_nothing_of_it(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let chat = w.chat(&home, None).await;
    let task = w.turn(chat, "ours");
    let lease = started(w.take_turn(&home, task.clone()).await);
    w.answered(&lease, &task, "yes").await;
    let said = w.store().messages(home.scope, chat, None, 10).await.unwrap().items;
    let (store, scope) = (w.store(), other.scope);
    assert!(store.chat(scope, chat).await.unwrap().is_none());
    assert!(store.chats(scope, None, None, 10).await.unwrap().items.is_empty());
    assert!(store.messages(scope, chat, None, 10).await.unwrap().items.is_empty());
    assert!(store.message(scope, chat, said[0].id).await.unwrap().is_none());
    assert!(store.said_before(scope, chat, said[1].id, 10).await.unwrap().is_empty());
    assert!(!store.redact_message(scope, chat, said[0].id, w.now(), w.event("x")).await.unwrap());
    assert!(!store.clear_chat(scope, chat, w.now(), w.event("x")).await.unwrap());
    assert!(!store.delete_chat(scope, chat, w.now(), w.event("x")).await.unwrap());
    let copy = w.new_chat(ChatId::from_uuid(w.id()), None);
    assert_eq!(code(store.fork_chat(scope, chat, None, &copy, w.event("x")).await), ErrorCode::NotFound);
    assert_eq!(code(store.submit(scope, w.turn(chat, "let me in"), None).await), ErrorCode::NotFound);
    assert_eq!(w.contents(&home, chat).await, ["ours", "yes"]);
}
