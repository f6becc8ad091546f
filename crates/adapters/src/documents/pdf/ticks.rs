//! Tick boxes: `[X]` and `[ ]` at their place, because they say nothing as text otherwise.

use super::geometry::{Checkbox, FIRST_TICK, Glyph, Rect};

/// Side length of a tick box.
const SIDE: std::ops::RangeInclusive<f32> = 5.0..=15.0;
/// Tick boxes that are looked at.
const MAX_TICKS: usize = 500;
/// Marks of a page that are looked at.
const MAX_MARKS: usize = 4_000;

/// Writes the tick boxes of a form, the squares that are drawn as such, and the characters that show one.
pub(super) fn tick_boxes(glyphs: &mut Vec<Glyph>, ticks: &[Checkbox], boxes: &[Rect], marks: &[Rect]) {
    let mut done: Vec<Rect> = Vec::new();
    let mut written: Vec<Glyph> = Vec::new();
    for tick in ticks.iter().take(MAX_TICKS) {
        take_marks(glyphs, &tick.rect);
        write(&mut written, &tick.rect, tick.ticked);
        done.push(tick.rect);
    }
    let marks = &marks[..marks.len().min(MAX_MARKS)];
    let is_tick = |rect: &&Rect| {
        SIDE.contains(&rect.width()) && SIDE.contains(&rect.height()) && (rect.width() - rect.height()).abs() < 1.5
    };
    for rect in boxes.iter().filter(is_tick).take(MAX_TICKS) {
        if done.iter().any(|other| (other.x0 - rect.x0).abs() < 4.0 && (other.y0 - rect.y0).abs() < 4.0) {
            continue;
        }
        done.push(*rect);
        let found: Vec<usize> =
            (0..glyphs.len()).filter(|at| is_inside(rect, &glyphs[*at]) && glyphs[*at].c != ' ').collect();
        let crossed = marks.iter().any(|mark| is_mark_of(rect, mark));
        let ticked = match found.as_slice() {
            [] => crossed,
            [at] if is_mark(glyphs[*at].c) => {
                glyphs.swap_remove(*at);
                true
            }
            _ => continue,
        };
        write(&mut written, rect, ticked);
    }
    as_characters(glyphs, &mut written);
    glyphs.append(&mut written);
}

/// Characters that show a tick box, as word processors print them.
fn as_characters(glyphs: &mut Vec<Glyph>, written: &mut Vec<Glyph>) {
    let mut left = MAX_TICKS;
    glyphs.retain(|glyph| {
        let ticked = match glyph.c {
            '☐' | '❏' | '❑' | '❒' | '□' => false,
            '☑' | '☒' => true,
            _ => return true,
        };
        if left == 0 {
            return true;
        }
        left -= 1;
        let rect = Rect { x0: glyph.x0, y0: glyph.y - glyph.size * 0.1, x1: glyph.x1, y1: glyph.y + glyph.size * 0.8 };
        write(written, &rect, ticked);
        false
    });
}

/// Removes what a tick is drawn with as text.
fn take_marks(glyphs: &mut Vec<Glyph>, rect: &Rect) {
    if glyphs.iter().filter(|glyph| is_inside(rect, glyph) && glyph.c != ' ').count() == 1 {
        glyphs.retain(|glyph| !(is_inside(rect, glyph) && is_mark(glyph.c)));
    }
}

fn write(glyphs: &mut Vec<Glyph>, rect: &Rect, ticked: bool) {
    // An unbreakable blank: a common one would count as a space between words.
    let mark = if ticked { 'X' } else { '\u{2007}' };
    let run = FIRST_TICK + u32::try_from(glyphs.len() / 3).unwrap_or(0);
    let y = rect.y0 + rect.height() * 0.15;
    let third = rect.width() / 3.0;
    for (c, at) in ['[', mark, ']'].into_iter().zip([0.0, 1.0, 2.0]) {
        let x0 = rect.x0 + at * third;
        glyphs.push(Glyph { c, x0, x1: x0 + third, y, size: rect.height(), run });
    }
}

fn is_inside(rect: &Rect, glyph: &Glyph) -> bool {
    rect.contains((glyph.x0 + glyph.x1) / 2.0, glyph.y + glyph.size * 0.3)
}

/// Whether a stroke or a spot lies in the box and is not its outline.
fn is_mark_of(rect: &Rect, mark: &Rect) -> bool {
    rect.contains((mark.x0 + mark.x1) / 2.0, (mark.y0 + mark.y1) / 2.0)
        && mark.width() >= rect.width() * 0.25
        && mark.width() <= rect.width() * 1.5
        && mark.height() <= rect.height() * 1.6
}

fn is_mark(c: char) -> bool {
    matches!(c, 'X' | 'x' | '✓' | '✔' | '✗' | '✘' | '✖' | '■' | '●' | '•' | '×' | '◆')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_ticked_by_a_stroke_or_a_spot_in_it() {
        let square = Rect { x0: 48.0, y0: 526.0, x1: 54.0, y1: 532.0 };
        let mark = |marks: &[Rect]| {
            let mut glyphs = Vec::new();
            tick_boxes(&mut glyphs, &[], &[square], marks);
            glyphs.iter().map(|glyph| glyph.c).collect::<String>()
        };
        assert_eq!(mark(&[]), "[\u{2007}]");
        assert_eq!(mark(&[Rect { x0: 49.0, y0: 527.0, x1: 53.0, y1: 531.0 }]), "[X]");
        assert_eq!(mark(&[Rect { x0: 69.0, y0: 527.0, x1: 73.0, y1: 531.0 }]), "[\u{2007}]");
    }

    #[test]
    fn the_state_of_a_field_counts_more_than_what_is_drawn() {
        let rect = Rect { x0: 48.0, y0: 526.0, x1: 54.0, y1: 532.0 };
        let mut glyphs = vec![Glyph { c: '✔', x0: 49.0, x1: 53.0, y: 527.0, size: 6.0, run: 1 }];
        tick_boxes(&mut glyphs, &[Checkbox { rect, ticked: false }], &[rect], &[]);
        assert_eq!(glyphs.iter().map(|glyph| glyph.c).collect::<String>(), "[\u{2007}]");
    }
}
