//! `insurance.extract_documents`: what the documents say about the insured, its policies, vehicles and losses.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::count::count;
use kybern_core::model::ExtractionSchema;
use kybern_core::ports::{Tool, ToolContext};
use kybern_core::time::Millis;
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::insured::{Contradiction, Insured};
use super::insurers::Insurers;
use super::policies::Policy;
use super::{chosen, create_loss_run_requests, missing, open_requests, policies, schema, term, vehicles};
use crate::args::{fields, objects, texts};
use crate::papers;
use crate::reading::{self, ReadDocument};

/// The tool.
#[derive(Debug)]
pub struct ExtractDocuments {
    spec: ToolSpec,
    schema: Arc<ExtractionSchema>,
}

impl Default for ExtractDocuments {
    fn default() -> Self {
        Self::new()
    }
}

impl ExtractDocuments {
    /// The tool with its spec.
    #[must_use]
    pub fn new() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "required": {
                    "type": ["array", "null"],
                    "items": {"enum": ["insured", "policies"]},
                    "description": "what a person is asked for when it is not found; null means the insured"
                }
            },
            "additionalProperties": false
        });
        let description = "Reads insurance documents: the insured, policies merged by number, vehicles with checked \
                           VINs, losses; asks a person for what is required and missing.";
        Self {
            schema: schema::schema(),
            spec: ToolSpec {
                untrusted_output: true,
                timeout: Millis::from_secs(120),
                needs: ToolNeeds {
                    task: true,
                    documents: true,
                    model: true,
                    records: true,
                    lessons: true,
                    ..ToolNeeds::default()
                },
                ..ToolSpec::read("insurance.extract_documents", description, input)
                    .shown(&["policy", "vehicle", "loss", "document"], json!({"required": ["insured", "policies"]}))
            },
        }
    }
}

#[async_trait]
impl Tool for ExtractDocuments {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
        let required = match args.get("required") {
            None | Some(Value::Null) => vec!["insured".to_owned()],
            Some(_) => texts(&args, "required"),
        };
        let needs = |name: &str| required.iter().any(|required| required == name);
        let mut read = reading::read_all(context, &self.schema).await?;
        read.iter_mut().for_each(term::mark_reversed);
        let corrections = context.state.get("insured").and_then(Value::as_object);
        let insurers = Insurers::named_in(context, &read).await?;
        let mut insured = Insured::read(&read, &context.tenant_name, insurers.never_insured(), corrections);
        let mut policies = policies::merged(&read, &insurers, &objects(&context.state, "extracted_policies"));
        create_loss_run_requests::settle(context, &mut policies);
        if needs("policies") && policies.is_empty() {
            open_requests::adopt(context, &insurers, &mut insured, &mut policies).await?;
        }
        let choice = match needs("policies") {
            true if !insured.several.is_empty() => chosen::ask_of(&context.state, &read, &policies, &insured.several),
            true => chosen::keep_wanted(&context.state, &read, &mut policies),
            false => None,
        };
        let needs = (needs("insured"), needs("policies"));
        // Whoever has typed in policies has seen which were missing.
        let is_answered = context.state.contains_key("extracted_policies");
        let asked = if needs.1 && choice.is_none() && !policies.is_empty() && !is_answered {
            insurers.asked_without(&policies)
        } else {
            Vec::new()
        };
        let mut open = questions(context, &read, needs, &insured, &policies, choice).await?;
        if !asked.is_empty() {
            open.push(missing::ask_policies_of(&read, &asked));
        }
        if let Some(review) = missing::joined(open) {
            return Ok(ToolOutcome::ask(review));
        }
        Ok(outcome(&read, insured, &policies))
    }
}

/// All that a person has to say before the plan can go on: what is not found, what contradicts itself, and then also
/// whose the policies are, which would be asked next.
async fn questions(
    context: &ToolContext,
    read: &[ReadDocument],
    (insured_too, policies_too): (bool, bool),
    insured: &Insured,
    policies: &[Policy],
    choice: Option<Review>,
) -> Result<Vec<Review>, ToolFailure> {
    let mut open = Vec::new();
    let (no_insured, no_policies) = (insured_too && !insured.is_known(), policies_too && policies.is_empty());
    if no_insured || no_policies {
        let unread = papers::unread(context, read).await?;
        open.push(missing::ask(read, &unread, (no_insured, no_policies), &insured.fields));
    }
    let slips = if policies_too { policies::slips(policies) } else { Vec::new() };
    if !slips.is_empty() {
        open.push(missing::ask_number(read, &slips));
    }
    let doubtful: Vec<&Policy> = policies.iter().filter(|policy| policies_too && policy.is_doubtful()).collect();
    if !doubtful.is_empty() {
        open.push(missing::ask_doubtful(read, &doubtful));
    }
    if insured_too && !insured.contradicting.values.is_empty() {
        let Contradiction { key, what, decides, values } = &insured.contradicting;
        open.push(missing::ask_which(read, (key, what), values, decides));
    }
    if insured_too && !insured.several.is_empty() {
        open.push(missing::ask_which(read, ("companies", "insured companies"), &insured.several, "name"));
    }
    // Whoever has to type the policies in chooses them so.
    let is_typed = !slips.is_empty() || !doubtful.is_empty();
    let choice = choice.filter(|_| !is_typed || insured.several.is_empty());
    // A policy that is typed in comes with its insurer, and of one that nobody wants it does not matter. Whose a contested
    // one is has to be known before a record says it.
    let is_contested = policies.iter().any(|policy| !policy.contested.is_empty());
    let is_asked = !open.is_empty() || is_contested;
    if is_asked && policies_too && !no_policies && !is_typed && choice.is_none() {
        open.extend(create_loss_run_requests::whose_they_are(context, policies).await?);
    }
    open.extend(choice);
    Ok(open)
}

fn outcome(read: &[ReadDocument], insured: Insured, policies: &[Policy]) -> ToolOutcome {
    let (vehicles, losses) = (vehicles::vehicles(read), vehicles::losses(read));
    let invalid = vehicles.iter().filter(|vehicle| vehicle["valid"] == json!(false)).count();
    let summary = format!(
        "read {}: {}, {} ({invalid} with a wrong VIN), {}",
        count(read.len(), "document"),
        count(policies.len(), "policy"),
        count(vehicles.len(), "vehicle"),
        count(losses.len(), "loss")
    );
    let categories: Vec<&str> = read
        .iter()
        .filter(|document| document.n > 0)
        .filter_map(|document| document.extraction.analysis.category.as_deref())
        .collect();
    let data = fields([
        ("insured", Value::Object(insured.fields)),
        ("insured_sources", Value::Object(insured.sources)),
        ("extracted_policies", json!(policies)),
        ("policy_count", json!(policies.len())),
        ("vehicle_count", json!(vehicles.len())),
        ("invalid_vin_count", json!(invalid)),
        ("extracted_vehicles", Value::Array(vehicles)),
        ("extracted_losses", Value::Array(losses)),
        ("document_categories", json!(categories)),
        ("fields_for_review", json!(reading::doubtful(read))),
        ("extractions", read.iter().map(ReadDocument::to_json).collect()),
    ]);
    ToolOutcome::new(data, summary)
}

#[cfg(test)]
mod tests;
