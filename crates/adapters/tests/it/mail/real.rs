//! Against the mail server that the test command starts.

use bytes::Bytes;
use kybern_adapters::clock::UuidV7Ids;
use kybern_adapters::mail::imap::{Fetched, ImapConfig, ImapError, ImapPosition, MAX_BATCH, Mailbox, MessageMark};
use kybern_core::mail::OutgoingMail;
use kybern_core::ports::{IdSource as _, MailSender as _};
use mail_parser::MessageParser;

use super::{imap_config, mail, smtp};

/// A server and a mailbox that nobody else uses.
struct Real {
    smtp: String,
    imap: String,
    password: String,
    user: String,
}

/// `None` when no server was started: a skip for a person, a failure for CI.
fn real() -> Option<Real> {
    let variable = |name: &str| std::env::var(name).ok();
    let found = (|| {
        let user = format!("it-{}@kit.test", UuidV7Ids.next());
        let smtp = variable("KYBERN_TEST_SMTP_ADDR")?;
        let imap = variable("KYBERN_TEST_IMAP_ADDR")?;
        Some(Real { smtp, imap, password: variable("KYBERN_TEST_MAIL_PASSWORD")?, user })
    })();
    if found.is_none() {
        assert_ne!(
            variable("CI").as_deref(),
            Some("true"),
            "CI needs KYBERN_TEST_SMTP_ADDR, _IMAP_ADDR, _MAIL_PASSWORD"
        );
        eprintln!("skipped: no mail server, see KYBERN_TEST_SMTP_ADDR");
    }
    found
}

impl Real {
    fn config(&self) -> ImapConfig {
        imap_config(&self.imap, &self.user, &self.password)
    }

    fn mailbox(&self) -> Mailbox {
        Mailbox::new(self.config()).unwrap()
    }

    async fn send(&self, ids: &[&str]) {
        let smtp = smtp(&self.smtp);
        for id in ids {
            smtp.send(&mail(&self.user, &format!("{id}@kybern.test"))).await.unwrap();
        }
    }
}

