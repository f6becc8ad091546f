use super::*;

fn parse(raw: &str) -> ParsedMail {
    Mime.parse(raw.replace('\n', "\r\n").as_bytes()).unwrap()
}

#[test]
fn headers_are_decoded_and_cleaned() {
    let mail = parse(
        "Message-ID: <a@b.example>\nIn-Reply-To: <c@d.example>\nReferences: <e@f.example>\n <c@d.example>\n\
         From: =?utf-8?q?Zo=C3=AB?= <Zoe@Example.COM>\nTo: x@y.example\nCc: z@y.example\n\
         Subject: =?iso-8859-1?q?caf=E9?=\nDate: Mon, 2 Mar 2026 10:00:00 -0600\n\nhello  \nthere\n",
    );
    assert_eq!(mail.message_id.as_deref(), Some("a@b.example"));
    assert_eq!(mail.in_reply_to.as_deref(), Some("c@d.example"));
    assert_eq!(mail.references, ["e@f.example", "c@d.example"]);
    assert_eq!(mail.from, MailAddress { name: "Zoë".into(), address: "Zoe@example.com".into() });
    assert_eq!(mail.to.len(), 2);
    assert_eq!(mail.subject, "café");
    assert_eq!(mail.date.as_deref(), Some("2026-03-02T10:00:00-06:00"));
    assert_eq!(mail.text, "hello\nthere");
    assert!(!mail.from_html);
}

#[test]
fn a_line_end_in_a_name_or_an_address_is_no_line_end() {
    let raw = b"From: \"A\rSubject: b\" <a\r\x1fb@c.example>\r\nContent-Type: message/rfc822\r\n\r\n\
        Subject: inner\r\nTo: @\rA\r\n\r\ntext";
    let mail = Mime.parse(raw).unwrap();
    assert_eq!(mail.from.name, "A Subject: b");
    assert!(!mail.from.address.contains(char::is_control), "{:?}", mail.from.address);
    assert!(!mail.text.contains('\r'), "{:?}", mail.text);
}

#[test]
fn what_is_no_message_is_broken() {
    for raw in [&b""[..], b"\x00\x01\x02: x", b"just a line of text", &[b'a'; 20_000]] {
        assert!(matches!(Mime.parse(raw), Err(MailFault::Broken(_))), "{raw:?}");
    }
}

#[test]
fn a_blank_alternative_gives_way_to_html() {
    let mail = parse(
        "Subject: x\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n \n\
         --b\nContent-Type: text/html\n\n<p>hello</p>\n--b--\n",
    );
    assert_eq!((mail.text.as_str(), mail.from_html), ("hello", true));
    assert!(mail.parts.is_empty());
}

#[test]
fn a_stub_gives_way_to_html() {
    let with = |text: &str, html: &str| {
        parse(&format!(
            "Subject: x\nContent-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n{text}\n\
             --b\nContent-Type: text/html\n\n{html}\n--b--\n"
        ))
    };
    let note = "Your mail reader does not show HTML.";
    assert_eq!(
        with(note, "<p>Please send us the certificate today, thank you.</p>").text,
        "Please send us the certificate today, thank you."
    );
    assert_eq!(with("Only HTML here, sorry!", "<p>Thanks</p>").text, "Thanks");
    assert_eq!(with("Is the HTML mail fine?", "<p>Is the <b>HTML</b> mail fine?</p>").text, "Is the HTML mail fine?");
    let other = "<p>Please book a room for two, from Monday on. Thank you, Fern Hollow</p>";
    assert!(with("View this message in a browser.", other).from_html, "it says something else");
    assert_eq!(with("A room for two, please", other).text, "A room for two, please");
    assert!(with("See web version", &"<p>some more words</p>".repeat(20)).from_html);
    assert_eq!(with("hello there", "<p>hello <b>there</b> you</p>").text, "hello there");
    assert_eq!(with(" ", "<p>seen<span style=\"display:none\"> quote</span></p>").text, "seen");
}

#[test]
fn enclosed_messages_are_opened() {
    let mail = parse(
        "Subject: outer\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nsee below\n--b\n\
         Content-Type: message/rfc822\n\nFrom: x@y.example\nSubject: inner\n\
         Content-Type: multipart/mixed; boundary=c\n\n--c\n\ninner text\n--c\n\
         Content-Type: text/csv; name=a.csv; charset=windows-1252\nContent-Transfer-Encoding: base64\n\nWm/rLDE=\n\
         --c--\n--b--\n",
    );
    assert!(mail.text.starts_with("see below\n\n----------"), "{}", mail.text);
    assert!(mail.text.contains("From: x@y.example\nSubject: inner\n\ninner text"), "{}", mail.text);
    assert_eq!(mail.parts.len(), 1);
    assert_eq!((mail.parts[0].filename.as_str(), mail.parts[0].depth), ("a.csv", 1));
    assert_eq!(mail.parts[0].bytes.as_ref(), b"Zo\xEB,1", "the bytes stay as they were sent");
}

#[test]
fn messages_nested_too_deep_are_refused() {
    let raw = "Content-Type: message/rfc822\n\n".repeat(20) + "Subject: x\n\ntext";
    assert!(matches!(Mime.parse(raw.as_bytes()), Err(MailFault::TooLarge(_))));
    let raw = "Content-Type: message/rfc822\n\n".repeat(100_000);
    assert!(matches!(Mime.parse(raw.as_bytes()), Err(MailFault::TooLarge(_))));
}

#[test]
fn recipients_over_the_limit_are_refused_and_old_references_left_out() {
    let to = |count: usize| format!("To: {}\nSubject: x\n\ntext\n", "a@b.example, ".repeat(count));
    assert_eq!(parse(&to(MAX_RECIPIENTS)).to.len(), MAX_RECIPIENTS);
    let over = Mime.parse(to(MAX_RECIPIENTS + 1).as_bytes()).unwrap_err();
    assert_eq!(over.to_string(), "over a limit: it is addressed to 2001 recipients, 2000 are allowed");
    let ids: Vec<String> = (0..MAX_REFERENCES + 7).map(|n| format!("<{n}@b.example>")).collect();
    let mail = parse(&format!("References: {}\n\ntext\n", ids.join("\n ")));
    assert_eq!((mail.references.len(), mail.references_left_out), (MAX_REFERENCES, 7));
    assert_eq!(mail.references.last().map(String::as_str), Some("106@b.example"));
}

#[test]
fn too_many_attachments_are_refused() {
    let part = "--b\nContent-Type: application/pdf; name=a.pdf\n\nx\n".repeat(limits::MAX_ATTACHMENTS + 1);
    let raw = format!("Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n{part}--b--\n");
    assert!(matches!(Mime.parse(raw.as_bytes()), Err(MailFault::TooLarge(_))));
}
