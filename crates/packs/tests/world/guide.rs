//! `docs/write-your-own-pack.md` is the helpdesk pack as it stands: every file of the pack is in it, and what it shows of
//! other files is in them.

use std::fs;
use std::path::{Path, PathBuf};

/// The pack that the guide builds.
const PACK: &str = "crates/packs/src/helpdesk";

/// A block of code, and the line that says where it belongs.
struct Block {
    says: String,
    code: String,
}

impl Block {
    /// The file that is named last; commands belong to none.
    fn path(&self) -> Option<&str> {
        self.says.strip_suffix("`:")?.rsplit_once('`').map(|(_, path)| path)
    }

    fn is_whole(&self) -> bool {
        self.says.starts_with("File `")
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.replace("\r\n", "\n")
}

/// What of a file the guide shows: all but its tests.
fn shown(path: &str) -> String {
    let text = read(path);
    text.split("\n#[cfg(test)]\n").next().unwrap_or_default().trim().to_owned()
}

fn blocks() -> Vec<Block> {
    let page = read("docs/write-your-own-pack.md");
    let (mut blocks, mut says, mut open): (Vec<Block>, String, Option<String>) = (Vec::new(), String::new(), None);
    for line in page.lines() {
        match (&mut open, line.starts_with("```")) {
            (None, true) => open = Some(String::new()),
            (Some(code), true) => {
                blocks.push(Block { says: says.clone(), code: code.trim_matches('\n').to_owned() });
                open = None;
            }
            (Some(code), false) => code.extend([line, "\n"]),
            (None, false) if !line.trim().is_empty() => says = line.to_owned(),
            (None, false) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

#[test]
fn what_the_guide_shows_is_in_the_files() {
    let blocks = blocks();
    let of_files: Vec<(&Block, &str)> = blocks.iter().filter_map(|block| Some((block, block.path()?))).collect();
    assert!(of_files.len() > 20, "{} blocks", of_files.len());
    for (block, path) in of_files {
        if block.is_whole() {
            assert_eq!(block.code.trim(), shown(path), "{path} is not as the guide has it");
        } else {
            assert!(read(path).contains(&block.code), "{path} does not have:\n{}", block.code);
        }
    }
}

#[test]
fn the_guide_has_every_file_of_the_pack() {
    let blocks = blocks();
    let whole: Vec<&str> = blocks.iter().filter(|block| block.is_whole()).filter_map(Block::path).collect();
    let below = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        let files = entries.filter(|path| path.is_file());
        files.map(|path| format!("{folder}/{}", path.file_name().unwrap().to_str().unwrap())).collect::<Vec<_>>()
    };
    let files = [below(PACK), below(&format!("{PACK}/plans"))].concat();
    assert!(files.len() > 10);
    for file in files {
        assert!(whole.contains(&file.as_str()), "the guide lacks {file}");
    }
}