/// Asks until `count` messages are there: the server delivers a moment after it accepts.
async fn fetch(mailbox: &Mailbox, after: Option<ImapPosition>, count: usize) -> Vec<(ImapPosition, Fetched)> {
    let arrival = async {
        loop {
            let batch = mailbox.fetch_new(after).await.unwrap();
            if batch.len() >= count {
                return batch;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), arrival).await.unwrap()
}

fn message(fetched: &Fetched) -> &Bytes {
    match fetched {
        Fetched::Message { raw, .. } => raw,
        Fetched::Deadly => panic!("nobody died over it"),
        Fetched::TooLarge { bytes } => panic!("{bytes} bytes are too large"),
    }
}

fn message_id(fetched: &Fetched) -> String {
    let parsed = MessageParser::default().parse(message(fetched)).unwrap();
    parsed.message_id().unwrap().to_owned()
}

#[tokio::test]
async fn what_is_sent_arrives_unchanged() {
    let Some(real) = real() else { return };
    let sent = mail(&real.user, "the-fixed.id@kybern.test");
    smtp(&real.smtp).send(&sent).await.unwrap();
    let batch = fetch(&real.mailbox(), None, 1).await;
    let parsed = MessageParser::default().parse(message(&batch[0].1)).unwrap();
    assert_eq!(parsed.message_id(), Some(sent.message_id.as_str()));
    assert_eq!(parsed.subject(), Some(sent.subject.as_str()));
    assert_eq!(parsed.body_text(0).unwrap().replace("\r\n", "\n").trim_end(), sent.body.trim_end());
    assert_eq!(parsed.from().unwrap().first().unwrap().address(), Some("ops@kit.test"));
    assert_eq!(parsed.to().unwrap().first().unwrap().address(), Some(real.user.as_str()));
    assert!(parsed.date().is_some());
}

#[tokio::test]
async fn only_what_came_after_the_position_is_fetched() {
    let Some(real) = real() else { return };
    let mailbox = real.mailbox();
    assert_eq!(mailbox.fetch_new(None).await.unwrap(), []);
    real.send(&["one", "two"]).await;
    let batch = fetch(&mailbox, None, 2).await;
    assert_eq!(
        batch.iter().map(|(_, item)| message_id(item)).collect::<Vec<_>>(),
        ["one@kybern.test", "two@kybern.test"]
    );
    assert!(batch[0].0 < batch[1].0);
    assert_eq!(mailbox.fetch_new(Some(batch[1].0)).await.unwrap(), []);
    assert_eq!(mailbox.fetch_new(Some(batch[0].0)).await.unwrap(), batch[1..]);

    real.send(&["three"]).await;
    let next = fetch(&mailbox, Some(batch[1].0), 1).await;
    assert_eq!(next.iter().map(|(_, item)| message_id(item)).collect::<Vec<_>>(), ["three@kybern.test"]);
    let elsewhere = ImapPosition { uid_validity: batch[0].0.uid_validity.wrapping_add(1), uid: 1000 };
    assert_eq!(mailbox.fetch_new(Some(elsewhere)).await.unwrap().len(), 3, "another folder begins anew");
}

#[tokio::test]
async fn a_full_mailbox_comes_in_batches() {
    let Some(real) = real() else { return };
    let ids: Vec<String> = (0..MAX_BATCH + 3).map(|number| format!("m{number:03}")).collect();
    real.send(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mailbox = real.mailbox();
    let first = fetch(&mailbox, None, MAX_BATCH).await;
    let rest = fetch(&mailbox, first.last().map(|(position, _)| *position), 3).await;
    let found: Vec<String> = first.iter().chain(&rest).map(|(_, item)| message_id(item)).collect();
    assert_eq!(found, ids.iter().map(|id| format!("{id}@kybern.test")).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_message_over_the_limit_is_reported_with_its_size() {
    let Some(real) = real() else { return };
    let large = OutgoingMail { body: "x".repeat(5000), ..mail(&real.user, "large@kybern.test") };
    smtp(&real.smtp).send(&large).await.unwrap();
    real.send(&["small"]).await;
    let mailbox = Mailbox::new(ImapConfig { max_message_bytes: 4000, ..real.config() }).unwrap();
    let batch = fetch(&mailbox, None, 2).await;
    assert!(matches!(batch[0].1, Fetched::TooLarge { bytes } if bytes > 5000), "{:?}", batch[0]);
    assert_eq!(message_id(&batch[1].1), "small@kybern.test");
}

#[tokio::test]
async fn fetching_leaves_a_message_unread_until_it_is_marked() {
    let Some(real) = real() else { return };
    real.send(&["one"]).await;
    let mailbox = real.mailbox();
    let batch = fetch(&mailbox, None, 1).await;
    assert_eq!(unseen(&real).await, 1);
    mailbox.mark(batch[0].0, MessageMark::Taken).await.unwrap();
    mailbox.mark(batch[0].0, MessageMark::Taken).await.unwrap();
    assert_eq!(unseen(&real).await, 0);
    let elsewhere = ImapPosition { uid_validity: batch[0].0.uid_validity.wrapping_add(1), ..batch[0].0 };
    assert!(matches!(mailbox.mark(elsewhere, MessageMark::Taken).await, Err(ImapError::FolderChanged { .. })));
}

async fn unseen(real: &Real) -> usize {
    let tcp = tokio::net::TcpStream::connect(&real.imap).await.unwrap();
    let mut client = async_imap::Client::new(tcp);
    client.read_response().await.unwrap().unwrap();
    let mut session = client.login(&real.user, &real.password).await.map_err(|(error, _)| error).unwrap();
    session.select("INBOX").await.unwrap();
    session.uid_search("UNSEEN").await.unwrap().len()
}

#[tokio::test]
async fn a_wrong_password_and_a_missing_folder_are_told_apart() {
    let Some(real) = real() else { return };
    let stranger = Mailbox::new(imap_config(&real.imap, &real.user, "wrong")).unwrap();
    let error = stranger.fetch_new(None).await.unwrap_err();
    assert!(matches!(error, ImapError::Login(_)) && !error.is_transient(), "{error:?}");
    let lost = Mailbox::new(ImapConfig { folder: "Nowhere".to_owned(), ..real.config() }).unwrap();
    let error = lost.fetch_new(None).await.unwrap_err();
    assert!(matches!(error, ImapError::Refused { command: "SELECT", .. }), "{error:?}");
}
