//! `kybern audit`: whether the trail is whole.

mod export;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};

use super::purge::days;
use super::{Context, Exit, Format, input};
use crate::client::{Client, Reply};
use crate::output::{Failure, Table, aside, count, field};

/// Events of one page.
const PAGE: u32 = 200;

/// `kybern audit …`
#[derive(Subcommand, Debug)]
pub(super) enum AuditCommand {
    /// Check the whole chain of the audit trail
    Verify {
        /// Hold it against a head that `kybern audit head --json` has written, or against all of `audit.head_file`
        #[arg(long, value_name = "FILE")]
        head: Option<PathBuf>,
        /// Check an export instead, event by event
        #[arg(long, value_name = "FILE", conflicts_with = "head")]
        export: Option<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
    /// Write all events to a new file, one JSON object on each line; the last line is the signed head
    Export {
        /// The file; it must not exist yet
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Remove the beginning of the trail, as far as it was exported
    Purge {
        /// What `kybern audit export` has written; keep it, it is then the only copy
        #[arg(long, value_name = "FILE")]
        exported: PathBuf,
        /// Only events that are older than so many days, such as 400d; at least 7d
        #[arg(long, value_name = "DAYS", value_parser = days)]
        older_than: u32,
        /// Only count them
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Sign what the audit trail ends with now, to be kept somewhere else
    Head {
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: AuditCommand, context: &mut Context) -> Result<Exit, Failure> {
    let (head, format) = match command {
        AuditCommand::Verify { export: Some(file), format, .. } => return export::verify(&file, format, context).await,
        AuditCommand::Verify { head, export: None, format } => (head, format),
        AuditCommand::Head { format } => return sign(format, context).await,
        AuditCommand::Export { file } => return export::write(&file, context).await,
        AuditCommand::Purge { exported, older_than, dry_run, format } => {
            return export::purge(&exported, (older_than, dry_run), format, context).await;
        }
    };
    let head = head.map(|path| input::bytes(&path).map(|bytes| (path, bytes))).transpose()?;
    let client = context.connect_to_read().await?;
    let kept = match head {
        Some((path, bytes)) => kept(&client, &path, &bytes).await?,
        None => FileHeads::default(),
    };
    let query = kept.heads.last().map(named).unwrap_or_default();
    let mut reply = client.get("/api/audit/verify", &query).await?;
    let removed_to = reply.value["removedTo"].as_i64().unwrap_or_default();
    let earlier = kept.heads.split_last().map_or(&[][..], |(_, earlier)| earlier);
    let departed = departed(&client, earlier, removed_to).await?;
    if !departed.is_empty() {
        report(&mut reply, departed);
    }
    if !kept.broken.is_empty() {
        let lines: Vec<String> = kept.broken.iter().map(ToString::to_string).collect();
        let line = format!("the file cannot be read in line {}: a write was cut off there", lines.join(", "));
        aside(line);
    }
    let valid = reply.value.get("valid") == Some(&Value::Bool(true));
    let exit = if valid { Exit::Done } else { Exit::Failed };
    if format.json {
        context.raw(&reply);
        return Ok(exit);
    }
    let before = kept.heads.iter().filter(|head| head["seq"].as_i64().is_some_and(|seq| seq < removed_to)).count();
    if before > 0 {
        let heads = count(before, "head");
        aside(format!(
            "{heads} of the file name events that were exported and removed since: hold the export against them"
        ));
    }
    print(&reply, valid, context);
    Ok(exit)
}

/// Shows what was found.
fn print(reply: &Reply, valid: bool, context: &mut Context) {
    let paint = context.screen().paint();
    let removed_to = reply.value["removedTo"].as_i64().unwrap_or_default();
    let mut length = count(field(&reply.value, "length"), "event");
    if removed_to > 0 {
        length.push_str(&format!(", of which the first {removed_to} were exported and removed"));
    }
    if valid {
        context.screen().line(format!("{} the audit trail is whole: {length}", paint.good("✓")));
        return;
    }
    let mut table = Table::new(&["EVENT", "PROBLEM"]);
    for fault in reply.value.get("faults").and_then(Value::as_array).into_iter().flatten() {
        table.row([field(fault, "seq").into(), field(fault, "problem").into()]);
    }
    let head = format!("{} the audit trail of {length} has been changed or damaged", paint.bad("✗"));
    context.screen().line(head);
    context.table(&table);
}

/// The heads of a file.
#[derive(Default)]
struct FileHeads {
    /// This tenant's, in the order in which they were signed.
    heads: Vec<Value>,
    /// The numbers of the lines that nobody can read.
    broken: Vec<usize>,
}

/// What a file holds: one head as `kybern audit head` writes it, or one on each line as `[audit] head_file` does. A line
/// that cannot be read, because a write was cut off, takes no other's proof away.
async fn kept(client: &Client, path: &Path, bytes: &[u8]) -> Result<FileHeads, Failure> {
    let own = client.get("/api/audit/head", &[]).await?;
    let tenant = own.value.get("tenantId").cloned().unwrap_or_default();
    let mut found = FileHeads::default();
    let mut add = |head: Value| {
        if head.get("tenantId") == Some(&tenant) {
            found.heads.push(head);
        }
    };
    match serde_json::from_slice::<Value>(bytes) {
        Ok(head) => add(head),
        Err(_) => {
            for (n, line) in bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
                match serde_json::from_slice(line) {
                    Ok(head) => add(head),
                    Err(_) => found.broken.push(n + 1),
                }
            }
        }
    }
    if found.heads.is_empty() {
        let problem = "holds no head of this organisation's audit trail".to_owned();
        return Err(Failure::Content { path: path.display().to_string(), problem });
    }
    Ok(found)
}

/// The four values of a signed head, as the verification asks for them.
fn named(head: &Value) -> Vec<(&'static str, Option<String>)> {
    let text = |name: &str| head.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    ["seq", "hash", "at", "signature"].map(|name| (name, text(name))).into()
}

/// The numbers of those heads through which the trail no longer goes. The last head of a file does not prove the others:
/// a trail that was made anew between two of them has a good last one.
async fn departed(client: &Client, heads: &[Value], removed_to: i64) -> Result<Vec<i64>, Failure> {
    let of = |value: &Value| (value["seq"].as_i64().unwrap_or_default(), value["hash"].as_str().map(str::to_owned));
    let heads = heads.iter().map(of).filter(|(seq, _)| *seq > removed_to);
    let mut missing: BTreeSet<(i64, Option<String>)> = heads.collect();
    let mut cursor = None;
    while !missing.is_empty() {
        let query = [("limit", Some(PAGE.to_string())), ("cursor", cursor.clone())];
        let page = client.get("/api/audit", &query).await?.value;
        for event in page["items"].as_array().into_iter().flatten() {
            missing.remove(&of(event));
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    Ok(missing.into_iter().map(|(seq, _)| seq).collect())
}

/// Adds to the server's report that the trail no longer goes through these heads.
fn report(reply: &mut Reply, departed: Vec<i64>) {
    let problem = "is not the event that a signed head names: the trail was made anew since";
    if let Some(report) = reply.value.as_object_mut() {
        report.insert("valid".to_owned(), json!(false));
        let faults = report.entry("faults").or_insert_with(|| json!([]));
        if let Some(faults) = faults.as_array_mut() {
            faults.extend(departed.into_iter().map(|seq| json!({"seq": seq, "problem": problem})));
        }
    }
    reply.text = reply.value.to_string();
}

async fn sign(format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let Some(reply) = context.read("/api/audit/head", &[], format).await? else { return Ok(Exit::Done) };
    let mut table = Table::new(&["EVENT", "HASH", "SIGNED AT", "SIGNATURE"]);
    table.row(["seq", "hash", "at", "signature"].map(|name| field(&reply.value, name).into()));
    context.table(&table);
    Ok(Exit::Done)
}
