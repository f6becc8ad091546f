//! Opening a PDF: what is locked, cut off or built to exhaust memory is refused before its pages are read.

use std::io::Read;

use flate2::read::ZlibDecoder;
use kybern_core::document::{DocumentFault, FaultKind};
use lopdf::{DecompressError, Document, Error, LoadOptions};

use super::super::pages::unpacks_too_far;
use crate::workers::StopFlag;

/// Words outside of content: each becomes an object in memory, of more than a hundred bytes.
const MAX_WORDS: usize = 2_000_000;
/// What one packed group of objects may unpack to.
const MAX_GROUP: usize = 8 * 1024 * 1024;
/// The same for all groups together that can only be unpacked by the library.
const MAX_SEALED: usize = 8 * 1024 * 1024;
/// The same for all groups together, as for anything that is unpacked.
const MAX_GROUPS: usize = 100 * 1024 * 1024;
/// How deep brackets of a kind may lie. Where the table of contents is damaged, the library looks for the end of each that
/// is open from every object on.
const MAX_DEPTH: usize = 1_000;
/// The least that a packed group may unpack to: the usual size of one is half of it.
const SMALLEST_GROUP: usize = 64 * 1024;
/// The dictionary of a stream stands within so many bytes before it.
const DICTIONARY: usize = 512;
/// Where the mark of the end must stand, counted from the end.
const END_WITHIN: usize = 2048;

/// Opens a PDF; a file that is locked for printing or copying only opens without a password.
///
/// # Errors
/// `Encrypted`, `Broken` or `TooLarge`.
pub(super) fn open(bytes: &[u8], stop: &StopFlag) -> Result<Document, DocumentFault> {
    let options = LoadOptions { max_decompressed_size: Some(survey(bytes, stop)?), ..LoadOptions::default() };
    stop.check()?;
    let doc = Document::load_mem_with_options(bytes, options).map_err(|error| fault(&error, bytes))?;
    // An unknown lock is left on; a known one is taken out of the trailer when it opens.
    if doc.is_encrypted() || doc.trailer.has(b"Encrypt") || (!has_pages(&doc) && find(bytes, b"/Encrypt").is_some()) {
        return Err(locked());
    }
    if doc.xref_recovery.is_some() && !has_end(bytes) {
        return Err(cut_off());
    }
    Ok(doc)
}

fn has_pages(doc: &Document) -> bool {
    doc.catalog().is_ok_and(|catalog| catalog.has(b"Pages"))
}

/// Counts what the library will hold in memory, and answers how far one packed group of objects may unpack.
fn survey(bytes: &[u8], stop: &StopFlag) -> Result<usize, DocumentFault> {
    let (mut words, mut unpacked) = (0, 0);
    let mut open = Brackets::default();
    let mut sealed = 0usize;
    let mut rest = bytes;
    loop {
        let start = find(rest, b"stream").unwrap_or(rest.len());
        let outside = &rest[..start];
        words += count_words(outside);
        stop.check()?;
        if words > MAX_WORDS {
            return Err(too_many());
        }
        if open.deepest_in(outside) > MAX_DEPTH {
            return Err(broken("it is damaged: its brackets do not close"));
        }
        if start == rest.len() {
            break;
        }
        let body = &rest[start..];
        let end = find(body, b"endstream").map_or(body.len(), |end| end + b"endstream".len());
        if find(&outside[outside.len().saturating_sub(DICTIONARY)..], b"/ObjStm").is_some() {
            match unpack(&body[..end]) {
                Some(inside) => {
                    let (inside, length) = inside?;
                    words += inside;
                    unpacked += length;
                }
                None => sealed += 1,
            }
        }
        if unpacked > MAX_GROUPS {
            return Err(unpacks_too_far());
        }
        rest = &body[end..];
    }
    if words > MAX_WORDS || sealed > MAX_SEALED / SMALLEST_GROUP {
        return Err(too_many());
    }
    Ok((MAX_SEALED / sealed.max(1)).clamp(SMALLEST_GROUP, MAX_GROUP))
}

/// The words in a packed group and its bytes, counted without keeping them; `None` when it is packed in another way or
/// locked.
fn unpack(body: &[u8]) -> Option<Result<(usize, usize), DocumentFault>> {
    let data = body.strip_prefix(b"stream")?;
    let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
    let mut reader = ZlibDecoder::new(data);
    let mut buffer = vec![0; 64 * 1024];
    let (mut words, mut total) = (0, 0);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (total > 0).then_some(Ok((words, total))),
            Ok(read) => {
                total += read;
                words += count_words(&buffer[..read]);
            }
            // What was unpacked before the damage counts; the library stops there, too.
            Err(_) => return (total > 0).then_some(Ok((words, total))),
        }
        if total > MAX_GROUP || words > MAX_WORDS {
            return Some(Err(too_many()));
        }
    }
}

/// Brackets of each kind that are open.
#[derive(Default)]
struct Brackets([usize; 3]);

