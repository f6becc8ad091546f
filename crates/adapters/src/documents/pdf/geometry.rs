//! Points, matrices, and what a page draws, in units of 1/72 inch from its lower left corner.

use super::lean::SlantCounts;

/// A transformation `[a b c d e f]` as PDF writes it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Matrix(pub(super) [f32; 6]);

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// The area of the unit square where it takes it.
    pub(super) fn area(self) -> f32 {
        let [a, b, c, d, ..] = self.0;
        (a * d - b * c).abs()
    }

    /// First this one, then `next`.
    pub(super) fn then(self, next: Self) -> Self {
        let ([a, b, c, d, e, f], [na, nb, nc, nd, ne, nf]) = (self.0, next.0);
        Self([
            a * na + b * nc,
            a * nb + b * nd,
            c * na + d * nc,
            c * nb + d * nd,
            e * na + f * nc + ne,
            e * nb + f * nd + nf,
        ])
    }

    /// What undoes this one; `None` when nothing does.
    pub(super) fn inverse(self) -> Option<Self> {
        let [a, b, c, d, e, f] = self.0;
        let area = a * d - b * c;
        (area.is_finite() && area.abs() > 1e-9)
            .then(|| Self([d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area]))
    }

    /// Where a point goes.
    pub(super) fn apply(self, x: f32, y: f32) -> (f32, f32) {
        let [a, b, c, d, e, f] = self.0;
        (a * x + c * y + e, b * x + d * y + f)
    }

    /// The rectangle around a transformed rectangle.
    pub(super) fn apply_to(self, rect: Rect) -> Rect {
        let corners = [(rect.x0, rect.y0), (rect.x1, rect.y0), (rect.x0, rect.y1), (rect.x1, rect.y1)];
        let mut around = Rect { x0: f32::MAX, y0: f32::MAX, x1: f32::MIN, y1: f32::MIN };
        for (x, y) in corners.map(|(x, y)| self.apply(x, y)) {
            around = Rect { x0: around.x0.min(x), y0: around.y0.min(y), x1: around.x1.max(x), y1: around.y1.max(y) };
        }
        around
    }
}

/// A rectangle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in super::super) struct Rect {
    pub(in super::super) x0: f32,
    pub(in super::super) y0: f32,
    pub(in super::super) x1: f32,
    pub(in super::super) y1: f32,
}

impl Rect {
    pub(super) fn width(&self) -> f32 {
        self.x1 - self.x0
    }

    pub(super) fn height(&self) -> f32 {
        self.y1 - self.y0
    }

    pub(super) fn contains(&self, x: f32, y: f32) -> bool {
        self.x0 <= x && x <= self.x1 && self.y0 <= y && y <= self.y1
    }

    /// Whether they have a point in common.
    pub(super) fn touches(&self, other: &Self) -> bool {
        self.x0 <= other.x1 && other.x0 <= self.x1 && self.y0 <= other.y1 && other.y0 <= self.y1
    }

    /// What both have in common.
    pub(super) fn common(&self, other: &Self) -> Option<Self> {
        self.touches(other).then(|| Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        })
    }

    /// Turned by quarter turns, so that text which runs in this direction runs to the right.
    pub(super) fn turned(self, quarter: usize) -> Self {
        let (ax, ay) = turn(self.x0, self.y0, quarter);
        let (bx, by) = turn(self.x1, self.y1, quarter);
        Self { x0: ax.min(bx), y0: ay.min(by), x1: ax.max(bx), y1: ay.max(by) }
    }
}

/// Turns a point so that text of this quarter (0 right, 1 up, 2 left, 3 down) runs to the right.
pub(super) fn turn(x: f32, y: f32, quarter: usize) -> (f32, f32) {
    match quarter {
        1 => (y, -x),
        2 => (-x, -y),
        3 => (-y, x),
        _ => (x, y),
    }
}

/// Text operators from this number on stand for tick boxes, whose label follows at a distance.
pub(super) const FIRST_TICK: u32 = u32::MAX - 10_000;

/// One character where it is drawn, its text running to the right.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in super::super) struct Glyph {
    /// The character; `' '` is kept, because it tells words from letters that are spaced out.
    pub(in super::super) c: char,
    pub(in super::super) x0: f32,
    pub(in super::super) x1: f32,
    /// The baseline.
    pub(in super::super) y: f32,
    /// The size of the font as drawn.
    pub(in super::super) size: f32,
    /// Which text operator drew it.
    pub(in super::super) run: u32,
}

/// Straight lines of a page.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Rules {
    /// Level ones: x from, x to, y.
    pub(super) level: Vec<(f32, f32, f32)>,
    /// Upright ones: x, y from, y to.
    pub(super) upright: Vec<(f32, f32, f32)>,
}

