//! Conversations: messages in order, one turn at a time, and what is taken back.

use kybern_core::chat::{Attached, Chat, MAX_WAITING, Message, NewTurn, Speaker, TurnRef};
use kybern_core::error::ErrorCode;
use kybern_core::id::{ChatId, MessageId, TaskId, UserId};
use kybern_core::model::{ModelMessage, Role};
use kybern_core::retention::TaskHold;
use kybern_core::slots::WorkerCapacity;
use kybern_core::task::{
    Channel, Commit, Effect, Lease, NewChild, NewKind, NewTask, Submitted, TaskChange, TaskStatus, WorkerId,
};
use serde_json::{Value, json};

use super::fixture::{LONG, code, end, pages, plan};
use super::{FullHarness, Home, World};

impl World {
    pub(super) async fn chat(&self, home: &Home, user: Option<UserId>) -> ChatId {
        let id = ChatId::from_uuid(self.id());
        let chat = self.new_chat(id, user);
        self.store().put_chat(home.scope, &chat, &[], self.event("chat.create")).await.unwrap();
        id
    }

    pub(super) fn new_chat(&self, id: ChatId, user_id: Option<UserId>) -> Chat {
        let (agent, title) = (Some("helper".to_owned()), "a talk".to_owned());
        Chat { id, user_id, agent, title, forked_from: None, created_at: self.now(), updated_at: self.now() }
    }

    pub(super) fn says(&self, chat_id: ChatId, role: Speaker, content: &str) -> Message {
        Message {
            id: MessageId::from_uuid(self.id()),
            chat_id,
            role,
            content: content.to_owned(),
            task_id: None,
            tool_calls: Value::Null,
            finish_reason: None,
            usage: kybern_core::money::Usage::default(),
            transcript: Vec::new(),
            tainted: false,
            redacted_at: None,
            created_at: self.now(),
        }
    }

    /// A task that is the next turn of a chat.
    pub(super) fn turn(&self, chat: ChatId, content: &str) -> NewTask {
        let message = self.says(chat, Speaker::User, content);
        let answer_id = MessageId::from_uuid(self.id());
        let turn = TurnRef { chat_id: chat, message_id: message.id, answer_id };
        let new = NewTurn { turn, message };
        let payload = json!(turn);
        let plan = Some(plan("test.plan").into());
        NewTask { channel: Channel::Chat, kind: NewKind::Turn(Box::new(new)), payload, plan, ..self.new_task() }
    }

    pub(super) async fn take_turn(&self, home: &Home, task: NewTask) -> Submitted {
        let worker = WorkerId::new("w");
        self.store().submit(home.scope, task, Some((&worker, LONG))).await.unwrap()
    }

    /// Ends a turn with its answer.
    pub(super) async fn answered(&self, lease: &Lease, task: &NewTask, content: &str) {
        let turn = task.turn().unwrap().turn;
        let said = self.says(turn.chat_id, Speaker::Assistant, content);
        let answer = Message {
            id: turn.answer_id,
            tool_calls: json!([{"name": "t.echo", "status": "success"}]),
            finish_reason: Some(kybern_core::agent::TurnFinish::Complete),
            transcript: vec![ModelMessage::text(Role::Assistant, "wait")],
            tainted: true,
            ..said
        };
        let effects = vec![Effect::Answer(Box::new(answer))];
        self.commit(lease, Commit { effects, ..self.changes(end(TaskStatus::Completed)) }).await;
    }

    pub(super) async fn contents(&self, home: &Home, chat: ChatId) -> Vec<String> {
        let all = self.store().messages(home.scope, chat, None, 200).await.unwrap().items;
        all.into_iter().map(|message| message.content).collect()
    }
}

pub(super) fn started(submitted: Submitted) -> Lease {
    match submitted {
        Submitted::New(claimed) => claimed.lease,
        other => panic!("expected a turn that is taken, found {other:?}"),
    }
}

pub(super) fn waits(submitted: Submitted) -> TaskId {
    match submitted {
        Submitted::Queued(task) => task.id,
        other => panic!("expected a turn that waits, found {other:?}"),
    }
}

