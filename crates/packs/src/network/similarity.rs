//! How alike two normalised names are, and whether they are two spellings of one.

use crate::company;

/// From this likeness on two names may mean one company.
const ENOUGH: f64 = 0.9;

/// Whether two normalised names may mean one company.
pub(super) fn alike(a: &str, b: &str) -> bool {
    // A name that is much longer needs as many letters more; that is seen without comparing them. Nothing is lost by
    // a share that is a little too generous.
    let (short, long) = (a.chars().count().min(b.chars().count()), a.chars().count().max(b.chars().count()));
    (long - short) * 8 <= long && similarity(a, b) >= ENOUGH
}

/// From 0 to 1: one minus the share of letters that must be added, dropped, changed or swapped with their neighbour.
/// Names with different numbers in them (`fleet 1`, `fleet 2`) are never alike.
fn similarity(a: &str, b: &str) -> f64 {
    if !numbers(a).eq(numbers(b)) {
        return 0.0;
    }
    let longest = a.chars().count().max(b.chars().count());
    if longest == 0 {
        return 1.0;
    }
    let share = |n: usize| u32::try_from(n).map_or(f64::INFINITY, f64::from);
    1.0 - share(strsim::osa_distance(a, b)) / share(longest)
}

/// What stands between a name and the one under which its owner trades, as normalised names have it.
const TRADING_AS: [&str; 2] = [" dba ", " d b a "];

/// The least letters of a name run together that say which one it is.
const MIN_RUN: usize = 5;
/// The least letters of a word in which one may be wrong.
const MIN_SLIP: usize = 5;

/// Whether two normalised names are plainly one company's: with a slip of the pen, cut short, run together, in initials,
/// or with the name under which it trades.
pub(super) fn variants(a: &str, b: &str) -> bool {
    parts(a).into_iter().any(|a| parts(b).into_iter().any(|b| are_variants(a, b)))
}

/// A name and the one under which its owner trades.
fn parts(name: &str) -> Vec<&str> {
    let found = TRADING_AS.iter().find_map(|mark| name.split_once(mark));
    found.map_or_else(|| vec![name], |(legal, trade)| vec![legal, trade])
}

fn are_variants(a: &str, b: &str) -> bool {
    let (own_a, own_b) = (own_words(a), own_words(b));
    let (run_a, run_b) = (own_a.concat(), own_b.concat());
    alike(a, b)
        || holds(&own_a, &own_b)
        || holds(&own_b, &own_a)
        || (run_a.len().min(run_b.len()) >= MIN_RUN && (run_a.starts_with(&run_b) || run_b.starts_with(&run_a)))
        || abbreviates(a, b)
        || abbreviates(b, a)
}

/// The words that tell a company from others; all of them when it has no others.
fn own_words(name: &str) -> Vec<&str> {
    let own: Vec<&str> = name.split(' ').filter(|word| !company::TRADE_WORDS.contains(word)).collect();
    if own.is_empty() { name.split(' ').collect() } else { own }
}

/// Whether every word of the one is a word of the other, give or take a letter.
fn holds(long: &[&str], short: &[&str]) -> bool {
    let same = |a: &str, b: &str| {
        a == b || (a.len().min(b.len()) >= MIN_SLIP && numbers(a).eq(numbers(b)) && strsim::osa_distance(a, b) <= 1)
    };
    short.iter().all(|word| long.iter().any(|other| same(word, other)))
}

/// Whether the words of the one are words of the other or initials of them, in their order: `j f transport`, `jf
/// transport` and `jft` for `juniper flats transport`. Words of a trade may be left out at the end.
fn abbreviates(short: &str, long: &str) -> bool {
    let mut rest: Vec<&str> = long.split(' ').rev().collect();
    let mut initials = 0;
    for word in short.split(' ') {
        if rest.last() == Some(&word) {
            rest.pop();
            continue;
        }
        for letter in word.chars() {
            if !rest.pop().is_some_and(|next| next.starts_with(letter)) {
                return false;
            }
            initials += 1;
        }
    }
    initials > 1 && rest.iter().all(|word| company::TRADE_WORDS.contains(word))
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_is_alike_and_another_word_is_not() {
        assert!(alike("juniper flats transport", "juniper flat transport"));
        assert!(alike("juniper flats transport", "juniper falts transport"));
        assert!(!alike("juniper flats transport", "jupiter fast transport"));
        assert!(!alike("gravel bend hauling", "copper kettle hauling"));
        assert!(!alike("interstate fleet 1 trucking", "interstate fleet 2 trucking"));
        assert!(!alike("juniper flats transport", "juniper flats transport and warehousing"));
    }

    #[test]
    fn spellings_of_one_name_are_variants_and_other_names_are_not() {
        for (a, b) in [
            ("juniper flats transport", "juniper flat transport"),
            ("juniper flats transport", "juniper flats"),
            ("juniper flats transport", "juniper flats trucking and logistics"),
            ("juniper flats transport", "juniper flats grain and feed transport"),
            ("juniper flats transport", "juniperflats"),
            ("juniper flats transport", "j f transport"),
            ("juniper flats transport", "jf transport"),
            ("juniper flats transport", "jft"),
            ("juniper flats transport", "ada example dba juniper flats"),
            ("ada example d b a juniper flats", "ada example"),
        ] {
            assert!(variants(a, b) && variants(b, a), "{a} / {b}");
        }
        for (a, b) in [
            ("juniper flats transport", "copper kettle transport"),
            ("juniper flats transport", "juniper bend transport"),
            ("juniper flats transport", "transport"),
            ("juniper flats transport", "jbt"),
            ("interstate fleet 1 trucking", "interstate fleet 2 trucking"),
            ("acme", "apex"),
        ] {
            assert!(!variants(a, b) && !variants(b, a), "{a} / {b}");
        }
    }

    #[test]
    fn likeness_is_symmetric_and_one_for_the_same() {
        let names = ["", "a", "acme", "acme freight", "amce freight"];
        for a in names {
            assert!((similarity(a, a) - 1.0).abs() < f64::EPSILON);
            for b in names {
                assert_eq!(alike(a, b), similarity(a, b) >= ENOUGH);
                assert!((similarity(a, b) - similarity(b, a)).abs() < f64::EPSILON);
            }
        }
    }
}
