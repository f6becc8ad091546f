//! Plain text: which encoding it has, and whether it is text at all.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind};

use super::pages::Pages;

/// Reads plain text. A form feed begins a new page.
///
/// # Errors
/// `Broken` for binary content or a torn encoding, `Empty` without a visible character.
pub(super) fn read(bytes: &[u8]) -> Result<DocumentText, DocumentFault> {
    let text = decode(bytes)?;
    let mut pages = Pages::new(DocumentFormat::Text);
    for page in text.split('\u{c}') {
        pages.add("", unframed(page.trim_end()))?;
    }
    pages.finish("it has no text, only white space")
}

/// The text without the lines of tables that are drawn with characters; what separated cells becomes tabs.
fn unframed(text: &str) -> String {
    if !text.contains(['|', '+', '│', '║', '┃']) {
        return text.to_owned();
    }
    let mut plain: Vec<String> = Vec::new();
    for line in text.lines() {
        let inner = line.trim();
        if is_border(inner) {
            continue;
        }
        let unified = inner.replace(['│', '║', '┃'], "|");
        let framed = unified.len() > 2 && unified.starts_with('|') && unified.ends_with('|');
        if framed || unified != inner {
            let cells: Vec<&str> = unified.trim_matches('|').split('|').map(str::trim).collect();
            plain.push(cells.join("\t").trim_end().to_owned());
        } else {
            plain.push(line.to_owned());
        }
    }
    plain.join("\n")
}

/// Whether a line only draws the border of a table.
fn is_border(line: &str) -> bool {
    let level = |c: char| matches!(c, '-' | '=' | '─' | '━' | '═');
    let drawn = |c: char| level(c) || matches!(c, '+' | '|' | ':' | ' ' | '\u{2500}'..='\u{257f}');
    let corner = |c: char| matches!(c, '+' | '|' | '\u{250c}'..='\u{254b}' | '\u{2552}'..='\u{256c}');
    line.chars().all(drawn) && line.contains(level) && line.contains(corner)
}

/// The text of these bytes with `\n` as line end.
///
/// A byte order mark decides; otherwise it is UTF-8 where that fits, and windows-1252 where not.
///
/// # Errors
/// `Broken` when it is no text.
pub(super) fn decode(bytes: &[u8]) -> Result<String, DocumentFault> {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        let (text, torn) = encoding.decode_without_bom_handling(&bytes[mark..]);
        if torn {
            return Err(broken(&format!("it is marked as {} text, but it is torn", encoding.name())));
        }
        return readable(&text);
    }
    if let Some(text) = UTF_8.decode_without_bom_handling_and_without_replacement(bytes) {
        return readable(&text);
    }
    if let Some(encoding) = utf16_without_mark(bytes) {
        let (text, torn) = encoding.decode_without_bom_handling(bytes);
        if !torn {
            return readable(&text);
        }
    }
    readable(&WINDOWS_1252.decode_without_bom_handling(bytes).0)
}

/// The text of these bytes in the encoding that `label` names, never failing.
pub(crate) fn decode_lenient(bytes: &[u8], label: Option<&str>) -> String {
    let named = label.and_then(|label| Encoding::for_label(label.trim().as_bytes()));
    // Senders that declare ASCII or UTF-8 and send something else are common.
    if let Some(encoding) = named.filter(|encoding| *encoding != UTF_8) {
        return unify_line_ends(&encoding.decode(bytes).0);
    }
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return unify_line_ends(&encoding.decode(bytes).0);
    }
    match UTF_8.decode_without_bom_handling_and_without_replacement(bytes) {
        Some(text) => unify_line_ends(&text),
        None => unify_line_ends(&WINDOWS_1252.decode_without_bom_handling(bytes).0),
    }
}

/// Whether these bytes can be read as text.
pub(super) fn is_plausible(bytes: &[u8]) -> bool {
    decode(bytes).is_ok()
}

fn readable(text: &str) -> Result<String, DocumentFault> {
    let odd = text.chars().filter(|c| is_odd(*c)).count();
    if text.contains('\0') || odd * 200 > text.len() {
        return Err(broken("it is named as text, but its content is binary"));
    }
    Ok(unify_line_ends(text))
}

fn is_odd(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1b}' | '\u{85}')) || c == '\u{fffd}'
}

/// UTF-16 of mostly Latin letters has a zero in every second byte.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    if bytes.len() < 8 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let pairs = bytes.len() / 2;
    let zeros = |offset: usize| bytes.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    match (zeros(0) * 10 > pairs * 6, zeros(1) * 10 > pairs * 6) {
        (true, false) => Some(UTF_16BE),
        (false, true) => Some(UTF_16LE),
        _ => None,
    }
}

fn unify_line_ends(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}

fn broken(message: &str) -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_apart() {
        assert_eq!(decode("Zoë\r\n".as_bytes()).unwrap(), "Zoë\n");
        assert_eq!(decode(b"Zo\xEB").unwrap(), "Zoë");
        assert_eq!(decode(b"\xFF\xFEZ\0o\0\xEB\0").unwrap(), "Zoë");
        assert_eq!(decode(b"\xFE\xFF\0Z\0o\0\xEB").unwrap(), "Zoë");
        assert_eq!(decode(b"\xEF\xBB\xBFZo").unwrap(), "Zo");
    }

    #[test]
    fn binary_content_is_no_text() {
        let noise: Vec<u8> = (0u32..512).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        assert_eq!(decode(&noise).unwrap_err().kind, FaultKind::Broken);
    }

    #[test]
    fn white_space_is_empty() {
        assert_eq!(read(b" \n\t\n").unwrap_err().kind, FaultKind::Empty);
    }

    #[test]
    fn drawn_tables_keep_their_cells_and_lose_their_frames() {
        let text = |text: &str| read(text.as_bytes()).unwrap().pages.remove(0).text;
        let ascii = "+------+-----+\n| Unit | VIN |\n|------|-----|\n| 1    | 1XK |\n+------+-----+\n----\na | b";
        assert_eq!(text(ascii), "Unit\tVIN\n1\t1XK\n----\na | b");
        assert_eq!(text("┌────┬────┐\n│ a  │ b  │\n├────┼────┤\n│    │ c  │\n└────┴────┘"), "a\tb\n\tc");
    }

    #[test]
    fn form_feeds_separate_pages() {
        assert_eq!(read(b"one\x0ctwo").unwrap().pages.len(), 2);
    }

    #[test]
    fn a_wrong_label_does_not_lose_text() {
        assert_eq!(decode_lenient(b"Zo\xEB", Some("utf-8")), "Zoë");
        assert_eq!(decode_lenient(b"Zo\xEB", Some("no-such-charset")), "Zoë");
        assert_eq!(decode_lenient(b"\x1b$B%F%9%H\x1b(B", Some("iso-2022-jp")), "テスト");
    }
}
