//! Letters as raw e-mail: their text, what comes with it, and letters that are made by chance.

use base64::Engine as _;
use kybern_testkit::fuzz::Chance;

use super::trade::{PIECES, filled};

/// The kinds of papers, with the type and the name that a file of each has.
pub(super) const PAPERS: &[(&str, &str)] = &[("text/csv", "schedule.csv"), ("text/plain", "dec page.txt")];

const SUBJECTS: &[&str] = &[
    "loss runs",
    "Loss runs needed: {company}",
    "RE: {company} / {policy}",
    "FW: {policy} {insurer}",
    "New quote request: {company}",
    "certificate",
    "Loss run request [Request:00000000-0000-7000-8000-{hex}]",
    "Rate confirmation {policy}",
    "as discussed",
    "",
];

/// Ends of lines that leave a sentence open.
const BREAKS: &[&str] = &["\r\n", "\r\n\r\n", " ", "", "\r\n> ", "\t", "; "];

#[derive(Clone, Debug)]
pub(super) struct Letter {
    /// Its number among those of its sender.
    pub(super) n: u32,
    pub(super) subject: String,
    /// The type of its text.
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// What comes with it: one of [`PAPERS`], and what that says.
    pub(super) paper: Option<(&'static (&'static str, &'static str), String)>,
}

impl Letter {
    /// One about loss runs that says nothing else.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { n: 1, subject: "loss runs".to_owned(), kind: "text/plain", text: text.into(), paper: None }
    }

    /// As it comes over the wire.
    pub(super) fn raw(&self) -> Vec<u8> {
        let Self { n, subject, kind, text, paper } = self;
        let head = format!(
            "From: Ada Moor <ada@larkspurvalley.example>\r\nTo: office@agency.example\r\nSubject: {subject}\r\n\
             Message-ID: <{n}@larkspurvalley.example>\r\nDate: Mon, 2 Mar 2026 09:00:00 +0000\r\nMIME-Version: 1.0\r\n"
        );
        let text = format!("Content-Type: {kind}; charset=utf-8\r\n\r\n{text}");
        let Some(((kind, name), paper)) = paper else { return format!("{head}{text}").into_bytes() };
        let mut raw = format!(
            "{head}Content-Type: multipart/mixed; boundary=\"=b\"\r\n\r\n--=b\r\n{text}\r\n--=b\r\n\
             Content-Type: {kind}; charset=utf-8\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n"
        );
        for line in base64::engine::general_purpose::STANDARD.encode(paper).as_bytes().chunks(76) {
            raw.extend(line.iter().copied().map(char::from));
            raw.push_str("\r\n");
        }
        raw.push_str("--=b--\r\n");
        raw.into_bytes()
    }
}

/// A letter from pieces of the trade and from what `sayings` say.
pub(super) fn make(sayings: &[String], chance: &Chance) -> Vec<u8> {
    let any = || chance.index(1 << (1 + chance.below(9)));
    let subject = filled(chance.one::<&str>(SUBJECTS), any);
    let text = text(sayings, chance);
    let kind = if chance.percent(85) { "text/plain" } else { "text/html" };
    let paper = chance.percent(40).then(|| (chance.one(PAPERS), rows(chance)));
    Letter { n: 1, subject, kind, text, paper }.raw()
}

fn text(sayings: &[String], chance: &Chance) -> String {
    let mut text = String::new();
    for _ in 0..=chance.below(1 << (1 + chance.below(4))) {
        if chance.percent(25) && !sayings.is_empty() {
            text.push_str(&part(chance.one::<String>(sayings), chance).replace('\n', "\r\n"));
        } else {
            // Often once, and sometimes a whole list of the same.
            let piece = chance.one(PIECES);
            let times = if chance.percent(70) { 1 } else { chance.below(1 << chance.below(8)) };
            let from = chance.index(300);
            let step = chance.index(3);
            for n in 0..usize::try_from(times).unwrap_or(1) {
                text.push_str(&filled(piece, || from + n * step));
            }
        }
        if chance.percent(60) {
            text.push_str(chance.one::<&str>(BREAKS));
        }
    }
    text
}

/// All of a text or some of its sentences.
fn part<'a>(text: &'a str, chance: &Chance) -> &'a str {
    if chance.percent(50) {
        return text;
    }
    let mut sentences = text.split_inclusive(['.', '?', '\n']);
    let count = sentences.clone().count();
    sentences.nth(chance.index(count)).unwrap_or_default()
}

/// A paper: what its rows are of, again and again.
fn rows(chance: &Chance) -> String {
    let mut rows = String::new();
    for _ in 0..=chance.below(3) {
        rows.push_str(&filled(chance.one::<&str>(PIECES), || chance.index(100)));
    }
    let row: String = (0..=chance.below(3)).map(|_| *chance.one(PIECES)).collect();
    let from = chance.index(200);
    for n in 0..chance.index(1 << (1 + chance.below(6))) {
        rows.push_str(&filled(&row, || from + n));
        if !row.ends_with('\n') {
            rows.push_str("\r\n");
        }
    }
    rows
}
