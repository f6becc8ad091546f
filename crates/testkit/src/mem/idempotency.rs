//! Answers that are given again.

use async_trait::async_trait;
use kybern_core::command::Command;
use kybern_core::error::Result;
use kybern_core::ports::{IdempotencyStore, Idempotent};
use kybern_core::task::limits;
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

use super::MemStore;
use super::state::AnswerRow;

#[async_trait]
impl IdempotencyStore for MemStore {
    async fn take_key(
        &self,
        scope: TenantScope,
        (principal, route, key): (&str, &str, &str),
        body_hash: &str,
        seed: Option<Uuid>,
        now: Timestamp,
    ) -> Result<Idempotent> {
        let place = (scope.tenant(), principal.to_owned(), route.to_owned(), key.to_owned());
        self.run(|state| {
            if let Some(row) = state.answers.get_mut(&place).filter(|row| row.expires_at > now) {
                return Ok(match &row.answer {
                    _ if row.body_hash != body_hash => Idempotent::OtherBody,
                    Some((status, body)) => Idempotent::Answered(*status, body.clone()),
                    None if seed.is_none() => Idempotent::Unanswered,
                    None => {
                        row.tries += 1;
                        Idempotent::Taken(Command::new(row.seed, true))
                    }
                });
            }
            let Some(seed) = seed else { return Ok(Idempotent::Unanswered) };
            let expires_at = now.plus(limits::KEY_LIFE);
            let row = AnswerRow { body_hash: body_hash.to_owned(), seed, tries: 1, expires_at, answer: None };
            state.answers.insert(place, row);
            Ok(Idempotent::Taken(Command::new(seed, false)))
        })
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
        self.run(|state| {
            match (answer, state.answers.get_mut(&place)) {
                (Some((status, body)), Some(row)) => {
                    row.answer = Some((status, body.to_owned()));
                    row.expires_at = now.plus(keep);
                }
                (None, Some(row)) if row.answer.is_none() && row.tries == 1 => {
                    state.answers.remove(&place);
                }
                (None, Some(_)) | (_, None) => {}
            }
            Ok(())
        })
    }
}
