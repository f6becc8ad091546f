//! Archives that come with mail: ZIP, and the `winmail.dat` of Outlook. Whatever is in one, the message is taken apart,
//! and the files of a sound one are those that were packed.

use std::io::{Cursor, Write as _};

use base64::Engine as _;
use kybern_adapters::mail::parse::Mime;
use kybern_core::document::limits;
use kybern_testkit::fuzz::{Chance, Target, mutate};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::mail;

/// Ends an archive that nobody has touched since it was made: before it stand the digests of its files, then one of
/// everything before itself.
const SEAL: &[u8] = b"SEALED";
/// Letters of a digest.
const DIGEST: usize = 16;

type Files = Vec<(String, Vec<u8>)>;

fn message(name: &str, archive: &[u8]) -> Vec<u8> {
    let head = format!(
        "From: a@b.example\r\nSubject: papers\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: \
         application/octet-stream\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\
         Content-Transfer-Encoding: base64\r\n\r\n"
    );
    let mut raw = head.into_bytes();
    for line in base64::engine::general_purpose::STANDARD.encode(archive).as_bytes().chunks(76) {
        raw.extend_from_slice(line);
        raw.extend(b"\r\n");
    }
    raw.extend(b"--b--\r\n");
    raw
}

fn check(name: &'static str) -> impl Fn(&[u8]) -> Result<(), String> + Send + Sync + 'static {
    move |archive| {
        let raw = message(name, archive);
        mail::check(&raw)?;
        let Ok(mail) = Mime.parse(&raw) else { return Ok(()) };
        let unpacked: usize = mail.parts.iter().map(|part| part.bytes.len()).sum();
        let most = usize::try_from(limits::MAX_UNPACKED).unwrap_or(usize::MAX);
        if unpacked > most + archive.len() {
            return Err(format!("{unpacked} bytes were unpacked"));
        }
        match sealed(archive) {
            Some(files) if files != mail::of(&mail) => Err(format!("packed {files:?}, opened {:?}", mail::of(&mail))),
            _ => Ok(()),
        }
    }
}

/// What is written at the end of an archive whose other bytes are `before`.
fn seal(before: &[u8], files: &[String]) -> Vec<u8> {
    let digests = files.concat();
    let own = own_digest(before, &digests);
    [digests.as_bytes(), own.as_bytes(), SEAL].concat()
}

/// Over how many digests of files there are, too: where they begin is not to be seen.
fn own_digest(before: &[u8], digests: &str) -> String {
    mail::hash(&[&digests.len().to_le_bytes()[..], before, digests.as_bytes()].concat())
}

/// The digests of the files of an archive that is as it was made.
fn sealed(archive: &[u8]) -> Option<Vec<String>> {
    let rest = archive.strip_suffix(SEAL)?;
    let all = (0..=8).map(|files| (files + 1) * DIGEST).find_map(|length| {
        let (before, digests) = rest.split_at_checked(rest.len().checked_sub(length)?)?;
        let digests = std::str::from_utf8(digests).ok()?;
        let (files, own) = digests.split_at_checked(length - DIGEST)?;
        (own == own_digest(before, files)).then_some(files)
    })?;
    Some((0..all.len() / DIGEST).map(|n| all[n * DIGEST..(n + 1) * DIGEST].to_owned()).collect())
}

/// Names as archives have them.
const NAMES: &[&str] = &[
    "a.pdf",
    "scans/b.csv",
    "../../c.txt",
    "C:\\papers\\d.docx",
    "/etc/passwd",
    "..",
    "",
    "Angebot für Müller.xlsx",
    "e\r\n.html",
    "inner.zip",
    "winmail.dat",
    "folder/",
    "__MACOSX/._a.pdf",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.txt",
];

/// Files of plain names and contents, which come out as they went in.
fn sound(chance: &Chance) -> Files {
    (0..=chance.below(6)).map(|n| (format!("f{n}.txt"), [b"x".to_vec(), chance.bytes(300)].concat())).collect()
}

/// Files of any name, archives among them.
fn odd(chance: &Chance, depth: u64) -> Files {
    let content = || match chance.below(6) {
        0 if depth < 4 => zip(&odd(chance, depth + 1), chance, &[]),
        1 if depth < 4 => tnef(&odd(chance, depth + 1), chance),
        2 => vec![chance.byte(); chance.index(200_000)],
        3 => Vec::new(),
        _ => chance.bytes(300),
    };
    (0..=chance.below(8)).map(|_| ((*chance.one(NAMES)).to_owned(), content())).collect()
}

fn digests(files: &Files) -> Vec<String> {
    files.iter().map(|(_, content)| mail::hash(content)).collect()
}

fn zip(files: &Files, chance: &Chance, comment: &[u8]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let method = *chance.one(&[CompressionMethod::Deflated, CompressionMethod::Stored]);
        // A name that is there already is refused; the archive then lacks the second.
        if writer.start_file(name.as_str(), SimpleFileOptions::default().compression_method(method)).is_ok() {
            writer.write_all(content).unwrap();
        }
    }
    writer.set_raw_comment(comment.into()).unwrap();
    writer.finish().unwrap().into_inner()
}

