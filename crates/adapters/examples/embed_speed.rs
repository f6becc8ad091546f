//! How long the built-in model takes for a text: `cargo run --release -p kybern-adapters --example embed_speed`.

use std::hint::black_box;
use std::time::{Duration, Instant};

use kybern_adapters::models::builtin::Builtin;

/// A text of the length that passages have.
const PASSAGE: &str = "Invoices from Harborline Freight are paid thirty days after the goods have arrived, never \
    before. The certificate holder must be named as an additional insured, with a waiver of subrogation.";
/// How long each text is measured.
const SPAN: Duration = Duration::from_secs(1);

#[expect(clippy::disallowed_methods, reason = "a measurement needs the machine's own clock")]
fn main() {
    let model = Builtin::new();
    let begun = Instant::now();
    black_box(model.vector(PASSAGE));
    println!("the first text of the process: {:?}", begun.elapsed());
    let long = PASSAGE.repeat(32_000 / PASSAGE.len());
    for (name, text) in [("a question", &PASSAGE[..47]), ("a passage", PASSAGE), ("32,000 characters", long.as_str())] {
        let (begun, mut runs, mut tokens) = (Instant::now(), 0, 0);
        while begun.elapsed() < SPAN {
            tokens = black_box(model.vector(black_box(text))).1;
            runs += 1;
        }
        println!("{name}, {tokens} tokens: {:?}", begun.elapsed() / runs);
    }
}
