//! Which request a mail is the answer to, as far as the mail says so.

use kybern_core::mail::ParsedMail;
use kybern_core::outbox::{mail_of, message_id};
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value};

use super::super::kinds::{DEAL, ENTITY};
use super::super::loss_run_request as request;
use super::{named, numbers};
use crate::args::text;
use crate::company;
use crate::pattern::Pattern;

/// The id of a record as it is written.
static ID: Pattern = Pattern::new(r"(?i)\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b");
/// Ids of one mail that are looked up.
const MAX_IDS: usize = 20;
/// Requests that a person is asked about at most.
const MAX_CANDIDATES: usize = 20;
/// Insureds of one answer that are looked up, and companies of one name.
const MAX_NAMES: usize = 5;
/// Policy numbers of one answer that are looked up.
const MAX_NUMBERS: usize = 50;

/// What a mail says about the request that it answers.
pub(super) enum AnsweredRequest {
    /// It answers these.
    Said(Vec<Record>),
    /// It answers one of these or none, as a person must say, and why.
    OneOf(Vec<Record>, &'static str),
    /// It names requests that are none of ours.
    Foreign,
    /// It names none.
    Unnamed,
}

/// Compares a mail's tokens, its thread and its policies with the requests.
pub(super) async fn of(context: &ToolContext, mail: &ParsedMail) -> Result<AnsweredRequest, ToolFailure> {
    let mut by_token: Vec<Record> = Vec::new();
    for token in &mail.request_tokens {
        add(&mut by_token, request::find_by_id(context, &token.id).await?);
    }
    let has_token = !mail.request_tokens.is_empty();
    if !has_token {
        by_token = with_bare_ids(context, mail).await?;
    }
    let mut by_thread: Vec<Record> = Vec::new();
    // Only mails of ours are looked up: a thread may name a hundred others.
    for mail in mail.answers().into_iter().filter_map(|id| mail_of(id)) {
        add(&mut by_thread, request::asked_by(context, &message_id(mail)).await?);
    }
    let agrees = by_thread.iter().any(|one| by_token.iter().any(|other| other.id == one.id));
    Ok(match (!has_token && by_token.is_empty(), by_token.is_empty(), by_thread.len()) {
        (true, _, 0) => with_policies(context).await?,
        (true, _, 1) => AnsweredRequest::Said(by_thread),
        (true, _, _) => AnsweredRequest::OneOf(by_thread, "the answer stands in the thread of several requests"),
        (false, true, 0) => AnsweredRequest::Foreign,
        (false, true, _) => AnsweredRequest::OneOf(
            by_thread,
            "the answer names a request that is none of ours, in the thread of one that is",
        ),
        (false, false, 0) => AnsweredRequest::Said(by_token),
        (false, false, _) if agrees => AnsweredRequest::Said(by_token),
        (false, false, _) => {
            add(&mut by_token, by_thread);
            AnsweredRequest::OneOf(by_token, "the answer names one request and stands in the thread of another")
        }
    })
}

/// The open requests whose ids stand in the subject or the text without the marks of a token: `[ref UUID]`, or the id
/// alone. Of other ids, and of requests that are over, such a mail says nothing.
async fn with_bare_ids(context: &ToolContext, mail: &ParsedMail) -> Result<Vec<Record>, ToolFailure> {
    let mut ids: Vec<String> = Vec::new();
    for id in [&mail.subject, &mail.text].into_iter().flat_map(|text| ID.groups(text)).map(str::to_lowercase) {
        if !ids.contains(&id) && ids.len() < MAX_IDS {
            ids.push(id);
        }
    }
    let mut found: Vec<Record> = Vec::new();
    for id in &ids {
        add(&mut found, request::find_by_id(context, id).await?.filter(request::is_open));
    }
    Ok(found)
}

fn add(known: &mut Vec<Record>, found: impl IntoIterator<Item = Record>) {
    for record in found {
        if !known.iter().any(|other| other.id == record.id) {
            known.push(record);
        }
    }
}

/// The open requests that ask about a policy of the answer. That is no proof: a policy is asked about more than once.
async fn with_policies(context: &ToolContext) -> Result<AnsweredRequest, ToolFailure> {
    let found = about_policies(context).await?;
    if found.is_empty() {
        return Ok(AnsweredRequest::Unnamed);
    }
    Ok(AnsweredRequest::OneOf(
        found,
        "the answer has neither the token nor the thread of a request, but a policy of an open one",
    ))
}

/// The open requests that an answer may be about whose token leads nowhere: those that ask about its policies, and where
/// there are none, those about its insured, to its insurer where the answer names one of whom it was asked.
pub(super) async fn fitting(context: &ToolContext) -> Result<Vec<Record>, ToolFailure> {
    let mut found = about_policies(context).await?;
    if !found.is_empty() {
        return Ok(found);
    }
    let records = context.records()?;
    for name in named(&context.state, "insured.name", 0).iter().take(MAX_NAMES) {
        let known = records.records_by_lookup(context.scope, ENTITY, "name", &company::normal_name(name)).await?;
        for insured in known.iter().take(MAX_NAMES) {
            for deal in records.records_by_lookup(context.scope, DEAL, "entity", &insured.id.to_string()).await? {
                add(&mut found, request::of_deal(context, deal.id).await?.into_iter().filter(request::is_open));
            }
        }
    }
    let insurers: Vec<String> = named(&context.state, "insurer", 0).iter().map(|it| company::normal_name(it)).collect();
    let is_asked = |request: &Record| {
        text(&request.props, "insurer").is_some_and(|insurer| insurers.contains(&company::normal_name(&insurer)))
    };
    if found.iter().any(is_asked) {
        found.retain(is_asked);
    }
    found.truncate(MAX_CANDIDATES);
    Ok(found)
}

async fn about_policies(context: &ToolContext) -> Result<Vec<Record>, ToolFailure> {
    let mut found: Vec<Record> = Vec::new();
    let numbers = numbers(named(&context.state, "policy_number", 0));
    let unlisted = if numbers.is_empty() { Vec::new() } else { request::unlisted(context).await? };
    for number in numbers.iter().take(MAX_NUMBERS) {
        let older = unlisted.iter().filter(|request| request::asks_about(request, number)).cloned();
        add(&mut found, older.chain(request::about(context, number).await?).filter(request::is_open));
    }
    found.truncate(MAX_CANDIDATES);
    Ok(found)
}

/// Says so when the documents of the answer from the `first` on name insureds, and none of them is the request's.
pub(super) fn of_another(state: &Map<String, Value>, insured: Option<&str>, first: u64) -> Option<String> {
    let (insured, named) = (insured?, named(state, "insured.name", first));
    let known = company::normal_name(insured);
    let is_it = |name: &String| {
        let name = company::normal_name(name);
        // People cut names short.
        name.starts_with(&known) || known.starts_with(&name)
    };
    if named.is_empty() || named.iter().any(is_it) {
        return None;
    }
    Some(format!("the answer names {}, and the request is about {insured}", named.join(", ")))
}
