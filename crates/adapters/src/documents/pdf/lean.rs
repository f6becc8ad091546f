//! Lines that lean a little, because a paper was laid on the glass crookedly: they are made level before characters are
//! put into lines, so that the end of one does not stand beside the next.

use std::collections::BTreeMap;

use super::geometry::{Glyph, Rect};

/// Steps of the angle that are told apart, in parts of a degree.
const STEPS: f32 = 10.0;
/// The part of the characters that must lean alike.
const MOST: f32 = 0.6;

/// How far lines lean: they rise by the sine for each cosine to the right.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in super::super) struct Lean {
    sin: f32,
    cos: f32,
}

impl Lean {
    /// Lines that rise by this much for each unit to the right.
    pub(in super::super) fn of_slope(slope: f32) -> Self {
        let (sin, cos) = slope.atan().sin_cos();
        Self { sin, cos }
    }

    /// The same characters, level: turned round the lower left corner of `bounds`.
    pub(super) fn leveled(self, glyphs: &[Glyph], bounds: Rect) -> Vec<Glyph> {
        let level = |glyph: &Glyph| {
            let (x, y) = (glyph.x0 - bounds.x0, glyph.y - bounds.y0);
            let x0 = x * self.cos + y * self.sin + bounds.x0;
            let y = y * self.cos - x * self.sin + bounds.y0;
            Glyph { x0, x1: x0 + (glyph.x1 - glyph.x0) / self.cos.max(0.5), y, ..*glyph }
        };
        glyphs.iter().map(level).collect()
    }

    /// Where a place of a level line stands on the page, both counted from that corner.
    pub(super) fn back(self, x: f32, y: f32) -> (f32, f32) {
        (x * self.cos - y * self.sin, x * self.sin + y * self.cos)
    }
}

/// How the characters of a page lean that run in about the same direction.
#[derive(Debug, Default)]
pub(super) struct SlantCounts(BTreeMap<i16, u32>);

impl SlantCounts {
    /// Counts characters that run along `(right, up)`.
    pub(super) fn add(&mut self, right: f32, up: f32) {
        #[expect(clippy::cast_possible_truncation, reason = "a few degrees")]
        let step = (up.atan2(right).to_degrees() * STEPS).round() as i16;
        *self.0.entry(step).or_default() += 1;
    }

    /// Adds those of another list.
    pub(super) fn append(&mut self, other: &mut Self) {
        for (step, count) in std::mem::take(&mut other.0) {
            *self.0.entry(step).or_default() += count;
        }
    }

    /// How most characters lean; `None` when they are level, or each leans as it likes.
    pub(super) fn usual(&self) -> Option<Lean> {
        let all: u32 = self.0.values().sum();
        // Rounding puts one angle into two neighbouring steps.
        let around = |step: i16| -> u32 { (step - 1..=step + 1).filter_map(|near| self.0.get(&near)).sum() };
        let (step, count) = self.0.keys().map(|step| (*step, around(*step))).max_by_key(|(_, count)| *count)?;
        #[expect(clippy::cast_precision_loss, reason = "a page has some thousand characters")]
        let alike = count as f32 >= MOST * all as f32;
        let level = self.0.get(&0).is_some_and(|level| 2 * level > all);
        if step == 0 || level || !alike {
            return None;
        }
        let near = (step - 1..=step + 1).filter_map(|near| Some((near, *self.0.get(&near)?)));
        #[expect(clippy::cast_precision_loss, reason = "a page has some thousand characters")]
        let mean = near.map(|(near, count)| f32::from(near) * count as f32).sum::<f32>() / count as f32;
        let (sin, cos) = (mean / STEPS).to_radians().sin_cos();
        Some(Lean { sin, cos })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leans(angles: &[(f32, u32)]) -> Option<f32> {
        let mut leans = SlantCounts::default();
        for (degrees, count) in angles {
            let (up, right) = degrees.to_radians().sin_cos();
            (0..*count).for_each(|_| leans.add(right, up));
        }
        leans.usual().map(|lean| lean.sin.asin().to_degrees())
    }

    #[test]
    fn a_page_leans_as_most_of_it_does() {
        assert!((leans(&[(1.5, 80), (0.0, 10)]).unwrap() - 1.5).abs() < 0.01);
        assert!((leans(&[(-2.04, 50), (-2.06, 50)]).unwrap() + 2.05).abs() < 0.06);
        assert_eq!(leans(&[(0.0, 100)]), None);
        assert_eq!(leans(&[(0.0, 60), (3.0, 40)]), None);
        assert_eq!(leans(&[(0.0, 40), (3.0, 35), (5.0, 35)]), None);
        assert_eq!(leans(&[]), None);
    }

    #[test]
    fn places_go_back_to_where_they_were() {
        let bounds = Rect { x0: 10.0, y0: 20.0, x1: 600.0, y1: 800.0 };
        let lean = Lean::of_slope(0.03);
        let glyph = Glyph { c: 'a', x0: 310.0, x1: 315.0, y: 520.0, size: 10.0, run: 1 };
        let level = lean.leveled(&[glyph], bounds)[0];
        assert!((level.y - (520.0 - 9.0)).abs() < 0.5, "{}", level.y);
        let (x, y) = lean.back(level.x0 - bounds.x0, level.y - bounds.y0);
        assert!((x - 300.0).abs() < 0.01 && (y - 500.0).abs() < 0.01);
    }
}
