//! What a server says of a mail, in the names of the truth.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A loss-run request that the server has made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) id: String,
    pub(super) insured: String,
    pub(super) insurer: String,
    pub(super) policies: Vec<String>,
}

/// A value that the server claims, and how sure it is of it, as far as it says so.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Claim {
    pub(super) value: Value,
    pub(super) confidence: Option<f64>,
}

/// What the server says of a mail.
#[derive(Clone, Debug, PartialEq, Default)]
pub(super) struct MailVerdict {
    pub(super) intent: Option<String>,
    pub(super) confidence: f64,
    /// Whether a person is asked, for another reason than that a plan ends there.
    pub(super) review: bool,
    /// What is asked.
    pub(super) asked: Vec<String>,
    pub(super) fields: BTreeMap<&'static str, Vec<Claim>>,
}

/// A field as it is extracted (`group.name`, or `name` when it belongs to no list) and its name in the truth.
const EXTRACTED: &[(&str, &str)] = &[
    ("insured.name", "insured_name"),
    ("insured.dot_number", "dot_number"),
    ("insured.mc_number", "mc_number"),
    ("insured.email", "contact_email"),
    ("insured.phone", "contact_phone"),
    ("insured.address", "address"),
    ("contact.name", "contact_name"),
    ("contact.email", "contact_email"),
    ("contact.phone", "contact_phone"),
    ("valuation_date", "valuation_date"),
    ("request_token", "request_token"),
    ("amount_due", "amount"),
    ("coverage_requested", "coverage_type"),
    ("wanted_from", "effective_date"),
    ("coverage", "coverage_type"),
    ("certificate_holder", "certificate_holder"),
    ("holders.name", "certificate_holder"),
    ("policies.line", "coverage_type"),
    ("policies.insurer", "carrier"),
    ("policies.naic", "naic_number"),
    ("policies.policy_number", "policy_number"),
    ("policies.effective", "effective_date"),
    ("policies.expiration", "expiry_date"),
    ("policies.limit", "limit"),
    ("policies.deductible", "deductible"),
    ("vehicles.vin", "vin"),
    ("drivers.name", "driver_name"),
    ("drivers.license_number", "license_number"),
    ("drivers.license_expiry", "license_expiry"),
    ("drivers.hire_date", "hire_date"),
    ("expiration", "expiry_date"),
    ("losses.date", "claim_date"),
    ("losses.claim_number", "claim_number"),
    ("load_number", "load_number"),
    ("shipper", "shipper"),
    ("consignee", "consignee"),
    ("broker", "broker"),
    ("carrier_name", "carrier_name"),
    ("pickup_date", "pickup_date"),
    ("delivery_date", "delivery_date"),
    ("rate_amount", "rate_amount"),
    ("company_name", "insured_name"),
    ("contact_name", "contact_name"),
    ("dot_number", "dot_number"),
    ("mc_number", "mc_number"),
    ("email", "contact_email"),
    ("phone", "contact_phone"),
    ("address", "address"),
];

/// The name in the truth of a field as it is extracted.
pub(super) fn truth_of(extracted: &str) -> Option<&'static str> {
    EXTRACTED.iter().find(|(from, _)| *from == extracted).map(|(_, to)| *to)
}

/// Names in the state of a task, and in the truth.
const STATE: &[(&str, &str)] = &[
    ("company_name", "insured_name"),
    ("dot_number", "dot_number"),
    ("mc_number", "mc_number"),
    ("lead_email", "contact_email"),
    ("lead_phone", "contact_phone"),
    ("lead_name", "contact_name"),
    ("contact_name", "contact_name"),
    ("company_address", "address"),
    ("coverage_types", "coverage_type"),
];

/// Names in the insured of a task's state, and in the truth.
const INSURED: &[(&str, &str)] = &[
    ("name", "insured_name"),
    ("dot_number", "dot_number"),
    ("mc_number", "mc_number"),
    ("email", "contact_email"),
    ("phone", "contact_phone"),
    ("address", "address"),
];

/// Names in a policy of a task's state, and in the truth.
const POLICY: &[(&str, &str)] = &[
    ("policy_number", "policy_number"),
    ("insurer", "carrier"),
    ("naic", "naic_number"),
    ("lines", "coverage_type"),
    ("effective", "effective_date"),
    ("expiration", "expiry_date"),
];

