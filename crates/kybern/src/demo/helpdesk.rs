//! `kybern demo helpdesk`: the messages of a helpdesk. A ticket is escalated, a person answers a question and lets the
//! reply go, a message that comes twice makes no second ticket, and one that nobody understands goes to a person.

use anyhow::Context as _;
use kybern_core::actor::Actor;
use kybern_core::outbox::OutboxMessage;
use kybern_core::record::Record;
use kybern_core::task::{TaskStatus, WaitKind};
use kybern_core::time::Millis;
use kybern_engine::Engine;
use kybern_engine::record::RecordFilter;
use kybern_engine::task::ReviewRequest;
use serde_json::{Value, json};

use super::samples::{Sample, SampleChannel, sample};
use super::{FinishedMessage, PATIENCE, actor, report, verdict};
use crate::output::{Cell, Screen, Table};

/// Its messages, in the order in which they come in. The first one is delivered a second time after the fifth.
pub(super) const SAMPLES: &[Sample] = &[
    sample!(Mail, "helpdesk", "01-outage.eml"),
    sample!(Mail, "helpdesk", "02-printer.eml"),
    sample!(Mail, "helpdesk", "03-question.eml"),
    sample!(Mail, "helpdesk", "04-access.eml"),
    sample!(Mail, "helpdesk", "05-outage-sent-again.eml"),
    sample!(Mail, "helpdesk", "01-outage.eml"),
    sample!(Form, "helpdesk", "06-form.json"),
    sample!(Sms, "helpdesk", "07-text-message.txt"),
    sample!(Mail, "helpdesk", "08-unclear.eml"),
];

/// The message that a person answers, and what they write.
const QUESTION: &str = "03-question.eml";
const ANSWER: &str =
    "Open Settings, then Automatic replies, and write one for \"People outside my organisation\" only.";
/// The kind of the tickets.
const TICKET: &str = "helpdesk.ticket";
/// The most tickets and mails that are listed.
const LISTED: u32 = 50;

/// What comes after the messages: a person answers, then the report. Whether all of it went as it should.
pub(super) async fn show(
    engine: &Engine,
    done: &mut [FinishedMessage],
    took: Millis,
    screen: &mut Screen,
) -> anyhow::Result<bool> {
    let (person, paint) = (actor(engine), screen.paint());
    let answered = answer(engine, &person, done, screen).await?;
    let tickets = engine.records().list(person.scope(), TICKET, &RecordFilter::default(), None, LISTED).await?.items;
    let mails = engine.outbox().list(&person, None, LISTED).await?.items;
    for (title, table) in [
        ("Tickets", table_of_tickets(&tickets)),
        ("Outbox: nothing leaves this machine", table_of_mails(&mails)),
        ("Waits for a person", report::waits(done)),
    ] {
        screen.line(format!("\n{}\n\n{}", paint.bold(title), table.render(paint)));
    }
    let proofs = report::proofs(engine, &person, done, took).await?;
    screen.line(format!("\n{} tickets of {}", tickets.len(), proofs.text));
    Ok(proofs.sound && answered)
}

/// A person writes the answer to the question, reads the reply, and lets it go.
async fn answer(
    engine: &Engine,
    person: &Actor,
    done: &mut [FinishedMessage],
    screen: &mut Screen,
) -> anyhow::Result<bool> {
    let paint = screen.paint();
    let question = done.iter_mut().find(|done| done.sample.name == QUESTION).context("the question did not come in")?;
    screen.line(paint.bold(&format!("A person answers {QUESTION}")));
    let corrections = json!({"answer": ANSWER}).as_object().cloned().unwrap_or_default();
    for (says, request) in [
        (format!("writes: {ANSWER}"), ReviewRequest { corrections, ..ReviewRequest::default() }),
        ("reads the reply, and says yes".to_owned(), ReviewRequest::default()),
    ] {
        if question.task.status != TaskStatus::NeedsReview {
            break;
        }
        if let Some(wait) = question.task.waits.first().filter(|wait| wait.kind == WaitKind::Confirmation) {
            let body = wait.details.pointer("/args/body").and_then(Value::as_str).unwrap_or_default();
            screen.line(paint.dim(&body.trim_end().lines().map(|line| format!("    {line}\n")).collect::<String>()));
        }
        screen.line(format!("  {} {says}", paint.good("→")));
        engine.tasks().review(person, question.task.id, request).await?;
        question.task = engine.tasks().wait_for(person, question.task.id, PATIENCE).await?;
        screen.line(format!("  {}", verdict(&question.task, paint)));
    }
    Ok(question.task.status == TaskStatus::Completed)
}

fn table_of_tickets(tickets: &[Record]) -> Table {
    let props = ["number", "status", "severity", "due_at", "requester", "subject"];
    let mut table = Table::new(&["TICKET", "STATUS", "SEVERITY", "DUE", "REQUESTER", "SUBJECT"]);
    for ticket in tickets {
        table.row(props.map(|name| Cell::from(ticket.props.get(name).and_then(Value::as_str).unwrap_or_default())));
    }
    table
}

fn table_of_mails(mails: &[OutboxMessage]) -> Table {
    let mut table = Table::new(&["TO", "STATUS", "SUBJECT"]);
    // The oldest first, as they were written.
    for mail in mails.iter().rev() {
        let subject = mail.message.body.get("subject").and_then(Value::as_str).unwrap_or_default();
        table.row([mail.message.target.as_str(), mail.status.as_str(), subject].map(Cell::from));
    }
    table
}
