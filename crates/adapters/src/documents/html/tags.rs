//! HTML taken apart into tags and text as browsers do it, by html5gum's tokenizer.
//!
//! What the tokenizer leaves to a tree is done here as far as text depends on it: whose content is no markup, and which
//! elements are not shown, with the ends that HTML allows them to leave out. In one thing it is kinder than a browser: a
//! quotation mark that never closes takes what its tag says with it, and not the rest of the page.

use kybern_core::list;

use std::collections::BTreeMap;
use std::convert::Infallible;

use html5gum::{
    DefaultEmitter, Doctype, EndTag, Error, HtmlString, Spanned, StartTag, State, StringReader, Token, Tokenizer,
};

/// One piece of a page.
#[derive(Debug, PartialEq)]
pub(crate) enum HtmlToken {
    /// Text; its entities are resolved.
    Text(String),
    /// The start of an element; the name is in lower case.
    Open { name: String, attributes: Attributes },
    /// The end of an element.
    Close { name: String },
    /// A style sheet.
    Sheet(String),
}

/// The attributes of an element.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    values: BTreeMap<HtmlString, Spanned<HtmlString>>,
    /// Whether the tag ends its element, as in `<p/>`: what programs write that take HTML for XML.
    pub(crate) closes: bool,
}

impl Attributes {
    /// The value of one, whose name is in lower case; empty where it has none.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.values.get(name.as_bytes())?).ok()
    }
}

/// Walks over the pieces. Comments, declarations and scripts are left out.
pub(crate) struct Tags<'a> {
    /// What the tokens are of, and where the last of them ended.
    html: &'a str,
    at: usize,
    tokens: Tokenizer<StringReader<'a>, DefaultEmitter<usize>>,
    /// Whether the page ended inside of a tag.
    is_torn: bool,
    /// Whether a style sheet is open.
    in_sheet: bool,
    /// The element that is not shown and is still open, and how many of its name are.
    hidden: Option<(String, usize)>,
}

/// Elements whose content is no text to read.
const HIDDEN: [&str; 7] = ["script", "style", "head", "template", "noframes", "svg", "math"];
/// What may lie in a `head`. Anything else ends it, whether its end is written or not.
const IN_HEAD: [&str; 12] =
    ["head", "html", "base", "basefont", "bgsound", "link", "meta", "title", "style", "script", "noscript", "template"];
/// What cannot lie in a picture that is drawn by tags, and so ends it.
const NOT_DRAWN: &[&str] = list!(
    "blockquote, body, br, center, dd, div, dl, dt, h1, h2, h3, h4, h5, h6, hr, img, li, ol, p, pre, span, table, ul, \
     b"
);

impl<'a> Tags<'a> {
    pub(crate) fn new(html: &'a str) -> Self {
        Self { html, at: 0, tokens: tokens(html), is_torn: false, in_sheet: false, hidden: None }
    }

    /// The next token, also after a tag that never ends.
    fn token(&mut self) -> Option<Token<usize>> {
        loop {
            if let Some(token) = self.tokens.next() {
                return Some(token.unwrap_or_else(|never: Infallible| match never {}));
            }
            if !std::mem::take(&mut self.is_torn) {
                return None;
            }
            // Each kind of quotation mark is without its other half only once, so this is not done often.
            let torn = self.html.get(self.at..)?;
            self.html = torn.get(torn.find('>')? + 1..)?;
            (self.at, self.tokens) = (0, tokens(self.html));
            if let Some(token) = torn_tag(torn) {
                return Some(token);
            }
        }
    }

    /// Whether this is inside of what is not shown. `None` is text.
    fn skips(&mut self, opens: Option<&str>) -> bool {
        let Some((hidden, count)) = &mut self.hidden else { return false };
        let ends = match (hidden.as_str(), opens) {
            ("head", Some(name)) => !IN_HEAD.contains(&name),
            ("svg" | "math", Some(name)) => NOT_DRAWN.contains(&name),
            _ => false,
        };
        if ends {
            self.hidden = None;
            return false;
        }
        *count += usize::from(opens == Some(hidden.as_str()));
        true
    }

    fn open(&mut self, name: String, attributes: Attributes) -> Option<HtmlToken> {
        self.in_sheet = name == "style" && !attributes.closes;
        if !attributes.closes {
            // What stands in these is text to its end, or no text at all, whatever it looks like.
            match name.as_str() {
                "script" => self.tokens.set_state(State::ScriptData),
                "style" | "noframes" | "xmp" | "iframe" | "noembed" => self.tokens.set_state(State::RawText),
                "title" | "textarea" => self.tokens.set_state(State::RcData),
                _ => {}
            }
        }
        if self.skips(Some(&name)) {
            return None;
        }
        if HIDDEN.contains(&name.as_str()) {
            self.hidden = (!attributes.closes).then_some((name, 1));
            return None;
        }
        Some(HtmlToken::Open { name, attributes })
    }

    fn close(&mut self, name: String) -> Option<HtmlToken> {
        self.in_sheet = false;
        let Some((hidden, count)) = &mut self.hidden else { return Some(HtmlToken::Close { name }) };
        if *hidden == name {
            *count -= 1;
            if *count == 0 {
                self.hidden = None;
            }
        }
        None
    }

    fn text(&mut self, text: HtmlString) -> Option<HtmlToken> {
        let text = String::from_utf8(text.0).unwrap_or_default();
        if self.in_sheet {
            return Some(HtmlToken::Sheet(text));
        }
        (!self.skips(None)).then_some(HtmlToken::Text(text))
    }
}

impl Iterator for Tags<'_> {
    type Item = HtmlToken;

    fn next(&mut self) -> Option<HtmlToken> {
        loop {
            let piece = match self.token()? {
                Token::String(text) => {
                    self.at = text.span.end;
                    self.text(text.value)
                }
                Token::StartTag(tag) => {
                    self.at = tag.span.end;
                    let attributes = Attributes { values: tag.attributes, closes: tag.self_closing };
                    self.open(in_words(tag.name), attributes)
                }
                Token::EndTag(tag) => {
                    self.at = tag.span.end;
                    self.close(in_words(tag.name))
                }
                Token::Comment(Spanned { span, .. }) | Token::Doctype(Doctype { span, .. }) => {
                    self.at = span.end;
                    None
                }
                Token::Error(error) => {
                    self.is_torn |= error.value == Error::EofInTag;
                    None
                }
            };
            if piece.is_some() {
                return piece;
            }
        }
    }
}

fn tokens(html: &str) -> Tokenizer<StringReader<'_>, DefaultEmitter<usize>> {
    Tokenizer::new_with_emitter(html, DefaultEmitter::new_with_span())
}

/// The tag with which a text begins, without what it says besides its name.
fn torn_tag(torn: &str) -> Option<Token<usize>> {
    let tag = torn.strip_prefix('<')?;
    let (name, is_end) = tag.strip_prefix('/').map_or((tag, false), |name| (name, true));
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let name = HtmlString(name.get(..end)?.to_ascii_lowercase().into_bytes());
    Some(if is_end {
        Token::EndTag(EndTag { name, ..EndTag::default() })
    } else {
        Token::StartTag(StartTag { name, ..StartTag::default() })
    })
}

fn in_words(name: HtmlString) -> String {
    String::from_utf8(name.0).unwrap_or_default()
}
