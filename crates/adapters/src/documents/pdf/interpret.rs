//! Content streams carried out as far as text goes: where each character is drawn, and which boxes and rules
//! stand around it.

use std::collections::HashMap;
use std::rc::Rc;

use kybern_core::document::{DocumentFault, FaultKind};
use lopdf::{Dictionary, Document, Object, Stream};

use super::font::Font;
use super::geometry::{Drawing, Glyph, Matrix, Rect, turn};
use super::tokens::{Operand, Tokens};
use super::unpack::Unpacker;
use crate::workers::Stop;

/// How deep forms may lie in forms.
const MAX_FORMS: usize = 12;
/// Saved graphics states.
const MAX_SAVED: usize = 512;
/// Characters of one page.
const MAX_GLYPHS: usize = 500_000;
/// Fonts of one document.
const MAX_FONTS: usize = 2_000;
/// Boxes and rules of one page; a page with more is a drawing, not a form.
const MAX_SHAPES: usize = 20_000;

/// Fonts that were read already, by where they lie in the document, which does not move.
pub(super) type Fonts = HashMap<usize, Rc<Font>>;

/// Draws one page.
pub(super) struct Interpreter<'a> {
    doc: &'a Document,
    unpacker: &'a mut Unpacker,
    fonts: &'a mut Fonts,
    stop: &'a Stop,
    drawing: Drawing,
    glyphs: usize,
    run: u32,
}

/// The part of the graphics state that text needs.
#[derive(Clone)]
struct State {
    ctm: Matrix,
    font: Option<Rc<Font>>,
    size: f32,
    char_space: f32,
    word_space: f32,
    scale: f32,
    leading: f32,
    rise: f32,
}

/// The path under construction.
#[derive(Default)]
struct Path {
    boxes: Vec<Rect>,
    lines: Vec<((f32, f32), (f32, f32))>,
    at: (f32, f32),
}

impl<'a> Interpreter<'a> {
    pub(super) fn new(doc: &'a Document, unpacker: &'a mut Unpacker, fonts: &'a mut Fonts, stop: &'a Stop) -> Self {
        Self { doc, unpacker, fonts, stop, drawing: Drawing::default(), glyphs: 0, run: 0 }
    }

