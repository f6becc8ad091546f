//! Columns of a page: read one after the other where a page has them, row by row where it is a table.

use super::boxes::LineGroup;
use super::geometry::Rules;
use super::lines::{Cell, Line};

/// The empty space between two columns.
const GUTTER: f32 = 9.0;
/// Lines that each column must have.
const COLUMN_LINES: usize = 4;
/// How many times columns may be split again.
const MAX_SPLITS: usize = 3;
/// A page with more lines is no page of columns.
const MAX_LINES: usize = 400;
/// Places where a gutter is looked for.
const MAX_PLACES: usize = 200;
/// White space over the whole width that is higher than this ends columns.
const BAND: f32 = 26.0;
/// Characters of a line of running text.
const PROSE: usize = 28;

/// The groups in reading order.
pub(super) fn columns(page: Vec<LineGroup>, rules: &Rules, splits: usize) -> Vec<LineGroup> {
    if splits >= MAX_SPLITS || page.len() < COLUMN_LINES + 1 || page.len() > MAX_LINES {
        return page;
    }
    let Some((gutter, from, to)) = find_gutter(&page, rules) else { return page };
    let mut before = page;
    let mut after = before.split_off(from);
    let tail = after.split_off(to - from);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for group in after {
        if !group.edges.is_empty() {
            let side = if group.span.0 < gutter { &mut left } else { &mut right };
            side.push(group);
            continue;
        }
        for line in group.lines {
            let (l, r): (Vec<Cell>, Vec<Cell>) = line.cells.into_iter().partition(|cell| cell.x0 < gutter);
            for (side, cells) in [(&mut left, l), (&mut right, r)] {
                if !cells.is_empty() {
                    side.push(LineGroup::loose(Line { y: line.y, size: line.size, cells, grid: 0 }));
                }
            }
        }
    }
    before.extend(columns(left, rules, splits + 1));
    before.extend(columns(right, rules, splits + 1));
    before.extend(columns(tail, rules, splits + 1));
    before
}

/// From where to where a group takes up the page, piece by piece.
fn pieces(group: &LineGroup) -> Vec<(f32, f32)> {
    match group.lines.first() {
        Some(line) if group.edges.is_empty() => line.cells.iter().map(|cell| (cell.x0, cell.x1)).collect(),
        _ => vec![group.span],
    }
}

/// A vertical gap between two columns: its place, and the groups from and to which it runs.
fn find_gutter(page: &[LineGroup], rules: &Rules) -> Option<(f32, usize, usize)> {
    let pieces: Vec<Vec<(f32, f32)>> = page.iter().map(pieces).collect();
    let mut places: Vec<f32> = pieces.iter().flatten().map(|(x0, _)| x0 - GUTTER / 2.0).collect();
    places.sort_by(f32::total_cmp);
    places.dedup_by(|a, b| (*a - *b).abs() < 2.0);
    let mut best: Option<(usize, f32, usize, usize)> = None;
    for place in places.into_iter().take(MAX_PLACES) {
        let free = |pieces: &Vec<(f32, f32)>| pieces.iter().all(|(x0, x1)| *x1 <= place - GUTTER / 4.0 || *x0 >= place);
        let mut from = 0;
        while from < page.len() {
            let free_run = pieces[from..].iter().take_while(|pieces| free(pieces)).count();
            let run = until_band(&page[from..from + free_run]);
            if run > COLUMN_LINES && are_columns(&page[from..from + run], place, rules) {
                let (first, last) = trim(&page[from..from + run], place);
                let found = (last - first, place, from + first, from + last);
                if best.is_none_or(|best| found.0 > best.0) {
                    best = Some(found);
                }
            }
            from += run.max(1);
        }
    }
    best.map(|(_, place, from, to)| (place, from, to))
}

/// How many groups there are before a band of white space.
fn until_band(run: &[LineGroup]) -> usize {
    let bottom = |group: &LineGroup| group.lines.last().map_or(group.top, |line| line.y);
    let mut lowest = run.first().map_or(0.0, |group| group.top);
    for (n, group) in run.iter().enumerate() {
        if lowest - group.top > BAND {
            return n;
        }
        lowest = lowest.min(bottom(group));
    }
    run.len()
}

/// Leaves out the lines at the top that only one column has, when the other begins far below: a title.
fn trim(run: &[LineGroup], place: f32) -> (usize, usize) {
    let left = |group: &LineGroup| group.span.0 < place;
    let right = |group: &LineGroup| group.span.1 > place;
    let first_left = run.iter().position(left).unwrap_or(0);
    let first_right = run.iter().position(right).unwrap_or(0);
    let near = (run[first_left].top - run[first_right].top).abs() < 30.0;
    let first = if near { first_left.min(first_right) } else { first_left.max(first_right) };
    (first, run.len())
}

/// Whether both sides are texts of their own: their lines do not stand at the same heights, or both are prose.
fn are_columns(run: &[LineGroup], place: f32, rules: &Rules) -> bool {
    let (mut left, mut right, mut both) = (0usize, 0usize, 0usize);
    for group in run {
        match (group.span.0 < place, group.span.1 > place) {
            (true, true) => both += 1,
            (true, false) => left += 1,
            (false, true) => right += 1,
            (false, false) => {}
        }
    }
    if left + both < COLUMN_LINES || right + both < COLUMN_LINES {
        return false;
    }
    // Rules that run across both sides make it a table.
    let (top, bottom) = (run[0].top, run[run.len() - 1].top);
    let across =
        |(x0, x1, y): &&(f32, f32, f32)| *x0 < place - 2.0 && *x1 > place + 2.0 && *y < top - 2.0 && *y > bottom + 2.0;
    if rules.level.iter().filter(across).count() >= 2 {
        return false;
    }
    let apart = left >= 3 && right >= 3 && both * 2 < (left + both).min(right + both) && !are_wrapped_rows(run, place);
    apart || (is_prose(run, |cell| cell.x0 < place) && is_prose(run, |cell| cell.x0 >= place))
}

/// Whether one side has no line of its own that is far from those of the other: cells that are set in the middle of
/// higher ones beside them.
fn are_wrapped_rows(run: &[LineGroup], place: f32) -> bool {
    let side = |left: bool| -> Vec<(f32, f32)> {
        run.iter()
            .filter(|group| if left { group.span.0 < place } else { group.span.1 > place })
            .map(|group| (group.top, group.lines.first().map_or(10.0, |line| line.size)))
            .collect()
    };
    let (left, right) = (side(true), side(false));
    let (few, many) = if left.len() < right.len() { (left, right) } else { (right, left) };
    // Rows leave gaps between each other; running text does not.
    let gaps = many.windows(2).filter(|pair| pair[0].0 - pair[1].0 > 1.6 * pair[0].1).count();
    few.len() * 3 <= many.len() * 2 && gaps + 1 >= few.len()
}

/// Whether the cells of one side are the lines of running text.
fn is_prose(run: &[LineGroup], on_side: impl Fn(&Cell) -> bool) -> bool {
    let (mut full, mut lines) = (0usize, 0usize);
    for line in run.iter().flat_map(|group| &group.lines) {
        let cells: Vec<&Cell> = line.cells.iter().filter(|cell| on_side(cell)).collect();
        if cells.is_empty() {
            continue;
        }
        lines += 1;
        if cells.len() == 1 && cells[0].text.chars().count() >= PROSE && cells[0].text.contains(' ') {
            full += 1;
        }
    }
    lines >= COLUMN_LINES && full * 10 >= lines * 6
}
