//! Tags and text in, lines out.

use quick_xml::escape::resolve_html5_entity;

/// The longest entity that is looked up.
const MAX_ENTITY: usize = 32;
/// A cell of up to this many lines is one value, such as an address; a longer one is a piece of the page.
const MAX_CELL_LINES: usize = 4;
/// Tables in one another whose rows are put together: the text of a cell is copied once for each table around it. Pages
/// that people write stay under 20; what lies deeper comes out line by line.
const MAX_TABLES: usize = 50;

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
}

enum Frame {
    /// A table: rows and cells below it are not its own.
    Table,
    /// A row, with the cells that ended.
    Row(Vec<String>),
    /// A cell of the row below it.
    Cell(Block),
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
    pub(super) fn new() -> Self {
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
        }
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
        if self.hidden > 0 {
            return;
        }
        let text = resolve(text);
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

    pub(super) fn open(&mut self, name: &str, attributes: &str) {
        if nests(name) && !attributes.ends_with('/') {
            self.depth += 1;
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
                    self.frames.push(Frame::Cell(Block::default()));
                }
            }
            "li" => {
                self.break_line(1);
                self.block().push("- ");
            }
            "img" | "input" => self.alternative(name, attributes),
            _ => self.break_line(breaks_around(name)),
        }
    }

    pub(super) fn close(&mut self, name: &str) {
        if nests(name) {
            self.depth = self.depth.saturating_sub(1);
        }
        match name {
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
    fn alternative(&mut self, name: &str, attributes: &str) {
        let key = if name == "img" { "alt=" } else { "value=" };
        if name == "input" && attributes.to_ascii_lowercase().contains("hidden") {
            return;
        }
        let Some((_, value)) = attributes.split_once(key) else { return };
        let value = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
            _ => value.split_whitespace().next().unwrap_or_default(),
        };
        if !value.trim().is_empty() {
            self.text(&format!(" {} ", value.trim()));
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
            Some(Frame::Cell(block)) => block,
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
        if !matches!(self.frames.last(), Some(Frame::Cell(_))) {
            return;
        }
        self.cells.pop();
        if let Some(Frame::Cell(block)) = self.frames.pop()
            && let Some(Frame::Row(cells)) = self.frames.last_mut()
        {
            cells.push(block.text.trim().to_owned());
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
        } else if self.space && !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
        self.breaks = 0;
        self.space = false;
        self.text.push_str(text);
    }
}

/// A row of values on one line; cells that are pieces of the page one under the other.
fn row(cells: &[String]) -> String {
    let filled = cells.iter().filter(|cell| !cell.is_empty()).count();
    let of_values = cells.iter().all(|cell| !cell.contains('\t') && cell.lines().count() <= MAX_CELL_LINES);
    if filled > 1 && of_values {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", "))
            .collect();
        return cells.join("\t").trim_end().to_owned();
    }
    cells.iter().filter(|cell| !cell.is_empty()).map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Whether an element stays open until its end: not those without content, nor those that end by themselves.
fn nests(name: &str) -> bool {
    !matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
            | "p"
            | "li"
            | "dt"
            | "dd"
            | "option"
            | "optgroup"
            | "tr"
            | "td"
            | "th"
            | "thead"
            | "tbody"
            | "tfoot"
            | "colgroup"
            | "html"
            | "body"
    )
}

/// Line ends before and after an element: 2 make a blank line.
fn breaks_around(name: &str) -> usize {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" | "ul" | "ol" | "dl" | "blockquote" | "hr" => 2,
        "div" | "section" | "article" | "header" | "footer" | "main" | "nav" | "aside" | "form" | "fieldset"
        | "legend" | "dt" | "dd" | "li" | "caption" | "address" | "figure" | "figcaption" | "center" | "body"
        | "option" | "thead" | "tbody" | "tfoot" => 1,
        _ => 0,
    }
}

/// Resolves entities; what is none stays as it is.
fn resolve(text: &str) -> String {
    let mut resolved = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        resolved.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(MAX_ENTITY).position(|byte| byte == b';');
        match end.and_then(|end| entity(&rest[1..end]).map(|text| (end, text))) {
            Some((end, text)) => {
                resolved.push_str(&text);
                rest = &rest[end + 1..];
            }
            None => {
                resolved.push('&');
                rest = &rest[1..];
            }
        }
    }
    resolved.push_str(rest);
    // Zero-width and soft characters only hide words from whoever looks for them.
    resolved.retain(|c| {
        !matches!(c, '\u{ad}' | '\u{200b}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{34f}')
    });
    resolved.replace('\u{a0}', " ")
}

fn entity(name: &str) -> Option<String> {
    let Some(number) = name.strip_prefix('#') else { return resolve_html5_entity(name).map(str::to_owned) };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    // Pages that name windows-1252 codes mean the characters that Windows shows.
    if let Ok(byte @ 0x80..=0x9f) = u8::try_from(code) {
        return Some(encoding_rs::WINDOWS_1252.decode(&[byte]).0.into_owned());
    }
    char::from_u32(code).filter(|c| *c != '\0').map(String::from)
}