/// Takes the first of three turns; the others wait.
async fn one_of(w: &World, home: &Home, [first, second, third]: [&NewTask; 3]) -> Lease {
    let lease = started(w.take_turn(home, first.clone()).await);
    for waiting in [second, third] {
        waits(w.take_turn(home, waiting.clone()).await);
    }
    lease
}

pub async fn a_message_is_stored_with_its_task_and_the_answer_with_its_end(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let task = w.turn(chat, "hello");
    let lease = started(w.take_turn(&home, task.clone()).await);
    assert_eq!(w.contents(&home, chat).await, ["hello"]);
    assert_eq!(w.store().open_turns(home.scope, chat).await.unwrap(), [lease.task()]);
    w.answered(&lease, &task, "hi").await;
    let all = w.store().messages(home.scope, chat, None, 200).await.unwrap().items;
    let said: Vec<(Speaker, &str, Option<TaskId>)> =
        all.iter().map(|message| (message.role, message.content.as_str(), message.task_id)).collect();
    let task_id = Some(lease.task());
    assert_eq!(said, [(Speaker::User, "hello", task_id), (Speaker::Assistant, "hi", task_id)]);
    assert_eq!(all[1].tool_calls, json!([{"name": "t.echo", "status": "success"}]));
    assert_eq!((all[1].transcript.len(), all[1].tainted), (1, true));
    assert_eq!(all[1], w.store().message(home.scope, chat, all[1].id).await.unwrap().unwrap());
    assert!(w.store().open_turns(home.scope, chat).await.unwrap().is_empty());
}

pub async fn a_turn_that_failed_is_taken_again_in_its_place_as_long_as_nothing_else_was_said(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let task = w.turn(chat, "hello");
    let lease = started(w.take_turn(&home, task.clone()).await);
    let id = lease.task();
    let answer = |content: &str| {
        let turn = task.turn().unwrap().turn;
        let said = Message { id: turn.answer_id, ..w.says(chat, Speaker::Assistant, content) };
        vec![Effect::Answer(Box::new(said))]
    };
    w.commit(&lease, Commit { effects: answer("it broke"), ..w.changes(end(TaskStatus::Failed)) }).await;
    assert_eq!(w.contents(&home, chat).await, ["hello", "it broke"]);
    w.reopen(&home, id).await.unwrap();
    assert_eq!(w.contents(&home, chat).await, ["hello"], "its answer goes");
    assert_eq!(w.store().open_turns(home.scope, chat).await.unwrap(), [id]);
    // What is said meanwhile comes after it.
    let second = w.turn(chat, "are you there?");
    let waiting = waits(w.take_turn(&home, second.clone()).await);
    let claimed = w.store().claim_due(&WorkerId::new("w"), &WorkerCapacity::of(10), LONG, w.now()).await.unwrap();
    assert_eq!(claimed.iter().map(|claimed| claimed.lease.task()).collect::<Vec<_>>(), [id]);
    let failed = Commit { effects: answer("it broke again"), ..w.changes(end(TaskStatus::Failed)) };
    w.commit(&claimed[0].lease, failed).await;
    assert_eq!(w.contents(&home, chat).await, ["hello", "it broke again", "are you there?"]);
    assert_eq!(w.store().open_turns(home.scope, chat).await.unwrap(), [waiting]);
    let refused = w.reopen(&home, id).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Conflict, "{refused}");
    assert_eq!(w.store().task(home.scope, id).await.unwrap().unwrap().status, TaskStatus::Failed);
    assert_eq!(w.contents(&home, chat).await.len(), 3, "nothing goes when nothing is tried again");
}

