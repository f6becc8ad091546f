//! Tags and text in, lines out.

use super::elements::{breaks_around, is_empty, nests};
use super::style;
use super::tags::Attributes;

/// A cell of up to this many lines is one value, such as an address; a longer one is a piece of the page.
const MAX_CELL_LINES: usize = 4;
/// Tables in one another whose rows are put together: the text of a cell is copied once for each table around it. Pages
/// that people write stay under 20; what lies deeper comes out line by line.
const MAX_TABLES: usize = 50;
/// Columns over which a cell goes.
const MAX_SPAN: usize = 50;

/// Builds the text of a page.
pub(super) struct Renderer {
    page: Block,
    /// The rows and cells that are open: three for a table at most, whatever the tags say.
    frames: Vec<Frame>,
    /// Where cells lie among them.
    cells: Vec<usize>,
    tables: usize,
    /// Open tables that lie too deep to have frames.
    flat: usize,
    depth: usize,
    written: usize,
    hidden: usize,
    preformatted: usize,
    /// Whether white text may be seen somewhere; `None` when nothing is taken for hidden.
    painted: Option<bool>,
    /// The element that is not shown and is still open, and how many of its name are.
    unseen: Option<(String, usize)>,
    /// Whether a term ended just now, whose definition follows.
    after_term: bool,
    /// Whether a term is open.
    in_term: bool,
}

enum Frame {
    /// A table: rows and cells below it are not its own.
    Table,
    /// A row, with the cells that ended.
    Row(Vec<String>),
    /// A cell of the row below it.
    Cell(Block, usize),
}

#[derive(Default)]
struct Block {
    text: String,
    /// Line ends that are owed before the next word.
    breaks: usize,
    /// Whether a space is owed before the next word.
    space: bool,
}

impl Renderer {
    pub(super) fn new(painted: Option<bool>) -> Self {
        Self {
            page: Block::default(),
            frames: Vec::new(),
            cells: Vec::new(),
            tables: 0,
            flat: 0,
            depth: 0,
            written: 0,
            hidden: 0,
            preformatted: 0,
            painted,
            unseen: None,
            after_term: false,
            in_term: false,
        }
    }

    fn hides(&self, attributes: &Attributes) -> bool {
        self.painted.is_some_and(|painted| style::is_hidden(attributes, painted))
    }

    /// How many elements are open.
    pub(super) const fn depth(&self) -> usize {
        self.depth
    }

    /// How many bytes of words there were: the text is at least as long.
    pub(super) const fn written(&self) -> usize {
        self.written
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.hidden > 0 || self.unseen.is_some() {
            return;
        }
        self.after_term &= text.trim().is_empty();
        let text = without_marks(text);
        self.written += text.split_whitespace().map(str::len).sum::<usize>();
        let preformatted = self.preformatted > 0;
        let block = self.block();
        if preformatted {
            for (n, line) in text.replace("\r\n", "\n").split('\n').enumerate() {
                if n > 0 {
                    block.breaks = (block.breaks + 1).min(2);
                }
                block.push(line);
            }
            return;
        }
        if text.starts_with(char::is_whitespace) {
            block.space = true;
        }
        for word in text.split_whitespace() {
            block.push(word);
            block.space = true;
        }
        block.space = text.ends_with(char::is_whitespace) || (block.space && text.trim().is_empty());
    }

    pub(super) fn open(&mut self, name: &str, attributes: &Attributes) {
        if nests(name) && !attributes.closes {
            self.depth += 1;
        }
        if self.skips(name) {
            return;
        }
        if !is_empty(name) && !attributes.closes && self.hides(attributes) {
            if matches!(name, "td" | "th") {
                self.end_cell();
            }
            self.unseen = Some((name.to_owned(), 1));
            return;
        }
        match name {
            "br" => self.break_line(1),
            "title" => self.hidden += 1,
            "pre" | "textarea" => {
                self.preformatted += 1;
                self.break_line(1);
            }
            "table" => {
                self.break_line(2);
                self.open_table();
            }
            "tr" | "td" | "th" if self.flat > 0 => self.break_line(1),
            "tr" => {
                self.end_row();
                self.frames.push(Frame::Row(Vec::new()));
            }
            "td" | "th" => {
                self.end_cell();
                if matches!(self.frames.last(), Some(Frame::Row(_))) {
                    self.cells.push(self.frames.len());
                    let span = attributes.get("colspan").and_then(|span| span.trim().parse().ok()).unwrap_or(1usize);
                    self.frames.push(Frame::Cell(Block::default(), span.clamp(1, MAX_SPAN)));
                }
            }
            "li" => {
                self.break_line(1);
                self.block().push("- ");
            }
            "img" | "input" => self.alternative(name, attributes),
            "dd" if self.after_term => {
                self.after_term = false;
                let block = self.block();
                (block.breaks, block.space) = (0, false);
                block.text.push('\t');
            }
            "dd" if self.in_term => {
                self.end_term();
                self.open("dd", attributes);
            }
            _ => {
                self.break_line(breaks_around(name));
                if breaks_around(name) > 0 {
                    self.after_term = false;
                }
                self.in_term = name == "dt" || (self.in_term && breaks_around(name) == 0);
            }
        }
    }

    /// Whether this is inside of what is not shown. Elements that need no end of their own end with the next one.
    fn skips(&mut self, name: &str) -> bool {
        let Some((unseen, count)) = &mut self.unseen else { return false };
        let follows = match unseen.as_str() {
            "p" => breaks_around(name) > 0,
            "td" | "th" => matches!(name, "td" | "th" | "tr"),
            "li" | "tr" | "dt" | "dd" | "option" => name == unseen,
            _ => false,
        };
        if follows {
            self.unseen = None;
            return false;
        }
        *count += usize::from(name == unseen && nests(name));
        true
    }

