//! Fonts: what their codes mean, and how wide they are.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use lopdf::{Dictionary, Document, Object};

use super::cmap::CMap;
use super::codes::{FontCodes, Form};
use super::metrics::Metrics;
use super::unpack::Unpacker;

/// Entries of a width array that are looked at.
const MAX_WIDTHS: usize = 70_000;
/// Bytes and words at the head of a font program that are looked at.
const MAX_HEAD: usize = 64 * 1024;
const MAX_WORDS: usize = 8_192;

/// A font of a page.
#[derive(Debug)]
pub(super) struct Font {
    to_unicode: CMap,
    codes: FontCodes,
    /// Thousandths of the font size, or the font's own units for Type 3.
    widths: BTreeMap<u32, f32>,
    /// Ranges of equal width: first, last, width; sorted.
    width_ranges: Vec<(u32, u32, f32)>,
    default_width: Option<f32>,
    metrics: Metrics,
    /// What one unit of width is in units of text space.
    unit: f32,
    /// How high its letters are at size 1.
    em: f32,
}

/// One character as it is drawn.
#[derive(Debug)]
pub(super) struct DrawnCharacter {
    /// Its text; `None` when the font does not say.
    pub(super) text: Option<String>,
    /// Its width in text space at size 1.
    pub(super) width: f32,
    /// Whether word spacing applies.
    pub(super) is_space: bool,
}

impl Font {
    /// Reads a font; what is missing is taken as usual.
    pub(super) fn read(doc: &Document, dict: &Dictionary, unpacker: &mut Unpacker) -> Self {
        let subtype = name_in(doc, dict, b"Subtype");
        let base = String::from_utf8_lossy(&name_in(doc, dict, b"BaseFont")).into_owned();
        let to_unicode = match dict.get_deref(b"ToUnicode", doc).and_then(Object::as_stream) {
            Ok(stream) => unpacker.stream(doc, stream).map(|data| CMap::parse(&data)).unwrap_or_default(),
            Err(_) => CMap::default(),
        };
        let mut font = Self {
            to_unicode,
            codes: FontCodes::Wide,
            widths: BTreeMap::new(),
            width_ranges: Vec::new(),
            default_width: None,
            metrics: Metrics::for_font(&base),
            unit: 0.001,
            em: 1.0,
        };
        // A map that is only named maps every code to itself.
        if dict.get_deref(b"ToUnicode", doc).and_then(Object::as_name).is_ok_and(|name| name.starts_with(b"Identity")) {
            font.codes = FontCodes::Unicode(Form::Utf16);
        }
        if subtype == b"Type0" {
            font.read_wide(doc, dict);
        } else {
            font.read_simple(doc, dict, &subtype, &base, unpacker);
        }
        font
    }

    /// How high its letters are at size 1: not 1 for fonts that are drawn in units of their own.
    pub(super) const fn em(&self) -> f32 {
        self.em
    }

