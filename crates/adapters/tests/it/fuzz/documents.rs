//! What holds for every document, and the formats that are plain text.

use std::sync::LazyLock;

use bytes::Bytes;
use kybern_adapters::documents::Reader;
use kybern_core::document::{DocumentText, limits};
use kybern_core::ports::DocumentReader;
use kybern_testkit::fuzz::Target;
use tokio::runtime::Runtime;

use crate::documents::TENANT;

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
static READER: LazyLock<Reader> = LazyLock::new(Reader::new);

/// A check of every promise for documents of that name.
pub(super) fn check(name: &'static str) -> impl Fn(&[u8]) -> Result<(), String> + Send + Sync {
    move |input| {
        let read = || RUNTIME.block_on(READER.read(TENANT, name, "", Bytes::copy_from_slice(input)));
        let outcome = read();
        // Reading twice costs twice, so only some are.
        if blake3::hash(input).as_bytes()[0] < 16 && read() != outcome {
            return Err("the same document is two different ones".to_owned());
        }
        match outcome {
            Ok(document) => kept(&document),
            Err(fault) if fault.message.contains("stopped the reader") => Err("the reader panicked".to_owned()),
            Err(fault) if fault.message.contains("took longer") => Err(fault.message),
            Err(fault) if fault.message.trim().is_empty() => Err("a fault without a sentence".to_owned()),
            Err(_) => Ok(()),
        }
    }
}

fn kept(document: &DocumentText) -> Result<(), String> {
    let promise = |kept: bool, what: &str| if kept { Ok(()) } else { Err(what.to_owned()) };
    promise(document.pages.iter().any(|page| !page.text.trim().is_empty()), "it is silently empty")?;
    promise(document.pages.len() <= limits::MAX_PAGES, "too many pages")?;
    promise(document.pages.iter().map(|page| page.text.len()).sum::<usize>() <= limits::MAX_TEXT * 2, "too much text")?;
    for page in &document.pages {
        for line in &page.lines {
            promise(page.text.get(line.start..line.end).is_some(), "a line outside of its page")?;
        }
    }
    Ok(())
}

#[test]
fn csv() {
    let words = &[",", ";", "\t", "|", "\"", "\"\"", "\r\n", "\n\n", "sep=;\n", "\u{feff}", "\0", "\u{c}", "=1+1"];
    let hostile = [
        ",".repeat(60_000),
        "\"".repeat(60_001),
        "a,b\n".repeat(15_000),
        format!("{}\n{}", "a,".repeat(400), "b\n".repeat(20_000)),
    ];
    let hostile = hostile.into_iter().map(String::into_bytes);
    Target::new("csv", 1_000, check("a.csv")).seeds(super::documents("csv")).seeds(hostile).words(words).play();
}

#[test]
fn text() {
    let words = &["\u{feff}", "\u{c}", "\0", "\r", "\u{85}", "\u{fffd}", "\u{1b}", "é"];
    let utf_16: Vec<u8> = "\u{feff}some text\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    Target::new("text", 1_500, check("a.txt")).seeds(super::documents("txt")).seeds([utf_16]).words(words).play();
}

/// How long a flood is.
const FLOOD: usize = if cfg!(debug_assertions) { 512 * 1024 } else { 4 * 1024 * 1024 };

/// Pages in which one piece comes as often as fits, behind another that comes a few thousand times.
fn floods_of_html(recipe: &[u8]) -> Result<(), String> {
    let (before, piece) = match recipe.iter().position(|byte| *byte == b'|') {
        Some(at) => (&recipe[..at], &recipe[at + 1..]),
        None => (&[][..], recipe),
    };
    if piece.is_empty() {
        return Ok(());
    }
    check("a.html")(&[before.repeat(1_900), piece.repeat(FLOOD / piece.len()), b"x".to_vec()].concat())
}

#[test]
fn html_floods() {
    let befores = ["", "<div>|", "<table/>|", "<table><tr><td>|", "<table></div>|"];
    let pieces = [
        "<table/>",
        "<table></div>",
        "<table/><tr><td>x",
        "<tr><td>x</table>",
        "<td>x",
        "<p>",
        "<li>",
        "<pre>x\n",
        "&amp",
        "<a b='>",
        "<!--",
        "<head><style>",
    ];
    let every = befores.iter().flat_map(|before| pieces.iter().map(move |piece| format!("{before}{piece}")));
    let every: Vec<Vec<u8>> = every.map(String::into_bytes).collect();
    let count = every.len() as u64 + 10;
    Target::new("html-floods", count, floods_of_html).seeds(every).words(&pieces).play();
}

#[test]
fn html() {
    let words = &[
        "<table>",
        "<tr>",
        "<td>",
        "</td>",
        "</tr>",
        "</table>",
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<pre>",
        "<script>",
        "</script>",
        "<style>",
        "<!--",
        "-->",
        "<![CDATA[",
        "<!DOCTYPE",
        "&amp;",
        "&#x1F4A9;",
        "&#0;",
        "&#128;",
        "<img alt=\"x\">",
        "<input value='y'>",
        "charset=utf-16",
        "charset=\"iso-2022-jp\"",
        "<li>",
        "<br/>",
        "<",
        ">",
        "\"",
        "'",
        "=",
        "<textarea>",
        "<title>",
        "<svg>",
        "<a href=\"x\">",
    ];
    let page = "<html><head><meta charset=utf-8><title>t</title></head><body><h1>One</h1><table><tr><th>a<th>b<tr>\
                <td>1<td><p>2<p>3</table><ul><li>x<li>y</ul><pre>  z\n</pre></body></html>";
    let hostile = [
        "<table><tr><td>".repeat(4_000),
        "<p".repeat(30_000),
        "<!--".repeat(15_000),
        "&".repeat(60_000),
        "<script>".repeat(8_000),
        "<a b='".repeat(10_000),
        format!("{}x", "<td>".repeat(15_000)),
        page.to_owned(),
    ];
    let hostile = hostile.into_iter().map(String::into_bytes);
    Target::new("html", 1_000, check("a.html")).seeds(super::documents("html")).seeds(hostile).words(words).play();
}
