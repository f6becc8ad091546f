//! Feeds the mails of a set to a server, one after the other, and gathers what became of each.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::normal::{normal, same};
use super::scripted::Scripted;
use super::set::{Set, Token, name_of};
use super::told::Request;
use crate::clock::Stopwatch;
use crate::server::Server;

/// No mail takes longer, also where a real model of one's own is asked about it.
const PATIENCE: Duration = Duration::from_secs(600);
/// Statuses that no task leaves by itself.
const RESTING: [&str; 4] = ["completed", "failed", "cancelled", "needs_review"];
/// The kinds of records that loss-run requests are told by.
const KINDS: [&str; 4] = ["network.entity", "insurance.deal", "insurance.policy", "insurance.loss_run_request"];

/// What became of a mail.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The task as the API shows it; `None` when the mail was refused.
    pub(super) task: Option<Value>,
    /// Whether the server took it for a mail that it has had.
    pub(super) duplicate: bool,
    pub(super) time: Duration,
}

/// Everything that came of a set.
#[derive(Debug)]
pub(super) struct Fed {
    pub(super) outcomes: BTreeMap<String, Outcome>,
    pub(super) requests: Vec<Request>,
    /// The set's id of each request that the server gave another one, by the server's.
    pub(super) tokens: BTreeMap<String, String>,
}

/// Hands in every mail of a set.
///
/// # Errors
/// When the server is gone, or a mail never comes to rest.
pub(super) fn feed(server: &Server, set: &Set, model: Option<&Scripted>) -> Result<Fed> {
    for insurer in &set.truth.preconditions.seed_records {
        let input = json!({"insurer_name": insurer.name, "naic_number": insurer.naic, "create": true});
        server.post("/api/tools/network.resolve_insurer/invoke", &json!({"input": input}).to_string())?;
    }
    let (mut outcomes, mut tokens) = (BTreeMap::new(), BTreeMap::new());
    for path in &set.mails {
        let raw = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let raw = with_known_ids(server, set, raw, &mut tokens)?;
        let name = name_of(path);
        if let Some(model) = model {
            model.feed(set, &name);
        }
        let outcome = hand_in(server, &raw).with_context(|| name.clone())?;
        outcomes.insert(name, outcome);
    }
    Ok(Fed { outcomes, requests: requests(server)?, tokens })
}

/// Puts the server's own ids in place of those that the set has for requests.
fn with_known_ids(server: &Server, set: &Set, raw: Vec<u8>, tokens: &mut BTreeMap<String, String>) -> Result<Vec<u8>> {
    let text = String::from_utf8_lossy(&raw);
    let named: Vec<&Token> =
        set.truth.preconditions.tokens.values().filter(|token| text.contains(&token.request_id)).collect();
    if named.is_empty() {
        return Ok(raw);
    }
    let known = requests(server)?;
    let mut raw = raw;
    for token in named {
        let fits = |request: &&Request| request.is_of(&token.insured, &token.insurer);
        if let Some(request) = known.iter().find(fits) {
            raw = replaced(&raw, token.request_id.as_bytes(), request.id.as_bytes());
            tokens.insert(request.id.clone(), token.request_id.clone());
        }
    }
    Ok(raw)
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with(from) {
            out.extend_from_slice(to);
            at += from.len();
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}

fn hand_in(server: &Server, raw: &[u8]) -> Result<Outcome> {
    let watch = Stopwatch::start();
    let refused = |time| Outcome { task: None, duplicate: false, time };
    let Ok(answer) = server.take("POST", "/api/inbound/email", "message/rfc822", "", raw) else {
        return Ok(refused(watch.elapsed()));
    };
    let answer: Value = serde_json::from_str(&answer)?;
    if answer["duplicate"] == json!(true) {
        return Ok(Outcome { duplicate: true, ..refused(watch.elapsed()) });
    }
    let id = answer["taskId"].as_str().context("the server named no task")?;
    loop {
        let task: Value = serde_json::from_str(&server.get(&format!("/api/tasks/{id}?waitMs=10000"))?.1)?;
        if RESTING.iter().any(|status| task["status"] == *status) {
            return Ok(Outcome { task: Some(task), duplicate: false, time: watch.elapsed() });
        }
        if watch.elapsed() > PATIENCE {
            bail!("its task {id} is still {}", task["status"]);
        }
    }
}

/// Every item of a list that comes in pages.
fn items(server: &Server, path: &str) -> Result<Vec<Value>> {
    let mut all = Vec::new();
    let mut cursor = String::new();
    loop {
        let (status, page) = server.get(&format!("{path}?limit=100{cursor}"))?;
        if status != 200 {
            return Ok(all);
        }
        let page: Value = serde_json::from_str(&page)?;
        all.extend(page["items"].as_array().into_iter().flatten().cloned());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(all),
        }
    }
}

/// The loss-run requests that the server has made, with the names behind their ids.
fn requests(server: &Server) -> Result<Vec<Request>> {
    let mut records: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for kind in KINDS {
        records.insert(kind, items(server, &format!("/api/records/{kind}"))?);
    }
    let prop = |kind: &str, id: &Value, name: &str| {
        let record = records[kind].iter().find(|record| record["id"] == *id)?;
        record["props"][name].as_str().map(str::to_owned)
    };
    let request = |record: &Value| {
        let props = &record["props"];
        let named = props["policy_numbers"].as_array().into_iter().flatten().filter_map(Value::as_str);
        Some(Request {
            id: record["id"].as_str()?.to_owned(),
            insured: prop("insurance.deal", &props["deal_id"], "entity_name")
                .or_else(|| prop("network.entity", &props["entity_id"], "name"))
                .unwrap_or_default(),
            insurer: props["insurer"]
                .as_str()
                .map(str::to_owned)
                .or_else(|| prop("network.entity", &props["insurer_id"], "name"))
                .unwrap_or_default(),
            policies: named.map(str::to_owned).collect(),
        })
    };
    Ok(records["insurance.loss_run_request"].iter().filter_map(request).collect())
}

impl Request {
    /// Whether it asks this insurer about this insured.
    pub(super) fn is_of(&self, insured: &str, insurer: &str) -> bool {
        let fits = |field: &str, read: &str, wanted: &str| {
            same(field, &normal(field, &json!(read)), &normal(field, &json!(wanted)))
        };
        fits("insured_name", &self.insured, insured) && fits("carrier", &self.insurer, insurer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_replaced_wherever_they_stand() {
        assert_eq!(replaced(b"a-ID-b ID", b"ID", b"number"), b"a-number-b number");
        assert_eq!(replaced(b"none", b"ID", b"number"), b"none");
    }
}
