//! The picture of a page that is made of pictures: all that it draws, in the place and the order in which it does, as a
//! scanner saw it. Scanners turn pages, cut them into strips, and lay black letters over a coloured ground; all of that
//! is one rule here: each point of the page looks what picture lies there.

use kybern_core::document::{DocumentFault, FaultKind};
use lopdf::{Dictionary, Document};

use super::super::picture::Picture;
use super::geometry::{Matrix, Rect};
use super::interpret::PlacedPicture;
use super::pixels::{self, Grey, PixelBudget, Tools};
use super::tree;
use crate::workers::StopFlag;

/// What Tesseract reads best, and the least that is worth showing.
const BEST_DPI: f32 = 300.0;
const LEAST_DPI: f32 = 100.0;
/// Points of the picture: a legal page at the best resolution has eleven million.
const MAX_POINTS: f32 = 16_000_000.0;
/// Pixels that are unpacked and looked at, over all pictures of a page: ten of the largest, or a page of the finest.
const MAX_WORK: u64 = 400_000_000;
/// Looks for one point, each way, where a picture is finer than the page.
const MAX_FINE: u8 = 4;
/// A picture that covers less of the page does not say how fine the page is.
const TELLS: f32 = 0.05;

/// The picture of a page.
pub(super) struct Rendered {
    pub(super) picture: Picture,
    /// The area of the pictures in it, each by itself: what could not be unpacked is not in it.
    pub(super) area: f32,
}

