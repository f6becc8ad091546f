//! Mail: whatever comes in, it is taken apart or refused, and files stay as they were sent.

use kybern_adapters::mail::parse::Mime;
use kybern_core::document::limits;
use kybern_core::mail::ParsedMail;
use kybern_testkit::fuzz::{Chance, Target};

/// Says that nobody has touched this message since it was made, and what its files must be.
const SEAL: &str = "X-Sealed: ";
const WORDS: &[&str] = &[
    "\r\n\r\n",
    "\r\n--b\r\n",
    "\r\n--b--\r\n",
    "\r\n ",
    "Content-Type: multipart/mixed; boundary=b\r\n",
    "Content-Type: multipart/related; boundary=\"b\"\r\n",
    "Content-Type: multipart/alternative; boundary=b\r\n",
    "Content-Type: multipart/digest; boundary=b\r\n",
    "Content-Type: message/rfc822\r\n",
    "Content-Type: text/html; charset=utf-7\r\n",
    "Content-Type: text/plain; charset=iso-2022-jp\r\n",
    "Content-Type: application/pdf; name=\"a.pdf\"\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "Content-Transfer-Encoding: quoted-printable\r\n",
    "Content-Transfer-Encoding: x-uuencode\r\n",
    "Content-Disposition: attachment; filename*0*=utf-8''%; filename*1=x\r\n",
    "Content-ID: <x>\r\n",
    "Message-ID: <a@b>\r\n",
    "References: <a> <b>\r\n",
    "Date: Tue, 31 Feb 99999 25:61:61 +9999\r\n",
    "From: \"a\" <x@y.example>, (c (d)) z: q;\r\n",
    "Subject: =?utf-8?b?////?= =?x?q?=C3?=\r\n",
    "=\r\n",
    "=ZZ",
    "<img src=\"cid:x\">",
    "&#x110000;",
    "begin 644 a\r\n",
];

pub(super) fn check(raw: &[u8]) -> Result<(), String> {
    let outcome = Mime.parse(raw);
    if Mime.parse(raw) != outcome {
        return Err("the same message is two different ones".to_owned());
    }
    let mail = match outcome {
        Err(fault) if fault.to_string().contains("structure") => return Err(format!("the parser panicked: {fault}")),
        Err(_) if sealed(raw).is_some() => return Err("a message of our own is refused".to_owned()),
        Err(_) => return Ok(()),
        Ok(mail) => mail,
    };
    let promise = |kept: bool, what: &str| if kept { Ok(()) } else { Err(what.to_owned()) };
    promise(mail.text.len() <= limits::MAX_TEXT, "too much text")?;
    promise(!mail.text.contains('\r'), "a carriage return in the text")?;
    let people = || mail.to.iter().chain([&mail.from]);
    let odd = |text: &str| text.contains(char::is_control);
    promise(!people().any(|one| odd(&one.name) || odd(&one.address)), "a control character in an address")?;
    promise(mail.parts.len() <= limits::MAX_ATTACHMENTS, "too many attachments")?;
    let plain = !contains(raw, b"base64") && !contains(raw, b"quoted-printable") && !contains(raw, b"=?");
    for part in &mail.parts {
        let name = &part.filename;
        promise(part.depth <= limits::MAX_NESTING, "an attachment too deep")?;
        // The file of an archive is named after it: one name for each archive, and its own.
        promise(name.chars().count() <= 250 && name.matches('/').count() <= 2, "a file name of no length")?;
        let is_name = |name: &str| !name.is_empty() && name != ".." && name.chars().count() <= 150;
        promise(name.split('/').all(is_name), "a file name that leads elsewhere")?;
        promise(!name.contains('\\') && !name.contains(char::is_control), "a file name that is a path")?;
        if plain && !name.contains('/') && !is_in(&part.bytes, raw) {
            return Err(format!("{name:?} is not what was sent"));
        }
    }
    match sealed(raw) {
        Some(files) if files != of(&mail) => Err(format!("sent {files:?}, taken apart {:?}", of(&mail))),
        _ => Ok(()),
    }
}

