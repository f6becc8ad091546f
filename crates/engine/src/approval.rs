//! The inbox of persons: what waits for them, and their decisions.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::approval::{Approval, ApprovalFilter, ApprovalStatus, MAX_NOTE, Verdict};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::ApprovalId;
use kybern_core::ports::{ApprovalStore, Page, TaskStore};
use kybern_core::task::{JournalEntry, Resolution, Task, TaskStatus, Wait, WaitKind};

use crate::clock::TaskClock;
use crate::task::Tasks;
use crate::task::request::ReviewRequest;

/// Characters of how a message begins.
const MAX_BEGINNING: usize = 200;

/// A question with what its task says about it.
#[derive(Clone, PartialEq, Debug)]
pub struct ApprovalView {
    /// The question.
    pub approval: Approval,
    /// The wait of the task, while it waits.
    pub wait: Option<Wait>,
    /// Of the message that the task is, who sent it and its subject, while the task waits. Nothing of a conversation that
    /// the actor does not see.
    pub about: MessageHeading,
}

/// Whose message is about what.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct MessageHeading {
    /// The address that sent it. Nobody has checked it.
    pub sender: Option<String>,
    /// Its subject, or how the text begins of what came without one.
    pub subject: Option<String>,
}

/// A person's decision.
#[derive(Clone, PartialEq, Debug)]
pub struct ApprovalDecision {
    /// Yes or no.
    pub word: Verdict,
    /// What they say about it.
    pub note: Option<String>,
    /// What they found, where nobody knows whether an outside effect happened.
    pub resolution: Option<Resolution>,
}

/// What waits for persons, and what they decide.
#[derive(Clone)]
pub struct Approvals {
    pub(crate) store: Arc<dyn ApprovalStore>,
    pub(crate) task_rows: Arc<dyn TaskStore>,
    pub(crate) tasks: Tasks,
    pub(crate) time: Arc<TaskClock>,
}

impl Approvals {
    /// A page of the questions that the actor may see, the oldest first. What the filter says of conversations is
    /// the actor's, whatever it says.
    pub async fn list(
        &self,
        actor: &Actor,
        filter: ApprovalFilter,
        after: Option<ApprovalId>,
        limit: u32,
    ) -> Result<Page<ApprovalView>> {
        let filter = ApprovalFilter { talks_of: actor.sees_talks_of(), calls: actor.answers_questions(), ..filter };
        let page = self.store.approvals(actor.scope(), filter, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for approval in page.items {
            let is_open = approval.status == ApprovalStatus::Pending;
            let task = if is_open { self.task_rows.task(actor.scope(), approval.task).await? } else { None };
            items.push(self.with_wait(actor, approval, task.as_ref()).await?);
        }
        Ok(Page { items, next: page.next })
    }

    /// One of them.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, actor: &Actor, id: ApprovalId) -> Result<ApprovalView> {
        self.approval_for(actor, id).await.map(|(view, _)| view)
    }

    /// A question that the actor may see, with the task that asks. One of somebody else's conversation is not found,
    /// unless it is about a call and the actor answers such questions.
    async fn approval_for(&self, actor: &Actor, id: ApprovalId) -> Result<(ApprovalView, Task)> {
        let (scope, unknown) = (actor.scope(), || Error::not_found("approval", id));
        let approval = self.store.approval(scope, id).await?.ok_or_else(unknown)?;
        let task = self.task_rows.task(scope, approval.task).await?.ok_or_else(unknown)?;
        if !approval.is_visible_to(actor, &task) {
            return Err(unknown());
        }
        Ok((self.with_wait(actor, approval, Some(&task)).await?, task))
    }

    /// Answers a question, once. Arguments that a person puts in place of those that were asked about are checked like
    /// any: they have to fit the tool, and both the person and whoever the task works for must be allowed that call.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it has been answered, withdrawn, or its time is over; `VALIDATION_ERROR` and
    /// `PERMISSION_DENIED` for arguments that may not be used, and for whoever asked for a call that wants two persons.
    pub async fn decide(&self, actor: &Actor, id: ApprovalId, decision: ApprovalDecision) -> Result<ApprovalView> {
        let (known, task) = self.approval_for(actor, id).await?;
        let closed = |what: &str| Error::new(ErrorCode::Conflict, format!("approval {id} {what}"));
        if known.approval.status != ApprovalStatus::Pending {
            return Err(closed(&format!("is {}", known.approval.status.as_str())));
        }
        let Some(wait) = known.wait else {
            // Somebody else may have answered between the two reads.
            let (again, _task) = self.approval_for(actor, id).await?;
            return Err(match again.approval.status {
                ApprovalStatus::Pending => closed("cannot be answered: what its task asks cannot be read, cancel it"),
                status => closed(&format!("is {}", status.as_str())),
            });
        };
        if decision.note.as_ref().is_some_and(|note| note.chars().count() > MAX_NOTE) {
            return Err(Error::invalid("/note", format!("a note has at most {MAX_NOTE} characters")));
        }
        let mut request = ReviewRequest {
            step_id: Some(wait.step_id.as_str().to_owned()),
            question: Some(id),
            note: decision.note,
            resolution: decision.resolution,
            ..ReviewRequest::default()
        };
        match decision.word {
            Verdict::Deny => request.resolution = Some(Resolution::Fail),
            Verdict::Approve(_) if known.approval.unreadable.is_some() => {
                return Err(closed("cannot be read, so nobody knows what a yes would allow: deny it"));
            }
            Verdict::Approve(input) => {
                request.replaces = wait.kind == WaitKind::Confirmation && input.is_some();
                request.corrections = input.unwrap_or_default();
            }
        }
        request.approval = Some(id);
        self.tasks.answer(actor, &task, request).await.map_err(|error| error.moved("/corrections", "/input"))?;
        self.get(actor, id).await
    }

    /// A question with what its task, while it waits, says about it. One whose time is over has expired, also while its
    /// task rests and cannot take that in.
    async fn with_wait(&self, actor: &Actor, mut approval: Approval, task: Option<&Task>) -> Result<ApprovalView> {
        let open = task.filter(|_| approval.status == ApprovalStatus::Pending);
        let seen = open.filter(|task| task.is_visible_to(actor));
        let subject = |task: &Task| task.subject().or_else(|| begins(&task.input));
        let about =
            seen.map(|task| MessageHeading { sender: task.sender(), subject: subject(task) }).unwrap_or_default();
        let seq = approval.asked.wait_seq;
        let wait = match open.and_then(|task| task.waits.iter().find(|wait| wait.seq == seq)) {
            Some(wait) => Some(wait.clone()),
            // Its task is busy with another step, and its row does not tell yet what this one asks.
            None if open.is_some_and(|task| task.status != TaskStatus::NeedsReview) => {
                let rows = self.task_rows.journal(actor.scope(), approval.task, seq - 1, 1).await?;
                rows.into_iter().find_map(|row| match row.entry {
                    JournalEntry::Waiting(wait) if wait.seq == seq => Some(*wait),
                    _ => None,
                })
            }
            None => None,
        };
        let is_over = approval.asked.expires_at.is_some_and(|end| end <= self.time.now());
        if approval.status == ApprovalStatus::Pending && is_over {
            approval.status = ApprovalStatus::Expired;
        }
        Ok(ApprovalView { wait, about, approval })
    }
}

/// How a message without a subject begins: its first line that says anything.
fn begins(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(MAX_BEGINNING).collect())
}
