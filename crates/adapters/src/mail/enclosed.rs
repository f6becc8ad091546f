//! Archives among the files of a message: ZIP, and the `winmail.dat` of Outlook. What they hold becomes files of the
//! message, as if it had been attached by itself.
//!
//! An archive that was opened as a whole is no file any more; the message itself is kept, and has it. One that could
//! not be, because a file in it is locked, or because it holds or unpacks to too much, stays a file, and the reader of
//! documents says what is wrong with it.

use bytes::Bytes;
use kybern_core::document::limits;
use kybern_core::mail::MailPart;

use super::{tnef, uuencode};
use crate::documents::{is_plain_zip, unzip};

/// How deep archives are opened in archives.
const MAX_DEPTH: usize = 2;
/// The longest name of a file that is kept, without that of its archive.
const MAX_NAME: usize = 150;
/// The longest name with those of its archives.
const MAX_PATH: usize = 250;

/// What may still be unpacked from the archives of one message: all of it is kept as files of their own, so a small
/// message must not become a large one.
#[derive(Debug)]
pub(super) struct UnpackBudget {
    /// What its archives, as large as they are, may unpack to.
    most: u64,
    taken: u64,
}

impl UnpackBudget {
    pub(super) const fn new() -> Self {
        Self { most: limits::FREE_UNPACKED, taken: 0 }
    }

    /// Makes the room that an archive of the message itself brings.
    fn grow(&mut self, archive: &Bytes) {
        let size = u64::try_from(archive.len()).unwrap_or(u64::MAX);
        self.most = self.most.saturating_add(size.saturating_mul(limits::KEPT_EXPANSION));
    }

    fn left(&self) -> u64 {
        self.most.min(limits::MAX_UNPACKED).saturating_sub(self.taken)
    }

    fn take(&mut self, bytes: u64) -> Option<()> {
        (bytes <= self.left()).then(|| self.taken += bytes)
    }
}

/// A file that stood in the text of a message.
pub(super) fn from_text(found: uuencode::UuencodedFile, number: usize, depth: usize) -> MailPart {
    let filename = clean(&found.name, number);
    let content_type = type_of(&filename).to_owned();
    MailPart { filename, content_type, bytes: Bytes::from(found.bytes), inline: false, depth }
}

/// The files that stand for this one: itself, unless it is an archive. `most` is how many there may be.
pub(super) fn open(part: MailPart, most: usize, room: &mut UnpackBudget) -> Vec<MailPart> {
    if is_plain_zip(&part.bytes) || tnef::is_tnef(&part.bytes) {
        room.grow(&part.bytes);
    }
    open_at(part, most, room, 0)
}

fn open_at(part: MailPart, most: usize, room: &mut UnpackBudget, depth: usize) -> Vec<MailPart> {
    let Some(found) = (depth < MAX_DEPTH).then(|| files(&part, most, room)).flatten() else { return vec![part] };
    let mut opened: Vec<MailPart> = Vec::new();
    let mut left = found.files.len();
    for (name, bytes) in found.files {
        left -= 1;
        let name = clean(&name, opened.len() + 1);
        let content_type = type_of(&name).to_owned();
        let room_for_path = MAX_PATH.saturating_sub(name.chars().count() + 1);
        let path: String = part.filename.chars().take(room_for_path).collect();
        let filename = format!("{}/{name}", path.trim_end_matches('/'));
        let file = MailPart { filename, content_type, bytes: Bytes::from(bytes), inline: false, depth: part.depth };
        let room_for = most.saturating_sub(opened.len() + left + usize::from(!found.complete));
        opened.extend(open_at(file, room_for.max(1), room, depth + 1));
    }
    if !found.complete {
        opened.push(part);
    }
    opened
}

struct EnclosedFiles {
    files: Vec<(String, Vec<u8>)>,
    /// Whether that is all there is in the archive.
    complete: bool,
}

/// What is in an archive; `None` when it is none, or nothing of it can be had.
fn files(part: &MailPart, most: usize, room: &mut UnpackBudget) -> Option<EnclosedFiles> {
    let (files, complete) = if is_plain_zip(&part.bytes) {
        unzip(&part.bytes, most.saturating_sub(1), room.left(), |name| !is_litter(name))?
    } else if tnef::is_tnef(&part.bytes) {
        (tnef::files(&part.bytes, most.saturating_sub(1))?, true)
    } else {
        return None;
    };
    let total: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let total = u64::try_from(total).unwrap_or(u64::MAX);
    room.take(total)?;
    // An empty archive is a file that a person should look at.
    (!files.is_empty()).then_some(EnclosedFiles { files, complete })
}

/// What systems leave in archives besides the files that somebody put there.
fn is_litter(path: &str) -> bool {
    let mut folders = path.split(['/', '\\']);
    let name = folders.next_back().unwrap_or_default();
    name.is_empty()
        || name.starts_with("._")
        || name.eq_ignore_ascii_case(".DS_Store")
        || name.eq_ignore_ascii_case("Thumbs.db")
        || name.eq_ignore_ascii_case("desktop.ini")
        || folders.any(|folder| folder == "__MACOSX")
}

