//! Making a thing once, however often its caller asks under the same idempotency key.

use std::future::Future;

use kybern_core::actor::Actor;
use kybern_core::error::{ErrorCode, Result};
use kybern_core::ports::IdSource;
use uuid::Uuid;

/// The id of the one thing of that noun that a caller makes: under an idempotency key the same at every try.
pub(crate) fn id_for(ids: &dyn IdSource, actor: &Actor, noun: &str) -> Uuid {
    actor.command().map_or_else(|| ids.next(), |command| command.id_of(noun))
}

/// Makes a thing, unless an earlier try of the same command has made it: `find` looks for it by its id.
///
/// # Errors
/// What `make` and `find` answer.
pub(crate) async fn once<T, F, M>(actor: &Actor, find: impl Fn() -> F, make: M) -> Result<T>
where
    F: Future<Output = Result<Option<T>>>,
    M: Future<Output = Result<T>>,
{
    let Some(command) = actor.command() else { return make.await };
    if command.is_repeated()
        && let Some(made) = find().await?
    {
        return Ok(made);
    }
    match make.await {
        // Another try, in another process, may have been faster.
        Err(error) if error.code() == ErrorCode::Conflict => find().await?.ok_or(error),
        made => made,
    }
}
