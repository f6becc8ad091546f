//! The question whose a policy is: where no insurer was found, and where the one that was read is not known, but nearly.

use std::collections::HashMap;
use std::sync::Arc;

use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::tool::{Review, ToolFailure};
use serde_json::{Map, Value, json};

use super::super::insurer_policies::{InsurerPolicies, OrphanPolicy};
use super::super::loss_run_request as request;
use super::super::near::{KnownInsurers, shown};
use super::NAMED;
use crate::args::text;
use crate::review::{closed, form};

/// Names out of one policy's documents that are compared with the known insurers.
const MAX_NAMES: usize = 10;

/// Policies of one question that have choices, and names that its reason tells of. A paper may list thousands.
const MAX_SHOWN: usize = 100;

/// A policy whose insurer a person has to name.
pub(super) struct OpenPolicy {
    number: String,
    /// The name that was read.
    written: Option<String>,
    /// The known insurers that it may mean.
    candidates: Arc<[Record]>,
    /// Those of whom the rules read one and a language model another.
    contested: Vec<String>,
}

/// The policies whose insurers are not settled.
pub(super) async fn open(
    context: &ToolContext,
    groups: &[&InsurerPolicies],
    orphans: &[OrphanPolicy],
    named: &Map<String, Value>,
) -> Result<Vec<OpenPolicy>, ToolFailure> {
    let mut open = Vec::new();
    if groups.is_empty() && orphans.is_empty() {
        return Ok(open);
    }
    let known = KnownInsurers::read(context).await?;
    let read = if orphans.is_empty() { HashMap::new() } else { read_in(&context.state) };
    let mut by_documents: HashMap<&[u32], Arc<[Record]>> = HashMap::new();
    let mut by_name: HashMap<&str, Vec<Record>> = HashMap::new();
    for OrphanPolicy { number, documents, contested } in orphans {
        if !contested.is_empty() {
            let (number, contested) = (number.clone(), contested.clone());
            open.push(OpenPolicy { number, written: None, candidates: Arc::default(), contested });
            continue;
        }
        let candidates = match by_documents.get(documents.as_slice()) {
            Some(found) => Arc::clone(found),
            None => {
                let mut found: Vec<Record> = Vec::new();
                let names: Vec<&String> = documents.iter().filter_map(|n| read.get(n)).flatten().collect();
                for name in names.into_iter().take(MAX_NAMES) {
                    if !by_name.contains_key(name.as_str()) {
                        by_name.insert(name, known.near(context, name, None).await?);
                    }
                    for insurer in by_name.get(name.as_str()).into_iter().flatten() {
                        if !found.iter().any(|known| known.id == insurer.id) {
                            found.push(insurer.clone());
                        }
                    }
                }
                let found: Arc<[Record]> = found.into();
                by_documents.insert(documents, Arc::clone(&found));
                found
            }
        };
        open.push(OpenPolicy { number: number.clone(), written: None, candidates, contested: Vec::new() });
    }
    for group in groups {
        let asked: Vec<&String> = group.numbers.iter().filter(|number| text(named, number).is_none()).collect();
        if asked.is_empty() || request::insurer_entity(context, group).await?.is_some() {
            continue;
        }
        let candidates: Arc<[Record]> = known.near(context, &group.insurer, group.naic.as_deref()).await?.into();
        if !candidates.is_empty() {
            let of = |number: &String| OpenPolicy {
                number: number.clone(),
                written: Some(group.insurer.clone()),
                candidates: Arc::clone(&candidates),
                contested: Vec::new(),
            };
            open.extend(asked.into_iter().map(of));
        }
    }
    Ok(open)
}

/// The first names that were read as insurers' in each document.
fn read_in(state: &Map<String, Value>) -> HashMap<u32, Vec<String>> {
    let mut read: HashMap<u32, Vec<String>> = HashMap::new();
    for paper in state.get("extractions").and_then(Value::as_array).into_iter().flatten() {
        let Some(n) = paper["n"].as_u64().and_then(|n| u32::try_from(n).ok()) else { continue };
        let names = read.entry(n).or_default();
        for field in paper["fields"].as_array().into_iter().flatten().filter(|field| field["name"] == "insurer") {
            let Some(name) = field["value"].as_str().map(str::trim).filter(|name| !name.is_empty()) else { continue };
            if names.len() < MAX_NAMES && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    read
}

/// Asks for the insurers.
pub(super) fn review(open: &[OpenPolicy]) -> Review {
    let mut properties = Map::new();
    let mut details = Vec::new();
    for (at, OpenPolicy { number, written, candidates, contested }) in open.iter().enumerate() {
        let candidates = if at < MAX_SHOWN { &candidates[..] } else { &[] };
        let names = candidates.iter().filter_map(|insurer| text(&insurer.props, "name"));
        let choices: Vec<String> = names.chain(written.clone()).chain(contested.iter().cloned()).collect();
        let mut name = json!({"type": "string", "minLength": 1, "maxLength": 300});
        if !choices.is_empty() {
            name["examples"] = json!(choices);
        }
        properties.insert(number.clone(), name);
        details.push(json!({
            "policy_number": number,
            "written": written,
            "candidates": candidates.iter().map(shown).collect::<Vec<_>>(),
        }));
    }
    let numbers: Vec<&String> = open.iter().map(|open| &open.number).collect();
    let details = json!({"policy_numbers": numbers, "policies": details});
    form("Which insurer?", reason(open), json!({NAMED: closed(properties.into())}), details)
}

fn reason(open: &[OpenPolicy]) -> String {
    let mut parts = Vec::new();
    let unknown = open.iter().filter(|open| open.written.is_none() && open.contested.is_empty()).count();
    if unknown > 0 {
        parts.push(format!("the insurer of {unknown} policies was not found"));
    }
    for OpenPolicy { number, contested, .. } in open.iter().filter(|open| !open.contested.is_empty()).take(MAX_SHOWN) {
        parts.push(format!("different insurers were read for {number}, {}", contested.join(" and ")));
    }
    let mut told: Vec<&String> = Vec::new();
    for open in open {
        let Some(written) = open.written.as_ref().filter(|written| told.len() < MAX_SHOWN && !told.contains(written))
        else {
            continue;
        };
        told.push(written);
        let names: Vec<String> = open.candidates.iter().filter_map(|insurer| text(&insurer.props, "name")).collect();
        parts.push(format!("{written} is not known and may be {}", names.join(" or ")));
    }
    format!("{}; name the insurer of each policy, as it is written when it is another one", parts.join(", "))
}
