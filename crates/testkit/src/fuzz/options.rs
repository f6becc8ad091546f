//! What a run plays, from the environment of the test.

use std::path::PathBuf;

/// What a run plays.
#[derive(Clone, Debug)]
pub(super) struct Options {
    /// How many inputs.
    pub(super) count: u64,
    /// Their seed.
    pub(super) seed: u64,
    /// The number of the first.
    pub(super) from: u64,
    /// One input instead, from a file.
    pub(super) input: Option<PathBuf>,
    /// Where findings are saved; in the folder for temporary files when nobody says.
    pub(super) out: Option<PathBuf>,
}

impl Options {
    pub(super) fn from_environment(count: u64) -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let number = |name: &str| text(name).map(|text| text.parse().expect("KYBERN_FUZZ_* must be a whole number"));
        Self {
            count: number("KYBERN_FUZZ_COUNT").unwrap_or(count),
            seed: number("KYBERN_FUZZ_SEED").unwrap_or(1),
            from: number("KYBERN_FUZZ_FROM").unwrap_or(0),
            input: text("KYBERN_FUZZ_INPUT").map(PathBuf::from),
            out: text("KYBERN_FUZZ_OUT").map(PathBuf::from),
        }
    }

    /// The file in which the number of the input is noted that is played, when findings have a place of their own.
    pub(super) fn note(&self, target: &str) -> Option<std::fs::File> {
        let folder = self.out.as_ref()?;
        std::fs::create_dir_all(folder).ok()?;
        std::fs::File::create(folder.join(format!("{target}.at"))).ok()
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| std::env::temp_dir().join("kybern-fuzz"))
    }
}
