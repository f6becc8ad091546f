//! A page as lines and cells: what stands beside, above and below what.

/// Cells of one line that are looked at; a line with more is no form and no table that a person reads.
const MAX_CELLS: usize = 200;
/// That many leader dots or underscores in a row separate like spaces.
const LEADERS: usize = 3;

/// A cell of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// First byte in the page's text.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// Characters from the line's beginning.
    pub(super) column: usize,
    /// How many characters it has.
    pub(super) width: usize,
    /// Its number on its line, empty cells between tabs counted.
    pub(super) index: usize,
}

/// A line that is not blank.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Its number on the page, blank ones counted.
    pub(super) number: usize,
    /// First byte in the page's text.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// Its cells from left to right.
    pub(super) cells: Vec<Cell>,
    /// Whether tabs separate the cells, so that an empty cell can be seen.
    pub(super) tabbed: bool,
}

/// Whether a cell stands in the column of another, give or take two characters.
const fn overlaps(above: Cell, below: Cell) -> bool {
    below.column <= above.column + above.width + 1 && above.column <= below.column + below.width + 1
}

/// The cell of `below` that stands under a cell of `above`: in the same numbered place when both lines have the same
/// cells, otherwise in the same column.
pub(super) fn under(above: &Line, cell: Cell, below: &Line) -> Option<Cell> {
    if above.tabbed && below.tabbed {
        return below.cells.iter().find(|candidate| candidate.index == cell.index).copied();
    }
    if above.cells.len() == below.cells.len() && below.cells.len() > 1 {
        let place = above.cells.iter().position(|other| *other == cell)?;
        return below.cells.get(place).copied();
    }
    below.cells.iter().find(|candidate| overlaps(cell, **candidate)).copied()
}

/// The cell of a line that stands in the same column as `cell`, without looking at how many cells there are.
pub(super) fn in_column(cell: Cell, below: &Line) -> Option<Cell> {
    below.cells.iter().find(|candidate| overlaps(cell, **candidate)).copied()
}

/// The lines of a page that are not blank.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let mut start = 0;
    for (number, row) in text.split('\n').enumerate() {
        let end = start + row.trim_end_matches('\r').len();
        let line = cells(&text[start..end], start);
        if !line.is_empty() {
            found.push(Line { number, start, end, cells: line, tabbed: row.contains('\t') });
        }
        start += row.len() + 1;
    }
    found
}

/// Cuts a line at tabs, bars, leaders and wide gaps.
fn cells(row: &str, base: usize) -> Vec<Cell> {
    let mut found: Vec<Cell> = Vec::new();
    let (mut index, mut column) = (0, 0);
    let mut open: Option<(usize, usize)> = None;
    let (mut last_end, mut last_column) = (0, 0);
    // Where the cell ended before leaders that stand close to it.
    let mut bare_end = (0, 0);
    let mut gap = Gap::default();
    for (at, letter) in row.char_indices() {
        let kind = match letter {
            '\t' | '|' | '│' | '┃' | '║' => CharKind::Wall,
            ' ' | '\u{a0}' | '\u{2002}' | '\u{2003}' | '\u{3000}' => CharKind::Space,
            '.' | '_' | '…' => CharKind::Leader,
            _ => CharKind::Ink,
        };
        match kind {
            CharKind::Wall => gap.walls += 1,
            CharKind::Space => gap.spaces += 1,
            CharKind::Leader => gap.leaders += if letter == '…' { LEADERS } else { 1 },
            CharKind::Ink => {
                if let Some((start, at_column)) = open
                    && gap.separates()
                {
                    let (end, end_column) = if gap.leaders >= LEADERS { bare_end } else { (last_end, last_column) };
                    found.push(Cell {
                        start: base + start,
                        end: base + end,
                        column: at_column,
                        width: end_column - at_column,
                        index,
                    });
                    open = None;
                    index += gap.walls.max(1);
                } else if open.is_none() {
                    index += gap.walls;
                }
                open.get_or_insert((at, column));
                gap = Gap::default();
                (last_end, last_column) = (at + letter.len_utf8(), column + 1);
                bare_end = (last_end, last_column);
            }
        }
        if matches!(kind, CharKind::Leader)
            && gap.leaders < LEADERS
            && gap.spaces == 0
            && gap.walls == 0
            && open.is_some()
        {
            (last_end, last_column) = (at + letter.len_utf8(), column + 1);
        }
        column += 1;
        if found.len() >= MAX_CELLS {
            return found;
        }
    }
    if let Some((start, at_column)) = open {
        let end = row[..last_end].trim_end_matches("...").len().max(start);
        found.push(Cell {
            start: base + start,
            end: base + end,
            column: at_column,
            width: last_column.saturating_sub(at_column),
            index,
        });
    }
    found
}

enum CharKind {
    Wall,
    Space,
    Leader,
    Ink,
}

#[derive(Default)]
struct Gap {
    walls: usize,
    spaces: usize,
    leaders: usize,
}

impl Gap {
    const fn separates(&self) -> bool {
        self.walls > 0 || self.spaces >= 2 || self.leaders >= LEADERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<Vec<&str>> {
        lines(text).iter().map(|line| line.cells.iter().map(|cell| &text[cell.start..cell.end]).collect()).collect()
    }

    #[test]
    fn wide_gaps_tabs_bars_and_leaders_separate() {
        assert_eq!(
            split("Insured Name    Acme Inc.\nA\tB\n\nx | y"),
            [vec!["Insured Name", "Acme Inc."], vec!["A", "B"], vec!["x", "y"]]
        );
        assert_eq!(split("US DOT ................... 9163378"), [["US DOT", "9163378"]]);
        assert_eq!(
            split("Company______ Acme Inc.\nUS DOT....9163378"),
            [["Company", "Acme Inc."], ["US DOT", "9163378"]]
        );
        assert_eq!(split("Policy No. NX-1"), [["Policy No. NX-1"]]);
    }

    #[test]
    fn an_empty_cell_between_tabs_is_counted() {
        let found = lines("a\t\tb");
        assert_eq!(found[0].cells[1].index, 2);
    }

    #[test]
    fn the_cell_below_is_found_by_column() {
        let text = "AGENCY            POLICY NUMBER\n12 Lane, Suite 9\n                  NX-22-1";
        let found = lines(text);
        let cell = in_column(found[0].cells[1], &found[1]);
        assert_eq!(cell, None);
        let cell = under(&found[0], found[0].cells[1], &found[2]).unwrap();
        assert_eq!(&text[cell.start..cell.end], "NX-22-1");
    }
}
