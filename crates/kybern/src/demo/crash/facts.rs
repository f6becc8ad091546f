//! What can be counted after the storm: what was acknowledged, what the server says of it, and what the world around it
//! has seen.

use kybern_core::time::Timestamp;
use serde_json::Value;

use super::world::{AskedQuestion, Delivery, World};
use crate::cli::list;
use crate::client::{Client, PostedBody};
use crate::output::field;

/// A message that the server has acknowledged with a task's id.
#[derive(Clone, Debug)]
pub(super) struct Acknowledged {
    /// The message: its Message-ID, or the key under which an order was submitted.
    pub(super) message: String,
    pub(super) is_mail: bool,
    /// The task that the answer named.
    pub(super) task: String,
    /// How often it had to be sent until somebody acknowledged it.
    pub(super) tries: usize,
}

/// An entry of a task's log.
#[derive(Clone, Debug)]
pub(super) struct LogLine {
    pub(super) event: String,
    pub(super) step: String,
    pub(super) at: Timestamp,
}

/// A task, as the server tells of it.
#[derive(Clone, Debug)]
pub(super) struct TaskReport {
    pub(super) id: String,
    pub(super) status: String,
    /// Whether another task has begun it.
    pub(super) is_child: bool,
    pub(super) log: Vec<LogLine>,
    /// Whether its journal alone arrives at the same end; of completed ones.
    pub(super) replays: bool,
}

/// Everything that the proofs are made of.
#[derive(Clone, Debug, Default)]
pub(super) struct CrashFacts {
    /// How often the server was killed.
    pub(super) kills: usize,
    pub(super) taken: Vec<Acknowledged>,
    pub(super) tasks: Vec<TaskReport>,
    pub(super) questions: Vec<AskedQuestion>,
    pub(super) deliveries: Vec<Delivery>,
    /// The messages of the outbox that mails have made: task, channel, receiver and subject of each.
    pub(super) outbox: Vec<String>,
    /// Whether the audit chain is whole, and how long it is.
    pub(super) audit: (bool, String),
}

impl CrashFacts {
    /// Asks the server that lives now, and the world.
    pub(super) async fn gather(
        client: &Client,
        world: &World,
        kills: usize,
        taken: Vec<Acknowledged>,
    ) -> anyhow::Result<Self> {
        let mut tasks = Vec::new();
        for task in list::all(client, "/api/tasks").await? {
            tasks.push(told(client, &task).await?);
        }
        let outbox = list::all(client, "/api/outbox").await?;
        let outbox = outbox
            .iter()
            .filter(|message| field(message, "channel") == "email")
            .map(|message| ["taskId", "to", "subject"].map(|name| field(message, name)).join(" "));
        let audit = client.get("/api/audit/verify", &[]).await?.value;
        let (questions, deliveries) = world.seen();
        Ok(Self {
            kills,
            taken,
            tasks,
            questions,
            deliveries,
            outbox: outbox.collect(),
            audit: (audit["valid"] == true, field(&audit, "length")),
        })
    }

    pub(super) fn task(&self, id: &str) -> Option<&TaskReport> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// The orders, each with the id of its task.
    pub(super) fn orders(&self) -> impl Iterator<Item = (&str, &str)> {
        self.taken.iter().filter(|taken| !taken.is_mail).map(|taken| (taken.message.as_str(), taken.task.as_str()))
    }
}

async fn told(client: &Client, task: &Value) -> anyhow::Result<TaskReport> {
    let (id, status) = (field(task, "id"), field(task, "status"));
    let log = list::all(client, &format!("/api/tasks/{id}/log")).await?;
    let entry = |entry: &Value| -> anyhow::Result<LogLine> {
        let at =
            field(entry, "createdAt").parse().map_err(|_| anyhow::anyhow!("a log entry without its time: {entry}"))?;
        Ok(LogLine { event: field(entry, "eventType"), step: field(entry, "stepId"), at })
    };
    let log = log.iter().map(entry).collect::<anyhow::Result<_>>()?;
    let replays = match status.as_str() {
        "completed" => {
            let replayed = client.post(&format!("/api/tasks/{id}/replay"), PostedBody::Empty, None).await?.value;
            replayed["matches"] == true
        }
        _not_ended => false,
    };
    Ok(TaskReport { id, status, is_child: task["parentTaskId"].is_string(), log, replays })
}
