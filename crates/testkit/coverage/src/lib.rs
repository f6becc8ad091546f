//! Which branches have run, as LLVM's `SanitizerCoverage` counts them.
//!
//! A program that is built with `-Cpasses=sancov-module` and inline 8-bit counters has one counter for each branch, and
//! hands their place over before `main` begins. Nothing else in the project is unsafe, and nothing else needs this
//! crate: it is built only with `--cfg guided`, which `cargo xtask fuzz --guided` sets.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The counters that were handed over, in the order in which that happened.
static COUNTERS: Mutex<Vec<&'static [AtomicU8]>> = Mutex::new(Vec::new());

/// Takes the counters of a module. Compilers call this before `main`, once for each module, perhaps with the same
/// counters again.
///
/// # Safety
/// `start` and `stop` must be the bounds of counters that live as long as the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sanitizer_cov_8bit_counters_init(start: *const AtomicU8, stop: *const AtomicU8) {
    // SAFETY: both are the bounds of one section of the program, which lives as long as it; an atomic byte is laid out
    // as a byte, and everybody else only adds to it.
    let counters = unsafe { std::slice::from_raw_parts(start, stop.offset_from_unsigned(start)) };
    if let Ok(mut known) = COUNTERS.lock()
        && !known.iter().any(|one| std::ptr::eq(one.as_ptr(), counters.as_ptr()))
    {
        known.push(counters);
    }
}

/// How many counters are looked at together.
const TOGETHER: usize = size_of::<AtomicU64>();

/// What has run so far, and about how often.
#[derive(Debug, Default)]
pub struct SeenBranches {
    /// For each counter one bit for each order of magnitude that it has reached.
    reached: Vec<Vec<u8>>,
}

impl SeenBranches {
    /// Takes what has run since it was last asked; whether any of it is new, or ran in a new order of magnitude.
    pub fn take(&mut self) -> bool {
        let Ok(counters) = COUNTERS.lock() else { return false };
        self.reached.resize_with(counters.len(), Vec::new);
        let mut is_new = false;
        for (counters, reached) in counters.iter().zip(&mut self.reached) {
            reached.resize(counters.len(), 0);
            for start in moved(counters) {
                let end = counters.len().min(start + TOGETHER);
                for (counter, reached) in counters[start..end].iter().zip(&mut reached[start..end]) {
                    let count = counter.load(Ordering::Relaxed);
                    if count != 0 {
                        counter.store(0, Ordering::Relaxed);
                        is_new |= *reached & magnitude(count) == 0;
                        *reached |= magnitude(count);
                    }
                }
            }
        }
        is_new
    }

    /// How many branches have run, of how many.
    #[must_use]
    pub fn branches(&self) -> (usize, usize) {
        let all = || self.reached.iter().flatten();
        (all().filter(|reached| **reached != 0).count(), all().count())
    }
}

/// Where counters begin of which some are not 0, so many together. A program has half a million of them, and an input
/// moves some hundreds.
fn moved(counters: &[AtomicU8]) -> impl Iterator<Item = usize> {
    // SAFETY: an atomic number of eight bytes is laid out as eight atomic bytes, whatever stands in them, and is only
    // read here.
    let (before, words, after) = unsafe { counters.align_to::<AtomicU64>() };
    let (first, last) = (before.len(), counters.len() - after.len());
    let of_words = words.iter().enumerate().filter(|(_, word)| word.load(Ordering::Relaxed) != 0);
    let aligned = of_words.map(move |(n, _)| first + n * TOGETHER);
    // The few outside of whole words are always looked at, with some of the words beside them.
    [0, last].into_iter().chain(aligned)
}

/// 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, 32 to 127, and more: the classes that AFL found to be enough.
const fn magnitude(count: u8) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        128..=255 => 128,
    }
}
