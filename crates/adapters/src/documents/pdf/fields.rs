//! Fields of forms, stamps and notes: what people typed or ticked, at its place among the page's text.
//!
//! A field mostly brings a stream that draws it. Where it does not, or where the document says that the streams are
//! out of date, its value is written where a viewer would write it.

use kybern_core::document::DocumentFault;
use lopdf::{Dictionary, Document, Object, decode_text_string};

use super::geometry::{Checkbox, Glyph, Matrix, Rect};
use super::interpret::Interpreter;
use super::metrics::Metrics;
use super::{matrix_in, rect_in, tree};

/// Form fields and notes of one page.
const MAX_ANNOTATIONS: usize = 5_000;
/// Characters of one value.
const MAX_VALUE: usize = 20_000;
/// Choices of one field that are looked at.
const MAX_CHOICES: usize = 5_000;
/// Flags of an annotation that is not shown: hidden, and not for the screen.
const NOT_SHOWN: i64 = 2 | 32;
/// Flags of fields: several lines, secret, push button, one box for each character.
const MULTILINE: i64 = 1 << 12;
const SECRET: i64 = 1 << 13;
const PUSH: i64 = 1 << 16;
const COMB: i64 = 1 << 24;

/// Draws the fields and notes of a page.
///
/// # Errors
/// `TooLarge` over a limit.
pub(super) fn draw<'a>(
    doc: &'a Document,
    page: &'a Dictionary,
    resources: &[&'a Dictionary],
    interpreter: &mut Interpreter<'a, '_>,
) -> Result<(), DocumentFault> {
    let Ok(annotations) = page.get_deref(b"Annots", doc).and_then(Object::as_array) else { return Ok(()) };
    let form = doc.catalog().and_then(|catalog| catalog.get_deref(b"AcroForm", doc)).and_then(Object::as_dict).ok();
    let stale =
        form.is_some_and(|form| form.get_deref(b"NeedAppearances", doc).and_then(Object::as_bool).unwrap_or_default());
    for annotation in annotations.iter().take(MAX_ANNOTATIONS) {
        let Ok((_, Object::Dictionary(annotation))) = doc.dereference(annotation) else { continue };
        let shown = annotation.get_deref(b"F", doc).and_then(Object::as_i64).unwrap_or(0) & NOT_SHOWN == 0;
        let Some(rect) = annotation.get_deref(b"Rect", doc).ok().and_then(|rect| rect_in(doc, rect)) else { continue };
        if !shown {
            continue;
        }
        let field = Field { doc, annotation, rect };
        match annotation.get_deref(b"Subtype", doc).and_then(Object::as_name).unwrap_or_default() {
            b"Widget" => field.widget(resources, stale, interpreter)?,
            b"FreeText" | b"Stamp" if field.appearance().is_some() => field.draw(resources, interpreter)?,
            b"FreeText" => {
                let text = annotation.get_deref(b"Contents", doc).ok().and_then(text).unwrap_or_default();
                field.write(&text, true, interpreter)?;
            }
            _ => {}
        }
    }
    Ok(())
}

struct Field<'a> {
    doc: &'a Document,
    annotation: &'a Dictionary,
    rect: Rect,
}