/// The picture of a page, `None` when nothing that it draws can be unpacked.
///
/// # Errors
/// `TooLarge` when it draws more than is unpacked for one page: a part of a page would be read as if it were all of it.
/// And when nobody waits any more.
pub(super) fn page(
    doc: &Document,
    dict: &Dictionary,
    bounds: Rect,
    drawn: &[PlacedPicture<'_>],
    tools: Tools<'_>,
) -> Result<Option<Rendered>, DocumentFault> {
    within(PixelBudget::of(MAX_WORK), doc, dict, bounds, drawn, tools)
}

fn within(
    mut work: PixelBudget,
    doc: &Document,
    dict: &Dictionary,
    bounds: Rect,
    drawn: &[PlacedPicture<'_>],
    tools: Tools<'_>,
) -> Result<Option<Rendered>, DocumentFault> {
    let turns = tree::inherited(doc, dict, b"Rotate").and_then(|turn| turn.as_i64().ok()).unwrap_or(0);
    let Some(mut canvas) = Canvas::new(bounds, turns, finest(bounds, drawn)) else { return Ok(None) };
    let (mut any, mut area) = (false, 0.0);
    for (matrix, stream) in drawn {
        tools.stop.check()?;
        // One at a time: each may be as large as the limit.
        let unpacked = pixels::unpack(doc, stream, tools, &mut work)?;
        if let Some(grey) = unpacked {
            canvas.draw(&grey, *matrix, &mut work, tools.stop)?;
            any = true;
            area += matrix.area();
        }
        if work.is_over() {
            let message = "one of its pages draws more pictures than are unpacked for a page";
            return Err(DocumentFault::new(FaultKind::TooLarge, message));
        }
    }
    Ok(any.then_some(Rendered { picture: canvas.picture, area }))
}

/// How many pixels an inch of the page has where it is finest.
fn finest(bounds: Rect, drawn: &[PlacedPicture<'_>]) -> f32 {
    let page = bounds.width() * bounds.height();
    let of = |(matrix, stream): &PlacedPicture<'_>| {
        let [a, b, ..] = matrix.0;
        let width = stream.dict.get(b"Width").and_then(lopdf::Object::as_float).unwrap_or(0.0);
        (matrix.area() > TELLS * page).then(|| width / a.hypot(b).max(1.0) * 72.0)
    };
    drawn.iter().filter_map(of).fold(LEAST_DPI, f32::max).min(BEST_DPI)
}

struct Canvas {
    picture: Picture,
    /// From the page to points of the picture, which are counted from its upper left corner.
    to_picture: Matrix,
}

impl Canvas {
    fn new(bounds: Rect, turns: i64, dpi: f32) -> Option<Self> {
        let (wide, high) = (bounds.width(), bounds.height());
        let scale = f32::min(dpi / 72.0, (MAX_POINTS / (wide * high)).sqrt());
        let (w, h) = (wide * scale, high * scale);
        // Clockwise, as a viewer turns the page.
        let [matrix, size] = match turns.rem_euclid(360) {
            90 => [[0.0, scale, scale, 0.0, 0.0, 0.0], [h, w, 0.0, 0.0, 0.0, 0.0]],
            180 => [[-scale, 0.0, 0.0, scale, w, 0.0], [w, h, 0.0, 0.0, 0.0, 0.0]],
            270 => [[0.0, -scale, -scale, 0.0, h, w], [h, w, 0.0, 0.0, 0.0, 0.0]],
            _ => [[scale, 0.0, 0.0, -scale, 0.0, h], [w, h, 0.0, 0.0, 0.0, 0.0]],
        };
        let (width, height) = (pixels_of(size[0])?, pixels_of(size[1])?);
        let points = usize::try_from(u64::from(width) * u64::from(height)).ok()?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 1 and the best resolution"
        )]
        let dpi = (scale * 72.0).round().max(1.0) as u32;
        let to_corner = Matrix([1.0, 0.0, 0.0, 1.0, -bounds.x0, -bounds.y0]);
        Some(Self {
            picture: Picture { width, height, pixels: vec![255; points], dpi },
            to_picture: to_corner.then(Matrix(matrix)),
        })
    }

    /// Draws a picture where its matrix takes the unit square.
    fn draw(
        &mut self,
        grey: &Grey,
        matrix: Matrix,
        work: &mut PixelBudget,
        stop: &StopFlag,
    ) -> Result<(), DocumentFault> {
        let placed = matrix.then(self.to_picture);
        let Some(back) = placed.inverse() else { return Ok(()) };
        #[expect(clippy::cast_precision_loss, reason = "a picture has a few thousand pixels each way")]
        let (wide, high) = (grey.width as f32, grey.height as f32);
        // From a point to a pixel, whose rows are counted from the top.
        let back = back.then(Matrix([wide, 0.0, 0.0, -high, 0.0, high]));
        let around = placed.apply_to(Rect { x0: 0.0, y0: 0.0, x1: 1.0, y1: 1.0 });
        let (columns, rows) =
            (span(around.x0, around.x1, self.picture.width), span(around.y0, around.y1, self.picture.height));
        let fine = (1..MAX_FINE).find(|n| back.0[0].hypot(back.0[1]) <= f32::from(*n) + 0.2).unwrap_or(MAX_FINE);
        let looks = columns.len().saturating_mul(rows.len()).saturating_mul(usize::from(fine * fine));
        if work.pay(looks).is_none() {
            return Ok(());
        }
        let width = usize::try_from(self.picture.width).unwrap_or(0);
        for y in rows {
            stop.check()?;
            for x in columns.clone() {
                if let Some(point) = self.picture.pixels.get_mut(y * width + x) {
                    *point = look(grey, back, (x, y), fine, *point);
                }
            }
        }
        Ok(())
    }
}

/// What a point shows after a picture was laid over it: the mean of a few looks.
fn look(grey: &Grey, back: Matrix, (x, y): (usize, usize), fine: u8, before: u8) -> u8 {
    let mut sum = 0u32;
    for down in 0..fine {
        for right in 0..fine {
            let part = |n: u8| (f32::from(n) + 0.5) / f32::from(fine);
            #[expect(clippy::cast_precision_loss, reason = "a picture has a few thousand points each way")]
            let (px, py) = back.apply(x as f32 + part(right), y as f32 + part(down));
            sum += u32::from(grey.at(px, py).unwrap_or(before));
        }
    }
    u8::try_from(sum / u32::from(fine * fine)).unwrap_or(u8::MAX)
}

/// The points between two places, inside of the picture.
fn span(from: f32, to: f32, most: u32) -> std::ops::Range<usize> {
    #[expect(clippy::cast_precision_loss, reason = "a picture has a few thousand points each way")]
    let most = most as f32;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the size of the picture"
    )]
    let of = |at: f32| at.clamp(0.0, most) as usize;
    of(from.floor())..of(to.ceil())
}

fn pixels_of(size: f32) -> Option<u32> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and under the limit")]
    let pixels = |size: f32| size.round().max(1.0) as u32;
    (size.is_finite() && size < MAX_POINTS).then(|| pixels(size))
}

