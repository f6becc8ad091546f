//! Documents that exhaust what reads them: the binary reads each in a process of its own, which is all that ends. The
//! server goes on, and reads the next one.

use std::io::{Cursor, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use kybern_adapters::documents::{READER_VERB, Reader, ReaderProgram};
use kybern_core::document::{DocumentFault, DocumentText, FaultKind};
use kybern_core::id::TenantId;
use kybern_core::ports::DocumentReader as _;
use kybern_testkit::fuzz::peak_megabytes;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::server::Site;
use crate::server::client::text;

const TENANT: TenantId = TenantId::from_uuid(uuid::Uuid::nil());
const BINARY: &str = env!("CARGO_BIN_EXE_kybern");
const MEGABYTE: u64 = 1024 * 1024;
const PLENTY: Duration = Duration::from_secs(60);

async fn read(memory: u64, time: Duration, name: &str, bytes: &[u8]) -> Result<DocumentText, DocumentFault> {
    let reader = Reader::new().reading_by(ReaderProgram::new(BINARY.into()).limited_to(memory, time));
    reader.read(TENANT, name, "", Bytes::copy_from_slice(bytes)).await
}

/// A document of Word whose text is packed some hundred times smaller than it is.
fn word(megabytes: usize) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("word/document.xml", SimpleFileOptions::default()).unwrap();
    // Empty paragraphs between words, so that it neither unpacks too far for its size nor has too much text.
    let noise: String =
        (0..1_000).map(|n| format!("<w:p w:rsidR=\"{:08X}\"/>", n * 2_654_435_761_u64 % (1 << 32))).collect();
    writer.write_all(b"<w:document><w:body><w:p><w:r><w:t>hello</w:t></w:r></w:p>").unwrap();
    for _ in 0..megabytes * 1024 * 1024 / noise.len() {
        writer.write_all(noise.as_bytes()).unwrap();
    }
    writer.write_all(b"</w:body></w:document>").unwrap();
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn a_document_that_exhausts_memory_costs_only_itself() {
    let bomb = word(31);
    // Enough for the program and for what documents take, not for 30 MB that are held twice and taken apart.
    let memory = 256 * MEGABYTE;
    let fault = read(memory, PLENTY, "bomb.docx", &bomb).await.unwrap_err();
    assert_eq!(fault.kind, FaultKind::TooLarge, "{fault}");
    let next = read(memory, PLENTY, "next.docx", &word(1)).await.unwrap();
    assert_eq!(next.full_text(), "hello");
    println!("this process took {} MB at most", peak_megabytes());
}

#[tokio::test]
async fn a_document_that_takes_too_long_costs_only_itself() {
    let long = "<table><tr><td>".repeat(1_000_000);
    let fault = read(1024 * MEGABYTE, Duration::from_millis(20), "long.html", long.as_bytes()).await.unwrap_err();
    assert_eq!((fault.kind, fault.message.contains("took longer than")), (FaultKind::TooLarge, true), "{fault}");
    assert_eq!(read(1024 * MEGABYTE, PLENTY, "a.txt", b"hello").await.unwrap().full_text(), "hello");
}

/// A process that waits for its document, with what the kernel says of it.
#[cfg(target_os = "linux")]
#[test]
fn the_process_that_reads_has_given_up_everything_else() {
    let mut command = Command::new(BINARY);
    command.args([READER_VERB, &(1024 * MEGABYTE).to_string(), "20"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let of = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
    let filtered = |status: &str| status.lines().any(|line| line == "Seccomp:\t2");
    while !filtered(&of("status")) {
        std::thread::yield_now();
    }
    assert!(of("status").lines().any(|line| line == "NoNewPrivs:\t1"));
    let limits = of("limits");
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(limit("Max address space"), (1024 * MEGABYTE).to_string());
    assert_eq!(limit("Max cpu time"), "20");
    assert_eq!((limit("Max core file size"), limit("Max file size")), ("0".to_owned(), "0".to_owned()));
    assert_eq!(limit("Max open files"), "16");
    drop(child.stdin.take());
    assert!(!child.wait().unwrap().success(), "there was no document");
    let mut said = Vec::new();
    child.stdout.unwrap().read_to_end(&mut said).unwrap();
    assert!(said.is_empty());
}

#[tokio::test]
async fn a_server_outlives_a_document_that_exhausts_memory_and_says_what_happened() {
    let server = Site::sqlite().with("KYBERN_DOCUMENTS__MEMORY_MB", "256").start();
    let client = server.client();
    let outcome = async |name: &str, bytes: &[u8]| {
        let mail = crate::hostile::files::mail(name, name, "application/octet-stream", bytes);
        let task = client.ok(&mail).await;
        client.rest(&text(&task["taskId"])).await
    };
    let bombed = outcome("bomb.docx", &word(31)).await;
    assert_eq!(bombed["status"], "needs_review", "{bombed}");
    let file = &bombed["waits"][0]["details"]["files"][0];
    assert_eq!(file["fault"], "too_large", "{file}");
    let read = outcome("note.docx", &word(1)).await;
    assert_ne!(read["waits"][0]["details"]["files"][0]["fault"], "too_large", "{read}");
}
