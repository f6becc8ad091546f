//! `helpdesk.open_ticket`: one open ticket for what one requester asks, however often they write.

use kybern_core::id::RecordId;
use kybern_core::ports::{StatelessTool, ToolContext};
use kybern_core::record::{Lookup, Record};
use kybern_core::tool::{Review, ToolFailure, ToolNeeds, ToolOutcome, ToolSpec};
use serde_json::{Map, Value, json};

use super::kinds::{self, ADDRESS, CATEGORIES, REQUESTER, TICKET};
use super::ticket::{self, OpenTicket};
use crate::args::{add, fields, text, text_or_state, texts};
use crate::{change, review};

/// Tasks and mails that a ticket names; what comes after them is not listed.
const MAX_LISTED: usize = 100;

/// The tool.
pub(super) fn open_ticket() -> StatelessTool {
    let text = json!({"type": ["string", "null"], "maxLength": 4000});
    let schema = json!({
        "type": "object",
        "properties": {
            "category": {"enum": CATEGORIES},
            "requester": {"type": ["string", "null"], "description": "an e-mail address or a telephone number"},
            "requester_name": text,
            "subject": text,
            "text": text,
            "product": text,
            "threads": {
                "type": ["array", "null"], "items": {"type": "string"}, "maxItems": MAX_LISTED,
                "description": "the Message-IDs of the mail and of those that it answers"
            }
        },
        "required": ["category"],
        "additionalProperties": false
    });
    let description = "Opens a ticket, or finds the open one of the same requester in the same thread or the same words. \
                       Asks a person who asks, where that is not known.";
    let spec = ToolSpec {
        needs: ToolNeeds { task: true, records: true, ..ToolNeeds::default() },
        ..ToolSpec::local("helpdesk.open_ticket", description, schema).shown(
            &["ticket", "support", "incident"],
            json!({"category": "incident", "requester": "ops@example.com", "subject": "Printer", "text": "It jams."}),
        )
    };
    StatelessTool::new(spec, |context, args| Box::pin(call(context, args)))
}

async fn call(context: &ToolContext, args: Map<String, Value>) -> Result<ToolOutcome, ToolFailure> {
    let written = text_or_state(&args, &context.state, &["requester"]);
    let Some(requester) = written.and_then(|written| kinds::address(&written)) else {
        return Ok(ToolOutcome::ask(who_asks()));
    };
    let threads: Vec<String> = texts(&args, "threads").into_iter().take(MAX_LISTED).collect();
    let words = format!("{} {}", text(&args, "subject").unwrap_or_default(), text(&args, "text").unwrap_or_default());
    let mut outcome = ToolOutcome::default();
    let found = match ticket::open_ticket(context, &requester, &threads, &words).await? {
        OpenTicket::Absent(key) => {
            let requester_id = keep_requester(context, &args, &requester, &mut outcome).await?;
            create(context, &args, (requester_id, &requester), &key, &threads, &mut outcome)
        }
        OpenTicket::Found(ticket) => more(context, &ticket, threads, &mut outcome),
    };
    outcome.summary = match (found.is_new, found.is_reopened) {
        (true, _) => "opened a ticket",
        (false, true) => "opened a ticket again that was answered",
        (false, false) => "found the open ticket",
    }
    .to_owned();
    outcome.data = fields([
        ("ticket_id", json!(found.id)),
        ("ticket_number", json!(ticket::number(found.id))),
        ("ticket_is_new", json!(found.is_new)),
        ("ticket_needs_reply", json!(found.needs_reply)),
    ]);
    Ok(outcome)
}

fn who_asks() -> Review {
    let reason = "nothing in the message says who asks: no sender, no address and no telephone number".to_owned();
    let requester = json!({"type": "string", "minLength": 3, "description": "an e-mail address or a telephone number"});
    review::form("Who asks?", reason, json!({"requester": requester}), Value::Null)
}

/// The record of whoever asks, made where there is none.
async fn keep_requester(
    context: &ToolContext,
    args: &Map<String, Value>,
    requester: &str,
    outcome: &mut ToolOutcome,
) -> Result<RecordId, ToolFailure> {
    let name = text(args, "requester_name");
    if let Some(known) = context.records()?.record(context.scope, REQUESTER, requester).await? {
        let wanted = if text(&known.props, "name").is_none() { fields([("name", json!(name))]) } else { Map::new() };
        change::settle(outcome, &known, change::difference(&known, wanted), Vec::new());
        return Ok(known.id);
    }
    let props = fields([("address", json!(requester)), ("name", json!(name))]);
    let made = change::create(context, REQUESTER, requester, props, vec![Lookup::shared(ADDRESS, requester)]);
    let id = made.put.id;
    outcome.records.push(made);
    Ok(id)
}

/// The ticket that a message is about.
struct FoundTicket {
    id: RecordId,
    is_new: bool,
    /// It was answered, and its requester writes again.
    is_reopened: bool,
    /// This task is the one that replies: it has opened the ticket, or opened it again.
    needs_reply: bool,
}

fn create(
    context: &ToolContext,
    args: &Map<String, Value>,
    (requester_id, requester): (RecordId, &str),
    key: &str,
    threads: &[String],
    outcome: &mut ToolOutcome,
) -> FoundTicket {
    let tasks: Vec<String> = context.task.iter().map(ToString::to_string).collect();
    let props = fields([
        ("status", json!("open")),
        ("category", json!(text(args, "category"))),
        ("requester_id", json!(requester_id)),
        ("requester", json!(requester)),
        ("subject", json!(text(args, "subject"))),
        ("text", json!(text(args, "text"))),
        ("product", json!(text(args, "product"))),
        ("opened_at", json!(context.now)),
        ("threads", json!(threads)),
        ("tasks", json!(tasks)),
    ]);
    let mut made = change::create(context, TICKET, key, props, ticket::lookups(requester_id, threads));
    let id = made.put.id;
    made.put.props.insert("number".to_owned(), json!(ticket::number(id)));
    outcome.records.push(made);
    FoundTicket { id, is_new: true, is_reopened: false, needs_reply: true }
}

