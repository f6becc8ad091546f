//! The work of a round: everything that can come in.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::clock::Stopwatch;
use crate::http::{text, texts};
use crate::server::Server;

/// The plan of the tasks that name one.
const PLAN: &str = r#"{"key":"soak.plan","steps":[
    {"id":"note","tool":"core.set","args":{"note":"{{ task.input }}"}},
    {"id":"each","kind":"loop","over":[1,2,3],"steps":[{"id":"one","tool":"core.noop","args":{}}]},
    {"id":"rest","tool":"core.wait","args":{"ms":20}}]}"#;
/// How often it is looked whether all is over. The server counts its tasks anew about as often.
const LOOK: Duration = Duration::from_millis(500);
/// Statuses in which something is still to be done, but by nobody but the server.
const BUSY: [&str; 6] = ["pending", "extracting", "detecting_intent", "planning", "executing", "delegated"];

/// What the rounds need.
pub(super) fn prepare(server: &Server) -> Result<()> {
    server.post("/api/plans", PLAN).map(drop)
}

/// Hands in the work of a round, and answers how many tasks that makes.
pub(super) fn hand_in(server: &Server, round: usize, mails: u32) -> Result<u64> {
    let mut tasks = 0;
    for n in 0..mails {
        let name = format!("{round}-{n}");
        mail(server, &name)?;
        tasks += 1;
        if n % 2 == 0 {
            let body = format!(r#"{{"event":"lead.created","company":"Pinewood Freight","number":"{name}"}}"#);
            let delivery = format!("x-delivery-id: {name}\r\n");
            server.take("POST", "/api/inbound/webhook/soak", "application/json", &delivery, body.as_bytes())?;
            server.post("/api/tasks", &format!(r#"{{"input":"{name}","planKey":"soak.plan"}}"#))?;
            tasks += 2 + chat(server, &name)?;
        }
    }
    Ok(tasks)
}

fn mail(server: &Server, name: &str) -> Result<()> {
    let lines = [
        "From: Someone <someone@example.com>".to_owned(),
        "To: intake@example.com".to_owned(),
        format!("Subject: Loss runs for policy {name}"),
        format!("Message-ID: <{name}@example.com>"),
        "MIME-Version: 1.0".to_owned(),
        "Content-Type: text/plain; charset=utf-8".to_owned(),
        String::new(),
        format!("Please send the loss runs of the last five years. Our reference is {name}.\r\n{}", "x".repeat(2_000)),
    ];
    server.take("POST", "/api/inbound/email", "message/rfc822", "", lines.join("\r\n").as_bytes()).map(drop)
}

/// A chat with one message, whose answer is waited for.
fn chat(server: &Server, name: &str) -> Result<u64> {
    let chat = server.post("/api/chats", r#"{"agent":"assistant"}"#)?;
    let id = text(&chat, "id").context("a chat has no id")?;
    server.post(&format!("/api/chats/{id}/messages"), &format!(r#"{{"content":"What is new about {name}?"}}"#))?;
    Ok(1)
}

/// Waits until the server has nothing to do. What asks a person is cancelled: nobody is there who could answer.
pub(super) fn wait_for_all(server: &Server, patience: Duration) -> Result<()> {
    let watch = Stopwatch::start();
    loop {
        let (_, metrics) = server.get("/metrics")?;
        let count = |status: &str| tasks(&metrics, status);
        let busy: u64 = BUSY.into_iter().map(count).sum();
        if busy == 0 && count("needs_review") == 0 {
            return Ok(());
        }
        if watch.elapsed() > patience {
            bail!("{busy} tasks are still not over after {} s", patience.as_secs());
        }
        let asking = server.take("GET", "/api/tasks?status=needs_review&limit=100", "application/json", "", b"")?;
        for id in texts(&asking, "id").into_iter().filter(|id| id.len() == 36) {
            // It may have ended meanwhile.
            drop(server.post(&format!("/api/tasks/{id}/cancel"), ""));
        }
        std::thread::sleep(LOOK);
    }
}

/// How many tasks have that status.
fn tasks(metrics: &str, status: &str) -> u64 {
    let mark = format!("kybern_tasks{{status=\"{status}\"}} ");
    metrics.lines().find_map(|line| line.strip_prefix(&mark)?.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_by_status() {
        let metrics =
            "# TYPE kybern_tasks gauge\nkybern_tasks{status=\"pending\"} 3\nkybern_tasks{status=\"failed\"} 2\n";
        assert_eq!((tasks(metrics, "pending"), tasks(metrics, "executing")), (3, 0));
    }
}
