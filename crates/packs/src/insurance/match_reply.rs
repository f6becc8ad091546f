//! `insurance.match_reply`: which request an insurer's answer is about, and whether whoever sent it may answer.
//!
//! A request's token says which one is meant, also its bare id, and so does the thread that began with our own mail; none proves
//! anything: anybody can write them. So the sender's domain is held against the insurer that was asked, and what the
//! report is about against what was asked for. What does not fit goes to a person, once; so does an answer that only
//! shares a policy with open requests.
//!
//! Nothing that the mail itself says makes its sender a colleague: whoever hands on an insurer's answer is a user of the
//! tenant, by their address.

mod sender;
mod which;

use std::collections::HashSet;

use kybern_core::count::count;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::Record;
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use self::which::AnsweredRequest;
use super::kinds::LOSS_RUN_REQUEST;
use super::loss_run_request::{self as request, is_one_policy};
use super::send_loss_run_request::SENT_TO;
use crate::args::{as_text, fields, objects, text, texts};
use crate::review::form;
use crate::{change, company};

/// The state's name for a person's word that the sender may answer.
const CONFIRMED: &str = "answer_confirmed";
/// The state's name for the request that a person has chosen, and the choice of none.
const CHOSEN: &str = "answered_request";
const NONE: &str = "none_of_these";
/// Requests that a question names in its words.
const TOLD: usize = 3;

