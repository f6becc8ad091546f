//! Web pages as text.
//!
//! One pass over the tags, without a tree: nothing recurses, memory stays near the size of the input, and the rows
//! of tables keep their cells on one line, which a renderer that draws and wraps tables does not offer.

mod elements;
mod render;
mod style;
mod tags;

use encoding_rs::{Encoding, UTF_8};
use kybern_core::document::{DocumentFault, DocumentFormat, DocumentText, FaultKind, limits};

pub(crate) use self::elements::is_void;
use self::render::Renderer;
pub(crate) use self::tags::{Attributes, HtmlToken, Tags};
use super::pages::Pages;
use super::text;
use crate::workers::StopFlag;

/// Elements that may lie in one another. Pages that people write stay under 100.
const MAX_DEPTH: usize = 2_000;
/// Where a declared encoding must stand.
const DECLARED_WITHIN: usize = 2048;

/// Reads a web page.
///
/// # Errors
/// `Broken` for binary content, `TooLarge` when its elements lie too deep, `Empty` without a word.
pub(super) fn read(bytes: &[u8], stop: &StopFlag) -> Result<DocumentText, DocumentFault> {
    let html = match declared(bytes) {
        Some(encoding) => {
            // Binary content stays binary, whatever it declares.
            text::decode(bytes)?;
            text::decode_lenient(bytes, Some(encoding.name()))
        }
        None => text::decode(bytes)?,
    };
    let mut pages = Pages::new(DocumentFormat::Html);
    let text = render(Tags::new(&html), Some(style::is_painted(&html)), stop).map_err(|_| too_deep())?;
    stop.check()?;
    pages.add("", text)?;
    pages.finish("it has nothing to read, only markup")
}

/// The text of a piece of HTML; too deep elements cut it short, and so does `stop`.
pub(crate) fn to_text(html: &str, stop: &StopFlag) -> String {
    match render(Tags::new(html), Some(style::is_painted(html)), stop) {
        Ok(text) | Err(text) => text,
    }
}

/// The same of pieces out of which somebody has taken what is hidden.
pub(crate) fn pieces_to_text(pieces: impl Iterator<Item = HtmlToken>, stop: &StopFlag) -> String {
    match render(pieces, None, stop) {
        Ok(text) | Err(text) => text,
    }
}

