//! Documents to text, over the samples.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use kybern_adapters::documents::Reader;
use kybern_core::document::{DocumentFault, DocumentText, FaultKind};
use kybern_core::id::TenantId;
use kybern_core::ports::DocumentReader;
use serde_json::Value;

/// Whose documents they are.
pub(crate) const TENANT: TenantId = TenantId::from_uuid(uuid::Uuid::nil());

/// No document of this size may take longer, in a debug build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

pub(crate) fn json(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(samples().join(path)).unwrap()).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "this test measures")]
async fn read(name: &str, content_type: &str, bytes: &[u8]) -> Result<DocumentText, DocumentFault> {
    let started = Instant::now();
    let outcome = Reader::new().read(TENANT, name, content_type, Bytes::copy_from_slice(bytes)).await;
    assert!(started.elapsed() < PATIENCE, "{name} took {:?}", started.elapsed());
    if let Ok(document) = &outcome {
        assert!(document.pages.iter().any(|page| !page.text.trim().is_empty()), "{name} is silently empty");
        for page in &document.pages {
            for line in &page.lines {
                assert!(page.text.get(line.start..line.end).is_some(), "{name}: a line outside of its page");
            }
        }
    }
    outcome
}

#[tokio::test]
async fn faulty_documents_get_their_fault() {
    for case in json("faults/expected.json").as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let bytes = std::fs::read(samples().join("faults").join(file)).unwrap();
        let accepted: Vec<&str> = std::iter::once(&case["expect"])
            .chain(case["alsoAccept"].as_array().into_iter().flatten())
            .filter_map(Value::as_str)
            .collect();
        let fault = read(file, case["contentType"].as_str().unwrap(), &bytes).await.expect_err(file);
        assert!(accepted.contains(&fault.kind.as_str()), "{file}: {fault}, wanted {accepted:?}");
        assert!(!fault.message.contains(file), "{file} is named in: {fault}");
    }
}

#[tokio::test]
async fn the_fault_does_not_depend_on_the_name() {
    for (file, kind) in [
        ("pdf/scan.pdf", FaultKind::Scan),
        ("pdf/encrypted.pdf", FaultKind::Encrypted),
        ("docx/encrypted.docx", FaultKind::Encrypted),
        ("docx/expansion-bomb.docx", FaultKind::TooLarge),
        ("xlsx/far-cell.xlsx", FaultKind::TooLarge),
    ] {
        let bytes = std::fs::read(samples().join("faults").join(file)).unwrap();
        assert_eq!(read("attachment", "", &bytes).await.unwrap_err().kind, kind, "{file}");
    }
}

/// Documents of every format, small enough to be damaged many times.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let mut seeds: Vec<(String, Vec<u8>)> = super::mime::mails()
        .into_iter()
        .flat_map(|(_, mail)| mail.parts)
        .filter(|part| !part.inline && part.bytes.len() < 40_000)
        .map(|part| (part.filename, part.bytes.to_vec()))
        .collect();
    seeds.sort();
    seeds.dedup_by(|a, b| a.0 == b.0);
    seeds
}

/// A generator of numbers that is the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % below.max(1)
    }
}

fn damage(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    for _ in 0..=numbers.next(6) {
        let at = numbers.next(damaged.len());
        match numbers.next(5) {
            0 => damaged.truncate(at.max(8)),
            1 => damaged[at] = u8::try_from(numbers.next(256)).unwrap(),
            2 => {
                let from = numbers.next(damaged.len());
                let piece = damaged[from..(from + 64).min(damaged.len())].to_vec();
                damaged.splice(at..at, piece);
            }
            3 => {
                damaged.drain(at..(at + 32).min(damaged.len()));
            }
            _ => {
                // Numbers are sizes, counts and offsets: the worst to get wrong.
                if let Some(digit) = damaged[at..].iter().position(u8::is_ascii_digit) {
                    damaged.splice(at + digit..=at + digit, *b"99999");
                }
            }
        }
        if damaged.is_empty() {
            damaged.push(b' ');
        }
    }
    damaged
}

#[tokio::test]
async fn damaged_documents_are_read_or_refused_in_time() {
    for (seed, (name, bytes)) in (1u64..).zip(seeds()) {
        for round in 0..15 {
            let mut numbers = Numbers(seed * 1_000 + round);
            let damaged = damage(&bytes, &mut numbers);
            // The outcome does not matter, only that there is one; `read` checks the rest.
            if let Err(fault) = read(&name, "", &damaged).await {
                assert!(!fault.message.contains("stopped the reader"), "{name} seed {seed} round {round} panicked");
            }
        }
    }
}
