//! Every error code owns a page, and every page belongs to a code.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::tree::Tree;

/// Where the codes are.
const CODES: &str = "crates/core/src/error.rs";

/// Where the pages are.
const PAGES: &str = "docs/errors/";

/// What a page answers.
const HEADINGS: &[&str] = &["## Meaning", "## Cause", "## Remedy"];

/// Checks codes against pages, both ways, and that each page answers the three questions.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = headings(tree);
    let Some(codes) = codes(tree) else {
        return findings;
    };
    if codes.is_empty() {
        findings.push(Finding::violation(
            CODES,
            1,
            "no error code was found beside a variant",
            "declare the codes by `words!`, or teach xtask/src/tidy/error_pages.rs the new form",
        ));
        return findings;
    }
    let pages: Vec<&str> =
        tree.below(PAGES).filter(|file| file.path().ends_with(".md")).map(|file| file.path()).collect();
    for (code, line) in &codes {
        let page = format!("{PAGES}{code}.md");
        if !pages.contains(&page.as_str()) {
            findings.push(Finding::violation(
                CODES,
                *line,
                format!("the error code {code} has no page"),
                format!("write {page} with meaning, cause and remedy"),
            ));
        }
    }
    for page in pages {
        let code = &page[PAGES.len()..page.len() - ".md".len()];
        if !codes.contains_key(code) && code != "README" {
            findings.push(Finding::violation(
                page,
                1,
                format!("there is no error code {code}"),
                format!("a code is never renamed: restore it in {CODES}, or delete the page"),
            ));
        }
    }
    findings
}

/// The codes with their lines; `None` while there is no file of codes.
fn codes(tree: &Tree) -> Option<BTreeMap<String, usize>> {
    let (_, source) = tree.rust_files().find(|(file, _)| file.path() == CODES)?;
    let variants: Vec<usize> = source.code().filter(|(_, code)| code.contains(" = ")).map(|(line, _)| line).collect();
    let literals = source.literals().filter(|literal| variants.contains(&literal.line));
    let codes = literals.filter(|literal| is_code(&literal.text));
    Some(codes.map(|literal| (literal.text.clone(), literal.line)).collect())
}

fn is_code(text: &str) -> bool {
    text.len() > 3
        && text.starts_with(|c: char| c.is_ascii_uppercase())
        && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

fn headings(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in tree.below(PAGES).filter(|file| file.path().ends_with(".md") && file.stem() != "README") {
        for heading in HEADINGS {
            if !page.text().lines().any(|line| line.trim_end() == *heading) {
                findings.push(Finding::violation(
                    page.path(),
                    1,
                    format!("the page has no heading {heading:?}"),
                    "answer all three: meaning, cause, remedy",
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# X\n\n## Meaning\n\n## Cause\n\n## Remedy\n";
    const SOURCE: &str = "words! { pub enum ErrorCode {\nA = \"NOT_FOUND\",\nB = \"TIMEOUT\",\n} }\n";

    fn lines(files: &[(&str, &str)]) -> Vec<String> {
        check(&Tree::of(files)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn codes_and_pages_that_match_pass() {
        let files = [(CODES, SOURCE), ("docs/errors/NOT_FOUND.md", PAGE), ("docs/errors/TIMEOUT.md", PAGE)];
        assert_eq!(lines(&files), Vec::<String>::new());
    }

    #[test]
    fn a_code_without_a_page_and_a_page_without_a_code_are_found() {
        let found = lines(&[(CODES, SOURCE), ("docs/errors/NOT_FOUND.md", PAGE), ("docs/errors/GONE.md", PAGE)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/core/src/error.rs:3: the error code TIMEOUT"), "{found:?}");
        assert!(found[1].starts_with("docs/errors/GONE.md:1: "), "{found:?}");
    }

    #[test]
    fn a_page_answers_three_questions() {
        assert_eq!(lines(&[("docs/errors/X.md", "# X\n\n## Meaning\n")]).len(), 2);
    }

    #[test]
    fn codes_that_can_no_longer_be_read_are_not_called_clean() {
        assert_eq!(lines(&[(CODES, "fn as_str() {}\n")]).len(), 1);
    }
}
