//! `docs/production.md`, read as somebody does who follows it: the commands, section by section.

use anyhow::{Context, Result, bail};

/// A section of the page with the commands that it has typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Its heading.
    pub(super) title: String,
    /// The blocks, in order.
    pub(super) blocks: Vec<String>,
}

/// The sections of second level. A block of shell is fenced as `sh`; what is fenced otherwise is shown, not typed.
///
/// # Errors
/// When a block does not end.
pub(super) fn sections(text: &str) -> Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            sections.push(Section { title: title.to_owned(), blocks: Vec::new() });
        } else if let Some(language) = line.strip_prefix("```") {
            let mut block = String::new();
            loop {
                let line = lines.next().context("a block of the page does not end")?;
                if line == "```" {
                    break;
                }
                block.push_str(line);
                block.push('\n');
            }
            if language == "sh" {
                let section = sections.last_mut().context("the page has commands before its first section")?;
                section.blocks.push(block);
            }
        }
    }
    Ok(sections)
}

/// The versions of the two packages that the page names: the one that is installed, and the one that follows it.
///
/// # Errors
/// When it does not name two.
pub(super) fn versions(text: &str) -> Result<[String; 2]> {
    let mut versions: Vec<&str> = Vec::new();
    for (at, mark) in text.match_indices("kybern_") {
        let rest = &text[at + mark.len()..];
        let Some((version, _)) = rest.split_once("_amd64.deb") else { continue };
        let is_version = version.chars().all(|c| c.is_ascii_digit() || c == '.');
        if is_version && !versions.contains(&version) {
            versions.push(version);
        }
    }
    match versions.as_slice() {
        [first, second] => Ok([(*first).to_owned(), (*second).to_owned()]),
        other => bail!("the page names {} packages of kybern, not two: {other:?}", other.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shell_is_typed() {
        let page = "# T\n\n## One\n\n```sh\na\nb\n```\n\n```toml\nc\n```\n\n## Two\n\n```sh\nd\n```\n";
        let sections = sections(page).unwrap();
        assert_eq!(sections.len(), 2);
        assert_eq!(sections[0], Section { title: "One".into(), blocks: vec!["a\nb\n".into()] });
        assert!(super::sections("## One\n```sh\na\n").is_err());
    }

    #[test]
    fn the_page_names_this_version_and_a_later_one() {
        let root = crate::root::find().unwrap();
        let page = std::fs::read_to_string(root.join("docs/production.md")).unwrap();
        let [first, second] = versions(&page).unwrap();
        assert_eq!(first, env!("CARGO_PKG_VERSION"));
        assert_ne!(first, second);
    }
}
