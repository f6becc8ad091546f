//! Characters into lines, and lines into cells.

use super::direction::logical;
use super::geometry::{FIRST_TICK, Glyph};

/// A gap between two runs of text that is this wide (in font sizes) separates cells.
const CELL_GAP: f32 = 0.5;
/// The same within one run, whose writer means it as one text.
const CELL_GAP_IN_RUN: f32 = 0.8;
/// The same where a space stands in between; words in Courier stand far apart anyway.
const CELL_GAP_WITH_SPACE: f32 = 1.0;
/// The same within one run, where spaces are stretched to fill the line.
const CELL_GAP_WITH_SPACE_IN_RUN: f32 = 1.6;
/// A gap of this width is a space between words.
const WORD_GAP: f32 = 0.16;
/// Baselines closer than this (in font sizes) are one line.
const SAME_LINE: f32 = 0.35;
/// The same for what stands side by side: cells of a row that are set a little higher or lower.
const SAME_ROW: f32 = 0.8;
/// What may be between two pieces of a row at least, in font sizes.
const APART: f32 = 0.5;

/// A piece of a line without a wide gap in it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cell {
    pub(super) x0: f32,
    pub(super) x1: f32,
    pub(super) text: String,
}

/// A line of text.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Line {
    /// Its baseline.
    pub(super) y: f32,
    /// Its largest font.
    pub(super) size: f32,
    /// Its cells from left to right; never empty.
    pub(super) cells: Vec<Cell>,
    /// Which row of boxes it stands in, 0 for none. Only lines of the same number make a table together.
    pub(super) grid: u32,
}

impl Line {
    pub(super) fn x0(&self) -> f32 {
        self.cells.first().map_or(0.0, |cell| cell.x0)
    }

    pub(super) fn x1(&self) -> f32 {
        self.cells.last().map_or(0.0, |cell| cell.x1)
    }
}

/// Groups characters by baseline, from the top down.
pub(super) fn rows(glyphs: &[Glyph]) -> Vec<Vec<Glyph>> {
    let mut sorted: Vec<Glyph> = glyphs.to_vec();
    sorted.sort_by(|a, b| b.y.total_cmp(&a.y));
    let mut rows: Vec<Vec<Glyph>> = Vec::new();
    let mut base = (0.0, 0.0);
    for glyph in sorted {
        match rows.last_mut() {
            Some(row) if base.0 - glyph.y <= SAME_LINE * f32::min(base.1, glyph.size).max(1.0) => {
                // The larger font decides where the line stands, so that a raised sign does not.
                if glyph.size > base.1 {
                    base = (glyph.y, glyph.size);
                }
                row.push(glyph);
            }
            _ => {
                base = (glyph.y, glyph.size);
                rows.push(vec![glyph]);
            }
        }
    }
    rows
}

/// Lines from the top down.
pub(super) fn lines(glyphs: &[Glyph]) -> Vec<Line> {
    rows(glyphs).into_iter().filter_map(line).collect()
}

/// Joins lines that follow one another and are pieces of one row.
pub(super) fn join_rows(lines: impl IntoIterator<Item = Line>) -> Vec<Line> {
    let mut joined: Vec<Line> = Vec::new();
    for line in lines {
        match joined.last_mut() {
            Some(last) if last.grid == line.grid && is_beside(last, &line) => {
                last.cells.extend(line.cells);
                last.cells.sort_by(|a, b| a.x0.total_cmp(&b.x0));
                last.size = last.size.max(line.size);
            }
            _ => joined.push(line),
        }
    }
    joined
}

/// Whether two lines are pieces of one row: they overlap in height and stand beside one another.
fn is_beside(above: &Line, line: &Line) -> bool {
    let size = above.size.max(line.size);
    let apart = |a: &Cell, b: &Cell| a.x1 + APART * size <= b.x0 || b.x1 + APART * size <= a.x0;
    (0.0..=SAME_ROW * size).contains(&(above.y - line.y))
        && line.cells.iter().all(|cell| above.cells.iter().all(|other| apart(cell, other)))
}

