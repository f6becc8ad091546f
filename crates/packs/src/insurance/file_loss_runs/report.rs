//! What a paper of an answer says about itself, and how that fits the request.

use std::collections::BTreeSet;

use jiff::civil::Date;
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::task::Attachment;
use kybern_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::super::loss_run_request as request;
use super::filed_as;
use crate::args::{as_text, objects, text};
use crate::company;
use crate::reading::UNSURE;

/// The kind of paper.
const CATEGORY: &str = "LOSS_RUN";
/// Days that losses may be valued ago: insurers that quote ask for loss runs valued within the last 90 days, many within
/// 60.
const MAX_AGE: i32 = 90;
/// Days ahead that a valuation may lie: the insurer may be on the other side of the date line.
const MAX_AHEAD: i32 = 1;

/// A paper that reads as loss runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Report {
    /// The attachment's number.
    pub(super) n: u64,
    pub(super) policy_numbers: Vec<String>,
    insurers: Vec<String>,
    /// Their NAIC codes.
    codes: Vec<String>,
    insureds: Vec<String>,
    /// The earliest, as a day: the others may be those of printing.
    pub(super) valuation_date: Option<String>,
    /// The latest: nothing is valued, or printed, on a day to come.
    last_valuation: Option<String>,
    /// How many losses it lists.
    pub(super) losses: usize,
}

impl Report {
    /// Whether it names a policy that the request asks about.
    pub(super) fn is_about(&self, request: &Record) -> bool {
        let compared = |number: &String| request::asks_about(request, &company::policy_number(number));
        self.policy_numbers.iter().any(compared)
    }

    /// As it is filed with a request: with those of its policies that were asked about.
    pub(super) fn run(&self, context: &ToolContext, request: &Record, files: &[Attachment]) -> Value {
        let file = files.iter().find(|file| u64::from(file.n) == self.n);
        let asked = |number: &&String| request::asks_about(request, &company::policy_number(number));
        let numbers: Vec<String> = self.policy_numbers.iter().filter(asked).cloned().collect();
        let mut run = filed_as(context, file, &numbers);
        run["valuation_date"] = json!(self.valuation_date);
        run["losses"] = json!(self.losses);
        run
    }

    /// As a person is shown it.
    pub(super) fn to_json(&self) -> Value {
        json!({
            "n": self.n,
            "policy_numbers": self.policy_numbers,
            "insurers": self.insurers,
            "insureds": self.insureds,
            "valuation_date": self.valuation_date,
            "losses": self.losses,
        })
    }
}

/// The loss runs among the papers that an earlier step has read. Values that are in doubt count as not read.
pub(super) fn read(state: &Map<String, Value>) -> Vec<Report> {
    let papers = objects(state, "extractions").into_iter();
    // Number 0 is the message, which says what is attached and is no report.
    let reports = papers.filter(|paper| text(paper, "category").as_deref() == Some(CATEGORY) && number(paper) > 0);
    reports.map(|paper| of(&paper)).collect()
}

fn number(paper: &Map<String, Value>) -> u64 {
    paper.get("n").and_then(Value::as_u64).unwrap_or(0)
}

/// What one paper says, as far as it is sure.
fn of(paper: &Map<String, Value>) -> Report {
    let mut fields = objects(paper, "fields");
    let is_sure = |field: &Map<String, Value>| {
        field.get("confidence").and_then(Value::as_f64).is_none_or(|confidence| confidence >= UNSURE)
            && field.get("problem").is_none_or(Value::is_null)
    };
    fields.retain(is_sure);
    let named = |name: &str| {
        let of_name = fields.iter().filter(|field| text(field, "name").as_deref() == Some(name));
        let mut values: Vec<String> = of_name.filter_map(|field| field.get("value").and_then(as_text)).collect();
        values.dedup();
        values
    };
    let losses = fields.iter().filter(|field| text(field, "group").as_deref() == Some("losses"));
    let items: BTreeSet<u64> = losses.filter_map(|field| field.get("item")?.as_u64()).collect();
    let valued = || named("valuation_date").into_iter().filter(|date| date.parse::<Date>().is_ok());
    Report {
        n: number(paper),
        policy_numbers: named("policy_number"),
        insurers: named("insurer"),
        codes: named("naic"),
        insureds: named("insured.name"),
        valuation_date: valued().min(),
        last_valuation: valued().max(),
        losses: items.len(),
    }
}

