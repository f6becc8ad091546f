//! Pages that were read from a picture: which words, where they stand in the picture, and how sure each of them is.
//!
//! Places are in thousandths of the picture's width and height, from its upper left corner, so that they hold at every
//! size in which the picture is shown.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{DocumentText, PageText};

/// The full width or height of a picture.
pub const WHOLE: u16 = 1000;

/// What reading a page's picture gave.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Scan {
    /// Its words in the order of the page's text. On the wire one string, because a page has hundreds of them.
    #[serde(with = "written")]
    pub words: Vec<ScannedWord>,
}

/// One word of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScannedWord {
    /// First byte of the word in the page's text.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Where it stands and how sure it is.
    pub place: ScanPlace,
}

/// A place in the picture of a page, and how sure its words are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScanPlace {
    /// From the left edge, in thousandths of the width.
    pub x: u16,
    /// From the upper edge, in thousandths of the height.
    pub y: u16,
    /// In thousandths of the picture's width.
    pub width: u16,
    /// In thousandths of the picture's height.
    pub height: u16,
    /// How sure the least sure word in it is, in percent.
    pub confidence: u8,
}

impl ScanPlace {
    /// All of a picture of which nothing is known.
    pub const WHOLE_PICTURE: Self = Self { x: 0, y: 0, width: WHOLE, height: WHOLE, confidence: 0 };

    /// The smallest place around both, as sure as the less sure one.
    #[must_use]
    pub fn around(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = self.x.saturating_add(self.width).max(other.x.saturating_add(other.width));
        let bottom = self.y.saturating_add(self.height).max(other.y.saturating_add(other.height));
        Self { x, y, width: right - x, height: bottom - y, confidence: self.confidence.min(other.confidence) }
    }
}

/// A person's correction of what was read: this stands there instead.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScanCorrection {
    /// The page, from 1.
    pub page: u32,
    /// First byte in the page's text.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What stands there.
    pub text: String,
}

/// A correction that names no place in the text, or one that another names too.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the correction of page {page}, bytes {start} to {end}, names no place of its own in the text that was read")]
pub struct MisplacedCorrection {
    page: u32,
    start: usize,
    end: usize,
}

/// What stands in the place of a page that was not read.
const NOT_READ: &str = "[this page was not read]";

impl PageText {
    /// A page that nobody has read.
    #[must_use]
    pub fn not_read(number: u32) -> Self {
        Self { number, text: NOT_READ.to_owned(), unread: true, ..Self::default() }
    }

    /// Whether a person is shown its picture: there is one, and it counts.
    #[must_use]
    pub const fn is_shown(&self) -> bool {
        self.scan.is_some() || self.unread
    }

    /// Where these bytes of its text stand in its picture; `None` when it was not read from one.
    #[must_use]
    pub fn place_in_picture(&self, start: usize, end: usize) -> Option<ScanPlace> {
        let words = &self.scan.as_ref()?.words;
        let places = words.iter().filter(|word| word.start < end && start < word.end).map(|word| word.place);
        Some(places.reduce(ScanPlace::around).unwrap_or(ScanPlace::WHOLE_PICTURE))
    }
}

impl DocumentText {
    /// Whether any of it was read from a picture. A picture without words, such as the back of a sheet, has nothing that
    /// could have been misread.
    #[must_use]
    pub fn is_scanned(&self) -> bool {
        self.pages.iter().any(|page| page.scan.as_ref().is_some_and(|scan| !scan.words.is_empty()))
    }

    /// The same, as if none of its pictures had been read.
    #[must_use]
    pub fn without_scans(mut self) -> Self {
        for page in self.pages.iter_mut().filter(|page| page.scan.is_some()) {
            *page = PageText::not_read(page.number);
        }
        self
    }

    /// The text as a person has confirmed it before its pictures: corrected, and every word of it sure.
    ///
    /// # Errors
    /// When a correction names no place of its own in the text.
    pub fn confirmed(mut self, corrections: &[ScanCorrection]) -> Result<Self, MisplacedCorrection> {
        let mut ordered: Vec<&ScanCorrection> = corrections.iter().collect();
        // From the end, so that places before a correction stay as they are.
        ordered.sort_by_key(|correction| std::cmp::Reverse((correction.page, correction.start)));
        let mut before: Option<&ScanCorrection> = None;
        for correction in ordered {
            let ScanCorrection { page, start, end, .. } = *correction;
            let overlaps = before.is_some_and(|before| before.page == page && end > before.start);
            let found = self.pages.iter_mut().find(|found| found.number == page && found.is_shown());
            let fits =
                |found: &&mut PageText| (start < end || found.text.is_empty()) && found.text.get(start..end).is_some();
            match found.filter(fits) {
                Some(found) if !overlaps => correct(found, correction),
                _ => return Err(MisplacedCorrection { page, start, end }),
            }
            before = Some(correction);
        }
        for page in &mut self.pages {
            for word in page.scan.iter_mut().flat_map(|scan| &mut scan.words) {
                word.place.confidence = 100;
            }
        }
        Ok(self)
    }
}

