//! Against scripted SMTP servers: what is known when something breaks.

use std::path::PathBuf;

use bytes::Bytes;
use kybern_adapters::mail::parse::Mime;
use kybern_adapters::mail::smtp::{Smtp, SmtpConfig};
use kybern_adapters::mail::tls::{MailConfigError, MailTls};
use kybern_core::mail::{OutgoingFile, OutgoingMail, SendFault};
use kybern_core::ports::MailSender as _;

use super::{mail, smtp, smtp_config};
use crate::peer::{self, LinePeer, Reply, say};
use crate::tls;

const GREETING: &str = "220 fake ready\r\n";

/// A server that takes everything, except where `odd` answers instead. The line after which a message ends is `.`.
fn server(odd: impl FnMut(usize, &str) -> Option<Reply> + Send + 'static) -> LinePeer {
    LinePeer::start(false, GREETING, answers(odd))
}

fn answers(
    mut odd: impl FnMut(usize, &str) -> Option<Reply> + Send + 'static,
) -> impl FnMut(usize, &str) -> Reply + Send {
    let mut in_message = false;
    move |number, line| {
        let ends = in_message && line == ".";
        let inside = in_message && !ends;
        in_message = inside || line == "DATA";
        if inside {
            return Reply::Quiet;
        }
        odd(number, line).unwrap_or_else(|| match line.split(' ').next().unwrap() {
            "EHLO" => say("250-fake\r\n250-8BITMIME\r\n250-AUTH PLAIN LOGIN\r\n250 SMTPUTF8"),
            "DATA" => say("354 go on"),
            "AUTH" => say("235 welcome"),
            _ => say("250 fine"),
        })
    }
}

fn at(verb: &'static str, reply: fn() -> Reply) -> LinePeer {
    server(move |_, line| line.starts_with(verb).then(reply))
}

async fn send(peer: &LinePeer) -> Result<(), SendFault> {
    smtp(peer.address).send(&mail("a@b.test", "1@kybern.test")).await
}

fn not_sent(result: Result<(), SendFault>) -> bool {
    match result {
        Err(SendFault::NotSent { retryable, .. }) => retryable,
        Err(SendFault::Unreachable { .. }) => true,
        other => panic!("expected NotSent, got {other:?}"),
    }
}

#[tokio::test]
async fn a_connection_lost_after_the_dot_leaves_it_unknown() {
    let peer = at(".", || Reply::HangUp);
    assert!(matches!(send(&peer).await, Err(SendFault::Unknown { .. })));
    assert_eq!(peer.lines().last().unwrap(), ".");
}

#[tokio::test]
async fn an_unreadable_reply_after_the_dot_leaves_it_unknown() {
    assert!(matches!(send(&at(".", || say("what?"))).await, Err(SendFault::Unknown { .. })));
}

#[tokio::test]
async fn a_refusal_after_the_dot_is_certain() {
    assert!(not_sent(send(&at(".", || say("451 try later"))).await));
    assert!(!not_sent(send(&at(".", || say("554 spam"))).await));
}

#[tokio::test]
async fn before_the_dot_nothing_was_sent() {
    for verb in ["EHLO", "MAIL", "RCPT", "DATA"] {
        assert!(not_sent(send(&at(verb, || Reply::HangUp)).await), "{verb} is cut off");
        assert!(not_sent(send(&at(verb, || say("421 busy"))).await), "{verb} is put off");
        assert!(!not_sent(send(&at(verb, || say("550 never"))).await), "{verb} is refused");
    }
    let nobody = format!("127.0.0.1:{}", peer::closed_port());
    assert!(not_sent(smtp(nobody).send(&mail("a@b.test", "1@kybern.test")).await));
}

#[tokio::test]
async fn a_servers_words_are_cut() {
    let long = "550 never ".to_owned() + &"é".repeat(400);
    let peer = server(move |_, line| line.starts_with("MAIL").then(|| say(long.clone())));
    let Err(SendFault::NotSent { message, retryable: false }) = send(&peer).await else { panic!("it was refused") };
    assert!(message.contains("never é") && message.chars().count() == 300, "{message}");
}

#[tokio::test]
async fn a_reply_without_an_end_is_not_waited_for() {
    let endless = || Reply::Say("250-".to_owned() + &"x".repeat(1 << 20));
    for verb in ["EHLO", "MAIL"] {
        match send(&at(verb, endless)).await {
            Err(SendFault::Unreachable { message }) => {
                assert!(message.contains("longer than 32768 bytes"), "{message}")
            }
            other => panic!("{verb}: {other:?}"),
        }
    }
    // Whether the message was taken nobody knows.
    assert!(matches!(send(&at(".", endless)).await, Err(SendFault::Unknown { .. })));
}

