//! Aligned tables without lines.

use super::paint::Paint;
use super::text::{clean, shorten};

/// The widest that a column grows.
pub(crate) const MAX_COLUMN: usize = 72;

/// What stands between columns.
const GAP: &str = "  ";
/// The narrowest that a column becomes which fits to the terminal.
const MIN_FITTING: usize = 12;

/// One cell: its text, and how it is painted once its width is known.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    status: bool,
    /// How wide it is where nobody knows how wide the terminal is; `None` when it is as wide as its text.
    fitting: Option<usize>,
}

impl Cell {
    /// A task's or a call's status, in its colour.
    pub(crate) fn status(text: impl Into<String>) -> Self {
        Self { text: clean(&text.into()), status: true, fitting: None }
    }

    /// A text that gets what room the terminal leaves, and `usual` characters where there is no terminal. All cells of a
    /// column are such, or none is.
    pub(crate) fn fitting(text: impl Into<String>, usual: usize) -> Self {
        Self { text: clean(&text.into()), status: false, fitting: Some(usual) }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        let text = clean(&text.into());
        let text = match text.char_indices().nth(MAX_COLUMN) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(&text)),
            None => text,
        };
        Self { text, status: false, fitting: None }
    }
}

/// Rows under a head.
#[derive(Debug)]
pub(crate) struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table with these column names.
    pub(crate) fn new(head: &[&'static str]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there is no row.
    pub(crate) const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as lines. A column that is empty in every row is left out, and those of fitting cells share what the
    /// others leave of the terminal's width.
    pub(crate) fn render(&self, paint: Paint) -> String {
        let widths = self.fit((0..self.head.len()).map(|column| self.width(column)).collect(), paint.width());
        let head: Vec<Cell> = self.head.iter().map(|name| Cell::from(*name)).collect();
        let mut lines = vec![paint.dim(&line(&head, &widths, Paint::new(false)))];
        lines.extend(self.rows.iter().map(|row| line(row, &widths, paint)));
        lines.join("\n")
    }

    /// The widths of the columns once those of fitting cells have what is left of so many columns.
    fn fit(&self, mut widths: Vec<usize>, columns: Option<usize>) -> Vec<usize> {
        let fitting = |n: usize| self.rows.first().and_then(|row| row.get(n)?.fitting);
        let mut flexible: Vec<(usize, usize)> = widths.iter().copied().enumerate().collect();
        flexible.retain(|(n, width)| *width > 0 && fitting(*n).is_some());
        let shown = widths.iter().filter(|width| **width > 0);
        let gaps = GAP.len() * shown.clone().count().saturating_sub(1);
        let others = shown.sum::<usize>() - flexible.iter().map(|(_, width)| width).sum::<usize>() + gaps;
        // Who needs less leaves more to the rest.
        flexible.sort_by_key(|(_, width)| *width);
        let (mut left, count) = (columns.unwrap_or_default().saturating_sub(others), flexible.len());
        for (n, (column, width)) in flexible.into_iter().enumerate() {
            let room = match columns {
                Some(_) => (left / (count - n)).max(MIN_FITTING),
                None => fitting(column).unwrap_or(width),
            };
            let fitted = width.min(room);
            left = left.saturating_sub(fitted);
            if let Some(width) = widths.get_mut(column) {
                *width = fitted;
            }
        }
        widths
    }

    fn width(&self, column: usize) -> usize {
        let widest = self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0);
        let head = self.head.get(column).map_or(0, |name| name.chars().count());
        if widest == 0 && !self.rows.is_empty() { 0 } else { widest.max(head) }
    }
}

fn line(cells: &[Cell], widths: &[usize], paint: Paint) -> String {
    let shown = cells.iter().zip(widths).filter(|(_, width)| **width > 0);
    let texts: Vec<String> = shown
        .map(|(cell, width)| {
            let text = if cell.fitting.is_some() { shorten(&cell.text, *width) } else { cell.text.clone() };
            let padding = " ".repeat(width.saturating_sub(text.chars().count()));
            let text = if cell.status { paint.status(&text) } else { text };
            format!("{text}{padding}")
        })
        .collect();
    texts.join(GAP).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_left_out() {
        let mut table = Table::new(&["ID", "INTENT", "STATUS"]);
        table.row(["1".into(), "".into(), Cell::status("completed")]);
        table.row(["22".into(), "".into(), Cell::status("failed")]);
        assert_eq!(table.render(Paint::new(false)), "ID  STATUS\n1   completed\n22  failed");
    }

    #[test]
    fn colours_do_not_move_columns() {
        let mut table = Table::new(&["STATUS", "ID"]);
        table.row([Cell::status("failed"), "1".into()]);
        let text = table.render(Paint::new(true));
        assert!(text.ends_with("\u{1b}[31mfailed\u{1b}[0m  1"), "{text:?}");
    }

    #[test]
    fn what_fits_takes_the_rest_of_the_terminal() {
        let mut table = Table::new(&["ID", "ABOUT", "STATUS"]);
        table.row(["1".into(), Cell::fitting("a subject of many words", 10), "done".into()]);
        let row = |width| {
            let shown = table.render(Paint::new(false).with_width(width));
            shown.lines().nth(1).unwrap_or_default().to_owned()
        };
        assert_eq!(row(None), "1   a subject…  done");
        assert_eq!(row(Some(30)), "1   a subject of many…  done");
        assert_eq!(row(Some(200)), "1   a subject of many words  done");
        assert_eq!(row(Some(5)), "1   a subject o…  done");
        let mut two = Table::new(&["A", "B"]);
        two.row([Cell::fitting("short", 40), Cell::fitting("what is longer than its half of the room", 40)]);
        let shown = two.render(Paint::new(false).with_width(Some(30)));
        assert_eq!(shown.lines().nth(1), Some("short  what is longer than it…"));
    }

    #[test]
    fn a_cell_cannot_break_out() {
        let mut table = Table::new(&["TEXT"]);
        table.row(["a\nb\u{1b}[2J".into()]);
        assert_eq!(table.render(Paint::new(false)), "TEXT\na b [2J");
    }
}