    /// Carries out a content stream.
    ///
    /// # Errors
    /// `TooLarge` over a limit.
    pub(super) fn draw(
        &mut self,
        content: &[u8],
        resources: &[&'a Dictionary],
        ctm: Matrix,
        depth: usize,
    ) -> Result<(), DocumentFault> {
        let mut state =
            State { ctm, font: None, size: 1.0, char_space: 0.0, word_space: 0.0, scale: 1.0, leading: 0.0, rise: 0.0 };
        let mut saved: Vec<State> = Vec::new();
        let mut path = Path::default();
        let (mut text, mut line) = (Matrix::IDENTITY, Matrix::IDENTITY);
        let mut tokens = Tokens::new(content);
        let mut count = 0u32;
        while let Some(operator) = tokens.next_operator() {
            count = count.wrapping_add(1);
            if count.is_multiple_of(1024) && self.stop.is_set() {
                return Err(given_up());
            }
            match operator {
                b"q" if saved.len() < MAX_SAVED => saved.push(state.clone()),
                b"Q" => state = saved.pop().unwrap_or(state),
                b"cm" => {
                    if let Some(matrix) = tokens.matrix() {
                        state.ctm = Matrix(matrix).then(state.ctm);
                    }
                }
                b"BT" => (text, line) = (Matrix::IDENTITY, Matrix::IDENTITY),
                b"Tf" => {
                    if let [Operand::Name(name), Operand::Number(size)] = tokens.operands.as_slice() {
                        state.size = *size;
                        state.font = self.font(name, resources);
                    }
                }
                b"Tc" => state.char_space = tokens.number(0).unwrap_or(0.0),
                b"Tw" => state.word_space = tokens.number(0).unwrap_or(0.0),
                b"Tz" => state.scale = tokens.number(0).unwrap_or(100.0) / 100.0,
                b"TL" => state.leading = tokens.number(0).unwrap_or(0.0),
                b"Ts" => state.rise = tokens.number(0).unwrap_or(0.0),
                b"Tm" => {
                    if let Some(matrix) = tokens.matrix() {
                        (text, line) = (Matrix(matrix), Matrix(matrix));
                    }
                }
                b"Td" | b"TD" => {
                    let (x, y) = (tokens.number(0).unwrap_or(0.0), tokens.number(1).unwrap_or(0.0));
                    if operator == b"TD" {
                        state.leading = -y;
                    }
                    line = Matrix([1.0, 0.0, 0.0, 1.0, x, y]).then(line);
                    text = line;
                }
                b"T*" | b"'" | b"\"" => {
                    if let [Operand::Number(word), Operand::Number(char), _] = tokens.operands.as_slice()
                        && operator == b"\""
                    {
                        (state.word_space, state.char_space) = (*word, *char);
                    }
                    line = Matrix([1.0, 0.0, 0.0, 1.0, 0.0, -state.leading]).then(line);
                    text = line;
                    if operator != b"T*" {
                        self.show(tokens.operands.last(), &state, &mut text)?;
                    }
                }
                b"Tj" | b"TJ" => self.show(tokens.operands.last(), &state, &mut text)?,
                b"Do" => {
                    if let Some(Operand::Name(name)) = tokens.operands.last() {
                        self.object(name, resources, state.ctm, depth)?;
                    }
                }
                b"BI" => self.picture(state.ctm),
                _ => self.path(operator, &tokens, state.ctm, &mut path),
            }
        }
        Ok(())
    }

    /// What was drawn.
    pub(super) fn finish(self) -> Drawing {
        self.drawing
    }

    /// Paths: outlined rectangles are the boxes of forms, horizontal lines the rules of tables.
    fn path(&mut self, operator: &[u8], tokens: &Tokens<'_>, ctm: Matrix, path: &mut Path) {
        let point = |at: usize| Some((tokens.number(at)?, tokens.number(at + 1)?));
        match operator {
            b"re" => {
                if let (Some((x, y)), Some((w, h))) = (point(0), point(2)) {
                    path.boxes.push(ctm.apply_to(Rect { x0: x, y0: y, x1: x + w, y1: y + h }));
                }
            }
            b"m" => path.at = point(0).map_or(path.at, |(x, y)| ctm.apply(x, y)),
            b"l" => {
                if let Some((x, y)) = point(0) {
                    let to = ctm.apply(x, y);
                    path.lines.push((path.at, to));
                    path.at = to;
                }
            }
            b"S" | b"s" | b"B" | b"B*" | b"b" | b"b*" | b"f" | b"F" | b"f*" => {
                let outlined = !matches!(operator, b"f" | b"F" | b"f*");
                self.keep(std::mem::take(path), outlined);
            }
            b"n" => *path = Path::default(),
            _ => {}
        }
        if path.boxes.len() + path.lines.len() > MAX_SHAPES {
            *path = Path::default();
        }
    }

    fn keep(&mut self, path: Path, outlined: bool) {
        let drawing = &mut self.drawing;
        if drawing.boxes.len() + drawing.rules.len() > MAX_SHAPES {
            return;
        }
        for rect in path.boxes {
            // A line is often drawn as a filled rectangle without width or height.
            if rect.height() < 2.5 {
                drawing.rules.add((rect.x0, rect.y0), (rect.x1, rect.y0));
            } else if rect.width() < 2.5 {
                drawing.rules.add((rect.x0, rect.y0), (rect.x0, rect.y1));
            } else if outlined {
                drawing.boxes.push(rect);
            }
        }
        for (from, to) in path.lines {
            drawing.rules.add(from, to);
        }
    }

    fn show(&mut self, operand: Option<&Operand>, state: &State, text: &mut Matrix) -> Result<(), DocumentFault> {
        let Some(font) = state.font.clone() else { return Ok(()) };
        self.run = self.run.wrapping_add(1);
        let before = self.glyphs;
        match operand {
            Some(Operand::Text(bytes)) => self.string(bytes, &font, state, text),
            Some(Operand::Array(items)) => {
                for item in items {
                    match item {
                        Operand::Text(bytes) => self.string(bytes, &font, state, text),
                        Operand::Number(number) => {
                            let back = -number / 1000.0 * state.size * state.scale;
                            *text = Matrix([1.0, 0.0, 0.0, 1.0, back, 0.0]).then(*text);
                        }
                        Operand::Name(_) | Operand::Array(_) | Operand::Other => {}
                    }
                }
            }
            _ => {}
        }
        self.unpacker.count_glyphs(self.glyphs - before)?;
        if self.glyphs > MAX_GLYPHS {
            let message = format!("one of its pages has more than {MAX_GLYPHS} characters");
            return Err(DocumentFault::new(FaultKind::TooLarge, message));
        }
        Ok(())
    }

    fn string(&mut self, bytes: &[u8], font: &Font, state: &State, text: &mut Matrix) {
        let run = self.run;
        let (drawing, glyphs) = (&mut self.drawing, &mut self.glyphs);
        font.decode(bytes, |drawn| {
            let base = text.then(state.ctm);
            let [a, b, c, d, ..] = base.0;
            let width = drawn.width * state.size * state.scale;
            let space = state.char_space + if drawn.is_space { state.word_space } else { 0.0 };
            let (from, to) = (base.apply(0.0, state.rise), base.apply(width, state.rise));
            *text = Matrix([1.0, 0.0, 0.0, 1.0, width + space * state.scale, 0.0]).then(*text);
            *glyphs += 1;
            let Some(shown) = drawn.text else {
                drawing.unknown += 1;
                return;
            };
            let size = (state.size * c.hypot(d)).abs();
            if !(size.is_finite() && from.0.is_finite() && from.1.is_finite() && to.0.is_finite()) || size > 5_000.0 {
                return;
            }
            let quarter = match (a.abs() >= b.abs(), a >= 0.0, b >= 0.0) {
                (true, true, _) => 0,
                (false, _, true) => 1,
                (true, false, _) => 2,
                (false, _, false) => 3,
            };
            let ((x0, y), (x1, _)) = (turn(from.0, from.1, quarter), turn(to.0, to.1, quarter));
            let letters = shown.chars().count().max(1);
            #[expect(clippy::cast_precision_loss, reason = "a glyph stands for a few characters")]
            let step = (x1 - x0) / letters as f32;
            let mut x = x0;
            for c in shown.chars() {
                let c = if c.is_whitespace() { ' ' } else { c };
                if !c.is_control() {
                    drawing.glyphs[quarter].push(Glyph { c, x0: x, x1: x + step, y, size, run });
                    *glyphs += 1;
                }
                x += step;
            }
        });
    }

    /// Draws a tick box of a form, whatever its own stream draws as a tick.
    pub(super) fn tick(&mut self, rect: Rect, ticked: bool) {
        let side = rect.width().min(rect.height()).clamp(6.0, 14.0);
        let (x, y) = ((rect.x0 + rect.x1 - side) / 2.0, (rect.y0 + rect.y1 - side) / 2.0);
        self.drawing.boxes.insert(0, Rect { x0: x, y0: y, x1: x + side, y1: y + side });
        if ticked {
            self.run = self.run.wrapping_add(1);
            let (x0, x1) = (x + side * 0.3, x + side * 0.7);
            self.drawing.glyphs[0].push(Glyph { c: 'X', x0, x1, y: y + side * 0.3, size: side * 0.6, run: self.run });
        }
    }

    fn picture(&mut self, ctm: Matrix) {
        let [a, b, c, d, ..] = ctm.0;
        self.drawing.pictures += 1;
        self.drawing.picture_area = self.drawing.picture_area.max((a * d - b * c).abs());
    }

    fn object(
        &mut self,
        name: &[u8],
        resources: &[&'a Dictionary],
        ctm: Matrix,
        depth: usize,
    ) -> Result<(), DocumentFault> {
        let doc = self.doc;
        let found = resources.iter().find_map(|resources| {
            let objects = resources.get_deref(b"XObject", doc).ok()?.as_dict().ok()?;
            objects.get_deref(name, doc).ok()?.as_stream().ok()
        });
        let Some(stream) = found else { return Ok(()) };
        match stream.dict.get_deref(b"Subtype", doc).and_then(Object::as_name) {
            Ok(b"Image") => self.picture(ctm),
            Ok(b"Form") => self.form(stream, resources, ctm, depth)?,
            _ => {}
        }
        Ok(())
    }

    /// Draws a form: a content stream of its own.
    ///
    /// # Errors
    /// `TooLarge` over a limit.
    pub(super) fn form(
        &mut self,
        stream: &'a Stream,
        outer: &[&'a Dictionary],
        ctm: Matrix,
        depth: usize,
    ) -> Result<(), DocumentFault> {
        self.unpacker.count_form()?;
        if depth >= MAX_FORMS {
            return Ok(());
        }
        let Some(content) = self.unpacker.stream(stream) else { return self.unpacker.check() };
        let matrix = super::matrix_in(self.doc, &stream.dict).unwrap_or(Matrix::IDENTITY);
        let own = stream.dict.get_deref(b"Resources", self.doc).and_then(Object::as_dict).ok();
        let resources: Vec<&Dictionary> = own.into_iter().chain(outer.iter().copied()).take(MAX_FORMS).collect();
        self.draw(&content, &resources, matrix.then(ctm), depth + 1)
    }

    fn font(&mut self, name: &[u8], resources: &[&'a Dictionary]) -> Option<Rc<Font>> {
        let doc = self.doc;
        let object = resources.iter().find_map(|resources| {
            let fonts = resources.get_deref(b"Font", doc).ok()?.as_dict().ok()?;
            fonts.get(name).ok()
        })?;
        let found = doc.dereference(object).ok()?.1.as_dict().ok()?;
        let place = std::ptr::from_ref(found).addr();
        if let Some(font) = self.fonts.get(&place) {
            return Some(Rc::clone(font));
        }
        if self.fonts.len() >= MAX_FONTS {
            return None;
        }
        let font = Rc::new(Font::read(doc, found, self.unpacker));
        self.fonts.insert(place, Rc::clone(&font));
        Some(font)
    }
}

fn given_up() -> DocumentFault {
    DocumentFault::new(FaultKind::TooLarge, "reading it took too long")
}
