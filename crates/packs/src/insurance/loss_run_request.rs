//! A loss-run request's record: what one insurer is asked for within one deal.

use std::collections::{BTreeSet, HashMap, HashSet};

use kybern_core::error::Result;
use kybern_core::id::RecordId;
use kybern_core::outbox::mail_of;
use kybern_core::ports::{RecordStore, ToolContext};
use kybern_core::record::{Lookup, Record};
use kybern_core::tenant::TenantScope;
use kybern_core::tool::ToolFailure;
use serde_json::{Map, Value, json};

use super::authority::{self, ATTACHMENTS, LEFT_OUT};
use super::insurer_policies::InsurerPolicies;
use super::kinds::{ENTITY, LOSS_RUN_REQUEST};
use super::letter::{BODY, SUBJECT, TO};
use super::send_loss_run_request::MESSAGES;
use crate::args::{add, fields, objects, text, texts};
use crate::company;

/// The member of a request that lists the loss runs which have come.
pub(super) const LOSS_RUNS: &str = "loss_runs";
/// The lookups by the numbers of policies, and by the mail that asked.
const BY_POLICY: &str = "policy";
const BY_MAIL: &str = "message";
/// Requests of a page, and those that are looked at for such as no lookup leads to; and how many that one does lead to
/// in a row show that no older ones follow.
const PAGE: u32 = 100;
const MAX_LOOKED_AT: usize = 1_000;
const ENOUGH: usize = 20;
/// Numbers under which one request can be found at most.
const MAX_NUMBERS: usize = 200;
/// Letters and digits of a policy number that may be followed by a term, and those of the term: `PLM-77001-02` is the
/// second renewal of `PLM-77001`. Shorter numbers are too like each other.
const MIN_NUMBER: usize = 6;
const TERM: usize = 2;

/// The requests of a deal, oldest first.
pub(super) async fn of_deal(context: &ToolContext, deal: RecordId) -> Result<Vec<Record>, ToolFailure> {
    let records = context.records()?;
    Ok(records.records_by_lookup(context.scope, LOSS_RUN_REQUEST, "deal", &deal.to_string()).await?)
}

/// Requests by the insurers that they are to. A deal may have as many as a paper lists.
pub(super) struct ByInsurer<'r> {
    requests: &'r [Record],
    names: HashMap<String, Vec<usize>>,
    codes: HashMap<String, Vec<usize>>,
}

impl<'r> ByInsurer<'r> {
    pub(super) fn new(requests: &'r [Record]) -> Self {
        let mut all = Self { requests, names: HashMap::new(), codes: HashMap::new() };
        for (at, request) in requests.iter().enumerate() {
            let insurer = text(&request.props, "insurer").unwrap_or_default();
            all.names.entry(company::normal_name(&insurer)).or_default().push(at);
            if let Some(code) = text(&request.props, "naic") {
                all.codes.entry(code).or_default().push(at);
            }
        }
        all
    }

    /// Those to this insurer, in their order.
    pub(super) fn to(&self, asked: &InsurerPolicies) -> Vec<&'r Record> {
        let named = self.names.get(&company::normal_name(&asked.insurer));
        let coded = asked.naic.as_ref().and_then(|code| self.codes.get(code));
        let places: BTreeSet<usize> = named.into_iter().chain(coded).flatten().copied().collect();
        places.into_iter().map(|at| &self.requests[at]).filter(|request| is_to(request, asked)).collect()
    }
}

/// Whether the request is to this insurer.
fn is_to(request: &Record, asked: &InsurerPolicies) -> bool {
    let insurer = text(&request.props, "insurer").unwrap_or_default();
    asked.is(&insurer, text(&request.props, "naic").as_deref())
}

/// Whether it can still be added to.
pub(super) fn is_draft(request: &Record) -> bool {
    text(&request.props, "status").as_deref() == Some("draft")
}

/// Whether it was sent, and not all that it asks for has come.
pub(super) fn is_awaited(request: &Record) -> bool {
    matches!(text(&request.props, "status").as_deref(), Some("requested" | "received"))
}

/// Whether an answer to it is still to come.
pub(super) fn is_open(request: &Record) -> bool {
    is_draft(request) || is_awaited(request)
}

/// The policies that it asks about and of which no loss runs are filed with it.
pub(super) fn missing(request: &Map<String, Value>) -> Vec<String> {
    let filed: Vec<String> =
        objects(request, LOSS_RUNS).iter().flat_map(|runs| texts(runs, "policy_numbers")).collect();
    let filed: Vec<String> = filed.iter().map(|number| company::policy_number(number)).collect();
    let is_filed = |number: &String| filed.iter().any(|other| is_one_policy(&company::policy_number(number), other));
    texts(request, "policy_numbers").into_iter().filter(|number| !is_filed(number)).collect()
}

