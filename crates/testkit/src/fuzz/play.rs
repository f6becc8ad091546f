//! Runs the inputs on a thread with the stack of a server's thread, while another watches.
#![expect(clippy::panic, reason = "a finding is told by a panic: it fails the test")]

use std::os::unix::fs::FileExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::corpus::{Corpus, GUIDED};
use super::options::Options;
use super::{Target, memory, shrink, thread};

/// What one input may take: a release build on any machine; a debug build is ten times slower.
/// A program that counts its branches is slower.
const MAX_TIME: Duration = match (cfg!(debug_assertions), GUIDED) {
    (true, _) => Duration::from_secs(10),
    (false, true) => Duration::from_secs(2),
    (false, false) => Duration::from_secs(1),
};
/// Nothing that takes so long ever ends.
const HANGS: Duration = Duration::from_secs(90);
/// A busy machine makes anything slow once. What is slow so often, without the time it waited for a core, is slow
/// itself.
const TRIES: u32 = 3;
/// The stack of the threads that a server runs on.
const STACK: usize = 2 * 1024 * 1024;
/// How often somebody looks at what runs.
const LOOK: Duration = Duration::from_millis(50);
/// Inputs that end sooner cannot have taken much memory.
const QUICK: Duration = Duration::from_millis(1);
/// How often progress is told.
const TELL: Duration = Duration::from_secs(10);

/// What was found.
struct Finding {
    number: u64,
    why: String,
    input: Vec<u8>,
    was: usize,
}

/// The end of a run.
struct PlayEnd {
    count: u64,
    bytes: u64,
    slowest: (Duration, u64),
    /// What a guided run reached.
    reached: String,
}

/// The input that is played, with its number.
type CurrentInput = Mutex<Option<(u64, Vec<u8>)>>;

pub(super) fn play(mut target: Target, options: &Options) {
    if let Some(path) = &options.input {
        let input = std::fs::read(path).expect("the file of KYBERN_FUZZ_INPUT can be read");
        if let Err(why) = attempt(&target, &input) {
            panic_with(&target, options, &Finding { number: 0, why, was: input.len(), input });
        }
        return;
    }
    let corpus = Corpus::in_folder(options.folder().join("corpus").join(target.name));
    if GUIDED {
        target = target.seeds(corpus.saved());
    }
    let target = Arc::new(target);
    let current = Arc::new(CurrentInput::default());
    let (tell, hear) = channel();
    let began = now();
    let at_first = memory::peak();
    std::thread::Builder::new()
        .name(format!("fuzz-{}", target.name))
        .stack_size(STACK)
        .spawn({
            let (target, current, options) = (Arc::clone(&target), Arc::clone(&current), options.clone());
            move || work(&target, &options, corpus, &current, &tell)
        })
        .expect("a thread can be started");
    let mut seen = (None, now());
    let mut told = now();
    let outcome = loop {
        match hear.recv_timeout(LOOK) {
            Ok(outcome) => break outcome,
            Err(RecvTimeoutError::Disconnected) => panic!("the thread of the target is gone"),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let number = played(&current).map(|(number, _)| number);
        if number != seen.0 {
            seen = (number, now());
        }
        let grown = memory::now().saturating_sub(at_first);
        let why = if seen.1.elapsed() > HANGS {
            format!("it does not end: {} seconds and still running", HANGS.as_secs())
        } else if grown > target.megabytes * 4 {
            format!("it takes {grown} megabytes and is still running")
        } else {
            if told.elapsed() > TELL && options.count > target.count {
                told = now();
                let number = number.unwrap_or_default();
                println!("fuzz {}: at {number}, {:.0} s", target.name, began.elapsed().as_secs_f64());
            }
            continue;
        };
        let (number, input) = played(&current).unwrap_or_default();
        break Err(Finding { number, why, was: input.len(), input });
    };
    match outcome {
        Ok(done) => report(&target, options, &done, began.elapsed(), memory::peak().saturating_sub(at_first)),
        Err(finding) => panic_with(&target, options, &finding),
    }
}

/// What is played just now.
fn played(current: &CurrentInput) -> Option<(u64, Vec<u8>)> {
    current.lock().ok()?.clone()
}

fn work(
    target: &Target,
    options: &Options,
    mut corpus: Corpus,
    current: &CurrentInput,
    tell: &Sender<Result<PlayEnd, Finding>>,
) {
    let at_first = memory::peak();
    let mut done = PlayEnd { count: 0, bytes: 0, slowest: (Duration::ZERO, 0), reached: String::new() };
    let note = options.note(target.name);
    for number in options.from..options.from.saturating_add(options.count) {
        let input = target.input(options.seed, number, corpus.kept());
        if let Ok(mut current) = current.lock() {
            *current = Some((number, input.clone()));
        }
        if let Some(note) = &note {
            // Only a note is left of a process that overflows its stack.
            if GUIDED {
                drop(note.set_len(input.len() as u64).and_then(|()| note.write_all_at(&input, 0)));
            } else {
                drop(note.write_all_at(format!("{number:020}").as_bytes(), 0));
            }
        }
        corpus.has_grown();
        if options.count == 1 {
            println!("fuzz {}: {}", target.name, save(target.name, options, number, &input));
        }
        let was = input.len();
        let (took, fault) = judge(target, &input, at_first + corpus.megabytes());
        if let Some((why, again)) = fault {
            let input = if again { shrink::shrink(input, |smaller| attempt(target, smaller).is_err()) } else { input };
            drop(tell.send(Err(Finding { number, why, input, was })));
            return;
        }
        // What comes first is in the corpus already.
        if corpus.has_grown() && number >= target.seeds.len() as u64 {
            corpus.keep(input);
        }
        done.count += 1;
        done.bytes += was as u64;
        if took > done.slowest.0 {
            done.slowest = (took, number);
        }
    }
    done.reached = corpus.told();
    drop(tell.send(Ok(done)));
}

/// What an input takes over what the process holds before it.
fn own_megabytes(target: &Target, input: &[u8]) -> u64 {
    memory::forget_peak();
    let before = memory::now();
    drop(attempt(target, input));
    memory::peak().saturating_sub(before)
}

/// How long an input took, and what is wrong with it, with whether trying smaller ones is worth while.
fn judge(target: &Target, input: &[u8], at_first: u64) -> (Duration, Option<(String, bool)>) {
    let began = now();
    let outcome = attempt(target, input);
    let mut took = began.elapsed();
    if let Err(why) = outcome {
        return (took, Some((why, true)));
    }
    let grown = if took > QUICK { memory::peak().saturating_sub(at_first) } else { 0 };
    // The allocator keeps some of what the inputs before took: what is over is looked at by itself.
    let own = if grown > target.megabytes { own_megabytes(target, input) } else { 0 };
    if own > target.megabytes {
        return (took, Some((format!("it takes {own} megabytes, {} are allowed", target.megabytes), false)));
    }
    let most = MAX_TIME * target.times;
    for _ in 1..TRIES {
        if took > most {
            let (began, waited) = (now(), thread::waited_for_a_core());
            drop(attempt(target, input));
            let waited = thread::waited_for_a_core().saturating_sub(waited);
            took = took.min(began.elapsed().saturating_sub(waited));
        }
    }
    let slow = (took > most).then(|| (format!("it takes {took:?}, {most:?} are allowed"), false));
    (took, slow)
}

/// Runs one input; a panic is a broken promise too.
fn attempt(target: &Target, input: &[u8]) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| (target.run)(input))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        Err(format!("it panics: {}", text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?")))
    })
}