    /// Whether the end of this element is inside of what is not shown, or is its end.
    fn skips_end(&mut self, name: &str) -> bool {
        let Some((unseen, count)) = &mut self.unseen else { return false };
        if name == unseen {
            *count -= 1;
            if *count == 0 {
                self.unseen = None;
            }
            return true;
        }
        let around = match unseen.as_str() {
            "td" | "th" => matches!(name, "tr" | "table" | "tbody"),
            "tr" => matches!(name, "table" | "tbody"),
            "p" | "li" | "dt" | "dd" | "option" => matches!(name, "div" | "ul" | "ol" | "dl" | "td" | "table" | "body"),
            _ => name == "body",
        };
        if around {
            self.unseen = None;
        }
        !around
    }

    fn end_term(&mut self) {
        self.in_term = false;
        self.after_term = !self.block().text.trim_end().is_empty();
    }

    pub(super) fn close(&mut self, name: &str) {
        if nests(name) {
            self.depth = self.depth.saturating_sub(1);
        }
        if self.skips_end(name) {
            return;
        }
        match name {
            "dt" if self.in_term => self.end_term(),
            "title" => self.hidden = self.hidden.saturating_sub(1),
            "pre" | "textarea" => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.break_line(1);
            }
            "tr" | "td" | "th" if self.flat > 0 => self.break_line(1),
            "td" | "th" => self.end_cell(),
            "tr" => self.end_row(),
            "table" => {
                self.close_table();
                self.break_line(2);
            }
            _ => self.break_line(breaks_around(name)),
        }
    }

    /// The text.
    pub(super) fn finish(mut self) -> String {
        self.flat = 0;
        while !self.frames.is_empty() {
            self.close_table();
        }
        self.page.text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim().to_owned()
    }

    /// The text of a picture or a filled-in field.
    fn alternative(&mut self, name: &str, attributes: &Attributes) {
        let kind = attributes.get("type").filter(|_| name == "input").unwrap_or_default().to_ascii_lowercase();
        match kind.as_str() {
            "checkbox" | "radio" => {
                let ticked = attributes.get("checked").is_some();
                return self.text(if ticked { " [X] " } else { " [ ] " });
            }
            "hidden" | "password" => return,
            _ if self.hides(attributes) => return,
            _ => {}
        }
        let value = attributes.get(if name == "img" { "alt" } else { "value" }).unwrap_or_default().trim();
        if !value.is_empty() {
            self.text(&format!(" {value} "));
        }
    }

    fn break_line(&mut self, breaks: usize) {
        let block = self.block();
        block.breaks = block.breaks.max(breaks);
        if breaks > 0 {
            block.space = false;
        }
    }

    /// Where text goes now.
    fn block(&mut self) -> &mut Block {
        match self.cells.last().and_then(|at| self.frames.get_mut(*at)) {
            Some(Frame::Cell(block, _)) => block,
            _ => &mut self.page,
        }
    }

    fn open_table(&mut self) {
        if self.tables == MAX_TABLES {
            self.flat += 1;
            return;
        }
        self.tables += 1;
        self.frames.push(Frame::Table);
    }

    fn close_table(&mut self) {
        if self.flat > 0 {
            self.flat -= 1;
            return;
        }
        self.end_row();
        if matches!(self.frames.last(), Some(Frame::Table)) {
            self.tables -= 1;
            self.frames.pop();
        }
    }

    fn end_cell(&mut self) {
        if !matches!(self.frames.last(), Some(Frame::Cell(..))) {
            return;
        }
        self.cells.pop();
        if let Some(Frame::Cell(block, span)) = self.frames.pop()
            && let Some(Frame::Row(cells)) = self.frames.last_mut()
        {
            cells.push(block.text.trim().to_owned());
            cells.extend(std::iter::repeat_n(String::new(), span - 1));
        }
    }

    fn end_row(&mut self) {
        self.end_cell();
        if !matches!(self.frames.last(), Some(Frame::Row(_))) {
            return;
        }
        let Some(Frame::Row(cells)) = self.frames.pop() else { return };
        if cells.iter().all(String::is_empty) {
            return;
        }
        let row = row(&cells);
        self.break_line(1);
        self.block().push(&row);
        self.break_line(1);
    }
}

impl Block {
    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.text.is_empty() {
            self.breaks = 0;
        }
        if self.breaks > 0 {
            for _ in 0..self.breaks {
                self.text.push('\n');
            }
        } else if self.space && !self.text.is_empty() && !self.text.ends_with([' ', '\n', '\t']) {
            self.text.push(' ');
        }
        self.breaks = 0;
        self.space = false;
        self.text.push_str(text);
    }
}

/// Without zero-width and soft characters, which only hide words from whoever looks for them.
fn without_marks(text: &str) -> String {
    let hides = |c| matches!(c, '\u{ad}' | '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{34f}');
    text.chars().filter(|c| !hides(*c)).map(|c| if c == '\u{a0}' { ' ' } else { c }).collect()
}

/// A row of values on one line; cells that are pieces of the page one under the other.
fn row(cells: &[String]) -> String {
    let filled = cells.iter().filter(|cell| !cell.is_empty()).count();
    let of_values = cells.iter().all(|cell| {
        let lines = cell.lines().count();
        lines <= 1 || (!cell.contains('\t') && lines <= MAX_CELL_LINES)
    });
    if filled > 1 && of_values {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", "))
            .collect();
        return cells.join("\t").trim_end().to_owned();
    }
    cells.iter().filter(|cell| !cell.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
}
