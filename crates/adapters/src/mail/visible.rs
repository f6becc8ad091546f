//! What a reader of an HTML message sees: hidden text is taken out, quotations are marked.
//!
//! Senders hide text to show a line in the list of messages, and others to mislead whoever reads by program. It is
//! hidden by `display: none` and the like, by letters without size, or by letters in the colour of their background.
//! One pass, with a stack of open elements that has a limit; styles are read from the element and from plain class
//! rules, not from a style sheet elsewhere.

use std::collections::HashSet;

use crate::colour::Colour;

/// Stands before and after quoted text. Both are private characters, and are taken out of the message first.
pub(super) const QUOTE_OPEN: char = '\u{e0f0}';
pub(super) const QUOTE_CLOSE: char = '\u{e0f1}';

/// Open elements that are remembered; deeper ones are as visible as the last.
const MAX_OPEN: usize = 500;
/// How far up an end tag looks for its element.
const MAX_SEARCH: usize = 60;
/// Classes that hide.
const MAX_CLASSES: usize = 200;
/// Bytes of a tag that are read.
const MAX_TAG: usize = 4_000;
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Elements that end where another of their kind begins.
const ENDS_AT_NEXT: [&str; 7] = ["p", "li", "dt", "dd", "option", "td", "th"];

/// An open element, with what its content inherits.
#[derive(Clone)]
struct Open {
    name: String,
    hidden: bool,
    tiny: bool,
    colour: Option<Colour>,
    background: Option<Colour>,
    quote: bool,
}

/// The HTML without what nobody sees, and with quotations marked.
pub(super) fn visible(html: &str) -> String {
    let mut hiding = HashSet::new();
    let mut out = String::with_capacity(html.len());
    let mut open: Vec<Open> = Vec::new();
    let last_end = html.rfind('>').unwrap_or_default();
    let mut rest = html;
    loop {
        let Some(at) = rest.find('<') else {
            text(&mut out, rest, open.last());
            return out;
        };
        text(&mut out, &rest[..at], open.last());
        rest = &rest[at..];
        if let Some(end) = raw_end(rest) {
            learn(&mut hiding, &rest[..end]);
            out.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        // Without an end to come there are no more tags; looking for one at each `<` would take forever.
        let has_end = html.len() - rest.len() < last_end;
        let Some(tag) = has_end.then(|| Tag::read(rest)).flatten() else {
            text(&mut out, "<", open.last());
            rest = &rest[1..];
            continue;
        };
        let whole = &rest[..tag.length];
        rest = &rest[tag.length..];
        if tag.closes {
            close(&mut out, &mut open, &tag.name, whole);
        } else {
            begin(&mut out, &mut open, &tag, whole, &hiding);
        }
    }
}

fn text(out: &mut String, text: &str, inside: Option<&Open>) {
    if inside.is_none_or(Open::shows) {
        out.extend(text.chars().filter(|c| !matches!(*c, QUOTE_OPEN | QUOTE_CLOSE)));
    }
}

impl Open {
    fn shows(&self) -> bool {
        let unseen = self.colour.zip(self.background).is_some_and(|(colour, ground)| colour.looks_like(ground));
        !(self.hidden || self.tiny || unseen)
    }
}

fn begin(out: &mut String, open: &mut Vec<Open>, tag: &Tag<'_>, whole: &str, hiding: &HashSet<String>) {
    if ENDS_AT_NEXT.contains(&tag.name.as_str()) && open.last().is_some_and(|last| last.name == tag.name) {
        open.pop();
    }
    let element = tag.element(open.last(), hiding);
    let void = VOID.contains(&tag.name.as_str());
    if !element.hidden && (!void || element.shows()) {
        out.push_str(whole);
        if element.quote && !void {
            out.push(QUOTE_OPEN);
        }
    }
    if !void && !whole.ends_with("/>") && open.len() < MAX_OPEN {
        open.push(element);
    }
}

fn close(out: &mut String, open: &mut Vec<Open>, name: &str, whole: &str) {
    let found = open.iter().rev().take(MAX_SEARCH).position(|element| element.name == name);
    let ended = open.iter().rev().nth(found.unwrap_or_default());
    let hidden = ended.is_some_and(|element| element.hidden);
    if let Some(up) = found {
        for element in open.drain(open.len() - up - 1..) {
            if element.quote && !element.hidden {
                out.push(QUOTE_CLOSE);
            }
        }
    }
    if !hidden {
        out.push_str(whole);
    }
}

/// Where a comment, a declaration, a style or a script ends: they are no text, and are left to the renderer.
fn raw_end(rest: &str) -> Option<usize> {
    let until = |end: &str| Some(rest.find(end).map_or(rest.len(), |at| at + end.len()));
    if rest.starts_with("<!--") {
        return until("-->");
    }
    if rest.starts_with("<!") || rest.starts_with("<?") {
        return until(">");
    }
    ["style", "script"].into_iter().find_map(|name| {
        let begins = rest.get(1..=name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name));
        if !begins {
            return None;
        }
        let mut at = 1;
        while let Some(next) = rest[at..].find("</") {
            at += next + 2;
            if rest.get(at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
                return Some(rest[at..].find('>').map_or(rest.len(), |end| at + end + 1));
            }
        }
        Some(rest.len())
    })
}

