//! What persons and outside engines leave for a task.

use kybern_core::actor::Principal;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Error, Result};
use kybern_core::id::TaskId;
use kybern_core::plan::StepId;
use kybern_core::ports::{CallbackOutcome, ReviewRefused};
use kybern_core::task::{Signal, Wait};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::state::State;

impl State {
    pub(super) fn answer(
        &mut self,
        scope: TenantScope,
        id: TaskId,
        wait: &Wait,
        signal: Signal,
        audit: AuditEvent,
    ) -> Result<(), ReviewRefused> {
        let now = self.now;
        let row = self.row_mut(scope, id).ok_or(ReviewRefused::NotFound)?;
        let dedupe_key = format!("wait:{}", wait.seq);
        let waits = row.task.waits.iter().any(|known| known.step_id == wait.step_id && known.seq == wait.seq);
        if row.task.status.is_terminal() || !waits || row.signal_with(&dedupe_key).is_some() {
            return Err(ReviewRefused::NotWaiting);
        }
        row.push_signal(Some(dedupe_key), None, signal.clone());
        row.make_due(now);
        self.decide((scope.tenant(), id), (wait, &signal), now);
        self.append_audit(scope.tenant(), now, audit);
        Ok(())
    }

    pub(super) fn callback(
        &mut self,
        scope: TenantScope,
        id: TaskId,
        step: &StepId,
        signal: Signal,
        body_hash: &str,
        at: Timestamp,
    ) -> Result<CallbackOutcome> {
        let Signal::Callback { workflow_id, .. } = &signal else {
            return Err(Error::invalid("/signal", "a callback leaves a callback signal"));
        };
        let (workflow_id, now) = (workflow_id.clone(), self.moment(at));
        let row = self.known(scope, id)?;
        let dedupe_key = format!("callback:{workflow_id}");
        if let Some(first) = row.signal_with(&dedupe_key) {
            if first.body_hash.as_deref() == Some(body_hash) {
                return Ok(CallbackOutcome::Duplicate);
            }
            let event = AuditEvent {
                action: "delegation.conflict".to_owned(),
                actor: Principal::Workflow { workflow_id }.label(),
                subject: format!("task:{id}"),
                request_id: None,
                detail: json!({"step": step}),
            };
            self.append_audit(scope.tenant(), at, event);
            return Ok(CallbackOutcome::Conflict);
        }
        let delegated = row.delegations.iter().any(|(known, ..)| known.workflow_id == workflow_id);
        row.push_signal(Some(dedupe_key), Some(body_hash.to_owned()), signal);
        row.make_due(now);
        Ok(match (row.task.status.is_terminal(), delegated) {
            (true, _) => CallbackOutcome::Late,
            (false, true) => CallbackOutcome::Accepted,
            (false, false) => CallbackOutcome::Kept,
        })
    }
}
