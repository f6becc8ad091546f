//! The question whose a policy is: where no insurer was found, and where the one that was read is not known, but nearly.

use kybern_core::lesson::Teaching;
use kybern_core::ports::ToolContext;
use kybern_core::record::Record;
use kybern_core::tool::{Review, ToolFailure};
use serde_json::{Map, Value, json};

use super::super::loss_run_request::{self as request, Asked, Orphan};
use super::super::near::{near, shown};
use super::super::policies::Policy;
use super::NAMED;
use crate::args::{objects, text};
use crate::company;

/// Names out of one policy's documents that are compared with the known insurers.
const MAX_NAMES: usize = 10;

/// A policy whose insurer a person has to name.
pub(super) struct Open {
    number: String,
    /// The name that was read.
    written: Option<String>,
    /// The known insurers that it may mean.
    candidates: Vec<Record>,
}

/// The policies whose insurers are not settled.
pub(super) async fn open(
    context: &ToolContext,
    groups: &[&Asked],
    orphans: &[Orphan],
    named: &Map<String, Value>,
) -> Result<Vec<Open>, ToolFailure> {
    let mut open = Vec::new();
    for Orphan { number, documents } in orphans {
        let mut candidates: Vec<Record> = Vec::new();
        for name in read_in(&context.state, documents) {
            for insurer in near(context, &name, None).await? {
                if !candidates.iter().any(|known| known.id == insurer.id) {
                    candidates.push(insurer);
                }
            }
        }
        open.push(Open { number: number.clone(), written: None, candidates });
    }
    for group in groups {
        let asked: Vec<&String> = group.numbers.iter().filter(|number| text(named, number).is_none()).collect();
        if asked.is_empty() || request::insurer_entity(context, group).await?.is_some() {
            continue;
        }
        let candidates = near(context, &group.insurer, group.naic.as_deref()).await?;
        if !candidates.is_empty() {
            let of = |number: &String| Open {
                number: number.clone(),
                written: Some(group.insurer.clone()),
                candidates: candidates.clone(),
            };
            open.extend(asked.into_iter().map(of));
        }
    }
    Ok(open)
}

/// What a person's answers teach: that a name which was read is another spelling of a known insurer's.
pub(super) async fn taught(
    context: &ToolContext,
    policies: &[Policy],
    named: &Map<String, Value>,
) -> Result<Vec<Teaching>, ToolFailure> {
    let mut taught = Vec::new();
    for policy in policies {
        let (Some(written), Some(meant)) = (policy.insurer.clone(), text(named, &policy.number)) else { continue };
        if company::normal_name(&written) == company::normal_name(&meant) {
            continue;
        }
        let meant = request::insurer_entity(context, &Asked { insurer: meant, ..Asked::default() }).await?;
        let Some(value) = meant.and_then(|insurer| text(&insurer.props, "name")) else { continue };
        let (schema, field) = ("insurance".to_owned(), "policies/insurer".to_owned());
        let lesson = Teaching::Spelling { schema, field, label: written, value };
        if !taught.contains(&lesson) {
            taught.push(lesson);
        }
    }
    Ok(taught)
}

/// The names that were read as insurers' in these documents.
fn read_in(state: &Map<String, Value>, documents: &[u32]) -> Vec<String> {
    let is_one = |paper: &Map<String, Value>| {
        paper.get("n").and_then(Value::as_u64).is_some_and(|n| documents.iter().any(|own| u64::from(*own) == n))
    };
    let papers = objects(state, "extractions").into_iter().filter(is_one);
    let fields = papers.flat_map(|paper| objects(&paper, "fields"));
    let named = fields.filter(|field| text(field, "name").as_deref() == Some("insurer"));
    let mut names: Vec<String> = named.filter_map(|field| text(&field, "value")).collect();
    names.dedup();
    names.truncate(MAX_NAMES);
    names
}

/// Asks for the insurers.
pub(super) fn review(open: &[Open]) -> Review {
    let mut properties = Map::new();
    let mut details = Vec::new();
    for Open { number, written, candidates } in open {
        let names = candidates.iter().filter_map(|insurer| text(&insurer.props, "name"));
        let choices: Vec<String> = names.chain(written.clone()).collect();
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
    Review {
        reason: reason(open),
        title: Some("Which insurer?".to_owned()),
        schema: json!({
            "type": "object",
            "properties": {NAMED: {
                "type": "object",
                "properties": properties,
                "required": numbers,
                "additionalProperties": false
            }},
            "required": [NAMED],
            "additionalProperties": false
        }),
        details: json!({"policy_numbers": numbers, "policies": details}),
        answer_is_result: false,
    }
}

fn reason(open: &[Open]) -> String {
    let mut parts = Vec::new();
    let unknown = open.iter().filter(|open| open.written.is_none()).count();
    if unknown > 0 {
        parts.push(format!("the insurer of {unknown} policies was not found"));
    }
    let mut told: Vec<&String> = Vec::new();
    for open in open {
        let Some(written) = open.written.as_ref().filter(|written| !told.contains(written)) else { continue };
        told.push(written);
        let names: Vec<String> = open.candidates.iter().filter_map(|insurer| text(&insurer.props, "name")).collect();
        parts.push(format!("{written} is not known and may be {}", names.join(" or ")));
    }
    format!("{}; name the insurer of each policy, as it is written when it is another one", parts.join(", "))
}
