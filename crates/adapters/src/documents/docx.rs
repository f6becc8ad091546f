//! Word documents: paragraphs, tables, text boxes, headers, footers and notes.

use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::archive::OpenPackage;
use super::pages::Pages;
use crate::workers::StopFlag;

/// The main part.
const MAIN: &str = "word/document.xml";
/// Elements that may lie in one another.
const MAX_DEPTH: usize = 1_000;
/// Lines of a cell that is one value; a longer one is a piece of the page.
const MAX_CELL_LINES: usize = 6;
/// Columns over which a cell goes.
const MAX_SPAN: usize = 64;
/// Choices of one field.
const MAX_CHOICES: usize = 500;

/// Reads a Word document as one page: headers, the body, footers, notes.
///
/// # Errors
/// `Broken`, `Encrypted`, `TooLarge`, or `Empty` without a word.
pub(super) fn read(bytes: &[u8], stop: &StopFlag) -> Result<DocumentText, DocumentFault> {
    let mut parts = OpenPackage::open(bytes)?;
    let mut names = parts.names();
    names.sort();
    let body = parts.xml(MAIN)?.ok_or_else(|| DocumentFault::new(FaultKind::Broken, "its main part is missing"))?;
    let mut pages = Pages::new(DocumentFormat::Docx);
    let mut texts = part_texts(&mut parts, &mut pages, &names, &["word/header"], stop)?;
    texts.push(text_of(&body, &mut pages, stop)?);
    let after = ["word/footer", "word/footnotes", "word/endnotes"];
    texts.extend(part_texts(&mut parts, &mut pages, &names, &after, stop)?);
    texts.retain(|text| !text.is_empty());
    texts.dedup();
    pages.add_counted("", texts.join("\n\n"), Vec::new())?;
    pages.finish("it has no text")
}

/// The texts of the parts that start so, each once: every section repeats its header.
fn part_texts(
    parts: &mut OpenPackage<'_>,
    pages: &mut Pages,
    names: &[String],
    starts: &[&str],
    stop: &StopFlag,
) -> Result<Vec<String>, DocumentFault> {
    let mut texts: Vec<String> = Vec::new();
    for name in names.iter().filter(|name| starts.iter().any(|start| name.starts_with(start))) {
        if !name.ends_with(".xml") {
            continue;
        }
        let Some(xml) = parts.xml(name)? else { continue };
        let text = text_of(&xml, pages, stop)?;
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    Ok(texts)
}

/// The text of one part.
fn text_of(xml: &str, pages: &mut Pages, stop: &StopFlag) -> Result<String, DocumentFault> {
    let mut reader = Reader::from_str(xml);
    let mut out = Writer::default();
    let mut depth = 0usize;
    loop {
        stop.check()?;
        let event = reader.read_event().map_err(|_| torn())?;
        match &event {
            Event::Start(start) => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(DocumentFault::new(
                        FaultKind::TooLarge,
                        format!("its elements lie more than {MAX_DEPTH} deep in one another"),
                    ));
                }
                out.open(start);
            }
            Event::Empty(empty) => {
                out.open(empty);
                out.close(empty.local_name().as_ref());
            }
            Event::End(end) => {
                depth = depth.saturating_sub(1);
                out.close(end.local_name().as_ref());
            }
            Event::Text(text) => {
                pages.count(text.len())?;
                out.text(text);
            }
            Event::CData(text) => {
                pages.count(text.len())?;
                out.text(text);
            }
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(c)) => out.text(c.encode_utf8(&mut [0; 4])),
                Ok(None) => out.text(quick_xml::escape::resolve_predefined_entity(name).ok_or_else(torn)?),
                Err(_) => return Err(torn()),
            },
            Event::Eof if depth > 0 => return Err(torn()),
            Event::Eof => return Ok(out.finish()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
}

fn torn() -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, "its content is cut off or damaged")
}

