//! Content streams taken apart into operators and operands.
//!
//! Tolerant on purpose: what cannot be understood is skipped, because half a page is worth more than none.

/// What stands before an operator.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Operand {
    Number(f32),
    /// A string's bytes.
    Text(Vec<u8>),
    /// A name without its slash.
    Name(Vec<u8>),
    Array(Vec<Operand>),
    /// A dictionary or a constant, which no text operator needs.
    Other,
}

/// How deep arrays and dictionaries may nest. Text operators need one level.
const MAX_NESTING: usize = 16;
/// Operands kept before one operator; the last ones count.
const MAX_OPERANDS: usize = 4096;

/// Walks over the operators of one content stream.
pub(super) struct Tokens<'a> {
    data: &'a [u8],
    at: usize,
    /// The operands of the operator that came last.
    pub(super) operands: Vec<Operand>,
}

impl<'a> Tokens<'a> {
    pub(super) const fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0, operands: Vec::new() }
    }

    /// The next operator; its operands are in `operands`. An inline image is skipped and answered as `BI`.
    pub(super) fn next_operator(&mut self) -> Option<&'a [u8]> {
        self.operands.clear();
        loop {
            self.skip_space();
            let byte = *self.data.get(self.at)?;
            match byte {
                b'/' | b'(' | b'<' | b'[' | b'0'..=b'9' | b'+' | b'-' | b'.' => {
                    let operand = self.operand(0);
                    if self.operands.len() < MAX_OPERANDS {
                        self.operands.push(operand);
                    }
                }
                b')' | b'>' | b']' | b'{' | b'}' => self.at += 1,
                _ => {
                    let word = self.word();
                    match word {
                        b"true" | b"false" | b"null" => self.operands.push(Operand::Other),
                        b"BI" => {
                            self.skip_image();
                            return Some(word);
                        }
                        _ => return Some(word),
                    }
                }
            }
        }
    }

    /// The number at this place among the operands.
    pub(super) fn number(&self, index: usize) -> Option<f32> {
        match self.operands.get(index)? {
            Operand::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The last six numbers, as a matrix.
    pub(super) fn matrix(&self) -> Option<[f32; 6]> {
        let start = self.operands.len().checked_sub(6)?;
        let mut matrix = [0.0; 6];
        for (n, slot) in matrix.iter_mut().enumerate() {
            *slot = self.number(start + n)?;
        }
        Some(matrix)
    }

    fn operand(&mut self, depth: usize) -> Operand {
        match self.data.get(self.at) {
            Some(b'/') => Operand::Name(self.name()),
            Some(b'(') => Operand::Text(self.literal()),
            Some(b'<') if self.data.get(self.at + 1) == Some(&b'<') => {
                self.skip_dictionary(depth);
                Operand::Other
            }
            Some(b'<') => Operand::Text(self.hex()),
            Some(b'[') => self.array(depth),
            _ => self.numeral(),
        }
    }

    fn array(&mut self, depth: usize) -> Operand {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            match self.data.get(self.at) {
                None => break,
                Some(b']') => {
                    self.at += 1;
                    break;
                }
                Some(b'/' | b'(' | b'<' | b'0'..=b'9' | b'+' | b'-' | b'.') => items.push(self.operand(depth + 1)),
                Some(b'[') if depth < MAX_NESTING => items.push(self.operand(depth + 1)),
                Some(byte) if is_regular(*byte) => {
                    self.word();
                    items.push(Operand::Other);
                }
                Some(_) => self.at += 1,
            }
        }
        Operand::Array(items)
    }

    fn skip_dictionary(&mut self, depth: usize) {
        self.at += 2;
        while let Some(byte) = self.data.get(self.at) {
            match byte {
                b'>' if self.data.get(self.at + 1) == Some(&b'>') => {
                    self.at += 2;
                    return;
                }
                b'(' => {
                    self.literal();
                }
                b'<' if self.data.get(self.at + 1) == Some(&b'<') => {
                    if depth < MAX_NESTING {
                        self.skip_dictionary(depth + 1);
                    } else {
                        self.at += 2;
                    }
                }
                b'%' => self.skip_space(),
                _ => self.at += 1,
            }
        }
    }

    fn numeral(&mut self) -> Operand {
        let start = self.at;
        while self.data.get(self.at).is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        if self.at == start {
            self.at += 1;
            return Operand::Other;
        }
        let text = std::str::from_utf8(&self.data[start..self.at]).unwrap_or_default();
        // Some writers leave "--5" or "1.5-5": the part that makes sense is taken.
        let text = text.trim_start_matches('+');
        let text = if text.starts_with("--") { text.trim_start_matches('-') } else { text };
        let end = text.char_indices().skip(1).find(|(_, c)| matches!(c, '-' | '+')).map_or(text.len(), |(at, _)| at);
        Operand::Number(text[..end].parse().unwrap_or(0.0))
    }

    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut name = Vec::new();
        while let Some(byte) = self.data.get(self.at).copied().filter(|byte| is_regular(*byte)) {
            let escaped = (byte == b'#').then(|| self.data.get(self.at + 1..self.at + 3)).flatten().and_then(hex_byte);
            name.push(escaped.unwrap_or(byte));
            self.at += if escaped.is_some() { 3 } else { 1 };
        }
        name
    }

    fn literal(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1usize;
        while let Some(&byte) = self.data.get(self.at) {
            self.at += 1;
            match byte {
                b'(' => {
                    open += 1;
                    text.push(byte);
                }
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                    text.push(byte);
                }
                b'\\' => self.escape(&mut text),
                _ => text.push(byte),
            }
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(&byte) = self.data.get(self.at) else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\r' => {
                if self.data.get(self.at) == Some(&b'\n') {
                    self.at += 1;
                }
            }
            b'\n' => {}
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    match self.data.get(self.at) {
                        Some(digit @ b'0'..=b'7') => {
                            code = code * 8 + u32::from(digit - b'0');
                            self.at += 1;
                        }
                        _ => break,
                    }
                }
                text.push(u8::try_from(code & 0xFF).unwrap_or(0));
            }
            other => text.push(other),
        }
    }

    fn hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut digits = Vec::new();
        while let Some(&byte) = self.data.get(self.at) {
            self.at += 1;
            match byte {
                b'>' => break,
                _ => digits.extend(char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())),
            }
        }
        digits.chunks(2).map(|pair| (pair[0] << 4) | pair.get(1).copied().unwrap_or(0)).collect()
    }

    fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while self.data.get(self.at).is_some_and(|byte| is_regular(*byte)) {
            self.at += 1;
        }
        if self.at == start {
            self.at += 1;
        }
        &self.data[start..self.at.min(self.data.len())]
    }

    fn skip_space(&mut self) {
        while let Some(&byte) = self.data.get(self.at) {
            if byte == b'%' {
                while self.data.get(self.at).is_some_and(|byte| !matches!(byte, b'\n' | b'\r')) {
                    self.at += 1;
                }
            } else if is_space(byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// Skips from after `BI` to after the `EI` that ends the image.
    fn skip_image(&mut self) {
        let rest = &self.data[self.at.min(self.data.len())..];
        let Some(data) = rest.windows(3).position(|w| w[0] == b'I' && w[1] == b'D' && is_space(w[2])) else {
            self.at = self.data.len();
            return;
        };
        let body = &rest[data + 3..];
        let end = body.windows(3).enumerate().position(|(at, w)| {
            is_space(w[0]) && w[1] == b'E' && w[2] == b'I' && body.get(at + 3).is_none_or(|byte| is_space(*byte))
        });
        self.at = end.map_or(self.data.len(), |end| self.at + data + 3 + end + 3);
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, 0 | 9 | 10 | 12 | 13 | 32)
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_come_with_their_operands() {
        let mut tokens = Tokens::new(b"BT /F1 12 Tf [(A\\)) -120 <4142>] TJ % comment\n1 0 0 1 72 7.5 Tm ET");
        assert_eq!(tokens.next_operator(), Some(&b"BT"[..]));
        assert_eq!(tokens.next_operator(), Some(&b"Tf"[..]));
        assert_eq!(tokens.operands, [Operand::Name(b"F1".to_vec()), Operand::Number(12.0)]);
        assert_eq!(tokens.next_operator(), Some(&b"TJ"[..]));
        let items = vec![Operand::Text(b"A)".to_vec()), Operand::Number(-120.0), Operand::Text(b"AB".to_vec())];
        assert_eq!(tokens.operands, [Operand::Array(items)]);
        assert_eq!(tokens.next_operator(), Some(&b"Tm"[..]));
        assert_eq!(tokens.matrix(), Some([1.0, 0.0, 0.0, 1.0, 72.0, 7.5]));
        assert_eq!(tokens.next_operator(), Some(&b"ET"[..]));
        assert_eq!(tokens.next_operator(), None);
    }

    #[test]
    fn inline_images_are_skipped() {
        let mut tokens = Tokens::new(b"BI /W 1 ID \x00EI\x01(Tj \nEI (A) Tj");
        assert_eq!(tokens.next_operator(), Some(&b"BI"[..]));
        assert_eq!(tokens.next_operator(), Some(&b"Tj"[..]));
        assert_eq!(tokens.operands, [Operand::Text(b"A".to_vec())]);
    }

    #[test]
    fn hostile_nesting_ends() {
        let mut tokens = Tokens::new(&[b'['; 100_000]);
        while tokens.next_operator().is_some() {}
        let mut tokens = Tokens::new(&[b'<'; 100_000]);
        while tokens.next_operator().is_some() {}
    }
}
