//! A page with its lines and the labels on them: what the readers of fields walk over.

use jiff::civil::Date;
use kybern_core::document::PageText;
use kybern_core::model::ValueKind;

use super::analyse::clip;
use super::label_text::opens;
use super::labels::{LabelHit, Labels};
use super::layout::{self, Cell, Line};
use super::{rivals, values};

/// Bytes that the label of an unknown pair may have.
const MAX_LABEL: usize = 40;
/// Rows that a list has at least.
const LEAST_ROWS: usize = 2;
/// Characters of a label that a narrow column has broken.
const MAX_JOINED: usize = 60;
/// The same over more than two lines, and the lines over which it breaks it.
const MAX_LONG: usize = 90;
const MAX_PIECES: usize = 5;

/// A page, laid out.
#[derive(Debug)]
pub(super) struct Page<'t> {
    /// Its number, from 1.
    pub(super) number: u32,
    pub(super) text: &'t str,
    /// The day on which it was written, where that is known.
    pub(super) written: Option<Date>,
    /// Its lines that are not blank.
    pub(super) lines: Vec<Line>,
    /// The labels of each line.
    pub(super) hits: Vec<Vec<LabelHit>>,
    /// Lines that are rows of labels with a row of values beneath, so that what stands beside a label is no value.
    pub(super) header: Vec<bool>,
    /// Lines that a table has used.
    pub(super) used: Vec<bool>,
}

impl<'t> Page<'t> {
    /// Lays a page out and finds its labels.
    pub(super) fn new(page: &'t PageText, labels: &Labels<'_>) -> Self {
        let lines = layout::lines(&page.text);
        let hits = lines.iter().map(|line| labels.hits(&page.text, line)).collect();
        let used = vec![false; lines.len()];
        let mut laid = Self {
            number: page.number,
            text: &page.text,
            written: page.written,
            lines,
            hits,
            header: Vec::new(),
            used,
        };
        (1..laid.lines.len()).for_each(|line| laid.join(line, labels));
        (0..laid.lines.len()).for_each(|line| laid.join_narrow(line, labels));
        // From below, so that a label that goes on twice is still seen above.
        (1..laid.lines.len()).rev().for_each(|line| laid.give_back(line, labels));
        laid.header = (0..laid.lines.len()).map(|line| laid.is_header(line)).collect();
        let rows = (0..laid.lines.len()).filter(|line| laid.header[*line] || laid.heads_names(*line));
        for line in rows.collect::<Vec<_>>() {
            rivals::settle(labels, laid.text, &mut laid.hits[line]);
        }
        laid
    }

    /// Joins labels of the line above with what of them stands on a line, where a narrow column has broken them.
    fn join(&mut self, line: usize, labels: &Labels<'_>) {
        let (above, below) = (&self.lines[line - 1], &self.lines[line]);
        if below.number != above.number + 1 || below.cells.len() >= above.cells.len() && !self.ends_names(line) {
            return;
        }
        let mut joined: Vec<(usize, LabelHit)> = Vec::new();
        let last = above.cells.len() - 1;
        for (place, cell) in above.cells.iter().enumerate().take(last) {
            let Some((under, rest)) = in_column(below, *cell) else { continue };
            if self.has_digits(*cell) || self.has_digits(rest) || cell.width + rest.width > MAX_JOINED {
                continue;
            }
            let text = format!("{} {}", self.cell(*cell), self.cell(rest));
            let Some(hit) = labels.joined(&text) else { continue };
            let hit = LabelHit { cell: place, start: cell.start, after: cell.end, ..hit };
            let more = rest_of(&hit, under, rest);
            joined.extend([(line - 1, hit), (line, more)]);
        }
        self.put(joined);
    }

    /// Puts labels in the place of those of their cells.
    fn put(&mut self, found: Vec<(usize, LabelHit)>) {
        for (line, hit) in found {
            self.hits[line].retain(|other| other.cell != hit.cell);
            let at = self.hits[line].partition_point(|other| other.start < hit.start);
            self.hits[line].insert(at, hit);
        }
    }

