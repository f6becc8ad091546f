//! What a file is: from its first bytes, then from its name, then from its declared type.

use kybern_core::document::{DocumentFault, FaultKind};

use super::archive::{self, Package};
use super::text;

/// A format that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DetectedFormat {
    Pdf,
    Docx,
    Xlsx,
    Csv,
    Html,
    Text,
    /// A picture, with the name of its format.
    Picture(&'static str),
}

/// How far into a file the mark of a PDF may stand.
const PDF_MARK_WITHIN: usize = 1024;
/// The mark of the container of old Office files and of encrypted new ones.
const OLE_MARK: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];

/// Finds out how to read these bytes.
///
/// # Errors
/// `Unsupported`, `Encrypted` or `Broken`, when it is already clear that they cannot be read.
pub(super) fn sniff(filename: &str, content_type: &str, bytes: &[u8]) -> Result<DetectedFormat, DocumentFault> {
    let named = by_name(filename).or_else(|| by_type(content_type));
    let head = &bytes[..bytes.len().min(PDF_MARK_WITHIN)];
    if contains(head, b"%PDF-") {
        return Ok(DetectedFormat::Pdf);
    }
    if bytes.starts_with(OLE_MARK) {
        return Err(in_ole(bytes));
    }
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        return in_zip(named, bytes);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Err(unsupported("a rich text file (RTF)"));
    }
    if let Some(kind) = infer::get(bytes)
        && kind.matcher_type() != infer::MatcherType::Text
        && !(kind.mime_type() == "application/pdf" || text::is_plausible(bytes))
    {
        if kind.matcher_type() == infer::MatcherType::Image {
            return Ok(DetectedFormat::Picture(kind.extension()));
        }
        return Err(unsupported(&describe(kind.mime_type(), kind.extension())));
    }
    match named {
        Some(DetectedFormat::Pdf) => Err(not_what_it_says("a PDF")),
        Some(DetectedFormat::Docx) => Err(not_what_it_says("a Word document")),
        Some(DetectedFormat::Xlsx) => Err(not_what_it_says("an Excel workbook")),
        Some(found) => Ok(found),
        None if looks_like_html(head) => Ok(DetectedFormat::Html),
        None if text::is_plausible(bytes) => Ok(DetectedFormat::Text),
        None => Err(unsupported(&format!("a file of an unknown type{}", named_as(filename, content_type)))),
    }
}

fn by_name(filename: &str) -> Option<DetectedFormat> {
    let extension = filename.rsplit_once('.')?.1.trim().to_ascii_lowercase();
    match extension.as_str() {
        "pdf" => Some(DetectedFormat::Pdf),
        "docx" | "docm" | "dotx" => Some(DetectedFormat::Docx),
        "xlsx" | "xlsm" | "xltx" => Some(DetectedFormat::Xlsx),
        "csv" | "tsv" | "tab" => Some(DetectedFormat::Csv),
        "html" | "htm" | "xhtml" => Some(DetectedFormat::Html),
        "txt" | "text" | "log" | "md" => Some(DetectedFormat::Text),
        _ => None,
    }
}

fn by_type(content_type: &str) -> Option<DetectedFormat> {
    let plain = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match plain.as_str() {
        "application/pdf" | "application/x-pdf" => Some(DetectedFormat::Pdf),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => Some(DetectedFormat::Docx),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => Some(DetectedFormat::Xlsx),
        "text/csv" | "application/csv" | "text/tab-separated-values" => Some(DetectedFormat::Csv),
        "text/html" | "application/xhtml+xml" => Some(DetectedFormat::Html),
        "text/plain" => Some(DetectedFormat::Text),
        _ => None,
    }
}

fn in_zip(named: Option<DetectedFormat>, bytes: &[u8]) -> Result<DetectedFormat, DocumentFault> {
    match archive::package(bytes) {
        Some(Package::Word) => Ok(DetectedFormat::Docx),
        Some(Package::Excel) => Ok(DetectedFormat::Xlsx),
        Some(Package::Other(what)) => Err(unsupported(what)),
        Some(Package::Plain) => match named {
            Some(found @ (DetectedFormat::Docx | DetectedFormat::Xlsx)) => Ok(found),
            _ if archive::is_locked(bytes) => {
                Err(DocumentFault::new(FaultKind::Encrypted, "it is an archive (ZIP) with files that are locked"))
            }
            _ => match archive::over_limit(bytes) {
                Some(over) => Err(DocumentFault::new(FaultKind::TooLarge, format!("it is an archive (ZIP) {over}"))),
                None => Err(unsupported("an archive (ZIP)")),
            },
        },
        None => match named {
            Some(DetectedFormat::Docx | DetectedFormat::Xlsx) => {
                Err(DocumentFault::new(FaultKind::Broken, "it is cut off: the list of its parts is missing"))
            }
            _ => Err(unsupported("an archive (ZIP), and a damaged one")),
        },
    }
}

fn in_ole(bytes: &[u8]) -> DocumentFault {
    if contains(bytes, &utf16("EncryptedPackage")) {
        return DocumentFault::new(FaultKind::Encrypted, "it is an Office file that is locked with a password");
    }
    if contains(bytes, &utf16("WordDocument")) {
        unsupported("a Word document of the old kind (.doc)")
    } else if contains(bytes, &utf16("Workbook")) {
        unsupported("an Excel workbook of the old kind (.xls)")
    } else if contains(bytes, &utf16("PowerPoint Document")) {
        unsupported("a presentation of the old kind (.ppt)")
    } else if contains(bytes, &utf16("__properties_version1.0")) {
        unsupported("a message saved by Outlook (.msg)")
    } else {
        unsupported("an Office file of the old kind")
    }
}

