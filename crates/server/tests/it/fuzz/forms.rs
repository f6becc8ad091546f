//! Every route that reads a form or a mail, with a caller who may use it: whatever the body is, it is taken or refused
//! with a code.

use kybern_testkit::fuzz::{Chance, Target};

use super::doors::{House, housed};
use crate::harness::Ask;

/// The routes, with the type of what they read. An input names one by its first byte.
const DOORS: &[(&str, &str)] = &[
    ("/api/tasks", "multipart/form-data; boundary=b"),
    ("/api/knowledge", "multipart/form-data; boundary=\"b\""),
    ("/api/tasks", "multipart/form-data; boundary=--b"),
    ("/api/inbound/sms", "application/x-www-form-urlencoded"),
    ("/api/inbound/email", "message/rfc822"),
];
const WORDS: &[&str] = &[
    "--b\r\n",
    "\r\n--b--\r\n",
    "----b\r\n",
    "--b",
    "\r\n\r\n",
    "Content-Disposition: form-data; name=\"input\"\r\n",
    "Content-Disposition: form-data; name=\"\"; filename=\"a.txt\"\r\n",
    "Content-Disposition: form-data; name=f; filename*=utf-8''%ff%00\r\n",
    "Content-Disposition: attachment\r\n",
    "; filename=\"../../a\u{0}\"",
    "; name=\"payload\"",
    "Content-Type: multipart/mixed; boundary=b\r\n",
    "Content-Type: text/plain; charset=utf-16\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "Content-Type: \u{ff}\r\n",
    "&From=%",
    "&Body=%ff%fe",
    "MessageSid=",
    "+%2B1555",
    "Message-ID: <a@example.com>\r\n",
    "To: in.example.com\r\n",
    "=",
    "&",
    "%00",
];
/// Names that the forms know, and some that they do not.
const NAMES: &[&str] =
    &["input", "planKey", "plan_key", "payload", "maxSteps", "budgetNanos", "title", "channel", "files", "x", ""];
const VALUES: &[&str] = &["hi", "{\"name\": \"a\"}", "[", "7", "-1", "1e999", "web", "\u{0}", "é", "{{ state.x }}", ""];

fn make(chance: &Chance) -> Vec<u8> {
    let door = u8::try_from(chance.index(DOORS.len())).unwrap();
    let mut made = vec![door];
    match door {
        0..3 => {
            let boundary = if door == 2 { "----b" } else { "--b" };
            for _ in 0..chance.below(6) {
                part(&mut made, boundary, chance);
            }
            made.extend(format!("{boundary}--\r\n").bytes());
        }
        3 => {
            for name in ["From", "To", "Body", "MessageSid", "NumMedia", "MediaUrl0"] {
                made.extend(format!("{name}={}&", chance.one(VALUES)).bytes());
            }
        }
        _ => {
            let id = chance.below(1_000_000);
            made.extend(format!("Message-ID: <{id}@example.com>\r\nFrom: a@example.com\r\nContent-Type: ").bytes());
            made.extend(b"multipart/mixed; boundary=b\r\n\r\n");
            for _ in 0..chance.below(4) {
                part(&mut made, "--b", chance);
            }
            made.extend(b"--b--\r\n");
        }
    }
    made
}

fn part(made: &mut Vec<u8>, boundary: &str, chance: &Chance) {
    let file = if chance.percent(40) { "; filename=\"a.txt\"" } else { "" };
    let name = chance.one(NAMES);
    made.extend(format!("{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n").bytes());
    made.extend(chance.one(VALUES).bytes().chain(*b"\r\n"));
}

#[test]
fn forms() {
    let seeds = (0..5_u64).flat_map(|seed| (0..8).map(move |number| make(&Chance::of(seed, number))));
    let flood = |door: u8, piece: &str| [vec![door], piece.repeat(60_000 / piece.len()).into_bytes()].concat();
    let floods = [
        flood(0, "--b\r\n\r\n\r\n"),
        flood(0, "--b\r\nContent-Disposition: form-data; name=\"x\"; filename=\"a\"\r\n\r\n\r\n"),
        [b"\0--b\r\n".to_vec(), "A: b\r\n".repeat(9_000).into_bytes()].concat(),
        flood(1, "\r\n--"),
        flood(3, "a=&"),
        flood(4, "--b\r\n"),
    ];
    let asks = |house: &House, input: &[u8]| {
        let (door, body) = input.split_first()?;
        let (path, kind) = DOORS[usize::from(*door) % DOORS.len()];
        let ask = Ask::post(path).key(&house.app.ours.admin).body(kind, body.to_vec());
        Some((format!("POST {path} {kind}"), ask))
    };
    Target::new("forms", 1_500, housed(asks))
        .seeds(seeds)
        .seeds(floods)
        .words(WORDS)
        .made_by(make)
        .within_megabytes(768)
        .play();
}
