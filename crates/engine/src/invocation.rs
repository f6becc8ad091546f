//! Calling one tool over the API. The call is a task with one step, so it is journaled, leased, resumed and reviewed
//! like everything else; its id is the invocation's.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{ApprovalId, TaskId};
use kybern_core::money::NanoUsd;
use kybern_core::plan::{FrozenPlan, StepId, StepSpec};
use kybern_core::task::{Channel, NewKind, StepError, TaskStatus};
use kybern_core::time::{Millis, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::budget::CallBudget;
use crate::executor::view::TaskView;
use crate::task::{SubmitRequest, Tasks};

/// How a call stands.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InvocationView {
    /// The invocation, which is also the id of its task.
    pub invocation_id: TaskId,
    /// `success`, `failure`, `timeout` or `waiting`.
    pub status: &'static str,
    /// What the tool returned.
    pub output: Option<Value>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// From the submission to the end, in milliseconds.
    pub duration_ms: Millis,
    pub cost_nanos: NanoUsd,
    /// The question, when a person is asked: answered at `/api/approvals/{id}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
}

/// Calls of tools by hand: each is a task of its own.
#[derive(Clone)]
pub struct Invocations {
    pub(crate) tasks: Tasks,
    pub(crate) budget: Arc<CallBudget>,
}

impl Invocations {
    /// Calls a tool and waits for its end, at most `wait` long. The same call under the same idempotency key is one
    /// call, also when the process died in between.
    ///
    /// # Errors
    /// `NOT_FOUND`, `VALIDATION_ERROR` with the arguments' faults, `PERMISSION_DENIED`, `RATE_LIMITED`,
    /// `BUDGET_EXCEEDED`, `CONFLICT` when the key was used for another call; a tool's own failure is no error but a
    /// status.
    pub async fn invoke(
        &self,
        actor: &Actor,
        name: &str,
        input: Map<String, Value>,
        idempotency_key: Option<&str>,
        wait: Millis,
    ) -> Result<InvocationView> {
        let grant = self.tasks.grant_of(actor).await?;
        let tools = self.tasks.services.catalogue.of(actor.scope()).await;
        let prepared = match self.tasks.services.tools.prepare(&tools, name, input, &grant) {
            Ok(prepared) => prepared,
            Err(refusal) => {
                if refusal.is_denial() {
                    let detail = json!({"tool": name, "code": refusal.code()});
                    let event = AuditEvent::by(actor, "tool.deny", format!("tool:{name}"), detail);
                    self.tasks.kernel.store.append_audit(actor.scope(), self.tasks.kernel.clock.now(), event).await?;
                }
                return Err(refusal.at("/input"));
            }
        };
        self.budget.take_places(actor.scope(), &prepared).await.map_err(|(_, error)| error)?;
        // The arguments travel in the payload: they are data, and whatever looks like a template in them stays text.
        let args = prepared
            .args
            .keys()
            .map(|name| (name.clone(), json!(format!("{{{{ task.payload.input[{}] }}}}", json!(name)))))
            .collect();
        let key = prepared.spec().key.clone();
        // A plan may go on where such a tool fails; whoever calls it by hand wants to know.
        let step =
            StepSpec { stop_on_failure: Some(true), ..StepSpec::tool(StepId::trusted("call"), key.clone(), args) };
        let plan = FrozenPlan::freeze(&format!("tool:{key}"), 1, vec![step], None);
        let mut request = SubmitRequest::text("");
        request.channel = Channel::Api;
        // Keys of submissions are the caller's too: the same one may serve for either.
        request.idempotency_key = idempotency_key.map(|own| format!("call {key} {own}"));
        request.payload = json!({"tool": key, "input": prepared.args});
        let view = self.tasks.submit_with_plan(actor, request, (NewKind::Call, Some(plan.into())), Some(wait)).await?;
        if let Some(error) = view.error.as_ref().filter(|error| error.code == ErrorCode::BudgetExceeded) {
            // That there is no money is the door's answer, not the tool's.
            return Err(Error::new(error.code, error.message.clone()));
        }
        Ok(invocation(self.tasks.kernel.clock.now(), view))
    }
}

fn invocation(now: Timestamp, view: TaskView) -> InvocationView {
    let ended = view.completed_at.unwrap_or(now);
    let timed_out = view.error.as_ref().is_some_and(|error| error.code == ErrorCode::Timeout);
    let status = match view.status {
        TaskStatus::Completed => "success",
        TaskStatus::Failed if timed_out => "timeout",
        TaskStatus::Failed | TaskStatus::Cancelled => "failure",
        TaskStatus::Pending
        | TaskStatus::Extracting
        | TaskStatus::DetectingIntent
        | TaskStatus::Planning
        | TaskStatus::Executing
        | TaskStatus::NeedsReview
        | TaskStatus::Delegated => "waiting",
    };
    InvocationView {
        invocation_id: view.id,
        status,
        output: if status == "success" { view.result } else { None },
        approval_id: view.waits.first().and_then(|wait| wait.approval_id),
        error: view.error,
        duration_ms: ended.since(view.created_at),
        cost_nanos: view.usage.cost_nanos,
    }
}