/// Renders, or answers what there was when the elements went too deep. `painted` says whether the page has a background
/// of its own; without it nothing is taken for hidden.
fn render(pieces: impl Iterator<Item = HtmlToken>, painted: Option<bool>, stop: &StopFlag) -> Result<String, String> {
    let mut renderer = Renderer::new(painted);
    for piece in pieces {
        match piece {
            HtmlToken::Text(text) => renderer.text(&text),
            HtmlToken::Open { name, attributes } => renderer.open(&name, &attributes),
            HtmlToken::Close { name } => renderer.close(&name),
            HtmlToken::Sheet(_) => {}
        }
        if renderer.depth() > MAX_DEPTH {
            return Err(renderer.finish());
        }
        // What is over the limit is refused below; there is no use in more of it.
        if renderer.written() > limits::MAX_TEXT || stop.is_set() {
            break;
        }
    }
    Ok(renderer.finish())
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    if Encoding::for_bom(bytes).is_some() {
        return None;
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    let value = head.split_once("charset=")?.1.trim_start_matches(['"', '\'', ' ']);
    let end = value.find(['"', '\'', ' ', ';', '>', '/']).unwrap_or(value.len());
    Encoding::for_label(&value.as_bytes()[..end]).filter(|encoding| *encoding != UTF_8)
}

fn too_deep() -> DocumentFault {
    DocumentFault::new(FaultKind::TooLarge, format!("its elements lie more than {MAX_DEPTH} deep in one another"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_text(html: &str) -> String {
        super::to_text(html, &StopFlag::default())
    }

    fn read(bytes: &[u8]) -> Result<DocumentText, DocumentFault> {
        super::read(bytes, &StopFlag::default())
    }

    #[test]
    fn rows_keep_their_cells_on_one_line() {
        let text = to_text("<table><tr><th>Name<th>VIN</tr><tr><td>A &amp; B</td><td><p>123</p></td></tr></table>");
        assert_eq!(text, "Name\tVIN\nA & B\t123");
    }

    #[test]
    fn a_cell_of_several_lines_stays_in_its_row() {
        let text = to_text("<table><tr><td>Address</td><td>1 Elm St<br>Reno, NV</td></tr></table>");
        assert_eq!(text, "Address\t1 Elm St, Reno, NV");
    }

    #[test]
    fn tables_for_layout_come_out_line_by_line() {
        let html = "<table><tr><td><h1>Hello</h1><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>";
        assert_eq!(to_text(html), "Hello\n\na\tb");
    }

    #[test]
    fn what_is_hidden_is_not_read() {
        for hidden in [
            "<div style=\"display: none\">x <div>y</div></div>",
            "<span hidden>x</span>",
            "<p style='font-size:0px;line-height:0'>x</p>",
            "<div style=\"max-height:0;overflow:hidden\">x</div>",
            "<span style=\"color:#ffffff\">x</span>",
            "<font color=white>x</font>",
            "<font color=fafafa>x</font>",
            "<span style=\"color:#fafafa\">x</span>",
            "<span style=\"color:#f8f8f8;background:#f5f5f5\">x</span>",
            "<span style=\"color:#123456;background-color:#123456\">x</span>",
        ] {
            assert_eq!(to_text(&format!("<p>seen</p>{hidden}")), "seen", "{hidden}");
        }
        let dark =
            "<table><tr><td bgcolor=navy><font color=white>Unit</font></td><td style='display:none'>x<td>VIN</table>";
        assert_eq!(to_text(dark), "Unit\tVIN");
        assert_eq!(to_text("<p style=\"display:none\">x<p>one</p><input value='a' type=checkbox>"), "one\n\n[ ]");
    }

    #[test]
    fn labels_and_values_stand_on_one_line() {
        assert_eq!(to_text("<dl><dt>Policy<dd>AL-1<dt>Line</dt><dd>Auto</dd></dl>"), "Policy\tAL-1\nLine\tAuto");
        let nested =
            "<table><tr><td>Insured</td><td><table><tr><td>Elm</td><td>LLC</td></tr></table></td></tr></table>";
        assert_eq!(to_text(nested), "Insured\tElm\tLLC");
        let spans =
            "<table><tr><td colspan=2>Unit</td><td>VIN</td></tr><tr><td>1</td><td>a</td><td>1XK</td></tr></table>";
        assert_eq!(to_text(spans), "Unit\t\tVIN\n1\ta\t1XK");
    }

    #[test]
    fn script_and_style_are_no_text() {
        let html = "<style>p {}</style><script>if (a < b) { '</p>' }</script><p>text</p><!-- <p>no</p> -->";
        assert_eq!(to_text(html), "text");
    }

    #[test]
    fn deep_elements_are_refused() {
        let html = "<div>".repeat(20_000) + "x";
        assert_eq!(read(html.as_bytes()).unwrap_err().kind, FaultKind::TooLarge);
    }

    #[test]
    fn tables_that_no_depth_counts_come_out_line_by_line() {
        for table in ["<table/>", "<table></div>"] {
            let text = to_text(&format!("{}<tr><td>a<td>b</table>c", table.repeat(30_000)));
            assert_eq!(text, "a\nb\n\nc", "{table}");
        }
        let nested = |tables: usize| format!("{}<tr><td>a<td>b", "<table><tr><td>".repeat(tables - 1));
        assert_eq!(to_text(&format!("{}<table>{}", "<div>".repeat(50), &nested(20)[7..])), "a\tb");
        let closed = format!("{}{}<table><tr><td>c<td>d", nested(500), "</table>".repeat(500));
        assert_eq!(to_text(&closed), "a\nb\n\nc\td", "what comes after them is a table again");
    }

    #[test]
    fn nobody_reads_on_when_nobody_waits() {
        let (stop, html) = (StopFlag::set(), "<p>x".repeat(1000));
        assert_eq!(super::to_text(&html, &stop), "");
        assert_eq!(super::read(html.as_bytes(), &stop).unwrap_err().kind, FaultKind::TooLarge);
    }

    #[test]
    fn elements_that_need_no_end_do_not_nest() {
        let html = "<p>x<br><li>y".repeat(5_000);
        assert!(read(html.as_bytes()).is_ok());
    }

    #[test]
    fn the_declared_encoding_is_used() {
        let html = b"<meta charset=\"iso-8859-2\"><p>\xB3</p>";
        assert_eq!(read(html).unwrap().pages[0].text, "\u{142}");
    }

    /// Each of these is valid, or common in mail, and a reader that looks for `<` and `>` itself loses text on it.
    #[test]
    fn no_text_is_lost_that_a_browser_shows() {
        for (html, text) in [
            ("<html><head><title>t</title><meta name=a><p>one<p>two", "one\n\ntwo"),
            ("<head><script>var a = '</head>';</script></head><p>one", "one"),
            ("<img alt = 'a > b'><p title='x > y'>one", "a > b\n\none"),
            ("<img src=x alt=a=b>", "a=b"),
            ("<!-->one<!--->two<!-- a --!>three", "onetwothree"),
            ("<![if !mso]>one<![endif]> AT&amp;T &copy 2025 &lt;b>", "one AT&T \u{a9} 2025 <b>"),
            ("<script>a</script\n>one<style>b</style x='>'>two", "onetwo"),
            ("<svg><path d='M0'/><p>one</p>", "one"),
            ("<object data=x>one</object><textarea>&lt;two></textarea>", "one\n<two>"),
            ("<input value=\"say 'one'\"><a href='a\"b'>two</a>", "say 'one' two"),
            ("<p>one</p x='</p>'>two < 3 <> 4", "one\n\ntwo < 3 <> 4"),
        ] {
            assert_eq!(to_text(html), text, "{html}");
        }
    }

    #[test]
    fn torn_markup_is_no_fault() {
        assert_eq!(to_text("a < b &nosuch; &#65; &#x42; <b"), "a < b &nosuch; A B");
        assert_eq!(to_text("<p>one<p>two"), "one\n\ntwo");
        assert_eq!(to_text("<p title=\"x>one \u{e9}\r\n<p title='y>two<b"), "one \u{e9}\n\ntwo");
    }
}