/// Whether all of a file stands in the message, in its order. In a broken one blank lines and boundaries may have been put
/// into it, where the parser needs them.
fn is_in(file: &[u8], raw: &[u8]) -> bool {
    if file.is_empty() || raw.windows(file.len()).any(|window| window == file) {
        return true;
    }
    let mut rest = raw;
    let mut lines = file.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.all(|line| {
        if line.is_empty() || line.starts_with(b"--") {
            return true;
        }
        let at = rest.windows(line.len()).position(|window| window == line);
        rest = at.map_or(&[], |at| &rest[at + line.len()..]);
        at.is_some()
    })
}

fn contains(raw: &[u8], word: &[u8]) -> bool {
    raw.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

pub(super) fn of(mail: &ParsedMail) -> Vec<String> {
    mail.parts.iter().map(|part| hash(&part.bytes)).collect()
}

pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// The files of a message that is as it was made.
fn sealed(raw: &[u8]) -> Option<Vec<String>> {
    let rest = raw.strip_prefix(SEAL.as_bytes())?;
    let end = rest.iter().position(|byte| *byte == b'\r')?;
    let line = std::str::from_utf8(&rest[..end]).ok()?;
    let files: Vec<String> = line.split_whitespace().skip(1).map(str::to_owned).collect();
    // A line feed between the two is not seen in the list, and ends the header before its other lines.
    (line == format!("{} {}", seal(&files, &rest[end..]), files.join(" "))).then_some(files)
}

/// A message with parts in parts, whose files are known.
fn make(chance: &Chance) -> Vec<u8> {
    let mut files = Vec::new();
    let mut body = b"\r\nFrom: a@b.example\r\nSubject: made\r\n".to_vec();
    container(&mut body, &mut files, 0, chance);
    let head = format!("{SEAL}{} {}", seal(&files, &body), files.join(" "));
    [head.into_bytes(), body].concat()
}

fn seal(files: &[String], body: &[u8]) -> String {
    hash(&[files.join(" ").as_bytes(), body].concat())
}

fn container(out: &mut Vec<u8>, files: &mut Vec<String>, depth: u64, chance: &Chance) {
    let boundary = format!("b{depth}-{}", chance.below(1000));
    out.extend(format!("Content-Type: multipart/mixed; boundary=\"{boundary}\"\r\n\r\n").bytes());
    for _ in 0..=chance.below(3) {
        out.extend(format!("\r\n--{boundary}\r\n").bytes());
        match chance.below(4) {
            0 if depth < 4 => container(out, files, depth + 1, chance),
            1 => out.extend(b"Content-Type: text/plain; charset=utf-8\r\n\r\nsome text\r\n"),
            _ => file(out, files, chance),
        }
    }
    out.extend(format!("\r\n--{boundary}--\r\n").bytes());
}

fn file(out: &mut Vec<u8>, files: &mut Vec<String>, chance: &Chance) {
    use base64::Engine as _;
    let bytes = [b"x".to_vec(), chance.bytes(200)].concat();
    files.push(hash(&bytes));
    let kind = chance.one(&["application/pdf", "text/csv", "text/html; charset=windows-1252", "image/png", "x/y"]);
    out.extend(
        format!(
            "Content-Type: {kind}\r\nContent-Disposition: attachment; filename=\"f{}\"\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n",
            files.len(),
        )
        .bytes(),
    );
    for line in base64::engine::general_purpose::STANDARD.encode(bytes).as_bytes().chunks(76) {
        out.extend_from_slice(line);
        out.extend(b"\r\n");
    }
}

/// What attackers of mail parsers write.
fn hostile() -> Vec<Vec<u8>> {
    let nested = |times: usize| "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n".repeat(times);
    let digest = "Content-Type: message/rfc822\r\n\r\n".repeat(400);
    [
        nested(900),
        format!("{digest}Subject: x\r\n\r\ntext"),
        format!("Subject: {}\r\n\r\nx", "=?utf-8?q?a?= ".repeat(4_000)),
        format!("Subject: x\r\nReferences: {}\r\n\r\nx", "<a@b>\r\n ".repeat(6_000)),
        format!("To: {}\r\n\r\nx", "((((".repeat(10_000)),
        format!("To: {}\r\n\r\nx", "a:".repeat(20_000)),
        format!("{}\r\n\r\nx", "A: b\r\n".repeat(10_000)),
        format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}", "--b\r\n\r\nx\r\n".repeat(5_000)),
        format!("Content-Type: text/html\r\n\r\n{}", "<table><tr><td>".repeat(4_000)),
        format!("Content-Type: text/plain; {}\r\n\r\nx", "a*0*=x;".repeat(8_000)),
    ]
    .into_iter()
    .map(String::into_bytes)
    .collect()
}

