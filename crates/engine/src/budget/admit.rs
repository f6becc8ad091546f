//! The last of the door: places under rates, and money, taken just before the attempt and given back after it.

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::budget::{Amount, NewReservation, Settlement, SpendKind, Spending};
use kybern_core::error::{Error, ErrorCode};
use kybern_core::id::ReservationId;
use kybern_core::model::TokenUsage;
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::{Clock, IdSource, ReserveRefused, Store, ToolContext};
use kybern_core::task::{StepError, WorkerId};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{ToolFailure, ToolOutcome};
use serde_json::json;

use super::ledger::Ledger;
use super::tree::tree_of;
use crate::tools::PreparedCall;

/// How long after its deadline a call may still be settled by the one who made it.
const AFTERWARDS: Millis = Millis::from_secs(30);

/// Money that is promised to a call. Dropped before the call is on its way it is given back; after that it is settled
/// at its estimate when nobody says better, because nobody knows what the call has done.
pub(crate) struct PromisedMoney {
    id: ReservationId,
    most: NanoUsd,
    scope: TenantScope,
    ledger: Arc<Ledger>,
    is_on_its_way: bool,
}

impl PromisedMoney {
    /// The call is about to be made.
    pub(crate) fn on_its_way(&mut self) {
        self.is_on_its_way = true;
    }
}

impl Drop for PromisedMoney {
    fn drop(&mut self) {
        if !self.is_on_its_way {
            self.ledger.let_go(self.scope, self.id);
        }
    }
}

/// Why a call does not begin now.
#[derive(Debug)]
pub(crate) enum NotAdmitted {
    /// There is a place at that moment.
    Later(Timestamp, StepError),
    /// It may not begin.
    Refused(ToolFailure),
}

/// What calls of tools are counted and paid with.
pub(crate) struct CallBudget {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) worker: WorkerId,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl CallBudget {
    /// Takes a place under every rate of the call.
    ///
    /// # Errors
    /// `RATE_LIMITED` with the moment at which there is a place; whatever the store says.
    pub(crate) async fn take_places(
        &self,
        scope: TenantScope,
        prepared: &PreparedCall,
    ) -> Result<(), (Option<Timestamp>, Error)> {
        if prepared.rates.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        match self.store.take_rate(scope, &prepared.rates, now).await {
            Ok(()) => Ok(()),
            Err(ReserveRefused::Rate(exceeded)) => {
                Err((Some(exceeded.free_at), exceeded.error(&prepared.spec().key, now)))
            }
            Err(ReserveRefused::Short(short)) => Err((None, Error::from(*short))),
            Err(ReserveRefused::Store(error)) => Err((None, error)),
        }
    }

    /// Takes a call's places and reserves the most that it can cost. A call that costs nothing and is not limited asks
    /// nobody.
    ///
    /// # Errors
    /// See [`NotAdmitted`].
    pub(crate) async fn admit(
        &self,
        prepared: &PreparedCall,
        context: &ToolContext,
        timeout: Millis,
    ) -> Result<Option<PromisedMoney>, NotAdmitted> {
        if !prepared.is_metered() {
            return Ok(None);
        }
        if let Err((free_at, error)) = self.take_places(context.scope, prepared).await {
            return Err(match free_at {
                Some(at) => {
                    let error = StepError { code: error.code(), message: error.to_string(), retryable: true };
                    NotAdmitted::Later(at, error)
                }
                None => NotAdmitted::Refused(ToolFailure::transient(error.to_string()).code(error.code())),
            });
        }
        let most = prepared.most(timeout);
        if most.0 == 0 {
            return Ok(None);
        }
        Box::pin(self.reserve(prepared, context, timeout, most)).await.map(Some).map_err(|error| {
            // What a budget does not cover now it will not cover in a moment; a store that fails may.
            let failure = match error.code() {
                ErrorCode::BudgetExceeded => ToolFailure::permanent(error.to_string()),
                _ => ToolFailure::transient(error.to_string()),
            };
            NotAdmitted::Refused(failure.code(error.code()))
        })
    }

    async fn reserve(
        &self,
        prepared: &PreparedCall,
        context: &ToolContext,
        timeout: Millis,
        most: NanoUsd,
    ) -> Result<PromisedMoney, Error> {
        let tree = match context.task {
            Some(task) => Some(tree_of(self.store.as_ref(), context.scope, task).await?),
            None => None,
        };
        let (now, id) = (self.clock.now(), ReservationId::from_uuid(self.ids.next()));
        let new = NewReservation {
            id,
            owner: self.worker.clone(),
            spending: Spending {
                kind: SpendKind::Tool,
                name: prepared.spec().key.clone(),
                provider: String::new(),
                user: context.user,
                tree,
            },
            estimate: Amount::new(most, Tokens(0), 1),
            at: now,
            expires_at: now.plus(timeout).plus(AFTERWARDS),
        };
        let ledger = Arc::clone(&self.ledger);
        // Whoever gives up while it is being written, and whoever never hears the answer, gives it back.
        let held = PromisedMoney { id, most, scope: context.scope, ledger, is_on_its_way: false };
        match held.ledger.reserve(context.scope, new).await {
            Ok(()) => Ok(held),
            Err(ReserveRefused::Short(short)) => Err(Error::from(*short)),
            Err(ReserveRefused::Rate(exceeded)) => Err(exceeded.error(&prepared.spec().key, now)),
            Err(ReserveRefused::Store(error)) => Err(error),
        }
    }

    /// Settles what a call cost, and answers it: its price over the time that it took, never more than was reserved. A
    /// call that failed and surely had no effect costs nothing.
    pub(crate) fn settle(
        &self,
        held: &PromisedMoney,
        prepared: &PreparedCall,
        context: &ToolContext,
        result: &Result<ToolOutcome, ToolFailure>,
        took: Millis,
    ) -> NanoUsd {
        let owed = match result {
            // A result that cannot be kept is one all the same.
            Err(failure) if !failure.effect_unknown && !failure.result_lost => NanoUsd(0),
            Ok(_) | Err(_) => prepared.price.as_ref().map_or(held.most, |price| price.cost(&prepared.args, took)),
        };
        let cost = owed.min(held.most);
        let settlement = Settlement {
            id: held.id,
            actual: Amount::new(cost, Tokens(0), 1),
            tokens: TokenUsage::default(),
            failed: result.is_err(),
            refused: 0,
            at: self.clock.now(),
        };
        let detail = json!({
            "tool": prepared.spec().key,
            "taskId": context.task,
            "stepId": context.step,
            "estimatedNanos": held.most,
            "costNanos": cost,
            "failed": result.is_err(),
            "durationMs": took,
        });
        let event = AuditEvent::by_executor("tool.cost", format!("reservation:{}", held.id), detail);
        self.ledger.settle(context.scope, settlement, event);
        cost
    }
}
