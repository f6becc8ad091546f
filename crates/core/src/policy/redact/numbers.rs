//! Numbers that belong to somebody: telephones, payment cards, social security numbers, bank accounts.
//!
//! A number counts only as a whole: not inside a longer number, an id, a date or a version.

use super::bytes::{at, before, next_number, run, slice};
use super::found::SecretSpans;
use super::iban;
use super::kind::Kind;

/// The fewest digits of anything that is looked for here.
pub(super) const FEWEST: usize = 8;
/// The most groups of digits that are looked at together: `01 23 45 67 89`, and one for what follows.
const GROUPS: usize = 8;
/// The most digits of one group; a card has 19.
const DIGITS: usize = 20;

/// Digits that stand together.
#[derive(Clone, Copy, Default)]
struct DigitGroup {
    start: usize,
    end: usize,
}

impl DigitGroup {
    fn len(self) -> usize {
        self.end - self.start
    }
}

/// A few groups of digits, and what stands between them.
struct Row<'a> {
    text: &'a [u8],
    groups: [DigitGroup; GROUPS],
    /// The character before each group.
    between: [u8; GROUPS],
    count: usize,
}

pub(super) fn find(text: &[u8], found: &mut SecretSpans) {
    let mut n = 0;
    while let Some(first) = next_number(text, n) {
        n = first + 1;
        if let Some((begin, end, kind)) = number(text, first) {
            found.add(begin, end, kind);
            n = end;
        }
    }
}

/// The number that has its first digit at `n`, and where it begins and ends.
fn number(text: &[u8], n: usize) -> Option<(usize, usize, Kind)> {
    let country = |from: &usize| slice(text, *from, n).iter().all(u8::is_ascii_uppercase) && is_free(text, *from);
    let account = n.checked_sub(2).filter(country).and_then(|from| iban::ends(text, from));
    match account {
        Some(end) => Some((n - 2, end, Kind::Iban)),
        None => starts(text, n).and_then(|begin| Row::of(text, n).number(begin)),
    }
}

/// Whether nothing that belongs to a word stands before `from`.
fn is_free(text: &[u8], from: usize) -> bool {
    let previous = before(text, from);
    !previous.is_ascii_alphanumeric() && previous != b'_'
}

/// Where a number that has its first digit at `digit` begins: there, or at a plus sign before it.
fn starts(text: &[u8], digit: usize) -> Option<usize> {
    match before(text, digit) {
        b'+' if is_free(text, digit - 1) => Some(digit - 1),
        b'(' => Some(if before(text, digit - 1) == b'+' { digit } else { digit - 1 }),
        // Inside of an id, a date or a decimal.
        b'-' | b'.' | b',' if before(text, digit - 1).is_ascii_alphanumeric() => None,
        b'+' => None,
        _ => is_free(text, digit).then_some(digit),
    }
}

impl<'a> Row<'a> {
    fn of(text: &'a [u8], from: usize) -> Self {
        let mut row = Row { text, groups: [DigitGroup::default(); GROUPS], between: [0; GROUPS], count: 0 };
        let mut start = from;
        for (group, between) in row.groups.iter_mut().zip(&mut row.between) {
            let end = run(text, start, DIGITS, |byte| byte.is_ascii_digit());
            *group = DigitGroup { start, end };
            row.count += 1;
            // One separator, or a bracket with a space or a hyphen beside it.
            let gap = match (at(text, end), at(text, end + 1), at(text, end + 2)) {
                (b' ' | b'-' | b'.' | b'/' | b')', b'0'..=b'9', _) => 1,
                (b')', b' ' | b'-', b'0'..=b'9') | (b' ', b'(', b'0'..=b'9') => 2,
                _ => break,
            };
            *between = at(text, end);
            start = end + gap;
        }
        row
    }

    fn group(&self, n: usize) -> DigitGroup {
        self.groups.get(n).copied().filter(|_| n < self.count).unwrap_or_default()
    }

    fn first(&self, n: usize) -> u8 {
        at(self.text, self.group(n).start)
    }

    /// Whether the groups have these lengths, the number ends after them, and only these stand between them.
    fn is(&self, lengths: &[usize], between: &[u8]) -> bool {
        let fit = lengths.iter().enumerate().all(|(n, length)| n < self.count && self.group(n).len() == *length);
        let gaps = self.between.iter().take(lengths.len().saturating_sub(1));
        fit && gaps.into_iter().all(|gap| between.contains(gap)) && self.ends_after(lengths.len())
    }

    /// Whether the first `count` groups are not the beginning of something longer.
    fn ends_after(&self, count: usize) -> bool {
        let Some(last) = count.checked_sub(1) else { return false };
        let end = self.group(last).end;
        let (next, after) = (at(self.text, end), at(self.text, end + 1));
        let goes_on = matches!(next, b'-' | b'.' | b',') && after.is_ascii_alphanumeric();
        !(goes_on || next.is_ascii_alphanumeric() || matches!(next, b'_' | b'@'))
    }