/// What speaks against filing these papers with a request without a person.
pub(super) fn doubts(
    context: &ToolContext,
    request: &Record,
    insured: Option<&str>,
    reports: &[Report],
) -> Vec<String> {
    if reports.is_empty() {
        return vec!["nothing that came reads as loss runs".to_owned()];
    }
    let about: Vec<&Report> = reports.iter().filter(|report| report.is_about(request)).collect();
    if about.is_empty() {
        let missing = request::missing(&request.props).join(", ");
        return vec![format!("no paper names a policy of the request, which waits for {missing}")];
    }
    let mut doubts = Vec::new();
    // Whoever knows the request's token can write any address above a mail.
    if context.payload.pointer("/sender/authenticated").and_then(Value::as_bool) != Some(true) {
        doubts.push("no mail server has verified who sent the answer (intake.trusted_authserv)".to_owned());
    }
    for report in about {
        doubts.extend(of_another_insurer(request, report));
        doubts.extend(insured.and_then(|insured| of_another_insured(insured, report)));
        doubts.extend(ill_valued(context.now, report));
    }
    doubts
}

/// Whether two names of companies are one, or one of them cut short after a word.
fn is_one_name(one: &str, other: &str) -> bool {
    let (one, other) = (company::normal_name(one), company::normal_name(other));
    let goes_on = |long: &str, short: &str| long.strip_prefix(short).is_some_and(|rest| rest.starts_with(' '));
    !one.is_empty() && !other.is_empty() && (one == other || goes_on(&one, &other) || goes_on(&other, &one))
}

/// A paper that names insurers, and not the one that was asked.
fn of_another_insurer(request: &Record, report: &Report) -> Option<String> {
    let insurer = text(&request.props, "insurer")?;
    let code = text(&request.props, "naic");
    let is_other_code = code.is_some_and(|code| !report.codes.is_empty() && !report.codes.contains(&code));
    let is_other_name = !report.insurers.is_empty() && !report.insurers.iter().any(|name| is_one_name(name, &insurer));
    let named = [&report.insurers[..], &report.codes].concat().join(", ");
    (is_other_code || is_other_name).then(|| format!("document {} is of {named}, and {insurer} was asked", report.n))
}

/// A paper that names insureds, and not the one of the request.
fn of_another_insured(insured: &str, report: &Report) -> Option<String> {
    let is_it = report.insureds.is_empty() || report.insureds.iter().any(|name| is_one_name(name, insured));
    (!is_it).then(|| {
        format!("document {} is about {}, and the request about {insured}", report.n, report.insureds.join(", "))
    })
}

/// A paper that does not say of which day its losses are, or of one too long ago or still to come.
fn ill_valued(now: Timestamp, report: &Report) -> Option<String> {
    let n = report.n;
    let day = |date: &Option<String>| date.as_deref().and_then(|date| date.parse::<Date>().ok());
    let (Some(valued), Some(last)) = (day(&report.valuation_date), day(&report.last_valuation)) else {
        return Some(format!("document {n} does not say on which day its losses are valued"));
    };
    let today = now.to_string().get(..10)?.parse::<Date>().ok()?;
    if last.since(today).ok()?.get_days() > MAX_AHEAD {
        return Some(format!("the losses of document {n} are valued on {last}, which is still to come"));
    }
    let age = today.since(valued).ok()?.get_days();
    (age > MAX_AGE)
        .then(|| format!("the losses of document {n} are valued on {valued}, {age} days ago; at most {MAX_AGE} count"))
}
