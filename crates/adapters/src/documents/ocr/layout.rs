//! Words in a picture as a page of text: lines and columns as for the text of a PDF, and each word's place in both.

use kybern_core::document::{LineBox, PageText, Scan, ScanPlace, ScannedWord, WHOLE};

use super::super::pdf::{Glyph, Lean, Rect, is_from_right, lay_out};
use super::super::picture::Picture;
use super::tsv::OcrWord;

/// How far the baseline of a word lies above its lower edge when letters hang under it, in heights of such a word.
const BELOW: f32 = 0.22;
/// What the height of a word is of the font's size: with capitals or figures, with none of them, and what letters
/// under the line add.
const TALL: f32 = 0.72;
const SMALL: f32 = 0.52;
const HANGING: f32 = 0.21;
/// Points from its first word to its last from which on a line says how the page lies, and the most that it can lean.
const LONG: f32 = 72.0;
const STEEPEST: f32 = 0.15;
/// How near the baselines of a line and of its words are, in sizes of the font: as a rule, and at most.
const ON_LINE: f32 = 0.35;
const NEAR: f32 = 1.2;

/// A word with its place on the page in points, from the lower left corner.
struct PlacedWord<'w> {
    seen: &'w OcrWord,
    x0: f32,
    y: f32,
}

/// The page, or `None` when there are no words.
pub(super) fn page(words: &[OcrWord], picture: &Picture) -> Option<PageText> {
    if words.is_empty() {
        return None;
    }
    #[expect(clippy::cast_precision_loss, reason = "a page has a few thousand pixels each way")]
    let points = |pixels: u32| pixels as f32 * 72.0 / picture.dpi.max(1) as f32;
    let bounds = Rect { x0: 0.0, y0: 0.0, x1: points(picture.width), y1: points(picture.height) };
    let mut placed = Vec::with_capacity(words.len());
    let mut glyphs = Vec::new();
    let mut sizes = Vec::with_capacity(words.len());
    for line in words.chunk_by(|a, b| a.line == b.line) {
        let size = middle(line.iter().map(|word| points(word.height) / height_of(&word.text)));
        let mut end = None;
        for word in line {
            let hangs = if hangs(&word.text) { BELOW * points(word.height) } else { 0.0 };
            let y = bounds.y1 - points(word.top + word.height) + hangs;
            let (x0, x1) = (points(word.left), points(word.left + word.width));
            let run = u32::try_from(placed.len()).unwrap_or(0);
            // What was seen as one line has its words apart by spaces, however wide they are printed.
            if let Some(end) = end.filter(|end| *end < x0) {
                glyphs.push(Glyph { c: ' ', x0: end, x1: x0, y, size, run });
            }
            end = Some(x1);
            placed.push(PlacedWord { seen: word, x0, y });
            sizes.push(size);
            spread(&word.text, (x0, x1), y, size, run, &mut glyphs);
        }
    }
    let slope = slope(&placed);
    let (text, lines) = lay_out(&glyphs, bounds, Lean::of_slope(slope));
    let words = find(&text, &lines, (&placed, &sizes), slope, picture);
    Some(PageText { number: 1, text, lines, scan: Some(Scan { words }), ..PageText::default() })
}

