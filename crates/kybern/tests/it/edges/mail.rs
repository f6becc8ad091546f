//! Mail, in and out, with a real mail server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

use serde_json::json;

use super::{plan, submit};
use crate::samples;
use crate::server::Site;
use crate::server::client::{text, until};

/// The mail server of the tests.
pub(super) struct Post {
    smtp: String,
    imap: String,
    password: String,
}

impl Post {
    /// `None`, said aloud, when there is none, which is a failure in CI.
    pub(super) fn office() -> Option<Self> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let found = (|| {
            Some(Self {
                smtp: variable("KYBERN_TEST_SMTP_ADDR")?,
                imap: variable("KYBERN_TEST_IMAP_ADDR")?,
                password: variable("KYBERN_TEST_MAIL_PASSWORD")?,
            })
        })();
        if found.is_none() {
            assert_ne!(variable("CI").as_deref(), Some("true"), "CI needs KYBERN_TEST_SMTP_ADDR and its siblings");
            eprintln!("skipped: no mail server, see KYBERN_TEST_SMTP_ADDR");
        }
        found
    }

    /// A place whose mail goes out by this server, and which polls that mailbox.
    fn site(&self, mailbox: &str) -> Site {
        self.on(Site::sqlite(), mailbox)
    }

    /// The same for this place.
    pub(super) fn on(&self, site: Site, mailbox: &str) -> Site {
        let (smtp_host, smtp_port) = self.smtp.rsplit_once(':').unwrap();
        let (imap_host, imap_port) = self.imap.rsplit_once(':').unwrap();
        let settings = [
            ("SMTP__HOST", smtp_host),
            ("SMTP__PORT", smtp_port),
            ("SMTP__TLS", "none"),
            ("SMTP__FROM", "kybern@agency.example"),
            ("IMAP__HOST", imap_host),
            ("IMAP__PORT", imap_port),
            ("IMAP__TLS", "none"),
            ("IMAP__USERNAME", mailbox),
            ("IMAP__PASSWORD", &self.password),
            ("IMAP__POLL_MS", "1000"),
        ];
        settings.iter().fold(site, |site, (name, value)| site.with(&format!("KYBERN_{name}"), value))
    }

    /// Hands a sample over as a mail server does. The test's server sorts by the header, so `To` is the mailbox.
    pub(super) fn send(&self, to: &str, message: &[u8]) {
        let mut stream = TcpStream::connect(&self.smtp).unwrap();
        let mut answers = BufReader::new(stream.try_clone().unwrap());
        let mut answer = |expected: &str| {
            loop {
                let mut line = String::new();
                assert!(answers.read_line(&mut line).unwrap() > 0, "the mail server hung up");
                assert!(line.starts_with(expected), "{line}, expected {expected}");
                if line.as_bytes().get(3) != Some(&b'-') {
                    break;
                }
            }
        };
        answer("220");
        let commands = ["HELO client.example", "MAIL FROM:<office@juniperflats.example>", &format!("RCPT TO:<{to}>")];
        for command in commands {
            stream.write_all(format!("{command}\r\n").as_bytes()).unwrap();
            answer("250");
        }
        stream.write_all(b"DATA\r\n").unwrap();
        answer("354");
        for line in message.split(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let header = format!("To: {to}").into_bytes();
            let line = if line == b"To: intake@ironwoodlane.example" { &header[..] } else { line };
            stream.write_all(if line.starts_with(b".") { b"." } else { b"" }).unwrap();
            stream.write_all(line).unwrap();
            stream.write_all(b"\r\n").unwrap();
        }
        stream.write_all(b".\r\n").unwrap();
        answer("250");
    }
}

pub(super) fn mailbox(name: &str) -> String {
    format!("{name}-{}@kit.test", std::process::id())
}