/// How long a flood is.
const FLOOD: usize = if cfg!(debug_assertions) { 1024 * 1024 } else { 4 * 1024 * 1024 };
/// What a flood may take, in megabytes: its message a few times, and not a structure for every few bytes of it. One alone
/// takes up to 45 in a release build; the allocator keeps some of what those before it took.
const FLOOD_MEGABYTES: u64 = if cfg!(debug_assertions) { 12 } else { 96 };

/// Where a flood comes: before it, and after it.
const CHANNELS: &[(&str, &str)] = &[
    ("To: ", "\r\n\r\nx"),
    ("References: ", "\r\n\r\nx"),
    ("Subject: ", "\r\n\r\nx"),
    ("X-Other: ", "\r\n\r\nx"),
    ("Content-Type: text/plain; ", "\r\n\r\nx"),
    ("Subject: x\r\n", "\r\n\r\nx"),
    ("Content-Type: multipart/mixed; boundary=b\r\n\r\n", "\r\n--b--\r\n"),
    ("Content-Type: multipart/digest; boundary=b\r\n\r\n", "\r\n--b--\r\n"),
    ("Content-Type: text/html\r\n\r\n", ""),
    ("Content-Type: text/html\r\n\r\n<table><tr><td><div>", "</table>"),
];

const PIECES: &[&str] = &[
    "a@b.example, ",
    "a:",
    ";",
    "(",
    "\"",
    "<a@b> ",
    "A:\n",
    "=?aa?q?x",
    "=?aa?b?x",
    "a*0*=x;",
    "a*1*=x'y;",
    "\r\n ",
    "--b\n\n",
    "x --b\r\n\r\n",
    "--b\nContent-Type: multipart/mixed; boundary=c\n\n",
    "--b\nContent-Type: message/rfc822\n\n",
    "Content-Type: multipart/mixed; boundary=b\n\n--b\n",
    "<table/>",
    "<table></div>",
    "<table/><tr><td>x",
    "<tr><td>x</table>",
    "<p>",
];

/// A message in which a piece comes as often as fits, as it is or encoded in another message. The first byte says
/// where.
fn flood(recipe: &[u8]) -> Option<Vec<u8>> {
    use base64::Engine as _;
    let (first, piece) = recipe.split_first().filter(|(_, piece)| !piece.is_empty())?;
    let channel = usize::from(*first);
    let (before, after) = CHANNELS[channel % CHANNELS.len()];
    let flood = piece.repeat(FLOOD / piece.len());
    let message = [before.as_bytes(), &flood, after.as_bytes()].concat();
    if (channel / CHANNELS.len()).is_multiple_of(2) {
        return Some(message);
    }
    let head = "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    Some(format!("{head}{}", base64::engine::general_purpose::STANDARD.encode(message)).into_bytes())
}

/// Whatever comes millions of times, time and memory stay small: whoever plays it watches both.
fn withstands(recipe: &[u8]) -> Result<(), String> {
    match flood(recipe).map(|raw| Mime.parse(&raw)) {
        Some(Err(fault)) if fault.to_string().contains("structure") => Err(format!("the parser panicked: {fault}")),
        _ => Ok(()),
    }
}

#[test]
fn floods() {
    let every = (0..CHANNELS.len() * 2).flat_map(|channel| {
        PIECES.iter().map(move |piece| [&[u8::try_from(channel).unwrap()], piece.as_bytes()].concat())
    });
    let count = every.clone().count() as u64 / 2 + 10;
    let target = Target::new("mail-floods", count, withstands).seeds(every).words(PIECES);
    target.within_megabytes(FLOOD_MEGABYTES).play();
}

#[test]
fn mail() {
    let samples = super::samples("mail").into_iter().map(|(_, bytes)| bytes);
    Target::new("mail", 1_500, check).seeds(hostile()).seeds(samples).words(WORDS).made_by(make).play();
}