impl Rules {
    /// Adds a line, if it is long enough and level or upright.
    pub(super) fn add(&mut self, (x0, y0): (f32, f32), (x1, y1): (f32, f32)) {
        if (y0 - y1).abs() < 0.5 && (x0 - x1).abs() > 8.0 {
            self.level.push((x0.min(x1), x0.max(x1), y0));
        } else if (x0 - x1).abs() < 0.5 && (y0 - y1).abs() > 5.0 {
            self.upright.push((x0, y0.min(y1), y0.max(y1)));
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.level.len() + self.upright.len()
    }

    /// Turned as the text of this quarter is.
    pub(super) fn turned(&self, quarter: usize) -> Self {
        let mut turned = Self::default();
        for (x0, x1, y) in &self.level {
            turned.add(turn(*x0, *y, quarter), turn(*x1, *y, quarter));
        }
        for (x, y0, y1) in &self.upright {
            turned.add(turn(*x, *y0, quarter), turn(*x, *y1, quarter));
        }
        turned
    }
}

/// Text that runs in no direction of the page, turned so that it runs to the right.
#[derive(Debug)]
pub(super) struct SlantedText {
    /// The direction in degrees, rounded.
    pub(super) degrees: i16,
    pub(super) glyphs: Vec<Glyph>,
}

/// A tick box: of a form, which knows its state, or drawn as a square.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Checkbox {
    pub(super) rect: Rect,
    pub(super) ticked: bool,
}

/// What a page draws.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// Characters by direction: to the right, up, to the left, down.
    pub(super) glyphs: [Vec<Glyph>; 4],
    /// The same without ink, as over a scan.
    pub(super) layer: [Vec<Glyph>; 4],
    /// How far those lean that run to the right, and so on, without ink and with it.
    pub(super) leans: [SlantCounts; 4],
    pub(super) layer_leans: [SlantCounts; 4],
    /// Characters that run in another direction.
    pub(super) slanted: Vec<SlantedText>,
    /// The tick boxes of a form.
    pub(super) ticks: Vec<Checkbox>,
    /// Where short slanting strokes and small spots are: what may be the tick in a box.
    pub(super) marks: Vec<Rect>,
    /// Characters that no font explains.
    pub(super) unknown: usize,
    /// Outlined rectangles.
    pub(super) boxes: Vec<Rect>,
    /// Straight lines.
    pub(super) rules: Rules,
    pub(super) pictures: usize,
    /// The area of the largest one.
    pub(super) picture_area: f32,
    pub(super) picture_areas: f32,
}

impl Drawing {
    /// Characters that can be seen.
    pub(super) fn visible(&self) -> usize {
        let slanted = self.slanted.iter().flat_map(|slanted| &slanted.glyphs);
        self.glyphs.iter().flatten().chain(slanted).filter(|glyph| !glyph.c.is_whitespace()).count()
    }

    /// Takes the text without ink for the page's text.
    pub(super) fn use_layer(&mut self) {
        for (glyphs, layer) in self.glyphs.iter_mut().zip(&mut self.layer) {
            glyphs.append(layer);
        }
        for (leans, layer) in self.leans.iter_mut().zip(&mut self.layer_leans) {
            leans.append(layer);
        }
    }

    /// Leaves out what lies outside of this part of the page.
    pub(super) fn crop(&mut self, to: Rect) {
        for (quarter, glyphs) in self.glyphs.iter_mut().chain(&mut self.layer).enumerate() {
            let to = to.turned(quarter % 4);
            glyphs.retain(|glyph| to.contains((glyph.x0 + glyph.x1) / 2.0, glyph.y + glyph.size * 0.3));
        }
        self.boxes.retain(|rect| rect.touches(&to));
        self.ticks.retain(|tick| tick.rect.touches(&to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_apply_in_order() {
        let moved = Matrix([1.0, 0.0, 0.0, 1.0, 10.0, 0.0]);
        let doubled = Matrix([2.0, 0.0, 0.0, 2.0, 0.0, 0.0]);
        assert_eq!(moved.then(doubled).apply(1.0, 1.0), (22.0, 2.0));
        assert_eq!(doubled.then(moved).apply(1.0, 1.0), (12.0, 2.0));
    }

    #[test]
    fn an_inverse_leads_back() {
        let matrix = Matrix([0.0, 2.0, -3.0, 0.5, 10.0, 20.0]);
        let (x, y) = matrix.apply(4.0, 5.0);
        let (x, y) = matrix.inverse().unwrap().apply(x, y);
        assert!((x - 4.0).abs() < 1e-4 && (y - 5.0).abs() < 1e-4);
        assert_eq!(Matrix([0.0; 6]).inverse(), None);
    }

    #[test]
    fn turned_text_runs_to_the_right() {
        let (below, above) = (turn(0.0, 0.0, 1), turn(0.0, 10.0, 1));
        assert!(above.0 > below.0);
        let (right, left) = (turn(10.0, 0.0, 2), turn(0.0, 0.0, 2));
        assert!(left.0 > right.0);
    }
}
