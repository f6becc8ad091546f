//! A PDF of ten pages: read alone, and as the attachment of a mail.

use std::io::Write as _;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use kybern_adapters::documents::{Reader, ReaderProgram};
use kybern_core::id::TenantId;
use kybern_core::ports::DocumentReader as _;

use crate::kit::Site;
use crate::table::line;
use crate::{Bench, mails};

const PAGES: usize = 10;
const LINES: usize = 45;
/// Times that it is read.
const RUNS: usize = 15;
/// What reading it may take.
const GOAL: Duration = Duration::from_millis(150);
/// What the first page says about whom and what it insures.
const INSURED: [&str; 5] = [
    "Named Insured: Juniper Flats Transport LLC",
    "USDOT Number: 9104417",
    "Policy Number: NRC-AL-204417-02",
    "Insurer: Northfield Ridge Insurance Company",
    "Policy Period: 03/01/2025 to 03/01/2026",
];

pub(crate) fn measure(bench: &Bench) {
    let file = pdf();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let reader = Reader::new().reading_by(ReaderProgram::new(env!("CARGO_BIN_EXE_kybern").into()));
    let median = median(|_| {
        let reading =
            reader.read(TenantId::from_uuid(uuid::Uuid::nil()), "policy.pdf", "application/pdf", file.clone().into());
        let text = runtime.block_on(reading).unwrap();
        assert!(text.pages.len() == PAGES && text.pages[PAGES - 1].lines.len() >= LINES, "it is read whole");
    });
    let what = format!("a PDF of {PAGES} pages with {LINES} lines, read with places in a process of its own: p50");
    line(&what, &format!("{median:.2?}"), "under 150 ms", Some(median < GOAL));
    let server = Site::new(&bench.folder, "sqlite:documents.db").start();
    let mut client = server.client();
    let median = self::median(|n| {
        let id = client.mail(&mails::with_pdf(n, &STANDARD.encode(&file)));
        let task = client.get(&format!("/api/tasks/{id}?waitMs=60000"));
        assert!(matches!(task["status"].as_str().unwrap(), "completed" | "needs_review"), "{task}");
    });
    line("the same as the attachment of an e-mail, from intake to rest: p50", &format!("{median:.2?}"), "", None);
}

fn median(mut run: impl FnMut(usize)) -> Duration {
    let timed = |n| {
        let begun = Instant::now();
        run(n);
        begun.elapsed()
    };
    let mut times: Vec<Duration> = (0..RUNS).map(timed).collect();
    times.sort();
    times[RUNS / 2]
}

/// The file: one font, and for each page a page object and its compressed content.
fn pdf() -> Vec<u8> {
    let kids: Vec<String> = (0..PAGES).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Count {PAGES} /Kids [{}] >>", kids.join(" ")).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    for page in 0..PAGES {
        let content = 5 + 2 * page;
        let head = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>";
        objects.push(format!("{head} /Contents {content} 0 R >>").into_bytes());
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(page_content(page).as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let mut object = format!("<< /Length {} /Filter /FlateDecode >>\nstream\n", packed.len()).into_bytes();
        object.extend(packed);
        object.extend(b"\nendstream");
        objects.push(object);
    }
    assemble(&objects)
}

/// Lines as policies have them: a label, a value in its column, and now and then a sentence.
fn page_content(page: usize) -> String {
    let mut content = String::new();
    for n in 0..LINES {
        let (y, number) = (750 - 16 * n, 7_710_000 + 100 * page + n);
        let mut show = |x: usize, text: &str| {
            content.push_str(&format!("BT /F1 10 Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET\n"));
        };
        match n {
            1..=5 if page == 0 => show(50, INSURED[n - 1]),
            0 => show(50, &format!("COMMERCIAL AUTO DECLARATIONS - PAGE {}", page + 1)),
            n if n % 9 == 8 => show(50, "This policy covers only those autos that a premium charge is shown for here."),
            _ => {
                show(50, &format!("Item {n}: covered vehicle and its unit number"));
                show(320, &format!("NRC-AL-{number}-02"));
                show(470, &format!("$ {}.00", 1_000 + number % 977));
            }
        }
    }
    content
}

/// The objects, numbered from 1, with the table of where they stand.
fn assemble(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(objects) {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.extend(format!("{number} 0 obj\n").into_bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let (start, size) = (file.len(), objects.len() + 1);
    file.extend(table.into_bytes());
    file.extend(format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").into_bytes());
    file
}