#[tokio::test]
async fn a_reply_of_many_lines_is_not_read_over_and_over() {
    fn lines(count: usize) -> Reply {
        say("250-x\r\n".repeat(count - 1) + "250 SMTPUTF8")
    }
    send(&at("EHLO", || lines(512))).await.unwrap();
    match send(&at("EHLO", || lines(513))).await {
        Err(SendFault::Unreachable { message }) => assert!(message.contains("more than 512 lines"), "{message}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_feature_without_a_name_is_a_reply_that_cannot_be_read() {
    match send(&at("EHLO", || say("250-fake\r\n250- \r\n250 SMTPUTF8"))).await {
        Err(SendFault::Unreachable { message }) => assert_eq!(message, "the server's reply cannot be read"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn one_connection_serves_several_messages_and_a_lost_one_is_replaced() {
    let mut messages = 0;
    let peer = server(move |number, line| {
        messages += usize::from(line == ".");
        // The first connection dies while it waits, after two messages.
        (number == 0 && line == "RSET" && messages == 2).then_some(Reply::HangUp)
    });
    let smtp = smtp(peer.address);
    for number in 0..3 {
        smtp.send(&mail("a@b.test", &format!("{number}@kybern.test"))).await.unwrap();
    }
    let count = |verb: &str| peer.lines().iter().filter(|line| line.split(' ').next() == Some(verb)).count();
    assert_eq!((count("EHLO"), count("."), count("RSET")), (2, 3, 2));
}

#[tokio::test]
async fn files_go_along_byte_for_byte() {
    let peer = server(|_, _| None);
    let file = |filename: &str, content_type: &str, bytes: &'static [u8]| OutgoingFile {
        filename: filename.to_owned(),
        content_type: content_type.to_owned(),
        bytes: Bytes::from_static(bytes),
    };
    let files = vec![
        file("Carta de autorizaci\u{f3}n.pdf", "application/pdf", b"%PDF-1.7\r\n\x00\xff\n.\n--\r"),
        file("a\r\nBcc: x@y.test.txt", "no type", b"plain\n"),
        file("c.eml", "message/rfc822", b"From: a@b.test\r\n\r\nx"),
    ];
    let sent = OutgoingMail { files: files.clone(), ..mail("a@b.test", "1@kybern.test") };
    smtp(peer.address).send(&sent).await.unwrap();
    let lines = peer.lines();
    let data = lines.iter().position(|line| line == "DATA").unwrap() + 1;
    let end = lines.iter().position(|line| line == ".").unwrap();
    let raw = lines[data..end].iter().map(|line| format!("{}\r\n", line.strip_prefix('.').unwrap_or(line)));
    let read = Mime.parse(raw.collect::<String>().as_bytes()).unwrap();
    assert!(read.text.contains("the dot above stands alone"), "{}", read.text);
    let came: Vec<_> = read.parts.iter().map(|part| (part.content_type.as_str(), &part.bytes)).collect();
    let octets = "application/octet-stream";
    assert_eq!(came, [("application/pdf", &files[0].bytes), (octets, &files[1].bytes), (octets, &files[2].bytes)]);
    assert_eq!(read.parts[0].filename, files[0].filename);
    assert!(!lines.iter().any(|line| line.starts_with("Bcc:")), "{lines:?}");
}

#[tokio::test]
async fn a_message_goes_on_with_its_thread() {
    let peer = server(|_, _| None);
    let references = vec!["1@kybern.test".to_owned(), "2@kybern.test".to_owned()];
    smtp(peer.address).send(&OutgoingMail { references, ..mail("a@b.test", "3@kybern.test") }).await.unwrap();
    let lines = peer.lines();
    let raw: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let head = &raw[raw.find("From:").unwrap()..];
    let read = Mime.parse(head.as_bytes()).unwrap();
    assert_eq!(read.in_reply_to.as_deref(), Some("2@kybern.test"));
    assert_eq!(read.references, ["1@kybern.test", "2@kybern.test"]);
}

#[tokio::test]
async fn a_message_that_would_smuggle_headers_is_never_sent() {
    let peer = server(|_, _| None);
    let good = mail("a@b.test", "1@kybern.test");
    let wrong = [
        OutgoingMail { subject: "a\r\nBcc: x@y.test".into(), ..good.clone() },
        OutgoingMail { message_id: "1>\r\nBcc: x@y.test".into(), ..good.clone() },
        OutgoingMail { message_id: String::new(), ..good.clone() },
        OutgoingMail { references: vec!["1>\r\nBcc: x@y.test".into()], ..good.clone() },
        OutgoingMail { to: "a@b.test>\r\nRCPT TO:<x@y.test".into(), ..good.clone() },
        OutgoingMail { to: "nobody".into(), ..good.clone() },
    ];
    for mail in wrong {
        assert!(!not_sent(smtp(peer.address).send(&mail).await), "{mail:?}");
    }
    assert_eq!(peer.lines(), [] as [String; 0]);
}

#[tokio::test]
async fn a_login_is_sent_and_its_refusal_is_final() {
    let config = |address: String| SmtpConfig {
        username: Some("user".into()),
        password: Some("secret".into()),
        ..smtp_config(&address)
    };
    let peer = server(|_, _| None);
    let smtp = Smtp::new(config(peer.address.to_string())).unwrap();
    smtp.send(&mail("a@b.test", "1@kybern.test")).await.unwrap();
    assert!(peer.lines().contains(&"AUTH PLAIN AHVzZXIAc2VjcmV0".to_owned()), "{:?}", peer.lines());
    let refusing = at("AUTH", || say("535 no"));
    let smtp = Smtp::new(config(refusing.address.to_string())).unwrap();
    assert!(!not_sent(smtp.send(&mail("a@b.test", "1@kybern.test")).await));
    assert!(!format!("{smtp:?} {:?}", config("h:1".into())).contains("secret"));
}

fn secured(peer: &LinePeer, mode: MailTls, ca_file: Option<PathBuf>) -> Smtp {
    Smtp::new(SmtpConfig { tls: mode, ca_file, ..smtp_config(&peer.address.to_string()) }).unwrap()
}

#[tokio::test]
async fn starttls_encrypts_before_anything_is_said() {
    let (_folder, ca) = tls::authority_file();
    let script = |_: usize, line: &str| match line.split(' ').next().unwrap() {
        "EHLO" => Some(say("250-fake\r\n250-8BITMIME\r\n250 STARTTLS")),
        "STARTTLS" => Some(Reply::Encrypt("220 go\r\n".into())),
        _ => None,
    };
    let peer = server(script);
    secured(&peer, MailTls::Starttls, Some(ca)).send(&mail("a@b.test", "1@kybern.test")).await.unwrap();
    assert_eq!(peer.lines()[1], "STARTTLS");

    let peer = server(script);
    let stranger = secured(&peer, MailTls::Starttls, None).send(&mail("a@b.test", "1@kybern.test")).await;
    not_sent(stranger);
    assert!(!peer.lines().iter().any(|line| line.starts_with("MAIL")), "{:?}", peer.lines());
}

#[tokio::test]
async fn a_connection_may_be_encrypted_from_its_first_byte() {
    let (_folder, ca) = tls::authority_file();
    let start = || LinePeer::start(true, GREETING, answers(|_, _| None));
    let peer = start();
    secured(&peer, MailTls::Tls, Some(ca)).send(&mail("a@b.test", "1@kybern.test")).await.unwrap();
    assert_eq!(peer.lines().last().unwrap(), ".");
    let peer = start();
    not_sent(secured(&peer, MailTls::Tls, None).send(&mail("a@b.test", "1@kybern.test")).await);
    assert_eq!(peer.lines(), [] as [String; 0], "a stranger's certificate");
}

#[tokio::test]
async fn without_starttls_nothing_is_said_in_the_clear() {
    let peer = server(|_, _| None);
    assert!(!not_sent(secured(&peer, MailTls::Starttls, None).send(&mail("a@b.test", "1@kybern.test")).await));
    assert!(!peer.lines().iter().any(|line| line.starts_with("MAIL")), "{:?}", peer.lines());
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_at_start() {
    let good = smtp_config("mail.example.com:25");
    let half = SmtpConfig { username: Some("user".into()), ..good.clone() };
    assert!(matches!(Smtp::new(half.clone()), Err(MailConfigError::HalfLogin)));
    let clear = SmtpConfig { password: Some("secret".into()), ..half };
    assert!(matches!(Smtp::new(clear), Err(MailConfigError::ClearPassword { .. })));
    let nobody = SmtpConfig { from: "nobody".into(), ..good.clone() };
    assert!(matches!(Smtp::new(nobody), Err(MailConfigError::From { .. })));
    let no_file = SmtpConfig { ca_file: Some("/nowhere/ca.pem".into()), ..good };
    assert!(matches!(Smtp::new(no_file), Err(MailConfigError::Roots(_))));
}