/// A name without folders and control characters.
fn clean(path: &str, number: usize) -> String {
    let last = path.trim_end_matches('\0').rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
    let clean = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    if clean.is_empty() || clean.chars().all(|c| c == '.') { format!("file-{number}.bin") } else { clean }
}

fn type_of(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    match extension.as_str() {
        "pdf" => "application/pdf",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "csv" => "text/csv",
        "htm" | "html" => "text/html",
        "txt" => "text/plain",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "tif" | "tiff" => "image/tiff",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn opened(bytes: Vec<u8>, most: usize) -> Vec<String> {
        let part = MailPart {
            filename: "papers.zip".to_owned(),
            content_type: "application/zip".to_owned(),
            bytes: Bytes::from(bytes),
            inline: false,
            depth: 0,
        };
        open(part, most, &mut UnpackBudget::new()).into_iter().map(|part| part.filename).collect()
    }

    #[test]
    fn the_files_of_an_archive_take_its_place() {
        let bytes = zip(&[
            ("scans/../../a.pdf", b"%PDF-1"),
            ("__MACOSX/._a.pdf", b"x"),
            (".DS_Store", b"x"),
            ("b\r\n.csv", b"a,b"),
        ]);
        assert_eq!(opened(bytes, 100), ["papers.zip/a.pdf", "papers.zip/b.csv"]);
    }

    #[test]
    fn archives_are_opened_two_deep() {
        let innermost = zip(&[("deep.txt", b"x")]);
        let inner = zip(&[("third.zip", &innermost)]);
        let bytes = zip(&[("second.zip", &inner), ("a.txt", b"x")]);
        assert_eq!(opened(bytes, 100), ["papers.zip/second.zip/third.zip", "papers.zip/a.txt"]);
    }

    #[test]
    fn an_archive_of_too_much_stays_closed() {
        let many: Vec<(String, Vec<u8>)> = (0..30).map(|n| (format!("{n}.txt"), b"x".to_vec())).collect();
        let many: Vec<(&str, &[u8])> = many.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        assert_eq!(opened(zip(&many), 20), ["papers.zip"]);
        let bomb = vec![0u8; 30 * 1024 * 1024];
        assert_eq!(opened(zip(&[("a.txt", &bomb)]), 100), ["papers.zip"]);
        assert_eq!(opened(zip(&[]), 100), ["papers.zip"]);
    }

    #[test]
    fn a_small_message_keeps_no_large_files() {
        let part = |bytes: Vec<u8>| MailPart {
            filename: "papers.zip".to_owned(),
            content_type: "application/zip".to_owned(),
            bytes: Bytes::from(bytes),
            inline: false,
            depth: 0,
        };
        // Lines that shrink to a hundredth, each part well below what one archive may unpack to.
        let line: Vec<u8> = (0..=u8::MAX).chain(0..=u8::MAX).collect();
        let file = |size: usize| line.iter().copied().cycle().take(size).collect::<Vec<u8>>();
        let nine = file(9 * 1024 * 1024);
        let archive = zip(&[("a.txt", &nine), ("b.txt", &nine)]);
        assert!(archive.len() < 500_000, "{}", archive.len());
        let mut room = UnpackBudget::new();
        assert_eq!(open(part(archive.clone()), 100, &mut room).len(), 2);
        assert_eq!(open(part(archive), 100, &mut room)[0].filename, "papers.zip", "the second is one too many");
        let small = zip(&[("c.txt", &file(1000))]);
        assert_eq!(open(part(small), 100, &mut room)[0].filename, "papers.zip/c.txt", "there is room for little");
        // What hardly shrinks has room as it comes.
        let noise: Vec<u8> =
            (0u32..3_000_000).flat_map(|n| blake3::hash(&n.to_le_bytes()).as_bytes()[..4].to_vec()).collect();
        let mut room = UnpackBudget::new();
        for _ in 0..3 {
            assert_eq!(open(part(zip(&[("d.pdf", &noise)])), 100, &mut room).len(), 1);
        }
        assert_eq!(room.taken, 36_000_000);
    }

    #[test]
    fn a_locked_file_leaves_the_archive_to_be_reported() {
        let mut bytes = zip(&[("a.txt", b"x"), ("b.txt", b"y")]);
        // The bit that says so, in the heads of the second file.
        for mark in [&b"PK\x03\x04"[..], b"PK\x01\x02"] {
            let at = bytes.windows(4).rposition(|window| window == mark).unwrap();
            bytes[at + if mark[2] == 3 { 6 } else { 8 }] |= 1;
        }
        assert_eq!(opened(bytes, 100), ["papers.zip/a.txt", "papers.zip"]);
    }
}
