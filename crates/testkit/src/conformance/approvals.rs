//! Questions to persons: opened by a commit, closed once.

use kybern_core::approval::{Approval, ApprovalFilter, ApprovalStatus, NewApproval};
use kybern_core::id::ApprovalId;
use kybern_core::ports::ReviewRefused;
use kybern_core::task::{Commit, Effect, Lease, Resolution, Signal, TaskStatus, Wait, WaitKind};
use serde_json::{Map, Value, json};

use super::fixture::{end, pages, release, review};
use super::{Harness, Home, World};

pub(super) fn question(w: &World, wait: &Wait) -> NewApproval {
    NewApproval {
        id: ApprovalId::from_uuid(w.id()),
        step: wait.step_id.clone(),
        wait_seq: wait.seq,
        kind: WaitKind::Confirmation,
        tool: Some("test.send".to_owned()),
        user: None,
        reason: "it goes outside".to_owned(),
        input: json!({"to": "ops@example.com", "n": [1, null]}),
        input_hash: Some("hash".to_owned()),
        expires_at: Some(w.now()),
    }
}

/// A task that waits for an answer to each of these, and the questions.
async fn asking(w: &World, home: &Home, waits: &[Wait]) -> (Lease, Vec<NewApproval>) {
    let lease = w.leased(home, "w").await;
    let asked: Vec<NewApproval> = waits.iter().map(|wait| question(w, wait)).collect();
    let effects = asked.iter().map(|asked| Effect::Ask(Box::new(asked.clone()))).collect();
    let change = release(TaskStatus::NeedsReview, None, waits.to_vec());
    w.commit(&lease, Commit { effects, ..w.changes(change) }).await;
    (lease, asked)
}

async fn inbox(w: &World, home: &Home, status: Option<ApprovalStatus>) -> Vec<Approval> {
    let filter = ApprovalFilter { status, task: None, talks_of: None, calls: true };
    w.store().approvals(home.scope, filter, None, 200).await.unwrap().items
}

fn answer(wait: &Wait, resolution: Option<Resolution>, note: Option<&str>) -> Signal {
    let Signal::Review { step, wait_seq, by, .. } = review(wait) else { unreachable!("a review is one") };
    let (corrections, note) = (Map::new(), note.map(str::to_owned));
    Signal::Review { step, wait_seq, corrections, resolution, replaces: false, note, by }
}

pub async fn a_question_is_opened_by_a_commit_and_closed_by_its_answer_once(h: Harness) {
    let (w, home) = World::new(h).await;
    let (yes, no) = (w.wait("first", 1), w.wait("second", 2));
    let (lease, asked) = asking(&w, &home, &[yes.clone(), no.clone()]).await;
    let open = inbox(&w, &home, Some(ApprovalStatus::Pending)).await;
    assert_eq!(open.iter().map(|approval| &approval.asked).collect::<Vec<_>>(), asked.iter().collect::<Vec<_>>());
    assert!(open.iter().all(|approval| approval.task == lease.task() && approval.decision.is_none()));
    let (store, task) = (w.store(), lease.task());
    let denied = answer(&no, Some(Resolution::Fail), Some("not today"));
    store.answer(home.scope, task, &no, denied, w.event("approval.deny")).await.unwrap();
    store.answer(home.scope, task, &yes, review(&yes), w.event("approval.approve")).await.unwrap();
    let again = store.answer(home.scope, task, &no, review(&no), w.event("approval.approve")).await;
    assert!(matches!(again, Err(ReviewRefused::NotWaiting)));
    let first = store.approval(home.scope, asked[0].id).await.unwrap().unwrap();
    let second = store.approval(home.scope, asked[1].id).await.unwrap().unwrap();
    assert_eq!((first.status, second.status), (ApprovalStatus::Approved, ApprovalStatus::Denied));
    let decided = second.decision.unwrap();
    assert_eq!((decided.by.as_str(), decided.note.as_deref(), decided.edited), ("user:test", Some("not today"), false));
    assert!(inbox(&w, &home, Some(ApprovalStatus::Pending)).await.is_empty());
    assert_eq!(inbox(&w, &home, None).await.len(), 2, "what was denied stays");
}