/// Builds lines out of runs, paragraphs and cells.
#[derive(Default)]
struct Writer {
    /// Whether the characters are text (`w:t`), not field codes or names.
    in_text: bool,
    /// Open elements whose content is left out: the fallback of a drawing repeats it, deleted text is gone.
    left_out: usize,
    /// Whether a run is open, and whether its text is hidden.
    in_run: bool,
    vanished: bool,
    /// A box to tick whose properties are being read: whether it is ticked.
    tick: Option<bool>,
    /// The choices of a field, and which one is chosen.
    choices: Vec<String>,
    chosen: usize,
    /// What stands for the content of the control whose properties were read; `None` for the content itself.
    stands_for: Option<&'static str>,
    /// For each open control whether its content is left out.
    controls: Vec<bool>,
    /// The page at the bottom, above it open rows and cells.
    frames: Vec<Frame>,
    done: String,
}

enum Frame {
    Row(Vec<String>),
    /// A cell, and over how many columns it goes.
    Cell(String, usize),
    /// A text box: it stands inside a paragraph and comes out after it.
    Box(String),
}

impl Writer {
    fn open(&mut self, element: &BytesStart<'_>) {
        match element.local_name().as_ref() {
            "t" => self.in_text = true,
            "Fallback" | "del" | "moveFrom" => self.left_out += 1,
            "tab" | "ptab" if self.in_run => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "tr" => self.frames.push(Frame::Row(Vec::new())),
            "tc" => self.frames.push(Frame::Cell(String::new(), 1)),
            "txbxContent" => self.frames.push(Frame::Box(String::new())),
            "r" => (self.in_run, self.vanished) = (true, false),
            "vanish" if self.in_run && is_on(element) => self.vanished = true,
            "sym" => self.symbol(element),
            "gridSpan" => {
                if let Some(Frame::Cell(_, span)) = self.frames.last_mut() {
                    *span = number(element).clamp(1, MAX_SPAN);
                }
            }
            "gridBefore" => {
                if let Some(Frame::Row(cells)) = self.frames.last_mut() {
                    cells.extend(std::iter::repeat_n(String::new(), number(element).min(MAX_SPAN)));
                }
            }
            "sdtPr" => self.stands_for = None,
            "showingPlcHdr" => self.stands_for = Some(""),
            "sdtContent" => {
                let left_out = self.stands_for.take();
                self.push(left_out.unwrap_or_default());
                self.left_out += usize::from(left_out.is_some());
                self.controls.push(left_out.is_some());
            }
            "checkbox" | "checkBox" => self.tick = Some(false),
            "checked" | "default" if self.tick.is_some() => self.tick = Some(is_on(element)),
            "listEntry" if self.choices.len() < MAX_CHOICES => self.choices.extend(value(element)),
            "result" => self.chosen = number(element),
            "ffData" => (self.choices, self.chosen) = (Vec::new(), 0),
            _ => {}
        }
    }