pub async fn a_fork_of_a_turn_is_no_turn_and_its_retry_leaves_the_conversation_alone(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let task = w.turn(chat, "hello");
    let turn = task.turn().unwrap().turn;
    let lease = started(w.take_turn(&home, task.clone()).await);
    let said = Message { id: turn.answer_id, ..w.says(chat, Speaker::Assistant, "it broke") };
    let effects = vec![Effect::Answer(Box::new(said))];
    w.commit(&lease, Commit { effects, ..w.changes(end(TaskStatus::Failed)) }).await;
    let fork = NewTask {
        id: TaskId::from_uuid(w.id()),
        kind: NewKind::Plan,
        forked_from: Some((task.id, Vec::new())),
        ..task
    };
    let lease = started(w.take_turn(&home, fork).await);
    w.commit(&lease, w.changes(end(TaskStatus::Failed))).await;
    w.reopen(&home, lease.task()).await.unwrap();
    assert_eq!(w.contents(&home, chat).await, ["hello", "it broke"]);
    assert!(w.store().open_turns(home.scope, chat).await.unwrap().is_empty());
    w.reopen(&home, turn_task(&w, &home, chat).await).await.unwrap();
    assert_eq!(w.contents(&home, chat).await, ["hello"], "the turn itself can still be taken again");
}

/// The task of the first message of a chat.
async fn turn_task(w: &World, home: &Home, chat: ChatId) -> TaskId {
    w.store().messages(home.scope, chat, None, 1).await.unwrap().items[0].task_id.unwrap()
}

pub async fn a_chat_is_cleared_and_deleted_although_a_turn_ended_without_an_answer(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let store = w.store();
    for deleted in [false, true] {
        let chat = w.chat(&home, None).await;
        let lease = started(w.take_turn(&home, w.turn(chat, "hello")).await);
        w.commit(&lease, w.changes(end(TaskStatus::Completed))).await;
        assert_eq!(store.open_turns(home.scope, chat).await.unwrap(), [lease.task()]);
        let there = match deleted {
            true => store.delete_chat(home.scope, chat, w.now(), w.event("chat.delete")).await,
            false => store.clear_chat(home.scope, chat, w.now(), w.event("chat.reset")).await,
        };
        assert!(there.unwrap() && store.open_turns(home.scope, chat).await.unwrap().is_empty());
        let task = store.task(home.scope, lease.task()).await.unwrap().unwrap();
        assert_eq!((task.status, task.cancel_requested), (TaskStatus::Completed, false), "what has ended stays so");
    }
}

pub async fn files_are_kept_with_their_message_until_it_is_taken_back(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let (first, second) = (w.turn(chat, "read"), w.turn(chat, "again"));
    for (task, redacted) in [(&first, false), (&second, true)] {
        let lease = started(w.take_turn(&home, task.clone()).await);
        let turn = task.turn().unwrap().turn;
        if redacted {
            let event = w.event("message.redact");
            assert!(w.store().redact_message(home.scope, chat, turn.message_id, w.now(), event).await.unwrap());
        }
        let transcript = vec![ModelMessage::text(Role::User, "a file")];
        let attached = Attached { chat_id: chat, message_id: turn.message_id, transcript: transcript.clone() };
        let effects = vec![Effect::Attach(Box::new(attached))];
        w.commit(&lease, Commit { effects, ..w.changes(TaskChange::Keep) }).await;
        let kept = w.store().message(home.scope, chat, turn.message_id).await.unwrap().unwrap();
        if redacted {
            assert_eq!((kept.content.as_str(), kept.transcript.len()), ("", 0), "nothing comes back");
        } else {
            assert_eq!((kept.content.as_str(), kept.tainted, &kept.transcript), ("read", true, &transcript));
        }
        w.answered(&lease, task, "done").await;
    }
}

pub async fn a_chat_takes_one_turn_at_a_time_in_order(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let [first, second, third] = ["1", "2", "3"].map(|said| w.turn(chat, said));
    let lease = one_of(&w, &home, [&first, &second, &third]).await;
    assert!(w.due().await.is_empty(), "what waits is not claimed");
    w.answered(&lease, &first, "one").await;
    let lease = w.claim_only("w", second.id).await.lease;
    w.answered(&lease, &second, "two").await;
    let lease = w.claim_only("w", third.id).await.lease;
    w.answered(&lease, &third, "three").await;
    assert_eq!(w.contents(&home, chat).await, ["1", "one", "2", "two", "3", "three"], "by their turns");
    let fourth = w.turn(chat, "4");
    started(w.take_turn(&home, fourth).await);
}