/// Notes a further message. A second call for the same task changes nothing.
fn more(context: &ToolContext, known: &Record, new: Vec<String>, outcome: &mut ToolOutcome) -> FoundTicket {
    let (mut threads, mut tasks) = (texts(&known.props, "threads"), texts(&known.props, "tasks"));
    let task = context.task.map(|task| task.to_string());
    let is_told = task.as_ref().is_some_and(|task| tasks.contains(task));
    let opened_it = task.is_some() && tasks.first() == task.as_ref() && text(&known.props, "replied_at").is_none();
    add(&mut threads, new);
    add(&mut tasks, task);
    threads.truncate(MAX_LISTED);
    tasks.truncate(MAX_LISTED);
    let status = text(&known.props, "status").unwrap_or_default();
    let is_reopened = !is_told && matches!(status.as_str(), "answered" | "waiting");
    let status = if is_reopened { "open".to_owned() } else { status };
    let lookups = ticket::thread_lookups(&threads);
    let wanted = fields([("threads", json!(threads)), ("tasks", json!(tasks)), ("status", json!(status))]);
    change::settle(outcome, known, change::difference(known, wanted), lookups);
    FoundTicket { id: known.id, is_new: false, is_reopened, needs_reply: is_reopened || opened_it }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::World;

    fn asks(requester: &str, text: &str, threads: &[&str]) -> Value {
        json!({"category": "incident", "requester": requester, "subject": "Printer", "text": text, "threads": threads})
    }

    async fn open(world: &World, args: Value) -> Map<String, Value> {
        world.run(&open_ticket(), args).await
    }

    #[tokio::test]
    async fn the_same_words_of_one_requester_are_one_ticket_while_it_is_open() {
        let world = World::new();
        let first = open(&world, asks("Ops@bluefern.example", "It jams.", &["a@x.example"])).await;
        let again = open(&world, asks("ops@bluefern.example", "it  JAMS", &["b@x.example"])).await;
        assert_eq!((&first["ticket_is_new"], &again["ticket_is_new"]), (&json!(true), &json!(false)));
        assert_eq!(first["ticket_id"], again["ticket_id"]);
        let other = open(&world, asks("desk@bluefern.example", "It jams.", &[])).await;
        assert_ne!(first["ticket_id"], other["ticket_id"], "somebody else's printer");
        assert_eq!(world.records(TICKET).len(), 2);
        assert_eq!(world.records(REQUESTER).len(), 2);
        assert_eq!(world.records(TICKET)[0].props["threads"], json!(["a@x.example", "b@x.example"]));
    }

    #[tokio::test]
    async fn an_answer_in_the_thread_finds_its_ticket_and_nobody_elses_does() {
        let world = World::new();
        let first = open(&world, asks("ops@bluefern.example", "It jams.", &["a@x.example"])).await;
        let answer = open(&world, asks("ops@bluefern.example", "Still.", &["c@x.example", "a@x.example"])).await;
        assert_eq!(first["ticket_id"], answer["ticket_id"]);
        let stranger = open(&world, asks("spy@elsewhere.example", "Still.", &["d@x.example", "a@x.example"])).await;
        assert_ne!(first["ticket_id"], stranger["ticket_id"]);
    }

    #[tokio::test]
    async fn what_was_closed_begins_anew_and_what_was_answered_goes_on() {
        let world = World::new();
        let first = open(&world, asks("ops@bluefern.example", "It jams.", &[])).await;
        let change = |status: &str, tasks: Value| {
            let ticket = world.records(TICKET).remove(0);
            let props = fields([("status", json!(status)), ("tasks", tasks), ("replied_at", json!(ticket.updated_at))]);
            let update = change::update(&ticket, props, Vec::new());
            world.write(&ToolOutcome { records: vec![update], ..ToolOutcome::default() });
        };
        let this_task = world.records(TICKET)[0].props["tasks"].clone();
        change("answered", this_task);
        let same_task = open(&world, asks("ops@bluefern.example", "It jams.", &[])).await;
        assert_eq!(same_task["ticket_needs_reply"], false, "a second call of the same step changes nothing");
        change("answered", json!(["of another task"]));
        let next_task = open(&world, asks("ops@bluefern.example", "It jams.", &[])).await;
        assert_eq!((&next_task["ticket_is_new"], &next_task["ticket_needs_reply"]), (&json!(false), &json!(true)));
        assert_eq!(world.records(TICKET)[0].props["status"], "open");
        change("closed", json!([]));
        let next = open(&world, asks("ops@bluefern.example", "It jams.", &[])).await;
        assert_ne!(first["ticket_id"], next["ticket_id"]);
    }

    #[tokio::test]
    async fn a_person_says_who_asks_where_nothing_does() {
        let mut world = World::new();
        let review = world.call(&open_ticket(), asks("somebody", "It jams.", &[])).await.unwrap().review.unwrap();
        let answer = json!({"requester": "ops@bluefern.example"});
        assert!(jsonschema::is_valid(&review.schema, &answer), "{}", review.schema);
        world.state(answer);
        let data = open(&world, json!({"category": "question", "requester": null, "text": "It jams."})).await;
        assert_eq!(data["ticket_is_new"], true);
        assert_eq!(world.records(TICKET)[0].props["requester"], "ops@bluefern.example");
    }
}
