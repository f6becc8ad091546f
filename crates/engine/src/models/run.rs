//! One question on its way: what is reserved for it, which calls were made, and what they cost.

use std::sync::Arc;

use kybern_core::audit::AuditEvent;
use kybern_core::budget::{NewReservation, Settlement, SpendKind, Spending};
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::id::ReservationId;
use kybern_core::model::{FinishReason, ModelFailure, TokenUsage};
use kybern_core::money::{NanoUsd, Tokens};
use kybern_core::ports::ReserveRefused;
use kybern_core::time::{Millis, Timestamp};
use serde_json::{Value, json};

use super::call::{CallContext, Try};
use super::registry::{Candidate, FailedCall};
use super::retry;
use super::service::{ModelService, ServiceParts};
use crate::meter::Outcome;

/// How long after its deadline nobody can still be at a call.
const AFTERWARDS: Millis = Millis::from_secs(60);

/// What follows a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AfterFailure {
    /// The same model is asked again.
    RetrySame,
    /// The next model is asked, if any is left.
    TryNext,
}

/// How what is reserved ends.
enum ReservationEnd {
    Answered(Option<FinishReason>),
    /// With a call that failed and may have cost something, and why.
    Failed(Option<Value>),
    /// With nothing but refused calls.
    Refused,
}

/// A question on its way. If dropped after a call began, its reservation is settled at the estimate, because nobody knows
/// what the provider has done; before that it is released.
pub(crate) struct ModelRun {
    inner: Arc<ServiceParts>,
    caller: CallContext,
    kind: SpendKind,
    begun: Timestamp,
    deadline: Timestamp,
    /// When its last call began.
    asked_at: Timestamp,
    /// About how many tokens the question is.
    pub(crate) about: u64,
    /// Which of the server's own prompts stands in it.
    pub(crate) prompt: Option<String>,
    /// A digest of what is asked, under the tenant's key.
    input: Option<String>,
    held: Option<HeldReservation>,
    spent: NanoUsd,
    tries: Vec<Try>,
    /// The providers at which it has failed.
    failing: Vec<String>,
}

/// What is reserved now.
struct HeldReservation {
    id: ReservationId,
    estimate: kybern_core::budget::Amount,
    model: String,
    /// Whether a provider may have begun to work for it.
    asked: bool,
    /// The calls that cost nothing, because the provider refused them or was not reached.
    refused: Vec<Value>,
}

/// What the audit keeps of a failure: never the provider's own words.
pub(crate) fn outline(failure: &ModelFailure) -> Value {
    json!({"code": failure.kind.code(), "status": failure.status})
}

impl ModelRun {
    pub(crate) fn new(inner: &Arc<ServiceParts>, caller: CallContext, kind: SpendKind, whole: Millis) -> Self {
        let begun = inner.clock.now();
        let (inner, deadline) = (Arc::clone(inner), begun.plus(whole));
        Self {
            inner,
            caller,
            kind,
            begun,
            deadline,
            asked_at: begun,
            about: 0,
            prompt: None,
            input: None,
            held: None,
            spent: NanoUsd(0),
            tries: Vec::new(),
            failing: Vec::new(),
        }
    }

    /// Keeps a digest of what is asked, for the audit.
    pub(crate) fn set_input<T: serde::Serialize>(&mut self, asked: &T) {
        self.input = self.inner.keys.digest_key(self.caller.scope.tenant()).digest_as_written(asked);
    }

    /// Keeps the digest of what is asked that somebody has made already.
    pub(crate) fn set_input_digest(&mut self, digest: String) {
        self.input = Some(digest);
    }

    /// The time that is left.
    pub(crate) fn left(&self) -> Millis {
        self.deadline.since(self.inner.clock.now())
    }

    /// Whether something is reserved for its next call.
    pub(crate) fn is_reserved(&self) -> bool {
        self.held.is_some()
    }

    /// Reserves the most that a call of this model can take, unless that is still reserved.
    pub(crate) async fn hold(&mut self, candidate: &Candidate, input: u64, output: u64) -> Result<()> {
        if self.is_reserved() {
            return Ok(());
        }
        let estimate = ModelService::most(candidate, input, output)?;
        let now = self.inner.clock.now();
        let id = ReservationId::from_uuid(self.inner.ids.next());
        let new = NewReservation {
            id,
            owner: self.inner.worker.clone(),
            spending: Spending {
                kind: self.kind,
                name: candidate.spec.name.clone(),
                provider: candidate.provider.name().to_owned(),
                user: self.caller.user,
                tree: self.caller.tree,
            },
            estimate,
            at: now,
            expires_at: self.deadline.max(now).plus(AFTERWARDS),
        };
        // Whoever gives up while it is being written gives it back: the store keeps the order of a tenant's writes.
        self.held = Some(HeldReservation { id, estimate, model: candidate.key(), asked: false, refused: Vec::new() });
        let reserved = self.inner.ledger.reserve(self.caller.scope, new).await;
        reserved.map_err(|why| {
            let error = match why {
                ReserveRefused::Short(short) => Error::from(*short),
                ReserveRefused::Rate(exceeded) => exceeded.error("a model", now),
                // Nobody knows whether it was written: it is given back all the same.
                ReserveRefused::Store(error) => return error,
            };
            self.held = None;
            error
        })
    }

