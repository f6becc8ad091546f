//! The character sets of East Asian fonts that bring no map: their codes are those of a known encoding.

use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, SHIFT_JIS};

/// A character set that is named by a predefined map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Charset {
    encoding: &'static Encoding,
    /// Whether codes are those of the seven-bit plane, two bytes each.
    seven_bit: bool,
}

impl Charset {
    /// The set that a predefined map of this name reads, such as `90ms-RKSJ-H` or `GBK-EUC-V`.
    pub(super) fn named(map: &str) -> Option<Self> {
        let is = |encoding| Some(Self { encoding, seven_bit: false });
        match map {
            "H" | "V" | "Ext-H" | "Ext-V" | "Add-H" | "Add-V" => Some(Self { encoding: EUC_JP, seven_bit: true }),
            "EUC-H" | "EUC-V" => is(EUC_JP),
            _ if map.contains("RKSJ") => is(SHIFT_JIS),
            _ if map.starts_with("GB") && map.contains("GB") && !map.starts_with("GBT") => is(GB18030),
            _ if map.contains("B5") => is(BIG5),
            _ if map.starts_with("KSC") && !map.contains("Johab") => is(EUC_KR),
            _ => None,
        }
    }

    /// How many bytes the character at the start has.
    pub(super) fn length(self, bytes: &[u8]) -> usize {
        let Some(&first) = bytes.first() else { return 1 };
        let single = match self.encoding {
            _ if self.seven_bit => false,
            encoding if encoding == SHIFT_JIS => first <= 0x80 || (0xA0..=0xDF).contains(&first) || first >= 0xFD,
            encoding if encoding == EUC_JP => first <= 0x8D || (0x90..=0xA0).contains(&first),
            _ => first <= 0x80,
        };
        match bytes.get(1) {
            _ if single => 1,
            Some(b'0'..=b'9') if self.encoding == GB18030 => 4,
            _ => 2,
        }
    }

    /// The text of one character.
    pub(super) fn text(self, code: &[u8]) -> Option<String> {
        let code: Vec<u8> = if self.seven_bit { code.iter().map(|byte| byte | 0x80).collect() } else { code.to_vec() };
        let (text, torn) = self.encoding.decode_without_bom_handling(&code);
        (!torn && !text.is_empty()).then(|| text.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(map: &str, mut bytes: &[u8]) -> String {
        let set = Charset::named(map).unwrap();
        let mut text = String::new();
        while !bytes.is_empty() {
            let (code, rest) = bytes.split_at(set.length(bytes).min(bytes.len()));
            text.push_str(&set.text(code).unwrap_or_else(|| "?".to_owned()));
            bytes = rest;
        }
        text
    }

    #[test]
    fn predefined_maps_are_read() {
        assert_eq!(read("90ms-RKSJ-H", b"\x83e\x83X\x83g 1"), "テスト 1");
        assert_eq!(read("GBK-EUC-H", b"\xB1\xA3\xB5\xA5A"), "保单A");
        assert_eq!(read("ETen-B5-V", b"\xABO\xB3\xE6"), "保單");
        assert_eq!(read("KSCms-UHC-H", b"\xBA\xB8\xC7\xE8"), "보험");
        assert_eq!(read("H", b"\x25\x46"), "テ");
        assert!(Charset::named("Identity-H").is_none());
    }
}