fn report(target: &Target, options: &Options, done: &PlayEnd, took: Duration, grown: u64) {
    let seconds = took.as_secs_f64();
    let (slowest, number) = done.slowest;
    println!(
        "fuzz {}: {} inputs of seed {} from {}, {:.1} MB in {seconds:.1} s, {:.0}/s; slowest {slowest:.1?} (number \
         {number}), memory +{grown} MB{}, nothing found",
        target.name,
        done.count,
        options.seed,
        options.from,
        done.bytes as f64 / 1e6,
        done.count as f64 / seconds,
        done.reached,
    );
}

fn panic_with(target: &Target, options: &Options, finding: &Finding) -> ! {
    let saved = save(target.name, options, finding.number, &finding.input);
    // What is played in a guided run depends on what it found before.
    let again = if GUIDED {
        "--input FILE".to_owned()
    } else {
        format!("--seed {} --from {} --count 1", options.seed, finding.number)
    };
    panic!(
        "fuzz {}: input {} of seed {}: {}\n  {saved} ({} bytes, {} before it was made smaller)\n  repeat it with: cargo \
         xtask fuzz --target {} {again}",
        target.name,
        finding.number,
        options.seed,
        finding.why,
        finding.input.len(),
        finding.was,
        target.name,
    )
}

fn save(name: &str, options: &Options, number: u64, input: &[u8]) -> String {
    let path = options.folder().join(format!("{name}-{}-{number}", options.seed));
    let saved = std::fs::create_dir_all(options.folder()).and_then(|()| std::fs::write(&path, input));
    saved.map_or_else(|error| format!("not saved: {error}"), |()| format!("saved to {}", path.display()))
}

#[expect(clippy::disallowed_methods, reason = "this measures real time")]
fn now() -> Instant {
    Instant::now()
}
