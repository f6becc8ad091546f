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

    /// A text that gets what room the terminal leaves, and `usual` characters where there is no terminal. A table has
    /// one column of such cells.
    pub(crate) fn fitting(text: impl Into<String>, usual: usize) -> Self {
        Self { text: clean(&text.into()), status: false, fitting: Some(usual) }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }

    /// The same, with its text cut to so many characters.
    fn cut(&self, width: usize) -> Self {
        Self { text: shorten(&self.text, width), ..self.clone() }
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

    /// The table as lines. A column that is empty in every row is left out, and one of fitting cells takes the rest of
    /// the terminal's width.
    pub(crate) fn render(&self, paint: Paint) -> String {
        let mut widths: Vec<usize> = (0..self.head.len()).map(|column| self.width(column)).collect();
        let fitting = self.fitting();
        if let Some((column, usual)) = fitting
            && let Some(width) = widths.get(column).copied().filter(|width| *width > 0)
        {
            let others: usize = widths.iter().filter(|width| **width > 0).map(|width| width + GAP.len()).sum();
            // What the others take has a gap too many, and this column's own.
            let others = others - width - GAP.len();
            let room = paint.width().map_or(usual, |columns| columns.saturating_sub(others).max(MIN_FITTING));
            widths[column] = width.min(room);
        }
        let head: Vec<Cell> = self.head.iter().map(|name| Cell::from(*name)).collect();
        let mut lines = vec![paint.dim(&line(&head, &widths, Paint::new(false)))];
        lines.extend(self.rows.iter().map(|row| match fitting {
            Some((column, _)) => {
                let cut = |(n, cell): (usize, &Cell)| if n == column { cell.cut(widths[n]) } else { cell.clone() };
                line(&row.iter().enumerate().map(cut).collect::<Vec<_>>(), &widths, paint)
            }
            None => line(row, &widths, paint),
        }));
        lines.join("\n")
    }

    fn width(&self, column: usize) -> usize {
        let widest = self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0);
        let head = self.head.get(column).map_or(0, |name| name.chars().count());
        if widest == 0 && !self.rows.is_empty() { 0 } else { widest.max(head) }
    }

    /// The column that fits to the terminal, and how wide it is where there is none.
    fn fitting(&self) -> Option<(usize, usize)> {
        let row = self.rows.first()?;
        row.iter().enumerate().find_map(|(column, cell)| Some((column, cell.fitting?)))
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
    fn one_column_takes_the_rest_of_the_terminal() {
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
    }

    #[test]
    fn a_cell_cannot_break_out() {
        let mut table = Table::new(&["TEXT"]);
        table.row(["a\nb\u{1b}[2J".into()]);
        assert_eq!(table.render(Paint::new(false)), "TEXT\na b [2J");
    }
}
