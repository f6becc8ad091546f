//! Boxes: the fields of forms, and the cells of ruled tables.

use super::geometry::{Glyph, Rect, Rules};
use super::lines::{Cell, Line, join_rows, lines};

/// A box must be this high and wide to hold text.
const BOX_HEIGHT: f32 = 8.0;
const BOX_WIDTH: f32 = 15.0;
/// The most lines that a box of a form holds; a larger one is a frame around a piece of the page.
const BOX_LINES: usize = 12;
/// Boxes with text on a page, at least.
const MIN_BOXES: usize = 4;
/// Boxes that are looked at.
const MAX_BOXES: usize = 4_000;
/// Boxes closer than this stand side by side.
const SIDE_BY_SIDE: f32 = 3.0;
/// Straight lines that are looked at; a page with more is a drawing.
const MAX_RULES: usize = 4_000;
/// Comparisons of characters with boxes on one page.
const MAX_WORK: usize = 40_000_000;
/// The highest row of a ruled table.
const ROW_HEIGHT: f32 = 150.0;

/// Lines that belong together and are read without others in between.
#[derive(Debug)]
pub(super) struct LineGroup {
    /// Where it begins.
    pub(super) top: f32,
    /// The left edges of its boxes; empty for a line that stands in none.
    pub(super) edges: Vec<f32>,
    /// From where to where it takes up the page.
    pub(super) span: (f32, f32),
    pub(super) lines: Vec<Line>,
}

impl LineGroup {
    /// A line that stands in no box.
    pub(super) fn loose(line: Line) -> Self {
        let (top, span) = (line.y + line.size * 0.8, (line.x0(), line.x1()));
        Self { top, edges: Vec::new(), span, lines: vec![line] }
    }
}

/// A box with what stands in it.
struct FilledBox {
    rect: Rect,
    lines: Vec<Line>,
}

/// Puts characters into boxes and rows of boxes; the second part stands in none.
pub(super) fn groups(glyphs: &[Glyph], boxes: &[Rect], rules: &Rules) -> (Vec<LineGroup>, Vec<Glyph>) {
    let mut boxes: Vec<Rect> =
        boxes.iter().copied().filter(|rect| rect.height() >= BOX_HEIGHT && rect.width() >= BOX_WIDTH).collect();
    boxes.extend(ruled(rules));
    boxes.truncate(MAX_BOXES);
    let (form, loose) = fill(glyphs, boxes);
    let filled = form.iter().filter(|filled| !filled.lines.is_empty()).count();
    if filled < MIN_BOXES { (Vec::new(), glyphs.to_vec()) } else { (group(form), loose) }
}

/// The cells of tables that are ruled with lines.
fn ruled(rules: &Rules) -> Vec<Rect> {
    if rules.len() > MAX_RULES {
        return Vec::new();
    }
    let mut heights: Vec<f32> = rules.level.iter().map(|rule| rule.2).collect();
    heights.sort_by(|a, b| b.total_cmp(a));
    heights.dedup_by(|a, b| (*a - *b).abs() < 1.5);
    let mut cells = Vec::new();
    for pair in heights.windows(2) {
        let (top, bottom) = (pair[0], pair[1]);
        if top - bottom < BOX_HEIGHT || top - bottom > ROW_HEIGHT {
            continue;
        }
        let middle = (top + bottom) / 2.0;
        let mut sides: Vec<f32> =
            rules.upright.iter().filter(|(_, y0, y1)| *y0 < middle && middle < *y1).map(|rule| rule.0).collect();
        sides.sort_by(f32::total_cmp);
        sides.dedup_by(|a, b| (*a - *b).abs() < 1.5);
        for pair in sides.windows(2) {
            let (x0, x1) = (pair[0], pair[1]);
            let center = (x0 + x1) / 2.0;
            let closed =
                |y: f32| rules.level.iter().any(|(a, b, at)| (at - y).abs() < 2.0 && *a < center && center < *b);
            if x1 - x0 >= BOX_WIDTH && closed(top) && closed(bottom) {
                cells.push(Rect { x0, y0: bottom, x1, y1: top });
            }
            if cells.len() >= MAX_BOXES {
                return cells;
            }
        }
    }
    cells
}

/// Puts characters into the innermost boxes.
fn fill(glyphs: &[Glyph], mut boxes: Vec<Rect>) -> (Vec<FilledBox>, Vec<Glyph>) {
    if boxes.len() < MIN_BOXES || boxes.len().saturating_mul(glyphs.len()) > MAX_WORK {
        return (Vec::new(), glyphs.to_vec());
    }
    boxes.sort_by(|a, b| (a.width() * a.height()).total_cmp(&(b.width() * b.height())));
    let mut inside: Vec<Vec<Glyph>> = vec![Vec::new(); boxes.len()];
    let mut loose = Vec::new();
    let mut last = 0;
    for glyph in glyphs {
        let (x, y) = ((glyph.x0 + glyph.x1) / 2.0, glyph.y + glyph.size * 0.2);
        // The next character mostly stands in the same box; a smaller one in it would come first, though.
        let found = if boxes[last].contains(x, y) && !boxes[..last].iter().any(|rect| rect.contains(x, y)) {
            Some(last)
        } else {
            boxes.iter().position(|rect| rect.contains(x, y))
        };
        match found {
            Some(at) => {
                last = at;
                inside[at].push(*glyph);
            }
            None => loose.push(*glyph),
        }
    }
    let mut form = Vec::new();
    let filled: Vec<Rect> =
        boxes.iter().zip(&inside).filter(|(_, glyphs)| !glyphs.is_empty()).map(|(rect, _)| *rect).collect();
    for (rect, glyphs) in boxes.into_iter().zip(inside) {
        // A frame around boxes says nothing about what stands between them, and a second outline nothing at all.
        if filled.iter().any(|inner| is_within(inner, &rect) || (glyphs.is_empty() && is_like(inner, &rect))) {
            loose.extend(glyphs);
            continue;
        }
        let lines = join_rows(lines(&glyphs));
        match lines.len() {
            // An empty box holds the place of a cell in its row.
            0..=BOX_LINES => form.push(FilledBox { rect, lines }),
            _ => loose.extend(glyphs),
        }
    }
    (form, loose)
}

