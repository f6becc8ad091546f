//! How alike two normalised names are.

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
