//! PDF as text in reading order.
//!
//! The library reads the file's objects; everything about text is here: `interpret` carries out the content streams,
//! `font` knows what their codes mean, and `lines`, `regions` and `compose` put characters into lines, lines into
//! an order a person would read them in, and cells into columns.

mod boxes;
mod cmap;
mod columns;
mod compose;
mod font;
mod geometry;
mod interpret;
mod lines;
mod metrics;
mod open;
mod regions;
mod tokens;
mod tree;
mod unpack;

use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind, LineBox};
use lopdf::{Dictionary, Document, Object};

use self::geometry::{Drawing, Matrix, Rect};
use self::interpret::{Fonts, Interpreter};
use self::unpack::Unpacker;
use super::pages::Pages;
use crate::workers::Stop;

/// A page with a picture and fewer characters is a picture with a stamp on it.
const STAMP: usize = 40;
/// The part of the page that such a picture covers.
const COVERS: f32 = 0.4;
/// Form fields and notes of one page.
const MAX_ANNOTATIONS: usize = 5_000;
/// Said of a page that is a picture, in a document that has other pages.
const PICTURE: &str = "[this page is a picture without text]";

/// Reads a PDF.
///
/// # Errors
/// `Encrypted`, `Scan`, `Broken`, `TooLarge`, `Unsupported` when its fonts do not say what they show, or `Empty`.
pub(super) fn read(bytes: &[u8], stop: &Stop) -> Result<DocumentText, DocumentFault> {
    let doc = open::open(bytes)?;
    let found = tree::pages(&doc)?;
    let mut unpacker = Unpacker::new();
    let mut fonts = Fonts::new();
    let mut pages = Pages::new(DocumentFormat::Pdf);
    let mut seen = Seen::default();
    for dict in &found {
        let drawing = page(&doc, dict, &mut unpacker, &mut fonts, stop)?;
        let bounds = bounds(&doc, dict);
        let is_picture = seen.add(&drawing, bounds);
        let (mut text, lines) = layout(&drawing, bounds);
        if is_picture && text.is_empty() {
            PICTURE.clone_into(&mut text);
        }
        pages.count(text.len())?;
        pages.add_counted("", text, lines)?;
    }
    seen.check(found.len())?;
    pages.finish("it has no text")
}

/// What the pages had, to tell a scan from an empty document.
#[derive(Default)]
struct Seen {
    visible: usize,
    unknown: usize,
    pictures: usize,
    broken: usize,
}

impl Seen {
    /// Whether the page is a picture.
    fn add(&mut self, drawing: &Drawing, bounds: Rect) -> bool {
        let visible = drawing.visible();
        let covered = drawing.picture_area >= bounds.width() * bounds.height() * COVERS;
        let is_picture = drawing.pictures > 0 && (visible == 0 || (visible < STAMP && covered));
        self.unknown += drawing.unknown;
        if is_picture {
            self.pictures += 1;
        } else {
            self.visible += visible;
        }
        is_picture
    }

    fn check(&self, pages: usize) -> Result<(), DocumentFault> {
        let fault = |kind, message: String| Err(DocumentFault::new(kind, message));
        if self.visible == 0 && self.pictures > 0 {
            return fault(
                FaultKind::Scan,
                match pages {
                    1 => "its only page is a picture without a text layer".to_owned(),
                    _ if self.pictures == pages => {
                        format!("it has {pages} pages and all are pictures without a text layer")
                    }
                    _ => format!("{} of its {pages} pages are pictures without a text layer", self.pictures),
                },
            );
        }
        if self.unknown > self.visible {
            return fault(FaultKind::Unsupported, "its fonts do not say which letters they show".to_owned());
        }
        if self.visible == 0 && self.broken > 0 {
            return fault(FaultKind::Broken, "its pages cannot be unpacked".to_owned());
        }
        if self.visible == 0 {
            let pages = if pages == 1 { "1 page".to_owned() } else { format!("{pages} pages") };
            return fault(FaultKind::Empty, format!("it has {pages} and no text on them"));
        }
        Ok(())
    }
}

/// Draws one page with its form fields.
fn page(
    doc: &Document,
    dict: &Dictionary,
    unpacker: &mut Unpacker,
    fonts: &mut Fonts,
    stop: &Stop,
) -> Result<Drawing, DocumentFault> {
    let resources = tree::inherited(doc, dict, b"Resources").and_then(|found| found.as_dict().ok());
    let resources: Vec<&Dictionary> = resources.into_iter().collect();
    let content = content(doc, dict, unpacker);
    unpacker.check()?;
    let mut interpreter = Interpreter::new(doc, unpacker, fonts, stop);
    interpreter.draw(&content, &resources, Matrix::IDENTITY, 0)?;
    annotations(doc, dict, &resources, &mut interpreter)?;
    let drawing = interpreter.finish();
    unpacker.check()?;
    Ok(drawing)
}

