//! Lines of coverage: the many ways to write them, and the one name each has here.

use crate::args::add;

/// A line's name, and how it is written, in lower case. Longer spellings stand first, also those of other lines.
const LINES: &[(&str, &[&str])] = &[
    ("Non-Trucking Liability", &["non-trucking liability", "non trucking liability", "bobtail"]),
    ("Auto Liability", &["automobile liability", "auto liability", "truck liability", "trucking liability"]),
    ("General Liability", &["commercial general liability", "truckers general liability", "general liability"]),
    ("Motor Truck Cargo", &["motor truck cargo", "truck cargo", "cargo"]),
    ("Physical Damage", &["auto physical damage", "physical damage"]),
    ("Trailer Interchange", &["trailer interchange"]),
    ("Workers Compensation", &["workers' compensation", "workers compensation", "workers comp", "work comp"]),
    ("Occupational Accident", &["occupational accident"]),
    ("Umbrella", &["umbrella", "excess liability"]),
    ("Property", &["commercial property"]),
];

/// Abbreviations, which count only when they are the whole text.
const SHORT: &[(&str, &str)] = &[
    ("al", "Auto Liability"),
    ("ca", "Auto Liability"),
    ("commercial auto", "Auto Liability"),
    ("auto", "Auto Liability"),
    ("liability", "Auto Liability"),
    ("cgl", "General Liability"),
    ("gl", "General Liability"),
    ("mtc", "Motor Truck Cargo"),
    ("apd", "Physical Damage"),
    ("pd", "Physical Damage"),
    ("ntl", "Non-Trucking Liability"),
    ("ti", "Trailer Interchange"),
    ("wc", "Workers Compensation"),
];

/// The lines that a text names, in the order in which they stand, without doubles.
pub(crate) fn lines_in(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let mut found: Vec<(usize, &str)> = Vec::new();
    let mut rest = lower.clone();
    for (name, spellings) in LINES {
        for spelling in *spellings {
            let mut from = 0;
            while let Some(at) = whole_word(&rest, spelling, from) {
                found.push((at, name));
                // What has been understood is blanked, so that `cargo` is not found again inside `truck cargo`.
                from = at + spelling.len();
                rest.replace_range(at..from, &" ".repeat(spelling.len()));
            }
        }
    }
    if found.iter().all(|(_, name)| !name.ends_with("Liability"))
        && let Some(at) = whole_word(&rest, "liability", 0)
    {
        // Trucking people say `liability` and mean the trucks'.
        found.push((at, "Auto Liability"));
    }
    found.sort_unstable();
    let mut names = Vec::new();
    add(&mut names, found.into_iter().map(|(_, name)| name.to_owned()));
    names
}

/// The lines of one label, cell or list item: its known names or, when it has none, the text as it stands.
pub(crate) fn lines_of(text: &str) -> Vec<String> {
    let trimmed = text.trim().trim_matches(['.', ',', ';', ':']).trim();
    if let Some((_, name)) = SHORT.iter().find(|(short, _)| trimmed.eq_ignore_ascii_case(short)) {
        return vec![(*name).to_owned()];
    }
    let known = lines_in(trimmed);
    if !known.is_empty() || trimmed.is_empty() {
        return known;
    }
    let parts = trimmed.split([',', '/', ';', '+']).map(str::trim).filter(|part| !part.is_empty());
    let mut names = Vec::new();
    for part in parts {
        let short = SHORT.iter().find(|(short, _)| part.eq_ignore_ascii_case(short));
        add(&mut names, [short.map_or(part, |(_, name)| name).to_owned()]);
    }
    names
}

/// The lines of several labels or cells. Where one has a known name, texts without one are no lines but limits and
/// deductibles that stand in the same column.
pub(crate) fn lines_of_all<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for name in texts.flat_map(lines_of) {
        let is_known = LINES.iter().any(|(line, _)| *line == name);
        add(if is_known { &mut known } else { &mut unknown }, [name]);
    }
    if known.is_empty() { unknown } else { known }
}

/// Where `word` stands in `text` from a byte on, not as a part of a longer word.
fn whole_word(text: &str, word: &str, from: usize) -> Option<usize> {
    text[from..].match_indices(word).map(|(at, _)| from + at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_named_once_and_in_order() {
        assert_eq!(
            lines_in("MOTOR TRUCK CARGO and cargo, then automobile liability; Physical Damage"),
            ["Motor Truck Cargo", "Auto Liability", "Physical Damage"]
        );
        assert_eq!(lines_in("quote us for liability, cargo"), ["Auto Liability", "Motor Truck Cargo"]);
        assert_eq!(lines_in("General Liability"), ["General Liability"]);
        assert_eq!(lines_in("Non-Trucking Liability and cargo"), ["Non-Trucking Liability", "Motor Truck Cargo"]);
        assert!(lines_in("a cargoship").is_empty());
    }

    #[test]
    fn a_label_may_be_short_or_unknown() {
        assert_eq!(lines_of("MTC"), ["Motor Truck Cargo"]);
        assert_eq!(lines_of("AL / APD"), ["Auto Liability", "Physical Damage"]);
        assert_eq!(lines_of("Pollution"), ["Pollution"]);
        assert!(lines_of("  ").is_empty());
        assert_eq!(lines_of_all(["Medical Payments", "AL"].into_iter()), ["Auto Liability"]);
    }

    #[test]
    fn a_line_that_is_named_again_and_again_is_found_as_often_in_time() {
        assert_eq!(lines_in(&"cargo ".repeat(50)), ["Motor Truck Cargo"]);
        assert!(kybern_testkit::growth(4_000, |times| drop(lines_in(&"cargo ".repeat(times)))) < 24.0);
    }
}