fn attribute(name: u32, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap();
    [&[2][..], &name.to_le_bytes(), &length.to_le_bytes(), data, &[0, 0]].concat()
}

/// The properties of a file with its long name, behind some others.
fn properties(name: &str, chance: &Chance) -> Vec<u8> {
    let tags: &[(u32, &[u8])] = &[
        (0x0E20_0003, &[7, 0, 0, 0]),
        (0x3705_000B, &[1, 0, 0, 0]),
        (0x3007_0040, &[0; 8]),
        (0x3702_0102, &[1, 0, 0, 0, 3, 0, 0, 0, 1, 2, 3, 0]),
        (0x1000_1003, &[2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]),
        (0x1000_0048, &[9; 16]),
    ];
    let before: Vec<_> = (0..chance.below(4)).map(|_| *chance.one(tags)).collect();
    let mut bytes = u32::try_from(before.len() + 1).unwrap().to_le_bytes().to_vec();
    for (tag, value) in before {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(value);
    }
    let (tag, name): (u32, Vec<u8>) = match chance.percent(70) {
        true => (0x3707_001F, name.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        false => (0x3707_001E, name.bytes().collect()),
    };
    bytes.extend(tag.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(u32::try_from(name.len()).unwrap().to_le_bytes());
    bytes.extend(&name);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn tnef(files: &Files, chance: &Chance) -> Vec<u8> {
    let mut bytes = vec![0x78, 0x9F, 0x3E, 0x22, 1, 0];
    bytes.extend(attribute(0x0008_9006, &[0, 0, 1, 0]));
    for (name, content) in files {
        bytes.extend(attribute(0x0006_9002, &[0; 14]));
        if chance.percent(80) {
            bytes.extend(attribute(0x0001_8010, &[name.as_bytes(), &[0]].concat()));
        }
        bytes.extend(attribute(0x0006_800F, content));
        if chance.percent(60) {
            bytes.extend(attribute(0x0006_9005, &properties(name, chance)));
        }
    }
    bytes
}

/// Does some damage.
fn damaged(mut archive: Vec<u8>, words: &[&'static [u8]], chance: &Chance) -> Vec<u8> {
    let other = chance.bytes(64);
    (0..=chance.below(4)).for_each(|_| mutate(&mut archive, &other, words, chance));
    archive
}

#[test]
fn zips() {
    const WORDS: &[&str] = &["PK\u{3}\u{4}", "PK\u{1}\u{2}", "PK\u{5}\u{6}", "PK\u{6}\u{6}", "PK\u{7}\u{8}", "..", "/"];
    let make = |chance: &Chance| {
        if chance.percent(30) {
            let files = sound(chance);
            let digests = digests(&files);
            // The end of an archive says how long the comment is that follows, so the place is held for it.
            let place = seal(&[], &digests);
            let mut archive = zip(&files, chance, &place);
            archive.truncate(archive.len() - place.len());
            let seal = seal(&archive, &digests);
            return [archive, seal].concat();
        }
        let archive = zip(&odd(chance, 0), chance, &[]);
        let words: Vec<&'static [u8]> = WORDS.iter().map(|word| word.as_bytes()).collect();
        if chance.percent(70) { damaged(archive, &words, chance) } else { archive }
    };
    let seeds = (0..20).map(|seed| make(&Chance::of(seed, 0)));
    Target::new("mail-zips", 800, check("papers.zip")).seeds(seeds).words(WORDS).made_by(make).play();
}

#[test]
fn wrappers() {
    const WORDS: &[&str] = &["x\u{9f}>\"", "\u{2}\u{2}", "\u{f}\u{6}", "\u{5}\u{6}", "\u{7}7\u{1f}", "PK\u{3}\u{4}"];
    let make = |chance: &Chance| {
        if chance.percent(30) {
            let files = sound(chance);
            let archive = tnef(&files, chance);
            let seal = seal(&archive, &digests(&files));
            return [archive, seal].concat();
        }
        let archive = tnef(&odd(chance, 0), chance);
        let words: Vec<&'static [u8]> = WORDS.iter().map(|word| word.as_bytes()).collect();
        if chance.percent(70) { damaged(archive, &words, chance) } else { archive }
    };
    let seeds = (0..20).map(|seed| make(&Chance::of(seed, 0)));
    Target::new("mail-wrappers", 1_500, check("winmail.dat")).seeds(seeds).words(WORDS).made_by(make).play();
}
