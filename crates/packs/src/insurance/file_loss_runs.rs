//! `insurance.file_loss_runs`: files the loss runs of an answer with the request that asked for them.
//!
//! Which request that is, and whether the sender may answer it, an earlier step has found out. Here the papers are compared
//! with what was asked: that they are loss runs, of this insurer, of this insured and these policies, and valued lately.
//! What fits, and comes in a mail whose sender the receiving server has verified, is filed without a word: a request of
//! which all policies have come is closed, one of which some have goes on being chased for the others. Otherwise a person
//! says of which policies loss runs have come.

mod report;

use std::collections::BTreeSet;

use kybern_core::count::count;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::Record;
use kybern_core::task::{Attachment, AttachmentSource};
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use self::report::Report;
use super::correspondence::{self, CORRESPONDENCE, Entry};
use super::loss_run_request::{self as request, LOSS_RUNS};
use crate::args::{fields, objects, text, texts};
use crate::change;
use crate::review::{closed, form};

/// The state's name for the policies of which loss runs have come, by request, as a person says.
const SAID: &str = "loss_runs_of";
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

/// A request, and what speaks against filing the answer with it without a person.
struct ComparedRequest {
    request: Record,
    doubts: Vec<String>,
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let reports = report::read(&context.state);
    let said = context.state.get(SAID).and_then(Value::as_object);
    let mut answered = Vec::new();
    for id in texts(&args, "request_ids") {
        let Some(request) = request::find_by_id(context, &id).await?.filter(request::is_open) else { continue };
        let insured = request::insured(context, &request.props).await?;
        let doubts = report::doubts(context, &request, insured.as_deref(), &reports);
        answered.push(ComparedRequest { request, doubts });
    }
    let is_open = |one: &ComparedRequest| {
        !one.doubts.is_empty() && said.is_none_or(|said| !said.contains_key(&one.request.id.to_string()))
    };
    if answered.iter().any(is_open) {
        // All that is doubtful is one question, so that its answer settles all of it.
        answered.retain(|one| !one.doubts.is_empty());
        return Ok(ToolOutcome::ask(review(context, &answered, &reports).await?));
    }
    file(context, &answered, &reports, said).await
}

async fn file(
    context: &ToolContext,
    answered: &[ComparedRequest],
    reports: &[Report],
    said: Option<&Map<String, Value>>,
) -> Result<ToolOutcome, ToolFailure> {
    let files = context.documents()?.list().await?;
    let mail = context.documents()?.mail().await?;
    let (sender, message) =
        mail.as_ref().map_or(("", None), |mail| (mail.from.address.as_str(), mail.message_id.as_deref()));
    let mut outcome = ToolOutcome::default();
    let (mut filed, mut done, mut declined) = (Vec::new(), 0_usize, 0_usize);
    // What a person was asked about is settled by their word.
    let mut unfiled: BTreeSet<u64> = match said {
        Some(_) => BTreeSet::new(),
        None => reports.iter().map(|report| report.n).collect(),
    };
    for ComparedRequest { request, doubts } in answered {
        // A word counts only where there is still a doubt.
        let word = said.filter(|_| !doubts.is_empty()).map(|said| texts(said, &request.id.to_string()));
        let new: Vec<Value> = match &word {
            Some(numbers) if numbers.is_empty() => Vec::new(),
            Some(numbers) => by_word(context, numbers, &files),
            None => reports
                .iter()
                .filter(|report| report.is_about(request))
                .map(|report| report.run(context, request, &files))
                .collect(),
        };
        unfiled.retain(|n| !new.iter().any(|run| run["n"].as_u64() == Some(*n)));
        if new.is_empty() {
            declined += 1;
            outcome.links.push(change::resolve(request));
            continue;
        }
        let mut runs: Vec<Value> = objects(&request.props, LOSS_RUNS).into_iter().map(Value::Object).collect();
        if runs.len() + new.len() > MAX_FILED {
            let message = format!("the request lists {} papers; {MAX_FILED} are the most", runs.len());
            return Err(ToolFailure::permanent(message));
        }
        runs.extend(new);
        let mut after = request.props.clone();
        after.insert(LOSS_RUNS.to_owned(), json!(runs));
        let is_closed = request::missing(&after).is_empty();
        // A draft stays one, so that it can still be sent for the policies that are missing.
        let status = match (is_closed, request::is_draft(request)) {
            (true, _) => "closed",
            (false, true) => "draft",
            (false, false) => "received",
        };
        done += usize::from(is_closed);
        filed.push(request.id);
        let entry = correspondence::with(context, &request.props, Entry::Answered, (sender, message));
        let changed = fields([("status", json!(status)), (LOSS_RUNS, json!(runs)), (CORRESPONDENCE, entry)]);
        outcome.records.push(change::update(request, changed, request::file_lookups(&after)));
    }
    outcome.data = fields([
        ("filed_request_ids", json!(filed)),
        ("filed_count", json!(filed.len())),
        ("closed_count", json!(done)),
        ("awaited_count", json!(filed.len() - done)),
        ("declined_count", json!(declined)),
        ("unfiled_documents", json!(unfiled)),
    ]);
    outcome.summary = match filed.len() {
        0 => "filed nothing".to_owned(),
        some => format!("filed the answer with {}, of which {done} closed", count(some, "request")),
    };
    Ok(outcome)
}

/// What is filed by the word of a person: all files of the answer, for these policies.
fn by_word(context: &ToolContext, numbers: &[String], files: &[Attachment]) -> Vec<Value> {
    let attached = files.iter().filter(|file| file.source == AttachmentSource::Attached);
    let runs: Vec<Value> = attached.map(|file| filed_as(context, Some(file), numbers)).collect();
    // The message itself may say it.
    if runs.is_empty() { vec![filed_as(context, None, numbers)] } else { runs }
}

/// The entry of a request for one file of an answer.
fn filed_as(context: &ToolContext, file: Option<&Attachment>, numbers: &[String]) -> Value {
    json!({
        "task": context.task,
        "n": file.map(|file| file.n),
        "filename": file.map(|file| &file.filename),
        "hash": file.map(|file| &file.hash),
        "policy_numbers": numbers,
    })
}

/// Asks of which policies loss runs have come, for each request whose answer does not fit.
async fn review(context: &ToolContext, open: &[ComparedRequest], reports: &[Report]) -> Result<Review, ToolFailure> {
    let mut properties = Map::new();
    let mut asked = Vec::new();
    for ComparedRequest { request, doubts } in open {
        let missing = request::missing(&request.props);
        let choice = json!({"type": "array", "items": {"enum": missing}, "uniqueItems": true});
        properties.insert(request.id.to_string(), choice);
        asked.push(json!({
            "id": request.id,
            "insurer": text(&request.props, "insurer"),
            "insured": request::insured(context, &request.props).await?,
            "missing_policies": missing,
            "doubts": doubts,
        }));
    }
    let mut doubts: Vec<&str> = open.iter().flat_map(|one| &one.doubts).map(String::as_str).collect();
    doubts.dedup();
    let reason =
        format!("{}; name for each request the policies of which loss runs have come, or none: []", doubts.join("; "));
    let details = json!({"requests": asked, "papers": reports.iter().map(Report::to_json).collect::<Vec<_>>()});
    Ok(form("Are these the loss runs?", reason, json!({SAID: closed(Value::Object(properties))}), details))
}

#[cfg(test)]
mod tests;
