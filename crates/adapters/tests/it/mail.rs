//! Sending and polling against a real mail server, when there is one, and against scripted peers.

mod imap;
mod real;
mod smtp;

use std::path::PathBuf;

use kybern_adapters::mail::imap::{ImapConfig, Mailbox};
use kybern_adapters::mail::smtp::{Smtp, SmtpConfig};
use kybern_adapters::mail::tls::MailTls;
use kybern_core::mail::OutgoingMail;
use kybern_core::time::Millis;

pub(crate) fn smtp_config(address: &str) -> SmtpConfig {
    let (host, port) = address.rsplit_once(':').unwrap();
    SmtpConfig {
        host: host.to_owned(),
        port: port.parse().unwrap(),
        tls: MailTls::None,
        username: None,
        password: None,
        from: "Kybern <ops@kit.test>".to_owned(),
        ca_file: None,
    }
}

fn smtp(address: impl ToString) -> Smtp {
    Smtp::new(smtp_config(&address.to_string())).unwrap()
}

pub(crate) fn imap_config(address: &str, username: &str, password: &str) -> ImapConfig {
    let (host, port) = address.rsplit_once(':').unwrap();
    ImapConfig {
        host: host.to_owned(),
        port: port.parse().unwrap(),
        tls: MailTls::None,
        username: username.to_owned(),
        password: password.to_owned(),
        folder: "INBOX".to_owned(),
        poll_ms: Millis(1000),
        max_message_bytes: 100_000,
        ca_file: None,
    }
}

fn mailbox(address: impl ToString) -> Mailbox {
    Mailbox::new(imap_config(&address.to_string(), "user", "pass word\"\\")).unwrap()
}

fn encrypted(address: impl ToString, tls: MailTls, ca_file: Option<PathBuf>) -> Mailbox {
    Mailbox::new(ImapConfig { tls, ca_file, ..imap_config(&address.to_string(), "user", "secret") }).unwrap()
}

pub(crate) fn mail(to: &str, message_id: &str) -> OutgoingMail {
    OutgoingMail {
        to: to.to_owned(),
        subject: "Loss runs für Zoë".to_owned(),
        body: "Dear all,\n.\nthe dot above stands alone — and ends nothing.\n..two\n".to_owned(),
        message_id: message_id.to_owned(),
        references: Vec::new(),
        files: Vec::new(),
    }
}
