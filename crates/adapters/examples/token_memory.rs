//! What counting tokens costs in memory and time: `cargo run --release -p kybern-adapters --example token_memory`.

use std::time::Instant;

use kybern_adapters::models::tokens::Tokenizers;
use kybern_core::ports::TokenCounter;

#[expect(clippy::disallowed_methods, reason = "a measurement needs the machine's own clock")]
fn main() {
    let text = "Please send the certificate of insurance to the holder, with a waiver of subrogation. ".repeat(4_000);
    println!("at start: {}", resident());
    // The first has no tokenizer here.
    for model in ["claude-opus-5-5", "gpt-4o", "gpt-4o", "gpt-4"] {
        for (name, text) in [("a word", "word"), ("all", text.as_str())] {
            let begun = Instant::now();
            let count = Tokenizers.count(model, &mut [text].into_iter());
            println!("{model}, {name} ({} bytes): {count:?} in {:?}; {}", text.len(), begun.elapsed(), resident());
        }
    }
}

/// Resident memory, as Linux tells it.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.map_or_else(|| "unknown here".to_owned(), |line| line.split_whitespace().collect::<Vec<_>>().join(" "))
}