impl<'a> Field<'a> {
    fn widget(
        &self,
        resources: &[&'a Dictionary],
        stale: bool,
        interpreter: &mut Interpreter<'a, '_>,
    ) -> Result<(), DocumentFault> {
        let kind = self.inherited(b"FT").and_then(|kind| kind.as_name().ok()).unwrap_or_default();
        let flags = self.inherited(b"Ff").and_then(|flags| flags.as_i64().ok()).unwrap_or(0);
        let states = matches!(self.normal(), Some(Object::Dictionary(_)));
        if states || (kind == b"Btn" && flags & PUSH == 0) {
            interpreter.tick(Checkbox { rect: square_in(self.rect), ticked: self.is_ticked() });
            return Ok(());
        }
        if flags & SECRET != 0 && kind == b"Tx" {
            return Ok(());
        }
        let value = if kind == b"Btn" { String::new() } else { self.value() };
        let before = interpreter.drawn();
        if !(stale && kind != b"Btn" || flags & COMB != 0 && !value.is_empty()) {
            self.draw(resources, interpreter)?;
        }
        if interpreter.drawn() == before {
            self.write(&value, flags & MULTILINE != 0, interpreter)?;
        }
        Ok(())
    }

    /// Whether a tick box or a radio button is on: by its own state, and without one by the value of its field.
    fn is_ticked(&self) -> bool {
        if let Ok(state) = self.annotation.get_deref(b"AS", self.doc).and_then(Object::as_name) {
            return state != b"Off";
        }
        let Some(value) = self.inherited(b"V").and_then(|value| value.as_name().ok()) else { return false };
        match self.normal() {
            Some(Object::Dictionary(states)) => value != b"Off" && states.has(value),
            _ => value != b"Off",
        }
    }

    /// An attribute of the field or of the nearest one above it.
    fn inherited(&self, key: &[u8]) -> Option<&'a Object> {
        tree::inherited(self.doc, self.annotation, key)
    }

    /// The value as a person sees it: the wording of a choice, not what it is exported as.
    fn value(&self) -> String {
        match self.inherited(b"V") {
            Some(Object::Array(values)) => {
                let values = values.iter().take(MAX_CHOICES).filter_map(|value| self.one_value(value));
                values.collect::<Vec<_>>().join("\n")
            }
            Some(value) => self.one_value(value).unwrap_or_default(),
            None => String::new(),
        }
    }

    fn one_value(&self, value: &Object) -> Option<String> {
        let (_, value) = self.doc.dereference(value).ok()?;
        let value = match value {
            Object::Stream(stream) => {
                let content = stream.content.get(..MAX_VALUE.min(stream.content.len()))?;
                stream.filters().is_err().then(|| String::from_utf8_lossy(content).into_owned())?
            }
            other => text(other)?,
        };
        let choices = self.inherited(b"Opt").and_then(|choices| choices.as_array().ok());
        let wording = choices.into_iter().flatten().take(MAX_CHOICES).find_map(|choice| {
            let pair = self.doc.dereference(choice).ok()?.1.as_array().ok()?;
            let of = |at: usize| text(self.doc.dereference(pair.get(at)?).ok()?.1);
            (of(0)? == value).then(|| of(1)).flatten()
        });
        Some(wording.unwrap_or(value))
    }