    /// The characters of a string.
    pub(super) fn decode(&self, bytes: &[u8], mut each: impl FnMut(DrawnCharacter)) {
        let guesses = matches!(self.codes, FontCodes::Charset(_)) && self.to_unicode.is_empty();
        let mut rest = bytes;
        while !rest.is_empty() {
            let length = match self.codes {
                FontCodes::Wide if self.to_unicode.one_byte => 1,
                _ => self.codes.length(rest),
            };
            let (code, after) = rest.split_at(length.min(rest.len()));
            rest = after;
            let number = code.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte));
            let text = self.to_unicode.get(number).filter(|text| is_meant(text)).or_else(|| self.codes.text(code));
            let width = match guesses {
                // The widths are those of glyphs whose numbers the codes do not tell.
                true if code.len() == 1 => 0.5,
                true => 1.0,
                false => self.width(number, text.as_deref()),
            };
            each(DrawnCharacter { text, width, is_space: code == b" " });
        }
    }

    fn width(&self, code: u32, text: Option<&str>) -> f32 {
        let known = self.widths.get(&code).copied().or_else(|| {
            let after = self.width_ranges.partition_point(|(first, ..)| *first <= code);
            self.width_ranges[..after].last().filter(|(_, last, _)| code <= *last).map(|range| range.2)
        });
        let width = known.or(self.default_width);
        width.unwrap_or_else(|| self.metrics.width(text.and_then(|text| text.chars().next()).unwrap_or('n')))
            * self.unit
    }

    /// Notes the widths of the codes from the first on.
    fn add_widths<'a>(&mut self, doc: &Document, first: u32, widths: impl Iterator<Item = &'a Object>) {
        for (n, width) in widths.enumerate() {
            if let Some(width) = number(doc, width) {
                self.widths.insert(first.saturating_add(u32::try_from(n).unwrap_or(0)), width);
            }
        }
    }

    fn read_wide(&mut self, doc: &Document, dict: &Dictionary) {
        let encoding = name_in(doc, dict, b"Encoding");
        let encoding = String::from_utf8_lossy(&encoding);
        if let Some(codes) = FontCodes::named(&encoding) {
            self.codes = codes;
        }
        self.default_width = Some(1000.0);
        let descendant = dict
            .get_deref(b"DescendantFonts", doc)
            .and_then(Object::as_array)
            .ok()
            .and_then(|fonts| fonts.first())
            .and_then(|font| doc.dereference(font).ok())
            .and_then(|(_, font)| font.as_dict().ok());
        let Some(descendant) = descendant else { return };
        if let Ok(width) = descendant.get_deref(b"DW", doc).and_then(Object::as_float) {
            self.default_width = Some(width);
        }
        let Ok(widths) = descendant.get_deref(b"W", doc).and_then(Object::as_array) else { return };
        let mut at = 0;
        while let Some(first) = widths.get(at).and_then(|item| code(doc, item)) {
            match widths.get(at + 1).and_then(|item| doc.dereference(item).ok()).map(|(_, item)| item) {
                Some(Object::Array(list)) => {
                    self.add_widths(doc, first, list.iter().take(MAX_WIDTHS));
                    at += 2;
                }
                Some(last) => {
                    let (last, width) = (code(doc, last), widths.get(at + 2).and_then(|item| number(doc, item)));
                    if let (Some(last), Some(width)) = (last, width)
                        && self.width_ranges.len() < MAX_WIDTHS
                    {
                        self.width_ranges.push((first, last, width));
                    }
                    at += 3;
                }
                None => break,
            }
            if self.widths.len() > MAX_WIDTHS {
                break;
            }
        }
        self.width_ranges.sort_by_key(|range| range.0);
    }

    fn read_simple(&mut self, doc: &Document, dict: &Dictionary, subtype: &[u8], base: &str, unpacker: &mut Unpacker) {
        let built_in = built_in(doc, dict, unpacker).unwrap_or_default();
        let mut texts = encoding(doc, dict, subtype, &built_in);
        if base.contains("Dingbats") {
            // The marks that forms use; the others are ornaments.
            for (code, mark) in [
                (b'4', "✔"),
                (b'3', "✓"),
                (b'8', "✘"),
                (b'6', "✖"),
                (b'l', "●"),
                (b'n', "■"),
                (b'u', "◆"),
                (b'o', "☐"),
                (b'q', "☐"),
            ] {
                mark.clone_into(&mut texts[usize::from(code)]);
            }
        }
        self.codes = FontCodes::Simple(texts);
        let first = dict.get_deref(b"FirstChar", doc).ok().and_then(|item| code(doc, item)).unwrap_or(0);
        if let Ok(widths) = dict.get_deref(b"Widths", doc).and_then(Object::as_array) {
            self.add_widths(doc, first, widths.iter().take(256));
        }
        if subtype == b"Type3" {
            let matrix = dict.get_deref(b"FontMatrix", doc).and_then(Object::as_array).ok();
            let unit = matrix.and_then(|matrix| matrix.first()).and_then(|item| number(doc, item)).map(f32::abs);
            self.unit = unit.filter(|unit| unit.is_finite() && *unit > 0.0).unwrap_or(0.001);
            self.default_width = Some(0.0);
            let around = dict.get_deref(b"FontBBox", doc).ok().and_then(|around| super::rect_in(doc, around));
            self.em =
                around.map(|around| around.height() * self.unit).filter(|em| (0.02..50.0).contains(em)).unwrap_or(1.0);
        }
    }
}

/// Whether a mapped text means something: some fonts map what they do not know to nothing.
fn is_meant(text: &str) -> bool {
    !text.is_empty() && !text.chars().all(|c| c == '\0' || c == '\u{fffd}')
}

/// The encoding that a font program of Type 1 brings along: codes and names of glyphs, where the font names none.
fn built_in(doc: &Document, dict: &Dictionary, unpacker: &mut Unpacker) -> Option<Vec<(usize, Vec<u8>)>> {
    let named = match dict.get_deref(b"Encoding", doc) {
        Ok(Object::Name(_)) => true,
        Ok(Object::Dictionary(encoding)) => encoding.has(b"BaseEncoding"),
        _ => false,
    };
    if named || dict.has(b"ToUnicode") {
        return None;
    }
    let descriptor = dict.get_deref(b"FontDescriptor", doc).and_then(Object::as_dict).ok()?;
    let program = descriptor.get_deref(b"FontFile", doc).and_then(Object::as_stream).ok()?;
    let program = unpacker.stream(doc, program)?;
    // Only the head is readable; the shapes after it are enciphered.
    let head = &program[..program.len().min(MAX_HEAD)];
    let words: Vec<&[u8]> = head
        .split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
        .take_while(|word| *word != b"eexec")
        .take(MAX_WORDS)
        .collect();
    let pairs = words.windows(4).filter_map(|window| match window {
        [b"dup", code, name, b"put"] => {
            let code = std::str::from_utf8(code).ok()?.parse().ok()?;
            Some((code, name.strip_prefix(b"/")?.to_vec()))
        }
        _ => None,
    });
    Some(pairs.collect())
}

