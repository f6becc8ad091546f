//! Fuzzing on stable Rust: one plain function per target, inputs that a seed repeats, and somebody who watches.
//!
//! Input number `n` of seed `s` depends on nothing but `s` and `n`: the first numbers are the corpus itself, the others
//! are made from it, from words that matter to the format, and by a maker that knows its structure. In the tests a
//! target plays a few thousand of them; `cargo xtask fuzz` plays a million in a release build.
//!
//! In a guided run (`cargo xtask fuzz --guided`) the program counts its branches. An input that reaches a new one is
//! kept and changed further, so what is played also depends on what was found before; what a run kept is the corpus of
//! the next.
//!
//! A finding is a panic, a broken promise, an input over its time, or one over its memory. It is made smaller, saved,
//! and told with the command that repeats it. Variables steer a run: `KYBERN_FUZZ_COUNT`, `KYBERN_FUZZ_SEED`,
//! `KYBERN_FUZZ_FROM` (the first number), `KYBERN_FUZZ_INPUT` (one file instead), `KYBERN_FUZZ_OUT` (where findings
//! are saved).

mod chance;
mod corpus;
pub mod json;
mod memory;
mod mutate;
mod options;
mod play;
mod shrink;
mod thread;

pub use chance::Chance;
pub use memory::peak as peak_megabytes;
pub use mutate::mutate;
pub use thread::computed;

/// The longest input, in bytes.
pub const MAX_INPUT: usize = 64 * 1024;
/// What an input may take, in megabytes over what the process holds before it.
const MAX_MEGABYTES: u64 = 256;

/// Runs one input; `Err` says which promise it broke.
pub type RunInput = dyn Fn(&[u8]) -> Result<(), String> + Send + Sync;
/// Makes an input with structure; `None` when the seeds do.
pub type MakeInput = dyn Fn(&Chance) -> Vec<u8> + Send + Sync;

/// What is fuzzed, and with what.
pub struct Target {
    name: &'static str,
    count: u64,
    seeds: Vec<Vec<u8>>,
    words: Vec<&'static [u8]>,
    maker: Option<Box<MakeInput>>,
    megabytes: u64,
    times: u32,
    run: Box<RunInput>,
}

