//! Which intent a message has, where the rules are unsure.

use kybern_core::error::Error;
use kybern_core::json_schema::object;
use kybern_core::mail::MailKind;
use kybern_core::model::{Classification, ClassifyInput, IntentSpec};
use kybern_core::money::Usage;
use serde_json::{Value, json};

use super::asking::{AskModel, NoAnswer, in_shape};
use super::inquiry::Inquiry;
use super::{ModelUse, clip, rounded, together};
use crate::models::prompt::UNDERSTAND_INTENT;

/// The answer for a message that asks for nothing known.
const NONE: &str = "none";
/// Models say that they are sure of more than they are.
const MOST_SURE: f64 = 0.95;
/// Bytes of each part of a message that are shown, and of its documents.
const MAX_PART: usize = 12_000;
const MAX_DOCUMENTS: usize = 8_000;
/// Examples of an intent that are shown.
const EXAMPLES: usize = 2;
/// Bytes of a reason that are kept.
const MAX_REASON: usize = 400;
/// Tokens of an answer.
const MAX_OUTPUT: u32 = 500;

/// What a message wants, as far as rules and model can tell.
#[derive(Debug)]
pub(crate) struct UnderstoodIntent {
    /// The answer of both.
    pub(crate) answer: Classification,
    /// What the model took.
    pub(crate) usage: Usage,
    /// Why no model helped although one should have been asked.
    pub(crate) unasked: Option<String>,
}

impl UnderstoodIntent {
    /// As it is journaled.
    pub(crate) fn to_json(&self) -> Value {
        let mut json = json!(self.answer);
        self.tell(&mut json);
        json
    }

    /// Adds what the model took, and why none was asked.
    pub(crate) fn tell(&self, json: &mut Value) {
        if !self.usage.is_zero() {
            json["usage"] = json!(self.usage);
        }
        if let Some(why) = &self.unasked {
            json["unasked"] = json!(why);
        }
    }
}

/// The rules' answer, with a model's where it is wanted: `always`, or where the rules stay below the threshold. What a
/// machine wrote is known by its structure; no model is asked what it wants.
///
/// # Errors
/// When whoever asks has to stop.
pub(crate) async fn understood(
    asking: &mut dyn AskModel,
    model_use: ModelUse,
    (input, intents): (&ClassifyInput, &[IntentSpec]),
    rules: Classification,
    threshold: f64,
) -> Result<UnderstoodIntent, Error> {
    let is_sure = rules.intent.is_some() && rules.confidence >= threshold;
    let is_wanted = match model_use {
        ModelUse::Off => false,
        ModelUse::Unsure => !is_sure,
        ModelUse::Always => true,
    };
    let mut usage = Usage::default();
    let says_something = !(input.text.trim().is_empty()
        && input.subject.trim().is_empty()
        && input.forwarded.trim().is_empty()
        && input.document_text.trim().is_empty());
    if !is_wanted || intents.is_empty() || input.kind != MailKind::Personal || !says_something {
        return Ok(UnderstoodIntent { answer: rules, usage, unasked: None });
    }
    match in_shape(asking, inquiry(input, intents), &mut usage).await {
        Ok(shaped) => {
            let answer = joined(rules, &shaped.value, shaped.model, is_sure);
            Ok(UnderstoodIntent { answer, usage, unasked: None })
        }
        Err(NoAnswer::No(why)) => Ok(UnderstoodIntent { answer: rules, usage, unasked: Some(why) }),
        Err(NoAnswer::Stopped(error)) => Err(error),
    }
}

