//! What a step makes of the engine's own nouns: memories, plans and other tasks.

use kybern_core::task::{Noun, NounEffect};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;

use super::signals::stand;
use super::steer::{self, SteerAct};
use crate::db::Tx;
use crate::error::{Result, StoreError};
use crate::{memories, plans};

/// Checks what the step believed. What is checked here stays so until the transaction ends.
pub(super) async fn check(tx: &mut Tx, scope: TenantScope, noun: &NounEffect) -> Result<()> {
    match &noun.what {
        Noun::Memory(effect) => memories::check(tx, scope, effect).await,
        Noun::Plan(effect) => plans::check(tx, scope, effect).await,
        Noun::Task(task, wish) => {
            let stand = stand(tx, scope, *task).await?;
            let fits = stand.is_some_and(|stand| !stand.status.is_terminal() && wish.fits(stand.paused));
            if fits { Ok(()) } else { Err(StoreError::Changed(format!("task {task}"))) }
        }
    }
}

/// Writes it, with its audit.
pub(super) async fn write(tx: &mut Tx, scope: TenantScope, noun: &NounEffect, at: Timestamp) -> Result<()> {
    match &noun.what {
        Noun::Memory(effect) => memories::write(tx, scope, effect, at, &noun.audit).await,
        Noun::Plan(effect) => plans::write(tx, scope, effect, at, &noun.audit).await,
        Noun::Task(task, wish) => {
            let aim = SteerAct { scope, id: *task, at, audit: noun.audit.clone() };
            steer::steer(tx, aim, *wish).await
        }
    }
}
