//! Looking at bytes without ever reaching beyond them, and the first look that spares most texts the others.

use super::numbers;

/// A byte of a [name](is_word).
const WORD: u8 = 1;
/// A letter or a digit.
const ALPHANUMERIC: u8 = 2;
/// A letter.
const ALPHABETIC: u8 = 4;
const DIGIT: u8 = 8;
/// What no number begins behind: a small letter, or a digit.
const LEADING: u8 = 16;
/// What only some texts have, and what is looked for in them begins with.
const SIGN: u8 = 32;

/// What each byte may be. Looked up, because every byte of every line of the log is asked.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        let mut class = 0;
        if byte.is_ascii_alphabetic() {
            class |= ALPHABETIC;
        }
        if byte.is_ascii_alphanumeric() {
            class |= ALPHANUMERIC | WORD;
        }
        if byte.is_ascii_digit() {
            class |= DIGIT;
        }
        if byte.is_ascii_digit() || byte.is_ascii_lowercase() {
            class |= LEADING;
        }
        if matches!(byte, b'_' | b'-' | b'.') {
            class |= WORD;
        }
        if matches!(byte, b'%' | b'~' | b'@' | b'/' | b'-') {
            class |= SIGN;
        }
        classes[byte as usize] = class;
        byte += 1;
    }
    classes
};

