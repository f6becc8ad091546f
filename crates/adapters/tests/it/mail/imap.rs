//! Against scripted IMAP servers: lost connections, folders made anew, and servers that lie.

use kybern_adapters::mail::imap::{Fetched, ImapError, ImapPosition, Mailbox, MessageMark};
use kybern_adapters::mail::tls::{MailConfigError, MailTls};

use super::{encrypted, imap_config, mailbox};
use crate::peer::{self, LinePeer, Reply};
use crate::tls;

const GREETING: &str = "* OK fake ready\r\n";
const RAW: &str = "Message-ID: <1@kybern.test>\r\n\r\nhello\r\n";

/// What a command without its tag is answered with: untagged lines, before `OK`.
type Untagged = Option<String>;

/// A server with one message, number 7, except where `odd` answers instead.
fn server(encrypted: bool, mut odd: impl FnMut(usize, &str) -> Option<Reply> + Send + 'static) -> LinePeer {
    LinePeer::start(encrypted, GREETING, move |number, line| {
        let (tag, command) = line.split_once(' ').unwrap();
        odd(number, command).map_or_else(
            || Reply::Say(format!("{}{tag} OK done\r\n", usual(command, 5).unwrap_or_default())),
            |reply| match reply {
                Reply::Say(text) => Reply::Say(text.replace("TAG", tag)),
                Reply::Encrypt(text) => Reply::Encrypt(text.replace("TAG", tag)),
                other => other,
            },
        )
    })
}

fn usual(command: &str, validity: u32) -> Untagged {
    let size = RAW.len();
    Some(match command {
        _ if command.starts_with("SELECT") => format!("* 1 EXISTS\r\n* OK [UIDVALIDITY {validity}] ok\r\n"),
        _ if command.starts_with("UID SEARCH") => "* SEARCH 7\r\n".to_owned(),
        _ if command.contains("RFC822.SIZE") => format!("* 1 FETCH (UID 7 RFC822.SIZE {size})\r\n"),
        _ if command.contains("BODY.PEEK[]") => format!("* 1 FETCH (UID 7 BODY[] {{{size}}}\r\n{RAW})\r\n"),
        _ => return None,
    })
}

fn only(batch: &[(ImapPosition, Fetched)]) {
    let position = ImapPosition { uid_validity: 5, uid: 7 };
    assert_eq!(batch, [(position, Fetched::Message { raw: RAW.into(), interrupted: false })]);
}

