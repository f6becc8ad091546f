//! On which side of their labels the values of a page stand: to the right, beneath, above, or to the left.
//!
//! A value that is checked narrowly, such as a date, says so by itself. What it says on a line holds for the other labels
//! of that line, and what most say on a page for lines that say nothing.

use super::labels::{LabelHit, Labels};
use super::layout::{self, Cell};
use super::page::Page;
use super::{compound, values};

/// Lines, blank ones counted, that a value may stand beneath its label.
const MAX_BENEATH: usize = 4;
/// Lines that a value may stand above its label.
const MAX_ABOVE: usize = 2;
/// Votes of a page without which no value is looked for above or to the left of a label.
const LEAST_VOTES: u32 = 2;

/// A side of a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LabelSide {
    Right,
    Below,
    Above,
    Left,
}

/// Every side, the usual one first.
const ALL: [LabelSide; 4] = [LabelSide::Right, LabelSide::Below, LabelSide::Above, LabelSide::Left];

/// What the values of a page say.
#[derive(Debug, Default)]
pub(super) struct SideVotes {
    lines: Vec<[u32; 4]>,
    page: [u32; 4],
}

impl SideVotes {
    /// Counts for each line on which sides of its labels a value stands that can only be theirs.
    pub(super) fn of(page: &Page<'_>, labels: &Labels<'_>) -> Self {
        let mut sides = Self { lines: vec![[0; 4]; page.lines.len()], page: [0; 4] };
        for line in (0..page.lines.len()).filter(|line| !page.used[*line]) {
            for hit in page.hits[line].iter().filter(|hit| hit.fills) {
                for (index, side) in ALL.into_iter().enumerate() {
                    if speaks(page, labels, line, hit, side) {
                        sides.lines[line][index] += 1;
                        sides.page[index] += 1;
                    }
                }
            }
        }
        sides
    }

    /// Whether a page writes its labels behind their values.
    pub(super) fn trail(&self) -> bool {
        let [right, below, above, left] = self.page;
        left >= LEAST_VOTES && left > right.max(below).max(above)
    }

    /// The sides on which the values of a line's labels are looked for, the likeliest first.
    pub(super) fn order(&self, line: usize) -> Vec<LabelSide> {
        let mut order: Vec<usize> = (0..ALL.len()).collect();
        order.sort_by_key(|side| (std::cmp::Reverse((self.lines[line][*side], self.page[*side])), *side));
        let lead = order[0];
        let likely = |side: &usize| {
            *side < 2 || self.page[*side] >= LEAST_VOTES && (*side == lead || self.lines[line][*side] > 0)
        };
        order.into_iter().filter(likely).map(|side| ALL[side]).collect()
    }
}

/// Whether a value stands on that side of a label that fits it narrowly.
fn speaks(page: &Page<'_>, labels: &Labels<'_>, line: usize, hit: &LabelHit, side: LabelSide) -> bool {
    if hit.colon && matches!(side, LabelSide::Above | LabelSide::Left) {
        return false;
    }
    let Some((at, cell)) = neighbour(page, line, hit.cell, side) else { return false };
    if page.is_label(at, cell) {
        return false;
    }
    let several = compound::parts_of(page, line, hit, labels);
    if !several.is_empty() {
        return !compound::in_text(labels, &several, page.cell(cell)).0.is_empty();
    }
    hit.fields.iter().any(|field| {
        let pattern = labels.fields[*field];
        values::is_strict(pattern.value) && values::read(pattern, page.cell(cell)).is_some_and(|read| read.fit >= 0.8)
    })
}

/// The cell on a side of another, and its line.
pub(super) fn neighbour(page: &Page<'_>, line: usize, cell: usize, side: LabelSide) -> Option<(usize, Cell)> {
    let row = &page.lines[line];
    match side {
        LabelSide::Right => Some((line, *row.cells.get(cell + 1)?)).filter(|_| !page.header[line]),
        LabelSide::Left => Some((line, *row.cells.get(cell.checked_sub(1)?)?)),
        LabelSide::Below => (line + 1..page.lines.len())
            .take_while(|other| page.lines[*other].number - row.number <= MAX_BENEATH)
            .find_map(|other| Some((other, layout::under(row, row.cells[cell], &page.lines[other])?))),
        LabelSide::Above => (0..line)
            .rev()
            .take_while(|other| row.number - page.lines[*other].number <= MAX_ABOVE)
            .find_map(|other| Some((other, layout::under(row, row.cells[cell], &page.lines[other])?))),
    }
}
