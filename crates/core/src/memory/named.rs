//! Which words of a message may name a record.
//!
//! A key or an identifier has a digit in it, or a mark between letters: `order:9104417`, `9104417`, `acme-north`. A
//! plain word is none, so that an ordinary sentence is looked up nowhere.

/// The most words of one message that are taken for names.
const MOST: usize = 16;
/// The least and the most characters of a name.
const LENGTH: std::ops::RangeInclusive<usize> = 3..=128;
/// What stands between the parts of a key.
const MARKS: [char; 4] = [':', '_', '-', '/'];

/// The words of a text that may be keys or identifiers of records, each as it is written, in small and in large
/// letters. Of `dot#9104417` and `DOT:9104417` the part behind the mark is one, too.
#[must_use]
pub fn names_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    // `k1,k2` are two, and `$1,250,000` is one.
    let is_group = |part: &str| part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit());
    let is_amount = |word: &str| trimmed(word).split(',').skip(1).all(is_group);
    let marks = |word: &str| if is_amount(word) { [].as_slice() } else { [',', ';'].as_slice() };
    let words = text.split_whitespace().flat_map(|word| word.split(marks(word))).map(trimmed);
    let words = words.filter(|word| is_name(word));
    for word in words.take(MOST) {
        let behind = word.rsplit([':', '#', '=']).next().filter(|part| *part != word && is_name(part));
        for part in std::iter::once(word).chain(behind) {
            for form in [part.to_owned(), part.to_lowercase(), part.to_uppercase()] {
                if !names.contains(&form) {
                    names.push(form);
                }
            }
        }
    }
    names
}

/// A word without the marks of the sentence around it, and without the ending of a possessive.
fn trimmed(word: &str) -> &str {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    word.strip_suffix("'s").or_else(|| word.strip_suffix("\u{2019}s")).unwrap_or(word)
}

fn is_name(word: &str) -> bool {
    let parts = || word.split(MARKS);
    let joined = parts().count() > 1 && parts().all(|part| !part.is_empty());
    LENGTH.contains(&word.chars().count()) && (joined || word.chars().any(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_sentence_names_nothing() {
        for text in ["", "How does Acme pay?", "Is it 5 or 12?", "- a list\n- of words", "and/ or :x", "\u{0} ..."] {
            assert_eq!(names_in(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn keys_and_identifiers_are_found_as_they_may_be_written() {
        assert_eq!(names_in("What about (9104417)?"), ["9104417"]);
        assert_eq!(names_in("\"Acme-Freight\", please"), ["Acme-Freight", "acme-freight", "ACME-FREIGHT"]);
        let dot = ["DOT:9104417", "dot:9104417", "9104417"];
        assert_eq!(names_in("DOT:9104417."), dot);
        assert_eq!(names_in("dot:9104417 and 9104417"), ["dot:9104417", "DOT:9104417", "9104417"]);
        assert_eq!(names_in("acme-freight's"), ["acme-freight", "ACME-FREIGHT"]);
        assert_eq!(names_in("It was $1,250,000, it says."), ["1,250,000"]);
        assert_eq!(names_in("k-1,k-2"), ["k-1", "K-1", "k-2", "K-2"]);
        assert!(names_in("MC#123456").contains(&"123456".to_owned()));
    }

    #[test]
    fn a_long_message_names_no_more_than_can_be_looked_up() {
        let long: String = (1_000..2_000).map(|n| format!("key-{n} ")).collect();
        assert_eq!(names_in(&long).len(), MOST * 2);
        assert!(names_in(&"9".repeat(200)).is_empty());
    }
}
