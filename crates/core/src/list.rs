//! Long lists of words, written as one text: vocabularies are read and compared by the screen, not by the word.

/// A `&'static [&'static str]` of the words and phrases of a text, which stand with `, ` between them.
///
/// ```
/// assert_eq!(kybern_core::list!("order, send us, get hold of"), ["order", "send us", "get hold of"]);
/// ```
#[macro_export]
macro_rules! list {
    ($text:literal) => {{
        const COUNT: usize = $crate::list::count($text);
        const LIST: &[&str] = &$crate::list::split::<COUNT>($text);
        LIST
    }};
}

/// How many words and phrases a text has.
#[must_use]
pub const fn count(text: &str) -> usize {
    let (bytes, mut at, mut count) = (text.as_bytes(), 0, 1);
    while at < bytes.len() {
        if bytes[at] == b',' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// The words and phrases of a text.
///
/// # Panics
/// Where there are not so many, where one is empty, or where a comma stands without its blank: [`list!`] does not compile
/// then.
#[must_use]
pub const fn split<const COUNT: usize>(text: &str) -> [&str; COUNT] {
    let (mut list, mut rest, mut at) = ([""; COUNT], text, 0);
    while at < COUNT {
        let (bytes, mut end) = (rest.as_bytes(), 0);
        while end < bytes.len() && bytes[end] != b',' {
            end += 1;
        }
        assert!(end > 0 && bytes[end - 1] != b' ', "a word is empty or ends with a blank");
        let (word, behind) = rest.split_at(end);
        list[at] = word;
        if !behind.is_empty() {
            assert!(behind.len() > 1 && behind.as_bytes()[1] == b' ', "a comma has no blank behind it");
            rest = behind.split_at(2).1;
        }
        at += 1;
    }
    list
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_text_is_a_list_of_its_words_and_phrases() {
        assert_eq!(list!("one"), ["one"]);
        let long = list!(
            "vor dem, 2. Mal, ce n est pas, \
             ou \u{e9}t\u{e9}"
        );
        assert_eq!(long, ["vor dem", "2. Mal", "ce n est pas", "ou \u{e9}t\u{e9}"]);
    }
}