fn inquiry(input: &ClassifyInput, intents: &[IntentSpec]) -> Inquiry {
    let known: Vec<Value> = intents
        .iter()
        .map(|intent| {
            let examples: Vec<&String> = intent.examples.iter().take(EXAMPLES).collect();
            json!({"intent": intent.key, "meaning": intent.description, "examples": examples})
        })
        .collect();
    let keys: Vec<&str> = intents.iter().map(|intent| intent.key.as_str()).collect();
    let mut told = format!("intents: {}\nfiles attached: {}", Value::Array(known), input.files);
    if !input.document_categories.is_empty() {
        told.push_str(&format!("\nkinds of attached documents: {}", json!(input.document_categories)));
    }
    if input.answers_request {
        told.push_str("\nThe message carries the mark of a request that this office has sent.");
    }
    let parts = [
        ("subject", input.subject.as_str(), MAX_PART),
        ("message", &input.text, MAX_PART),
        ("forwarded", &input.forwarded, MAX_PART),
        ("quoted", &input.earlier, MAX_PART),
        ("documents", &input.document_text, MAX_DOCUMENTS),
    ];
    let material = parts.into_iter().filter(|(_, text, _)| !text.trim().is_empty());
    let material = material.map(|(label, text, most)| (label, clip(text, most).to_owned())).collect();
    let choices: Vec<&str> = keys.iter().copied().chain([NONE]).collect();
    let properties = json!({
        "intent": {"type": "string", "enum": choices},
        "confidence": {"type": "number"},
        "also": {"type": "array", "items": {"type": "string", "enum": keys}},
        "reason": {"type": "string"}
    });
    Inquiry {
        prompt: UNDERSTAND_INTENT,
        told,
        material,
        picture: None,
        schema: object(properties, ["intent", "confidence", "also", "reason"]),
        max_output: MAX_OUTPUT,
        correction: None,
    }
}

/// How sure one intent is when something else was found with that confidence: the odds of one being right and the other
/// wrong, and never more than without it.
fn against(sure: f64, other: f64) -> f64 {
    let (right, wrong) = (sure * (1.0 - other), (1.0 - sure) * other);
    if wrong > 0.0 { sure.min(right / (right + wrong)) } else { sure }
}

/// What both say together. A doubt of the rules stays; so does an intent that they are sure of, but then a person is
/// asked when the model reads another one.
fn joined(rules: Classification, said: &Value, model: String, is_sure: bool) -> Classification {
    let intent = said["intent"].as_str().filter(|intent| *intent != NONE);
    let sure = said["confidence"].as_f64().unwrap_or_default().clamp(0.0, MOST_SURE);
    let reason = clip(said["reason"].as_str().unwrap_or_default(), MAX_REASON);
    let mut joined = Classification { model: format!("{}+{model}", rules.model), ..rules.clone() };
    joined.reasoning = format!("{}; {model}: {reason}", rules.reasoning);
    match intent {
        Some(intent) if rules.intent.as_deref() == Some(intent) => {
            joined.confidence = together(rules.confidence, sure);
        }
        Some(intent) if is_sure => {
            let read = rules.intent.as_deref().unwrap_or_default();
            joined.doubts.push(format!("the rules read {read} and the model {intent}"));
            joined.alternatives.push((intent.to_owned(), rounded(sure)));
        }
        Some(intent) => {
            joined.intent = Some(intent.to_owned());
            joined.confidence = rounded(against(sure, rules.confidence));
            joined.alternatives.retain(|(other, _)| other != intent);
            if let Some(other) = rules.intent {
                joined.alternatives.insert(0, (other, rules.confidence));
            }
        }
        None if is_sure => joined.doubts.push("the model finds that the message asks for nothing known".to_owned()),
        None => {}
    }
    let chosen = joined.intent.clone();
    let mut also: Vec<&str> = said["also"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    also.retain(|other| Some(*other) != chosen.as_deref() && Some(*other) != intent);
    also.dedup();
    if let (Some(chosen), false) = (&chosen, also.is_empty()) {
        joined.doubts.push(format!("the message asks for {chosen} and for {}", also.join(", ")));
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_rules_half_believe_in_makes_another_intent_less_sure() {
        let near = |left: f64, right: f64| assert!((left - right).abs() < 0.005, "{left} {right}");
        near(against(0.9, 0.0), 0.9);
        near(against(0.95, 0.57), 0.93);
        near(against(0.9, 0.79), 0.705);
        near(against(0.5, 0.5), 0.5);
        near(against(0.0, 0.5), 0.0);
    }
}
