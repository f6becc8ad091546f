//! Content streams carried out as far as text goes: where each character is drawn, and which boxes and rules
//! stand around it.

use std::collections::HashMap;
use std::rc::Rc;

use kybern_core::document::{DocumentFault, FaultKind};
use lopdf::{Dictionary, Document, Object, Stream};

use super::font::Font;
use super::geometry::{Checkbox, Drawing, Glyph, Matrix, Rect, SlantedText, turn};
use super::shapes::Path;
use super::state::{Background, GraphicsState, Visibility};
use super::tokens::{Operand, Tokens};
use super::unpack::Unpacker;
use crate::workers::StopFlag;

/// How deep forms may lie in forms.
const MAX_FORMS: usize = 12;
/// Saved graphics states.
const MAX_SAVED: usize = 512;
/// Characters of one page.
const MAX_GLYPHS: usize = 500_000;
/// Fonts of one document.
const MAX_FONTS: usize = 2_000;
/// Directions in which text runs on one page besides level and upright.
const MAX_SLANTS: usize = 12;
/// Pictures of one page that are kept: scanners cut a page into strips.
const MAX_PICTURES: usize = 500;
/// Text that leans by a smaller part of its length is level.
const SLANT: f32 = 0.12;

/// Fonts that were read already, by where they lie in the document, which does not move.
pub(super) type Fonts = HashMap<usize, Rc<Font>>;

/// A picture where a page draws it: its matrix takes the unit square there.
pub(super) type PlacedPicture<'a> = (Matrix, &'a Stream);

/// Draws one page.
pub(super) struct Interpreter<'a, 't> {
    doc: &'a Document,
    unpacker: &'t mut Unpacker,
    fonts: &'t mut Fonts,
    stop: &'t StopFlag,
    drawing: Drawing,
    ground: Background,
    glyphs: usize,
    run: u32,
    pictures: Vec<PlacedPicture<'a>>,
}