impl MailVerdict {
    /// What a task says.
    pub(super) fn of(task: &Value) -> Self {
        let waits: Vec<&Value> = task["waits"].as_array().into_iter().flatten().collect();
        let waiting = task["status"] == json!("needs_review");
        let failed = task["status"] == json!("failed");
        // Plans of intents whose tools are not built yet end with a person; that is no doubt.
        let ends_there = |wait: &&Value| wait["reason"].as_str().is_some_and(|reason| reason.contains("not built yet"));
        let asked = |wait: &&Value| format!("{}: {}", wait["kind"].as_str().unwrap_or("?"), wait["reason"]);
        let doubts: Vec<&Value> = waits.iter().filter(|wait| !ends_there(wait)).copied().collect();
        Self {
            intent: task["detectedIntent"].as_str().map(str::to_owned),
            confidence: task["confidenceScore"].as_f64().unwrap_or_default(),
            review: failed || (waiting && (!doubts.is_empty() || waits.is_empty())),
            asked: doubts.iter().map(asked).collect(),
            fields: fields(&task["state"]),
        }
    }
}

type Fields = BTreeMap<&'static str, Vec<Claim>>;

/// What the server goes on with: the insured, the policies, vehicles and losses that it has put together, and what it has
/// not put together as it was extracted.
fn fields(state: &Value) -> Fields {
    let mut found = extracted(state);
    if let Some(insured) = state["insured"].as_object() {
        for (name, to) in INSURED {
            found.remove(to);
            let confidence = state["insured_sources"][*name]["confidence"].as_f64();
            add(&mut found, to, insured.get(*name), confidence);
        }
    }
    if let Some(policies) = state["extracted_policies"].as_array() {
        for (_, to) in POLICY.iter().filter(|(_, to)| *to != "coverage_type" || !policies.is_empty()) {
            found.remove(to);
        }
        for policy in policies {
            for (name, to) in POLICY {
                add(&mut found, to, policy.get(*name), policy["confidence"].as_f64());
            }
        }
        // From when a quote is wanted is no policy's date.
        for field in papers(state).filter(|field| field["name"] == json!("wanted_from")) {
            add(&mut found, "effective_date", Some(&field["value"]), field["confidence"].as_f64());
        }
    }
    if let Some(vehicles) = state["extracted_vehicles"].as_array() {
        found.remove("vin");
        found.remove("vin_suspect");
        for vehicle in vehicles {
            let wrong = vehicle["valid"] == json!(false);
            add(&mut found, if wrong { "vin_suspect" } else { "vin" }, vehicle.get("vin"), None);
        }
    }
    if let Some(losses) = state["extracted_losses"].as_array().filter(|losses| !losses.is_empty()) {
        for to in ["claim_date", "claim_number", "claim_amount"] {
            found.remove(to);
        }
        for loss in losses {
            add(&mut found, "claim_date", loss.get("date"), None);
            add(&mut found, "claim_number", loss.get("claim_number"), None);
            add(&mut found, "claim_amount", amount(loss).as_ref(), None);
        }
    }
    let insured = state["insured"].as_object().is_some_and(|insured| !insured.is_empty());
    for (name, to) in STATE {
        if !(insured && ["insured_name", "dot_number", "mc_number", "address"].contains(to)) {
            add(&mut found, to, state.get(*name), None);
        }
    }
    found
}

/// The fields of all papers.
fn papers(state: &Value) -> impl Iterator<Item = &Value> {
    state["extractions"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|paper| paper["fields"].as_array().into_iter().flatten())
}