    /// Joins a label that a narrow column has broken over more lines, up to its colon, though other values stand beside
    /// them: `Contract` above `Number /` above `Policy` above `Period:`.
    fn join_narrow(&mut self, line: usize, labels: &Labels<'_>) {
        let row = &self.lines[line];
        let mut found: Vec<(usize, LabelHit)> = Vec::new();
        for (place, cell) in row.cells.iter().enumerate().take(row.cells.len().saturating_sub(1)) {
            let is_piece = |cell: Cell| !self.has_digits(cell) && self.cell(cell).len() <= MAX_LABEL;
            let goes_on = line.checked_sub(1).map(|above| &self.lines[above]).is_some_and(|above| {
                let over = above.cells.iter().find(|over| over.column.abs_diff(cell.column) <= 1);
                let open = |over: &Cell| is_piece(*over) && !self.cell(*over).ends_with(':');
                above.number + 1 == row.number && above.cells.len() > 1 && over.is_some_and(open)
            });
            if !is_piece(*cell) || self.cell(*cell).ends_with(':') || row.tabbed || goes_on {
                continue;
            }
            let mut text = self.cell(*cell).to_owned();
            let mut more: Vec<(usize, usize, Cell)> = Vec::new();
            for at in line + 1..self.lines.len().min(line + MAX_PIECES) {
                let next = &self.lines[at];
                let under = in_column(next, *cell).filter(|_| next.number == self.lines[at - 1].number + 1);
                let Some((under, rest)) = under else { break };
                if !is_piece(rest) || text.len() + rest.width > MAX_LONG {
                    break;
                }
                text.push(' ');
                text.push_str(self.cell(rest));
                more.push((at, under, rest));
                if text.ends_with(':') {
                    break;
                }
            }
            if more.len() < 2
                && !(more.len() == 1 && text.ends_with(':') && self.hits[line].iter().all(|hit| hit.cell != place))
            {
                continue;
            }
            let Some(hit) = Some(&text).filter(|text| text.ends_with(':')).and_then(|text| labels.joined(text)) else {
                continue;
            };
            let hit = LabelHit { cell: place, start: cell.start, after: cell.end, colon: false, ..hit };
            found.extend(more.into_iter().map(|(at, under, rest)| (at, rest_of(&hit, under, rest))));
            found.push((line, hit));
        }
        self.put(found);
    }

    fn has_digits(&self, cell: Cell) -> bool {
        self.cell(cell).bytes().any(|b| b.is_ascii_digit())
    }

    /// Whether each cell of a line but the first ends the name above it, as in columns that are too narrow for them.
    fn ends_names(&self, line: usize) -> bool {
        let (above, below) = (&self.lines[line - 1], &self.lines[line]);
        let ends = |(over, rest): (&Cell, &Cell)| {
            let rest = self.cell(*rest);
            let open = !self.has_digits(*over) && !values::has_form(self.cell(*over));
            open && rest.split_whitespace().last().is_some_and(values::has_form)
        };
        below.cells.len() == above.cells.len()
            && below.cells.len() >= 3
            && above.cells.iter().zip(&below.cells).skip(1).all(ends)
    }

    /// Gives back to the name above it what is a label by its words alone: `Insurance Company` beneath
    /// `Insurer: Some County Mutual`.
    fn give_back(&mut self, line: usize, labels: &Labels<'_>) {
        let goes_on = |hit: &LabelHit| {
            let cell = self.lines[line].cells[hit.cell];
            hit.fills && (!hit.colon && self.names(line, cell, labels) || self.repeats(line, hit))
        };
        let kept = self.hits[line].iter().filter(|hit| !goes_on(hit)).cloned().collect();
        self.hits[line] = kept;
    }

