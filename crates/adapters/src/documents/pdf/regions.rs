//! The order in which a person reads a page: boxes of a form one by one, columns one after the other, tables row
//! by row.

use super::boxes::{LineGroup, groups};
use super::columns::columns;
use super::geometry::{Checkbox, Drawing, Glyph, Rect, Rules};
use super::lines::{Line, join_rows, lines};
use super::ticks::tick_boxes;

/// What begins at heights closer than this is read from the left.
const SAME_HEIGHT: f32 = 3.0;
/// A label and the value in the box beside it may stand this far from level, in font sizes.
const LEVEL: f32 = 0.55;

/// What stands around the text.
#[derive(Debug, Default)]
pub(super) struct PageShapes {
    boxes: Vec<Rect>,
    ticks: Vec<Checkbox>,
    marks: Vec<Rect>,
    rules: Rules,
}

impl PageShapes {
    /// What a page draws around the text of this quarter, turned as the text is.
    pub(super) fn turned(drawing: &Drawing, quarter: usize) -> Self {
        let turned = |rects: &[Rect]| rects.iter().map(|rect| rect.turned(quarter)).collect();
        Self {
            boxes: turned(&drawing.boxes),
            ticks: drawing.ticks.iter().map(|tick| Checkbox { rect: tick.rect.turned(quarter), ..*tick }).collect(),
            marks: turned(&drawing.marks),
            rules: drawing.rules.turned(quarter),
        }
    }
}

/// The lines of a page in reading order.
pub(super) fn read_in_order(glyphs: &[Glyph], around: &PageShapes) -> Vec<Line> {
    let mut glyphs = glyphs.to_vec();
    let rules = &around.rules;
    tick_boxes(&mut glyphs, &around.ticks, &around.boxes, &around.marks);
    let (mut page, loose) = groups(&glyphs, &around.boxes, rules);
    page.extend(lines(&loose).into_iter().map(LineGroup::loose));
    beside_labels(&mut page);
    page.sort_by(|a, b| b.top.total_cmp(&a.top));
    let mut from = 0;
    while from < page.len() {
        let top = page[from].top;
        let to = page[from..].iter().position(|group| top - group.top > SAME_HEIGHT).map_or(page.len(), |n| from + n);
        page[from..to].sort_by(|a, b| a.span.0.total_cmp(&b.span.0));
        from = to;
    }
    join_rows(number(columns(page, rules, 0)))
}

/// Puts the value of a box into the line of the label that stands beside the box, so that they are read together.
fn beside_labels(page: &mut Vec<LineGroup>) {
    let (mut boxed, mut loose): (Vec<LineGroup>, Vec<LineGroup>) =
        std::mem::take(page).into_iter().partition(|group| !group.edges.is_empty());
    boxed.sort_by(|a, b| a.span.0.total_cmp(&b.span.0));
    loose.sort_by(|a, b| b.lines[0].y.total_cmp(&a.lines[0].y));
    for mut group in boxed {
        let label = (group.edges.len() == 1).then(|| label_of(&group, &loose)).flatten();
        let Some(at) = label else {
            page.push(group);
            continue;
        };
        let line = &mut loose[at].lines[0];
        let value = group.lines.remove(0);
        line.size = line.size.max(value.size);
        line.cells.extend(value.cells);
        line.cells.sort_by(|a, b| a.x0.total_cmp(&b.x0));
        let span = (line.x0(), line.x1());
        loose[at].span = span;
        page.extend(group.lines.into_iter().map(LineGroup::loose));
    }
    page.append(&mut loose);
}

/// The line that stands at the left of a box at the height of its first line; at either side for a box of one line.
fn label_of(group: &LineGroup, loose: &[LineGroup]) -> Option<usize> {
    let value = group.lines.first()?;
    let reach = |line: &Line| LEVEL * line.size.max(value.size);
    let from = loose.partition_point(|other| other.lines[0].y > value.y + LEVEL * value.size * 2.0);
    let near = loose
        .iter()
        .enumerate()
        .skip(from)
        .take_while(|(_, other)| other.lines[0].y >= value.y - LEVEL * value.size * 2.0);
    near.filter(|(_, other)| {
        let line = &other.lines[0];
        let free = line.cells.iter().all(|cell| cell.x1 <= value.x0() || cell.x0 >= value.x1());
        let at_left = line.cells.iter().any(|cell| cell.x1 <= value.x0());
        (line.y - value.y).abs() <= reach(line) && free && (at_left || group.lines.len() == 1)
    })
    .min_by(|(_, a), (_, b)| (a.lines[0].y - value.y).abs().total_cmp(&(b.lines[0].y - value.y).abs()))
    .map(|(at, _)| at)
}

