//! Aligned tables without lines.

use super::paint::Paint;
use super::text::clean;

/// The widest that a column grows.
pub(crate) const MAX_COLUMN: usize = 72;

/// One cell: its text, and how it is painted once its width is known.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    status: bool,
}

impl Cell {
    /// A task's or a call's status, in its colour.
    pub(crate) fn status(text: impl Into<String>) -> Self {
        Self { text: clean(&text.into()), status: true }
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
        Self { text, status: false }
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

    /// The table as lines. A column that is empty in every row is left out.
    pub(crate) fn render(&self, paint: Paint) -> String {
        let column_width = |column: usize| -> usize {
            let widest = self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0);
            let head = self.head.get(column).map_or(0, |name| name.chars().count());
            if widest == 0 && !self.rows.is_empty() { 0 } else { widest.max(head) }
        };
        let widths: Vec<usize> = (0..self.head.len()).map(column_width).collect();
        let head: Vec<Cell> = self.head.iter().map(|name| Cell::from(*name)).collect();
        let mut lines = vec![paint.dim(&line(&head, &widths, Paint::new(false)))];
        lines.extend(self.rows.iter().map(|row| line(row, &widths, paint)));
        lines.join("\n")
    }
}

fn line(cells: &[Cell], widths: &[usize], paint: Paint) -> String {
    let shown = cells.iter().zip(widths).filter(|(_, width)| **width > 0);
    let texts: Vec<String> = shown
        .map(|(cell, width)| {
            let padding = " ".repeat(width.saturating_sub(cell.width()));
            let text = if cell.status { paint.status(&cell.text) } else { cell.text.clone() };
            format!("{text}{padding}")
        })
        .collect();
    texts.join("  ").trim_end().to_owned()
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
    fn a_cell_cannot_break_out() {
        let mut table = Table::new(&["TEXT"]);
        table.row(["a\nb\u{1b}[2J".into()]);
        assert_eq!(table.render(Paint::new(false)), "TEXT\na b [2J");
    }
}
