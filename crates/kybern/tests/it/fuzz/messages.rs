//! Messages of strangers: whatever one says, its task comes to an end without a fault of the server, and a replay of its
//! journal comes to the same.

use std::sync::{Mutex, PoisonError};

use kybern_testkit::fuzz::Target;
use serde_json::Value;

use super::agency::Agencies;
use super::letters::{Letter, make};
use crate::computing;
use crate::samples;

/// How long a flood is.
const FLOOD: usize = if cfg!(debug_assertions) { 4 * 1024 } else { 40 * 1024 };
const WORDS: &[&str] = &[
    "loss runs ",
    "Policy number: ",
    "policy ",
    "Insured: ",
    "Named insured: ",
    "Insurer: ",
    "DOT ",
    "VIN: ",
    "1FUJGLDR0KLAB0000",
    "CP-20418",
    " LLC",
    " Casualty",
    " for ",
    " and ",
    "not ",
    "only ",
    "except ",
    "please ",
    "07/01/2026",
    "$1,000,000 ",
    "(512) 555-0142",
    "a@b.example ",
    "\r\n> ",
    "\r\n\r\n",
    "    ",
    "\t",
    " | ",
    "- ",
    ",",
    ": ",
    ". ",
    "---------- Forwarded message ---------\r\n",
    "-----Original Message-----\r\nFrom: ",
    "wrote:\r\n",
    "\u{a0}",
    "\u{2019}",
    "\u{130}",
    "\u{df}",
    "\u{301}",
    "\u{1f69a}",
];

/// What a person says that a message wants; of most, loss runs.
fn intent(raw: &[u8]) -> &'static str {
    const INTENTS: [&str; 6] = [
        "insurance.loss_run_request",
        "insurance.loss_run_request",
        "insurance.loss_run_reply",
        "insurance.new_lead",
        "fleet.new_driver",
        "freight.new_load",
    ];
    INTENTS[raw.len() % INTENTS.len()]
}

/// Texts of labelled messages.
fn sayings() -> Vec<String> {
    let files = ["intents/labelled.jsonl", "intents/talk.jsonl"];
    let texts = files.map(|file| std::fs::read_to_string(samples::folder().join(file)).unwrap());
    let lines = texts.iter().flat_map(|text| text.lines());
    lines
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["text"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn messages() {
    let mails = samples::all().into_iter().filter(|sample| sample.file.starts_with("mail/"));
    let mails = mails.map(|sample| sample.ask.body);
    let floods = computing::floods().into_iter().map(|text| Letter::new(&text[..text.len().min(FLOOD)]).raw());
    let agencies = Mutex::new(Agencies::new());
    let sayings = sayings();
    Target::new("messages", 36, move |raw| {
        let mut agencies = agencies.lock().unwrap_or_else(PoisonError::into_inner);
        agencies.walk(&[raw], intent(raw)).map(|_| ())
    })
    .seeds(mails)
    .seeds(floods)
    .words(WORDS)
    .made_by(move |chance| make(&sayings, chance))
    .play();
}