/// Puts a correction into a page. The words that it touches become one, where they stood.
fn correct(page: &mut PageText, correction: &ScanCorrection) {
    let ScanCorrection { start, end, ref text, .. } = *correction;
    let place = page.place_in_picture(start, end).unwrap_or(ScanPlace::WHOLE_PICTURE);
    page.text.replace_range(start..end, text);
    // Whoever corrects it has looked at it.
    page.unread = false;
    let moved = |at: usize| match at {
        at if at >= end => at - (end - start) + text.len(),
        at => at.min(start + text.len()),
    };
    for line in &mut page.lines {
        (line.start, line.end) = (moved(line.start), moved(line.end));
    }
    let Some(scan) = &mut page.scan else { return };
    let mut words = Vec::with_capacity(scan.words.len() + 1);
    let touches = |word: &&ScannedWord| word.start < end && start < word.end;
    // What of a touched word stands outside of the correction stays, as a part of the corrected word.
    let touched = || scan.words.iter().filter(touches);
    let from = touched().map(|word| word.start).min().unwrap_or(start).min(start);
    let to = touched().map(|word| word.end).max().unwrap_or(end).max(end);
    words.extend(scan.words.iter().filter(|word| word.end <= from));
    words.push(ScannedWord { start: from, end: moved(to), place });
    let behind = scan.words.iter().filter(|word| word.start >= to);
    words.extend(behind.map(|word| ScannedWord { start: moved(word.start), end: moved(word.end), ..*word }));
    scan.words = words;
}

impl fmt::Display for ScannedWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ScanPlace { x, y, width, height, confidence } = self.place;
        write!(f, "{} {} {x} {y} {width} {height} {confidence}", self.start, self.end)
    }
}

/// Words as one string: seven numbers each, words apart by commas.
mod written {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::{ScanPlace, ScannedWord};

    pub(super) fn serialize<S: Serializer>(words: &[ScannedWord], serializer: S) -> Result<S::Ok, S::Error> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        serializer.serialize_str(&words.join(","))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ScannedWord>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let words = text.split(',').filter(|word| !word.is_empty());
        words.map(|word| read(word).ok_or_else(|| D::Error::custom("not the words of a scan"))).collect()
    }

    fn read(word: &str) -> Option<ScannedWord> {
        let mut parts = word.split(' ');
        let (start, end) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let mut number = || parts.next()?.parse::<u16>().ok();
        let (x, y, width, height, confidence) = (number()?, number()?, number()?, number()?, number()?);
        let place = ScanPlace { x, y, width, height, confidence: u8::try_from(confidence).ok()? };
        Some(ScannedWord { start, end, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{DocumentFormat, LineBox};

    /// `Name Acme  DOT 91o4417`, each word twice as high as the next is sure.
    fn read() -> DocumentText {
        let text = "Name Acme\nDOT 91o4417";
        let word = |word: &str, x, confidence| {
            let start = text.find(word).unwrap();
            let place = ScanPlace { x, y: 100, width: 50, height: 20, confidence };
            ScannedWord { start, end: start + word.len(), place }
        };
        let words = vec![word("Name", 10, 99), word("Acme", 70, 90), word("DOT", 10, 96), word("91o4417", 70, 41)];
        let page = PageText {
            number: 1,
            text: text.to_owned(),
            lines: vec![LineBox { start: 10, end: 21, x: 0.0, y: 0.0 }],
            scan: Some(Scan { words }),
            ..PageText::default()
        };
        DocumentText { format: DocumentFormat::Pdf, pages: vec![page] }
    }

    fn at(page: u32, start: usize, end: usize, text: &str) -> ScanCorrection {
        ScanCorrection { page, start, end, text: text.to_owned() }
    }

    #[test]
    fn a_place_is_around_its_words_and_as_sure_as_the_least_sure() {
        let text = read();
        let place = text.pages[0].place_in_picture(10, 21).unwrap();
        assert_eq!(place, ScanPlace { x: 10, y: 100, width: 110, height: 20, confidence: 41 });
        assert_eq!(text.pages[0].place_in_picture(9, 10), Some(ScanPlace::WHOLE_PICTURE));
        assert_eq!(PageText::default().place_in_picture(0, 1), None);
    }

    #[test]
    fn a_correction_stands_where_the_words_stood() {
        let text = read().confirmed(&[at(1, 14, 21, "9104417"), at(1, 5, 9, "Acme Hauling")]).unwrap();
        let page = &text.pages[0];
        assert_eq!(page.text, "Name Acme Hauling\nDOT 9104417");
        let words: Vec<&str> =
            page.scan.as_ref().unwrap().words.iter().map(|word| &page.text[word.start..word.end]).collect();
        assert_eq!(words, ["Name", "Acme Hauling", "DOT", "9104417"]);
        assert_eq!(page.place_in_picture(22, 29).unwrap().x, 70);
        assert_eq!(page.place_in_picture(0, 29).unwrap().confidence, 100);
        assert_eq!(&page.text[page.lines[0].start..page.lines[0].end], "DOT 9104417");
    }

    #[test]
    fn a_correction_of_a_part_of_a_word_keeps_the_rest() {
        let text = read().confirmed(&[at(1, 16, 17, "0")]).unwrap();
        let page = &text.pages[0];
        let last = page.scan.as_ref().unwrap().words[3];
        assert_eq!(&page.text[last.start..last.end], "9104417");
    }

    #[test]
    fn corrections_without_a_place_of_their_own_are_refused() {
        for wrong in [
            vec![at(2, 0, 1, "x")],
            vec![at(1, 20, 40, "x")],
            vec![at(1, 5, 5, "x")],
            vec![at(1, 0, 6, "x"), at(1, 5, 9, "y")],
        ] {
            assert!(read().confirmed(&wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn words_are_one_string_on_the_wire() {
        let text = read();
        let json = serde_json::to_value(&text).unwrap();
        assert!(json["pages"][0]["scan"]["words"].as_str().unwrap().starts_with("0 4 10 100 50 20 99,"));
        assert_eq!(serde_json::from_value::<DocumentText>(json).unwrap(), text);
    }
}