    /// Whether the provider's breaker lets a call through. When it does not, the try is noted: its failure says when to
    /// come back.
    pub(crate) fn may_ask(&mut self, candidate: &Candidate) -> bool {
        if !candidate.provider.may_ask(self.inner.clock.now()) {
            let (provider, now) = (&candidate.provider, self.inner.clock.now());
            let last =
                provider.last_failure().map(|(at, what)| format!(", the last at {at} with {what}")).unwrap_or_default();
            let message = format!("circuit breaker open after repeated failures{last}");
            let rest = provider.open_until(now).map(|until| until.since(now));
            let failure = ModelFailure::new(kybern_core::model::ModelFailureKind::Provider, message);
            let failure = failure.retry_after(rest);
            self.tries.push(Try { model: candidate.key(), failure: Some(failure.of(candidate.provider.name())) });
            return false;
        }
        self.asked_at = self.inner.clock.now();
        if let Some(held) = &mut self.held {
            held.asked = true;
        }
        true
    }

    /// Who asks: a user, or else a task.
    fn asker(&self) -> String {
        let (tenant, user) = (self.caller.scope.tenant(), self.caller.user.map(|user| user.to_string()));
        let task = || self.caller.tree.map(|(task, _)| task.to_string());
        format!("{tenant}/{}", user.or_else(task).unwrap_or_default())
    }

    /// Notes the try that answered.
    pub(crate) fn answered(&mut self, candidate: &Candidate) {
        self.tries.push(Try { model: candidate.key(), failure: None });
    }

    /// After a failure: settles what the call may have cost, and waits until the model may be asked again.
    pub(crate) async fn failed(
        &mut self,
        candidate: &Candidate,
        failure: ModelFailure,
        retry: &mut u32,
    ) -> AfterFailure {
        let provider = candidate.provider.name();
        let again = self.failing.iter().any(|known| known == provider);
        let (now, timeouts) = (self.inner.clock.now(), self.inner.settings.timeouts);
        let cut_short = now.since(self.asked_at) < timeouts.first.min(timeouts.whole);
        let tree = self.caller.tree.map(|(first, _)| first);
        candidate.provider.failed(&failure, FailedCall { asker: &self.asker(), tree, again, cut_short }, now);
        if !again {
            self.failing.push(provider.to_owned());
        }
        if let Some(held) = &mut self.held {
            held.asked = false;
            held.refused.push(outline(&failure));
        }
        if failure.kind.may_have_cost() || failure.usage.is_some() {
            // It has cost something, so it is the one that is settled.
            let why = self.held.as_mut().and_then(|held| held.refused.pop());
            let known = failure.usage.map(|usage| (usage, candidate.spec.prices));
            let known = known.map(|(usage, prices)| (usage, prices.map_or(NanoUsd(0), |p| p.cost(&usage))));
            self.settle_failed(known, why);
        }
        *retry += 1;
        let pause = retry::pause(&failure, *retry, self.inner.random.unit(), self.left());
        self.tries.push(Try { model: candidate.key(), failure: Some(failure) });
        match pause {
            Some(pause) if self.inner.again.spend() => {
                // It never completes: this sleeps.
                let _ = tokio::time::timeout(pause.as_duration(), std::future::pending::<()>()).await;
                AfterFailure::RetrySame
            }
            Some(_) | None => AfterFailure::TryNext,
        }
    }

    /// Whether the last failure allows that another model is asked.
    pub(crate) fn may_fall_back(&self) -> bool {
        let last = self.tries.last().and_then(|last| last.failure.as_ref());
        last.is_none_or(|failure| failure.kind.may_fall_back()) && self.left() >= retry::SHORTEST
    }

    /// Gives back what is reserved for a model that will not be asked (again). Calls that it refused leave their trace.
    pub(crate) fn let_go(&mut self) {
        if self.held.as_ref().is_some_and(|held| !held.refused.is_empty()) {
            return self.end(TokenUsage::default(), NanoUsd(0), ReservationEnd::Refused);
        }
        let Some(held) = self.held.take() else { return };
        self.inner.ledger.let_go(self.caller.scope, held.id);
    }

