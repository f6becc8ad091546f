//! PDF as text in reading order.
//!
//! The library reads the file's objects; everything about text is here: `interpret` carries out the content streams,
//! `font` knows what their codes mean, and `lines`, `regions` and `compose` put characters into lines, lines into
//! an order a person would read them in, and cells into columns. Of a page that is a picture, `pixels` unpacks what it
//! draws and `render` puts it together, for whoever reads pictures.

mod boxes;
mod charset;
mod cmap;
mod codes;
mod columns;
mod compose;
mod direction;
mod fields;
mod font;
mod geometry;
mod interpret;
mod lean;
mod lines;
mod metrics;
mod open;
mod packed;
mod pixels;
mod regions;
mod render;
mod rows;
mod shapes;
mod space;
mod state;
mod ticks;
mod tokens;
mod tree;
mod unpack;

#[cfg(test)]
mod tests;

use kybern_core::document::{
    DocumentFault, DocumentFormat, DocumentText, FaultKind, LineBox, PageLook, PageText, Scan,
};
use lopdf::{Dictionary, Document, Object};
use serde::{Deserialize, Serialize};

pub(super) use self::direction::is_from_right;
use self::geometry::{Drawing, Matrix};
pub(super) use self::geometry::{Glyph, Rect};
use self::interpret::{Fonts, Interpreter, PlacedPicture};
pub(super) use self::lean::Lean;
pub(super) use self::packed::{Packed, Unpacked};
use self::pixels::Tools;
use self::unpack::Unpacker;
use super::eyes::{Eyes, PictureReading as Look};
use super::pages::Pages;
use super::picture::Picture;
use super::process::ReaderServices;
use crate::workers::StopFlag;

/// A page with a picture and fewer characters is a picture with a stamp on it.
const STAMP: usize = 40;
/// The part of the page that such a picture covers.
const COVERS: f32 = 0.4;
/// Pictures that cover less of a page all together are a logo or an ornament.
const LOGO: f32 = 0.05;
/// Said of a page whose content is damaged.
const DAMAGED: &str = "[this page cannot be unpacked]";
/// Said of a page that is a picture, in a document that has other pages.
const PICTURE: &str = "[this page is a picture without text]";

/// A PDF as far as it could be read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PdfReading {
    pub(super) text: Result<DocumentText, DocumentFault>,
    /// Whether there are pages that are pictures, so that reading those may give more.
    pub(super) has_pictures: bool,
}

/// Reads a PDF; pages that are pictures are shown to `eyes`, when there are any.
///
/// # Errors
/// `Encrypted`, `Broken`, `TooLarge`; and in [`PdfReading::text`] `Scan`, `Unsupported` when its fonts do not say what they
/// show, `Broken`, or `Empty`.
pub(super) fn read(
    bytes: &[u8],
    stop: &StopFlag,
    mut eyes: Option<&mut Eyes<'_>>,
) -> Result<PdfReading, DocumentFault> {
    let doc = open::open(bytes, stop)?;
    let found = tree::pages(&doc)?;
    let mut unpacker = Unpacker::new();
    let mut fonts = Fonts::new();
    let mut pages = Pages::new(DocumentFormat::Pdf);
    let mut seen = PageContents::default();
    for dict in &found {
        let page = page(&doc, dict, &mut unpacker, &mut fonts, stop)?;
        let is_picture = seen.add(&page);
        let mut seen_area = 0.0;
        let looked = match &mut eyes {
            Some(eyes) if is_picture => {
                let tools = Tools { aids: eyes.aids(), stop };
                eyes.read(|| {
                    let rendered = render::page(&doc, dict, page.bounds, &page.pictures, tools)?;
                    Ok(rendered.map(|rendered| {
                        seen_area = rendered.area;
                        rendered.picture
                    }))
                })?
            }
            _ => Look::Unread,
        };
        if matches!(looked, Look::Unread) {
            seen_area = 0.0;
        }
        let misses_some = page.misses_beside(seen_area);
        if let Look::Words(scanned) = looked {
            seen.pictures -= 1;
            seen.visible += scanned.text.len();
            pages.count(scanned.text.len())?;
            pages.add_page(PageText { unread: misses_some || page.is_damaged, ..scanned })?;
            continue;
        }
        let (mut text, lines) = layout(&page.drawing, page.bounds);
        let is_blank = matches!(looked, Look::Nothing) && !misses_some && text.is_empty();
        if is_picture && text.is_empty() && !is_blank {
            PICTURE.clone_into(&mut text);
        }
        if page.is_damaged && text.is_empty() {
            DAMAGED.clone_into(&mut text);
        }
        pages.count(text.len())?;
        pages.add_page(PageText {
            text,
            lines,
            scan: is_blank.then(Scan::default),
            unread: page.is_damaged || (is_picture && misses_some),
            ..PageText::default()
        })?;
    }
    let text = seen.check(found.len()).and_then(|()| pages.finish("it has no text"));
    Ok(PdfReading { text, has_pictures: seen.pictures > 0 })
}

