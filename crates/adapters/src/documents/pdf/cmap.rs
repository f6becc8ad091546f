//! ToUnicode maps: which characters a font's codes stand for.

use std::collections::HashMap;

use super::tokens::{Operand, Tokens};

/// Entries of one map. Ranges are kept as ranges, so that this is no limit for real fonts.
const MAX_ENTRIES: usize = 100_000;

/// A font's map from codes to text.
#[derive(Debug, Default)]
pub(super) struct CMap {
    singles: HashMap<u32, String>,
    /// First code, last code, text of the first; sorted.
    ranges: Vec<(u32, u32, Vec<u16>)>,
    /// Whether a code has one byte; otherwise it has two.
    pub(super) one_byte: bool,
}

impl CMap {
    /// Reads a map; what cannot be understood is left out.
    pub(super) fn parse(data: &[u8]) -> Self {
        let mut map = Self::default();
        let mut tokens = Tokens::new(data);
        let mut widest = 0;
        while let Some(operator) = tokens.next_operator() {
            match operator {
                b"endcodespacerange" => {
                    let bytes = texts(&tokens.operands).map(<[u8]>::len).max().unwrap_or(0);
                    widest = widest.max(bytes);
                }
                b"endbfchar" => map.add_singles(&tokens.operands),
                b"endbfrange" => map.add_ranges(&tokens.operands),
                _ => {}
            }
        }
        map.one_byte = widest == 1;
        map.ranges.sort_by_key(|range| range.0);
        map
    }

    /// Whether it maps nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.singles.is_empty() && self.ranges.is_empty()
    }

    /// The text of a code.
    pub(super) fn get(&self, code: u32) -> Option<String> {
        if let Some(text) = self.singles.get(&code) {
            return Some(text.clone());
        }
        let after = self.ranges.partition_point(|(first, ..)| *first <= code);
        let (first, _, units) = self.ranges[..after].last().filter(|(_, last, _)| code <= *last)?;
        let mut units = units.clone();
        let last = units.last_mut()?;
        *last = last.wrapping_add(u16::try_from(code - first).unwrap_or(0));
        Some(String::from_utf16_lossy(&units))
    }

    fn add_singles(&mut self, operands: &[Operand]) {
        for pair in operands.chunks_exact(2) {
            if let [Operand::Text(code), Operand::Text(text)] = pair {
                self.add(number(code), &units(text));
            }
        }
    }

    fn add_ranges(&mut self, operands: &[Operand]) {
        for triple in operands.chunks_exact(3) {
            let [Operand::Text(first), Operand::Text(last), target] = triple else { continue };
            let (first, last) = (number(first), number(last));
            match target {
                Operand::Text(text) if first <= last && self.ranges.len() < MAX_ENTRIES => {
                    self.ranges.push((first, last, units(text)));
                }
                Operand::Array(items) => {
                    for (n, item) in items.iter().enumerate().take(256) {
                        if let Operand::Text(text) = item {
                            self.add(first.saturating_add(u32::try_from(n).unwrap_or(0)), &units(text));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, code: u32, units: &[u16]) {
        if self.singles.len() < MAX_ENTRIES {
            self.singles.insert(code, String::from_utf16_lossy(units));
        }
    }
}

fn texts(operands: &[Operand]) -> impl Iterator<Item = &[u8]> {
    operands.iter().filter_map(|operand| match operand {
        Operand::Text(text) => Some(text.as_slice()),
        _ => None,
    })
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().take(4).fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn units(bytes: &[u8]) -> Vec<u16> {
    match bytes {
        [one] => vec![u16::from(*one)],
        _ => bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_and_ranges_are_mapped() {
        let map = CMap::parse(
            b"1 begincodespacerange <0000> <FFFF> endcodespacerange 2 beginbfchar <0003> <0020> <0004> <00660069> \
              endbfchar 2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0061> <0062>] endbfrange",
        );
        assert!(!map.one_byte);
        assert_eq!(map.get(3).as_deref(), Some(" "));
        assert_eq!(map.get(4).as_deref(), Some("fi"));
        assert_eq!(map.get(0x12).as_deref(), Some("C"));
        assert_eq!(map.get(0x21).as_deref(), Some("b"));
        assert_eq!(map.get(0x99), None);
    }

    #[test]
    fn a_range_over_all_codes_costs_nothing() {
        let map =
            CMap::parse(b"begincodespacerange <00> <FF> endcodespacerange <00000000> <FFFFFFFF> <0041> endbfrange");
        assert!(map.one_byte);
        assert_eq!(map.get(0).as_deref(), Some("A"));
    }
}