#[tokio::test]
async fn a_mail_in_the_mailbox_becomes_a_task_once() {
    let Some(post) = Post::office() else { return };
    let mailbox = mailbox("intake");
    let site = post.site(&mailbox);
    let samples = samples::all();
    let first = samples.iter().find(|sample| sample.file.starts_with("mail/01-")).unwrap();
    let again = samples.iter().find(|sample| sample.file.starts_with("mail/13-")).unwrap();
    post.send(&mailbox, &first.ask.body);
    let mut server = site.start();
    let client = server.client();
    let tasks = until("the message is a task", || async {
        let tasks = client.list("/api/tasks").await;
        (!tasks.is_empty()).then_some(tasks)
    })
    .await;
    let id = text(&tasks[0]["id"]);
    let task = client.rest(&id).await;
    assert_eq!((&task["status"], &task["channel"]), (&json!("completed"), &json!("email")));
    // The second delivery, and a second look at the mailbox after a kill, are the same task. A message that comes
    // after them shows that they were looked at.
    post.send(&mailbox, &again.ask.body);
    server.kill();
    let server = site.start();
    let client = server.client();
    let lead = samples.iter().find(|sample| sample.file.starts_with("mail/07-")).unwrap();
    post.send(&mailbox, &lead.ask.body);
    let tasks = until("the last message is a task", || async {
        let tasks = client.list("/api/tasks").await;
        (tasks.len() > 1).then_some(tasks)
    })
    .await;
    assert_eq!(tasks.len(), 2, "{tasks:?}");
    let newest = client.rest(&text(&tasks[0]["id"])).await;
    assert_eq!(newest["detectedIntent"], "insurance.new_lead");
    assert!(server.said().contains("duplicate=true"), "{}", server.said());
}

/// What one Kybern sends, another one, which polls the receiver's mailbox, takes in.
#[tokio::test]
async fn a_notice_is_delivered_by_smtp() {
    let Some(post) = Post::office() else { return };
    let (outgoing, incoming) = (post.site(&mailbox("sender")), post.site(&mailbox("receiver")));
    let (sender, receiver) = (outgoing.start(), incoming.start());
    let client = sender.client();
    let args =
        json!({"to": mailbox("receiver"), "subject": "Grüße from step 1", "body": "The quote is ready.\n.\nEnd"});
    plan(&client, "test.notify", json!([{"id": "tell", "tool": "core.notify", "args": args}])).await;
    let id = submit(&client, "test.notify").await;
    assert_eq!(client.rest(&id).await["status"], "completed");
    until("the notice counts as sent", || async {
        let outbox = client.list("/api/outbox").await;
        assert_eq!(outbox.len(), 1);
        (outbox[0]["status"] == "sent").then_some(())
    })
    .await;
    let arrived = until("the notice arrives", || async { receiver.client().list("/api/tasks").await.pop() }).await;
    let arrived = receiver.client().get(&format!("/api/tasks/{}", text(&arrived["id"]))).await;
    assert_eq!(arrived["payload"]["subject"], "Grüße from step 1");
    assert_eq!(arrived["payload"]["from"]["address"], "kybern@agency.example");
    assert!(text(&arrived["input"]).contains("The quote is ready."), "{}", arrived["input"]);
}

#[tokio::test]
async fn a_mail_server_that_is_away_costs_nothing_but_time() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let away = Post { smtp: closed.clone(), imap: closed, password: "secret".to_owned() };
    let site = away.site("nobody@kit.test");
    let server = site.start();
    let client = server.client();
    let args = json!({"to": "a@agency.example", "subject": "s", "body": "b"});
    plan(&client, "test.notify", json!([{"id": "tell", "tool": "core.notify", "args": args}])).await;
    let id = submit(&client, "test.notify").await;
    assert_eq!(client.rest(&id).await["status"], "completed");
    until("the failed try is noted", || async {
        let outbox = client.list("/api/outbox").await;
        (outbox[0]["status"] == "pending" && outbox[0]["error"].is_string()).then_some(())
    })
    .await;
}
