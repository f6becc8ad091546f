//! Answers that are given again.

use async_trait::async_trait;
use kybern_core::command::Command;
use kybern_core::error::Result as PortResult;
use kybern_core::ports::{IdempotencyStore, Idempotent};
use kybern_core::task::limits;
use kybern_core::tenant::TenantScope;
use kybern_core::time::{Millis, Timestamp};
use uuid::Uuid;

use crate::db::{Tx, args, statements};
use crate::error::Result;
use crate::store::SqlStore;

statements! {
    GET = split "idempotency_get";
    TAKE = shared "idempotency_take";
    ANSWER = shared "idempotency_answer";
    TAKE_AGAIN = shared "idempotency_take_again";
    FREE = shared "idempotency_free";
    REMOVE = shared "idempotency_remove";
    PRUNE = shared "idempotency_prune";
}

/// A key of one principal on one route.
#[derive(Clone)]
struct Key {
    scope: TenantScope,
    principal: String,
    route: String,
    key: String,
}

impl Key {
    fn new(scope: TenantScope, (principal, route, key): (&str, &str, &str)) -> Self {
        Self { scope, principal: principal.to_owned(), route: route.to_owned(), key: key.to_owned() }
    }
}

struct TakeKey {
    key: Key,
    body_hash: String,
    seed: Option<Uuid>,
    now: Timestamp,
}

async fn take(tx: &mut Tx, taking: &TakeKey) -> Result<Idempotent> {
    let TakeKey { key: Key { scope, principal, route, key }, body_hash, seed, now } = taking;
    let name = args![*scope, principal.as_str(), route.as_str(), key.as_str()];
    if let Some(mut row) = tx.fetch_optional(&GET, name).await? {
        let (hash, status, body) = (row.text()?, row.opt_i64()?, row.opt_text()?);
        let (expires_at, known_seed) = (row.opt_time()?, row.opt_uuid()?);
        let lives = expires_at.is_some_and(|end| end > *now);
        let answered = status.and_then(|status| u16::try_from(status).ok()).zip(body);
        match (answered, known_seed) {
            _ if !lives => {}
            _ if hash != *body_hash => return Ok(Idempotent::OtherBody),
            (Some((status, body)), _) => return Ok(Idempotent::Answered(status, body)),
            (None, Some(_)) if seed.is_none() => return Ok(Idempotent::Unanswered),
            (None, Some(seed)) => {
                tx.execute(&TAKE_AGAIN, name).await?;
                return Ok(Idempotent::Taken(Command::new(seed, true)));
            }
            // Left behind by a version that minted no seed.
            (None, None) => {}
        }
        if seed.is_some() {
            tx.execute(&REMOVE, name).await?;
        }
    }
    let Some(seed) = seed else { return Ok(Idempotent::Unanswered) };
    let expires_at = now.plus(limits::KEY_LIFE);
    let args =
        args![*scope, principal.as_str(), route.as_str(), key.as_str(), body_hash.as_str(), *now, expires_at, *seed];
    tx.execute(&TAKE, args).await?;
    Ok(Idempotent::Taken(Command::new(*seed, false)))
}

struct AnswerKey {
    key: Key,
    answer: Option<(u16, String)>,
    keep: Millis,
    now: Timestamp,
}

async fn answer(tx: &mut Tx, answering: &AnswerKey) -> Result<()> {
    let Key { scope, principal, route, key } = &answering.key;
    match &answering.answer {
        Some((status, body)) => {
            let ends = answering.now.plus(answering.keep);
            let (status, body) = (u32::from(*status), body.as_str());
            let args = args![*scope, principal.as_str(), route.as_str(), key.as_str(), status, body, ends];
            tx.execute(&ANSWER, args).await?;
            // Whoever adds one takes the ended ones away, so the table stays as small as its use.
            tx.execute(&PRUNE, args![*scope, answering.now]).await?;
        }
        None => {
            tx.execute(&FREE, args![*scope, principal.as_str(), route.as_str(), key.as_str()]).await?;
        }
    }
    Ok(())
}

#[async_trait]
impl<D: 'static> IdempotencyStore for SqlStore<D> {
    async fn take_key(
        &self,
        scope: TenantScope,
        principal_route_key: (&str, &str, &str),
        body_hash: &str,
        seed: Option<Uuid>,
        now: Timestamp,
    ) -> PortResult<Idempotent> {
        let key = Key::new(scope, principal_route_key);
        let taking = TakeKey { key, body_hash: body_hash.to_owned(), seed, now };
        Ok(self.write(scope, taking, |tx, taking| Box::pin(take(tx, taking))).await?)
    }

    async fn answer_key(
        &self,
        scope: TenantScope,
        principal_route_key: (&str, &str, &str),
        given: Option<(u16, &str)>,
        keep: Millis,
        now: Timestamp,
    ) -> PortResult<()> {
        let key = Key::new(scope, principal_route_key);
        let given = given.map(|(status, body)| (status, body.to_owned()));
        let answering = AnswerKey { key, answer: given, keep, now };
        Ok(self.write(scope, answering, |tx, answering| Box::pin(answer(tx, answering))).await?)
    }
}
