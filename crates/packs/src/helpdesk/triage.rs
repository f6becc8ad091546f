//! `helpdesk.triage`: how severe a ticket is, and by when somebody has to look at it.

use kybern_core::count::count;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::Record;
use kybern_core::time::{Millis, Timestamp};
use kybern_core::tool::{ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::kinds::TICKET;
use super::severity::{self, Severity, TicketFacts};
use super::ticket::{self, BY_REQUESTER};
use crate::args::{fields, text};
use crate::change;

const HOUR_MS: u64 = 60 * 60 * 1000;

/// The tool.
pub(super) fn triage() -> StatelessTool {
    let hours = json!({"type": "integer", "minimum": 1, "maximum": 8760});
    let schema = json!({
        "type": "object",
        "properties": {
            "ticket_id": {"type": "string", "format": "uuid"},
            "said_severity": {"type": ["string", "null"], "description": "what the requester calls it"},
            "due_hours": {
                "type": "object",
                "description": "hours from opening until somebody has to have looked, by severity",
                "properties": {"low": hours, "normal": hours, "high": hours, "critical": hours},
                "required": ["low", "normal", "high", "critical"],
                "additionalProperties": false
            }
        },
        "required": ["ticket_id", "due_hours"],
        "additionalProperties": false
    });
    let description = "Says by rules how severe a ticket is and by when it is due: from its words, what its requester \
                       calls it, and their other open tickets. It never lowers a severity.";
    let due_hours = json!({"low": 72, "normal": 24, "high": 4, "critical": 1});
    let spec = ToolSpec {
        needs: ToolNeeds { records: true, ..ToolNeeds::default() },
        // Reasons and subject repeat words of the ticket, which a stranger wrote.
        untrusted_output: true,
        ..ToolSpec::local("helpdesk.triage", description, schema).shown(
            &["ticket", "severity", "priority", "due"],
            json!({"ticket_id": "0198c1de-7c00-7000-8000-000000000001", "due_hours": due_hours}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let ticket = ticket::named(context, &args).await?;
    let of = |name: &str| text(&ticket.props, name).unwrap_or_default();
    let owner = of("requester_id");
    let all = context.records()?.records_by_lookup(context.scope, TICKET, BY_REQUESTER, &owner).await?;
    let is_other = |other: &&Record| {
        other.id != ticket.id
            && !ticket::is_closed(other)
            && other.props.get("category") == ticket.props.get("category")
    };
    let said = text(&args, "said_severity");
    let (found, reasons) = severity::severity(&TicketFacts {
        category: &of("category"),
        words: &format!("{} {}", of("subject"), of("text")),
        said: said.as_deref(),
        others_open: all.iter().filter(is_other).count(),
    });
    // What a person or an earlier message has said of it stands.
    let known = Severity::parse(&of("severity"));
    let severity = known.map_or(found, |known| known.max(found));
    let opened: Timestamp = of("opened_at").parse().unwrap_or(context.now);
    let hours = args.get("due_hours").and_then(|hours| hours.get(severity.as_str())).and_then(Value::as_u64);
    let due = opened.plus(Millis(hours.unwrap_or(1).saturating_mul(HOUR_MS)));
    let mut outcome = ToolOutcome::new(
        fields([
            ("severity", json!(severity.as_str())),
            ("severity_reasons", json!(reasons)),
            ("due_at", json!(due)),
            ("is_severe", json!(severity >= Severity::High)),
            ("is_escalated", json!(of("status") == "escalated")),
        ]),
        format!("severity {}, for {}", severity.as_str(), count(reasons.len(), "reason")),
    );
    if known != Some(severity) {
        let wanted =
            fields([("severity", json!(severity.as_str())), ("reasons", json!(reasons)), ("due_at", json!(due))]);
        outcome.records.push(change::update(&ticket, wanted, Vec::new()));
    } else {
        outcome.links.push(change::resolve(&ticket));
    }
    Ok(outcome)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::helpdesk::open_ticket::open_ticket;
    use crate::tests::World;

    /// A ticket of that requester; its id.
    pub(in crate::helpdesk) async fn ticket(world: &World, requester: &str, category: &str, words: &str) -> String {
        let args = json!({
            "category": category, "requester": requester, "subject": "Help", "text": words,
            "threads": [format!("{}@mail.example", words.len())]
        });
        world.run(&open_ticket(), args).await["ticket_id"].as_str().unwrap().to_owned()
    }

    async fn triaged(world: &World, id: &str) -> Map<String, Value> {
        let hours = json!({"low": 72, "normal": 24, "high": 4, "critical": 1});
        world.run(&triage(), json!({"ticket_id": id, "due_hours": hours})).await
    }

    #[tokio::test]
    async fn severity_and_due_stand_in_the_ticket_and_a_second_call_changes_nothing() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "incident", "Nobody can print").await;
        let data = triaged(&world, &id).await;
        assert_eq!((&data["severity"], &data["is_severe"]), (&json!("critical"), &json!(true)));
        // The world's clock stands at the beginning of 2026.
        assert_eq!(world.records(TICKET)[0].props["due_at"], "2026-01-01T01:00:00.000Z");
        let version = world.records(TICKET)[0].version;
        assert_eq!(triaged(&world, &id).await["severity"], "critical");
        assert_eq!(world.records(TICKET)[0].version, version);
    }

    #[tokio::test]
    async fn the_third_open_ticket_of_a_requester_is_more_severe_and_others_do_not_count() {
        let world = World::new();
        for words in ["The mouse sticks", "The screen flickers often"] {
            ticket(&world, "ops@bluefern.example", "incident", words).await;
        }
        let third = ticket(&world, "ops@bluefern.example", "incident", "The headset is silent").await;
        let other = ticket(&world, "desk@bluefern.example", "incident", "The headset is silent").await;
        assert_eq!(triaged(&world, &third).await["severity"], "high");
        assert_eq!(triaged(&world, &other).await["severity"], "normal");
    }

    #[tokio::test]
    async fn what_a_person_has_set_is_not_lowered() {
        let world = World::new();
        let id = ticket(&world, "ops@bluefern.example", "question", "How do I print?").await;
        let record = world.records(TICKET).remove(0);
        let raised = change::update(&record, fields([("severity", json!("high"))]), Vec::new());
        world.write(&ToolOutcome { records: vec![raised], ..ToolOutcome::default() });
        assert_eq!(triaged(&world, &id).await["severity"], "high");
    }

    #[tokio::test]
    async fn a_ticket_that_there_is_not_is_said_so() {
        let args = json!({
            "ticket_id": "0198c1de-7c00-7000-8000-000000000001",
            "due_hours": {"low": 72, "normal": 24, "high": 4, "critical": 1}
        });
        let failure = World::new().call(&triage(), args).await.unwrap_err();
        assert!(!failure.retryable && failure.to_string().contains("there is no ticket"), "{failure}");
    }
}
