//! What a run leaves behind, without what differs between any two runs: ids and times.

use futures::executor::block_on;
use kybern_core::id::TaskId;
use kybern_core::outbox::OutboxMessage;
use kybern_core::ports::{OutboxStore as _, RecordStore as _, TaskStore as _};
use kybern_core::record::Record;
use kybern_core::task::{JournalEntry, JournalRow};
use serde_json::{Value, json};

use super::life::World;

/// More than any run leaves.
const MANY: u32 = 200;

/// The end of a task, the tenant's records and the outbox.
#[derive(Debug, PartialEq)]
pub(super) struct Seen {
    task: Value,
    /// Each step that ended, in the plan's order, with how.
    steps: Vec<String>,
    records: Vec<Value>,
    outbox: Vec<Value>,
}

impl Seen {
    /// Looks at everything.
    pub(super) fn of(world: &World, id: TaskId) -> Self {
        block_on(look(world, id))
    }

    /// Fails where this is not the same.
    pub(super) fn is(&self, expected: &Self, what: &str) {
        assert_eq!((&self.task, &self.steps), (&expected.task, &expected.steps), "{what}: the task");
        assert_eq!(self.records, expected.records, "{what}: the records");
        assert_eq!(self.outbox, expected.outbox, "{what}: the outbox");
    }
}

pub(super) async fn outbox(world: &World) -> Vec<OutboxMessage> {
    world.store.outbox(world.actor.scope(), None, None, MANY).await.unwrap().items
}

async fn look(world: &World, id: TaskId) -> Seen {
    let (store, scope) = (&world.store, world.actor.scope());
    let task = store.task(scope, id).await.unwrap().unwrap();
    let journal = store.journal(scope, id, 0, 10_000).await.unwrap();
    let mut records = Vec::new();
    for (kind, _) in store.record_kinds(scope).await.unwrap() {
        records.extend(store.records(scope, &kind, None, MANY).await.unwrap().items);
    }
    records.sort_by(|one, other| (&one.kind, &one.key).cmp(&(&other.kind, &other.key)));
    let plain = Plain::new(id, &records);
    let mut messages: Vec<Value> = outbox(world).await.iter().map(|message| plain.message(message)).collect();
    messages.sort_by_key(Value::to_string);
    Seen {
        task: plain
            .of(json!({"status": task.status, "error": task.error, "result": task.result, "intent": task.intent})),
        steps: steps(&journal),
        records: records.iter().map(|record| plain.record(record)).collect(),
        outbox: messages,
    }
}

/// Every end of a step; a step that ended twice stands there twice.
fn steps(journal: &[JournalRow]) -> Vec<String> {
    let ended = |row: &JournalRow| match &row.entry {
        JournalEntry::Finished(outcome) => {
            Some(format!("{} {}", row.step.as_ref().map_or("-", |step| step.as_str()), outcome.status.as_str()))
        }
        _ => None,
    };
    journal.iter().filter_map(ended).collect()
}

/// Ids that no record has: of users, of requests, of those within keys.
fn without_ids(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == '-';
    let ids = text.split(|c: char| !is_part(c)).filter(|part| part.parse::<uuid::Uuid>().is_ok());
    ids.fold(text.to_owned(), |text, id| text.replace(id, "ID"))
}

/// Puts a name in the place of each id, and takes the times out.
struct Plain {
    names: Vec<(String, String)>,
}

impl Plain {
    fn new(task: TaskId, records: &[Record]) -> Self {
        let mut names = vec![(task.to_string(), "TASK".to_owned())];
        names.extend(records.iter().map(|record| (record.id.to_string(), format!("{} {}", record.kind, record.key))));
        Self { names }
    }

    fn of(&self, value: Value) -> Value {
        match value {
            Value::String(text) if text.parse::<jiff::Timestamp>().is_ok() => json!("TIME"),
            Value::String(text) => {
                let named = self.names.iter().fold(text, |text, (id, name)| text.replace(id, name));
                Value::String(without_ids(&named))
            }
            Value::Array(items) => items.into_iter().map(|item| self.of(item)).collect(),
            Value::Object(members) => members.into_iter().map(|(name, value)| (name, self.of(value))).collect(),
            other => other,
        }
    }

    fn record(&self, record: &Record) -> Value {
        let props = Value::Object(record.props.clone());
        self.of(json!({"kind": record.kind, "key": record.key, "version": record.version, "props": props}))
    }

    fn message(&self, message: &OutboxMessage) -> Value {
        let said = &message.message;
        self.of(json!({
            "channel": said.channel, "target": said.target, "key": said.key, "body": said.body,
            "status": message.status, "error": message.error, "of": message.task_id,
        }))
    }
}
