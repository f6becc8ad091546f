//! The rows that are printed.

/// The head of a part's table, under the command that measures this part alone.
pub(crate) fn head(part: &str, seconds: u64) {
    println!("\n`cargo xtask perf --only {part} --seconds {seconds}`\n");
    println!("| measured | figure | goal | |\n|---|---|---|---|");
}

pub(crate) fn line(what: &str, measured: &str, goal: &str, met: Option<bool>) {
    let verdict = met.map_or("", |met| if met { "met" } else { "MISSED" });
    println!("| {what} | {measured} | {goal} | {verdict} |");
}

pub(crate) fn at_most(what: &str, measured: f64, unit: &str, goal: f64) {
    line(what, &format!("{measured:.2} {unit}"), &format!("at most {goal} {unit}"), Some(measured <= goal));
}

pub(crate) fn at_least(what: &str, measured: f64, unit: &str, goal: f64) {
    line(what, &format!("{measured:.2} {unit}"), &format!("at least {goal} {unit}"), Some(measured >= goal));
}