fn looks_like_html(head: &[u8]) -> bool {
    let start = String::from_utf8_lossy(head).trim_start_matches(['\u{feff}', ' ', '\r', '\n', '\t']).to_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<body")
}

fn describe(mime: &str, extension: &str) -> String {
    let extension = extension.to_ascii_uppercase();
    match mime.split('/').next().unwrap_or_default() {
        "audio" => format!("a sound recording ({extension})"),
        "video" => format!("a video ({extension})"),
        "font" => format!("a font ({extension})"),
        _ if mime.contains("zip") || mime.contains("compressed") || mime.contains("tar") => {
            format!("an archive ({extension})")
        }
        _ => format!("a file of type {mime}"),
    }
}

fn named_as(filename: &str, content_type: &str) -> String {
    match filename.rsplit_once('.') {
        Some((_, extension)) if !extension.is_empty() && extension.len() <= 8 => format!(" (.{extension})"),
        _ if !content_type.is_empty() => format!(" ({content_type})"),
        _ => String::new(),
    }
}

fn unsupported(what: &str) -> DocumentFault {
    DocumentFault::new(FaultKind::Unsupported, format!("it is {what}, which cannot be read"))
}

fn not_what_it_says(what: &str) -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, format!("it is named as {what}, but its content is something else"))
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str, content_type: &str, bytes: &[u8]) -> FaultKind {
        sniff(name, content_type, bytes).unwrap_err().kind
    }

    #[test]
    fn bytes_count_more_than_the_name() {
        assert_eq!(sniff("a.txt", "text/plain", b"%PDF-1.4 ..."), Ok(DetectedFormat::Pdf));
        assert_eq!(sniff("a.pdf", "text/html", b"junk before %PDF-1.4"), Ok(DetectedFormat::Pdf));
    }

    #[test]
    fn a_name_counts_more_than_the_declared_type() {
        assert_eq!(sniff("a.csv", "text/plain", b"a,b"), Ok(DetectedFormat::Csv));
        assert_eq!(sniff("a", "text/csv", b"a,b"), Ok(DetectedFormat::Csv));
    }

    #[test]
    fn plain_text_needs_no_name() {
        assert_eq!(sniff("", "", b"hello there"), Ok(DetectedFormat::Text));
        assert_eq!(sniff("", "", b"<!DOCTYPE html><p>hello"), Ok(DetectedFormat::Html));
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let fault = sniff("a.mp3", "audio/mpeg", b"ID3\x03\0\0\0\0\0\0").unwrap_err();
        assert_eq!(fault.kind, FaultKind::Unsupported);
        assert_eq!(fault.message, "it is a sound recording (MP3), which cannot be read");
    }

    #[test]
    fn an_archive_over_a_limit_names_it() {
        let zip = |files: usize, bytes: usize| {
            let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            for n in 0..files {
                writer.start_file(format!("{n}.txt"), zip::write::SimpleFileOptions::default()).unwrap();
                std::io::Write::write_all(&mut writer, &vec![b'x'; bytes]).unwrap();
            }
            writer.finish().unwrap().into_inner()
        };
        let said = |bytes: &[u8]| {
            let fault = sniff("a.zip", "application/zip", bytes).unwrap_err();
            (fault.kind, fault.message)
        };
        assert_eq!(said(&zip(100, 1)).0, FaultKind::Unsupported);
        let many = "it is an archive (ZIP) of 101 files, the limit is 100 attachments".to_owned();
        assert_eq!(said(&zip(101, 1)), (FaultKind::TooLarge, many));
        let (kind, message) = said(&zip(11, 10 << 20));
        assert_eq!(kind, FaultKind::TooLarge);
        assert!(message.contains("unpacks to 115343360 bytes, the limit is 104857600 bytes"), "{message}");
    }

    #[test]
    fn pictures_are_known_whatever_they_are_called() {
        assert_eq!(sniff("a.txt", "", &[0xFF, 0xD8, 0xFF, 0xE0, 0, 0, 0, 0]), Ok(DetectedFormat::Picture("jpg")));
        let heic = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic";
        for bytes in [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], b"II*\0\x08\0\0\0\x0e\0\0\x01", heic] {
            assert!(matches!(sniff("photo", "", bytes), Ok(DetectedFormat::Picture(_))), "{bytes:?}");
        }
    }

    #[test]
    fn a_false_name_is_broken() {
        assert_eq!(kind("a.pdf", "application/pdf", b"no pdf"), FaultKind::Broken);
        assert_eq!(kind("a.docx", "", b"no docx"), FaultKind::Broken);
    }

    #[test]
    fn old_and_encrypted_office_files_are_told_apart() {
        let with = |name: &str| [OLE_MARK, &[0; 600], &utf16(name)[..]].concat();
        assert_eq!(kind("a.docx", "", &with("EncryptedPackage")), FaultKind::Encrypted);
        assert_eq!(kind("a.docx", "", &with("WordDocument")), FaultKind::Unsupported);
    }
}