pub async fn only_so_many_turns_wait(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (chat, other) = (w.chat(&home, None).await, w.chat(&home, None).await);
    started(w.take_turn(&home, w.turn(chat, "first")).await);
    for n in 0..MAX_WAITING {
        waits(w.take_turn(&home, w.turn(chat, &format!("{n}"))).await);
    }
    let worker = WorkerId::new("w");
    let refused = w.store().submit(home.scope, w.turn(chat, "one too many"), Some((&worker, LONG))).await;
    assert_eq!(code(refused), ErrorCode::RateLimited);
    assert_eq!(w.contents(&home, chat).await.len(), 11, "nothing of it was stored");
    started(w.take_turn(&home, w.turn(other, "another chat is not kept")).await);
    let nowhere = w.turn(ChatId::from_uuid(w.id()), "hello?");
    assert_eq!(code(w.store().submit(home.scope, nowhere, None).await), ErrorCode::NotFound);
}

pub async fn a_turn_that_was_cancelled_while_it_waited_lets_the_next_one_begin(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let [first, second, third] = ["1", "2", "3"].map(|said| w.turn(chat, said));
    let lease = one_of(&w, &home, [&first, &second, &third]).await;
    w.store().request_cancel(home.scope, second.id, w.now(), w.event("task.cancel")).await.unwrap();
    let cancelled = w.claim_only("w", second.id).await.lease;
    w.answered(&cancelled, &second, "").await;
    assert!(w.due().await.is_empty(), "the first is still taken");
    w.answered(&lease, &first, "one").await;
    w.claim_only("w", third.id).await;
}

pub async fn of_two_messages_the_one_that_was_stored_first_is_answered_first(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    // The ids are older than the rows: files came with the first one.
    let [slow, quick, third] = ["with files", "quick", "3"].map(|said| w.turn(chat, said));
    let lease = one_of(&w, &home, [&quick, &slow, &third]).await;
    w.store().request_cancel(home.scope, third.id, w.now(), w.event("task.cancel")).await.unwrap();
    let cancelled = w.claim_only("w", third.id).await.lease;
    w.answered(&cancelled, &third, "").await;
    assert!(w.due().await.is_empty(), "one turn at a time");
    w.answered(&lease, &quick, "done").await;
    w.claim_only("w", slow.id).await;
}

pub async fn the_last_messages_before_one_are_what_was_said(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let said: Vec<Message> = (0..9).map(|n| w.says(chat, Speaker::User, &n.to_string())).collect();
    let (id, before) = (ChatId::from_uuid(w.id()), said[7].id);
    let mine: Vec<Message> = said.iter().map(|message| Message { chat_id: id, ..message.clone() }).collect();
    w.store().put_chat(home.scope, &w.new_chat(id, None), &mine, w.event("chat.import")).await.unwrap();
    let found = w.store().said_before(home.scope, id, before, 3).await.unwrap();
    assert_eq!(found.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["4", "5", "6"]);
    assert!(w.store().said_before(home.scope, chat, before, 3).await.unwrap().is_empty(), "another chat");
    assert_eq!(pages(async |after| w.store().messages(home.scope, id, after, 4).await.unwrap()).await, mine);
}

pub async fn what_is_taken_back_is_gone_and_was_there(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    let task = w.turn(chat, "my password");
    let lease = started(w.take_turn(&home, task.clone()).await);
    w.answered(&lease, &task, "noted").await;
    let all = w.store().messages(home.scope, chat, None, 10).await.unwrap().items;
    for message in &all {
        let done = w.store().redact_message(home.scope, chat, message.id, w.now(), w.event("message.redact")).await;
        assert!(done.unwrap());
    }
    let again = w.store().redact_message(home.scope, chat, all[0].id, w.now(), w.event("message.redact")).await;
    assert!(!again.unwrap());
    let left = w.store().messages(home.scope, chat, None, 10).await.unwrap().items;
    assert_eq!(left.len(), 2);
    for message in left {
        assert_eq!((message.content.as_str(), message.tool_calls), ("", Value::Null));
        assert!(message.transcript.is_empty() && message.redacted_at.is_some());
    }
    assert_eq!(w.acts_of(&home, "message.redact").await, 2);
}