    /// A character of a symbol font: the boxes of forms and what ticks them.
    fn symbol(&mut self, element: &BytesStart<'_>) {
        let code = attribute(element, "char").and_then(|code| u32::from_str_radix(&code, 16).ok()).unwrap_or(0);
        match code & 0xFF {
            0x6F | 0xA8 | 0x71 | 0x72 | 0xA3 => self.push("[ ]"),
            0xFE | 0xFD | 0x52 | 0x53 | 0x54 => self.push("[X]"),
            0xFC | 0xFB | 0x50 | 0x4F => self.push("X"),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "r" => (self.in_run, self.vanished) = (false, false),
            "checkbox" => self.stands_for = self.tick.take().map(mark),
            "ffData" => {
                let chosen = self.choices.get(self.chosen).cloned();
                self.push(chosen.as_deref().or_else(|| self.tick.map(mark)).unwrap_or_default());
                (self.tick, self.choices) = (None, Vec::new());
            }
            "sdtContent" => self.left_out -= usize::from(self.controls.pop().unwrap_or_default() && self.left_out > 0),
            "Fallback" | "del" | "moveFrom" => self.left_out = self.left_out.saturating_sub(1),
            "p" => self.push("\n"),
            "tc" => {
                if let Some(Frame::Cell(text, span)) = self.pop(|frame| matches!(frame, Frame::Cell(..))) {
                    match self.frames.last_mut() {
                        Some(Frame::Row(cells)) => {
                            cells.push(text);
                            cells.extend(std::iter::repeat_n(String::new(), span - 1));
                        }
                        _ => self.push(&text),
                    }
                }
            }
            "tr" => {
                if let Some(Frame::Row(cells)) = self.pop(|frame| matches!(frame, Frame::Row(_))) {
                    self.push(&row(&cells));
                }
            }
            "txbxContent" => {
                if let Some(Frame::Box(text)) = self.pop(|frame| matches!(frame, Frame::Box(_))) {
                    self.push(&format!("\n{}\n", text.trim()));
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if !self.in_text || self.vanished {
            return;
        }
        if text.contains(['☐', '☑', '☒']) {
            self.push(&text.replace('☐', "[ ]").replace(['☑', '☒'], "[X]"));
        } else {
            self.push(text);
        }
    }

    /// Takes the top frame if it is the one that ends; elements that do not match are left alone.
    fn pop(&mut self, is: impl Fn(&Frame) -> bool) -> Option<Frame> {
        if self.frames.last().is_some_and(is) { self.frames.pop() } else { None }
    }

    fn push(&mut self, text: &str) {
        if self.left_out > 0 {
            return;
        }
        let target = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Cell(text, _) | Frame::Box(text) => Some(text),
            Frame::Row(_) => None,
        });
        target.unwrap_or(&mut self.done).push_str(text);
    }

    fn finish(mut self) -> String {
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Row(cells) => self.push(&row(&cells)),
                Frame::Cell(text, _) | Frame::Box(text) => self.push(&text),
            }
        }
        let mut text = String::with_capacity(self.done.len());
        let mut blank = 0;
        for line in self.done.lines() {
            let line = line.trim_end();
            blank = if line.is_empty() { blank + 1 } else { 0 };
            if blank < 2 {
                text.push_str(line);
                text.push('\n');
            }
        }
        text.trim_matches('\n').to_owned()
    }
}

fn mark(ticked: bool) -> &'static str {
    if ticked { "[X]" } else { "[ ]" }
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == name)?;
    Some(found.value.to_string())
}

fn value(element: &BytesStart<'_>) -> Option<String> {
    attribute(element, "val")
}

/// Whether a switch is on; it is without a value, too.
fn is_on(element: &BytesStart<'_>) -> bool {
    value(element).is_none_or(|value| !matches!(value.as_str(), "0" | "false" | "off"))
}

fn number(element: &BytesStart<'_>) -> usize {
    value(element).and_then(|value| value.parse().ok()).unwrap_or(0)
}