/// Every field of every paper, as it was extracted.
fn extracted(state: &Value) -> Fields {
    let mut found = Fields::new();
    for paper in state["extractions"].as_array().into_iter().flatten() {
        let mut losses: BTreeMap<u64, Value> = BTreeMap::new();
        for field in paper["fields"].as_array().into_iter().flatten() {
            let name = field["name"].as_str().unwrap_or_default();
            let key = field["group"].as_str().map_or(name.to_owned(), |group| format!("{group}.{name}"));
            let (value, confidence) = (&field["value"], field["confidence"].as_f64());
            match key.as_str() {
                "policies.period" => {
                    add(&mut found, "effective_date", value.get("start"), confidence);
                    add(&mut found, "expiry_date", value.get("end"), confidence);
                }
                "losses.paid" | "losses.reserve" | "losses.incurred" => {
                    losses.entry(field["item"].as_u64().unwrap_or(u64::MAX)).or_insert_with(|| json!({}))[name] =
                        value.clone();
                }
                "vehicles.vin" if !field["problem"].is_null() => {
                    add(&mut found, "vin_suspect", Some(value), confidence)
                }
                key => {
                    if let Some((_, to)) = EXTRACTED.iter().find(|(from, _)| *from == key) {
                        let value = if MONEY.contains(to) { dollars(value) } else { value.clone() };
                        add(&mut found, to, Some(&value), confidence);
                    }
                }
            }
        }
        for loss in losses.values() {
            add(&mut found, "claim_amount", amount(loss).as_ref(), None);
        }
    }
    found
}

/// Fields of the truth that are amounts of money.
const MONEY: &[&str] = &["limit", "deductible", "amount", "rate_amount"];

/// An amount in dollars of one in nano-dollars.
fn dollars(nanos: &Value) -> Value {
    nanos.as_f64().map_or(Value::Null, |nanos| json!(nanos / 1e9))
}

/// What a loss comes to: what was incurred, or else what was paid and what is reserved.
fn amount(loss: &Value) -> Option<Value> {
    let of = |names: [&str; 2]| names.iter().find_map(|name| loss[*name].as_f64());
    let incurred = of(["incurred", "incurred_nanos"]);
    let (paid, reserve) = (of(["paid", "paid_nanos"]), of(["reserve", "reserve_nanos"]));
    let sum = incurred
        .or_else(|| (paid.is_some() || reserve.is_some()).then(|| paid.unwrap_or(0.0) + reserve.unwrap_or(0.0)))?;
    Some(json!(sum / 1e9))
}

fn add(found: &mut Fields, to: &'static str, value: Option<&Value>, confidence: Option<f64>) {
    let values = match value {
        Some(Value::Array(values)) => values.as_slice(),
        Some(value) => std::slice::from_ref(value),
        None => return,
    };
    for value in values.iter().filter(|value| !value.is_null() && **value != json!("")) {
        found.entry(to).or_default().push(Claim { value: value.clone(), confidence });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_together_stands_before_what_was_extracted() {
        let task = json!({
            "status": "completed",
            "detectedIntent": "insurance.loss_run_request",
            "confidenceScore": 0.9,
            "state": {
                "insured": {"name": "Acme LLC", "dot_number": null},
                "insured_sources": {"name": {"confidence": 0.97}},
                "extracted_policies": [{"policy_number": "A-1", "lines": ["Auto Liability"], "confidence": 0.8}],
                "extractions": [{"fields": [
                    {"name": "insured.name", "value": "Other", "confidence": 0.5},
                    {"name": "valuation_date", "value": "2026-01-31", "confidence": 0.9},
                    {"name": "paid", "group": "losses", "item": 0, "value": 5_000_000_000_i64},
                    {"name": "reserve", "group": "losses", "item": 0, "value": 1_000_000_000}
                ]}]
            }
        });
        let told = MailVerdict::of(&task);
        assert!(!told.review);
        let values = |name: &str| told.fields[name].iter().map(|claim| claim.value.clone()).collect::<Vec<_>>();
        assert_eq!(values("insured_name"), [json!("Acme LLC")]);
        assert_eq!(values("policy_number"), [json!("A-1")]);
        assert_eq!(values("claim_amount"), [json!(6.0)]);
        assert_eq!(told.fields["insured_name"][0].confidence, Some(0.97));
        assert!(!told.fields.contains_key("dot_number"));
    }

    #[test]
    fn a_plan_that_ends_with_a_person_is_no_doubt() {
        let wait = |reason: &str| json!({"status": "needs_review", "waits": [{"kind": "review", "reason": reason}]});
        assert!(!MailVerdict::of(&wait("the tools are not built yet")).review);
        assert!(MailVerdict::of(&wait("no policy was found")).review);
        assert!(MailVerdict::of(&json!({"status": "failed"})).review);
    }
}
