//! The inbox of persons: what waits for them, and their decisions.

use kybern_core::actor::Actor;
use kybern_core::approval::{Approval, ApprovalFilter, ApprovalStatus, MAX_NOTE, Word};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::ApprovalId;
use kybern_core::ports::Page;
use kybern_core::task::{Resolution, Wait, WaitKind};
use kybern_core::tenant::TenantScope;
use serde_json::{Map, Value};

use crate::Engine;
use crate::task::request::ReviewRequest;
use crate::tools::Grant;

/// A question with what its task says about it.
#[derive(Clone, PartialEq, Debug)]
pub struct ApprovalView {
    /// The question.
    pub approval: Approval,
    /// The wait of the task, while it waits.
    pub wait: Option<Wait>,
}

/// A person's decision.
#[derive(Clone, PartialEq, Debug)]
pub struct ApprovalDecision {
    /// Yes or no.
    pub word: Word,
    /// What they say about it.
    pub note: Option<String>,
    /// What they found, where nobody knows whether an outside effect happened.
    pub resolution: Option<Resolution>,
}

impl Engine {
    /// A page of the tenant's questions, the oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn approvals(
        &self,
        scope: TenantScope,
        filter: ApprovalFilter,
        after: Option<ApprovalId>,
        limit: u32,
    ) -> Result<Page<ApprovalView>> {
        let page = self.inner.store.approvals(scope, filter, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for approval in page.items {
            items.push(self.with_wait(scope, approval).await?);
        }
        Ok(Page { items, next: page.next })
    }

    /// One of them.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn approval(&self, scope: TenantScope, id: ApprovalId) -> Result<ApprovalView> {
        let approval = self.inner.store.approval(scope, id).await?;
        self.with_wait(scope, approval.ok_or_else(|| Error::not_found("approval", id))?).await
    }

    async fn with_wait(&self, scope: TenantScope, approval: Approval) -> Result<ApprovalView> {
        if approval.status != ApprovalStatus::Pending {
            return Ok(ApprovalView { approval, wait: None });
        }
        let task = self.inner.store.task(scope, approval.task).await?;
        let wait = task.and_then(|task| task.waits.into_iter().find(|wait| wait.seq == approval.asked.wait_seq));
        Ok(ApprovalView { approval, wait })
    }

    /// Answers a question, once. Arguments that a person puts in place of those that were asked about are checked like
    /// any: they have to fit the tool, and whoever the task works for must be allowed that call.
    ///
    /// # Errors
    /// `NOT_FOUND`; `CONFLICT` when it has been answered, withdrawn, or its time is over; `VALIDATION_ERROR` and
    /// `PERMISSION_DENIED` for arguments that may not be used.
    pub async fn decide(&self, actor: &Actor, id: ApprovalId, decision: ApprovalDecision) -> Result<ApprovalView> {
        let scope = actor.scope();
        let known = self.approval(scope, id).await?;
        let closed = |what: &str| Error::new(ErrorCode::Conflict, format!("approval {id} {what}"));
        if known.approval.status != ApprovalStatus::Pending {
            return Err(closed(&format!("is {}", known.approval.status.as_str())));
        }
        let Some(wait) = known.wait else { return Err(closed("is being taken in")) };
        if decision.note.as_ref().is_some_and(|note| note.chars().count() > MAX_NOTE) {
            return Err(Error::invalid("/note", format!("a note has at most {MAX_NOTE} characters")));
        }
        let mut request = ReviewRequest {
            step_id: Some(wait.step_id.as_str().to_owned()),
            note: decision.note,
            resolution: decision.resolution,
            ..ReviewRequest::default()
        };
        match decision.word {
            Word::Deny => request.resolution = Some(Resolution::Fail),
            Word::Approve(input) => {
                if wait.kind == WaitKind::Confirmation
                    && let Some(args) = &input
                {
                    self.recheck(actor, &known.approval, args).await?;
                    request.replaces = true;
                }
                request.corrections = input.unwrap_or_default();
            }
        }
        request.approval = Some(id);
        self.review(actor, known.approval.task, request)
            .await
            .map_err(|error| error.moved("/corrections", "/input"))?;
        self.approval(scope, id).await
    }

    /// Whether a call with these arguments may be made for whoever the task works for.
    async fn recheck(&self, actor: &Actor, approval: &Approval, args: &Map<String, Value>) -> Result<()> {
        let Some(tool) = &approval.asked.tool else { return Ok(()) };
        let (store, scope) = (&self.inner.store, actor.scope());
        let task = store.task(scope, approval.task).await?.ok_or_else(|| Error::not_found("task", approval.task))?;
        let grant = Grant::of_task(store.as_ref(), scope, &task).await?;
        self.inner.tools.prepare(tool, args.clone(), &grant).map(|_| ()).map_err(|refusal| refusal.at("/input"))
    }
}
