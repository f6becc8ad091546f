//! `winmail.dat`, in which Outlook wraps the files of a message (TNEF, as [MS-OXTNEF] describes it).
//!
//! Only the files and their names are read. Nothing is packed in this format, so it cannot expand.

use encoding_rs::{UTF_16LE, WINDOWS_1252};

const SIGNATURE: &[u8] = &[0x78, 0x9F, 0x3E, 0x22];
/// The attributes of the wrapper that are looked at.
const BEGIN: u32 = 0x0006_9002;
const TITLE: u32 = 0x0001_8010;
const DATA: u32 = 0x0006_800F;
const PROPERTIES: u32 = 0x0006_9005;
/// The property with the file's full name.
const LONG_NAME: u32 = 0x3707;
/// Properties of one file, and values of one property.
const MAX_PROPERTIES: u32 = 1_000;
const MAX_VALUES: u32 = 1_000;

/// Whether these bytes are such a wrapper.
pub(super) fn is_tnef(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// The files in it with their names; `None` when there are more than `most`.
pub(super) fn files(bytes: &[u8], most: usize) -> Option<Vec<(String, Vec<u8>)>> {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    let mut bytes = Bytes(bytes.get(6..)?);
    while let Some((attribute, data)) = bytes.attribute() {
        match (attribute, files.last_mut()) {
            (BEGIN, _) => {
                if files.len() >= most {
                    return None;
                }
                files.push((String::new(), Vec::new()));
            }
            (TITLE, Some((name, _))) if name.is_empty() => *name = narrow(data),
            (DATA, Some((_, content))) => *content = data.to_vec(),
            (PROPERTIES, Some((name, _))) => {
                if let Some(long) = Bytes(data).long_name() {
                    *name = long;
                }
            }
            _ => {}
        }
    }
    files.retain(|(_, content)| !content.is_empty());
    Some(files)
}

/// What is left to read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.0.get(..count)?;
        self.0 = &self.0[count..];
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    /// The next attribute: its name and its data.
    fn attribute(&mut self) -> Option<(u32, &'a [u8])> {
        self.take(1)?;
        let name = self.number()?;
        let length = usize::try_from(self.number()?).ok()?;
        let data = self.take(length)?;
        self.take(2)?;
        Some((name, data))
    }

    fn long_name(mut self) -> Option<String> {
        let count = self.number()?.min(MAX_PROPERTIES);
        for _ in 0..count {
            let tag = self.number()?;
            let (kind, id) = (tag & 0xFFFF, tag >> 16);
            if id >= 0x8000 {
                self.skip_name()?;
            }
            let value = self.value(kind)?;
            match (id, kind) {
                (LONG_NAME, 0x1F) => return Some(UTF_16LE.decode_without_bom_handling(value).0.into_owned()),
                (LONG_NAME, 0x1E) => return Some(narrow(value)),
                _ => {}
            }
        }
        None
    }

    /// Skips the name of a property that has one.
    fn skip_name(&mut self) -> Option<()> {
        self.take(16)?;
        if self.number()? == 0 {
            self.take(4)?;
        } else {
            let length = usize::try_from(self.number()?).ok()?;
            self.take(length.checked_next_multiple_of(4)?)?;
        }
        Some(())
    }

    /// The value of a property, the last one where there are several.
    fn value(&mut self, kind: u32) -> Option<&'a [u8]> {
        let several = kind & 0x1000 != 0;
        match kind & 0x0FFF {
            0x02 | 0x03 | 0x04 | 0x0A | 0x0B => self.values(several, 4),
            0x05 | 0x06 | 0x07 | 0x14 | 0x40 => self.values(several, 8),
            0x48 => self.values(several, 16),
            0x0D | 0x1E | 0x1F | 0x102 => {
                let count = self.number()?;
                let mut value = &[][..];
                for _ in 0..count.min(MAX_VALUES) {
                    let length = usize::try_from(self.number()?).ok()?;
                    let padded = self.take(length.checked_next_multiple_of(4)?)?;
                    value = &padded[..length];
                }
                Some(value)
            }
            _ => None,
        }
    }

    fn values(&mut self, several: bool, size: usize) -> Option<&'a [u8]> {
        let count = if several { usize::try_from(self.number()?).ok()? } else { 1 };
        self.take(count.checked_mul(size)?)
    }
}

fn narrow(bytes: &[u8]) -> String {
    WINDOWS_1252.decode_without_bom_handling(bytes).0.trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(name: u32, data: &[u8]) -> Vec<u8> {
        let length = u32::try_from(data.len()).unwrap();
        [&[2][..], &name.to_le_bytes(), &length.to_le_bytes(), data, &[0, 0]].concat()
    }

    fn wrapper(attributes: &[Vec<u8>]) -> Vec<u8> {
        [SIGNATURE, &[1, 0], &attributes.concat()].concat()
    }

    #[test]
    fn files_come_with_their_full_names() {
        let name: Vec<u8> = "A long name.pdf".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let length = u32::try_from(name.len()).unwrap();
        let properties = [
            &2u32.to_le_bytes()[..],
            &0x0E20_0003u32.to_le_bytes(),
            &7u32.to_le_bytes(),
            &0x3707_001Fu32.to_le_bytes(),
            &1u32.to_le_bytes(),
            &length.to_le_bytes(),
            &name,
            &[0, 0],
        ]
        .concat();
        let bytes = wrapper(&[
            attribute(BEGIN, &[0; 14]),
            attribute(TITLE, b"ALONG~1.PDF\0"),
            attribute(DATA, b"%PDF-1"),
            attribute(PROPERTIES, &properties),
            attribute(BEGIN, &[0; 14]),
            attribute(TITLE, b"b.csv\0"),
            attribute(DATA, b"a,b"),
        ]);
        let files = files(&bytes, 10).unwrap();
        assert_eq!(files, [("A long name.pdf".to_owned(), b"%PDF-1".to_vec()), ("b.csv".to_owned(), b"a,b".to_vec())]);
        assert!(super::files(&bytes, 1).is_none());
    }

    #[test]
    fn a_torn_wrapper_ends_where_it_is_torn() {
        let whole = wrapper(&[attribute(BEGIN, &[0; 14]), attribute(DATA, b"a,b"), attribute(PROPERTIES, &[9; 40])]);
        for end in 0..whole.len() {
            files(&whole[..end], 10);
        }
        let lying = wrapper(&[attribute(BEGIN, &[0; 14]), attribute(PROPERTIES, &[0xFF; 64])]);
        assert!(files(&lying, 10).unwrap().is_empty());
    }
}
