//! Which code each row of a list has, where a page explains codes: it stands on the line of the row's number, or on
//! another line of a row that takes several.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::legend::LegendEntry;
use super::page::Page;

/// Lines between a row's number and its code.
const MAX_APART: usize = 8;
/// Digits of the number of a row.
const MAX_NUMBER: usize = 4;

/// The codes of lines on which a code has a cell of its own, explanations aside; `None` where several are named.
pub(super) fn coded<'e>(page: &Page<'_>, entries: &'e [LegendEntry]) -> BTreeMap<usize, Option<&'e LegendEntry>> {
    let named = |text: &str| {
        let code = text.trim_matches(['(', ')', '[', ']', '.', ':', ' ']);
        let of = |code: &str| entries.iter().find(|entry| entry.code == code);
        // The number of the row may stand close before its code.
        of(code).or_else(|| code.split_once(' ').filter(|(row, _)| is_number(row)).and_then(|(_, code)| of(code)))
    };
    let explains: HashSet<usize> = entries.iter().map(|entry| entry.line).collect();
    let mut found: BTreeMap<usize, Option<&LegendEntry>> = BTreeMap::new();
    for (line, row) in page.lines.iter().enumerate().filter(|(line, _)| !explains.contains(line)) {
        for entry in row.cells.iter().filter_map(|cell| named(page.cell(*cell))) {
            let known = found.entry(line).or_insert(Some(entry));
            *known = known.filter(|known| known.code == entry.code);
        }
    }
    found
}

/// Whether a text is the number of a row.
fn is_number(text: &str) -> bool {
    (1..=MAX_NUMBER).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// What stands on a line: a row's number, a code, or both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineMark {
    Row,
    Code,
    Both,
}

/// The code of each row, by the line of its number.
///
/// Codes on other lines count only where each follows its row's number, or each stands above it: of a code between two
/// rows nobody knows otherwise whose it is.
pub(super) fn of_rows<'e>(
    rows: &HashSet<usize>,
    coded: &BTreeMap<usize, Option<&'e LegendEntry>>,
) -> HashMap<usize, &'e LegendEntry> {
    let mut marks: BTreeMap<usize, LineMark> = rows.iter().map(|line| (*line, LineMark::Row)).collect();
    for line in coded.keys() {
        marks.entry(*line).and_modify(|mark| *mark = LineMark::Both).or_insert(LineMark::Code);
    }
    let marks: Vec<(usize, LineMark)> = marks.into_iter().collect();
    let lines = |kind: LineMark| marks.iter().filter(move |(_, mark)| *mark == kind).count();
    let pairs = |first: LineMark, second: LineMark| {
        let near = marks.windows(2).filter(|pair| pair[1].0 - pair[0].0 <= MAX_APART);
        near.filter(move |pair| (pair[0].1, pair[1].1) == (first, second)).map(|pair| (pair[0].0, pair[1].0))
    };
    let below: Vec<(usize, usize)> = pairs(LineMark::Row, LineMark::Code).collect();
    let above: Vec<(usize, usize)> = pairs(LineMark::Code, LineMark::Row).map(|(code, row)| (row, code)).collect();
    let whole =
        |pairs: &Vec<(usize, usize)>| pairs.len() == lines(LineMark::Row) && pairs.len() == lines(LineMark::Code);
    let beside = marks.iter().filter(|(_, mark)| *mark == LineMark::Both).map(|(line, _)| (*line, *line));
    let apart = [below, above].into_iter().find(whole).unwrap_or_default();
    beside.chain(apart).filter_map(|(row, code)| Some((row, coded.get(&code).copied().flatten()?))).collect()
}