    /// Whether a label is the rest of the one above it, in another language or for more of its values: what stands
    /// beside it goes on too.
    fn repeats(&self, line: usize, hit: &LabelHit) -> bool {
        let (here, above) = (&self.lines[line], &self.lines[line - 1]);
        let cell = here.cells[hit.cell];
        let beside = |line: &Line, cell: usize| line.cells.get(cell + 1).map(|cell| cell.column);
        let first = |other: &&LabelHit| {
            let over = above.cells[other.cell];
            let alike = other.fills && !other.colon && other.fields.iter().any(|field| hit.fields.contains(field));
            let values = beside(above, other.cell).zip(beside(here, hit.cell));
            alike
                && over.column == cell.column
                && values.is_some_and(|(above, here)| above == here)
                && self.cell(over).to_lowercase() != self.cell(cell).to_lowercase()
        };
        let wrapped = !here.tabbed && above.number + 1 == here.number && here.cells.len() == above.cells.len();
        wrapped && self.hits[line - 1].iter().any(|other| first(&other))
    }

    /// Whether a cell is the end of the labelled name that stands right above it.
    fn names(&self, line: usize, cell: Cell, labels: &Labels<'_>) -> bool {
        let rest = self.cell(cell);
        let ends = labels.signed(rest);
        let above = &self.lines[line - 1];
        let near = above.number + 1 == self.lines[line].number;
        let form = rest.split_whitespace().all(values::has_form);
        if !near || ends.is_empty() && !form || !rest.split_whitespace().last().is_some_and(values::has_form) {
            return false;
        }
        let Some(over) = above.cells.iter().find(|over| over.column.abs_diff(cell.column) <= 1) else { return false };
        let signed = |field: &usize| {
            let pattern = labels.fields[*field];
            pattern.value == ValueKind::Name && !pattern.signs.is_empty()
        };
        let wanted = |hit: &&LabelHit| hit.fields.iter().any(|field| ends.contains(field) || form && signed(field));
        let inside = self.hits[line - 1].iter().find(|hit| above.cells[hit.cell] == *over);
        let (led, start) = match inside {
            Some(hit) => (!hit.fills && hit.colon && wanted(&hit), hit.after),
            None => {
                let over_head = line.checked_sub(2).is_some_and(|head| {
                    let near = self.lines[head].number + 1 == above.number;
                    let stands = |hit: &&LabelHit| self.lines[head].cells[hit.cell].column.abs_diff(cell.column) <= 1;
                    near && self.hits[head].iter().any(|hit| hit.fills && stands(&hit) && wanted(&hit))
                });
                let left = self.hits[line - 1].iter().any(|hit| hit.fills && wanted(&hit) && hit.after <= over.start);
                (over_head || left, over.start)
            }
        };
        let name = self.text.get(start..over.end).unwrap_or_default();
        let plain = name.starts_with(char::is_uppercase) && !name.bytes().any(|b| b.is_ascii_digit());
        led && plain && !values::has_form(name)
    }

    fn is_header(&self, line: usize) -> bool {
        let row = &self.lines[line];
        let fills = self.hits[line].iter().filter(|hit| hit.fills).count();
        let Some(below) = self.lines.get(line + 1) else { return false };
        if fills > 0 && self.heads_list(line) {
            return true;
        }
        row.cells.len() >= 2
            && fills * 2 >= row.cells.len()
            && fills >= 2
            && below.cells.len() == row.cells.len()
            && !self.hits[line].iter().any(|hit| hit.fills && hit.colon)
            && !row.cells.iter().any(|cell| self.has_digits(*cell))
            && below.cells.iter().any(|cell| self.has_digits(*cell))
            && !below.cells.iter().any(|cell| self.is_label(line + 1, *cell))
            && !(1..=LEAST_ROWS).any(|below| self.labels_beneath(line, line + below))
    }