#[cfg(test)]
mod tests {
    use lopdf::{Stream, dictionary};

    use super::*;
    use crate::documents::process::ServerAids;
    use crate::workers::StopFlag;

    /// Two pixels wide, one high: black, white.
    fn grey() -> Grey {
        Grey { width: 2, height: 1, pixels: vec![0, 255], mask: false }
    }

    fn drawn(turns: i64, matrix: [f32; 6]) -> Vec<u8> {
        let bounds = Rect { x0: 0.0, y0: 0.0, x1: 4.0, y1: 2.0 };
        let mut canvas = Canvas::new(bounds, turns, 72.0).unwrap();
        let mut work = PixelBudget::of(MAX_WORK);
        canvas.draw(&grey(), Matrix(matrix), &mut work, &StopFlag::default()).unwrap();
        canvas.picture.pixels
    }

    #[test]
    fn a_picture_is_drawn_where_the_page_puts_it() {
        assert_eq!(drawn(0, [4.0, 0.0, 0.0, 2.0, 0.0, 0.0]), [0, 0, 255, 255, 0, 0, 255, 255]);
        // Only the lower half.
        assert_eq!(drawn(0, [4.0, 0.0, 0.0, 1.0, 0.0, 0.0]), [255, 255, 255, 255, 0, 0, 255, 255]);
    }

    #[test]
    fn a_page_is_turned_as_a_viewer_turns_it() {
        let whole = [4.0, 0.0, 0.0, 2.0, 0.0, 0.0];
        assert_eq!(drawn(180, whole), [255, 255, 0, 0, 255, 255, 0, 0]);
        assert_eq!(drawn(90, whole), [0, 0, 0, 0, 255, 255, 255, 255]);
        assert_eq!(drawn(270, whole), [255, 255, 255, 255, 0, 0, 0, 0]);
    }

    #[test]
    fn of_a_mask_only_what_is_painted_covers() {
        let bounds = Rect { x0: 0.0, y0: 0.0, x1: 2.0, y1: 1.0 };
        let mut canvas = Canvas::new(bounds, 0, 72.0).unwrap();
        canvas.picture.pixels = vec![200, 200];
        let mask = Grey { mask: true, ..grey() };
        let mut work = PixelBudget::of(MAX_WORK);
        canvas.draw(&mask, Matrix([2.0, 0.0, 0.0, 1.0, 0.0, 0.0]), &mut work, &StopFlag::default()).unwrap();
        assert_eq!(canvas.picture.pixels, [0, 200]);
    }

    #[test]
    fn what_is_finer_than_the_page_is_evened_out() {
        let bounds = Rect { x0: 0.0, y0: 0.0, x1: 1.0, y1: 1.0 };
        let mut canvas = Canvas::new(bounds, 0, 72.0).unwrap();
        let mut work = PixelBudget::of(MAX_WORK);
        canvas.draw(&grey(), Matrix::IDENTITY, &mut work, &StopFlag::default()).unwrap();
        assert_eq!(canvas.picture.pixels, [127]);
    }

    /// A page that draws a picture of ten pixels so often, with the work that is left for it.
    fn drawn_often(times: usize, work: u64) -> Result<Option<Rendered>, DocumentFault> {
        let picture = Stream::new(dictionary! { "Width" => 10, "Height" => 1, "BitsPerComponent" => 8 }, vec![0; 10]);
        let drawn = vec![(Matrix([10.0, 0.0, 0.0, 1.0, 0.0, 0.0]), &picture); times];
        let bounds = Rect { x0: 0.0, y0: 0.0, x1: 10.0, y1: 1.0 };
        let tools = Tools { aids: &ServerAids::default(), stop: &StopFlag::default() };
        within(PixelBudget::of(work), &Document::new(), &Dictionary::new(), bounds, &drawn, tools)
    }

    #[test]
    fn a_page_that_draws_too_much_is_too_large_rather_than_half_a_page() {
        // Ten pixels, ten bytes that they are unpacked from, and a look at each of some thirty points.
        assert!(drawn_often(1, 60).unwrap().is_some());
        for (times, work) in [(3, 60), (1, 5), (1, 25)] {
            let fault = drawn_often(times, work).map(|_| ()).unwrap_err();
            assert_eq!(fault.kind, FaultKind::TooLarge, "{times} times with {work}");
        }
    }
}