struct Tag<'a> {
    name: String,
    closes: bool,
    attributes: &'a str,
    length: usize,
}

impl<'a> Tag<'a> {
    fn read(rest: &'a str) -> Option<Self> {
        let closes = rest[1..].starts_with('/');
        let from = 1 + usize::from(closes);
        let name_end = rest[from..].find(|c: char| !(c.is_ascii_alphanumeric() || c == ':' || c == '-'))? + from;
        if name_end == from {
            return None;
        }
        let mut quote = None;
        let mut end = None;
        for (at, byte) in rest.bytes().enumerate().skip(name_end) {
            match (quote, byte) {
                (Some(open), byte) if byte == open => quote = None,
                (Some(_), _) => {}
                (None, b'"' | b'\'') => quote = Some(byte),
                (None, b'>') => {
                    end = Some(at);
                    break;
                }
                (None, _) => {}
            }
            // A quotation mark that never ends must not swallow the message.
            if at - name_end > MAX_TAG {
                break;
            }
        }
        let end = end.or_else(|| rest.find('>'))?;
        let attributes = rest.get(name_end..end).unwrap_or_default();
        Some(Self { name: rest[from..name_end].to_ascii_lowercase(), closes, attributes, length: end + 1 })
    }

    fn attribute(&self, name: &str) -> Option<String> {
        let lower = self.attributes.to_ascii_lowercase();
        let mut at = 0;
        while let Some(found) = lower[at..].find(name) {
            let start = at + found;
            at = start + name.len();
            let fresh =
                start == 0 || lower.as_bytes()[start - 1].is_ascii_whitespace() || lower[..start].ends_with('"');
            let value = lower[at..].trim_start();
            let Some(value) = value.strip_prefix('=').filter(|_| fresh) else { continue };
            let value = value.trim_start();
            return Some(match value.chars().next() {
                Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default().to_owned(),
                _ => value.split_whitespace().next().unwrap_or_default().to_owned(),
            });
        }
        None
    }

    /// The element that begins here, inside another one.
    fn element(&self, inside: Option<&Open>, hiding: &HashSet<String>) -> Open {
        let style = self.attribute("style").unwrap_or_default();
        let class = self.attribute("class").unwrap_or_default();
        let mut element = inside.cloned().unwrap_or(Open {
            name: String::new(),
            hidden: false,
            tiny: false,
            colour: None,
            background: Some(Colour::WHITE),
            quote: false,
        });
        element.name.clone_from(&self.name);
        let bare = self.attributes.to_ascii_lowercase();
        element.hidden |= hides(&style)
            || bare.split_ascii_whitespace().any(|word| word.trim_end_matches('/') == "hidden")
            || class.split_ascii_whitespace().any(|class| hiding.contains(class));
        let size = property(&style, "font-size");
        if let Some(size) = size {
            element.tiny = length(&size).is_some_and(|size| size <= 1.0);
        }
        let colour = property(&style, "color").or_else(|| self.attribute("color").filter(|_| self.name == "font"));
        if let Some(colour) = colour {
            element.colour = Colour::parse(&colour);
        }
        let ground = property(&style, "background-color").or_else(|| property(&style, "background"));
        if let Some(ground) = ground.or_else(|| self.attribute("bgcolor")).or_else(|| self.attribute("background")) {
            element.background = Colour::parse(&ground);
        } else if style.contains("background-image") {
            element.background = None;
        }
        let cited = self.attribute("type").is_some_and(|kind| kind == "cite");
        let quotes = self.name == "blockquote" && (cited || class.contains("quote") || class.contains("cite"));
        element.quote = quotes || class.split_ascii_whitespace().any(|class| class == "yahoo_quoted");
        element
    }
}

/// Whether a style hides its element, whatever stands inside.
fn hides(style: &str) -> bool {
    let is = |name: &str, wanted: &str| property(style, name).is_some_and(|value| value.starts_with(wanted));
    let zero = |name: &str| property(style, name).and_then(|value| length(&value)).is_some_and(|size| size == 0.0);
    is("display", "none")
        || is("visibility", "hidden")
        || is("mso-hide", "all")
        || property(style, "opacity").and_then(|value| value.parse::<f32>().ok()).is_some_and(|value| value <= 0.05)
        || ((zero("max-height") || zero("height") || zero("width") || zero("max-width")) && is("overflow", "hidden"))
}

