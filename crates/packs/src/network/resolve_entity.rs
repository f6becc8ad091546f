//! `network.resolve_entity`: finds the company that is meant, fills in what its record lacks, or begins one.

use kybern_core::count::count;
use kybern_core::id::RecordId;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{Lookup, Record};
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::entity::{self, DescribedCompany, IDENTIFIERS, TYPES, UNKNOWN_TYPE};
use super::matching::{self, Clash, Match};
use crate::args::{fields, text, text_or_state};
use crate::review::form;
use crate::{change, company, contact};

/// What a person answers when several companies may be meant and it is none of them.
const NEW: &str = "new";
/// Characters of an answer that a question repeats.
const MAX_QUOTED: usize = 60;

/// The tool.
#[must_use]
pub fn resolve_entity() -> StatelessTool {
    let nullable = json!({"type": ["string", "null"], "maxLength": 500});
    let number = json!({"type": ["string", "integer", "null"]});
    let schema = json!({
        "type": "object",
        "properties": {
            "name": nullable,
            "dot_number": number,
            "mc_number": number,
            "email": nullable,
            "phone": nullable,
            "address": nullable,
            "state": nullable,
            "entity_type": {"enum": TYPES.iter().copied().map(Value::from).chain([Value::Null]).collect::<Vec<_>>()},
            "sources": {"type": ["object", "null"]}
        },
        "additionalProperties": false
    });
    let description = "Finds a company by DOT number, MC number, name and state, or a similar name with the same \
                       address, telephone or e-mail; adds what its record lacks; creates it when it is unknown.";
    let spec = ToolSpec {
        aliases: vec!["resolve_entity".to_owned()],
        needs: ToolNeeds { task: true, records: true, ..ToolNeeds::default() },
        // It reads the state and records past its arguments, and both may hold what a stranger wrote.
        untrusted_output: true,
        ..ToolSpec::local("network.resolve_entity", description, schema)
            .shown(&["company", "carrier", "dot number"], json!({"name": "Acme Trucking LLC", "dot_number": "1234567"}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let described = describe(context, &args);
    if let Some(choice) = text(&context.state, "entity_choice") {
        return chosen(context, &described, &choice).await;
    }
    if described.name.is_none() && described.identifiers.is_empty() {
        return Ok(ToolOutcome::ask(nobody_named(&unusable(context, &args))));
    }
    Ok(match matching::find(context.records()?, context.scope, &described).await? {
        Match::One(record, reason) => found(context, &described, &record, reason),
        Match::None if described.name.is_none() => ToolOutcome::ask(nameless(&described)),
        Match::None => created(context, &described).await?,
        Match::Several(records, how) => {
            let which_ones = match records.len() {
                1 => format!("a company with {how} may be meant"),
                several => format!("{several} companies with {how} may be meant"),
            };
            ToolOutcome::ask(which(&which_ones, &records, true))
        }
        Match::Conflict(records, clash) => {
            let may_be_new = match clash {
                Clash::Identifiers => free_to_create(&described, &records),
                Clash::Name | Clash::Number => true,
            };
            ToolOutcome::ask(which(clash.reason(), &records, may_be_new))
        }
    })
}

/// What the arguments say, and where they say nothing, what a person has corrected in the state.
fn describe(context: &ToolContext, args: &Map<String, Value>) -> DescribedCompany {
    let said = |names: &[&str]| text_or_state(args, &context.state, names);
    let mut identifiers = Vec::new();
    identifiers.extend(said(&["dot_number"]).and_then(|text| company::dot_number(&text)).map(|dot| ("DOT", dot)));
    identifiers.extend(said(&["mc_number"]).and_then(|text| company::mc_number(&text)).map(|mc| ("MC", mc)));
    DescribedCompany {
        name: said(&["name", "company_name"]).filter(|name| !company::normal_name(name).is_empty()),
        entity_type: text(args, "entity_type"),
        identifiers,
        email: text(args, "email").and_then(|text| contact::email(&text)),
        phone: text(args, "phone").and_then(|text| contact::phone(&text)),
        address: text(args, "address"),
        state: text(args, "state").and_then(|text| contact::state(&text)),
        sources: args.get("sources").and_then(Value::as_object).cloned().unwrap_or_default(),
    }
}

/// What was said and is neither a name nor a number, in sentences.
fn unusable(context: &ToolContext, args: &Map<String, Value>) -> Vec<String> {
    let said = [
        ("name", "a company's name has letters or digits"),
        ("company_name", "a company's name has letters or digits"),
        ("dot_number", "a DOT number has 1 to 8 digits"),
        ("mc_number", "an MC number has 1 to 8 digits"),
    ];
    let told = said.into_iter().filter_map(|(field, what)| {
        let text = text_or_state(args, &context.state, &[field])?;
        let text: String = text.chars().take(MAX_QUOTED).collect();
        Some(format!("{text:?} is no {field}: {what}"))
    });
    told.collect()
}

/// Goes on after a person has chosen among candidates.
async fn chosen(context: &ToolContext, described: &DescribedCompany, choice: &str) -> Result<ToolOutcome, ToolFailure> {
    if choice == NEW {
        return created(context, &without_taken(context, described).await?).await;
    }
    let id: RecordId = choice.parse().map_err(|_| {
        ToolFailure::permanent(format!("entity_choice is neither {NEW:?} nor the id of a candidate; answer again"))
    })?;
    let record = context.records()?.record_by_id(context.scope, id).await?;
    match record.filter(|record| record.kind == entity::KIND) {
        Some(record) => {
            // Numbers that contradict the record stay out of it: the person has said that the record is right.
            let kept = described
                .identifiers
                .iter()
                .filter(|(kind, value)| company::recorded_number(&record, kind).is_some_and(|has| has == *value));
            let described = DescribedCompany { identifiers: kept.cloned().collect(), ..described.clone() };
            Ok(found(context, &described, &record, "human_choice"))
        }
        None => Err(ToolFailure::permanent("the chosen company does not exist any more; run the step again")),
    }
}

/// A company that a person says is new has none of the numbers that are recorded for another.
async fn without_taken(context: &ToolContext, described: &DescribedCompany) -> Result<DescribedCompany, ToolFailure> {
    let mut free = Vec::new();
    for (kind, value) in &described.identifiers {
        if context.records()?.records_by_lookup(context.scope, entity::KIND, kind, value).await?.is_empty() {
            free.push((*kind, value.clone()));
        }
    }
    Ok(DescribedCompany { identifiers: free, ..described.clone() })
}

async fn created(context: &ToolContext, described: &DescribedCompany) -> Result<ToolOutcome, ToolFailure> {
    let key = entity::free_key(context, described).await?;
    let change = change::create(context, entity::KIND, &key, described.props(context), described.lookups());
    let data = fields([
        ("entity_id", json!(change.put.id)),
        ("entity_name", json!(described.name)),
        ("entity_type", json!(described.entity_type.as_deref().unwrap_or(UNKNOWN_TYPE))),
        ("entity_is_new", json!(true)),
        ("entity_is_shadow", json!(true)),
        ("entity_was_enriched", json!(false)),
        ("entity_enriched_fields", json!([])),
        ("entity_match_reason", json!("created")),
    ]);
    let summary = format!("created a company with {} identifiers", described.identifiers.len());
    Ok(ToolOutcome { records: vec![change], ..ToolOutcome::new(data, summary) })
}

fn found(context: &ToolContext, described: &DescribedCompany, record: &Record, reason: &str) -> ToolOutcome {
    let (changed, lookups) = enrichment(context, described, record, reason);
    let enriched: Vec<&String> = changed.keys().filter(|name| *name != "sources").collect();
    let name = entity::field_of(record, "name").or_else(|| described.name.clone());
    let kind = text(&changed, "entity_type").or_else(|| entity::field_of(record, "entity_type"));
    let shadow = record.props.get("is_shadow").and_then(Value::as_bool).unwrap_or(true);
    let data = fields([
        ("entity_id", json!(record.id)),
        ("entity_name", json!(name)),
        ("entity_type", json!(kind)),
        ("entity_is_new", json!(false)),
        ("entity_is_shadow", json!(shadow)),
        ("entity_was_enriched", json!(!enriched.is_empty())),
        ("entity_enriched_fields", json!(enriched)),
        ("entity_match_reason", json!(reason)),
    ]);
    let summary = format!("found a company by {reason}, filled in {}", count(enriched.len(), "field"));
    let mut outcome = ToolOutcome::new(data, summary);
    change::settle(&mut outcome, record, changed, lookups);
    outcome
}

/// What the record lacks and the call knows. A likeness is no proof: identifiers are only added to a record that was
/// found by more than that.
fn enrichment(
    context: &ToolContext,
    described: &DescribedCompany,
    record: &Record,
    reason: &str,
) -> (Map<String, Value>, Vec<Lookup>) {
    let mut changed = Map::new();
    let offered = [
        ("name", described.name.clone()),
        ("email", described.email.clone()),
        ("phone", described.phone.clone()),
        ("address", described.address.clone()),
        ("state", described.known_state()),
    ];
    for (field, value) in offered {
        if entity::field_of(record, field).is_none()
            && let Some(value) = value
        {
            changed.insert(field.to_owned(), json!(value));
        }
    }
    let vague = entity::field_of(record, "entity_type").is_none_or(|kind| kind == UNKNOWN_TYPE);
    if let Some(kind) = described.entity_type.as_deref().filter(|kind| vague && *kind != UNKNOWN_TYPE) {
        changed.insert("entity_type".to_owned(), json!(kind));
    }
    let mut lookups = Vec::new();
    if reason != "fuzzy_match" {
        lookups = add_identifiers(described, record, &mut changed);
    }
    if changed.contains_key("name") {
        lookups.extend(entity::name_lookups(&described.normal_name()));
    }
    if !changed.is_empty() {
        let named: Vec<&str> = changed.keys().map(String::as_str).collect();
        let mut sources = record.props.get("sources").and_then(Value::as_object).cloned().unwrap_or_default();
        sources.extend(described.sources_of(&named, context));
        changed.insert("sources".to_owned(), Value::Object(sources));
    }
    (changed, lookups)
}

/// Puts the record's identifiers and those it lacks into `changed`, and returns the lookups of the new ones.
fn add_identifiers(described: &DescribedCompany, record: &Record, changed: &mut Map<String, Value>) -> Vec<Lookup> {
    let mut all = Vec::new();
    let mut lookups = Vec::new();
    for kind in IDENTIFIERS {
        match (company::recorded_number(record, kind), described.identifier(kind)) {
            (Some(has), _) => all.push((kind, has)),
            (None, Some(said)) => {
                all.push((kind, said.to_owned()));
                lookups.push(Lookup::unique(kind, said));
            }
            (None, None) => {}
        }
    }
    if !lookups.is_empty() {
        changed.insert("identifiers".to_owned(), entity::identifiers_json(&all));
    }
    lookups
}

/// Whether none of the described identifiers is another record's, so that a new one may have them.
fn free_to_create(described: &DescribedCompany, records: &[Record]) -> bool {
    let taken = |(kind, value): &(&'static str, String)| {
        records.iter().any(|record| company::recorded_number(record, kind).as_ref() == Some(value))
    };
    described.name.is_some() && !described.identifiers.iter().any(taken)
}

fn nobody_named(unusable: &[String]) -> Review {
    let text = json!({"type": "string", "minLength": 1, "maxLength": 300});
    let number = json!({"type": ["string", "integer"], "description": "digits"});
    let asked = "neither a company name nor a DOT or MC number was found; say which company this is about";
    let reasons: Vec<&str> = unusable.iter().map(String::as_str).chain([asked]).collect();
    Review {
        reason: reasons.join("; "),
        title: Some("Which company?".to_owned()),
        schema: json!({
            "type": "object",
            "properties": {"company_name": text, "name": text, "dot_number": number, "mc_number": number},
            "minProperties": 1,
            "additionalProperties": false
        }),
        details: json!({"missing": ["company_name", "dot_number"]}),
        answer_is_result: false,
    }
}

fn nameless(described: &DescribedCompany) -> Review {
    let identifiers: Vec<&str> = described.identifiers.iter().map(|(kind, _)| *kind).collect();
    Review {
        reason: format!(
            "no company with this {} number is known, and its name was not found; name it",
            identifiers.join(" and ")
        ),
        details: json!({"missing": ["company_name"], "identifiers": entity::identifiers_json(&described.identifiers)}),
        ..nobody_named(&[])
    }
}

fn which(reason: &str, records: &[Record], may_be_new: bool) -> Review {
    let mut choices: Vec<String> = records.iter().map(|record| record.id.to_string()).collect();
    if may_be_new {
        choices.push(NEW.to_owned());
    }
    let candidate = |Record { id, props, .. }: &Record| {
        let known = |name: &str| props.get(name);
        json!({"id": id, "name": known("name"), "state": known("state"), "identifiers": known("identifiers")})
    };
    let details = json!({"candidates": records.iter().map(candidate).collect::<Vec<_>>()});
    let reason = format!("{reason}; choose one as entity_choice");
    form("Which company?", reason, json!({"entity_choice": {"enum": choices}}), details)
}

#[cfg(test)]
mod tests;