    fn normal(&self) -> Option<&'a Object> {
        let appearances = self.annotation.get_deref(b"AP", self.doc).and_then(Object::as_dict).ok()?;
        appearances.get_deref(b"N", self.doc).ok()
    }

    fn appearance(&self) -> Option<&'a lopdf::Stream> {
        self.normal()?.as_stream().ok()
    }

    /// Draws the field's own stream.
    fn draw(&self, resources: &[&'a Dictionary], interpreter: &mut Interpreter<'a, '_>) -> Result<(), DocumentFault> {
        let Some(stream) = self.appearance() else { return Ok(()) };
        let (doc, rect) = (self.doc, self.rect);
        let own = stream.dict.get_deref(b"BBox", doc).ok().and_then(|rect| rect_in(doc, rect));
        let inner = matrix_in(doc, &stream.dict).unwrap_or(Matrix::IDENTITY);
        let own = inner.apply_to(own.unwrap_or(Rect { x0: 0.0, y0: 0.0, x1: rect.width(), y1: rect.height() }));
        let scale = |to: f32, from: f32| if from.abs() > 0.001 { to / from } else { 1.0 };
        let (sx, sy) = (scale(rect.width(), own.width()), scale(rect.height(), own.height()));
        let placed = Matrix([sx, 0.0, 0.0, sy, rect.x0 - own.x0 * sx, rect.y0 - own.y0 * sy]);
        interpreter.form(stream, resources, placed, 1)
    }

    /// Writes a text into the field, as a viewer does that has no stream to draw.
    fn write(&self, text: &str, multiline: bool, interpreter: &mut Interpreter<'a, '_>) -> Result<(), DocumentFault> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let turned = self.annotation.get_deref(b"MK", self.doc).and_then(Object::as_dict).ok();
        let turned = turned.and_then(|look| look.get_deref(b"R", self.doc).ok()?.as_i64().ok()).unwrap_or(0);
        let quarter = usize::try_from(turned.rem_euclid(360) / 90).unwrap_or(0);
        let rect = self.rect.turned(quarter);
        let text: String = text.chars().take(MAX_VALUE).collect();
        let asked = self.font_size();
        let size = match asked {
            Some(size) => size,
            None if multiline => 10.0,
            None => (rect.height() * 0.7).clamp(4.0, 12.0),
        };
        let lines = if multiline { wrapped(&text, rect.width() / size) } else { vec![text.replace(['\r', '\n'], " ")] };
        let several = lines.len() > 1;
        let mut y = if several { rect.y1 - size } else { rect.y0 + (rect.height() - size) / 2.0 + size * 0.22 };
        for line in lines {
            let run = interpreter.next_run();
            // A value that does not fit is cut off in a viewer; here it is squeezed.
            let squeeze = (rect.width() / (width(&line) * size)).clamp(0.05, 1.0);
            let mut x = rect.x0 + 2.0_f32.min(rect.width() / 10.0);
            let glyphs = line.chars().filter(|c| !c.is_control() || c.is_whitespace()).map(|c| {
                let from = x;
                x += width_of(c) * size * squeeze;
                let c = if c.is_whitespace() { ' ' } else { c };
                Glyph { c, x0: from, x1: x, y, size, run }
            });
            interpreter.write(quarter, glyphs.collect())?;
            y -= size * 1.16;
        }
        Ok(())
    }

    /// The size that the field asks for; `None` for one that fits.
    fn font_size(&self) -> Option<f32> {
        let look = self.inherited(b"DA")?.as_str().ok()?;
        let words: Vec<&[u8]> = look.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).collect();
        let at = words.iter().position(|word| *word == b"Tf")?;
        let size: f32 = std::str::from_utf8(words.get(at.checked_sub(1)?)?).ok()?.parse().ok()?;
        (1.0..200.0).contains(&size).then_some(size)
    }
}

/// The square in the middle of a tick box, as high as a letter.
fn square_in(rect: Rect) -> Rect {
    let side = rect.width().min(rect.height()).clamp(6.0, 14.0);
    let (x0, y0) = ((rect.x0 + rect.x1 - side) / 2.0, (rect.y0 + rect.y1 - side) / 2.0);
    Rect { x0, y0, x1: x0 + side, y1: y0 + side }
}

fn text(object: &Object) -> Option<String> {
    match object {
        Object::Name(name) => Some(String::from_utf8_lossy(name).into_owned()),
        Object::String(bytes, _) => {
            let text = decode_text_string(object).unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned());
            Some(text)
        }
        _ => None,
    }
}

/// Lines no wider than this, in font sizes, broken between words.
fn wrapped(text: &str, most: f32) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.replace("\r\n", "\n").replace('\r', "\n").lines() {
        let (mut line, mut length) = (String::new(), 0.0);
        for word in paragraph.split_whitespace() {
            let long = width(word);
            if !line.is_empty() && length + width_of(' ') + long > most {
                lines.push(std::mem::take(&mut line));
                length = 0.0;
            }
            if !line.is_empty() {
                line.push(' ');
                length += width_of(' ');
            }
            line.push_str(word);
            length += long;
        }
        lines.push(line);
    }
    lines
}

fn width(text: &str) -> f32 {
    text.chars().map(width_of).sum::<f32>().max(0.1)
}

fn width_of(c: char) -> f32 {
    Metrics::for_font("Helvetica").width(c) / 1000.0
}