/// The picture of a page, numbered from 1.
///
/// # Errors
/// `Empty` when the page is none, `TooLarge` when it draws too much, and as for [`read`].
pub(super) fn picture(
    bytes: &[u8],
    number: u32,
    aids: &dyn ReaderServices,
    stop: &StopFlag,
) -> Result<Picture, DocumentFault> {
    let none = || DocumentFault::new(FaultKind::Empty, format!("page {number} is not a picture"));
    let doc = open::open(bytes, stop)?;
    let found = tree::pages(&doc)?;
    let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let dict = at.and_then(|at| found.get(at)).ok_or_else(none)?;
    let page = page(&doc, dict, &mut Unpacker::new(), &mut Fonts::new(), stop)?;
    if !PageContents::default().add(&page) {
        return Err(none());
    }
    let rendered = render::page(&doc, dict, page.bounds, &page.pictures, Tools { aids, stop })?;
    rendered.map(|rendered| rendered.picture).ok_or_else(none)
}

/// What there is to see on each page.
///
/// # Errors
/// As for [`read`].
pub(super) fn looks(bytes: &[u8], stop: &StopFlag) -> Result<Vec<PageLook>, DocumentFault> {
    let doc = open::open(bytes, stop)?;
    let (mut unpacker, mut fonts) = (Unpacker::new(), Fonts::new());
    let look = |dict: &&Dictionary| {
        let page = page(&doc, dict, &mut unpacker, &mut fonts, stop)?;
        let is_blank = page.drawing.visible() == 0 && page.drawing.unknown == 0 && !page.is_damaged;
        Ok(match PageContents::default().add(&page) {
            true => PageLook::Picture,
            false if is_blank => PageLook::Blank,
            false => PageLook::Other,
        })
    };
    tree::pages(&doc)?.iter().map(look).collect()
}

/// Whether a picture covers the page.
fn covers(drawing: &Drawing, bounds: Rect) -> bool {
    drawing.picture_area >= bounds.width() * bounds.height() * COVERS
}

/// What the pages had, to tell a scan from an empty document.
#[derive(Default)]
struct PageContents {
    visible: usize,
    unknown: usize,
    pictures: usize,
    broken: usize,
}

impl PageContents {
    /// Whether the page is a picture.
    fn add(&mut self, page: &Page<'_>) -> bool {
        let Page { drawing, bounds, .. } = page;
        let visible = drawing.visible();
        let is_picture = drawing.pictures > 0 && (visible == 0 || (visible < STAMP && covers(drawing, *bounds)));
        self.unknown += drawing.unknown;
        self.broken += usize::from(page.is_damaged);
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

/// A page as it is drawn.
struct Page<'a> {
    drawing: Drawing,
    pictures: Vec<PlacedPicture<'a>>,
    /// The part of it that a person sees.
    bounds: Rect,
    /// Whether some of its content cannot be unpacked, or not as it was packed.
    is_damaged: bool,
}

impl Page<'_> {
    /// Whether there is a picture that may matter beside those of this area, which were seen.
    fn misses_beside(&self, seen_area: f32) -> bool {
        let unseen = self.drawing.picture_areas - seen_area;
        !unseen.is_finite() || unseen >= self.bounds.width() * self.bounds.height() * LOGO
    }
}

/// Draws one page with its form fields.
fn page<'a>(
    doc: &'a Document,
    dict: &'a Dictionary,
    unpacker: &mut Unpacker,
    fonts: &mut Fonts,
    stop: &StopFlag,
) -> Result<Page<'a>, DocumentFault> {
    let resources = tree::inherited(doc, dict, b"Resources").and_then(|found| found.as_dict().ok());
    let resources: Vec<&Dictionary> = resources.into_iter().collect();
    let (content, is_damaged) = content(doc, dict, unpacker);
    unpacker.check()?;
    let mut interpreter = Interpreter::new(doc, unpacker, fonts, stop);
    interpreter.draw(&content, &resources, Matrix::IDENTITY, 0)?;
    fields::draw(doc, dict, &resources, &mut interpreter)?;
    let (mut drawing, pictures) = interpreter.finish();
    unpacker.check()?;
    let is_damaged = is_damaged || unpacker.take_torn();
    let bounds = bounds(doc, dict);
    drawing.crop(bounds);
    let visible = drawing.visible();
    // Text without ink counts where it explains a picture; under other text a person does not know of it.
    if visible == 0 || (visible < STAMP && covers(&drawing, bounds)) {
        drawing.use_layer();
    }
    Ok(Page { drawing, pictures, bounds, is_damaged })
}