impl<'a, 't> Interpreter<'a, 't> {
    pub(super) fn new(doc: &'a Document, unpacker: &'t mut Unpacker, fonts: &'t mut Fonts, stop: &'t StopFlag) -> Self {
        Self {
            doc,
            unpacker,
            fonts,
            stop,
            drawing: Drawing::default(),
            ground: Background::default(),
            glyphs: 0,
            run: 0,
            pictures: Vec::new(),
        }
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
        let mut state = GraphicsState::new(ctm);
        let mut saved: Vec<GraphicsState> = Vec::new();
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
                b"gs" => {
                    if let Some(Operand::Name(name)) = tokens.operands.last()
                        && let Some(alpha) = self.alpha(name, resources)
                    {
                        state.transparent = alpha <= 0.004;
                    }
                }
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
                        self.object(name, resources, &state, depth)?;
                    }
                }
                b"BI" => self.picture(&state),
                // A shading fills what is clipped, which is not followed here.
                b"sh" => self.ground.add(state.unclipped(), None),
                _ if state.set(operator, &tokens) => {}
                _ => path.step(operator, &tokens, &mut state, &mut self.drawing, &mut self.ground),
            }
        }
        Ok(())
    }

    /// What was drawn, with the pictures in the order in which they cover each other.
    pub(super) fn finish(self) -> (Drawing, Vec<PlacedPicture<'a>>) {
        (self.drawing, self.pictures)
    }

    fn show(
        &mut self,
        operand: Option<&Operand>,
        state: &GraphicsState,
        text: &mut Matrix,
    ) -> Result<(), DocumentFault> {
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
        self.count_since(before)
    }

    /// Counts the characters that were drawn since there were `before`.
    fn count_since(&mut self, before: usize) -> Result<(), DocumentFault> {
        self.unpacker.count_glyphs(self.glyphs - before)?;
        if self.glyphs > MAX_GLYPHS {
            let message = format!("one of its pages has more than {MAX_GLYPHS} characters");
            return Err(DocumentFault::new(FaultKind::TooLarge, message));
        }
        Ok(())
    }

    fn string(&mut self, bytes: &[u8], font: &Font, state: &GraphicsState, text: &mut Matrix) {
        let run = self.run;
        let (drawing, glyphs, ground) = (&mut self.drawing, &mut self.glyphs, &mut self.ground);
        let mut sight = None;
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
            let size = (state.size * font.em() * c.hypot(d)).abs();
            if !(size.is_finite() && from.0.is_finite() && from.1.is_finite() && to.0.is_finite()) || size > 5_000.0 {
                return;
            }
            let sight = *sight.get_or_insert_with(|| {
                let (up, right) = ((c * state.size * 0.3, d * state.size * 0.3), (to.0 - from.0, to.1 - from.1));
                state.sight(size, (from.0 + up.0 + right.0 / 2.0, from.1 + up.1 + right.1 / 2.0), ground)
            });
            if sight == Visibility::Hidden {
                return;
            }
            let (target, (x0, y), (mut x1, _)) = place(drawing, sight, (a, b), from, to);
            let letters = shown.chars().count().max(1);
            // Letters that are set apart are still those of one word.
            let apart = (state.char_space * state.scale * a.hypot(b)).clamp(0.0, size);
            #[expect(clippy::cast_precision_loss, reason = "a glyph stands for a few characters")]
            let step = (x1 - x0) / letters as f32;
            let mut x = x0;
            x1 += apart;
            for (n, c) in shown.chars().enumerate() {
                let c = if c.is_whitespace() { ' ' } else { c };
                let end = if n + 1 == letters { x1 } else { x + step };
                if !c.is_control() {
                    target.push(Glyph { c, x0: x, x1: end, y, size, run });
                    *glyphs += 1;
                }
                x += step;
            }
        });
    }

    /// Notes a tick box of a form, whatever its own stream draws as a tick.
    pub(super) fn tick(&mut self, tick: Checkbox) {
        self.drawing.ticks.push(tick);
    }

    /// How many characters were drawn so far.
    pub(super) const fn drawn(&self) -> usize {
        self.glyphs
    }

    /// Writes text that no stream draws: its lines from the left edge, each with its baseline, in a space turned by so
    /// many quarters.
    ///
    /// # Errors
    /// `TooLarge` over a limit.
    pub(super) fn write(&mut self, quarter: usize, glyphs: Vec<Glyph>) -> Result<(), DocumentFault> {
        self.glyphs += glyphs.len();
        self.count_since(self.glyphs - glyphs.len())?;
        self.drawing.glyphs[quarter % 4].extend(glyphs);
        Ok(())
    }

    /// The number of a new text.
    pub(super) const fn next_run(&mut self) -> u32 {
        self.run = self.run.wrapping_add(1);
        self.run
    }

    fn picture(&mut self, state: &GraphicsState) {
        let of_picture = state.ctm.area();
        self.drawing.pictures += 1;
        self.drawing.picture_area = self.drawing.picture_area.max(of_picture);
        self.drawing.picture_areas += of_picture;
        let area = state.ctm.apply_to(Rect { x0: 0.0, y0: 0.0, x1: 1.0, y1: 1.0 });
        self.ground.add(state.clipped(area), None);
    }

    /// How opaque a graphics state makes what is filled.
    fn alpha(&self, name: &[u8], resources: &[&'a Dictionary]) -> Option<f32> {
        let mut states = self.resource(b"ExtGState", name, resources);
        states.find_map(|state| state.as_dict().ok()?.get_deref(b"ca", self.doc).ok()?.as_float().ok())
    }

    /// What goes by a name among resources of a kind, the nearest first.
    fn resource<'r>(
        &self,
        kind: &'r [u8],
        name: &'r [u8],
        resources: &'r [&'a Dictionary],
    ) -> impl Iterator<Item = &'a Object> + use<'a, 'r> {
        let doc = self.doc;
        resources
            .iter()
            .filter_map(move |resources| resources.get_deref(kind, doc).ok()?.as_dict().ok()?.get_deref(name, doc).ok())
    }

    fn object(
        &mut self,
        name: &[u8],
        resources: &[&'a Dictionary],
        state: &GraphicsState,
        depth: usize,
    ) -> Result<(), DocumentFault> {
        let mut objects = self.resource(b"XObject", name, resources);
        let Some(stream) = objects.find_map(|object| object.as_stream().ok()) else { return Ok(()) };
        match stream.dict.get_deref(b"Subtype", self.doc).and_then(Object::as_name) {
            Ok(b"Image") => {
                self.picture(state);
                if self.pictures.len() < MAX_PICTURES {
                    self.pictures.push((state.ctm, stream));
                }
            }
            Ok(b"Form") => self.form(stream, resources, state.ctm, depth)?,
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
        let Some(content) = self.unpacker.stream(self.doc, stream) else { return self.unpacker.check() };
        let matrix = super::matrix_in(self.doc, &stream.dict).unwrap_or(Matrix::IDENTITY);
        let own = stream.dict.get_deref(b"Resources", self.doc).and_then(Object::as_dict).ok();
        let resources: Vec<&Dictionary> = own.into_iter().chain(outer.iter().copied()).take(MAX_FORMS).collect();
        self.draw(&content, &resources, matrix.then(ctm), depth + 1)
    }

    fn font(&mut self, name: &[u8], resources: &[&'a Dictionary]) -> Option<Rc<Font>> {
        let found = self.resource(b"Font", name, resources).next()?.as_dict().ok()?;
        let place = std::ptr::from_ref(found).addr();
        if let Some(font) = self.fonts.get(&place) {
            return Some(Rc::clone(font));
        }
        if self.fonts.len() >= MAX_FONTS {
            return None;
        }
        let font = Rc::new(Font::read(self.doc, found, self.unpacker));
        self.fonts.insert(place, Rc::clone(&font));
        Some(font)
    }
}

/// Where a character goes by the direction `(a, b)` in which its text runs: the list, its beginning and its end.
fn place(
    drawing: &mut Drawing,
    sight: Visibility,
    (a, b): (f32, f32),
    from: (f32, f32),
    to: (f32, f32),
) -> (&mut Vec<Glyph>, (f32, f32), (f32, f32)) {
    let (long, short) = (a.abs().max(b.abs()), a.abs().min(b.abs()));
    if short > SLANT * long && sight == Visibility::Seen {
        let angle = b.atan2(a);
        #[expect(clippy::cast_possible_truncation, reason = "an angle has up to 180 degrees")]
        let degrees = angle.to_degrees().round() as i16;
        let (sin, cos) = angle.sin_cos();
        let turned = |(x, y): (f32, f32)| (x * cos + y * sin, y * cos - x * sin);
        let known = drawing.slanted.iter().position(|slanted| slanted.degrees.abs_diff(degrees) <= 1);
        let at = known.unwrap_or_else(|| {
            if drawing.slanted.len() < MAX_SLANTS {
                drawing.slanted.push(SlantedText { degrees, glyphs: Vec::new() });
            }
            drawing.slanted.len() - 1
        });
        return (&mut drawing.slanted[at].glyphs, turned(from), turned(to));
    }
    let quarter = match (a.abs() >= b.abs(), a >= 0.0, b >= 0.0) {
        (true, true, _) => 0,
        (false, _, true) => 1,
        (true, false, _) => 2,
        (false, _, false) => 3,
    };
    let (lists, leans) = match sight {
        Visibility::Layer => (&mut drawing.layer, &mut drawing.layer_leans),
        Visibility::Seen | Visibility::Hidden => (&mut drawing.glyphs, &mut drawing.leans),
    };
    let (right, up) = turn(a, b, quarter);
    leans[quarter].add(right, up);
    (&mut lists[quarter], turn(from.0, from.1, quarter), turn(to.0, to.1, quarter))
}

fn given_up() -> DocumentFault {
    DocumentFault::new(FaultKind::TooLarge, "reading it took too long")
}