/// How much the lines of a page rise for each point to the right: that of the line in the middle, the long ones counting
/// for more.
fn slope(placed: &[PlacedWord<'_>]) -> f32 {
    let of_line = |line: &[PlacedWord<'_>]| {
        let (first, last) = (line.first()?, line.last()?);
        let width = last.x0 - first.x0;
        (width > LONG).then(|| ((last.y - first.y) / width, width))
    };
    let mut slopes: Vec<(f32, f32)> = placed.chunk_by(|a, b| a.seen.line == b.seen.line).filter_map(of_line).collect();
    slopes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = slopes.iter().map(|(_, width)| width).sum::<f32>() / 2.0;
    let mut before = 0.0;
    let middle = slopes.iter().find(|(_, width)| {
        before += width;
        before >= half
    });
    middle.map_or(0.0, |(slope, _)| *slope).clamp(-STEEPEST, STEEPEST)
}

/// The characters of a word, as wide as there is room for each, all of one run.
fn spread(word: &str, (x0, x1): (f32, f32), y: f32, size: f32, run: u32, glyphs: &mut Vec<Glyph>) {
    #[expect(clippy::cast_precision_loss, reason = "a word has a few letters")]
    let step = (x1 - x0) / word.chars().count().max(1) as f32;
    // The first letter of a word that runs from the right stands at its right end.
    let mut seen: Vec<char> = word.chars().collect();
    if seen.iter().copied().any(is_from_right) {
        seen.reverse();
    }
    let mut x = x0;
    for c in seen {
        glyphs.push(Glyph { c, x0: x, x1: x + step, y, size, run });
        x += step;
    }
}

/// The height of a word in sizes of its font.
fn height_of(word: &str) -> f32 {
    let tall = word.chars().any(|c| c.is_uppercase() || c.is_numeric() || "bdfhklti/()[]$&%#@!?|".contains(c));
    let small = word.chars().all(|c| "-_.,:;~=+*\"'".contains(c));
    match (tall, small) {
        (_, true) => f32::MAX,
        (true, _) => TALL + if hangs(word) { HANGING } else { 0.0 },
        (false, _) => SMALL + if hangs(word) { HANGING } else { 0.0 },
    }
}

fn hangs(word: &str) -> bool {
    word.contains(['g', 'j', 'p', 'q', 'y', 'Q', ',', ';', '(', ')', '[', ']', '/', '$', '@', '|', 'ç', 'Ç'])
}

/// The middle one of some sizes, those that say nothing left out.
fn middle(sizes: impl Iterator<Item = f32>) -> f32 {
    let mut sizes: Vec<f32> = sizes.filter(|size| *size > 0.5).collect();
    sizes.sort_by(f32::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(8.0)
}

/// Where each word stands in the text: a line has its words in order, so each is looked for behind the one before.
fn find(
    text: &str,
    lines: &[LineBox],
    (placed, sizes): (&[PlacedWord<'_>], &[f32]),
    slope: f32,
    picture: &Picture,
) -> Vec<ScannedWord> {
    // How high a place would be if lines were level.
    let level = |x: f32, y: f32| y - slope * x;
    let mut order: Vec<(f32, usize)> =
        placed.iter().enumerate().map(|(at, word)| (level(word.x0, word.y), at)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let largest = sizes.iter().copied().fold(0.0, f32::max);
    let mut found: Vec<ScannedWord> = Vec::with_capacity(placed.len());
    let mut taken = vec![false; placed.len()];
    // First what stands on a line, then what was set a little higher or lower and was joined to it: rows that are close
    // have the same words, and each must find its own.
    for near in [ON_LINE, NEAR] {
        let before = found.clone();
        for line in lines {
            let height = level(line.x, line.y);
            let from = order.partition_point(|(y, _)| *y < height - near * largest);
            let around = order[from..].iter().take_while(|(y, _)| *y <= height + near * largest);
            let mut on_line: Vec<usize> = around
                .filter(|(y, word)| (y - height).abs() <= near * sizes[*word] && placed[*word].x0 >= line.x - 2.0)
                .map(|(_, word)| *word)
                .filter(|word| !taken[*word])
                .collect();
            if on_line.is_empty() {
                continue;
            }
            on_line.sort_by(|a, b| placed[*a].x0.total_cmp(&placed[*b].x0));
            let mut free = free(line, &before);
            for word in on_line {
                let text_of = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
                let seen = &placed[word].seen.text;
                let at = free.iter().position(|(from, to)| in_rest(text_of(*from, *to), seen).is_some());
                let Some(at) = at else { continue };
                let (from, to) = free[at];
                let start = from + in_rest(text_of(from, to), seen).unwrap_or(0);
                let end = start + seen.len();
                found.push(ScannedWord { start, end, place: place(&placed[word], picture) });
                taken[word] = true;
                // Words of a line come in order.
                free.drain(..at);
                free[0].0 = end;
            }
        }
        found.sort_by_key(|word| word.start);
    }
    found
}

/// The stretches of a line whose words were not found yet; `found` is in the order of the text.
fn free(line: &LineBox, found: &[ScannedWord]) -> Vec<(usize, usize)> {
    let from = found.partition_point(|word| word.end <= line.start);
    let mut free = Vec::new();
    let mut start = line.start;
    for word in found[from..].iter().take_while(|word| word.start < line.end) {
        if start < word.start {
            free.push((start, word.start));
        }
        start = word.end;
    }
    free.push((start, line.end));
    free
}

/// Where a word begins that stands next in the rest of a line: nothing but blanks may be before it, or other words.
fn in_rest(rest: &str, word: &str) -> Option<usize> {
    rest.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = rest[..*at].chars().next_back();
        let after = rest[at + word.len()..].chars().next();
        before.is_none_or(char::is_whitespace) && after.is_none_or(char::is_whitespace)
    })
}

fn place(word: &PlacedWord<'_>, picture: &Picture) -> ScanPlace {
    let seen = word.seen;
    let of = |pixels: u32, whole: u32| {
        let thousandths = u64::from(pixels) * u64::from(WHOLE) / u64::from(whole.max(1));
        u16::try_from(thousandths).unwrap_or(WHOLE).min(WHOLE)
    };
    let (x, y) = (of(seen.left, picture.width), of(seen.top, picture.height));
    // A thousandth more, because both were rounded down.
    let right = (of(seen.left + seen.width, picture.width) + 1).min(WHOLE);
    let bottom = (of(seen.top + seen.height, picture.height) + 1).min(WHOLE);
    ScanPlace { x, y, width: right - x.min(right), height: bottom - y.min(bottom), confidence: seen.confidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        Picture { width: 1700, height: 2200, pixels: Vec::new(), dpi: 200 }
    }

    fn seen(text: &str, line: usize, left: u32, top: u32) -> OcrWord {
        let width = u32::try_from(text.chars().count()).unwrap() * 15;
        OcrWord { text: text.to_owned(), line, left, top, width, height: 20, confidence: 90 }
    }

    #[test]
    fn words_of_one_row_are_cells_and_each_knows_its_place_in_the_text() {
        // Labels and values were seen as two blocks, one after the other.
        let words = [
            seen("Named", 1, 100, 300),
            seen("Insured", 1, 185, 300),
            seen("DOT", 2, 100, 400),
            seen("Number", 2, 155, 400),
            seen("Acme", 3, 600, 302),
            seen("LLC", 3, 670, 302),
            seen("9104417", 4, 600, 401),
        ];
        let page = page(&words, &picture()).unwrap();
        let rows: Vec<Vec<&str>> = page
            .text
            .lines()
            .filter(|row| !row.is_empty())
            .map(|row| row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect();
        assert_eq!(rows, [["Named Insured", "Acme LLC"], ["DOT Number", "9104417"]]);
        let found = page.scan.as_ref().unwrap();
        let texts: Vec<&str> = found.words.iter().map(|word| &page.text[word.start..word.end]).collect();
        assert_eq!(texts, ["Named", "Insured", "Acme", "LLC", "DOT", "Number", "9104417"]);
        let number = found.words[6].place;
        assert_eq!((number.x, number.y, number.width, number.height), (352, 182, 63, 10));
    }

    #[test]
    fn the_same_word_twice_on_a_row_has_two_places() {
        let words = [seen("2018", 1, 100, 300), seen("2018", 1, 600, 300)];
        let page = page(&words, &picture()).unwrap();
        let places: Vec<u16> = page.scan.unwrap().words.iter().map(|word| word.place.x).collect();
        assert_eq!(places, [58, 352]);
    }

    #[test]
    fn rows_of_a_page_that_lies_crookedly_stay_rows() {
        // Rows 30 pixels apart, of which each falls by 40 from the left to the right.
        let mut words = Vec::new();
        for row in 0..8u32 {
            let (line, top) = (usize::try_from(row).unwrap() * 3, 300 + row * 30);
            words.push(seen("Unit", line, 100, top));
            words.push(seen("number", line, 500, top + 13));
            words.push(seen(&format!("VIN{row}"), line + 1, 900, top + 26));
            words.push(seen(&format!("value{row}"), line + 2, 1300, top + 40));
        }
        let page = page(&words, &picture()).unwrap();
        let rows: Vec<Vec<&str>> = page.text.lines().map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows.len(), 8, "{}", page.text);
        assert_eq!(rows[5], ["Unit", "number", "VIN5", "value5"]);
        assert_eq!(page.scan.unwrap().words.len(), words.len());
    }

    #[test]
    fn a_picture_without_words_is_no_page() {
        assert_eq!(page(&[], &picture()), None);
    }
}