pub async fn a_fork_has_what_was_said_until_then(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let chat = w.chat(&home, None).await;
    for n in 0..3 {
        let task = w.turn(chat, &format!("q{n}"));
        let lease = started(w.take_turn(&home, task.clone()).await);
        w.answered(&lease, &task, &format!("a{n}")).await;
    }
    let all = w.store().messages(home.scope, chat, None, 10).await.unwrap().items;
    let fork = |until| {
        let id = ChatId::from_uuid(w.id());
        let copy = Chat { forked_from: Some(chat), ..w.new_chat(id, None) };
        let (w, scope) = (&w, home.scope);
        async move { w.store().fork_chat(scope, chat, until, &copy, w.event("chat.fork")).await.map(|()| id) }
    };
    let until = fork(Some(all[3].id)).await.unwrap();
    assert_eq!(w.contents(&home, until).await, ["q0", "a0", "q1", "a1"]);
    assert_eq!(w.store().chat(home.scope, until).await.unwrap().unwrap().forked_from, Some(chat));
    let whole = fork(None).await.unwrap();
    assert_eq!(w.contents(&home, whole).await.len(), 6);
    let unknown = fork(Some(MessageId::from_uuid(w.id()))).await;
    assert_eq!(code(unknown), ErrorCode::NotFound);
    let task = w.turn(whole, "on");
    started(w.take_turn(&home, task).await);
    assert_eq!(w.contents(&home, chat).await.len(), 6, "each goes on by itself");
}

pub async fn a_conversation_of_a_task_on_hold_is_kept_whole(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let (store, scope) = (w.store(), home.scope);
    let (chat, free) = (w.chat(&home, None).await, w.chat(&home, None).await);
    let (first, second) = (w.turn(chat, "one"), w.turn(chat, "two"));
    let lease = started(w.take_turn(&home, first.clone()).await);
    let child = NewTask { parent: Some((first.id, "sub".to_owned())), depth: 1, ..w.new_task() };
    let held = child.id;
    let effects = vec![Effect::Spawn(Box::new(NewChild { task: child }))];
    w.commit(&lease, Commit { effects, ..w.changes(TaskChange::Keep) }).await;
    w.answered(&lease, &first, "1").await;
    let open = started(w.take_turn(&home, second.clone()).await);
    let hold = TaskHold { task_id: held, reason: "a claim".to_owned(), held_by: "user:1".to_owned(), held_at: w.now() };
    store.hold_task(scope, &hold, w.event("task.hold")).await.unwrap();

    let said = store.messages(scope, chat, None, 1).await.unwrap().items.remove(0);
    let message = second.turn().unwrap().turn.message_id;
    let refused = [
        store.delete_chat(scope, chat, w.now(), w.event("chat.delete")).await.unwrap_err(),
        store.clear_chat(scope, chat, w.now(), w.event("chat.reset")).await.unwrap_err(),
        store.redact_message(scope, chat, said.id, w.now(), w.event("message.redact")).await.unwrap_err(),
        store.redact_message(scope, chat, message, w.now(), w.event("message.redact")).await.unwrap_err(),
    ];
    for error in refused {
        let words = error.to_string();
        assert_eq!(error.code(), ErrorCode::Conflict, "{words}");
        assert!(words.contains(&held.to_string()) && words.contains("a claim"), "{words}");
    }
    assert_eq!(w.contents(&home, chat).await, ["one", "1", "two"]);
    assert!(!store.task(scope, open.task()).await.unwrap().unwrap().cancel_requested, "its turn goes on");
    assert!(store.delete_chat(scope, free, w.now(), w.event("chat.delete")).await.unwrap(), "another one is free");

    store.release_task(scope, held, w.now(), w.event("task.release")).await.unwrap();
    assert!(store.redact_message(scope, chat, said.id, w.now(), w.event("message.redact")).await.unwrap());
    assert!(store.delete_chat(scope, chat, w.now(), w.event("chat.delete")).await.unwrap());
}