/// The last value of a property in a style that is in lower case.
fn property(style: &str, name: &str) -> Option<String> {
    let mut pairs = style.split(';').rev().filter_map(|pair| pair.split_once(':'));
    let value = pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value)?;
    Some(value.trim().trim_end_matches("!important").trim().to_owned())
}

/// A length in pixels, about.
fn length(value: &str) -> Option<f32> {
    let end = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
    let number = value[..end].parse::<f32>().ok()?;
    match value[end..].trim() {
        "" | "px" | "pt" => Some(number),
        "em" | "rem" => Some(number * 16.0),
        "%" => Some(number * 0.16),
        _ => None,
    }
}

/// Adds the classes that plain rules of a style sheet hide; rules for narrow screens do not count.
fn learn(hiding: &mut HashSet<String>, sheet: &str) {
    if !sheet.get(..6).is_some_and(|begin| begin.eq_ignore_ascii_case("<style")) {
        return;
    }
    let mut depth = 0_usize;
    let (mut selector, mut from) = ("", 0);
    for (at, byte) in sheet.bytes().enumerate() {
        match byte {
            b'{' => {
                selector = &sheet[from..at];
                depth += 1;
                from = at + 1;
            }
            b'}' => {
                if depth == 1 && hiding.len() < MAX_CLASSES && hides(&sheet[from..at].to_ascii_lowercase()) {
                    hiding.extend(selector.split(',').filter_map(simple_class).take(MAX_CLASSES));
                }
                depth = depth.saturating_sub(1);
                from = at + 1;
            }
            _ => {}
        }
    }
}

fn simple_class(selector: &str) -> Option<String> {
    let (_, class) = selector.trim().rsplit_once('.')?;
    let plain = class.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    (plain && !class.is_empty()).then(|| class.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::visible_to_text;

    fn seen(html: &str) -> String {
        visible_to_text(&visible(html), &crate::workers::Stop::default())
    }

    #[test]
    fn hidden_text_is_not_seen() {
        for hidden in [
            "<div style=\"display:none\">quote <b>me</b></div>",
            "<span style='DISPLAY: none !important'>quote</span>",
            "<span style=\"font-size:0\">quote</span>",
            "<div style=\"font-size:1px;line-height:1px\">quote</div>",
            "<p style=\"opacity:0\">quote</p>",
            "<p style=\"mso-hide:all\">quote</p>",
            "<p hidden>quote</p>",
            "<div style=\"max-height:0px;overflow:hidden\">quote</div>",
            "<font color=\"#ffffff\">quote</font>",
            "<span style=\"color:#FEFEFE\">quote</span>",
            "<td bgcolor=black><span style=\"color:#000\">quote</span></td>",
            "<style>.pre{display:none}</style><div class=\"big pre\">quote</div>",
            "<div style=\"visibility:hidden\"><table><tr><td>quote</td></tr></table></div>",
            "<img style=\"display:none\" alt=\"quote\" src=x>",
        ] {
            assert_eq!(seen(&format!("<p>before</p>{hidden}<p>after</p>")), "before\n\nafter", "{hidden}");
        }
    }

    #[test]
    fn what_is_only_styled_is_seen() {
        for shown in [
            "<td style=\"background:#123;color:#fff\">quote</td>",
            "<div style=\"background-image:url(x)\"><b style=\"color:white\">quote</b></div>",
            "<style>@media (max-width:600px){.m{display:none}}</style><p class=m>quote</p>",
            "<div style=\"color:#fff\"><span style=\"color:#000\">quote</span></div>",
            "<div style=\"font-size:0\"><span style=\"font-size:14px\">quote</span></div>",
            "<p title=\"5 > 4\">quote</p>",
            "<p style=\"font-size:1em\">quote</p>",
        ] {
            assert_eq!(seen(shown), "quote", "{shown}");
        }
    }

    #[test]
    fn quotations_are_marked() {
        let html = "me<blockquote type=\"cite\"><div>you</div></blockquote>me again";
        assert!(visible(html).contains(&format!("{QUOTE_OPEN}<div>you</div>{QUOTE_CLOSE}</blockquote>")));
        assert!(!visible("<p>a \u{e0f0} b</p>").contains(QUOTE_OPEN));
    }

    #[test]
    fn torn_and_deep_markup_ends() {
        assert_eq!(seen("a < b <p style=\"x>c"), "a < b\n\nc");
        assert!(visible(&"<div>".repeat(50_000)).len() >= 250_000);
        assert!(visible(&"<a '".repeat(20_000)).len() < 200_000);
    }
}
