//! `insurance.file_loss_runs`: files the loss runs of an answer with the request that asked for them.
//!
//! Which request that is, and whether the sender may answer it, an earlier step has found out. Here the papers are compared
//! with what was asked: that they are loss runs, of this insurer, of these policies, and valued lately. What fits is filed
//! without a word: a request of which all policies have come is closed, one of which some have goes on being chased for
//! the others. Whatever does not fit goes to a person, once, who says what has come.

mod report;

use kybern_core::count::count;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{Lookup, Record};
use kybern_core::task::Attachment;
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use self::report::Report;
use super::correspondence::{self, CORRESPONDENCE, Entry};
use super::loss_run_request::{self as request, LOSS_RUNS};
use crate::args::{fields, objects, text, texts};
use crate::change;
use crate::review::{closed, form};

/// The state's name for what a person says has come, by request.
const COMPLETE: &str = "loss_runs_complete";
/// All that was asked for has come; some of it; or these are no loss runs of the request.
const ALL: &str = "all";
const SOME: &str = "some";
const NONE: &str = "nothing";
/// Papers that a request lists at most.
const MAX_FILED: usize = 100;

/// The tool.
#[must_use]
pub fn file_loss_runs() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "request_ids": {
                "type": "array", "items": {"type": "string", "format": "uuid"}, "maxItems": 100,
                "description": "the requests that are answered, as insurance.match_reply has found them"
            }
        },
        "required": ["request_ids"],
        "additionalProperties": false
    });
    let description = "Files the loss runs that came with the task with the requests that they answer, and closes \
                       those of which all policies have come; asks a person when the papers do not fit.";
    let spec = ToolSpec {
        needs: ToolNeeds { task: true, documents: true, records: true, ..ToolNeeds::default() },
        // It reads records past its arguments, and they may hold what a stranger wrote.
        untrusted_output: true,
        ..ToolSpec::local("insurance.file_loss_runs", description, schema)
            .shown(&["loss run", "answer", "file"], json!({"request_ids": ["0198c1de-7c00-7000-8000-000000000001"]}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

/// A request, and what speaks against filing the answer with it.
struct Answered {
    request: Record,
    doubts: Vec<String>,
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let reports = report::read(&context.state);
    let said = context.state.get(COMPLETE).and_then(Value::as_object);
    let (mut answered, mut open) = (Vec::new(), Vec::new());
    for id in texts(&args, "request_ids") {
        let Some(request) = request::with_id(context, &id).await?.filter(request::is_open) else { continue };
        let doubts = report::doubts(context.now, &request, &reports);
        if !doubts.is_empty() && said.is_none_or(|said| !said.contains_key(&id)) {
            open.push(Answered { request, doubts });
        } else {
            answered.push(Answered { request, doubts });
        }
    }
    if !open.is_empty() {
        return Ok(ToolOutcome::ask(review(context, &open, &reports).await?));
    }
    let files = context.documents()?.list().await?;
    let sender = context.documents()?.mail().await?.map(|mail| mail.from.address.clone()).unwrap_or_default();
    let mut outcome = ToolOutcome::default();
    let (mut filed, mut done, mut declined) = (Vec::new(), 0_usize, 0_usize);
    for Answered { request, doubts } in &answered {
        let word = said.and_then(|said| text(said, &request.id.to_string()));
        // A word of an earlier look counts only where there is still a doubt.
        let word = word.filter(|_| !doubts.is_empty());
        if word.as_deref() == Some(NONE) {
            declined += 1;
            outcome.links.push(change::resolve(request));
            continue;
        }
        let runs = runs(request, &reports, &files, word.as_deref(), context);
        let mut after = request.props.clone();
        after.insert(LOSS_RUNS.to_owned(), json!(runs));
        let is_closed = request::missing(&after).is_empty();
        done += usize::from(is_closed);
        filed.push(request.id);
        let lookups = runs.iter().filter_map(|run| text(run.as_object()?, "hash")).map(Lookup::file).collect();
        let changed = fields([
            ("status", json!(if is_closed { "closed" } else { "received" })),
            (LOSS_RUNS, json!(runs)),
            (CORRESPONDENCE, correspondence::with(context, &request.props, Entry::Answered, (&sender, None))),
        ]);
        outcome.records.push(change::update(request, changed, lookups));
    }
    outcome.data = fields([
        ("filed_request_ids", json!(filed)),
        ("filed_count", json!(filed.len())),
        ("closed_count", json!(done)),
        ("awaited_count", json!(filed.len() - done)),
        ("declined_count", json!(declined)),
    ]);
    outcome.summary = match filed.len() {
        0 => "filed nothing".to_owned(),
        some => format!("filed the answer with {}, of which {done} closed", count(some, "request")),
    };
    Ok(outcome)
}

/// What is filed with a request: what was there, and the papers of this answer that are about it.
fn runs(
    request: &Record,
    reports: &[Report],
    files: &[Attachment],
    word: Option<&str>,
    context: &ToolContext,
) -> Vec<Value> {
    let mut runs: Vec<Value> = objects(&request.props, LOSS_RUNS).into_iter().map(Value::Object).collect();
    let about: Vec<&Report> = match reports.iter().filter(|report| report.is_about(request)).collect::<Vec<_>>() {
        // A person has seen that they are.
        none if none.is_empty() => reports.iter().collect(),
        some => some,
    };
    for report in about {
        let file = files.iter().find(|file| u64::from(file.n) == report.n);
        runs.push(json!({
            "task": context.task,
            "n": report.n,
            "filename": file.map(|file| &file.filename),
            "hash": file.map(|file| &file.hash),
            "policy_numbers": report.policy_numbers,
            "valuation_date": report.valuation_date,
            "losses": report.losses,
        }));
    }
    if word == Some(ALL) {
        runs.push(json!({"task": context.task, "policy_numbers": request::missing(&request.props)}));
    }
    runs.drain(..runs.len().saturating_sub(MAX_FILED));
    runs
}

/// Asks what has come of the requests whose answer does not fit.
async fn review(context: &ToolContext, open: &[Answered], reports: &[Report]) -> Result<Review, ToolFailure> {
    let mut properties = Map::new();
    let mut asked = Vec::new();
    for Answered { request, doubts } in open {
        properties.insert(request.id.to_string(), json!({"enum": [ALL, SOME, NONE]}));
        asked.push(json!({
            "id": request.id,
            "insurer": text(&request.props, "insurer"),
            "insured": request::insured(context, &request.props).await?,
            "missing_policies": request::missing(&request.props),
            "doubts": doubts,
        }));
    }
    let doubts: Vec<&str> = open.iter().flat_map(|one| &one.doubts).map(String::as_str).collect();
    let reason = format!(
        "{}; say for each request whether {ALL}, {SOME} or {NONE} of the loss runs that it asks for have come",
        doubts.join("; ")
    );
    let details = json!({"requests": asked, "papers": reports.iter().map(Report::to_json).collect::<Vec<_>>()});
    Ok(form("Are these the loss runs?", reason, json!({COMPLETE: closed(Value::Object(properties))}), details))
}

#[cfg(test)]
mod tests;