    /// Whether a line with as many cells has a label where another one has one: then their values stand beside them.
    fn labels_beneath(&self, line: usize, below: usize) -> bool {
        let row = &self.lines[line];
        let under = self.lines.get(below).filter(|under| under.cells.len() == row.cells.len());
        under.is_some_and(|under| {
            self.hits[line].iter().any(|hit| hit.fills && self.is_label(below, under.cells[hit.cell]))
        })
    }

    /// Whether a line is nothing but labels, above as many cells of which none is one.
    fn heads_names(&self, line: usize) -> bool {
        let (row, hits) = (&self.lines[line], &self.hits[line]);
        let below = self.lines.get(line + 1).filter(|below| below.cells.len() == row.cells.len());
        let labels = hits.len() == row.cells.len() && hits.iter().all(|hit| hit.fills && !hit.colon);
        let is_free = |below: &Line| !below.cells.iter().any(|cell| self.is_label(line + 1, *cell));
        row.cells.len() > 1 && labels && below.is_some_and(is_free)
    }

    /// Whether a line of at least three cells without digits stands above several lines of as many cells, none of which
    /// begins with a label or has one beneath another: the head of a list, though most of its labels are not known.
    pub(super) fn heads_list(&self, line: usize) -> bool {
        let row = &self.lines[line];
        let is_row = |at: usize| {
            self.lines.get(at).is_some_and(|below| {
                below.number == row.number + at - line
                    && below.tabbed == row.tabbed
                    && below.cells.len() == row.cells.len()
                    && !self.is_label(at, below.cells[0])
                    && !self.labels_beneath(line, at)
            })
        };
        row.cells.len() >= 3
            && !row.cells.iter().any(|cell| self.has_digits(*cell))
            && !self.hits[line].iter().any(|hit| hit.colon)
            && (1..=LEAST_ROWS).all(|below| is_row(line + below))
            && self.lines[line + 1].cells.iter().any(|cell| self.has_digits(*cell))
    }

    /// The line that a byte stands on.
    pub(super) fn line_at(&self, byte: usize) -> Option<usize> {
        let line = self.lines.partition_point(|line| line.end <= byte);
        self.lines.get(line).filter(|found| found.start <= byte).map(|_| line)
    }

    /// The text of a cell.
    pub(super) fn cell(&self, cell: Cell) -> &'t str {
        self.text.get(cell.start..cell.end).unwrap_or_default()
    }

    /// Whether a cell is, or begins with, a label; then it is nobody's value.
    pub(super) fn is_label(&self, line: usize, cell: Cell) -> bool {
        let text = self.cell(cell);
        text.ends_with(':')
            || self.hits[line].iter().any(|hit| {
                (cell.start..cell.end).contains(&hit.start)
                    && (hit.fills || hit.colon)
                    && opens(&text[..hit.start - cell.start])
            })
    }

    /// Whether a line begins like `Something: value`, whatever that is.
    pub(super) fn is_pair(&self, line: usize) -> bool {
        let first = self.lines[line].cells.first().map(|cell| clip(self.cell(*cell), MAX_LABEL)).unwrap_or_default();
        first.split_once(':').is_some_and(|(label, _)| {
            !label.is_empty() && label.split_whitespace().count() <= 5 && !label.bytes().any(|b| b.is_ascii_digit())
        })
    }
}

/// The cell of a line that begins where a cell of a line above it does, with its index.
fn in_column(line: &Line, above: Cell) -> Option<(usize, Cell)> {
    let mut cells = line.cells.iter().copied().enumerate();
    cells.find(|(_, under)| under.column.abs_diff(above.column) <= 1)
}

/// What goes on of a label in the cell beneath it.
fn rest_of(hit: &LabelHit, under: usize, rest: Cell) -> LabelHit {
    let (fields, parts) = (Vec::new(), Vec::new());
    LabelHit { cell: under, start: rest.start, after: rest.end, words: 0, fields, parts, ..hit.clone() }
}
