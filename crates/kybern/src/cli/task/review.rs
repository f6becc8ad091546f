//! `kybern task review`: a person's answer to what a task waits for.

use serde_json::{Map, Value, json};

use super::{ReviewArgs, ask, show};
use crate::cli::{Context, Exit};
use crate::client::PostedBody;
use crate::output::{Failure, field, fields, person_waits, remedy_of_unreadable, render_waits, unreadable};

pub(super) async fn run(args: ReviewArgs, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let id = args.id;
    let task = client.get(&format!("/api/tasks/{id}"), &[]).await?.value;
    let unreadable = unreadable(&task);
    if !unreadable.is_empty() {
        let remedy = remedy_of_unreadable(&task);
        return Err(Failure::Other(anyhow::anyhow!("task {id} cannot be answered: {unreadable}; {remedy}")));
    }
    let nothing_said = args.set.is_empty() && args.corrections.is_none() && args.resolution().is_none();
    let waits = waits(&task, args.step.as_deref());
    let paint = context.screen().paint();
    if nothing_said {
        if waits.is_empty() {
            // As when an answer is given: nothing is wrong with what was typed.
            let status = field(&task, "status");
            if let (Some(step), false) = (&args.step, person_waits(&task).is_empty()) {
                let steps = steps_of(&person_waits(&task));
                return Err(Failure::Other(anyhow::anyhow!("task {id} does not wait at {step}: it waits at {steps}")));
            }
            return Err(Failure::Other(anyhow::anyhow!("task {id} does not wait for a person: it is {status}")));
        }
        let matter = show::matter(&client, id, &task, paint).await?;
        context.screen().line(format!("{matter}\n"));
        if let Some(text) = render_waits(&task, paint) {
            context.screen().line(text);
        }
        if !context.screen().is_interactive() {
            return Ok(Exit::Review);
        }
    }
    let wait = match waits.as_slice() {
        [] => None,
        [wait] => Some(*wait),
        [first, ..] if context.screen().is_interactive() && nothing_said => Some(*first),
        several => {
            let message = format!("task {id} waits at {} steps: {}", several.len(), steps_of(several));
            return Err(Failure::usage(message, "say which one with --step"));
        }
    };
    let answer = if nothing_said { ask::answer(wait, context.screen())? } else { typed(&args, wait)? };
    let mut body = Map::from_iter([("corrections".to_owned(), Value::Object(answer.corrections))]);
    // Just what was looked at is answered, and nothing that somebody else's answer has put in its place since.
    let step = wait.map(|wait| field(wait, "stepId")).or_else(|| args.step.clone());
    body.extend(step.map(|step| ("stepId".to_owned(), json!(step))));
    let question = wait.and_then(|wait| wait.get("approvalId")).filter(|id| id.is_string());
    body.extend(question.map(|id| ("approvalId".to_owned(), id.clone())));
    if let Some(resolution) = answer.resolution {
        body.insert("resolution".to_owned(), json!(resolution));
    }
    if let Some(note) = args.note() {
        body.insert("note".to_owned(), json!(note));
    }
    let after =
        client.post(&format!("/api/tasks/{id}/review"), PostedBody::Json(&Value::Object(body)), None).await?.value;
    let told = match field(&after, "status").as_str() {
        "cancelled" => format!("task {id} is cancelled: {}", field(&after, "errorMessage")),
        _goes_on => format!("task {id} is answered; {}", context.follow_up(&client, id).await),
    };
    context.screen().line(told);
    Ok(Exit::Done)
}

impl ReviewArgs {
    /// What is decided, where that was typed.
    fn resolution(&self) -> Option<&'static str> {
        match self.no || self.drop {
            true => Some(super::Resolution::Fail.as_str()),
            false => self.resolution.map(super::Resolution::as_str),
        }
    }

    fn note(&self) -> Option<&str> {
        self.note.as_deref().or(self.drop.then_some("there is nothing to do"))
    }
}

/// An answer as it is sent.
#[derive(Default, Debug)]
pub(super) struct ReviewAnswer {
    /// Values for the task's state.
    pub(super) corrections: Map<String, Value>,
    /// What becomes of an outside effect of which nobody knows.
    pub(super) resolution: Option<&'static str>,
}

/// The steps at which a task waits, for a sentence.
fn steps_of(waits: &[&Value]) -> String {
    waits.iter().map(|wait| field(wait, "stepId")).collect::<Vec<_>>().join(", ")
}

/// The waits of the task, or the one at that step; a step of the kernel's own is named without its `_` as well.
fn waits<'a>(task: &'a Value, step: Option<&str>) -> Vec<&'a Value> {
    let is_at = |id: &str, step: &str| id == step || id.strip_prefix('_') == Some(step);
    let wanted = |wait: &&Value| step.is_none_or(|step| is_at(&field(wait, "stepId"), step));
    person_waits(task).into_iter().filter(wanted).collect()
}

/// The answer from flags. The schema says whether `42` is a number or a text.
fn typed(args: &ReviewArgs, wait: Option<&Value>) -> Result<ReviewAnswer, Failure> {
    let mut corrections = match &args.corrections {
        Some(Value::Object(corrections)) => corrections.clone(),
        _none => Map::new(),
    };
    let known = wait.and_then(|wait| wait.get("schema")).map(fields).unwrap_or_default();
    for (key, text) in &args.set {
        let value = match known.iter().find(|field| field.key == *key) {
            Some(field) => field.read(text).map_err(|problem| {
                Failure::usage(format!("{key}: {problem}"), format!("--set takes {}", field.describe()))
            })?,
            None => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        };
        corrections.insert(key.clone(), value);
    }
    Ok(ReviewAnswer { corrections, resolution: args.resolution() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(set: &[(&str, &str)]) -> ReviewArgs {
        ReviewArgs {
            id: "01920000-0000-7000-8000-000000000001".parse().unwrap(),
            set: set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            corrections: None,
            step: None,
            resolution: None,
            no: false,
            drop: false,
            note: None,
        }
    }

    #[test]
    fn a_no_is_told_with_its_reason() {
        let no = ReviewArgs { no: true, note: Some("not ours".to_owned()), ..args(&[]) };
        assert_eq!((no.resolution(), no.note()), (Some("fail"), Some("not ours")));
        let dropped = ReviewArgs { drop: true, ..args(&[]) };
        assert_eq!((dropped.resolution(), dropped.note()), (Some("fail"), Some("there is nothing to do")));
        assert_eq!((args(&[]).resolution(), args(&[]).note()), (None, None));
    }

    #[test]
    fn the_schema_decides_what_a_value_is() {
        let wait = json!({"schema": {"properties": {"dot": {"type": "string"}, "units": {"type": "integer"}}}});
        let answer = typed(&args(&[("dot", "123"), ("units", "7"), ("other", "[1]")]), Some(&wait)).unwrap();
        assert_eq!(Value::Object(answer.corrections), json!({"dot": "123", "units": 7, "other": [1]}));
        let wrong = typed(&args(&[("units", "many")]), Some(&wait)).unwrap_err();
        assert!(wrong.is_usage() && wrong.to_string().starts_with("units:"), "{wrong}");
    }

    #[test]
    fn a_step_is_chosen_by_its_id() {
        let task = json!({"waits": [{"stepId": "a"}, {"stepId": "b"}]});
        assert_eq!(waits(&task, None).len(), 2);
        assert_eq!(waits(&task, Some("b")), [&json!({"stepId": "b"})]);
        assert_eq!(waits(&json!({"waits": [{"stepId": "_intent"}]}), Some("intent")).len(), 1);
        assert!(waits(&json!({}), None).is_empty());
    }
}
