//! What a reader of an HTML message sees: hidden text is taken out, quotations are marked.
//!
//! Senders hide text to show a line in the list of messages, and others to mislead whoever reads by program. It is
//! hidden by `display: none` and the like, by letters without size, or by letters in the colour of their background.
//! One pass, with a stack of open elements that has a limit; styles are read from the element and from plain class
//! rules, not from a style sheet elsewhere.

use std::collections::HashSet;

use crate::colour::Colour;
use crate::documents::html::{Attributes, HtmlToken, Tags, is_void};

/// Stands before and after quoted text. Both are private characters, and are taken out of the message first.
pub(super) const QUOTE_OPEN: char = '\u{e0f0}';
pub(super) const QUOTE_CLOSE: char = '\u{e0f1}';

/// Open elements that are remembered; deeper ones are as visible as the last.
const MAX_OPEN: usize = 500;
/// How far up an end tag looks for its element.
const MAX_SEARCH: usize = 60;
/// Classes that hide.
const MAX_CLASSES: usize = 200;
/// Elements that end where another of their kind begins.
const ENDS_AT_NEXT: [&str; 7] = ["p", "li", "dt", "dd", "option", "td", "th"];

/// The pieces of a message without what nobody sees, and with quotations marked.
pub(super) fn visible(html: &str) -> impl Iterator<Item = HtmlToken> {
    let mut walk = VisibilityWalk::default();
    Tags::new(html).flat_map(move |piece| walk.seen_of(piece))
}

#[derive(Default)]
struct VisibilityWalk {
    /// The elements that are open.
    open: Vec<OpenElement>,
    /// Classes that hide.
    hiding: HashSet<String>,
}

/// An open element, with what its content inherits.
#[derive(Clone)]
struct OpenElement {
    name: String,
    hidden: bool,
    tiny: bool,
    colour: Option<Colour>,
    background: Option<Colour>,
    quote: bool,
}

impl OpenElement {
    fn shows(&self) -> bool {
        let unseen = self.colour.zip(self.background).is_some_and(|(colour, ground)| colour.looks_like(ground));
        !(self.hidden || self.tiny || unseen)
    }
}

impl VisibilityWalk {
    fn seen_of(&mut self, piece: HtmlToken) -> Vec<HtmlToken> {
        match piece {
            HtmlToken::Text(text) if self.open.last().is_none_or(OpenElement::shows) => {
                vec![HtmlToken::Text(text.replace([QUOTE_OPEN, QUOTE_CLOSE], ""))]
            }
            HtmlToken::Text(_) => Vec::new(),
            HtmlToken::Sheet(sheet) => {
                learn(&mut self.hiding, &sheet);
                Vec::new()
            }
            HtmlToken::Open { name, attributes } => self.begin(name, attributes),
            HtmlToken::Close { name } => self.close(name),
        }
    }

    fn begin(&mut self, name: String, attributes: Attributes) -> Vec<HtmlToken> {
        if ENDS_AT_NEXT.contains(&name.as_str()) && self.open.last().is_some_and(|last| last.name == name) {
            self.open.pop();
        }
        let element = self.element(&name, &attributes);
        let (void, shows, quote) = (is_void(&name), element.shows(), element.quote);
        let is_seen = !element.hidden && (!void || shows);
        if !void && !attributes.closes && self.open.len() < MAX_OPEN {
            self.open.push(element);
        }
        let mark = (quote && !void).then(|| HtmlToken::Text(QUOTE_OPEN.to_string()));
        if is_seen { [HtmlToken::Open { name, attributes }].into_iter().chain(mark).collect() } else { Vec::new() }
    }

    fn close(&mut self, name: String) -> Vec<HtmlToken> {
        let found = self.open.iter().rev().take(MAX_SEARCH).position(|element| element.name == name);
        let hidden = self.open.iter().rev().nth(found.unwrap_or_default()).is_some_and(|element| element.hidden);
        let ended = found.map_or(0, |up| up + 1);
        let ended = self.open.drain(self.open.len() - ended..).filter(|element| element.quote && !element.hidden);
        let marks = ended.map(|_| HtmlToken::Text(QUOTE_CLOSE.to_string()));
        marks.chain((!hidden).then_some(HtmlToken::Close { name })).collect()
    }

    /// The element that begins here, inside the last one.
    fn element(&self, name: &str, attributes: &Attributes) -> OpenElement {
        let attribute = |name| attributes.get(name).map(str::to_ascii_lowercase);
        let style = attribute("style").unwrap_or_default();
        let class = attribute("class").unwrap_or_default();
        let mut element = self.open.last().cloned().unwrap_or(OpenElement {
            name: String::new(),
            hidden: false,
            tiny: false,
            colour: None,
            background: Some(Colour::WHITE),
            quote: false,
        });
        name.clone_into(&mut element.name);
        element.hidden |= hides(&style)
            || attributes.get("hidden").is_some()
            || class.split_ascii_whitespace().any(|class| self.hiding.contains(class));
        let size = property(&style, "font-size");
        if let Some(size) = size {
            element.tiny = length(&size).is_some_and(|size| size <= 1.0);
        }
        let colour = property(&style, "color").or_else(|| attribute("color").filter(|_| name == "font"));
        if let Some(colour) = colour {
            element.colour = Colour::parse(&colour);
        }
        let ground = property(&style, "background-color").or_else(|| property(&style, "background"));
        if let Some(ground) = ground.or_else(|| attribute("bgcolor")).or_else(|| attribute("background")) {
            element.background = Colour::parse(&ground);
        } else if style.contains("background-image") {
            element.background = None;
        }
        let cited = attribute("type").is_some_and(|kind| kind == "cite");
        let quotes = name == "blockquote" && (cited || class.contains("quote") || class.contains("cite"));
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
    use crate::documents::html::pieces_to_text;

    fn seen(html: &str) -> String {
        pieces_to_text(visible(html), &crate::workers::StopFlag::default())
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
        assert_eq!(seen(html), format!("me\n\n{QUOTE_OPEN}\nyou\n{QUOTE_CLOSE}\n\nme again"));
        for forged in ["<p>a \u{e0f0} b</p>", "<p>a &#xe0f0; b</p>"] {
            assert!(!seen(forged).contains(QUOTE_OPEN), "{forged}");
        }
    }

    #[test]
    fn torn_and_deep_markup_ends() {
        assert_eq!(seen("a < b <p style=\"x>c"), "a < b\n\nc");
        assert_eq!(visible(&"<div>".repeat(50_000)).count(), 50_000);
        assert!(visible(&"<a '".repeat(20_000)).count() < 20_000);
    }
}
