//! Which ticket is meant: the open one of this requester about the same thing, or a new one.

use kybern_core::digest::hash_of;
use kybern_core::id::RecordId;
use kybern_core::ports::ToolContext;
use kybern_core::record::{Lookup, Record};
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value};

use super::kinds::TICKET;
use crate::args::text;

/// The lookups of a ticket: whose it is, and the `Message-ID`s of its mails, ours among them.
pub(super) const BY_REQUESTER: &str = "requester";
const BY_THREAD: &str = "thread";

/// How often one requester can have asked for the same in the same words, and had it closed.
const MAX_SAME: u32 = 100;
/// Letters of the hash of a message's words that stand in a ticket's key.
const WORDS: usize = 16;
/// Letters of a ticket's id that stand in its number.
const NUMBER: usize = 8;

/// The open ticket, or the key that a new one gets.
pub(super) enum OpenTicket {
    /// It is there.
    Found(Box<Record>),
    /// It would have this key.
    Absent(String),
}

/// Finds the open ticket of a requester: by the thread in which the message stands, else by its words. Anybody can name
/// another's thread, so the requester has to be the same.
pub(super) async fn open_ticket(
    context: &ToolContext,
    requester: &str,
    threads: &[String],
    words: &str,
) -> Result<OpenTicket, ToolFailure> {
    let records = context.records()?;
    for thread in threads {
        let known = records.records_by_lookup(context.scope, TICKET, BY_THREAD, &Lookup::kept(thread.clone())).await?;
        let own = |ticket: &Record| text(&ticket.props, "requester").as_deref() == Some(requester);
        if let Some(ticket) = known.into_iter().find(|ticket| own(ticket) && !is_closed(ticket)) {
            return Ok(OpenTicket::Found(Box::new(ticket)));
        }
    }
    let plain = format!("{requester}:{}", words_hash(words));
    for n in 1..=MAX_SAME {
        let key = if n == 1 { plain.clone() } else { format!("{plain}:{n}") };
        match records.record(context.scope, TICKET, &key).await? {
            None => return Ok(OpenTicket::Absent(key)),
            Some(ticket) if !is_closed(&ticket) => return Ok(OpenTicket::Found(Box::new(ticket))),
            Some(_) => {}
        }
    }
    Err(ToolFailure::permanent(format!("{MAX_SAME} tickets in the same words were closed; open one of them again")))
}

/// The same for two messages whose letters and digits are the same.
fn words_hash(words: &str) -> String {
    let plain: String = words.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    hash_of([plain.as_bytes()]).chars().take(WORDS).collect()
}

/// Whether a ticket is over.
pub(super) fn is_closed(ticket: &Record) -> bool {
    text(&ticket.props, "status").as_deref() == Some("closed")
}

/// How people call a ticket: the end of its id, which is chance.
pub(super) fn number(id: RecordId) -> String {
    let id = id.to_string().replace('-', "").to_uppercase();
    let from = id.len().saturating_sub(NUMBER);
    format!("HD-{}", id.get(from..).unwrap_or_default())
}

/// Under what a ticket is found.
pub(super) fn lookups(requester: RecordId, threads: &[String]) -> Vec<Lookup> {
    let requester = Lookup::shared(BY_REQUESTER, requester.to_string());
    std::iter::once(requester).chain(thread_lookups(threads)).collect()
}

/// Under what it is found by its mails. All lookups of one name are written together.
pub(super) fn thread_lookups(threads: &[String]) -> Vec<Lookup> {
    threads.iter().map(|thread| Lookup::shared(BY_THREAD, thread.as_str())).collect()
}

/// The ticket that a call names as `ticket_id`.
pub(super) async fn named(context: &ToolContext, args: &Map<String, Value>) -> Result<Record, ToolFailure> {
    let id = text(args, "ticket_id").unwrap_or_default();
    let unknown =
        || ToolFailure::permanent(format!("there is no ticket {id:?}; `kybern record list {TICKET}` lists them"));
    let parsed: RecordId = id.parse().map_err(|_| unknown())?;
    let found = context.records()?.record_by_id(context.scope, parsed).await?;
    found.filter(|record| record.kind == TICKET).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_same_whatever_stands_between_them() {
        assert_eq!(words_hash("The printer jams!"), words_hash("the  printer\njams"));
        assert_ne!(words_hash("The printer jams"), words_hash("The printer burns"));
    }

    #[test]
    fn a_number_is_short() {
        let id: RecordId = "0198c1de-7c00-7000-8000-0000deadbeef".parse().unwrap();
        assert_eq!(number(id), "HD-DEADBEEF");
    }
}
