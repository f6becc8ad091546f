//! Files: archives and documents that unpack without end, refer to themselves, or claim to be huge. All are made here.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Attack, Expect};
use crate::server::client::Ask;

const MEGABYTE: usize = 1024 * 1024;
const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const PDF: &str = "application/pdf";
const PAGE: &str = "<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>";
const BOOK: &str = "<workbook><sheets><sheet name=\"a\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>";
/// Whatever it is called, it cannot be read.
const ANY: &[&str] = &["too_large", "broken", "empty", "unsupported", "scan", "encrypted"];

pub(super) fn all() -> Vec<Attack> {
    let mut attacks = attached(packages().into_iter().chain(papers()));
    attacks.extend(small());
    let gzip = packed(|out| GzEncoder::new(out, Compression::best()), 32);
    attacks.push(Attack::new(
        "a packed file of zeros",
        mail("gzip", "dec.pdf.gz", "application/gzip", &gzip),
        Expect::Waits(ANY),
    ));
    attacks
}

/// Those that are small themselves.
pub(super) fn small() -> Vec<Attack> {
    attached(small_packages().into_iter().chain(small_papers()))
}

fn attached(files: impl Iterator<Item = File>) -> Vec<Attack> {
    let attack = |(what, name, kind, bytes, faults): File| {
        Attack::new(what, mail(what, name, kind, &bytes), Expect::Waits(faults))
    };
    files.map(attack).collect()
}

