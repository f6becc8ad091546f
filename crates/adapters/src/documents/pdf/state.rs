//! The graphics state as far as text needs it, and whether a person sees what is drawn with it.

use std::rc::Rc;

use super::font::Font;
use super::geometry::{Matrix, Rect};
use super::tokens::{Operand, Tokens};

/// A colour; `None` when it is a pattern or its space is not known.
pub(super) type Colour = Option<[u8; 3]>;

const BLACK: Colour = Some([0; 3]);
const WHITE: Colour = Some([255; 3]);
/// An area that every page lies in, and one that holds nothing.
const EVERYWHERE: Rect = Rect { x0: f32::MIN, y0: f32::MIN, x1: f32::MAX, y1: f32::MAX };
const NOWHERE: Rect = Rect { x0: 1.0, y0: 1.0, x1: -1.0, y1: -1.0 };
/// Colours that differ by no more than this in every part look the same.
const SAME: u8 = 6;
/// Text under this size is a trick, not print.
const SMALLEST: f32 = 0.9;
/// Areas of one page that are kept.
const MAX_AREAS: usize = 20_000;
/// Comparisons of texts with the areas under them on one page.
const MAX_WORK: usize = 4_000_000;

/// How characters are drawn from now on.
#[derive(Clone)]
pub(super) struct GraphicsState {
    pub(super) ctm: Matrix,
    pub(super) font: Option<Rc<Font>>,
    pub(super) size: f32,
    pub(super) char_space: f32,
    pub(super) word_space: f32,
    pub(super) scale: f32,
    pub(super) leading: f32,
    pub(super) rise: f32,
    pub(super) fill: Colour,
    /// Whether the colour space in which `scn` counts is one whose numbers are known to be light.
    plain_space: bool,
    mode: u8,
    /// Whether what is filled is fully transparent.
    pub(super) transparent: bool,
    /// The rectangle around what is not clipped away.
    clip: Rect,
}

/// How a person sees a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Visibility {
    Seen,
    /// Drawn without ink, as the text layer of a scan is.
    Layer,
    /// Not at all.
    Hidden,
}

impl GraphicsState {
    pub(super) fn new(ctm: Matrix) -> Self {
        Self {
            ctm,
            font: None,
            size: 1.0,
            char_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
            fill: BLACK,
            plain_space: true,
            mode: 0,
            transparent: false,
            clip: EVERYWHERE,
        }
    }

    /// Clips what follows to a path that lies in this rectangle.
    pub(super) fn clip_to(&mut self, around: Rect) {
        self.clip = self.clip.common(&around).unwrap_or(NOWHERE);
    }

    /// The part of an area that is not clipped away.
    pub(super) fn clipped(&self, area: Rect) -> Rect {
        self.clip.common(&area).unwrap_or(NOWHERE)
    }

    /// All that is not clipped away.
    pub(super) const fn unclipped(&self) -> Rect {
        self.clip
    }

    /// Carries out an operator that sets one value; `false` when it is none of those.
    pub(super) fn set(&mut self, operator: &[u8], tokens: &Tokens<'_>) -> bool {
        let number = |usual: f32| tokens.number(0).unwrap_or(usual);
        match operator {
            b"Tc" => self.char_space = number(0.0),
            b"Tw" => self.word_space = number(0.0),
            b"Tz" => self.scale = number(100.0) / 100.0,
            b"TL" => self.leading = number(0.0),
            b"Ts" => self.rise = number(0.0),
            b"Tr" => self.mode = (0..8).find(|mode| (number(0.0) - f32::from(*mode)).abs() < 0.5).unwrap_or(0),
            b"g" | b"rg" | b"k" => {
                self.plain_space = true;
                self.fill = colour(&tokens.operands);
            }
            b"cs" => {
                // A space that is a resource, such as ICC profiles, counts as the colours do elsewhere; only those of
                // inks and palettes do not, and they have one number.
                self.plain_space = matches!(
                    tokens.operands.last(),
                    Some(Operand::Name(name)) if matches!(name.as_slice(), b"DeviceGray" | b"DeviceRGB" | b"DeviceCMYK")
                );
                self.fill = BLACK;
            }
            b"sc" | b"scn" => {
                let known = self.plain_space || tokens.operands.len() > 1;
                self.fill = if known { colour(&tokens.operands) } else { None };
            }
            _ => return false,
        }
        true
    }

