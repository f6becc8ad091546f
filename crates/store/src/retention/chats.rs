//! Conversations in which nothing was said for long. Their tasks stay, and go with the next removal of tasks.

use kybern_core::id::ChatId;

use super::PurgeUnit;
use crate::chats;
use crate::db::{Row, Tx, args, statements};
use crate::error::Result;
use kybern_core::retention::PurgeStep;

statements! {
    OLD = shared "retention_chats";
    TAKE = shared "retention_chat_take";
}

/// Conversations that one transaction removes at most.
const BATCH: u32 = 20;

pub(super) async fn purge(tx: &mut Tx, asked: &PurgeUnit) -> Result<PurgeStep> {
    let (scope, before) = (asked.scope, asked.purge.before);
    let bounds = args![scope, asked.after()?, asked.first_young(), before, BATCH];
    let old = tx.list(&OLD, bounds, Row::uuid).await?;
    let full = u32::try_from(old.len()).unwrap_or(u32::MAX) >= BATCH;
    let next = old.last().filter(|_| full).map(ToString::to_string);
    let mut count = 0;
    for id in old {
        // Somebody may have said something meanwhile; from here on nobody can.
        if asked.purge.dry_run || tx.execute(&TAKE, args![scope, id, before]).await? > 0 {
            count += 1;
            if !asked.purge.dry_run {
                chats::remove(tx, scope, ChatId::from_uuid(id)).await?;
            }
        }
    }
    Ok(PurgeStep { count, next })
}