    /// The error after the last try.
    pub(crate) fn give_up(mut self) -> Error {
        self.let_go();
        let tries = std::mem::take(&mut self.tries);
        let details = tries.iter().enumerate().filter_map(|(n, tried)| {
            let failure = tried.failure.as_ref()?;
            Some(Detail::new(format!("/tries/{n}"), format!("{}: {}", tried.model, failure.message)))
        });
        let details = details.collect();
        let last = tries.into_iter().rev().find_map(|tried| tried.failure);
        last.map_or_else(|| Error::new(ErrorCode::Internal, "no model was asked"), Error::from).with_details(details)
    }

    /// Settles the reservation to what the answer took.
    pub(crate) fn settle(&mut self, candidate: &Candidate, usage: TokenUsage, finish: Option<FinishReason>) {
        let cost = candidate.spec.prices.map_or(NanoUsd(0), |prices| prices.cost(&usage));
        self.end(usage, cost, ReservationEnd::Answered(finish));
    }

    /// Settles the reservation of a call that failed: to what is known, or else to its estimate.
    pub(crate) fn settle_failed(&mut self, known: Option<(TokenUsage, NanoUsd)>, why: Option<Value>) {
        let estimate = self.held.as_ref().map(|held| held.estimate).unwrap_or_default();
        let input = self.about.min(estimate.tokens().0);
        let output = estimate.tokens().0 - input;
        let guessed = TokenUsage { input, output, estimated: true, ..TokenUsage::default() };
        let (usage, cost) = known.unwrap_or((guessed, estimate.cost()));
        self.end(usage, cost, ReservationEnd::Failed(why));
    }

    /// What the audit says of a call.
    fn event(&self, model: &str, status: &str, more: Value) -> AuditEvent {
        let mut detail = json!({
            "model": model,
            "inputHash": self.input,
            "status": status,
            "durationMs": self.inner.clock.now().since(self.begun),
            "task": self.caller.tree.map(|(task, _)| task),
            "prompt": self.prompt,
        });
        if let (Value::Object(detail), Value::Object(more)) = (&mut detail, more) {
            detail.extend(more);
        }
        AuditEvent {
            action: "model.call".to_owned(),
            actor: self.caller.label.clone(),
            subject: format!("model:{model}"),
            request_id: self.caller.request.clone(),
            detail,
        }
    }

    /// In the background: the answer does not wait for it, and until it is done the estimate stays reserved.
    fn end(&mut self, usage: TokenUsage, cost: NanoUsd, end: ReservationEnd) {
        let Some(mut held) = self.held.take() else { return };
        let refused = u32::try_from(held.refused.len()).unwrap_or(u32::MAX);
        let outcome = match &end {
            ReservationEnd::Answered(_) => Outcome::Answered,
            ReservationEnd::Failed(_) => Outcome::Failed,
            ReservationEnd::Refused => Outcome::Refused,
        };
        let was_asked = outcome != Outcome::Refused || refused > 0;
        let (calls, finish, failed) = match end {
            ReservationEnd::Answered(finish) => (1, finish, false),
            ReservationEnd::Failed(why) => {
                held.refused.extend(why);
                (1, None, true)
            }
            ReservationEnd::Refused => (0, None, false),
        };
        self.spent = NanoUsd(self.spent.0.saturating_add(cost.0));
        let now = self.inner.clock.now();
        let provider = held.model.split_once('/').map_or(held.model.as_str(), |(provider, _)| provider);
        if was_asked {
            self.inner.meter.asked(provider, outcome, now.since(self.begun), (&usage, cost));
        }
        let tokens = Tokens(usage.input.saturating_add(usage.output));
        let actual = kybern_core::budget::Amount::new(cost, tokens, calls);
        let settlement = Settlement { id: held.id, actual, tokens: usage, failed, refused, at: now };
        let failed = failed || calls == 0;
        let last = held.refused.last().filter(|_| failed).and_then(|failure| failure.get("code"));
        let more = json!({
            "errorCode": last,
            "inputTokens": usage.input,
            "cachedTokens": usage.cached_input,
            "outputTokens": usage.output,
            "estimated": usage.estimated,
            "costNanos": cost,
            "failed": failed,
            "failures": held.refused,
            "finish": finish,
        });
        let event = self.event(&held.model, if failed { "failed" } else { "completed" }, more);
        self.inner.ledger.settle(self.caller.scope, settlement, event);
    }

    /// What all of it cost, and the calls that were made.
    pub(crate) fn into_costs(mut self) -> (NanoUsd, Vec<Try>) {
        (self.spent, std::mem::take(&mut self.tries))
    }

    /// The calls that were made.
    pub(crate) fn tries(&self) -> &[Try] {
        &self.tries
    }

    /// What was spent until now.
    pub(crate) fn spent(&self) -> NanoUsd {
        self.spent
    }
}

impl Drop for ModelRun {
    fn drop(&mut self) {
        match &self.held {
            Some(held) if held.asked => self.settle_failed(None, None),
            Some(_) => self.let_go(),
            None => {}
        }
    }
}