pub async fn an_answer_edits_where_it_puts_other_arguments_in_place(h: Harness) {
    let (w, home) = World::new(h).await;
    let args = json!({"to": "ops@example.com", "n": [1, null]});
    let call = |seq: i64| Wait {
        kind: WaitKind::Confirmation,
        details: json!({"args": args}),
        ..w.wait(&format!("call{seq}"), seq)
    };
    let form = w.wait("form", 9);
    let said = |corrections: Value, replaces: bool, resolution: Option<Resolution>| (corrections, replaces, resolution);
    let cases = [
        (call(1), said(json!({}), false, None), false),
        (call(2), said(args.clone(), true, None), false),
        (call(3), said(json!({"to": "ops@example.com"}), false, None), false),
        (call(4), said(json!({"to": "desk@example.com"}), false, None), true),
        (call(5), said(json!({"to": "ops@example.com"}), true, None), true),
        (call(6), said(json!({"to": "desk@example.com"}), false, Some(Resolution::Fail)), false),
        (form, said(json!({"policy_number": "CP-1"}), false, None), false),
    ];
    let waits: Vec<Wait> = cases.iter().map(|(wait, ..)| wait.clone()).collect();
    let (lease, asked) = asking(&w, &home, &waits).await;
    for ((wait, (corrections, replaces, resolution), edited), asked) in cases.into_iter().zip(asked) {
        let Signal::Review { step, wait_seq, by, .. } = review(&wait) else { unreachable!("a review is one") };
        let corrections = corrections.as_object().cloned().unwrap_or_default();
        let signal = Signal::Review { step, wait_seq, corrections, resolution, replaces, note: None, by };
        w.store().answer(home.scope, lease.task(), &wait, signal, w.event("x.y")).await.unwrap();
        let stored = w.store().approval(home.scope, asked.id).await.unwrap().unwrap();
        assert_eq!(stored.decision.unwrap().edited, edited, "{}", wait.step_id);
    }
}

pub async fn what_is_not_asked_any_more_is_closed_and_what_was_answered_stays(h: Harness) {
    let (w, home) = World::new(h).await;
    let waits = [w.wait("late", 1), w.wait("said", 2), w.wait("left", 3)];
    let (lease, asked) = asking(&w, &home, &waits).await;
    w.store().answer(home.scope, lease.task(), &waits[1], review(&waits[1]), w.event("x.y")).await.unwrap();
    let claimed = w.claim_only("w", lease.task()).await.lease;
    let expired = Effect::Close { wait_seq: Some(1), status: ApprovalStatus::Expired };
    let withdrawn = Effect::Close { wait_seq: None, status: ApprovalStatus::Withdrawn };
    let commit = Commit { effects: vec![expired, withdrawn], ..w.changes(end(TaskStatus::Cancelled)) };
    w.commit(&claimed, commit).await;
    let mut stands = Vec::new();
    for asked in &asked {
        stands.push(w.store().approval(home.scope, asked.id).await.unwrap().unwrap().status);
    }
    assert_eq!(stands, [ApprovalStatus::Expired, ApprovalStatus::Approved, ApprovalStatus::Withdrawn]);
}

pub async fn pages_of_the_inbox_visit_each_once_oldest_first(h: Harness) {
    let (w, home) = World::new(h).await;
    let waits: Vec<Wait> = (1..=5).map(|seq| w.wait(&format!("s{seq}"), seq)).collect();
    let (lease, asked) = asking(&w, &home, &waits).await;
    let list = async |after| w.store().approvals(home.scope, ApprovalFilter::default(), after, 2).await.unwrap();
    let seen: Vec<ApprovalId> = pages(list).await.iter().map(|approval| approval.asked.id).collect();
    assert_eq!(seen, asked.iter().map(|asked| asked.id).collect::<Vec<_>>());
    let of_task =
        ApprovalFilter { status: Some(ApprovalStatus::Pending), task: Some(lease.task()), talks_of: None, calls: true };
    assert_eq!(w.store().approvals(home.scope, of_task, None, 200).await.unwrap().items.len(), 5);
}

pub async fn another_tenant_neither_sees_nor_closes_a_question(h: Harness) {
    let (w, home) = World::new(h).await;
    let other = w.tenant("second").await;
    let wait = w.wait("ask", 1);
    let (lease, asked) = asking(&w, &home, std::slice::from_ref(&wait)).await;
    assert_eq!(w.store().approval(other.scope, asked[0].id).await.unwrap(), None);
    assert!(inbox(&w, &other, None).await.is_empty());
    let refused = w.store().answer(other.scope, lease.task(), &wait, review(&wait), w.event("x.y")).await;
    assert!(matches!(refused, Err(ReviewRefused::NotFound)));
    assert_eq!(inbox(&w, &home, Some(ApprovalStatus::Pending)).await.len(), 1);
}