/// One line out of the characters of a row; `None` when they are all blank.
fn line(mut row: Vec<Glyph>) -> Option<Line> {
    row.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    let mut cells: Vec<Cell> = Vec::new();
    let mut last: Option<Glyph> = None;
    let mut blanks: Vec<Glyph> = Vec::new();
    let (mut y, mut size) = (0.0, 0.0);
    for mut glyph in row {
        if glyph.c == ' ' {
            blanks.push(glyph);
            continue;
        }
        if glyph.c == '\u{2007}' {
            glyph.c = ' ';
        }
        if glyph.size > size {
            (y, size) = (glyph.y, glyph.size);
        }
        match (last, cells.last_mut()) {
            (Some(before), Some(cell)) => {
                if is_double(&before, &glyph) {
                    continue;
                }
                let em = before.size.min(glyph.size).max(1.0);
                let gap = (glyph.x0 - before.x1) / em;
                let spaces = blanks.iter().filter(|blank| is_between(&before, blank, &glyph, em)).count();
                let limit = match (spaces, before.run == glyph.run) {
                    (0, false) if before.run >= FIRST_TICK => CELL_GAP_WITH_SPACE,
                    (1, true) => CELL_GAP_WITH_SPACE_IN_RUN,
                    (1, false) => CELL_GAP_WITH_SPACE,
                    (_, true) => CELL_GAP_IN_RUN,
                    (_, false) => CELL_GAP,
                };
                if gap > limit {
                    cells.push(Cell { x0: glyph.x0, x1: glyph.x1, text: String::from(glyph.c) });
                } else {
                    if spaces > 0 || gap > WORD_GAP {
                        cell.text.push(' ');
                    }
                    cell.text.push(glyph.c);
                    cell.x1 = cell.x1.max(glyph.x1);
                }
            }
            _ => cells.push(Cell { x0: glyph.x0, x1: glyph.x1, text: String::from(glyph.c) }),
        }
        last = Some(glyph);
        blanks.clear();
    }
    for cell in &mut cells {
        cell.text = logical(std::mem::take(&mut cell.text));
    }
    (!cells.is_empty()).then_some(Line { y, size, cells, grid: 0 })
}

/// Whether a blank stands between these characters: it belongs to the text of one of them, or lies in their gap. Blanks
/// that pad another text may lie under a word without being in it.
fn is_between(before: &Glyph, blank: &Glyph, after: &Glyph, em: f32) -> bool {
    blank.run == before.run
        || blank.run == after.run
        || (blank.x0 >= before.x1 - 0.1 * em && blank.x1 <= after.x0 + 0.1 * em)
}

/// Whether a character is drawn a second time in nearly the same place, to look bold.
fn is_double(before: &Glyph, glyph: &Glyph) -> bool {
    before.c == glyph.c
        && before.run != glyph.run
        && (glyph.x0 - before.x0).abs() < 0.12 * glyph.size
        && (glyph.y - before.y).abs() < 0.12 * glyph.size
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Characters of a text at a place, each half as wide as the font is high.
    pub(in super::super) fn glyphs(text: &str, x: f32, y: f32, size: f32, run: u32) -> Vec<Glyph> {
        let mut at = x;
        let place = |c| {
            let from = at;
            at += size / 2.0;
            Glyph { c, x0: from, x1: at, y, size, run }
        };
        text.chars().map(place).collect()
    }

    fn texts(line: &Line) -> Vec<&str> {
        line.cells.iter().map(|cell| cell.text.as_str()).collect()
    }

    #[test]
    fn wide_gaps_separate_cells() {
        let mut page = glyphs("Policy No", 10.0, 100.0, 10.0, 1);
        page.extend(glyphs("AL-1", 70.0, 100.5, 10.0, 2));
        let lines = lines(&page);
        assert_eq!(lines.len(), 1);
        assert_eq!(texts(&lines[0]), ["Policy No", "AL-1"]);
    }

    #[test]
    fn words_without_spaces_are_told_apart_by_their_gap() {
        let mut page = glyphs("Elm", 10.0, 100.0, 10.0, 1);
        page.extend(glyphs("Oak", 28.0, 100.0, 10.0, 2));
        assert_eq!(texts(&lines(&page)[0]), ["Elm Oak"]);
    }

    #[test]
    fn bold_by_double_drawing_is_one_text() {
        let mut page = glyphs("Elm", 10.0, 100.0, 10.0, 1);
        page.extend(glyphs("Elm", 10.3, 100.0, 10.0, 2));
        assert_eq!(texts(&lines(&page)[0]), ["Elm"]);
    }

    #[test]
    fn lines_come_from_the_top() {
        let mut page = glyphs("below", 10.0, 80.0, 10.0, 1);
        page.extend(glyphs("above", 10.0, 100.0, 10.0, 2));
        let lines = lines(&page);
        assert_eq!(texts(&lines[0]), ["above"]);
        assert_eq!(texts(&lines[1]), ["below"]);
    }
}
