//! Answers that are given again.

use async_trait::async_trait;
use kybern_core::error::Result;
use kybern_core::ports::{IdempotencyStore, Idempotent};
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};

use super::MemStore;
use super::state::AnswerRow;

#[async_trait]
impl IdempotencyStore for MemStore {
    async fn take_key(
        &self,
        scope: TenantScope,
        (principal, route, key): (&str, &str, &str),
        body_hash: &str,
        stale: Millis,
        now: Timestamp,
    ) -> Result<Idempotent> {
        let place = (scope.tenant(), principal.to_owned(), route.to_owned(), key.to_owned());
        self.run("take_key", |state| {
            let fresh = AnswerRow { body_hash: body_hash.to_owned(), taken_at: now, answer: None };
            let known = state.answers.get(&place).filter(|row| match &row.answer {
                Some((_, _, until)) => *until > now,
                None => true,
            });
            let answer = match known {
                None => Idempotent::Fresh,
                Some(row) if row.body_hash != body_hash => Idempotent::OtherBody,
                Some(AnswerRow { answer: Some((status, body, _)), .. }) => Idempotent::Answered(*status, body.clone()),
                Some(row) if now.since(row.taken_at) >= stale => Idempotent::Fresh,
                Some(_) => Idempotent::InProgress,
            };
            if answer == Idempotent::Fresh {
                state.answers.insert(place, fresh);
            }
            Ok(answer)
        })
        .await
    }

    async fn answer_key(
        &self,
        scope: TenantScope,
        (principal, route, key): (&str, &str, &str),
        answer: Option<(u16, &str)>,
        keep: Millis,
        now: Timestamp,
    ) -> Result<()> {
        let place = (scope.tenant(), principal.to_owned(), route.to_owned(), key.to_owned());
        self.run("answer_key", |state| {
            match (answer, state.answers.get_mut(&place)) {
                (Some((status, body)), Some(row)) => row.answer = Some((status, body.to_owned(), now.plus(keep))),
                (None, Some(_)) => {
                    state.answers.remove(&place);
                }
                (_, None) => {}
            }
            Ok(())
        })
        .await
    }
}