type File = (&'static str, &'static str, &'static str, Vec<u8>, &'static [&'static str]);

fn packages() -> Vec<File> {
    let zeros = vec![b' '; 64 * MEGABYTE];
    let bomb = zip(&[("word/document.xml", &zeros)]);
    let many: Vec<(String, &[u8])> = (0..12_000).map(|n| (format!("word/p{n}.xml"), &b"x"[..])).collect();
    let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
    let inner = zip(&[("word/document.xml", &zeros[..MEGABYTE])]);
    let shells = (0..200).fold(inner, |inner, _| zip(&[("word/inner.zip", &inner)]));
    let deep = format!("<w:document>{}", "<w:tbl><w:tr><w:tc>".repeat(300_000));
    vec![
        ("a Word bomb", "a.docx", DOCX, bomb, &["too_large"]),
        ("12,000 parts", "b.docx", DOCX, zip(&many), &["too_large"]),
        ("archives in archives", "c.docx", DOCX, shells, &["broken", "unsupported"]),
        (
            "300,000 tables in each other",
            "d.docx",
            DOCX,
            zip(&[("word/document.xml", deep.as_bytes())]),
            &["too_large"],
        ),
        (
            "an Excel bomb",
            "f.xlsx",
            XLSX,
            zip(&[("xl/workbook.xml", BOOK.as_bytes()), ("xl/sharedStrings.xml", &zeros)]),
            &["too_large"],
        ),
    ]
}

fn small_packages() -> Vec<File> {
    let entities =
        "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><w:document>&b;</w:document>";
    let cells = "<worksheet><sheetData><row r=\"1048576\"><c r=\"XFD1048576\"><v>1</v></c><c r=\"A1\"><v>1</v></c></row></sheetData></worksheet>";
    let strings = "<sst count=\"4294967295\" uniqueCount=\"4294967295\"><si><t>x</t></si></sst>";
    vec![
        ("entities in entities", "e.docx", DOCX, zip(&[("word/document.xml", entities.as_bytes())]), &["broken"]),
        (
            "a far cell",
            "g.xlsx",
            XLSX,
            zip(&[("xl/workbook.xml", BOOK.as_bytes()), ("xl/worksheets/sheet1.xml", cells.as_bytes())]),
            ANY,
        ),
        (
            "four thousand million strings",
            "h.xlsx",
            XLSX,
            zip(&[("xl/workbook.xml", BOOK.as_bytes()), ("xl/sharedStrings.xml", strings.as_bytes())]),
            &["too_large"],
        ),
    ]
}

fn papers() -> Vec<File> {
    let zeros = packed(|out| ZlibEncoder::new(out, Compression::best()), 64);
    let twice = zlib(&zeros);
    let text = zlib("(x) Tj ".repeat(MEGABYTE).as_bytes());
    let objects = zlib("0 ".repeat(3 * MEGABYTE).as_bytes());
    let one = || pages("1", "3 0 R");
    let with = |content: Vec<u8>| pdf(&[(2, one()), (3, PAGE.into()), (4, content)]);
    vec![
        ("a page of zeros", "a.pdf", PDF, with(stream("/Filter /FlateDecode", &zeros)), ANY),
        ("a page packed twice", "b.pdf", PDF, with(stream("/Filter [/FlateDecode /FlateDecode]", &twice)), ANY),
        ("a page of a million words", "c.pdf", PDF, with(stream("/Filter /FlateDecode", &text)), ANY),
        (
            "500 pages of the same million words",
            "d.pdf",
            PDF,
            pdf(&[
                (2, pages("500", &"3 0 R ".repeat(500))),
                (3, PAGE.into()),
                (4, stream("/Filter /FlateDecode", &text)),
            ]),
            ANY,
        ),
        (
            "a group of three million objects",
            "e.pdf",
            PDF,
            pdf(&[
                (2, one()),
                (3, PAGE.into()),
                (4, stream("/Type /ObjStm /N 3000000 /First 9 /Filter /FlateDecode", &objects)),
            ]),
            &["too_large"],
        ),
        (
            "100,000 pages",
            "h.pdf",
            PDF,
            pdf(&[(2, pages("100000", &"3 0 R ".repeat(100_000))), (3, PAGE.into()), (4, stream("", b"q Q"))]),
            &["too_large"],
        ),
        ("a page's content nested deep", "j.pdf", PDF, with(stream("", &nest(100_000))), ANY),
    ]
}

fn small_papers() -> Vec<File> {
    let form = b"BT (x) Tj ET /F Do /F Do";
    let one = || pages("1", "3 0 R");
    let with = |content: Vec<u8>| pdf(&[(2, one()), (3, PAGE.into()), (4, content)]);
    vec![
        ("pages that hold themselves", "f.pdf", PDF, pdf(&[(2, pages("2", "2 0 R 2 0 R"))]), ANY),
        ("four thousand million pages", "g.pdf", PDF, pdf(&[(2, pages("4294967295", "3 0 R")), (3, PAGE.into()), (4, stream("", b"q Q"))]), ANY),
        ("a form that draws itself", "i.pdf", PDF, pdf(&[
            (2, one()),
            (3, b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /XObject << /F 4 0 R >> >> >>".to_vec()),
            (4, stream("/Type /XObject /Subtype /Form /Resources << /XObject << /F 4 0 R >> >>", form)),
        ]), ANY),
        ("lists in lists", "k.pdf", PDF, pdf(&[(2, one()), (3, nest(100_000))]), ANY),
        ("a picture of no known kind", "l.pdf", PDF, with(stream("/Filter /JBIG2Decode", &[0xff; 4096])), ANY),
        ("a table of contents before itself", "m.pdf", PDF, b"%PDF-1.5\nxref\n0 1\n0000000000 65535 f \ntrailer << /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF\n".to_vec(), ANY),
    ]
}

fn pages(count: &str, kids: &str) -> Vec<u8> {
    format!("<< /Type /Pages /Count {count} /Kids [{kids}] >>").into_bytes()
}

/// Lists in lists.
fn nest(times: usize) -> Vec<u8> {
    [b"[".repeat(times), b"]".repeat(times)].concat()
}

fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// So many megabytes of spaces, packed.
fn packed<W>(encoder: impl FnOnce(Vec<u8>) -> W, megabytes: usize) -> Vec<u8>
where
    W: std::io::Write + Finish,
{
    let mut encoder = encoder(Vec::new());
    let piece = vec![b' '; MEGABYTE];
    for _ in 0..megabytes {
        encoder.write_all(&piece).unwrap();
    }
    encoder.done()
}

trait Finish {
    fn done(self) -> Vec<u8>;
}

impl Finish for ZlibEncoder<Vec<u8>> {
    fn done(self) -> Vec<u8> {
        self.finish().unwrap()
    }
}

impl Finish for GzEncoder<Vec<u8>> {
    fn done(self) -> Vec<u8> {
        self.finish().unwrap()
    }
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn stream(dict: &str, bytes: &[u8]) -> Vec<u8> {
    let head = format!("<< {dict} /Length {} >> stream\n", bytes.len());
    [head.as_bytes(), bytes, b"\nendstream"].concat()
}

/// A PDF of these objects, with a catalog that names object 2 as its pages.
fn pdf(objects: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut table = String::new();
    let catalog = (1, b"<< /Type /Catalog /Pages 2 0 R >>".to_vec());
    for (id, body) in std::iter::once(&catalog).chain(objects) {
        table.push_str(&format!("{id} 1\n{:010} 00000 n \n", out.len()));
        out.extend(format!("{id} 0 obj\n").bytes());
        out.extend(body);
        out.extend(b"\nendobj\n");
    }
    let at = out.len();
    out.extend(format!("xref\n{table}trailer\n<< /Size 40 /Root 1 0 R >>\nstartxref\n{at}\n%%EOF\n").bytes());
    out
}

/// A mail that asks for something, with one attachment.
pub(crate) fn mail(what: &str, name: &str, kind: &str, attachment: &[u8]) -> Ask {
    let encoded = STANDARD.encode(attachment);
    let lines: Vec<&str> = encoded.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let id = what.replace(' ', "-");
    let text = format!(
        "From: Office <office@drycreek.example>\r\nTo: intake@agency.example\r\nSubject: A request\r\n\
         Message-ID: <{id}@drycreek.example>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"part\"\r\n\r\n\
         --part\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nNeed a quote: Dry Creek Hauling LLC, DOT 9228815, Waco, TX.\r\n\
         --part\r\nContent-Type: {kind}; name=\"{name}\"\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n{}\r\n--part--\r\n",
        lines.join("\r\n")
    );
    Ask::post("/api/inbound/email", "message/rfc822", text)
}
