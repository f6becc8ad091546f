//! Word documents: paragraphs, tables, text boxes, headers, footers and notes.

use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind};
use quick_xml::Reader;
use quick_xml::events::Event;

use super::archive::Parts;
use super::pages::Pages;
use crate::workers::Stop;

/// The main part.
const MAIN: &str = "word/document.xml";
/// Elements that may lie in one another.
const MAX_DEPTH: usize = 1_000;

/// Reads a Word document as one page: headers, the body, footers, notes.
///
/// # Errors
/// `Broken`, `Encrypted`, `TooLarge`, or `Empty` without a word.
pub(super) fn read(bytes: &[u8], stop: &Stop) -> Result<DocumentText, DocumentFault> {
    let mut parts = Parts::open(bytes)?;
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
    parts: &mut Parts<'_>,
    pages: &mut Pages,
    names: &[String],
    starts: &[&str],
    stop: &Stop,
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
fn text_of(xml: &str, pages: &mut Pages, stop: &Stop) -> Result<String, DocumentFault> {
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
                out.open(start.local_name().as_ref());
            }
            Event::Empty(empty) => {
                out.open(empty.local_name().as_ref());
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
    /// The page at the bottom, above it open rows and cells.
    frames: Vec<Frame>,
    done: String,
}

enum Frame {
    Row(Vec<String>),
    Cell(String),
    /// A text box: it stands inside a paragraph and comes out after it.
    Box(String),
}

impl Writer {
    fn open(&mut self, name: &str) {
        match name {
            "t" => self.in_text = true,
            "Fallback" | "del" | "moveFrom" => self.left_out += 1,
            "tab" | "ptab" => self.push("\t"),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "tr" => self.frames.push(Frame::Row(Vec::new())),
            "tc" => self.frames.push(Frame::Cell(String::new())),
            "txbxContent" => self.frames.push(Frame::Box(String::new())),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "Fallback" | "del" | "moveFrom" => self.left_out = self.left_out.saturating_sub(1),
            "p" => self.push("\n"),
            "tc" => {
                if let Some(Frame::Cell(text)) = self.pop(|frame| matches!(frame, Frame::Cell(_))) {
                    match self.frames.last_mut() {
                        Some(Frame::Row(cells)) => cells.push(text),
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
        if self.in_text {
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
            Frame::Cell(text) | Frame::Box(text) => Some(text),
            Frame::Row(_) => None,
        });
        target.unwrap_or(&mut self.done).push_str(text);
    }

    fn finish(mut self) -> String {
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Row(cells) => self.push(&row(&cells)),
                Frame::Cell(text) | Frame::Box(text) => self.push(&text),
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

/// One line for a row of values; a row whose cells hold tables or long texts comes out cell by cell.
fn row(cells: &[String]) -> String {
    let filled = cells.iter().filter(|cell| !cell.trim().is_empty()).count();
    let is_value = |cell: &String| !cell.contains('\t') && cell.trim().lines().count() <= 6;
    if filled == 0 {
        return String::new();
    }
    if filled > 1 && cells.iter().all(is_value) {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", "))
            .collect();
        return format!("{}\n", cells.join("\t").trim_end());
    }
    cells.iter().filter(|cell| !cell.trim().is_empty()).map(|cell| format!("{}\n", cell.trim_matches('\n'))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(xml: &str) -> Result<String, DocumentFault> {
        text_of(xml, &mut Pages::new(DocumentFormat::Docx), &Stop::default())
    }

    #[test]
    fn paragraphs_and_tables_become_lines() {
        let xml = "<w:body><w:p><w:r><w:t>Elm &amp; Oak</w:t></w:r><w:r><w:tab/><w:t>x</w:t></w:r></w:p>\
            <w:tbl><w:tr><w:tc><w:p><w:t>VIN</w:t></w:p></w:tc><w:tc><w:p><w:t>1 St</w:t></w:p>\
            <w:p><w:t>Reno</w:t></w:p></w:tc></w:tr></w:tbl></w:body>";
        assert_eq!(text(xml).unwrap(), "Elm & Oak\tx\nVIN\t1 St, Reno");
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
    fn content_that_is_cut_off_is_broken() {
        assert_eq!(text("<body><p><t>text").unwrap_err().kind, FaultKind::Broken);
        assert_eq!(text("<body></p>").unwrap_err().kind, FaultKind::Broken);
    }

    #[test]
    fn nobody_reads_on_when_nobody_waits() {
        let fault = text_of("<p/>", &mut Pages::new(DocumentFormat::Docx), &Stop::set()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::TooLarge);
    }

    #[test]
    fn deep_tables_are_refused() {
        assert_eq!(text(&"<tbl>".repeat(30_000)).unwrap_err().kind, FaultKind::TooLarge);
    }
}