/// The text of each of the 256 codes of a simple font.
fn encoding(doc: &Document, dict: &Dictionary, subtype: &[u8], built_in: &[(usize, Vec<u8>)]) -> Vec<String> {
    let object = dict.get_deref(b"Encoding", doc).ok();
    let usual: &[u8] = if subtype == b"TrueType" { b"WinAnsiEncoding" } else { b"StandardEncoding" };
    let base = match object {
        Some(Object::Dictionary(encoding)) => encoding.get_deref(b"BaseEncoding", doc).ok(),
        other => other,
    };
    let mut texts = base_encoding(base.and_then(|base| base.as_name().ok()).unwrap_or(usual));
    let mut set = |code: usize, name: &[u8]| {
        if let Some(text) = texts.get_mut(code) {
            *text = glyph_text(name).unwrap_or_default();
        }
    };
    for (code, name) in built_in {
        set(*code, name);
    }
    let differences = object
        .and_then(|object| object.as_dict().ok())
        .and_then(|encoding| encoding.get_deref(b"Differences", doc).ok())
        .and_then(|differences| differences.as_array().ok());
    let mut at = 0usize;
    for item in differences.into_iter().flatten().take(1024) {
        match doc.dereference(item).map(|(_, item)| item) {
            Ok(Object::Integer(number)) => at = usize::try_from(*number).unwrap_or(256),
            Ok(Object::Name(name)) => {
                set(at, name);
                at = at.saturating_add(1);
            }
            _ => {}
        }
    }
    texts
}

/// The library keeps the tables of the encodings to itself, but hands them out through a font.
fn base_encoding(name: &[u8]) -> Vec<String> {
    let known: [&[u8]; 3] = [b"WinAnsiEncoding", b"MacRomanEncoding", b"MacExpertEncoding"];
    let name = if known.contains(&name) { name } else { b"StandardEncoding" };
    texts_in(Object::Name(name.to_vec()), 0..=u8::MAX).unwrap_or_else(|| vec![String::new(); 256])
}

/// The texts of codes in a font that has the encoding.
fn texts_in(encoding: Object, codes: RangeInclusive<u8>) -> Option<Vec<String>> {
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", encoding);
    let nothing = Document::new();
    let encoding = font.get_font_encoding(&nothing).ok()?;
    Some(codes.map(|code| Document::decode_text(&encoding, &[code]).unwrap_or_default()).collect())
}

/// The text of a glyph by its name: `eacute`, `uni00E9`, `u1F600`, `f_i`, `a.alt`.
fn glyph_text(name: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(name).ok()?;
    let name = name.split('.').next().filter(|name| !name.is_empty())?;
    if let Some(hex) = name.strip_prefix("uni")
        && hex.len() >= 4
        && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        let units: Vec<u16> = hex
            .as_bytes()
            .chunks_exact(4)
            .filter_map(|four| u16::from_str_radix(std::str::from_utf8(four).ok()?, 16).ok())
            .collect();
        return Some(String::from_utf16_lossy(&units));
    }
    if let Some(hex) = name.strip_prefix('u')
        && (4..=6).contains(&hex.len())
        && let Some(c) = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32)
    {
        return Some(c.to_string());
    }
    if ["fi", "fl", "ff", "ffi", "ffl"].contains(&name) {
        return Some(name.to_owned());
    }
    if name.contains('_') {
        return name.split('_').map(|part| glyph_text(part.as_bytes())).collect();
    }
    let mut encoding = Dictionary::new();
    encoding.set("Differences", vec![Object::Integer(1), Object::Name(name.as_bytes().to_vec())]);
    texts_in(Object::Dictionary(encoding), 1..=1)?.pop().filter(|text| !text.is_empty() && text != "\u{1}")
}

fn name_in(doc: &Document, dict: &Dictionary, key: &[u8]) -> Vec<u8> {
    dict.get_deref(key, doc).and_then(Object::as_name).map(<[u8]>::to_vec).unwrap_or_default()
}

fn number(doc: &Document, object: &Object) -> Option<f32> {
    doc.dereference(object).ok()?.1.as_float().ok().filter(|number| number.is_finite())
}

fn code(doc: &Document, object: &Object) -> Option<u32> {
    doc.dereference(object).ok()?.1.as_i64().ok().and_then(|number| u32::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyph_names_become_text() {
        assert_eq!(glyph_text(b"eacute").as_deref(), Some("é"));
        assert_eq!(glyph_text(b"uni00E9").as_deref(), Some("é"));
        assert_eq!(glyph_text(b"a.alt").as_deref(), Some("a"));
        assert_eq!(glyph_text(b"f_i").as_deref(), Some("fi"));
        assert_eq!(glyph_text(b"g123"), None);
    }

    #[test]
    fn the_usual_encodings_are_known() {
        assert_eq!(base_encoding(b"WinAnsiEncoding")[0xE9], "é");
        assert_eq!(base_encoding(b"WinAnsiEncoding")[0x80], "€");
        assert_eq!(base_encoding(b"MacRomanEncoding")[0x8E], "é");
        assert_eq!(base_encoding(b"StandardEncoding")[b'A' as usize], "A");
    }
}