/// Whether a box lies in another one that is clearly larger.
fn is_within(inner: &Rect, outer: &Rect) -> bool {
    inner.width() * inner.height() < outer.width() * outer.height() * 0.9
        && outer.contains(inner.x0 + 1.0, inner.y0 + 1.0)
        && outer.contains(inner.x1 - 1.0, inner.y1 - 1.0)
}

fn is_like(one: &Rect, other: &Rect) -> bool {
    let near = |a: f32, b: f32| (a - b).abs() < SIDE_BY_SIDE;
    near(one.x0, other.x0) && near(one.y0, other.y0) && near(one.x1, other.x1) && near(one.y1, other.y1)
}

/// Joins boxes that stand side by side, row by row.
fn group(mut form: Vec<FilledBox>) -> Vec<LineGroup> {
    form.sort_by(|a, b| b.rect.y1.total_cmp(&a.rect.y1).then(a.rect.x0.total_cmp(&b.rect.x0)));
    let mut rows: Vec<Vec<FilledBox>> = Vec::new();
    for filled in form {
        let beside = rows.iter_mut().rev().take(12).find(|row| {
            row.last().is_some_and(|last| {
                (last.rect.y1 - filled.rect.y1).abs() < SIDE_BY_SIDE
                    && (last.rect.y0 - filled.rect.y0).abs() < SIDE_BY_SIDE
                    && filled.rect.x0 - last.rect.x1 < 2.0 * SIDE_BY_SIDE
            })
        });
        match beside {
            Some(row) => row.push(filled),
            None => rows.push(vec![filled]),
        }
    }
    rows.into_iter().flat_map(row).collect()
}

/// One row of boxes: label under label and value under value where the lines are level, one line where the boxes
/// are the cells of a table, and otherwise box by box.
fn row(row: Vec<FilledBox>) -> Vec<LineGroup> {
    let level = |a: &FilledBox, b: &FilledBox| {
        a.lines.len() == b.lines.len() && a.lines.iter().zip(&b.lines).all(|(a, b)| (a.y - b.y).abs() < 2.0)
    };
    let Some(first) = row.iter().find(|filled| !filled.lines.is_empty()) else { return Vec::new() };
    let is_field =
        |filled: &FilledBox| matches!(filled.lines.as_slice(), [label, value, ..] if label.size < value.size * 0.9);
    if row.iter().all(|filled| filled.lines.is_empty() || level(first, filled)) {
        return vec![join(row)];
    }
    if !row.iter().any(is_field) {
        return vec![join(row.into_iter().map(flatten).collect())];
    }
    let mut groups: Vec<Vec<FilledBox>> = Vec::new();
    for filled in row.into_iter().filter(|filled| !filled.lines.is_empty()) {
        match groups.iter_mut().find(|group| level(&group[0], &filled)) {
            Some(group) => group.push(filled),
            None => groups.push(vec![filled]),
        }
    }
    groups.into_iter().map(join).collect()
}

/// A cell of several lines with one line.
fn flatten(filled: FilledBox) -> FilledBox {
    let Some((y, size)) = filled.lines.first().map(|line| (line.y, line.size)) else { return filled };
    let cells: Vec<Cell> = filled.lines.into_iter().flat_map(|line| line.cells).collect();
    let x0 = cells.iter().map(|cell| cell.x0).fold(f32::MAX, f32::min);
    let x1 = cells.iter().map(|cell| cell.x1).fold(f32::MIN, f32::max);
    let text = cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join(" ");
    FilledBox { rect: filled.rect, lines: vec![Line { y, size, cells: vec![Cell { x0, x1, text }], grid: 0 }] }
}

fn join(row: Vec<FilledBox>) -> LineGroup {
    let mut joined: Vec<Line> = Vec::new();
    let mut group = LineGroup { top: f32::MIN, edges: Vec::new(), span: (f32::MAX, f32::MIN), lines: Vec::new() };
    for filled in row {
        group.top = group.top.max(filled.rect.y1);
        group.edges.push(filled.rect.x0.round());
        group.span = (group.span.0.min(filled.rect.x0), group.span.1.max(filled.rect.x1));
        for (n, line) in filled.lines.into_iter().enumerate() {
            match joined.get_mut(n) {
                Some(row) => {
                    row.cells.extend(line.cells);
                    row.size = row.size.max(line.size);
                }
                None => joined.push(line),
            }
        }
    }
    for line in &mut joined {
        line.cells.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    }
    group.lines = joined;
    group
}