/// Gives rows of boxes with the same edges that follow one another the same number: they are one table.
fn number(page: Vec<LineGroup>) -> Vec<Line> {
    let mut grid = 0;
    let mut edges: Vec<f32> = Vec::new();
    let mut read = Vec::new();
    for mut group in page {
        if group.edges != edges {
            grid += 1;
            edges = std::mem::take(&mut group.edges);
        }
        let number = if edges.is_empty() { 0 } else { grid };
        read.extend(group.lines.into_iter().map(|line| Line { grid: number, ..line }));
    }
    read
}

#[cfg(test)]
mod tests {
    use super::super::lines::tests::glyphs;
    use super::*;

    fn texts(lines: &[Line]) -> Vec<String> {
        lines
            .iter()
            .map(|line| line.cells.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("  "))
            .collect()
    }

    #[test]
    fn columns_that_do_not_line_up_are_read_one_after_the_other() {
        let mut page = Vec::new();
        for n in 0..6u8 {
            let y = 700.0 - f32::from(n) * 20.0;
            page.extend(glyphs(&format!("left{n}"), 50.0, y, 10.0, u32::from(n)));
            page.extend(glyphs(&format!("right{n}"), 300.0, y - 9.0, 10.0, u32::from(n) + 1000));
        }
        let text = texts(&read_in_order(&page, &PageShapes::default())).join(" ");
        assert_eq!(text, "left0 left1 left2 left3 left4 left5 right0 right1 right2 right3 right4 right5");
    }

    #[test]
    fn a_table_is_read_row_by_row() {
        let mut page = Vec::new();
        for n in 0..6u8 {
            let y = 700.0 - f32::from(n) * 20.0;
            page.extend(glyphs(&format!("left{n}"), 50.0, y, 10.0, u32::from(n)));
            page.extend(glyphs(&format!("right{n}"), 300.0, y, 10.0, u32::from(n) + 1000));
        }
        assert_eq!(texts(&read_in_order(&page, &PageShapes::default()))[0], "left0  right0");
    }

    #[test]
    fn a_high_box_does_not_mix_with_the_low_ones_beside_it() {
        let mut page = glyphs("AGENCY", 12.0, 190.0, 6.0, 1);
        page.extend(glyphs("Elm", 12.0, 178.0, 9.0, 2));
        page.extend(glyphs("1 Oak St", 12.0, 167.0, 9.0, 3));
        page.extend(glyphs("Reno", 12.0, 156.0, 9.0, 4));
        for (n, (x, y)) in [(110.0, 190.0), (210.0, 190.0), (110.0, 160.0)].into_iter().enumerate() {
            let run = u32::try_from(n).unwrap() * 2 + 5;
            page.extend(glyphs(&format!("LABEL{n}"), x, y, 6.0, run));
            page.extend(glyphs(&format!("value{n}"), x, y - 12.0, 9.0, run + 1));
        }
        let rect = |x0, y0, x1, y1| Rect { x0, y0, x1, y1 };
        let boxes = [
            rect(10.0, 140.0, 100.0, 200.0),
            rect(100.0, 170.0, 200.0, 200.0),
            rect(200.0, 170.0, 300.0, 200.0),
            rect(100.0, 140.0, 300.0, 170.0),
        ];
        let read = texts(&read_in_order(&page, &PageShapes { boxes: boxes.to_vec(), ..PageShapes::default() }));
        assert_eq!(read, ["AGENCY", "Elm", "1 Oak St", "Reno", "LABEL0  LABEL1", "value0  value1", "LABEL2", "value2"]);
    }

    #[test]
    fn tick_boxes_say_whether_they_are_ticked() {
        let mut page = glyphs("X", 11.0, 102.0, 9.0, 1);
        page.extend(glyphs("yes", 24.0, 102.0, 8.0, 2));
        page.extend(glyphs("no", 74.0, 102.0, 8.0, 3));
        let boxes =
            [Rect { x0: 10.0, y0: 100.0, x1: 19.0, y1: 109.0 }, Rect { x0: 60.0, y0: 100.0, x1: 69.0, y1: 109.0 }];
        assert_eq!(
            texts(&read_in_order(&page, &PageShapes { boxes: boxes.to_vec(), ..PageShapes::default() })),
            ["[X] yes  [ ] no"]
        );
    }
}
