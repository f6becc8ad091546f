//! What a task waits for, as a person has to see it, and the commands that answer it: a yes, and beside it a no.

use serde_json::{Map, Value};

use super::command::kybern;
use super::paint::Paint;
use super::papers::{commands, papers, read_of_wait};
use super::schema::fields;
use super::task::indent;
use super::text::{clean, field, short};

/// How sure a guess must be at least to stand in a ready answer: below that, whoever copies it has decided nothing.
const READY: f64 = 0.5;
/// Things of a list that are shown, and characters of one.
const ITEMS: usize = 20;
const ITEM: usize = 300;

/// Those waits of a task that a person answers; a clock, a child or an engine answers the others.
pub(crate) fn person_waits(task: &Value) -> Vec<&Value> {
    let all = task.get("waits").and_then(Value::as_array).into_iter().flatten();
    all.filter(|wait| !matches!(field(wait, "kind").as_str(), "timer" | "child" | "workflow")).collect()
}

/// What the task waits for, why, and the commands that answer it.
pub(crate) fn waits(task: &Value, paint: Paint) -> Option<String> {
    render_waits(task, &person_waits(task), paint)
}

pub(super) fn render_waits(task: &Value, waits: &[&Value], paint: Paint) -> Option<String> {
    let text: Vec<String> = waits.iter().map(|wait| one_wait(task, wait, paint)).collect();
    (!text.is_empty()).then(|| format!("{}\n{}", paint.wait("waits for a person"), text.join("\n")))
}

fn one_wait(task: &Value, wait: &Value, paint: Paint) -> String {
    let (step, reason) = (field(wait, "stepId"), field(wait, "reason"));
    let mut lines = vec![format!("  {} at {step}: {reason}", field(wait, "kind"))];
    let title = field(wait, "title");
    if !title.is_empty() {
        lines.push(format!("    {title}"));
    }
    // What the task has read already stands above its questions.
    let is_shown = task.pointer("/state/extractions").is_some();
    if let Some(table) = read_of_wait(wait).filter(|_| !is_shown) {
        lines.push(indent(&indent(&table.render(paint))));
    }
    let papers = papers(wait);
    lines.extend(papers.iter().flat_map(super::AskedPaper::shown).map(|line| format!("    {line}")));
    if let Some(Value::Object(details)) = wait.get("details") {
        let told = details_of(details, &reason);
        lines.extend(told.into_iter().map(|line| format!("    {}", paint.dim(&line))));
    }
    let asked = wait.get("schema").map(fields).unwrap_or_default();
    for field in asked.iter().filter(|field| papers.is_empty() || field.key != "documents") {
        lines.push(format!("    {}", field.describe()));
    }
    // With its step: copied after somebody else's answer, it must not answer the next question.
    let command = format!("{} task review {} --step {step}", kybern(), field(task, "id"));
    let ways = match papers.as_slice() {
        [] => ways(wait, &command),
        papers => commands(papers, &command).into_iter().chain([no(wait, &command)]).collect(),
    };
    let width = ways.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0) + 1;
    for (what, command) in ways {
        let what = format!("{:<width$}", format!("{what}:"));
        lines.push(format!("    {} {command}", paint.bold(&what)));
    }
    lines.join("\n")
}

/// What a wait takes for an answer, each with its command.
fn ways(wait: &Value, command: &str) -> Vec<(String, String)> {
    let way = |what: &str, rest: &str| (what.to_owned(), format!("{command} {rest}"));
    let kind = field(wait, "kind");
    if kind == "ambiguous" {
        return vec![
            way("it happened", "--resolution done"),
            way("do it again", "--resolution retry"),
            way("give it up", "--resolution fail"),
        ];
    }
    let asked = wait.get("schema").map(fields).unwrap_or_default();
    let yes = if kind == "confirmation" || asked.is_empty() {
        way("yes", "--corrections '{}'")
    } else {
        let required: Vec<_> = asked.iter().filter(|field| field.required).collect();
        let shown = if required.is_empty() { asked.iter().take(1).collect() } else { required };
        let likely = likely(wait);
        let set: Vec<String> = shown.iter().map(|field| field.example(likely.as_deref())).collect();
        way("answer", &set.join(" "))
    };
    // The question keeps the plans that there were when it was asked; one that was made since is chosen like any other.
    let again = (kind == "plan").then(|| way("choose anew", "--corrections '{}'   (plans made since it was asked)"));
    [Some(yes), again, Some(no(wait, command))].into_iter().flatten().collect()
}

/// How to say no. What is nobody's business, such as advertising, is dropped: that needs no reason.
fn no(wait: &Value, command: &str) -> (String, String) {
    let is_handover = wait.pointer("/schema/properties/handled").is_some();
    match is_handover || field(wait, "kind") == "intent" {
        true => ("nothing to do".to_owned(), format!("{command} --drop   (advertising, chatter)")),
        false => ("no".to_owned(), format!("{command} --no --note WHY")),
    }
}

/// The details that have no place of their own, a line each; of a list of things each has a line.
fn details_of(details: &Map<String, Value>, reason: &str) -> Vec<String> {
    // What was read has a table, what was not has lines of its own, and what the reason says is not said again.
    let is_shown = |name: &str| !matches!(name, "scans" | "extractions" | "files");
    let mut lines = Vec::new();
    for (name, value) in details.iter().filter(|(name, _)| is_shown(name)) {
        let things = value.as_array().filter(|things| !things.is_empty() && things.iter().all(Value::is_object));
        if let Some(things) = things {
            lines.push(format!("{}:", clean(name)));
            lines.extend(things.iter().take(ITEMS).map(|thing| format!("  - {}", members(thing))));
            continue;
        }
        let text = detail(value);
        if !text.is_empty() && !reason.contains(&text) {
            lines.push(format!("{}: {text}", clean(name)));
        }
    }
    lines
}

