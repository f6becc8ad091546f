//! What a step makes of plans and other tasks.

use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::TenantId;
use kybern_core::task::{CommitRefused, Noun, NounEffect, PlanEffect, SteerAction};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::not_kept;
use super::state::MemState;

/// What a belief that does not hold refuses; any other trouble is the store's.
fn belief(error: Error, what: String) -> CommitRefused {
    match error.code() {
        ErrorCode::NotFound | ErrorCode::Unprocessable | ErrorCode::Conflict => CommitRefused::Changed { what },
        _ => CommitRefused::Store(error),
    }
}

impl MemState {
    /// What a step believed, before anything is written.
    pub(super) fn check_noun(&self, scope: TenantScope, noun: &NounEffect) -> Result<(), CommitRefused> {
        let tenant = scope.tenant();
        match &noun.what {
            Noun::Memory(_) => Err(not_kept("memories").into()),
            Noun::Plan(PlanEffect::Put { id, draft }) => {
                let newest = self.newest_version(tenant, &draft.key);
                changed_unless(draft.version == Some(newest + 1), || format!("plan {}", draft.key))?;
                self.room_for_plan(scope, *id, draft).map_err(|error| belief(error, "the room for plans".to_owned()))
            }
            Noun::Plan(PlanEffect::Retire { key, version }) => {
                changed_unless(self.version_in_use(tenant, key) == Some(*version), || format!("plan {key}"))
            }
            Noun::Task(task, wish) => {
                let row = self.tasks.get(task).filter(|row| row.task.tenant == tenant);
                let fits =
                    row.is_some_and(|row| !row.task.status.is_terminal() && wish.fits(row.task.paused_at.is_some()));
                changed_unless(fits, || format!("task {task}"))
            }
        }
    }

    /// Writes it. What was believed has been checked.
    pub(super) fn apply_noun(&mut self, tenant: TenantId, noun: NounEffect, at: Timestamp) {
        let NounEffect { what, audit } = noun;
        match what {
            // The check has refused it.
            Noun::Memory(_) => {}
            Noun::Plan(PlanEffect::Put { id, draft }) => self.keep_plan(tenant, id, draft, at),
            Noun::Plan(PlanEffect::Retire { key, .. }) => self.retire_plan(tenant, &key),
            Noun::Task(task, wish) => {
                let now = self.moment(at);
                if let Some(row) = self.tasks.get_mut(&task) {
                    match wish {
                        SteerAction::Cancel => {
                            row.task.cancel_requested = true;
                            row.task.paused_at = None;
                            row.make_due(now);
                        }
                        SteerAction::Pause => row.task.paused_at = Some(at),
                        SteerAction::Resume => row.task.paused_at = None,
                    }
                }
            }
        }
        self.append_audit(tenant, at, audit);
    }
}

fn changed_unless(holds: bool, what: impl FnOnce() -> String) -> Result<(), CommitRefused> {
    if holds { Ok(()) } else { Err(CommitRefused::Changed { what: what() }) }
}