#[inline]
fn is_of(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// Whether names have it: a letter, a digit, `_`, `-` or `.`.
#[inline]
pub(super) fn is_word(byte: u8) -> bool {
    is_of(byte, WORD)
}

/// Where in `text` letters begin that no letter and no digit stands before, from `from` up to `to`.
pub(super) fn beginnings(text: &[u8], from: usize, to: usize) -> impl Iterator<Item = usize> {
    let mut inside = is_of(before(text, from), ALPHANUMERIC);
    (from..).zip(slice(text, from, to)).filter_map(move |(n, byte)| {
        let begins = !inside && is_of(*byte, ALPHABETIC);
        inside = is_of(*byte, ALPHANUMERIC);
        begins.then_some(n)
    })
}

/// Whether a text is a UUID or the id of a trace, in small letters. They name things and open none, and no detector finds
/// anything in one; fields of the log hold little else.
pub(super) fn is_id(text: &[u8]) -> bool {
    let is_uuid = text.len() == 36;
    let fits = |(n, byte): (usize, &u8)| match n {
        8 | 13 | 18 | 23 if is_uuid => *byte == b'-',
        _digit => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    (is_uuid || text.len() == 32) && text.iter().enumerate().all(fits)
}

/// Where a number may begin from `from` on: at a digit that neither a digit nor a small letter stands before, as one does
/// before most digits of an id.
#[inline]
pub(super) fn next_number(text: &[u8], from: usize) -> Option<usize> {
    let mut inside = is_of(before(text, from), LEADING);
    let fits = |byte: &u8| {
        let class = CLASSES[usize::from(*byte)];
        let begins = class & DIGIT != 0 && !inside;
        inside = class & LEADING != 0;
        begins
    };
    Some(from + slice(text, from, text.len()).iter().position(fits)?)
}

/// Where the [word](is_word) that `from` is in ends, and whether `begins` is true of the first two bytes of any letters in
/// it that no letter and no digit stands before.
pub(super) fn word(text: &[u8], from: usize, begins: impl Fn(u8, u8) -> bool) -> (usize, bool) {
    let (mut inside, mut any) = (is_of(before(text, from), ALPHANUMERIC), false);
    let rest = slice(text, from, text.len());
    for (n, &byte) in rest.iter().enumerate() {
        let class = CLASSES[usize::from(byte)];
        if class & WORD == 0 {
            return (from + n, any);
        }
        if !inside && class & ALPHABETIC != 0 {
            any |= begins(byte, at(rest, n + 1));
        }
        inside = class & ALPHANUMERIC != 0;
    }
    (text.len(), any)
}

/// The byte at `at`; 0 beyond the end.
#[inline]
pub(super) fn at(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The byte before `at`; 0 before the beginning.
#[inline]
pub(super) fn before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |before| self::at(text, before))
}

/// The bytes from `from` to `to`; none where there are none.
#[inline]
pub(super) fn slice(text: &[u8], from: usize, to: usize) -> &[u8] {
    text.get(from..to.min(text.len())).unwrap_or_default()
}

/// Where the run of bytes that fit ends, at most `most` bytes on.
#[inline]
pub(super) fn run(text: &[u8], from: usize, most: usize, fits: impl Fn(u8) -> bool) -> usize {
    let ahead = slice(text, from, from.saturating_add(most));
    from + ahead.iter().position(|byte| !fits(*byte)).unwrap_or(ahead.len())
}

/// Where the run of bytes that fit begins, at most `most` bytes back.
#[inline]
pub(super) fn run_back(text: &[u8], to: usize, most: usize, fits: impl Fn(u8) -> bool) -> usize {
    let behind = slice(text, to.saturating_sub(most), to);
    to - behind.iter().rev().position(|byte| !fits(*byte)).unwrap_or(behind.len())
}

/// Whether `text` goes on with `word` at `from`, in either case.
#[inline]
pub(super) fn goes_on(text: &[u8], from: usize, word: &[u8]) -> bool {
    slice(text, from, from + word.len()).eq_ignore_ascii_case(word)
}

/// What a text has at all.
#[derive(Default)]
pub(super) struct TextSigns {
    /// Something percent-encoded, or encoded as in a JSON pointer.
    pub(super) encoded: bool,
    /// An at sign.
    pub(super) at: bool,
    /// `//`.
    pub(super) slashes: bool,
    /// `-----`.
    pub(super) fence: bool,
    /// As many digits as a number has that is looked for.
    pub(super) numbers: bool,
    /// A letter, as every name has.
    pub(super) letters: bool,
}

impl TextSigns {
    /// One look at every byte, which tells of most texts that they have none of the rest.
    pub(super) fn of(text: &str) -> Self {
        let (mut seen, mut digits) = (0, 0);
        for byte in text.bytes() {
            let class = CLASSES[usize::from(byte)];
            seen |= class;
            digits += usize::from(class & DIGIT != 0);
        }
        let (numbers, letters) = (digits >= numbers::FEWEST, seen & ALPHABETIC != 0);
        if seen & SIGN == 0 {
            return Self { numbers, letters, ..Self::default() };
        }
        Self {
            encoded: (text.contains('%') || text.contains('~')) && has_encoded(text.as_bytes()),
            at: text.contains('@'),
            slashes: text.contains("//"),
            fence: text.contains("-----"),
            numbers,
            letters,
        }
    }
}

fn has_encoded(text: &[u8]) -> bool {
    (0..text.len()).any(|n| match at(text, n) {
        b'~' => matches!(at(text, n + 1), b'0' | b'1'),
        b'%' => at(text, n + 1).is_ascii_hexdigit() && at(text, n + 2).is_ascii_hexdigit(),
        _ => false,
    })
}

/// The text with its percent-encoded ASCII, and the `~0` and `~1` of a JSON pointer, decoded, and where each of its bytes stood; one place more than there are
/// bytes, for the end.
pub(super) fn decoded(text: &str) -> (String, Vec<usize>) {
    let bytes = text.as_bytes();
    let (mut plain, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
    let mut rest = text.char_indices();
    while let Some((n, letter)) = rest.next() {
        let code = slice(bytes, n + 1, n + 3);
        let value = (letter == '%' && code.len() == 2)
            .then(|| std::str::from_utf8(code).ok().and_then(|code| u8::from_str_radix(code, 16).ok()))
            .flatten();
        let pointer = match (letter, code.first()) {
            ('~', Some(b'0')) => Some(b'~'),
            ('~', Some(b'1')) => Some(b'/'),
            _ => None,
        };
        match value.filter(u8::is_ascii).or(pointer) {
            Some(value) => {
                plain.push(char::from(value));
                places.push(n);
                rest.nth(usize::from(pointer.is_none()));
            }
            None => {
                plain.push(letter);
                places.extend(n..n + letter.len_utf8());
            }
        }
    }
    places.push(text.len());
    (plain, places)
}
