//! Codes of a font: how many bytes each has, and what it stands for where no map says so.

use super::charset::Charset;

/// How the codes of a font are written.
#[derive(Debug)]
pub(super) enum FontCodes {
    /// One byte a code, with the text of each.
    Simple(Vec<String>),
    /// Two bytes a code, known only through the map.
    Wide,
    /// Codes that are characters of Unicode.
    Unicode(Form),
    /// The codes of an East Asian character set.
    Charset(Charset),
}

/// How a character of Unicode is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Utf8,
    Utf16,
    Utf32,
}

impl FontCodes {
    /// The codes of a predefined map of this name, such as `UniGB-UTF16-H` or `90ms-RKSJ-V`.
    pub(super) fn named(map: &str) -> Option<Self> {
        if map.contains("UCS2") || map.contains("UTF16") {
            Some(Self::Unicode(Form::Utf16))
        } else if map.contains("UTF8") {
            Some(Self::Unicode(Form::Utf8))
        } else if map.contains("UTF32") {
            Some(Self::Unicode(Form::Utf32))
        } else {
            Charset::named(map).map(Self::Charset)
        }
    }

    /// How many bytes the code at the start has.
    pub(super) fn length(&self, bytes: &[u8]) -> usize {
        let first = bytes.first().copied().unwrap_or(0);
        match self {
            Self::Simple(_) => 1,
            Self::Wide => 2,
            Self::Charset(charset) => charset.length(bytes),
            Self::Unicode(Form::Utf32) => 4,
            // The first half of a pair of surrogates.
            Self::Unicode(Form::Utf16) => {
                if (0xD8..=0xDB).contains(&first) {
                    4
                } else {
                    2
                }
            }
            Self::Unicode(Form::Utf8) => match first {
                0xF0.. => 4,
                0xE0.. => 3,
                0xC0.. => 2,
                _ => 1,
            },
        }
    }

    /// What a code stands for.
    pub(super) fn text(&self, code: &[u8]) -> Option<String> {
        match self {
            Self::Simple(texts) => texts.get(usize::from(*code.first()?)).filter(|text| !text.is_empty()).cloned(),
            Self::Wide => None,
            Self::Charset(charset) => charset.text(code),
            Self::Unicode(Form::Utf8) => std::str::from_utf8(code).ok().map(str::to_owned),
            Self::Unicode(Form::Utf16) => {
                let units: Vec<u16> = code.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
                String::from_utf16(&units).ok().filter(|text| !text.is_empty())
            }
            Self::Unicode(Form::Utf32) => {
                let number = u32::from_be_bytes(code.try_into().ok()?);
                char::from_u32(number).map(String::from)
            }
        }
    }
}
