//! Questions to persons.

use async_trait::async_trait;
use kybern_core::approval::{Approval, ApprovalFilter, ApprovalStatus, DecidedApproval, NewApproval};
use kybern_core::error::Result;
use kybern_core::id::{ApprovalId, TaskId, TenantId};
use kybern_core::ports::{ApprovalStore, Page};
use kybern_core::task::{Resolution, Signal, Wait};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::MemStore;
use super::page::page;
use super::state::MemState;

impl MemState {
    pub(super) fn ask(&mut self, (tenant, task): (TenantId, TaskId), asked: NewApproval, at: Timestamp) {
        let approval = Approval {
            task,
            status: ApprovalStatus::Pending,
            created_at: at,
            unreadable: None,
            decision: None,
            asked: asked.clone(),
        };
        self.approvals.insert((tenant, asked.id), approval);
    }

    /// Closes what a task asked and nobody has answered.
    pub(super) fn close(
        &mut self,
        (tenant, task): (TenantId, TaskId),
        wait_seq: Option<i64>,
        status: ApprovalStatus,
        at: Timestamp,
    ) {
        let decided = DecidedApproval { by: "executor".to_owned(), note: None, edited: false, at };
        self.decide_all((tenant, task), wait_seq, status, &decided);
    }

    /// Writes down what a person's answer decided.
    pub(super) fn decide(&mut self, of: (TenantId, TaskId), (wait, signal): (&Wait, &Signal), at: Timestamp) {
        let Signal::Review { wait_seq, resolution, note, by, .. } = signal else { return };
        let denied = *resolution == Some(Resolution::Fail);
        let status = if denied { ApprovalStatus::Denied } else { ApprovalStatus::Approved };
        let decided = DecidedApproval { by: by.clone(), note: note.clone(), edited: signal.edits(wait), at };
        self.decide_all(of, Some(*wait_seq), status, &decided);
    }

    fn decide_all(
        &mut self,
        (tenant, task): (TenantId, TaskId),
        wait_seq: Option<i64>,
        status: ApprovalStatus,
        decided: &DecidedApproval,
    ) {
        for ((owner, _), approval) in &mut self.approvals {
            let meant = *owner == tenant
                && approval.task == task
                && approval.status == ApprovalStatus::Pending
                && wait_seq.is_none_or(|seq| seq == approval.asked.wait_seq);
            if meant {
                approval.status = status;
                approval.decision = Some(decided.clone());
            }
        }
    }
}

#[async_trait]
impl ApprovalStore for MemStore {
    async fn approval(&self, scope: TenantScope, id: ApprovalId) -> Result<Option<Approval>> {
        self.run(|state| Ok(state.approvals.get(&(scope.tenant(), id)).cloned()))
    }

    async fn approvals(
        &self,
        scope: TenantScope,
        filter: ApprovalFilter,
        after: Option<ApprovalId>,
        limit: u32,
    ) -> Result<Page<Approval>> {
        self.run(|state| {
            let own = state.approvals.iter().filter(|((tenant, _), _)| *tenant == scope.tenant());
            let wanted = own.map(|(_, approval)| approval).filter(|approval| {
                after.is_none_or(|after| approval.asked.id > after)
                    && filter.status.is_none_or(|status| status == approval.status)
                    && filter.task.is_none_or(|task| task == approval.task)
                    && ((filter.calls && approval.asked.kind.is_about_a_call())
                        || !state.is_talk_of_another(scope.tenant(), approval.task, filter.talks_of))
            });
            Ok(page(wanted.cloned(), limit, |last| last.asked.id.to_string()))
        })
    }
}
