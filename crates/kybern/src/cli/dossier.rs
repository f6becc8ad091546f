//! `kybern dossier`: what is known of an entity.

use clap::Args;
use serde_json::Value;

use super::list::items;
use super::{Context, Exit, Format};
use crate::client::segment;
use crate::output::{Failure, count, field, in_full, kybern, moment, quoted};

/// `kybern dossier NAME`
#[derive(Args, Debug)]
pub(super) struct DossierArgs {
    /// The entity: its name, an identifier such as a DOT number, its key or its id
    name: String,
    /// What you want to know: what has to do with it comes first
    #[arg(long)]
    query: Option<String>,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn run(args: DossierArgs, context: &mut Context) -> Result<Exit, Failure> {
    let DossierArgs { name, query, format } = args;
    let client = context.connect_to_read().await?;
    let found = client.get("/api/entities", &[("name", Some(name.clone()))]).await?;
    let more = found.value.get("more") == Some(&Value::Bool(true));
    let id = only_one(&name, items(&found.value), more)?;
    let reply = client.get(&format!("/api/entities/{}/dossier", segment(&id)), &[("query", query)]).await?;
    Ok(context.told(&reply, format, page))
}

/// The id of the only one that was found.
fn only_one(name: &str, found: &[Value], more: bool) -> Result<String, Failure> {
    match found {
        [one] if !more => Ok(field(one, "id")),
        [] => {
            let remedy = format!("look for it among the records: {} record kinds", kybern());
            Err(Failure::usage(format!("no entity is called {}", quoted(name)), remedy))
        }
        several => {
            let one = |entity: &Value| {
                let name = entity.get("props").map(|props| field(props, "name")).unwrap_or_default();
                format!("  {}  {}  {name}", field(entity, "id"), field(entity, "key"))
            };
            let list: Vec<String> = several.iter().map(one).collect();
            let more = if more { " or more" } else { "" };
            let message = format!("{}{more} entities are called {}", several.len(), quoted(name));
            Err(Failure::usage(message, format!("name one by its id:\n{}", list.join("\n"))))
        }
    }
}

/// The dossier as a page of text.
fn page(dossier: &Value) -> String {
    let mut lines = Vec::new();
    if let Some(entity) = dossier.get("entity") {
        let name = entity.get("props").map(|props| field(props, "name")).unwrap_or_default();
        let title = if name.is_empty() { field(entity, "key") } else { name };
        lines.push(format!("{title}  ({} {})", field(entity, "kind"), field(entity, "id")));
    }
    for (domain, facts) in dossier.get("state").and_then(Value::as_object).into_iter().flatten() {
        for (name, fact) in facts.as_object().into_iter().flatten() {
            lines.push(String::new());
            lines.push(fact_heading(&format!("{domain} {}", name.replace('_', " ")), fact));
            lines.extend(list(fact, "items").iter().map(state_line));
        }
    }
    for (member, heading) in
        [("insights", "insights"), ("preferences", "preferences"), ("recentEvents", "recent events")]
    {
        let memories = list(dossier, member);
        if !memories.is_empty() {
            lines.extend([String::new(), heading.to_owned()]);
            lines.extend(memories.iter().map(memory_line));
        }
    }
    if dossier.get("memoriesWithheld") == Some(&Value::Bool(true)) {
        lines.extend([String::new(), "what is remembered of entities asks for the right \"operate\"".to_owned()]);
    }
    if let Some(left_out) = dossier.get("memoriesLeftOut").and_then(Value::as_u64).filter(|count| *count > 0) {
        let id = dossier.pointer("/entity/id").and_then(Value::as_str).unwrap_or_default();
        let more = usize::try_from(left_out).unwrap_or(usize::MAX);
        let how = format!("{} memory list --of entity:{id}", kybern());
        lines.extend([String::new(), format!("{} more: {how}", count(more, "memory"))]);
    }
    lines.join("\n")
}

fn list<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn fact_heading(name: &str, fact: &Value) -> String {
    let more = if fact.get("more") == Some(&Value::Bool(true)) { " or more" } else { "" };
    let last = fact.get("lastAt").and_then(Value::as_str).map(|at| format!(", last {}", moment(at)));
    format!("{name}: {}{more}{}", field(fact, "count"), last.unwrap_or_default())
}

/// What a record says, and which one it is.
fn state_line(item: &Value) -> String {
    let says = in_full(item.get("says").unwrap_or(&Value::Null), "    ");
    format!("  {}  [{} {}{}]", says.trim(), field(item, "kind"), field(item, "recordId"), of_task(item, "task"))
}

/// What is remembered, whose word it is, how sure, and from which task.
fn memory_line(memory: &Value) -> String {
    let says = in_full(memory.get("content").unwrap_or(&Value::Null), "    ");
    let sure = match field(memory, "confidence") {
        sure if sure.is_empty() => sure,
        sure => format!(", confidence {sure}"),
    };
    let from = memory.get("provenance").map(|from| of_task(from, "task")).unwrap_or_default();
    let said = memory.get("createdAt").and_then(Value::as_str).map(moment).unwrap_or_default();
    format!("  {}  [{said}, {}{sure}{from}, memory {}]", says.trim(), field(memory, "trust"), field(memory, "id"))
}

fn of_task(from: &Value, name: &str) -> String {
    match field(from, name) {
        task if task.is_empty() => task,
        task => format!(", task {task}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_entity_is_taken_none_and_several_are_told() {
        let entity = |id: &str| json!({"id": id, "key": "name:acme", "props": {"name": "Acme"}});
        assert_eq!(only_one("Acme", &[entity("1")], false).unwrap(), "1");
        assert_eq!(only_one("Acme", &[], false).unwrap_err().to_string(), "no entity is called Acme");
        let cut = only_one("Acme", &[entity("1")], true).unwrap_err();
        assert_eq!(cut.to_string(), "1 or more entities are called Acme");
        let several = only_one("Acme", &[entity("1"), entity("2")], false).unwrap_err();
        assert_eq!(several.to_string(), "2 entities are called Acme");
        let Failure::Usage { remedy: Some(remedy), .. } = several else { panic!("{several}") };
        assert!(remedy.contains("  1  name:acme  Acme\n  2  "), "{remedy}");
    }

    #[test]
    fn each_line_says_where_it_comes_from() {
        let text = page(&json!({
            "entity": {"id": "e-1", "kind": "test.company", "key": "c", "props": {"name": "Acme"}},
            "state": {"test": {"open_things": {"count": 3, "more": true, "lastAt": null, "items": [
                {"kind": "test.thing", "recordId": "r-1", "says": "open\u{7}", "at": "2026-01-02T03:04:05Z", "task": "t-1"}
            ]}}},
            "insights": [{"id": "m-1", "content": "Pays late.", "trust": "tool", "confidence": 0.8,
                "createdAt": "2026-01-02T03:04:05.006Z", "provenance": {"task": "t-2"}}],
            "preferences": [], "recentEvents": [],
            "memoriesLeftOut": 2, "memoriesWithheld": false,
        }));
        for line in [
            "Acme  (test.company e-1)",
            "test open things: 3 or more",
            "  open  [test.thing r-1, task t-1]",
            "  Pays late.  [2026-01-02 03:04:05, tool, confidence 0.8, task t-2, memory m-1]",
        ] {
            assert!(text.lines().any(|one| one == line), "{line:?} in {text}");
        }
        assert!(text.contains("2 memories more: ") && text.contains("memory list --of entity:e-1"), "{text}");
        assert!(!text.contains("preferences"), "{text}");
    }
}
