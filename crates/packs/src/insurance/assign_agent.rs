//! `insurance.assign_agent`: who looks after a deal. An agent keeps a deal; a new one goes to whoever has the fewest.

use kybern_core::actor::Role;
use kybern_core::count::count;
use kybern_core::identity::User;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{Lookup, Record};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::deal;
use super::kinds::{self, DEAL};
use crate::args::{fields, text};
use crate::{change, contact};

/// The lookup under which an agent's deals are found.
const LOOKUP: &str = "assigned_agent";

/// More users than this are not compared: the oldest are.
const MAX_CANDIDATES: usize = 50;

/// The tool.
#[must_use]
pub fn assign_agent() -> StatelessTool {
    let schema = json!({
        "type": "object",
        "properties": {"deal_id": {"type": ["string", "null"]}},
        "additionalProperties": false
    });
    let description = "Gives a deal to one of the tenant's operators (or admins): the one with the fewest open \
                       deals.";
    let spec = ToolSpec {
        trusted_output: true,
        needs: ToolNeeds { task: true, records: true, users: true, ..ToolNeeds::default() },
        ..ToolSpec::local("insurance.assign_agent", description, schema).shown(&["deal", "owner", "agent"], json!({}))
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let users = match &context.users {
        Some(directory) => directory.users_of(context.scope).await?,
        None => return Err(ToolFailure::permanent("the tool's spec does not ask for users")),
    };
    let candidates = candidates(&users);
    let deal = deal::deal(context, &args).await?;
    let present = deal.props.get("assigned_agent").and_then(|agent| agent.get("id")).and_then(Value::as_str);
    let keeps = candidates.iter().find(|user| present == Some(user.id.to_string().as_str()));
    if let Some(user) = keeps {
        let outcome = ToolOutcome::new(answer(user), "the deal keeps its agent");
        return Ok(ToolOutcome { links: vec![change::resolve(&deal)], ..outcome });
    }
    let candidates = told(candidates);
    let user = least_loaded(context, &candidates).await?;
    let changed = fields([("assigned_agent", as_json(user))]);
    let lookups = vec![Lookup::shared(LOOKUP, user.id.to_string())];
    let outcome = ToolOutcome::new(answer(user), format!("assigned one of {}", count(candidates.len(), "agent")));
    Ok(ToolOutcome { records: vec![change::update(&deal, changed, lookups)], ..outcome })
}

/// Operators, or admins where there is no operator; oldest first.
fn candidates(users: &[User]) -> Vec<&User> {
    let with = |role: Role| users.iter().filter(move |user| user.roles.contains(&role)).take(MAX_CANDIDATES);
    let operators: Vec<&User> = with(Role::Operator).collect();
    if operators.is_empty() { with(Role::Admin).collect() } else { operators }
}

/// Those whom mail reaches, because a deal's agent is told of it; all where it reaches none.
fn told(candidates: Vec<&User>) -> Vec<&User> {
    let reached: Vec<&User> = candidates.iter().copied().filter(|user| contact::is_reached(&user.email)).collect();
    if reached.is_empty() { candidates } else { reached }
}

/// The one with the fewest open deals; among equals the oldest user.
async fn least_loaded<'a>(context: &ToolContext, candidates: &[&'a User]) -> Result<&'a User, ToolFailure> {
    let mut best: Option<(usize, &User)> = None;
    for user in candidates {
        let deals = context.records()?.records_by_lookup(context.scope, DEAL, LOOKUP, &user.id.to_string()).await?;
        let load = deals.iter().filter(|deal| is_open(deal)).count();
        if best.is_none_or(|(least, _)| load < least) {
            best = Some((load, user));
        }
    }
    best.map(|(_, user)| user).ok_or_else(|| {
        ToolFailure::permanent(
            "this tenant has no user with the role operator or admin; create one, and retry the step",
        )
    })
}

fn is_open(deal: &Record) -> bool {
    !kinds::is_closed(&text(&deal.props, "stage").unwrap_or_default())
}

fn as_json(user: &User) -> Value {
    json!({"id": user.id, "email": user.email, "name": user.name})
}

fn answer(user: &User) -> Map<String, Value> {
    fields([("assigned_agent", as_json(user))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    #[tokio::test]
    async fn deals_go_round_and_stay_where_they_are() {
        let mut world = World::new();
        world.user("boss@agency.example", &[Role::Admin]);
        world.user("one@agency.example", &[Role::Operator]);
        world.user("two@agency.example", &[Role::Operator]);
        let mut agents = Vec::new();
        for n in 0..4 {
            let props = json!({"stage": "new", "entity_id": "e", "pipeline_type": "renewal", "coverage_types": []});
            let deal = world.put(DEAL, &format!("deal{n}"), props);
            let first = world.run(&assign_agent(), json!({"deal_id": deal})).await;
            assert_eq!(first, world.run(&assign_agent(), json!({"deal_id": deal})).await);
            agents.push(first["assigned_agent"]["email"].as_str().unwrap().to_owned());
        }
        let (one, two) = ("one@agency.example", "two@agency.example");
        assert_eq!(agents, [one, two, one, two]);
    }

    #[tokio::test]
    async fn a_deal_goes_to_an_address_that_no_mail_reaches_only_where_there_is_no_other() {
        let mut world = World::new();
        let props = json!({"stage": "new", "entity_id": "e", "pipeline_type": "renewal", "coverage_types": []});
        world.user("admin@localhost", &[Role::Admin]);
        let alone = world.put(DEAL, "alone", props.clone());
        let agent = world.run(&assign_agent(), json!({"deal_id": alone})).await;
        assert_eq!(agent["assigned_agent"]["email"], "admin@localhost");
        world.user("boss@agency.example", &[Role::Admin]);
        let agent = world.run(&assign_agent(), json!({"deal_id": alone})).await;
        assert_eq!(agent["assigned_agent"]["email"], "admin@localhost", "an agent keeps a deal");
        for key in ["one", "two"] {
            let deal = world.put(DEAL, key, props.clone());
            let agent = world.run(&assign_agent(), json!({"deal_id": deal})).await;
            assert_eq!(agent["assigned_agent"]["email"], "boss@agency.example");
        }
    }
}