/// Characters that stand where others say that they do, as lines in the order in which a person reads them. Lines may
/// lean, as on paper that was laid on the glass crookedly.
pub(super) fn lay_out(glyphs: &[Glyph], bounds: Rect, lean: Lean) -> (String, Vec<LineBox>) {
    let (mut text, mut places) = (String::new(), Vec::new());
    let ordered = regions::read_in_order(&lean.leveled(glyphs, bounds), &regions::PageShapes::default());
    compose::compose(&ordered, bounds, &mut text, &mut places);
    places.iter_mut().for_each(|place| (place.x, place.y) = lean.back(place.x, place.y));
    (text, places)
}

/// The content streams of a page, one after the other, as an operator may be cut in two; and whether one is damaged.
fn content(doc: &Document, page: &Dictionary, unpacker: &mut Unpacker) -> (Vec<u8>, bool) {
    let (mut content, mut is_damaged) = (Vec::new(), false);
    let parts = match page.get_deref(b"Contents", doc) {
        Ok(Object::Array(parts)) => parts.iter().filter_map(|part| Some(doc.dereference(part).ok()?.1)).collect(),
        Ok(one) => vec![one],
        Err(_) => Vec::new(),
    };
    for stream in parts.into_iter().filter_map(|part| part.as_stream().ok()) {
        match unpacker.stream(doc, stream) {
            Some(part) => content.extend(part),
            None => is_damaged |= !stream.content.trim_ascii().is_empty(),
        }
        content.push(b'\n');
        if unpacker.check().is_err() {
            break;
        }
    }
    (content, is_damaged)
}

/// The text of a page with the places of its lines: first what runs as most of it does, then what is turned.
fn layout(drawing: &Drawing, bounds: Rect) -> (String, Vec<LineBox>) {
    let mut order: Vec<usize> = (0..4).filter(|quarter| !drawing.glyphs[*quarter].is_empty()).collect();
    order.sort_by_key(|quarter| std::cmp::Reverse(drawing.glyphs[*quarter].len()));
    let mut text = String::new();
    let mut places = Vec::new();
    for (n, quarter) in order.into_iter().enumerate() {
        let turned = bounds.turned(quarter);
        let from = places.len();
        let lean = drawing.leans[quarter].usual();
        let leveled: Vec<Glyph>;
        let glyphs = match lean {
            None => &drawing.glyphs[quarter],
            Some(lean) => {
                leveled = lean.leveled(&drawing.glyphs[quarter], turned);
                &leveled
            }
        };
        // The boxes and rules of the page stand around the text that is upright for a person who reads it.
        let ordered = match n {
            0 => regions::read_in_order(glyphs, &regions::PageShapes::turned(drawing, quarter)),
            _ => regions::read_in_order(glyphs, &regions::PageShapes::default()),
        };
        compose::compose(&ordered, turned, &mut text, &mut places);
        if let Some(lean) = lean {
            places[from..].iter_mut().for_each(|place| (place.x, place.y) = lean.back(place.x, place.y));
        }
    }
    for slanted in &drawing.slanted {
        compose::compose(&lines::lines(&slanted.glyphs), bounds, &mut text, &mut places);
    }
    (text, places)
}

/// The visible part of a page; US letter when it does not say.
fn bounds(doc: &Document, page: &Dictionary) -> Rect {
    let of = |key: &[u8]| {
        let rect = rect_in(doc, tree::inherited(doc, page, key)?)?;
        (rect.width() > 1.0 && rect.height() > 1.0).then_some(rect)
    };
    let sheet = of(b"MediaBox").unwrap_or(Rect { x0: 0.0, y0: 0.0, x1: 612.0, y1: 792.0 });
    of(b"CropBox")
        .and_then(|crop| crop.common(&sheet))
        .filter(|seen| seen.width() > 1.0 && seen.height() > 1.0)
        .unwrap_or(sheet)
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
