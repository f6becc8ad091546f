//! Paths: outlined rectangles are the boxes of forms, level and upright lines the rules of tables, small slanting
//! strokes the ticks in boxes.

use super::geometry::{Drawing, Rect};
use super::state::{Background, GraphicsState};
use super::tokens::Tokens;

/// Boxes and rules of one page; a page with more is a drawing, not a form.
const MAX_SHAPES: usize = 20_000;
/// The size of a tick in a box.
const MARK: std::ops::RangeInclusive<f32> = 1.5..=14.0;

/// The path under construction.
#[derive(Default)]
pub(super) struct Path {
    boxes: Vec<Rect>,
    lines: Vec<((f32, f32), (f32, f32))>,
    at: (f32, f32),
    /// Where the current piece began.
    start: (f32, f32),
    /// Whether it clips what follows.
    clips: bool,
}

impl Path {
    /// Carries out an operator of paths; others do nothing.
    pub(super) fn step(
        &mut self,
        operator: &[u8],
        tokens: &Tokens<'_>,
        state: &mut GraphicsState,
        drawing: &mut Drawing,
        ground: &mut Background,
    ) {
        let ctm = state.ctm;
        let point = |at: usize| Some((tokens.number(at)?, tokens.number(at + 1)?));
        match operator {
            b"re" => {
                if let (Some((x, y)), Some((w, h))) = (point(0), point(2)) {
                    self.boxes.push(ctm.apply_to(Rect { x0: x, y0: y, x1: x + w, y1: y + h }));
                }
            }
            b"m" => {
                self.at = point(0).map_or(self.at, |(x, y)| ctm.apply(x, y));
                self.start = self.at;
            }
            b"l" | b"c" | b"v" | b"y" => {
                // A curve counts as the line to its end.
                let at = match operator {
                    b"l" => 0,
                    b"c" => 4,
                    _ => 2,
                };
                if let Some((x, y)) = point(at) {
                    self.line_to(ctm.apply(x, y));
                }
            }
            b"h" => self.line_to(self.start),
            b"W" | b"W*" => self.clips = true,
            b"S" | b"s" | b"B" | b"B*" | b"b" | b"b*" | b"f" | b"F" | b"f*" | b"n" => {
                let path = std::mem::take(self);
                let clip = path.clips.then(|| path.around_all()).flatten();
                let outlined = !matches!(operator, b"f" | b"F" | b"f*" | b"n");
                let filled = !matches!(operator, b"S" | b"s" | b"n");
                if outlined || filled {
                    let even_odd = operator.ends_with(b"*");
                    path.keep(drawing, ground, outlined, filled.then_some((&*state, even_odd)));
                }
                if let Some(clip) = clip {
                    state.clip_to(clip);
                }
            }
            _ => {}
        }
        if self.boxes.len() + self.lines.len() > MAX_SHAPES {
            *self = Self::default();
        }
    }

    fn keep(
        self,
        drawing: &mut Drawing,
        ground: &mut Background,
        outlined: bool,
        filled: Option<(&GraphicsState, bool)>,
    ) {
        if drawing.boxes.len() + drawing.rules.len() + drawing.marks.len() > MAX_SHAPES {
            return;
        }
        // Where areas of one path overlap, the even-odd rule leaves holes.
        let holes = self.boxes.len() + usize::from(!self.lines.is_empty()) > 1;
        let filled = filled.filter(|(state, _)| !state.transparent);
        let filled = filled.map(|(state, even_odd)| (state, if even_odd && holes { None } else { state.fill }));
        let around = self.around();
        for rect in self.boxes {
            // A line is often drawn as a filled rectangle without width or height.
            let (low, narrow) = (rect.height() < 2.5, rect.width() < 2.5);
            match (low, narrow) {
                (true, false) => drawing.rules.add((rect.x0, rect.y0), (rect.x1, rect.y0)),
                (false, true) => drawing.rules.add((rect.x0, rect.y0), (rect.x0, rect.y1)),
                (false, false) if outlined => drawing.boxes.push(rect),
                _ => {}
            }
            if let Some((state, colour)) = filled
                && low == narrow
            {
                ground.add(state.clipped(rect), colour);
                if !outlined && colour.is_some_and(is_dark) && is_mark(&rect) {
                    drawing.marks.push(rect);
                }
            }
        }
        if let Some(around) = around {
            let slants =
                |((ax, ay), (bx, by)): &((f32, f32), (f32, f32))| (ax - bx).abs() > 0.5 && (ay - by).abs() > 0.5;
            if is_mark(&around) && self.lines.iter().any(slants) {
                drawing.marks.push(around);
            }
            if let Some((state, colour)) = filled
                && around.width() >= 2.5
                && around.height() >= 2.5
            {
                ground.add(state.clipped(around), colour);
            }
        }
        for (from, to) in self.lines {
            drawing.rules.add(from, to);
        }
    }

    fn line_to(&mut self, to: (f32, f32)) {
        self.lines.push((self.at, to));
        self.at = to;
    }

    /// The rectangle around all of it.
    fn around_all(&self) -> Option<Rect> {
        self.boxes.iter().copied().chain(self.around()).reduce(|a, b| Rect {
            x0: a.x0.min(b.x0),
            y0: a.y0.min(b.y0),
            x1: a.x1.max(b.x1),
            y1: a.y1.max(b.y1),
        })
    }

    /// The rectangle around its lines.
    fn around(&self) -> Option<Rect> {
        let points = self.lines.iter().flat_map(|(from, to)| [*from, *to]);
        points.fold(None, |around: Option<Rect>, (x, y)| {
            let around = around.unwrap_or(Rect { x0: x, y0: y, x1: x, y1: y });
            Some(Rect { x0: around.x0.min(x), y0: around.y0.min(y), x1: around.x1.max(x), y1: around.y1.max(y) })
        })
    }
}

fn is_dark(colour: [u8; 3]) -> bool {
    colour.iter().map(|part| u32::from(*part)).sum::<u32>() < 3 * 128
}

fn is_mark(rect: &Rect) -> bool {
    MARK.contains(&rect.width()) && MARK.contains(&rect.height())
}