    /// How a person sees a character of this size that begins here.
    pub(super) fn sight(&self, size: f32, at: (f32, f32), ground: &mut Background) -> Visibility {
        if size < SMALLEST || (self.transparent && matches!(self.mode, 0 | 4)) {
            return Visibility::Hidden;
        }
        match self.mode {
            3 => Visibility::Layer,
            0 | 4 if self.fill.is_some() && ground.hides(self.fill, at) => Visibility::Hidden,
            _ => Visibility::Seen,
        }
    }
}

/// The colour that these operands name: of gray, of red, green and blue, or of four inks.
fn colour(operands: &[Operand]) -> Colour {
    let mut parts = [0.0f32; 4];
    if operands.is_empty() || operands.len() > parts.len() {
        return None;
    }
    for (part, operand) in parts.iter_mut().zip(operands) {
        let Operand::Number(number) = operand else { return None };
        *part = number.clamp(0.0, 1.0);
    }
    let [a, b, c, d] = parts;
    let light = match operands.len() {
        1 => [a, a, a],
        3 => [a, b, c],
        4 => [(1.0 - a) * (1.0 - d), (1.0 - b) * (1.0 - d), (1.0 - c) * (1.0 - d)],
        _ => return None,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number is from 0 to 255")]
    let byte = |part: f32| (part * 255.0).round() as u8;
    Some(light.map(byte))
}

/// What lies under the text: filled areas and pictures in the order in which they were drawn, on white paper.
#[derive(Debug, Default)]
pub(super) struct Background {
    areas: Vec<(Rect, Colour)>,
    work: usize,
}

impl Background {
    /// An area that was filled; a picture has no colour.
    pub(super) fn add(&mut self, area: Rect, colour: Colour) {
        if self.areas.len() < MAX_AREAS {
            self.areas.push((area, colour));
        } else {
            // The page is a drawing; nothing is known of what lies under its texts.
            self.work = usize::MAX;
        }
    }

    /// Whether text of this colour cannot be told from what lies under it.
    fn hides(&mut self, text: Colour, (x, y): (f32, f32)) -> bool {
        if !is_same(text, WHITE) && self.areas.is_empty() {
            return false;
        }
        self.work = self.work.saturating_add(self.areas.len());
        if self.work > MAX_WORK {
            return false;
        }
        let under = self.areas.iter().rev().find(|(area, _)| area.contains(x, y));
        is_same(text, under.map_or(WHITE, |(_, colour)| *colour))
    }
}

fn is_same(one: Colour, other: Colour) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    one.iter().zip(other).all(|(one, other)| one.abs_diff(other) <= SAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &[u8]) -> GraphicsState {
        let mut state = GraphicsState::new(Matrix::IDENTITY);
        let mut tokens = Tokens::new(text);
        while let Some(operator) = tokens.next_operator() {
            state.set(operator, &tokens);
        }
        state
    }

    #[test]
    fn white_text_is_seen_on_a_dark_ground_only() {
        let mut ground = Background::default();
        for white in [&b"1 g"[..], b"1 1 1 rg", b"0 0 0 0 k", b"/DeviceRGB cs 1 1 1 scn", b"/Cs8 cs 1 1 1 sc"] {
            assert_eq!(set(white).sight(9.0, (5.0, 5.0), &mut ground), Visibility::Hidden, "{white:?}");
        }
        ground.add(Rect { x0: 0.0, y0: 0.0, x1: 10.0, y1: 10.0 }, Some([0, 0, 90]));
        assert_eq!(set(b"1 g").sight(9.0, (5.0, 5.0), &mut ground), Visibility::Seen);
        assert_eq!(set(b"0 0 .35 rg").sight(9.0, (5.0, 5.0), &mut ground), Visibility::Hidden);
    }

    #[test]
    fn a_tint_of_an_unknown_ink_is_seen() {
        let mut ground = Background::default();
        assert_eq!(set(b"/Cs8 cs 1 scn").sight(9.0, (5.0, 5.0), &mut ground), Visibility::Seen);
        assert_eq!(set(b"/Pattern cs /P1 scn").sight(9.0, (5.0, 5.0), &mut ground), Visibility::Seen);
    }

    #[test]
    fn text_without_ink_or_size_is_not_seen() {
        let mut ground = Background::default();
        assert_eq!(set(b"3 Tr").sight(9.0, (5.0, 5.0), &mut ground), Visibility::Layer);
        assert_eq!(set(b"0 Tr").sight(0.1, (5.0, 5.0), &mut ground), Visibility::Hidden);
    }
}
