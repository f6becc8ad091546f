//! Longer messages that talk of many things, by writers who had not seen the rules: what they only name decides nothing.

use std::fs;

use serde_json::Value;

use super::{THRESHOLD, classify, samples, text};
use kybern_core::model::ClassifyInput;

/// Of the messages, so many may be surely wrong, and so many must be surely right: a floor, and no measure.
const MOST_WRONG: usize = 6;
const LEAST_RIGHT: usize = 50;

#[tokio::test]
async fn what_is_only_named_in_talk_decides_nothing() {
    let lines = fs::read_to_string(samples().join("intents/talk.jsonl")).unwrap();
    let (mut right, mut wrong) = (0, Vec::new());
    for line in lines.lines() {
        let value: Value = serde_json::from_str(line).unwrap();
        let (subject, said) = (text(&value["subject"]), text(&value["text"]));
        let answer = classify(&ClassifyInput { subject, text: said, ..ClassifyInput::default() }).await;
        if answer.confidence < THRESHOLD || !answer.doubts.is_empty() {
            continue;
        }
        if answer.intent == value["intent"].as_str().map(str::to_owned) {
            right += 1;
        } else {
            wrong.push((text(&value["subject"]), answer.intent));
        }
    }
    println!("{} messages: {right} surely right, {} surely wrong: {wrong:?}", lines.lines().count(), wrong.len());
    assert!(wrong.len() <= MOST_WRONG && right >= LEAST_RIGHT, "{right} right, wrong: {wrong:?}");
}