impl Brackets {
    /// How many of a kind are open at most, from here to the end of that part. Those in texts count like all others.
    fn deepest_in(&mut self, bytes: &[u8]) -> usize {
        let mut deepest = 0;
        for byte in bytes {
            let Some((kind, opens)) = bracket(*byte) else { continue };
            let open = &mut self.0[kind];
            *open = if opens { *open + 1 } else { open.saturating_sub(1) };
            deepest = deepest.max(*open);
        }
        deepest
    }
}

const fn bracket(byte: u8) -> Option<(usize, bool)> {
    match byte {
        b'(' => Some((0, true)),
        b')' => Some((0, false)),
        b'[' => Some((1, true)),
        b']' => Some((1, false)),
        b'<' => Some((2, true)),
        b'>' => Some((2, false)),
        _ => None,
    }
}

/// Words, and the signs that begin an object without a space before it.
fn count_words(bytes: &[u8]) -> usize {
    let mut words = 0;
    let mut apart = true;
    for byte in bytes {
        let opens = matches!(byte, b'[' | b'(' | b'<' | b'/');
        let space = byte.is_ascii_whitespace() || *byte == 0 || matches!(byte, b']' | b')' | b'>');
        words += usize::from(opens || (apart && !space));
        apart = space || opens;
    }
    words
}

fn fault(error: &Error, bytes: &[u8]) -> DocumentFault {
    match error {
        Error::InvalidPassword | Error::Decryption(_) | Error::UnsupportedSecurityHandler(_) => locked(),
        Error::Decompress(DecompressError::MemoryLimitExceeded { .. }) => unpacks_too_far(),
        _ if !has_end(bytes) => cut_off(),
        // Locks that the library does not know fail in many ways.
        _ if find(bytes, b"/Encrypt").is_some() => locked(),
        _ => broken("it is damaged: its table of contents cannot be read"),
    }
}

fn too_many() -> DocumentFault {
    DocumentFault::new(FaultKind::TooLarge, "it is made of more objects than can be read")
}

fn has_end(bytes: &[u8]) -> bool {
    find(&bytes[bytes.len().saturating_sub(END_WITHIN)..], b"%%EOF").is_some()
}

fn locked() -> DocumentFault {
    DocumentFault::new(FaultKind::Encrypted, "it opens with a password only")
}

fn cut_off() -> DocumentFault {
    broken("it is cut off: its end is missing")
}

fn broken(message: &str) -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, message)
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(bytes: &[u8]) -> Result<usize, DocumentFault> {
        super::survey(bytes, &StopFlag::default())
    }

    #[test]
    fn a_survey_counts_what_becomes_an_object() {
        assert_eq!(survey(b"%PDF-1.4 << >> stream 0 0 0 endstream endobj").unwrap(), MAX_GROUP);
        assert_eq!(survey(&b"0 ".repeat(MAX_WORDS + 1)).unwrap_err().kind, FaultKind::TooLarge);
        assert_eq!(survey(&b"[".repeat(MAX_WORDS + 1)).unwrap_err().kind, FaultKind::TooLarge);
    }

    #[test]
    fn packed_objects_are_counted_or_kept_small() {
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packer, &b"0 ".repeat(MAX_WORDS + 1)).unwrap();
        let packed = packer.finish().unwrap();
        let file = [b"<< /Type /ObjStm >> stream\n", &packed[..], b"endstream"].concat();
        assert_eq!(survey(&file).unwrap_err().kind, FaultKind::TooLarge);
        let sealed = b"<< /Type /ObjStm >> stream\nlocked endstream ".repeat(16);
        assert_eq!(survey(&sealed).unwrap(), MAX_SEALED / 16);
    }

    #[test]
    fn a_file_without_its_end_is_cut_off() {
        let fault = open(b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog", &StopFlag::default()).unwrap_err();
        assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Broken, "it is cut off: its end is missing"));
    }

    #[test]
    fn groups_are_bounded_together_and_nobody_unpacks_for_nobody() {
        let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packer, &b" ".repeat(MAX_GROUP)).unwrap();
        let packed = packer.finish().unwrap();
        let group = [b"<< /Type /ObjStm >> stream\n", &packed[..], b"endstream "].concat();
        assert_eq!(survey(&group.repeat(MAX_GROUPS / MAX_GROUP)).unwrap(), MAX_GROUP);
        assert_eq!(survey(&group.repeat(MAX_GROUPS / MAX_GROUP + 1)).unwrap_err().kind, FaultKind::TooLarge);
        assert_eq!(super::survey(&group, &StopFlag::set()).unwrap_err().kind, FaultKind::TooLarge);
    }

    #[test]
    fn brackets_that_do_not_close_are_looked_for_once() {
        for bracket in ["(", "[", "<<"] {
            let objects: String = (0..=MAX_DEPTH).map(|n| format!("{n} 0 obj {bracket}\n")).collect();
            let fault =
                open(format!("%PDF-1.4\n{objects}startxref\n9\n%%EOF").as_bytes(), &StopFlag::default()).unwrap_err();
            assert_eq!(fault.message, "it is damaged: its brackets do not close", "{bracket}");
        }
    }
}