/// The content streams of a page, one after the other: an operator may be cut in two.
fn content(doc: &Document, page: &Dictionary, unpacker: &mut Unpacker) -> Vec<u8> {
    let mut content = Vec::new();
    match page.get_deref(b"Contents", doc) {
        Ok(Object::Stream(stream)) => content = unpacker.stream(stream).unwrap_or_default(),
        Ok(Object::Array(parts)) => {
            for part in parts {
                if let Ok((_, Object::Stream(stream))) = doc.dereference(part) {
                    content.extend(unpacker.stream(stream).unwrap_or_default());
                    content.push(b'\n');
                }
                if unpacker.check().is_err() {
                    break;
                }
            }
        }
        _ => {}
    }
    content
}

/// What people typed into the fields of a form is drawn by the fields' own streams.
fn annotations<'a>(
    doc: &'a Document,
    page: &'a Dictionary,
    resources: &[&'a Dictionary],
    interpreter: &mut Interpreter<'a>,
) -> Result<(), DocumentFault> {
    let Ok(annotations) = page.get_deref(b"Annots", doc).and_then(Object::as_array) else { return Ok(()) };
    for annotation in annotations.iter().take(MAX_ANNOTATIONS) {
        let Ok((_, Object::Dictionary(annotation))) = doc.dereference(annotation) else { continue };
        let subtype = annotation.get_deref(b"Subtype", doc).and_then(Object::as_name).unwrap_or_default();
        if !matches!(subtype, b"Widget" | b"FreeText" | b"Stamp") {
            continue;
        }
        let Some(rect) = annotation.get_deref(b"Rect", doc).ok().and_then(|rect| rect_in(doc, rect)) else { continue };
        let appearance = annotation
            .get_deref(b"AP", doc)
            .and_then(Object::as_dict)
            .and_then(|appearances| appearances.get_deref(b"N", doc));
        let stream = match appearance {
            Ok(Object::Stream(stream)) => stream,
            // A tick box has one stream for each of its states.
            Ok(Object::Dictionary(_)) => {
                let state = annotation.get_deref(b"AS", doc).and_then(Object::as_name).unwrap_or(b"Off");
                interpreter.tick(rect, state != b"Off");
                continue;
            }
            _ => continue,
        };
        let own = stream.dict.get_deref(b"BBox", doc).ok().and_then(|rect| rect_in(doc, rect));
        let inner = matrix_in(doc, &stream.dict).unwrap_or(Matrix::IDENTITY);
        let own = inner.apply_to(own.unwrap_or(Rect { x0: 0.0, y0: 0.0, x1: rect.width(), y1: rect.height() }));
        let scale = |to: f32, from: f32| if from.abs() > 0.001 { to / from } else { 1.0 };
        let (sx, sy) = (scale(rect.width(), own.width()), scale(rect.height(), own.height()));
        let placed = Matrix([sx, 0.0, 0.0, sy, rect.x0 - own.x0 * sx, rect.y0 - own.y0 * sy]);
        interpreter.form(stream, resources, placed, 1)?;
    }
    Ok(())
}

/// The text of a page with the places of its lines: upright text first, then what is turned.
fn layout(drawing: &Drawing, bounds: Rect) -> (String, Vec<LineBox>) {
    let mut order: Vec<usize> = (0..4).filter(|quarter| !drawing.glyphs[*quarter].is_empty()).collect();
    order.sort_by_key(|quarter| std::cmp::Reverse(drawing.glyphs[*quarter].len()));
    let mut text = String::new();
    let mut lines = Vec::new();
    for quarter in order {
        let boxes: Vec<Rect> = drawing.boxes.iter().map(|rect| rect.turned(quarter)).collect();
        let ordered = regions::read_in_order(&drawing.glyphs[quarter], &boxes, &drawing.rules.turned(quarter));
        compose::compose(&ordered, bounds.turned(quarter), &mut text, &mut lines);
    }
    (text, lines)
}

/// The visible part of a page; US letter when it does not say.
fn bounds(doc: &Document, page: &Dictionary) -> Rect {
    let rect = tree::inherited(doc, page, b"CropBox").or_else(|| tree::inherited(doc, page, b"MediaBox"));
    rect.and_then(|rect| rect_in(doc, rect)).filter(|rect| rect.width() > 1.0 && rect.height() > 1.0).unwrap_or(Rect {
        x0: 0.0,
        y0: 0.0,
        x1: 612.0,
        y1: 792.0,
    })
}

fn numbers_in<const N: usize>(doc: &Document, object: &Object) -> Option<[f32; N]> {
    let array = object.as_array().ok()?;
    let mut numbers = [0.0; N];
    for (slot, item) in numbers.iter_mut().zip(array) {
        *slot = doc.dereference(item).ok()?.1.as_float().ok()?;
    }
    (array.len() >= N).then_some(numbers)
}

fn rect_in(doc: &Document, object: &Object) -> Option<Rect> {
    let [ax, ay, bx, by] = numbers_in(doc, object)?;
    Some(Rect { x0: ax.min(bx), y0: ay.min(by), x1: ax.max(bx), y1: ay.max(by) })
}

fn matrix_in(doc: &Document, dict: &Dictionary) -> Option<Matrix> {
    numbers_in(doc, dict.get_deref(b"Matrix", doc).ok()?).map(Matrix)
}
