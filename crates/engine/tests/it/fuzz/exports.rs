//! Exports of the audit: whatever somebody made of the file, nothing panics, and only what was written is found whole.

use std::collections::BTreeSet;
use std::sync::Arc;

use kybern_core::audit::{
    AuditEvent, AuditHead, AuditKey, ChainStart, ChainedEvent, ExportReader, Exported, GENESIS, PURGED, check_export,
};
use kybern_core::id::TenantId;
use kybern_core::time::Timestamp;
use kybern_testkit::fuzz::{Chance, Target, json as damage};
use serde_json::{Value, json};

/// Events that are checked at once, few so that there are many borders.
const PAGE: usize = 3;
const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    " ",
    "\"seq\":1,",
    "\"hash\":",
    "\"prevHash\":",
    "\"signature\":\"\",",
    "\"unreadable\":null,",
    "\"detail\":{\"n\":1},",
    "1.0",
    "-0.0",
    "9007199254740993",
    "9223372036854775807",
    "\\u0000",
    "audit.purge",
];
const NAMES: &[&str] = &["seq", "at", "hash", "prevHash", "signature", "unreadable", "requestId", "detail", "tenantId"];
const TEXTS: &[&str] = &[GENESIS, "audit.purge", "1970-01-01T00:00:00.001000001Z", "1969-12-31T23:59:60Z", ""];

fn key() -> AuditKey {
    AuditKey::new([7; 32])
}

/// A chain of which the first four events were removed later, and its heads.
struct Chain {
    events: Vec<Value>,
    heads: Vec<Value>,
}

impl Chain {
    fn new() -> Self {
        let details = [
            json!({"count": 1, "share": 0.5, "sum": 9_007_199_254_740_992_u64, "none": 0}),
            json!({"reason": "asked again", "names": ["a", "b", {"c": null}]}),
            json!({}),
        ];
        let mut last = ChainStart::default();
        let mut chain = Self { events: Vec::new(), heads: Vec::new() };
        let mut removed = None;
        for (n, detail) in (1..=9).zip(details.iter().cycle().skip(1)) {
            let at = Timestamp::from_millis(n * 1_000);
            let event = match &removed {
                Some(start) if n == 8 => {
                    AuditEvent::by_executor(PURGED, "tenant:1", ChainStart::detail(start, 4, Timestamp::from_millis(5)))
                }
                _ => AuditEvent::by_executor("task.review", format!("task:{n}"), detail.clone()),
            };
            let link = key().chain(n, at, event, &last.hash);
            last = ChainStart { seq: n, hash: link.hash.clone() };
            if n == 4 {
                removed = Some(last.clone());
            }
            chain.events.push(json!(link));
            chain.heads.push(json!(key().sign_head(TenantId::DEFAULT, (n, last.hash.clone()), at)));
        }
        chain
    }

    /// All that was ever exported: up to each head, and what was left after the removal.
    fn exports(&self) -> Vec<Vec<Value>> {
        let until = |from: usize, to: usize| [&self.events[from..to], &self.heads[to - 1..to]].concat();
        (1..=9).map(|to| until(0, to)).chain((8..=9).map(|to| until(4, to))).collect()
    }
}

fn written(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The lines without the order of their members, which says nothing.
fn content(lines: &[&str]) -> Result<Vec<String>, String> {
    let sorted = |line: &&str| {
        let mut value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        value.sort_all_objects();
        Ok(value.to_string())
    };
    lines.iter().map(sorted).collect()
}

/// Whether an export is found whole; `Err` says why it cannot be read.
fn is_whole(lines: &[&str]) -> Result<bool, String> {
    let mut reader = ExportReader::new(PAGE);
    let mut sound = true;
    let mut check = |events: Vec<Value>, head: Option<&Value>| {
        let events: Vec<Exported<ChainedEvent>> = serde_json::from_value(json!(events)).map_err(|e| e.to_string())?;
        let head: Option<Exported<AuditHead>> = serde_json::from_value(json!(head)).map_err(|e| e.to_string())?;
        let report = check_export(key(), TenantId::DEFAULT, &events, head.as_ref());
        sound &= report.valid && report.faults.is_empty();
        Ok::<_, String>(())
    };
    for (n, line) in lines.iter().enumerate() {
        check(reader.line(line, n + 1 == lines.len())?, None)?;
    }
    let ends = reader.finish()?;
    check(Vec::new(), Some(&ends.head))?;
    Ok(sound && ends.faults.is_empty())
}

fn lines(input: &[u8]) -> Option<Vec<&str>> {
    let text = std::str::from_utf8(input).ok()?;
    Some(text.strip_suffix('\n').unwrap_or(text).split('\n').collect())
}

/// An export of which lines or values were changed.
fn make(chain: &Chain, chance: &Chance) -> Vec<u8> {
    let exports = chain.exports();
    let mut made = chance.one(&exports).clone();
    for _ in 0..chance.below(3) {
        let at = chance.index(made.len());
        match chance.below(8) {
            0 => drop(made.remove(at)),
            1 => made.insert(at, made[at].clone()),
            2 => made.insert(at, chance.one(chance.one::<Vec<Value>>(&exports)).clone()),
            3 => made.truncate(at + 1),
            4 => drop(made.drain(..at)),
            5 => {
                let other = chance.index(made.len());
                made.swap(at, other);
            }
            _ => {
                let other = made[0].clone();
                damage::mutate(&mut made[at], &other, NAMES, TEXTS, chance);
            }
        }
        if made.is_empty() {
            break;
        }
    }
    written(&made).into_bytes()
}

#[test]
fn exports() {
    let chain = Arc::new(Chain::new());
    let seeds: Vec<Vec<u8>> = chain.exports().iter().map(|lines| written(lines).into_bytes()).collect();
    let once = |seed: &Vec<u8>| content(&lines(seed).unwrap()).unwrap();
    let known: BTreeSet<Vec<String>> = seeds.iter().map(once).collect();
    for seed in &seeds {
        assert_eq!(is_whole(&lines(seed).unwrap()), Ok(true), "{}", String::from_utf8_lossy(seed));
    }
    let run = move |input: &[u8]| {
        let Some(lines) = lines(input) else { return Ok(()) };
        match is_whole(&lines) {
            Ok(true) if !known.contains(&content(&lines)?) => Err("it was changed, and is found whole".to_owned()),
            Ok(_) => Ok(()),
            Err(told) if told.len() > 1_000 => Err(format!("{} bytes of error", told.len())),
            Err(_) => Ok(()),
        }
    };
    Target::new("exports", 5_000, run).seeds(seeds).words(WORDS).made_by(move |chance| make(&chain, chance)).play();
}
