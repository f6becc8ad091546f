//! The audit trail in a file: writing it, checking it, and removing what it holds.
//!
//! One event on each line, as the server lists them; the last line is the signed head.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read as _, Write as _};
use std::path::Path;

use kybern_core::audit::{ExportEnds, ExportReader};
use kybern_store::private;
use serde_json::{Value, json};

use super::super::{Context, Exit, Format, input};
use super::{PAGE, print};
use crate::client::{Client, PostedBody, Reply};
use crate::output::{Failure, count, kybern, quoted};

/// Bytes of a line that is read: no event takes as many, and the server checks none that does.
const MAX_LINE: u64 = 8 << 20;

/// Writes all events up to the head of this moment. What was begun and cannot be ended is taken away again.
pub(super) async fn write(path: &Path, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect_to_read().await?;
    let head = client.get("/api/audit/head", &[]).await?.value;
    let file = private::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => input::taken(path),
        _other => unwritten(path, &error),
    })?;
    let written = match fill(file, path, &client, &head).await {
        Ok(written) => written,
        Err(failure) => {
            // What is wrong has been found; whether the rest can be taken away changes nothing.
            let _ = std::fs::remove_file(path);
            return Err(failure);
        }
    };
    let paint = context.screen().paint();
    let (events, path) = (count(written, "event"), path.display().to_string());
    let file = quoted(&path);
    context.screen().line(format!("{} {events} written to {path}, up to the signed head", paint.good("✓")));
    context.screen().line(paint.dim(&format!("{} audit verify --export {file}", kybern())));
    Ok(Exit::Done)
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::Content { path: path.display().to_string(), problem: format!("cannot be written: {error}") }
}

/// Writes the events up to a head, and the head.
async fn fill(file: File, path: &Path, client: &Client, head: &Value) -> Result<u64, Failure> {
    let failed = |error: std::io::Error| unwritten(path, &error);
    let mut file = BufWriter::new(file);
    let last = head["seq"].as_i64().unwrap_or_default();
    let (mut cursor, mut written) = (None, 0_u64);
    'pages: loop {
        let query = [("limit", Some(PAGE.to_string())), ("cursor", cursor.clone())];
        let page = client.get("/api/audit", &query).await?.value;
        for event in page["items"].as_array().into_iter().flatten() {
            if event["seq"].as_i64().is_none_or(|seq| seq > last) {
                break 'pages;
            }
            writeln!(file, "{event}").map_err(failed)?;
            written += 1;
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    writeln!(file, "{head}").map_err(failed)?;
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    file.sync_all().map_err(failed)?;
    Ok(written)
}

/// Checks an export: each event's content, that each follows the one before, and that the head ends it.
pub(super) async fn verify(path: &Path, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let file = input::open(path)?;
    let client = context.connect_to_read().await?;
    let mut report = Report::default();
    let export = read(path, file, &client, &mut report).await?;
    let (from, length) = (export.from, export.head["seq"].as_i64().unwrap_or_default());
    let value = json!({"valid": report.faults.is_empty(), "length": length, "removedTo": from - 1,
        "faults": report.faults});
    let valid = report.faults.is_empty();
    let reply = Reply { text: value.to_string(), value, replayed: false };
    if format.json {
        context.raw(&reply);
    } else {
        print(&reply, valid, context);
    }
    Ok(if valid { Exit::Done } else { Exit::Failed })
}

/// Has the server remove what an export holds.
pub(super) async fn purge(
    path: &Path,
    (older_than, dry_run): (u32, bool),
    format: Format,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let file = input::open(path)?;
    let client = context.connect().await?;
    let mut report = Report::default();
    let export = read(path, file, &client, &mut report).await?;
    if let Some(fault) = report.faults.first() {
        let problem = format!("is no whole export, event {}: {}", fault["seq"], fault["problem"]);
        return Err(Failure::Content { path: path.display().to_string(), problem });
    }
    let body = json!({"olderThanDays": older_than, "from": export.from, "head": export.head, "dryRun": dry_run});
    let reply = client.post("/api/audit/purge", PostedBody::Json(&body), None).await?;
    if format.json {
        context.raw(&reply);
        return Ok(Exit::Done);
    }
    let events = count(&reply.value["count"], "event");
    let line = match (reply.value["count"].as_u64(), dry_run) {
        (Some(0), _) => {
            let days = count(older_than, "day");
            format!("nothing goes: no event is {days} old and older than what is kept, see docs/retention.md")
        }
        (_, true) => format!("{events} would go"),
        (_, false) => format!("{events} removed; {} is now their only copy, keep it", path.display()),
    };
    context.screen().line(line);
    Ok(Exit::Done)
}

/// What is wrong with an export.
#[derive(Default)]
struct Report {
    faults: Vec<Value>,
}

/// Reads an export page by page, and has the server check each.
async fn read(path: &Path, file: File, client: &Client, report: &mut Report) -> Result<ExportEnds, Failure> {
    let wrong = |problem: String| Failure::Content { path: path.display().to_string(), problem };
    let mut file = BufReader::new(file);
    let mut lines = std::iter::from_fn(|| next_line(&mut file).transpose()).enumerate().peekable();
    let mut reader = ExportReader::new(PAGE as usize);
    while let Some((n, line)) = lines.next() {
        let in_line = |problem: String| wrong(format!("line {}: {problem}", n + 1));
        let events = reader.line(&line.map_err(in_line)?, lines.peek().is_none()).map_err(in_line)?;
        if !events.is_empty() {
            check(client, &json!({"events": events}), report).await?;
        }
    }
    let ends = reader.finish().map_err(wrong)?;
    check(client, &json!({"events": [], "head": ends.head}), report).await?;
    report.faults.extend(ends.faults.iter().map(|fault| json!(fault)));
    Ok(ends)
}

/// The next line; `None` at the end of the file.
fn next_line(file: &mut impl BufRead) -> Result<Option<String>, String> {
    let mut line = Vec::new();
    let read =
        file.take(MAX_LINE + 1).read_until(b'\n', &mut line).map_err(|error| format!("cannot be read: {error}"))?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if line.len() as u64 > MAX_LINE {
        return Err(format!("is longer than {MAX_LINE} bytes, which no event is"));
    }
    String::from_utf8(line).map(Some).map_err(|_| "is no UTF-8 text".to_owned())
}

/// Has the server check a part of an export.
async fn check(client: &Client, part: &Value, report: &mut Report) -> Result<(), Failure> {
    let found = client.post("/api/audit/check", PostedBody::Json(part), None).await?.value;
    report.faults.extend(found["faults"].as_array().cloned().unwrap_or_default());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_up_to_their_limit() {
        let most = usize::try_from(MAX_LINE).unwrap();
        let mut file =
            BufReader::new(std::io::Cursor::new(["a\n\n", &"b".repeat(most), "\n", &"c".repeat(most + 1)].concat()));
        let mut next = || next_line(&mut file).map(|line| line.map(|line| line.len()));
        assert_eq!([next(), next(), next()], [Ok(Some(1)), Ok(Some(0)), Ok(Some(most))]);
        assert!(next().unwrap_err().contains("longer than 8388608 bytes"));
        assert_eq!(next_line(&mut BufReader::new(&b""[..])), Ok(None));
        assert!(next_line(&mut BufReader::new(&[0xff, b'\n'][..])).is_err());
    }
}