/// A row of values: one line for each paragraph of its cells, so that a label and what stands under it keep their
/// column. A row whose cells hold tables or long texts comes out cell by cell.
fn row(cells: &[String]) -> String {
    let filled = cells.iter().filter(|cell| !cell.trim().is_empty()).count();
    let is_value = |cell: &String| !cell.contains('\t') && cell.trim().lines().count() <= MAX_CELL_LINES;
    if filled == 0 {
        return String::new();
    }
    if filled > 1 && cells.iter().all(is_value) {
        let lines = |cell: &'_ String| -> Vec<String> {
            cell.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let columns: Vec<Vec<String>> = cells.iter().map(lines).collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        let line = |n: usize| {
            let cells: Vec<&str> = columns.iter().map(|column| column.get(n).map_or("", String::as_str)).collect();
            format!("{}\n", cells.join("\t").trim_end())
        };
        return (0..height).map(line).collect();
    }
    cells.iter().filter(|cell| !cell.trim().is_empty()).map(|cell| format!("{}\n", cell.trim_matches('\n'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(xml: &str) -> Result<String, DocumentFault> {
        text_of(xml, &mut Pages::new(DocumentFormat::Docx), &StopFlag::default())
    }

    #[test]
    fn paragraphs_and_tables_become_lines() {
        let xml = "<w:body><w:p><w:r><w:t>Elm &amp; Oak</w:t></w:r><w:r><w:tab/><w:t>x</w:t></w:r></w:p>\
            <w:tbl><w:tr><w:tc><w:p><w:t>VIN</w:t></w:p></w:tc><w:tc><w:p><w:t>1 St</w:t></w:p>\
            <w:p><w:t>Reno</w:t></w:p></w:tc></w:tr></w:tbl></w:body>";
        assert_eq!(text(xml).unwrap(), "Elm & Oak\tx\nVIN\t1 St\n\tReno");
    }

    #[test]
    fn field_codes_and_deleted_text_are_left_out() {
        let xml = "<p><instrText>PAGE</instrText><del><t>old</t></del><t>new</t></p>";
        assert_eq!(text(xml).unwrap(), "new");
    }

    #[test]
    fn text_boxes_come_out_once() {
        let xml = "<p><Choice><txbxContent><p><t>boxed</t></p></txbxContent></Choice>\
            <Fallback><txbxContent><p><t>boxed</t></p></txbxContent></Fallback></p>";
        assert_eq!(text(xml).unwrap(), "boxed");
    }

    #[test]
    fn labels_over_values_keep_their_columns() {
        let cell = |label: &str, value: &str| format!("<tc><p><t>{label}</t></p><p><t>{value}</t></p></tc>");
        let xml = format!("<tbl><tr>{}{}</tr></tbl>", cell("Insured", "Elm LLC"), cell("Insurer", "Oak Mutual"));
        assert_eq!(text(&xml).unwrap(), "Insured\tInsurer\nElm LLC\tOak Mutual");
    }

    #[test]
    fn merged_cells_take_the_place_of_their_columns() {
        let xml = "<tbl><tr><tc><tcPr><gridSpan val=\"2\"/></tcPr><p><t>Unit</t></p></tc><tc><p><t>VIN</t></p></tc></tr>\
            <tr><trPr><gridBefore val=\"1\"/></trPr><tc><p><t>1</t></p></tc><tc><p><t>1XK</t></p></tc></tr></tbl>";
        assert_eq!(text(xml).unwrap(), "Unit\t\tVIN\n\t1\t1XK");
    }

    #[test]
    fn boxes_say_whether_they_are_ticked() {
        let control = |on: &str| {
            format!(
                "<sdt><sdtPr><checkbox><checked val=\"{on}\"/><checkedState val=\"2612\"/></checkbox></sdtPr>\
                 <sdtContent><r><t>☐</t></r></sdtContent></sdt><r><t> yes </t></r>"
            )
        };
        assert_eq!(text(&format!("<p>{}{}</p>", control("1"), control("0"))).unwrap(), "[X] yes [ ] yes");
        let old = "<p><r><fldChar><ffData><checkBox><default val=\"0\"/><checked/></checkBox></ffData></fldChar></r>\
            <r><t> a</t></r><r><sym font=\"Wingdings\" char=\"F0A8\"/></r><r><t> b ☒ c</t></r></p>";
        assert_eq!(text(old).unwrap(), "[X] a[ ] b [X] c");
        let chosen = "<p><ffData><ddList><result val=\"1\"/><listEntry val=\"AL\"/><listEntry val=\"GL\"/></ddList></ffData></p>";
        assert_eq!(text(chosen).unwrap(), "GL");
    }

    #[test]
    fn hidden_text_and_placeholders_are_not_read() {
        let xml = "<p><r><rPr><vanish/></rPr><t>hidden</t></r><r><rPr><vanish val=\"0\"/></rPr><t>seen</t></r>\
            <ins><r><t> new</t></r></ins><sdt><sdtPr><showingPlcHdr/></sdtPr><sdtContent><r><t>Enter text</t></r>\
            </sdtContent></sdt></p>";
        assert_eq!(text(xml).unwrap(), "seen new");
    }

    #[test]
    fn content_that_is_cut_off_is_broken() {
        assert_eq!(text("<body><p><t>text").unwrap_err().kind, FaultKind::Broken);
        assert_eq!(text("<body></p>").unwrap_err().kind, FaultKind::Broken);
    }

    #[test]
    fn nobody_reads_on_when_nobody_waits() {
        let fault = text_of("<p/>", &mut Pages::new(DocumentFormat::Docx), &StopFlag::set()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::TooLarge);
    }

    #[test]
    fn deep_tables_are_refused() {
        assert_eq!(text(&"<tbl>".repeat(30_000)).unwrap_err().kind, FaultKind::TooLarge);
    }
}