#[tokio::test]
async fn the_connection_is_kept_between_polls() {
    let peer = server(false, |_, _| None);
    let mailbox = mailbox(peer.address);
    only(&mailbox.fetch_new(None).await.unwrap());
    only(&mailbox.fetch_new(None).await.unwrap());
    let lines = peer.lines();
    assert_eq!(lines.iter().filter(|line| line.contains("LOGIN")).count(), 1);
    assert!(lines[0].ends_with(r#"LOGIN "user" "pass word\"\\""#), "{}", lines[0]);
}

#[tokio::test]
async fn the_last_message_is_not_fetched_again_though_the_server_names_it() {
    let peer = server(false, |_, _| None);
    let after = ImapPosition { uid_validity: 5, uid: 7 };
    assert_eq!(mailbox(peer.address).fetch_new(Some(after)).await.unwrap(), []);
    let last = ImapPosition { uid_validity: 5, uid: u32::MAX };
    assert_eq!(mailbox(peer.address).fetch_new(Some(last)).await.unwrap(), []);
}

#[tokio::test]
async fn a_connection_lost_between_polls_is_made_anew_at_once() {
    let mut selects = 0;
    let peer = server(false, move |number, command| {
        selects += usize::from(command.starts_with("SELECT"));
        (number == 0 && selects == 2).then_some(Reply::HangUp)
    });
    let mailbox = mailbox(peer.address);
    only(&mailbox.fetch_new(None).await.unwrap());
    only(&mailbox.fetch_new(None).await.unwrap());
    assert_eq!(peer.lines().iter().filter(|line| line.contains("LOGIN")).count(), 2);
}

#[tokio::test]
async fn a_connection_lost_in_the_middle_fails_this_poll_and_not_the_next() {
    let peer = server(false, |number, command| (number == 0 && command.contains("BODY.PEEK")).then_some(Reply::HangUp));
    let mailbox = mailbox(peer.address);
    let error = mailbox.fetch_new(None).await.unwrap_err();
    assert!(matches!(error, ImapError::Lost(_)) && error.is_transient(), "{error:?}");
    only(&mailbox.fetch_new(None).await.unwrap());
}

#[tokio::test]
async fn a_refusal_is_not_taken_for_an_empty_mailbox() {
    for refused in ["UID SEARCH", "UID FETCH 7 (UID FLAGS RFC822.SIZE)", "UID FETCH 7 (UID BODY.PEEK[])", "UID STORE"] {
        for answer in ["TAG NO [SERVERBUG] sorry\r\n", "TAG BAD sorry\r\n"] {
            let peer = server(false, move |_, command| command.starts_with(refused).then(|| Reply::Say(answer.into())));
            let mailbox = mailbox(peer.address);
            let position = ImapPosition { uid_validity: 5, uid: 7 };
            let result = match refused {
                "UID STORE" => mailbox.mark(position, MessageMark::Taken).await,
                _ => mailbox.fetch_new(None).await.map(drop),
            };
            assert!(
                matches!(&result, Err(ImapError::Refused { reason, .. }) if reason.ends_with("sorry")),
                "{result:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_folder_made_anew_begins_at_its_first_message() {
    let peer = server(false, |_, _| None);
    let before = ImapPosition { uid_validity: 4, uid: 900 };
    only(&mailbox(peer.address).fetch_new(Some(before)).await.unwrap());
    assert!(
        peer.lines().iter().any(|line| line.ends_with("UID SEARCH UNKEYWORD KybernRefused UID 1:*")),
        "{:?}",
        peer.lines()
    );
    let error = mailbox(peer.address).mark(before, MessageMark::Taken).await.unwrap_err();
    assert_eq!(error, ImapError::FolderChanged { expected: 4, found: 5 });
}

#[tokio::test]
async fn marks_say_what_became_of_a_message() {
    let with = |flags: &'static str| {
        server(false, move |_, command| {
            let known = format!("* 1 FETCH (UID 7 FLAGS ({flags}) RFC822.SIZE {})\r\nTAG OK done\r\n", RAW.len());
            command.contains("RFC822.SIZE").then_some(Reply::Say(known))
        })
    };
    let fetched = |flags| async move { mailbox(with(flags).address).fetch_new(None).await.unwrap().remove(0).1 };
    assert_eq!(fetched("\\Seen").await, Fetched::Message { raw: RAW.into(), interrupted: false });
    assert_eq!(fetched("KybernBegun").await, Fetched::Message { raw: RAW.into(), interrupted: true });
    assert_eq!(fetched("KybernBegun KybernBegunAgain").await, Fetched::Deadly);
    let peer = server(false, |_, _| None);
    let position = ImapPosition { uid_validity: 5, uid: 7 };
    mailbox(peer.address).mark(position, MessageMark::Refused).await.unwrap();
    let lines = peer.lines();
    let stored: Vec<&str> =
        lines.iter().filter_map(|line| line.split_once("STORE 7 ")).map(|(_, flags)| flags).collect();
    assert_eq!(
        stored,
        ["+FLAGS.SILENT (\\Flagged KybernRefused)", "-FLAGS.SILENT (KybernBegun KybernBegunAgain)"],
        "{lines:?}"
    );
}

#[tokio::test]
async fn a_server_without_keywords_gets_the_flags_that_every_server_has() {
    let peer =
        server(false, |_, command| command.contains("Kybern").then(|| Reply::Say("TAG NO no keywords\r\n".into())));
    let mailbox = mailbox(peer.address);
    let position = ImapPosition { uid_validity: 5, uid: 7 };
    for mark in
        [MessageMark::Begun, MessageMark::BegunAgain, MessageMark::Later, MessageMark::Taken, MessageMark::Refused]
    {
        mailbox.mark(position, mark).await.unwrap();
    }
    let lines = peer.lines();
    assert!(lines.iter().any(|line| line.ends_with("STORE 7 +FLAGS.SILENT (\\Seen)")), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("STORE 7 +FLAGS.SILENT (\\Flagged)")), "{lines:?}");
}

#[tokio::test]
async fn a_message_removed_in_the_meantime_is_passed_over() {
    let peer = server(false, |_, command| command.contains("BODY.PEEK").then(|| Reply::Say("TAG OK done\r\n".into())));
    assert_eq!(mailbox(peer.address).fetch_new(None).await.unwrap(), []);
}

#[tokio::test]
async fn a_server_that_sends_or_announces_more_than_it_may_is_cut_off() {
    for (begins, goes_on, told) in [
        ("{64000000}\r\n", "x", "announces more than it may hold"),
        ("\"", "x", "a line without an end"),
        ("NIL)", "\r\n* 1 FETCH (UID 7 BODY[] NIL)", "more than it announced"),
    ] {
        let peer = server(false, move |_, command| {
            let flood = format!("* 1 FETCH (UID 7 BODY[] {begins}{}", goes_on.repeat(8_000_000 / goes_on.len()));
            command.contains("BODY.PEEK").then_some(Reply::Say(flood))
        });
        let error = mailbox(peer.address).fetch_new(None).await.unwrap_err();
        assert!(matches!(&error, ImapError::Lost(why) if why.contains(told)), "{error:?}");
    }
}

#[tokio::test]
async fn what_the_server_says_wrong_is_not_repeated() {
    let peer = server(false, |_, command| {
        command.contains("BODY.PEEK").then(|| Reply::Say("* 1 FETCH (UID 7 hunter2\r\n".into()))
    });
    let error = mailbox(peer.address).fetch_new(None).await.unwrap_err();
    assert!(matches!(&error, ImapError::Lost(why) if !why.contains("hunter2")), "{error:?}");
}

#[tokio::test]
async fn both_kinds_of_encryption_are_spoken_and_checked() {
    let (_folder, ca) = tls::authority_file();
    let wrapped = server(true, |_, _| None);
    only(&encrypted(wrapped.address, MailTls::Tls, Some(ca.clone())).fetch_new(None).await.unwrap());
    let upgrade = |_: usize, command: &str| (command == "STARTTLS").then(|| Reply::Encrypt("TAG OK go\r\n".into()));
    let upgraded = server(false, upgrade);
    only(&encrypted(upgraded.address, MailTls::Starttls, Some(ca)).fetch_new(None).await.unwrap());
    assert!(upgraded.lines()[0].ends_with("STARTTLS"));

    for (peer, mode) in [(wrapped, MailTls::Tls), (server(false, upgrade), MailTls::Starttls)] {
        let before = peer.lines().len();
        let error = encrypted(peer.address, mode, None).fetch_new(None).await.unwrap_err();
        assert!(matches!(error, ImapError::Connect(_)), "{error:?}");
        assert!(!peer.lines()[before..].iter().any(|line| line.contains("LOGIN")));
    }
}

#[tokio::test]
async fn a_server_that_refuses_starttls_never_sees_the_password() {
    let peer = server(false, |_, command| (command == "STARTTLS").then(|| Reply::Say("TAG BAD what?\r\n".into())));
    let error = encrypted(peer.address, MailTls::Starttls, None).fetch_new(None).await.unwrap_err();
    assert!(!error.is_transient(), "{error:?}");
    assert_eq!(peer.lines().len(), 1);
}

#[tokio::test]
async fn nobody_there_is_a_failure_to_connect() {
    let nobody = mailbox(format!("127.0.0.1:{}", peer::closed_port()));
    let error = nobody.fetch_new(None).await.unwrap_err();
    assert!(matches!(error, ImapError::Connect(_)) && error.is_transient(), "{error:?}");
}

#[test]
fn a_password_never_crosses_a_network_in_the_clear_nor_a_log() {
    let config = imap_config("mail.example.com:143", "user", "hunter2");
    assert!(!format!("{config:?}").contains("hunter2"));
    assert!(matches!(Mailbox::new(config), Err(MailConfigError::ClearPassword { .. })));
}