/// Whether it asks about all of these policies already.
pub(super) fn covers(request: &Record, asked: &InsurerPolicies) -> bool {
    let known: HashSet<String> =
        texts(&request.props, "policy_numbers").iter().map(|n| company::policy_number(n)).collect();
    asked.numbers.iter().all(|number| known.contains(&company::policy_number(number)))
}

/// The key of the `n`th request, from 1, to this insurer within a deal.
pub(super) fn key(deal: RecordId, asked: &InsurerPolicies, n: usize) -> String {
    let plain = format!("deal:{deal}:{}", asked.identity());
    if n == 1 { plain } else { format!("{plain}:{n}") }
}

/// The props of a new request.
pub(super) fn props(
    context: &ToolContext,
    deal: &Record,
    asked: &InsurerPolicies,
    insurer_entity: Option<&Record>,
) -> Map<String, Value> {
    let letters = authority::joined(Vec::new(), &asked.letters);
    let mut props = fields([
        ("deal_id", json!(deal.id)),
        ("entity_id", json!(deal.props.get("entity_id"))),
        ("insurer", json!(asked.insurer)),
        ("naic", json!(asked.naic)),
        ("insurer_entity_id", json!(insurer_entity.map(|record| record.id))),
        ("status", json!("draft")),
        ("policy_numbers", json!(asked.numbers)),
        ("lines", json!(asked.lines)),
        ("source_documents", Value::Array(sources(context, asked))),
        (ATTACHMENTS, Value::Array(letters.taken)),
        (TO, json!(insurer_entity.and_then(|record| text(&record.props, "email")))),
        // Written once the request has its id.
        (SUBJECT, Value::Null),
        (BODY, Value::Null),
    ]);
    if !letters.left_out.is_empty() {
        props.insert(LEFT_OUT.to_owned(), Value::Array(letters.left_out));
    }
    props
}

/// What a draft should hold: its own policies, lines and documents, and ours.
pub(super) fn over(
    context: &ToolContext,
    draft: &Record,
    asked: &InsurerPolicies,
    insurer_entity: Option<&Record>,
) -> Map<String, Value> {
    let mut numbers = texts(&draft.props, "policy_numbers");
    let mut known: HashSet<String> = numbers.iter().map(|number| company::policy_number(number)).collect();
    numbers.extend(asked.numbers.iter().filter(|number| known.insert(company::policy_number(number))).cloned());
    let mut lines = texts(&draft.props, "lines");
    add(&mut lines, asked.lines.iter().cloned());
    let mut documents = draft.props.get("source_documents").and_then(Value::as_array).cloned().unwrap_or_default();
    add(&mut documents, sources(context, asked));
    let listed = |name: &str| draft.props.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let waiting = listed(LEFT_OUT);
    let letters = authority::joined(listed(ATTACHMENTS), &[&waiting[..], &asked.letters].concat());
    let mut wanted = fields([
        ("policy_numbers", json!(numbers)),
        ("lines", json!(lines)),
        ("source_documents", Value::Array(documents)),
        (ATTACHMENTS, Value::Array(letters.taken)),
    ]);
    if waiting != letters.left_out {
        wanted.insert(LEFT_OUT.to_owned(), Value::Array(letters.left_out));
    }
    if text(&draft.props, "naic").is_none() {
        wanted.insert("naic".to_owned(), json!(asked.naic));
    }
    if let Some(insurer) = insurer_entity {
        for (name, known) in [("insurer_entity_id", Some(insurer.id.to_string())), (TO, text(&insurer.props, "email"))]
        {
            if text(&draft.props, name).is_none() {
                wanted.insert(name.to_owned(), json!(known));
            }
        }
    }
    wanted
}

/// Under what a request can be found.
pub(super) fn lookups(deal: RecordId, asked: &InsurerPolicies) -> Vec<Lookup> {
    let mut lookups = vec![Lookup::shared("deal", deal.to_string()), Lookup::shared("insurer", asked.identity())];
    lookups.extend(number_lookups(&asked.numbers));
    lookups
}

/// Under what a request can be found by the numbers of its policies, with their terms and without.
pub(super) fn number_lookups(numbers: &[String]) -> Vec<Lookup> {
    let mut values: Vec<String> = Vec::new();
    for number in numbers.iter().map(|number| company::policy_number(number)).filter(|number| !number.is_empty()) {
        for value in [without_term(&number).map(str::to_owned), Some(number)].into_iter().flatten() {
            if !values.contains(&value) && values.len() < MAX_NUMBERS {
                values.push(value);
            }
        }
    }
    values.into_iter().map(|value| Lookup::shared(BY_POLICY, value)).collect()
}

