//! Widths of the standard fonts, which a PDF may use without bringing them along.
//!
//! The numbers are those of Adobe's font metrics for U+0020 to U+007E, in thousandths of the font size. Other
//! characters get a usual width of the font: good enough to find the gaps between words and columns.

/// The widths of one standard font.
#[derive(Clone, Copy, Debug)]
pub(super) enum Metrics {
    /// Every character is as wide as the others.
    Fixed(f32),
    /// Widths of the printable ASCII characters, and of all others.
    Table(&'static [u16; 95], f32),
}

impl Metrics {
    /// The metrics for a font of this name; unknown fonts are taken for Helvetica.
    pub(super) fn for_font(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let bold = name.contains("bold") || name.contains("black") || name.contains("heavy");
        let italic = name.contains("italic") || name.contains("oblique");
        let any = |names: &[&str]| names.iter().any(|part| name.contains(part));
        if any(&["courier", "mono", "consol", "typewriter"]) {
            return Self::Fixed(600.0);
        }
        if any(&["times", "serif", "roman", "georgia", "garamond", "minion"]) && !name.contains("sans") {
            return match (bold, italic) {
                (false, false) => Self::Table(&TIMES, 500.0),
                (true, false) => Self::Table(&TIMES_BOLD, 500.0),
                (false, true) => Self::Table(&TIMES_ITALIC, 500.0),
                (true, true) => Self::Table(&TIMES_BOLD_ITALIC, 500.0),
            };
        }
        if bold { Self::Table(&HELVETICA_BOLD, 556.0) } else { Self::Table(&HELVETICA, 556.0) }
    }

    /// The width of a character in thousandths of the font size.
    pub(super) fn width(self, c: char) -> f32 {
        match self {
            Self::Fixed(width) => width,
            Self::Table(table, other) => {
                let index = (c as usize).checked_sub(0x20);
                index.and_then(|index| table.get(index)).map_or(other, |width| f32::from(*width))
            }
        }
    }
}

const HELVETICA: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

const HELVETICA_BOLD: [u16; 95] = [
    278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278, 556, 722, 611, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584, 556, 333, 556, 611, 556, 611,
    556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556, 333, 611, 556, 778, 556, 556, 500, 389,
    280, 389, 584,
];

/// Times-Roman.
const TIMES: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333, 389, 722, 611, 889,
    722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500,
    444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480,
    200, 480, 541,
];

const TIMES_BOLD: [u16; 95] = [
    250, 333, 555, 500, 500, 1000, 833, 278, 333, 333, 500, 570, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 333, 333, 570, 570, 570, 500, 930, 722, 667, 722, 722, 667, 611, 778, 778, 389, 500, 778, 667, 944,
    722, 778, 611, 778, 722, 556, 667, 722, 722, 1000, 722, 722, 667, 333, 278, 333, 581, 500, 333, 500, 556, 444, 556,
    444, 333, 500, 556, 278, 333, 556, 278, 833, 556, 500, 556, 556, 444, 389, 333, 556, 500, 722, 500, 500, 444, 394,
    220, 394, 520,
];

const TIMES_ITALIC: [u16; 95] = [
    250, 333, 420, 500, 500, 833, 778, 214, 333, 333, 500, 675, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 333, 333, 675, 675, 675, 500, 920, 611, 611, 667, 722, 611, 611, 722, 722, 333, 444, 667, 556, 833,
    667, 722, 611, 722, 611, 500, 556, 722, 611, 833, 611, 556, 556, 389, 278, 389, 422, 500, 333, 500, 500, 444, 500,
    444, 278, 500, 500, 278, 278, 444, 278, 722, 500, 500, 500, 500, 389, 389, 278, 500, 444, 667, 444, 444, 389, 400,
    275, 400, 541,
];

const TIMES_BOLD_ITALIC: [u16; 95] = [
    250, 389, 555, 500, 500, 833, 778, 278, 333, 333, 500, 570, 250, 333, 250, 278, 500, 500, 500, 500, 500, 500, 500,
    500, 500, 500, 333, 333, 570, 570, 570, 500, 832, 667, 667, 667, 722, 667, 667, 722, 778, 389, 500, 667, 611, 889,
    722, 722, 611, 722, 667, 556, 611, 722, 667, 889, 667, 611, 611, 333, 278, 333, 570, 500, 333, 500, 500, 444, 500,
    444, 333, 500, 556, 278, 278, 500, 278, 778, 556, 500, 500, 500, 389, 389, 278, 556, 444, 667, 500, 444, 389, 348,
    220, 348, 570,
];
