//! Tesseract's table of words: one line for each page, block, paragraph, line and word, with its place in pixels.

/// How sure Tesseract must be of a word, in percent. What is under it is mostly specks and rules taken for letters.
const LEAST: f32 = 30.0;
/// Words of one page.
const MAX_WORDS: usize = 20_000;
/// The level of a word among the others.
const WORD: &str = "5";

/// A word as Tesseract saw it; words of the same `line` were seen as one line.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct OcrWord {
    pub(super) text: String,
    pub(super) line: usize,
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) width: u32,
    pub(super) height: u32,
    /// In percent.
    pub(super) confidence: u8,
}

pub(super) fn words(table: &str) -> Vec<OcrWord> {
    let mut words = Vec::new();
    let mut lines = 0;
    let mut last = None;
    for row in table.lines() {
        let Some(([level, block, paragraph, line], place, confidence, text)) = cells(row) else { continue };
        if level != WORD {
            continue;
        }
        if last != Some((block, paragraph, line)) {
            lines += 1;
            last = Some((block, paragraph, line));
        }
        let [left, top, width, height] = place;
        let text: String = text.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
        if confidence < LEAST || text.is_empty() || width == 0 || height == 0 {
            continue;
        }
        if words.len() == MAX_WORDS {
            break;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between the least and 100")]
        let confidence = confidence.min(100.0) as u8;
        words.push(OcrWord { text, line: lines, left, top, width, height, confidence });
    }
    words
}

type Row<'t> = ([&'t str; 4], [u32; 4], f32, &'t str);

fn cells(row: &str) -> Option<Row<'_>> {
    let mut cells = row.splitn(12, '\t');
    let (level, _page) = (cells.next()?, cells.next()?);
    let (block, paragraph, line, _word) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
    let mut place = [0; 4];
    for number in &mut place {
        *number = cells.next()?.parse().ok()?;
    }
    let confidence = cells.next()?.parse().ok()?;
    Some(([level, block, paragraph, line], place, confidence, cells.next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_with_line_place_and_confidence() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
                     1\t1\t0\t0\t0\t0\t0\t0\t1105\t1430\t-1\t\n\
                     5\t1\t1\t1\t1\t1\t100\t278\t72\t18\t96.26\tMailing\n\
                     5\t1\t1\t1\t1\t2\t179\t277\t82\t15\t41.9\tAddress\n\
                     5\t1\t1\t1\t2\t1\t85\t336\t922\t26\t20.6\tot\n\
                     5\t1\t2\t1\t1\t1\t355\t225\t222\t19\t95\t60\n\
                     5\t1\t2\t1\t1\t2\t355\tx\t222\t19\t95\tcut\n";
        let words = words(table);
        let texts: Vec<(&str, usize, u8)> =
            words.iter().map(|word| (word.text.as_str(), word.line, word.confidence)).collect();
        assert_eq!(texts, [("Mailing", 1, 96), ("Address", 1, 41), ("60", 3, 95)]);
        assert_eq!((words[0].left, words[0].top, words[0].width, words[0].height), (100, 278, 72, 18));
    }
}
