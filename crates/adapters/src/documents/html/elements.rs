//! What HTML says of its elements.

/// Those without content.
const EMPTY: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Those that end by themselves, where another begins or what is around them ends.
const END_BY_THEMSELVES: [&str; 13] =
    ["p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup"];
/// Those that are there whether or not they are written.
const ALWAYS: [&str; 2] = ["html", "body"];

/// Whether an element has no content and no end.
pub(crate) fn is_void(name: &str) -> bool {
    EMPTY.contains(&name)
}

/// Whether nothing can stand inside an element, as far as text depends on it.
pub(super) fn is_empty(name: &str) -> bool {
    is_void(name) || ALWAYS.contains(&name)
}

/// Whether an element stays open until its end: not those without content, nor those that end by themselves.
pub(super) fn nests(name: &str) -> bool {
    !is_empty(name) && !END_BY_THEMSELVES.contains(&name)
}

/// Line ends before and after an element: 2 make a blank line.
pub(super) fn breaks_around(name: &str) -> usize {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" | "ul" | "ol" | "dl" | "blockquote" | "hr" => 2,
        "div" | "section" | "article" | "header" | "footer" | "main" | "nav" | "aside" | "form" | "fieldset"
        | "legend" | "dt" | "dd" | "li" | "caption" | "address" | "figure" | "figcaption" | "center" | "body"
        | "option" | "thead" | "tbody" | "tfoot" => 1,
        _ => 0,
    }
}