/// The requests, whatever their state, that ask about a policy, by its number as numbers are compared.
pub(super) async fn about(context: &ToolContext, number: &str) -> Result<Vec<Record>, ToolFailure> {
    let mut found: Vec<Record> = Vec::new();
    for value in [Some(number), without_term(number)].into_iter().flatten() {
        let known = context.records()?.records_by_lookup(context.scope, LOSS_RUN_REQUEST, BY_POLICY, value).await?;
        found.extend(known);
    }
    found.retain(|request| asks_about(request, number));
    found.sort_by_key(|request| request.id);
    found.dedup_by_key(|request| request.id);
    Ok(found)
}

/// The requests to which no lookup leads from their policies: they were made before there was one, and so are among the
/// tenant's oldest.
pub(super) async fn unlisted(context: &ToolContext) -> Result<Vec<Record>, ToolFailure> {
    let records = context.records()?;
    let (mut found, mut after) = (Vec::new(), None);
    let (mut looked_at, mut listed) = (0, 0);
    loop {
        let page = records.records(context.scope, LOSS_RUN_REQUEST, after, PAGE).await?;
        for request in page.items {
            looked_at += 1;
            if looked_at > MAX_LOOKED_AT || listed == ENOUGH {
                return Ok(found);
            }
            let numbers = texts(&request.props, "policy_numbers");
            let Some(number) = numbers.iter().map(|number| company::policy_number(number)).find(|it| !it.is_empty())
            else {
                continue;
            };
            let known = records.records_by_lookup(context.scope, LOSS_RUN_REQUEST, BY_POLICY, &number).await?;
            if known.iter().any(|other| other.id == request.id) {
                listed += 1;
            } else {
                listed = 0;
                found.push(request);
            }
        }
        after = page.next.and_then(|next| next.parse().ok());
        if after.is_none() {
            return Ok(found);
        }
    }
}

/// Whether a request asks about that policy.
pub(super) fn asks_about(request: &Record, number: &str) -> bool {
    let asked = texts(&request.props, "policy_numbers");
    asked.iter().any(|other| is_one_policy(number, &company::policy_number(other)))
}

/// Under what a request can be found by the mails that asked. All lookups of one name are written together.
pub(super) fn mail_lookups(message_ids: &[String]) -> Vec<Lookup> {
    message_ids.iter().map(|id| Lookup::shared(BY_MAIL, id.as_str())).collect()
}

