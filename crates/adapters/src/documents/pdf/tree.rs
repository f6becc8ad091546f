//! The page tree: walked under limits, because files lie about its size and its shape.

use std::collections::HashSet;

use kybern_core::document::{DocumentFault, FaultKind, limits};
use lopdf::{Dictionary, Document, Object};

use super::super::pages::too_many_pages;

/// How deep the tree may be.
const MAX_DEPTH: usize = 100;
/// References that lead to no page.
const MAX_LOST: usize = 10_000;

/// The pages in order.
///
/// # Errors
/// `TooLarge` over the limit of pages, `Empty` when the tree has no leaves, `Broken` when they cannot be found.
pub(super) fn pages(doc: &Document) -> Result<Vec<&Dictionary>, DocumentFault> {
    let root = doc.catalog().and_then(|catalog| catalog.get_deref(b"Pages", doc)).and_then(Object::as_dict);
    let root = root.map_err(|_| lost())?;
    let kids = kids(doc, root).ok_or_else(lost)?;
    if kids.is_empty() {
        return Err(DocumentFault::new(FaultKind::Empty, "it has no pages"));
    }
    let mut pages: Vec<&Dictionary> = Vec::new();
    let mut seen: HashSet<usize> = HashSet::from([std::ptr::from_ref(root).addr()]);
    let mut stack = vec![kids.iter()];
    let mut missing = 0usize;
    while let Some(top) = stack.last_mut() {
        let Some(kid) = top.next() else {
            stack.pop();
            continue;
        };
        let node = doc.dereference(kid).ok().and_then(|(_, node)| node.as_dict().ok());
        match node.map(|node| (node, self::kids(doc, node))) {
            Some((node, None)) => pages.push(node),
            // A node that was there before leads around in a circle.
            Some((node, Some(below))) if stack.len() < MAX_DEPTH && seen.insert(std::ptr::from_ref(node).addr()) => {
                stack.push(below.iter());
            }
            _ => missing += 1,
        }
        if missing > MAX_LOST {
            return Err(lost());
        }
        if pages.len() > limits::MAX_PAGES {
            return Err(too_many_pages());
        }
    }
    if pages.is_empty() { Err(lost()) } else { Ok(pages) }
}

/// An attribute of a page or of a field, or of the nearest node above it.
pub(super) fn inherited<'a>(doc: &'a Document, page: &'a Dictionary, key: &[u8]) -> Option<&'a Object> {
    let mut node = page;
    for _ in 0..MAX_DEPTH {
        if let Ok(found) = node.get_deref(key, doc) {
            return Some(found);
        }
        node = node.get_deref(b"Parent", doc).ok()?.as_dict().ok()?;
    }
    None
}

fn kids<'a>(doc: &'a Document, node: &'a Dictionary) -> Option<&'a [Object]> {
    node.get_deref(b"Kids", doc).and_then(Object::as_array).ok().map(Vec::as_slice)
}

fn lost() -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, "its pages cannot be found")
}
