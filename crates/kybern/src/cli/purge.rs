//! `kybern purge`: removes what is over and old, now.

use clap::Args;
use kybern_core::retention::RetentionKind;
use serde_json::json;

use super::list::items;
use super::{Context, Exit, Format};
use crate::client::PostedBody;
use crate::output::{Failure, Table, count, field};

/// `kybern purge`
#[derive(Args, Debug)]
pub(super) struct PurgeArgs {
    /// Only what was over before so many days, such as 400d; at least 7d
    #[arg(long, value_name = "DAYS", value_parser = days)]
    older_than: u32,
    /// Only this kind: files, chats, tasks, messages, jobs or idempotency_keys; several times for several
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<RetentionKind>,
    /// Only count it
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    format: Format,
}

/// A number of days from 7 on.
pub(super) fn days(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('d').unwrap_or(text).parse::<u32>();
    number.ok().filter(|days| *days >= 7).ok_or_else(|| "is no number of days from 7 on, such as 400d".to_owned())
}

fn kind(text: &str) -> Result<RetentionKind, String> {
    RetentionKind::parse(text)
        .ok_or_else(|| format!("is no kind, take one of {}", RetentionKind::ALL.map(RetentionKind::as_str).join(", ")))
}

pub(super) async fn run(args: PurgeArgs, context: &mut Context) -> Result<Exit, Failure> {
    let mut body = json!({"olderThanDays": args.older_than, "dryRun": args.dry_run});
    if !args.kind.is_empty() {
        let kinds: Vec<&str> = args.kind.iter().map(|kind| kind.as_str()).collect();
        body["kinds"] = json!(kinds);
    }
    let reply = context.post("/api/purge", PostedBody::Json(&body)).await?;
    if args.format.json {
        context.raw(&reply);
        return Ok(Exit::Done);
    }
    let what = if args.dry_run { "WOULD GO" } else { "REMOVED" };
    let mut table = Table::new(&["KIND", what]);
    for item in items(&reply.value) {
        table.row([field(item, "kind").into(), field(item, "count").into()]);
    }
    context.table(&table);
    if items(&reply.value).iter().all(|item| item["count"] == 0) {
        let days = count(args.older_than, "day");
        context.screen().line(format!("nothing is over for {days}, or it is kept: see docs/retention.md"));
    }
    Ok(Exit::Done)
}