/// Where the newest mail of a request went, as the outbox has it.
pub(super) async fn receiver(
    context: &ToolContext,
    request: &Map<String, Value>,
) -> Result<Option<String>, ToolFailure> {
    for id in texts(request, MESSAGES).iter().rev().filter_map(|message| mail_of(message)) {
        let found = context.outbox()?.receiver_of(context.scope, id).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The files that are kept as long as a request: its letters, and the loss runs that have come.
pub(super) fn file_lookups(request: &Map<String, Value>) -> Vec<Lookup> {
    let runs = objects(request, LOSS_RUNS).into_iter().filter_map(|run| text(&run, "hash")).map(Lookup::file);
    authority::lookups(request).into_iter().chain(runs).collect()
}

/// The request that a mail of ours asked for, by the mail's `Message-ID`.
pub(super) async fn asked_by(context: &ToolContext, message_id: &str) -> Result<Vec<Record>, ToolFailure> {
    let found = context.records()?.records_by_lookup(context.scope, LOSS_RUN_REQUEST, BY_MAIL, message_id).await?;
    Ok(found)
}

/// The request that a call names as `request_id`.
pub(super) async fn named(context: &ToolContext, args: &Map<String, Value>) -> Result<Record, ToolFailure> {
    let id = text(args, "request_id").unwrap_or_default();
    let lists = "`GET /api/records/insurance.loss_run_request` lists them";
    let unknown = || ToolFailure::permanent(format!("there is no loss-run request {id:?}; {lists}"));
    find_by_id(context, &id).await?.ok_or_else(unknown)
}

/// A request by its id.
pub(super) async fn find_by_id(context: &ToolContext, id: &str) -> Result<Option<Record>, ToolFailure> {
    let Ok(id) = id.parse::<RecordId>() else { return Ok(None) };
    let found = context.records()?.record_by_id(context.scope, id).await?;
    Ok(found.filter(|record| record.kind == LOSS_RUN_REQUEST))
}

/// The name of the company that a request is about.
pub(super) async fn insured(
    context: &ToolContext,
    request: &Map<String, Value>,
) -> Result<Option<String>, ToolFailure> {
    let Some(id) = text(request, "entity_id").and_then(|id| id.parse().ok()) else { return Ok(None) };
    let found = context.records()?.record_by_id(context.scope, id).await?.filter(|record| record.kind == ENTITY);
    Ok(found.and_then(|record| text(&record.props, "name")))
}

/// Whether two policy numbers, as they are compared, are of one policy: the same, or the same but for the term at the end.
pub(super) fn is_one_policy(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    short == long || without_term(long) == Some(short)
}

/// A policy number without the term at its end.
fn without_term(number: &str) -> Option<&str> {
    let (rest, term) = number.split_at_checked(number.len().checked_sub(TERM)?)?;
    (rest.len() >= MIN_NUMBER && term.bytes().all(|byte| byte.is_ascii_digit())).then_some(rest)
}

/// The insurer's own record, when there is exactly one that is surely meant.
pub(super) async fn insurer_entity(
    context: &ToolContext,
    asked: &InsurerPolicies,
) -> Result<Option<Record>, ToolFailure> {
    Ok(insurer_among(context.records()?, context.scope, asked).await?)
}

/// The same, where no tool looks for it.
pub(super) async fn insurer_among(
    records: &dyn RecordStore,
    scope: TenantScope,
    asked: &InsurerPolicies,
) -> Result<Option<Record>> {
    if let Some(code) = &asked.naic {
        let found = records.records_by_lookup(scope, ENTITY, "NAIC", code).await?;
        if let [one] = found.as_slice() {
            return Ok(Some(one.clone()));
        }
    }
    let name = company::normal_name(&asked.insurer);
    let mut found = records.records_by_lookup(scope, ENTITY, "name", &name).await?;
    found.retain(|record| text(&record.props, "entity_type").as_deref() == Some("insurance_carrier"));
    Ok(if found.len() == 1 { found.pop() } else { None })
}

fn sources(context: &ToolContext, asked: &InsurerPolicies) -> Vec<Value> {
    asked.documents.iter().map(|n| json!({"task": context.task, "n": n})).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_numbers_are_the_same_but_for_their_term() {
        for (one, other) in [("PLM77001", "PLM77001"), ("PLM77001", "PLM7700102"), ("PLM7700102", "PLM77001")] {
            assert!(is_one_policy(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("A1", "PLMA100"),
            ("A1", "A102"),
            ("77001", "PLM77001"),
            ("PLM77001", "PLM770012"),
            ("PLM77001", "PLM77001002"),
            ("PLM77001", "PLM77001AB"),
            ("PLM7700101", "PLM7700102"),
            ("ÉÉÉÉÉÉ", "ÉÉÉÉÉÉé1"),
        ] {
            assert!(!is_one_policy(one, other), "{one} {other}");
        }
    }

    fn request(n: usize, numbers: usize) -> Record {
        let at = kybern_core::time::Timestamp::from_millis(0);
        let numbers: Vec<String> = (0..numbers).map(|n| format!("CP-{n}")).collect();
        Record {
            id: RecordId::from_uuid(uuid::Uuid::from_u128(n as u128)),
            kind: LOSS_RUN_REQUEST.to_owned(),
            key: n.to_string(),
            props: fields([("insurer", json!(format!("Fern {n} Casualty"))), ("policy_numbers", json!(numbers))]),
            version: 1,
            created_at: at,
            updated_at: at,
            unreadable: None,
        }
    }

    #[test]
    fn requests_without_an_end_are_found_and_added_to_in_time() {
        let asked = |n: usize| InsurerPolicies { insurer: format!("Fern {n} Casualty"), ..InsurerPolicies::default() };
        let find = |count: usize| {
            let requests: Vec<Record> = (0..count).map(|n| request(n, 1)).collect();
            let known = ByInsurer::new(&requests);
            assert!((0..count).all(|n| known.to(&asked(n)).iter().map(|found| found.id).eq([requests[n].id])));
        };
        assert!(kybern_testkit::growth(50, find) < 24.0);
        let context = crate::tests::World::new().context(&crate::insurance::create_loss_run_requests());
        let add = |count: usize| {
            let numbers = (0..count).map(|n| format!("CP {}", n + 1)).collect();
            let wanted = over(&context, &request(1, count), &InsurerPolicies { numbers, ..asked(1) }, None);
            assert_eq!(texts(&wanted, "policy_numbers").len(), count + 1);
        };
        assert!(kybern_testkit::growth(100, add) < 24.0);
    }
}
