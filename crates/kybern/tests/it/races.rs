//! Many requests at once over real HTTP: on SQLite to one process, on PostgreSQL to two that share the database.

mod callbacks;
mod cancels;
mod deliveries;
mod keys;
mod plans;
mod reviews;
mod revocations;

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::server::client::{Ask, text};
use crate::server::{Client, Server, Site};

/// The processes that are asked in turn.
struct Crew {
    site: Site,
    _servers: Vec<Server>,
    clients: Vec<Client>,
}

impl Crew {
    fn new(site: Site, workers: usize) -> Self {
        // Nobody dies here, so no lease has to end soon.
        let site = site.with("KYBERN_WORKER__LEASE_MS", "60000").with("KYBERN_WORKER__HEARTBEAT_MS", "10000");
        let servers: Vec<Server> = (0..workers).map(|_| site.start()).collect();
        let clients = servers.iter().map(Server::client).collect();
        Self { site, _servers: servers, clients }
    }

    /// One process on a file.
    fn sqlite() -> Self {
        Self::new(Site::sqlite(), 1)
    }

    /// Two processes on a database of their own; `None` when there is no server.
    fn postgres() -> Option<Self> {
        Some(Self::new(Site::postgres()?, 2))
    }

    /// The client for the `n`th request.
    fn client(&self, n: usize) -> &Client {
        &self.clients[n % self.clients.len()]
    }

    /// Sends the same or different requests at once, and gives the answers in the order of the requests.
    async fn at_once(&self, asks: impl IntoIterator<Item = Ask>) -> Vec<(u16, Value)> {
        let asks: Vec<Ask> = asks.into_iter().collect();
        let answers = asks.iter().enumerate().map(|(n, ask)| self.client(n).send(ask));
        join_all(answers).await.into_iter().map(|(status, answer)| (status.as_u16(), answer)).collect()
    }

    /// Another tenant's admin.
    async fn stranger(&self, name: &str) -> Client {
        let tenant = self.client(0).post("/api/admin/tenants", &json!({"name": name})).await;
        self.client(0).with_key(tenant["adminKey"].as_str().unwrap())
    }

    /// Stores a plan with these steps.
    async fn plan(&self, key: &str, steps: Value) {
        self.client(0).post("/api/plans", &json!({"key": key, "intentKey": key, "steps": steps})).await;
    }
}

/// How often each status was answered.
fn tally(answers: &[(u16, Value)]) -> BTreeMap<u16, usize> {
    let mut tally = BTreeMap::new();
    for (status, _) in answers {
        *tally.entry(*status).or_default() += 1;
    }
    tally
}

/// How often the audit names an action for a task.
async fn audited(client: &Client, action: &str, task: &str) -> usize {
    let events = client.list("/api/audit").await;
    let about = |event: &&Value| event["action"] == action && event.to_string().contains(task);
    events.iter().filter(about).count()
}

/// A submission that walks a plan.
fn walk(plan: &str) -> Value {
    json!({"input": "go", "planKey": plan})
}

/// Submits a task, and gives its id.
async fn submit(client: &Client, plan: &str) -> String {
    text(&client.post("/api/tasks", &walk(plan)).await["id"])
}

/// What a task's log holds of a kind.
async fn logged(client: &Client, id: &str, kind: &str) -> Vec<Value> {
    let log = client.list(&format!("/api/tasks/{id}/log")).await;
    log.into_iter().filter(|entry| entry["eventType"] == kind).collect()
}