/// An object in one line, without what it does not say.
fn members(thing: &Value) -> String {
    let text = |value: &Value| match value {
        Value::Array(items) => items.iter().map(|item| short(item, ITEM)).collect::<Vec<_>>().join(", "),
        other => short(other, ITEM),
    };
    let members = thing.as_object().into_iter().flatten().map(|(name, value)| (name, text(value)));
    let said: Vec<String> =
        members.filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{} {text}", clean(name))).collect();
    short(&Value::String(said.join("; ")), ITEM)
}

/// A detail as one line; empty when it says nothing. Guesses with how sure they are read better than their JSON.
fn detail(value: &Value) -> String {
    let guess = |pair: &Value| Some(format!("{} ({:.2})", pair.get(0)?.as_str()?, pair.get(1)?.as_f64()?));
    let guesses = value.as_array().map(|pairs| pairs.iter().map(guess).collect::<Option<Vec<_>>>());
    match guesses {
        Some(Some(guesses)) => clean(&guesses.join(", ")),
        _other => short(value, ITEM),
    }
}

/// What the model would say, where it is sure enough to be copied: its best answer, or its first alternative.
fn likely(wait: &Value) -> Option<String> {
    let sure = |pointer: &str| wait.pointer(pointer).and_then(Value::as_f64).is_some_and(|sure| sure >= READY);
    match wait.pointer("/details/best").and_then(Value::as_str) {
        Some(best) => sure("/details/confidence").then(|| clean(best)),
        None => {
            let first = wait.pointer("/details/alternatives/0/0").and_then(Value::as_str);
            first.filter(|_| sure("/details/alternatives/0/1")).map(clean)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(wait: Value) -> String {
        waits(&json!({"id": "t1", "waits": [wait]}), Paint::new(false)).unwrap()
    }

    #[test]
    fn an_unknown_outcome_asks_for_a_resolution() {
        let text = shown(json!({"stepId": "send", "kind": "ambiguous", "reason": "was it sent?"}));
        assert!(text.contains("it happened: kybern task review t1 --step send --resolution done"), "{text}");
        assert!(text.contains("give it up:  kybern task review t1 --step send --resolution fail"), "{text}");
    }

    fn intent(best: Value, sure: f64, alternatives: Value) -> String {
        shown(json!({"stepId": "_intent", "kind": "intent", "reason": "which?",
            "schema": {"required": ["intent"], "properties": {"intent": {"type": "string", "enum": ["a.a", "b.b"]}}},
            "details": {"best": best, "confidence": sure, "alternatives": alternatives}}))
    }

    #[test]
    fn only_a_guess_that_is_sure_enough_is_a_ready_answer() {
        let text = intent(Value::Null, 0.0, json!([["b.b", 0.612], ["a.a", 0.1]]));
        assert!(text.contains("--set intent=b.b") && text.contains("alternatives: b.b (0.61), a.a (0.10)"), "{text}");
        assert!(!text.contains("best"), "{text}");
        assert!(intent(json!("a.a"), 0.7, json!([])).contains("--set intent=a.a"));
        for text in [intent(Value::Null, 0.0, json!([["b.b", 0.28]])), intent(json!("a.a"), 0.3, json!([["a.a", 0.3]]))]
        {
            assert!(text.contains("--set intent=…") && !text.contains("--set intent=a"), "{text}");
            assert!(text.contains("nothing to do: kybern task review t1 --step _intent --drop"), "{text}");
        }
    }

    #[test]
    fn a_no_stands_beside_the_yes() {
        let form = |schema: Value| shown(json!({"stepId": "a", "kind": "review", "reason": "look", "schema": schema}));
        let text = form(json!({"properties": {"name": {"type": "string"}}}));
        assert!(text.contains("no:     kybern task review t1 --step a --no --note WHY"), "{text}");
        let text =
            form(json!({"required": ["handled"], "properties": {"handled": {"type": "boolean", "const": true}}}));
        assert!(text.contains("answer:        kybern task review t1 --step a --set handled=true"), "{text}");
        assert!(text.contains("nothing to do: kybern task review t1 --step a --drop"), "{text}");
        let text = shown(json!({"stepId": "a", "kind": "confirmation", "reason": "may it?",
            "schema": {"properties": {"to": {"type": "string"}}}}));
        assert!(
            text.contains("yes: kybern task review t1 --step a --corrections '{}'") && text.contains("no:  "),
            "{text}"
        );
    }

    #[test]
    fn a_question_about_a_plan_says_how_a_plan_made_since_is_chosen() {
        let text = shown(json!({"stepId": "_planning", "kind": "plan", "reason": "no plan serves it",
            "schema": {"required": ["planKey"], "properties": {"planKey": {"type": "string", "enum": ["a", "b"]}}}}));
        assert!(text.contains("choose anew: kybern task review t1 --step _planning --corrections '{}'"), "{text}");
        assert!(text.contains("answer:      kybern task review t1 --step _planning --set planKey=…"), "{text}");
    }

    #[test]
    fn each_thing_of_a_list_has_a_line() {
        let text = shown(json!({"stepId": "a", "kind": "review", "reason": "which? Next: choose",
            "details": {"next": "choose", "author": "a@b.example", "candidates": [
                {"id": "r1", "insured": "Fern LLC", "policy_numbers": ["A-1", "A-2"], "doubts": []}]}}));
        assert!(text.contains("candidates:\n      - id r1; insured Fern LLC; policy_numbers A-1, A-2\n"), "{text}");
        assert!(text.contains("author: a@b.example") && !text.contains("next: choose"), "{text}");
    }
}