impl Target {
    /// A target with the number of inputs that are played when nobody says.
    #[must_use]
    pub fn new(
        name: &'static str,
        count: u64,
        run: impl Fn(&[u8]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let (seeds, words) = (Vec::new(), Vec::new());
        Self { name, count, seeds, words, maker: None, megabytes: MAX_MEGABYTES, times: 1, run: Box::new(run) }
    }

    /// Inputs to begin with. Longer ones than [`MAX_INPUT`] are left out, because a torn one says little.
    #[must_use]
    pub fn seeds(mut self, seeds: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.seeds.extend(seeds.into_iter().filter(|seed| seed.len() <= MAX_INPUT));
        self
    }

    /// Words that matter to the format.
    #[must_use]
    pub fn words(mut self, words: &[&'static str]) -> Self {
        self.words.extend(words.iter().map(|word| word.as_bytes()));
        self
    }

    /// Who makes inputs with structure.
    #[must_use]
    pub fn made_by(mut self, maker: impl Fn(&Chance) -> Vec<u8> + Send + Sync + 'static) -> Self {
        self.maker = Some(Box::new(maker));
        self
    }

    /// What an input may take, in megabytes over what the process holds before it.
    #[must_use]
    pub fn within_megabytes(mut self, megabytes: u64) -> Self {
        self.megabytes = megabytes;
        self
    }

    /// How many times as long as others an input may take, where one stands for several.
    #[must_use]
    pub fn within_times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Plays the inputs.
    ///
    /// # Panics
    /// With the first finding.
    pub fn play(self) {
        let options = options::Options::from_environment(self.count);
        play::play(self, &options);
    }

    /// Input number `number` of a seed; of a guided run one that may come from those that were `kept`.
    fn input(&self, seed: u64, number: u64, kept: &[Vec<u8>]) -> Vec<u8> {
        let corpus = usize::try_from(number).ok().and_then(|number| self.seeds.get(number));
        if let Some(input) = corpus {
            return input.clone();
        }
        let chance = Chance::of(seed, number);
        let mut input = match (&self.maker, chance.below(16)) {
            (_, 0) => noise(&self.words, &chance),
            (Some(maker), 1..=8) => {
                let made = maker(&chance);
                if chance.percent(60) {
                    return made.into_iter().take(MAX_INPUT).collect();
                }
                made
            }
            _ => match self.seed(&chance, kept) {
                Some(seed) => seed.to_vec(),
                None => noise(&self.words, &chance),
            },
        };
        let other = self.seed(&chance, kept).unwrap_or_default();
        for _ in 0..=chance.below(1 << chance.below(4)) {
            mutate(&mut input, other, &self.words, &chance);
        }
        input.truncate(MAX_INPUT);
        input
    }

    /// One of the seeds and of those that were kept, more often a short one: more of those are played in the same time.
    fn seed<'t>(&'t self, chance: &Chance, kept: &'t [Vec<u8>]) -> Option<&'t [u8]> {
        let all = self.seeds.len() + kept.len();
        let drawn = [0; 3].map(|_| {
            let at = chance.index(all);
            self.seeds.get(at).or_else(|| kept.get(at.checked_sub(self.seeds.len())?)).map(Vec::as_slice)
        });
        drawn.into_iter().flatten().min_by_key(|seed| seed.len())
    }
}

/// Words of the format and bytes without any order.
fn noise(words: &[&'static [u8]], chance: &Chance) -> Vec<u8> {
    let mut input = Vec::new();
    for _ in 0..chance.below(64) {
        if words.is_empty() || chance.percent(30) {
            input.extend(chance.bytes(16));
        } else {
            input.extend_from_slice(words[chance.index(words.len())]);
        }
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(run: impl Fn(&[u8]) -> Result<(), String> + Send + Sync + 'static) -> Target {
        Target::new("test", 3_000, run).seeds([b"some text 12 with numbers".to_vec()]).words(&["{{", "bomb"])
    }

    /// What `play` tells when it finds something.
    fn told(target: Target) -> String {
        let options = options::Options { out: Some(std::env::temp_dir().join("kybern-fuzz-test")), ..options(&target) };
        let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| play::play(target, &options)));
        played.expect_err("it must find something").downcast_ref::<String>().cloned().unwrap_or_default()
    }

    fn options(target: &Target) -> options::Options {
        options::Options { count: target.count, seed: 1, from: 0, input: None, out: None }
    }

    #[test]
    fn a_number_is_always_the_same_input_and_two_numbers_are_not() {
        let target = target(|_| Ok(()));
        assert_eq!(target.input(1, 0, &[]), b"some text 12 with numbers");
        let inputs: std::collections::HashSet<_> = (0..100).map(|n| target.input(1, n, &[])).collect();
        assert!(inputs.len() > 90, "{}", inputs.len());
        assert_eq!(target.input(5, 77, &[]), target.input(5, 77, &[]));
        assert_ne!(target.input(5, 77, &[]), target.input(6, 77, &[]));
    }

    #[test]
    fn a_panic_is_found_made_smaller_and_saved() {
        let told = told(target(|input| {
            assert!(!input.windows(4).any(|four| four == b"bomb"), "it blew up");
            Ok(())
        }));
        assert!(told.contains("it blew up") && told.contains("cargo xtask fuzz --target test --seed 1"), "{told}");
        let path = told.lines().find_map(|line| line.trim().strip_prefix("saved to ")).unwrap_or_default();
        let path = path.split(" (").next().unwrap_or_default();
        assert_eq!(std::fs::read(path).ok().as_deref(), Some(&b"bomb"[..]), "{told}");
    }

    #[test]
    fn a_broken_promise_is_found() {
        let told = told(target(|input| if input.len() > 200 { Err("too long".to_owned()) } else { Ok(()) }));
        assert!(told.contains("too long"), "{told}");
    }

    #[test]
    fn an_input_over_its_memory_is_found() {
        let told = told(
            target(|input| {
                let much = if input.contains(&b'{') { 64 << 20 } else { 0 };
                let held = vec![1_u8; much];
                if held.iter().step_by(4096).map(|byte| usize::from(*byte)).sum::<usize>() == 1 {
                    return Err("never".to_owned());
                }
                Ok(())
            })
            .within_megabytes(32),
        );
        assert!(told.contains("megabytes"), "{told}");
    }
}