/// The tool.
#[must_use]
pub fn match_reply() -> StatelessTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let description = "Finds the loss-run request that a mail answers, by its token, its thread or its policies; \
                       asks a person when the sender is not the insurer that was asked, or the report is about \
                       something else.";
    let spec = ToolSpec {
        needs: ToolNeeds {
            task: true,
            documents: true,
            records: true,
            users: true,
            outbox: true,
            lessons: true,
            ..ToolNeeds::default()
        },
        ..ToolSpec::local("insurance.match_reply", description, schema)
            .shown(&["loss run", "answer", "insurer"], json!({}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, _args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let Some(mail) = context.documents()?.mail().await? else { return Ok(unmatched("not an e-mail")) };
    let users = match &context.users {
        Some(directory) => directory.users_of(context.scope).await?,
        None => Vec::new(),
    };
    let senders = sender::senders(&mail, &users);
    let confirmed = context.state.get(CONFIRMED).and_then(Value::as_bool);
    if confirmed == Some(false) {
        return Ok(declined("a person says that it is not the insurer's answer"));
    }
    let chosen = text(&context.state, CHOSEN);
    let requests = match (chosen.as_deref(), which::of(context, &mail).await?) {
        (Some(NONE), _) => return Ok(declined("a person says that it answers none of the requests")),
        (Some(id), _) => match request::find_by_id(context, id).await? {
            Some(request) => vec![request],
            None => {
                let (why, fitting) = (format!("there is no request {id:?}"), which::fitting(context).await?);
                return Ok(ToolOutcome::ask(which_one(context, &why, &senders, &fitting).await?));
            }
        },
        (None, AnsweredRequest::Said(requests)) => requests,
        (None, AnsweredRequest::OneOf(requests, why)) => {
            return Ok(ToolOutcome::ask(which_one(context, why, &senders, &requests).await?));
        }
        (None, AnsweredRequest::Foreign) if sender::knows_one_of(context, &senders).await? => {
            return Ok(unmatched("an insurer's answer names a request that is none of ours"));
        }
        (None, AnsweredRequest::Foreign) => {
            let foreign: Vec<&str> = mail.request_tokens.iter().map(|token| token.id.as_str()).collect();
            let why = format!("the answer names the request {}, which is none of ours", foreign.join(", "));
            let fitting = which::fitting(context).await?;
            return Ok(ToolOutcome::ask(which_one(context, &why, &senders, &fitting).await?));
        }
        (None, AnsweredRequest::Unnamed) => return Ok(unmatched("the answer names no request")),
    };
    let requests = as_sent(context, requests).await?;
    let mut doubts = doubts(context, &senders, &requests);
    doubts.extend(of_others(context, &requests).await?);
    // Whoever chose the request was shown what is doubtful about it.
    if confirmed.is_none() && !doubts.is_empty() && chosen.is_none() {
        return Ok(ToolOutcome::ask(review(&doubts, &senders, &requests)));
    }
    let data = fields([
        ("request_ids", json!(requests.iter().map(|request| request.id).collect::<Vec<_>>())),
        ("reply_doubts", json!(doubts)),
    ]);
    // Where the sender was all that was doubtful, the next answer from there needs no person.
    let strangers = sender::strangers(context, &senders, &requests);
    let lessons = match confirmed {
        Some(true) if strangers.len() == doubts.len() => sender::taught(&senders, &users, strangers),
        Some(_) | None => Vec::new(),
    };
    let outcome = ToolOutcome::new(data, format!("the answer is about {}", count(requests.len(), "request")));
    Ok(ToolOutcome { links: requests.iter().map(change::resolve).collect(), lessons, ..outcome })
}

fn unmatched(why: &str) -> ToolOutcome {
    ToolOutcome::new(fields([("request_ids", json!([])), ("reply_doubts", json!([]))]), why)
}

/// The same by the word of a person, who is not asked again what to do with it.
fn declined(why: &str) -> ToolOutcome {
    let mut outcome = unmatched(why);
    outcome.data.insert("reply_declined".to_owned(), json!(true));
    outcome
}

/// The requests with the address to which they were sent by the outbox: a record can be written by others.
async fn as_sent(context: &ToolContext, mut requests: Vec<Record>) -> Result<Vec<Record>, ToolFailure> {
    for request in &mut requests {
        let receiver = request::receiver(context, &request.props).await?;
        request.props.insert(SENT_TO.to_owned(), json!(receiver));
    }
    Ok(requests)
}

/// Why the answer may not be what it says it is: whom it comes from first.
fn doubts(context: &ToolContext, senders: &[&str], requests: &[Record]) -> Vec<String> {
    let from = sender::author(senders);
    let strange = |insurer: String| {
        format!("{insurer} was asked, and the answer comes from {from}, which is not known to be its address")
    };
    let mut found: Vec<String> = sender::strangers(context, senders, requests).into_iter().map(strange).collect();
    let asked: Vec<String> =
        requests.iter().flat_map(|request| numbers(texts(&request.props, "policy_numbers"))).collect();
    let answered = numbers(named(&context.state, "policy_number", 1));
    if !asked.is_empty()
        && !answered.is_empty()
        && !answered.iter().any(|one| asked.iter().any(|other| is_one_policy(one, other)))
    {
        found.push(format!("the report is about {}, and the request about {}", answered.join(", "), asked.join(", ")));
    }
    found
}

/// Why the papers of the answer may be about another company than a request: they name another insured, and none of the
/// request's policies.
async fn of_others(context: &ToolContext, requests: &[Record]) -> Result<Vec<String>, ToolFailure> {
    let answered = numbers(named(&context.state, "policy_number", 1));
    let mut found = Vec::new();
    for request in requests.iter().filter(|request| !answered.iter().any(|one| request::asks_about(request, one))) {
        let insured = request::insured(context, &request.props).await?;
        found.extend(which::of_another(&context.state, insured.as_deref(), 1));
    }
    Ok(found)
}

/// The values of a field that were read in the documents of the answer, from the `first` on; 0 is the mail itself.
fn named(state: &Map<String, Value>, field: &str, first: u64) -> Vec<String> {
    let papers = objects(state, "extractions");
    let wanted = papers.iter().filter(|paper| paper.get("n").and_then(Value::as_u64).is_some_and(|n| n >= first));
    let found = wanted.flat_map(|paper| objects(paper, "fields")).collect::<Vec<_>>();
    let named = found.iter().filter(|found| text(found, "name").as_deref() == Some(field));
    named.filter_map(|found| found.get("value").and_then(as_text)).collect()
}

/// Policy numbers as they are compared, each once.
fn numbers(written: Vec<String>) -> Vec<String> {
    let numbers = written.iter().map(|number| company::policy_number(number)).filter(|number| !number.is_empty());
    let mut seen = HashSet::new();
    numbers.filter(|number| seen.insert(number.clone())).collect()
}

/// Whom requests asked, and about what.
fn told(requests: &[Record]) -> String {
    let of = |request: &Record| {
        let insurer = text(&request.props, "insurer").unwrap_or_default();
        format!("{insurer} about {}", texts(&request.props, "policy_numbers").join(", "))
    };
    let mut told: Vec<String> = requests.iter().take(TOLD).map(of).collect();
    if requests.len() > TOLD {
        told.push(format!("{} more", requests.len() - TOLD));
    }
    told.join("; ")
}

/// Asks which of several requests is answered.
async fn which_one(
    context: &ToolContext,
    why: &str,
    senders: &[&str],
    requests: &[Record],
) -> Result<Review, ToolFailure> {
    let mut candidates = Vec::new();
    for request in &as_sent(context, requests.to_vec()).await? {
        let insured = request::insured(context, &request.props).await?;
        let mut doubts = doubts(context, senders, std::slice::from_ref(request));
        doubts.extend(which::of_another(&context.state, insured.as_deref(), 0));
        candidates.push(json!({
            "id": request.id,
            "insurer": text(&request.props, "insurer"),
            "insured": insured,
            "policy_numbers": texts(&request.props, "policy_numbers"),
            "status": text(&request.props, "status"),
            "doubts": doubts,
        }));
    }
    let choices: Vec<String> = requests.iter().map(|request| request.id.to_string()).chain([NONE.to_owned()]).collect();
    let title =
        if requests.len() == 1 { "Is this the answer to the request?" } else { "Which request does this answer?" };
    let (reason, answer) = match requests {
        [] => (
            format!("{why}, and no open request fits; name the one that it answers as {CHOSEN}, or {NONE:?}"),
            json!({
                "type": "string",
                "minLength": 1,
                "maxLength": 100,
                "description": format!("the id of a {LOSS_RUN_REQUEST}, or {NONE}"),
            }),
        ),
        _some => (
            format!("{why}: {}; choose the one that it answers as {CHOSEN}, or {NONE:?}", told(requests)),
            json!({"enum": choices}),
        ),
    };
    let details = json!({"sender": senders.first(), "author": sender::author(senders), "candidates": candidates});
    Ok(form(title, reason, json!({CHOSEN: answer}), details))
}

fn review(doubts: &[String], senders: &[&str], requests: &[Record]) -> Review {
    let asked = |request: &Record| {
        json!({
            "id": request.id,
            "insurer": text(&request.props, "insurer"),
            "policy_numbers": texts(&request.props, "policy_numbers"),
        })
    };
    let reason = format!("{}; say whether it counts as the answer", doubts.join("; "));
    let confirmed = json!({CONFIRMED: {"type": "boolean", "description": "true: it counts as the insurer's answer"}});
    let requests: Vec<Value> = requests.iter().map(asked).collect();
    let details = json!({"sender": senders.first(), "author": sender::author(senders), "requests": requests});
    form("Is this the insurer's answer?", reason, confirmed, details)
}

#[cfg(test)]
mod tests;
