//! What a guided run has found to reach new branches.

use std::path::PathBuf;

/// The most inputs that are kept; so many say all that a format has to say.
const MAX_KEPT: usize = 20_000;
/// The most bytes of them.
const MAX_BYTES: usize = 256 << 20;

/// The inputs that reached a branch before all others; none where branches are not counted.
#[derive(Default)]
pub(super) struct Corpus {
    kept: Vec<Vec<u8>>,
    bytes: usize,
    /// Where they lie until the next run.
    folder: PathBuf,
    #[cfg(guided)]
    seen: kybern_coverage::SeenBranches,
}

/// Whether branches are counted.
pub(super) const GUIDED: bool = cfg!(guided);

impl Corpus {
    /// A corpus that is saved in that folder.
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder, ..Self::default() }
    }

    /// The inputs that are kept.
    pub(super) fn kept(&self) -> &[Vec<u8>] {
        &self.kept
    }

    /// The megabytes that they take, rounded up: none of an input that is played.
    pub(super) const fn megabytes(&self) -> u64 {
        (self.bytes as u64).div_ceil(1 << 20)
    }

    /// What earlier runs have saved there, in an order that does not change.
    pub(super) fn saved(&self) -> Vec<Vec<u8>> {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().take(MAX_KEPT).filter_map(|path| std::fs::read(path).ok()).collect()
    }

    /// Whether a new branch has run since the last input.
    #[cfg(guided)]
    pub(super) fn has_grown(&mut self) -> bool {
        self.seen.take()
    }

    /// Whether a new branch has run since the last input: nobody counts.
    #[cfg(not(guided))]
    #[expect(clippy::unused_self, reason = "it has counters where branches are counted")]
    pub(super) const fn has_grown(&mut self) -> bool {
        false
    }

    /// Keeps an input, and saves it.
    pub(super) fn keep(&mut self, input: Vec<u8>) {
        if self.kept.len() >= MAX_KEPT || self.bytes + input.len() > MAX_BYTES {
            return;
        }
        let name = blake3::hash(&input).to_hex();
        let path = self.folder.join(&name[..32]);
        // A corpus that cannot be saved leads this run all the same.
        drop(std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(path, &input)));
        self.bytes += input.len();
        self.kept.push(input);
    }

    /// What was reached, in words.
    pub(super) fn told(&self) -> String {
        #[cfg(guided)]
        {
            let (reached, all) = self.seen.branches();
            return format!("; {reached} of {all} branches, {} inputs kept", self.kept.len());
        }
        #[cfg(not(guided))]
        String::new()
    }
}
