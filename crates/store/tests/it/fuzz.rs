//! Fuzz target of what an operator hands in: archives that somebody changed. `cargo xtask fuzz` plays it a million
//! times.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use kybern_core::ports::TaskStore as _;
use kybern_store::{Manifest, SqliteStore, StoreError};
use kybern_testkit::SimClock;
use kybern_testkit::fuzz::{Chance, Target, json as damage};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use zip::write::SimpleFileOptions;

use crate::archives::{fill, is_empty};
use crate::{support, work};

const WORDS: &[&str] = &[
    "null",
    "-1",
    "1e308",
    "9223372036854775808",
    "\\u0000",
    "\\ud800",
    "[",
    "]",
    "\n",
    ",",
    "tables/tenant.jsonl",
    "files/",
    "../",
    "manifest.json",
    "PK\u{1}\u{2}",
    "PK\u{5}\u{6}",
    "00000000-0000-0000-0000-000000000000",
];
const TEXTS: &[&str] = &["", "completed", "\u{0}", "{", "2026-11-25T00:00:00Z", "v1:x", "../../a"];

/// An entry as an input has it: its name, its columns and its content.
type Piece = (String, Vec<String>, Vec<u8>);

/// An archive whose manifest is right about whatever is in it.
fn pack(pieces: &[Piece], like: &Manifest) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut manifest =
        json!({"format": like.format, "schema": like.schema, "createdAt": like.created_at, "entries": []});
    for (name, columns, bytes) in pieces {
        zip.start_file(name, stored).unwrap();
        zip.write_all(bytes).unwrap();
        let checksum = blake3::hash(bytes).to_hex().to_string();
        let entry = json!({"name": name, "checksum": checksum, "rows": 1, "columns": columns});
        manifest["entries"].as_array_mut().unwrap().push(entry);
    }
    zip.start_file("manifest.json", stored).unwrap();
    zip.write_all(manifest.to_string().as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// What stands in an archive of a store in which something of most kinds is.
struct Sample {
    raw: Vec<u8>,
    manifest: Manifest,
    pieces: Vec<Piece>,
}

impl Sample {
    async fn new() -> Self {
        let (store, folder) = support::sqlite(Arc::new(SimClock::new())).await;
        fill(&store, work::home(), 61).await;
        let file = folder.path().join("backup.kybern");
        let manifest = store.backup(&file, None).await.unwrap();
        let raw = std::fs::read(&file).unwrap();
        let mut zip = zip::ZipArchive::new(std::io::Cursor::new(&raw)).unwrap();
        let mut pieces: Vec<Piece> = Vec::new();
        for entry in &manifest.entries {
            let mut bytes = Vec::new();
            std::io::copy(&mut zip.by_name(&entry.name).unwrap(), &mut bytes).unwrap();
            if !bytes.is_empty() {
                pieces.push((entry.name.clone(), entry.columns.clone(), bytes));
            }
        }
        Self { raw, manifest, pieces }
    }

    /// The archive with some cells changed.
    fn damaged(&self, chance: &Chance) -> Vec<u8> {
        let mut pieces = self.pieces.clone();
        for _ in 0..=chance.below(3) {
            let at = chance.index(pieces.len());
            let (_, columns, bytes) = &mut pieces[at];
            let lines = bytes.split(|byte| *byte == b'\n').map(serde_json::from_slice::<Value>);
            match lines.collect::<Result<Vec<_>, _>>() {
                Ok(mut rows) if !columns.is_empty() && chance.percent(90) => {
                    let row = chance.index(rows.len());
                    let other = rows[0].clone();
                    damage::mutate(&mut rows[row], &other, &["x"], TEXTS, chance);
                    *bytes = rows.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").into_bytes();
                }
                _ if chance.percent(50) && !columns.is_empty() => {
                    columns.remove(chance.index(columns.len()));
                }
                _ => kybern_testkit::fuzz::mutate(bytes, b"x", &[], chance),
            }
        }
        if chance.percent(5) {
            let (name, columns, bytes) = chance.one(&pieces).clone();
            pieces.push((format!("{name}x"), columns, bytes));
        }
        pack(&pieces, &self.manifest)
    }
}

/// Restores into an empty store: all or nothing, and nothing breaks.
async fn restores(store: &SqliteStore, file: &Path) -> Result<bool, String> {
    drop(kybern_store::manifest(file));
    let looked = kybern_store::verify(file).await;
    match (store.restore(file).await, looked) {
        (Err(StoreError::Closed), _) | (_, Err(StoreError::Closed)) => Err("it panics".to_owned()),
        (Ok(_), Err(error)) => Err(format!("restored, although {error}")),
        // What a row says wrongly is found by whoever looks for such rows.
        (Ok(_), Ok(_)) => store.unreadable(100).await.map(|_| true).map_err(|error| error.to_string()),
        (Err(_), _) if !is_empty(store).await => Err("refused, and yet something was written".to_owned()),
        (Err(error), _) if error.to_string().len() > 4096 => Err(format!("{} bytes of error", error.to_string().len())),
        (Err(_), _) => Ok(false),
    }
}

#[test]
fn archives() {
    let runtime = Runtime::new().unwrap();
    let sample = Arc::new(runtime.block_on(Sample::new()));
    let seeds = [sample.raw.clone(), pack(&sample.pieces, &sample.manifest), pack(&[], &sample.manifest)];
    let store = Mutex::new(None::<(SqliteStore, TempDir)>);
    let run = move |input: &[u8]| {
        let mut held = store.lock().unwrap_or_else(PoisonError::into_inner);
        runtime.block_on(async {
            if held.is_none() {
                *held = Some(support::sqlite(Arc::new(SimClock::new())).await);
            }
            let (store, folder) = held.as_ref().unwrap();
            let file = folder.path().join("given.kybern");
            std::fs::write(&file, input).map_err(|error| error.to_string())?;
            let outcome = restores(store, &file).await;
            // Whoever was filled is used no more.
            if outcome != Ok(false) {
                *held = None;
            }
            outcome.map(drop)
        })
    };
    Target::new("archives", 200, run).seeds(seeds).words(WORDS).made_by(move |chance| sample.damaged(chance)).play();
}
