//! `network.resolve_insurer`: finds an insurance company by its NAIC code or its name.

use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::entity::{self, DescribedCompany};
use super::matching::{self, Clash, Match};
use crate::args::{fields, text};
use crate::{change, company};

/// The tool.
#[must_use]
pub fn resolve_insurer() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {
            "insurer_name": {"type": "string", "minLength": 1, "maxLength": 300},
            "naic_number": {"type": ["string", "integer", "null"]},
            "create": {"type": "boolean", "default": false}
        },
        "required": ["insurer_name"],
        "additionalProperties": false
    });
    let description = "Finds an insurance company by NAIC code or name; with `create` an unknown one is recorded.";
    let spec = ToolSpec {
        aliases: vec!["resolve_insurer".to_owned()],
        needs: ToolNeeds { records: true, ..ToolNeeds::default() },
        // It reads the state and records past its arguments, and both may hold what a stranger wrote.
        untrusted_output: true,
        ..ToolSpec::local("network.resolve_insurer", description, schema)
            .shown(&["insurer", "company", "naic"], json!({"insurer_name": "Great West Casualty", "create": false}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let naic = text(&args, "naic_number").and_then(|text| company::naic(&text));
    let described = DescribedCompany {
        name: text(&args, "insurer_name"),
        entity_type: Some("insurance_carrier".to_owned()),
        identifiers: naic.clone().map(|code| ("NAIC", code)).into_iter().collect(),
        ..DescribedCompany::default()
    };
    if described.normal_name().is_empty() && naic.is_none() {
        return Err(ToolFailure::permanent("insurer_name is blank and there is no NAIC code; name the insurer"));
    }
    let create = args.get("create").and_then(Value::as_bool).unwrap_or(false);
    match matching::find(context.records()?, context.scope, &described).await? {
        Match::One(record, reason) => {
            let name = entity::field_of(&record, "name").or_else(|| described.name.clone());
            let code = company::recorded_number(&record, "NAIC").or(naic);
            let data = answer(json!(record.id), &name, &code, true);
            let outcome = ToolOutcome::new(data, format!("found the insurer by {reason}"));
            Ok(ToolOutcome { links: vec![change::resolve(&record)], ..outcome })
        }
        Match::None | Match::Conflict(_, Clash::Number) if create => {
            let key = entity::free_key(context, &described).await?;
            let change = change::create(context, entity::KIND, &key, described.props(context), described.lookups());
            let data = answer(json!(change.put.id), &described.name, &naic, true);
            let outcome = ToolOutcome::new(data, "created the insurer");
            Ok(ToolOutcome { records: vec![change], ..outcome })
        }
        // Which of several is meant does not matter to a caller who only looks: nothing is claimed.
        Match::None | Match::Several(..) | Match::Conflict(..) => {
            let data = answer(Value::Null, &described.name, &naic, false);
            Ok(ToolOutcome::new(data, "found no insurer that is surely meant"))
        }
    }
}

fn answer(id: Value, name: &Option<String>, naic: &Option<String>, found: bool) -> Map<String, Value> {
    fields([
        ("insurer_id", id),
        ("insurer_name", json!(name)),
        ("insurer_found", json!(found)),
        ("insurer_naic", json!(naic)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;
    use serde_json::json;

    #[tokio::test]
    async fn an_unknown_insurer_is_only_created_when_asked() {
        let world = World::new();
        let tool = resolve_insurer();
        let asked = json!({"insurer_name": "Northfield Ridge Ins. Co.", "naic_number": "99101"});
        let outcome = world.call(&tool, asked).await.unwrap();
        assert_eq!(outcome.data["insurer_found"], json!(false));
        let asked = json!({"insurer_name": "Northfield Ridge Insurance Company", "naic_number": 99101, "create": true});
        let created = world.run(&tool, asked).await;
        assert_eq!(created["insurer_found"], json!(true));
        let by_name = world.run(&tool, json!({"insurer_name": "NORTHFIELD RIDGE INS CO"})).await;
        assert_eq!(by_name["insurer_id"], created["insurer_id"]);
        assert_eq!(by_name["insurer_naic"], json!("99101"));
        let asked = json!({"insurer_name": "Northfield Ridge Insurance Company", "naic_number": "99102"});
        let found = world.call(&tool, asked.clone()).await.unwrap();
        assert_eq!(found.data["insurer_found"], json!(false), "a name is not taken for the one with another code");
        let mut asked = asked;
        asked["create"] = json!(true);
        assert_ne!(world.run(&tool, asked).await["insurer_id"], created["insurer_id"]);
    }
}