    fn end(&self, count: usize) -> usize {
        self.group(count.saturating_sub(1)).end
    }

    /// What the number is that begins at `begin`.
    fn number(&self, begin: usize) -> Option<(usize, usize, Kind)> {
        if self.groups.iter().take(self.count).map(|group| group.len()).sum::<usize>() < FEWEST {
            return None;
        }
        if let Some(groups) = self.card() {
            return Some((begin, self.end(groups), Kind::Card));
        }
        if self.is(&[3, 2, 4], b"-") && self.is_social() {
            return Some((begin, self.end(3), Kind::Ssn));
        }
        let plus = at(self.text, begin) == b'+';
        let groups = if plus { self.abroad() } else { self.american().or_else(|| self.at_home()) }?;
        Some((begin, self.end(groups), Kind::Phone))
    }

    /// A card in one of the groupings that are printed, of a known issuer, whose check digit holds.
    fn card(&self) -> Option<usize> {
        let shapes: [&[usize]; 4] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3]];
        let grouped = shapes.iter().find(|shape| self.is(shape, b" ") || self.is(shape, b"-"));
        let groups = match grouped {
            Some(shape) => shape.len(),
            None if (13..=19).contains(&self.group(0).len()) && self.ends_after(1) => 1,
            None => return None,
        };
        let mut digits = [0_u8; 19];
        let mut count = 0;
        for n in 0..groups {
            let group = self.group(n);
            for digit in slice(self.text, group.start, group.end) {
                *digits.get_mut(count)? = digit - b'0';
                count += 1;
            }
        }
        is_card(slice(&digits, 0, count)).then_some(groups)
    }

    /// The ranges that are given out, after the Social Security Administration.
    fn is_social(&self) -> bool {
        let text = |n| slice(self.text, self.group(n).start, self.group(n).end);
        self.first(0) != b'9' && text(0) != b"000" && text(0) != b"666" && text(1) != b"00" && text(2) != b"0000"
    }

    /// After a plus sign: up to 15 digits, after E.164, and 8 at least.
    fn abroad(&self) -> Option<usize> {
        let (mut digits, mut best) = (0, None);
        for n in 0..self.count {
            digits += self.group(n).len();
            if digits > 15 {
                break;
            }
            if digits >= FEWEST && self.ends_after(n + 1) {
                best = Some(n + 1);
            }
        }
        best.filter(|_| self.first(0) != b'0')
    }

    /// North America: three, three and four digits, with or without the 1 in front.
    fn american(&self) -> Option<usize> {
        let valid = |area: usize| self.first(area) >= b'2' && self.first(area + 1) >= b'2';
        if self.is(&[3, 3, 4], b" -.)") && valid(0) {
            return Some(3);
        }
        (self.is(&[1, 3, 3, 4], b" -.)") && self.first(0) == b'1' && valid(1)).then_some(4)
    }

    /// With the 0 in front that most other countries dial: 9 to 12 digits in groups, and no date.
    fn at_home(&self) -> Option<usize> {
        let lead = self.group(0).len();
        let is_date = self.group(1).len() == 2 && self.group(2).len() == 4;
        if self.first(0) != b'0' || self.first(0) == at(self.text, self.group(0).start + 1) || is_date {
            return None;
        }
        let (mut digits, mut best) = (lead, None);
        for n in 1..self.count {
            let gap = self.between.get(n - 1).copied().unwrap_or(0);
            digits += self.group(n).len();
            if !matches!(gap, b' ' | b'/' | b'-' | b')') || digits > 12 {
                break;
            }
            if digits >= 9 && self.ends_after(n + 1) {
                best = Some(n + 1);
            }
        }
        best.filter(|_| (2..=5).contains(&lead))
    }
}

/// Whether digits are those of a card: an issuer's range, after ISO 7812, and the check digit of Luhn.
pub(super) fn is_card(digits: &[u8]) -> bool {
    let prefix = |count: usize| digits.iter().take(count).fold(0_u32, |number, digit| number * 10 + u32::from(*digit));
    let (two, four) = (prefix(2), prefix(4));
    let issued = match digits.len() {
        13 | 18 | 19 => prefix(1) == 4 || two == 62 || (digits.len() == 19 && two == 60),
        14 => matches!(two, 36 | 38 | 39) || (300..=305).contains(&prefix(3)),
        15 => matches!(two, 34 | 37),
        16 => {
            prefix(1) == 4
                || (51..=55).contains(&two)
                || (2221..=2720).contains(&four)
                || matches!(two, 35 | 50 | 56..=58 | 62 | 65 | 67)
                || matches!(four, 6011 | 6304)
                || (644..=649).contains(&prefix(3))
        }
        _ => false,
    };
    issued && luhn(digits)
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(n, digit)| {
            let digit = u32::from(*digit);
            match (n % 2, digit * 2) {
                (0, _) => digit,
                (_, twice) if twice > 9 => twice - 9,
                (_, twice) => twice,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}
