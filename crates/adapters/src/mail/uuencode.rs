//! Files that stand in a text as uuencode: between `begin 644 name` and `end`, three bytes in four letters.
//!
//! Programs that are older than MIME, and devices that send scans, still write them. What is no whole block stays text.

use std::ops::Range;

/// A file that was found in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct UuencodedFile {
    /// As it was written, so perhaps with folders.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Bytes of the most that one line holds.
const MAX_LINE: usize = 63;

/// Takes the files out of a text, `most` at most.
pub(super) fn take_out(text: &mut String, most: usize) -> Vec<UuencodedFile> {
    let mut found = Vec::new();
    if !text.contains("begin ") {
        return found;
    }
    let mut kept = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(line) = text.get(at..).filter(|rest| !rest.is_empty()).map(first_line) {
        match (found.len() < most).then(|| block(&text[at..])).flatten() {
            Some((file, range)) => {
                kept.push_str(&text[from..at]);
                found.push(file);
                at += range.end;
                from = at;
            }
            None => at += line.len(),
        }
    }
    if !found.is_empty() {
        kept.push_str(&text[from..]);
        *text = kept;
    }
    found
}

/// The file that these bytes are, when they are one block and nothing else.
pub(super) fn decode(bytes: &[u8]) -> Option<UuencodedFile> {
    // One byte, one character: what is no letter of the code is refused anyway.
    let mut text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let mut found = take_out(&mut text, 1);
    found.pop().filter(|_| text.trim().is_empty())
}

/// The block at the start of a text, and how much of the text it is.
fn block(text: &str) -> Option<(UuencodedFile, Range<usize>)> {
    let head = first_line(text);
    let (mode, name) = head.strip_prefix("begin ")?.trim_end().split_once(' ')?;
    let is_mode = (3..=4).contains(&mode.len()) && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    if !is_mode || name.trim().is_empty() {
        return None;
    }
    let mut bytes = Vec::new();
    let mut at = head.len();
    let mut is_over = false;
    loop {
        let line = first_line(text.get(at..).filter(|rest| !rest.is_empty())?);
        at += line.len();
        let code = line.trim_end_matches(['\r', '\n']);
        if code.trim() == "end" {
            return is_over.then(|| (UuencodedFile { name: name.trim().to_owned(), bytes }, 0..at));
        }
        // A line without bytes comes before the end, and may have lost its blank on the way.
        is_over = matches!(code.trim_end(), "" | "`");
        if !is_over {
            line_bytes(code.as_bytes(), &mut bytes)?;
        }
    }
}

/// A line with its line end.
fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

fn line_bytes(line: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    let value = |letter: u8| (b' '..=b'`').contains(&letter).then(|| (letter - b' ') & 0x3f);
    let (first, code) = line.split_first()?;
    let length = usize::from(value(*first)?);
    let letters = length.div_ceil(3) * 4;
    // Blanks at the end get lost; some programs add a letter to check by.
    if length == 0 || length > MAX_LINE || code.len() > letters + 1 {
        return None;
    }
    let mut decoded = Vec::with_capacity(letters / 4 * 3);
    let letter = |at: usize| value(code.get(at).copied().unwrap_or(b' '));
    for four in 0..letters / 4 {
        let [a, b, c, d] = [letter(4 * four)?, letter(4 * four + 1)?, letter(4 * four + 2)?, letter(4 * four + 3)?];
        decoded.extend([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d]);
    }
    bytes.extend_from_slice(decoded.get(..length)?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(name: &str, bytes: &[u8]) -> String {
        let letter = |value: u8| char::from(if value == 0 { b'`' } else { value + b' ' });
        let mut text = format!("begin 644 {name}\n");
        for line in bytes.chunks(45) {
            text.push(letter(u8::try_from(line.len()).unwrap()));
            for three in line.chunks(3) {
                let [a, b, c] = [0, 1, 2].map(|n| three.get(n).copied().unwrap_or(0));
                for value in [a >> 2, (a << 4 | b >> 4) & 63, (b << 2 | c >> 6) & 63, c & 63] {
                    text.push(letter(value));
                }
            }
            text.push('\n');
        }
        text.push_str("`\nend\n");
        text
    }

    #[test]
    fn a_file_is_taken_out_of_the_text_around_it() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut text = format!("Hello,\nsee below.\n\n{}\nRegards", encoded("loss run.pdf", &bytes));
        let found = take_out(&mut text, 5);
        assert_eq!(found, [UuencodedFile { name: "loss run.pdf".to_owned(), bytes }]);
        assert_eq!(text, "Hello,\nsee below.\n\n\nRegards");
    }

    #[test]
    fn blanks_that_were_lost_on_the_way_are_no_matter() {
        let text = encoded("a.bin", &[0; 40]).replace('`', " ");
        let lost: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(decode(lost.join("\r\n").as_bytes()).unwrap().bytes, [0; 40]);
    }

    #[test]
    fn what_only_looks_like_a_file_stays_text() {
        for text in [
            "begin 644 the shift at nine\nand go on",
            "begin the day\nend\n",
            "begin 999 a.txt\n`\nend\n",
            "begin 644 a.txt\n#86)C\n",
            "begin 644 a.txt\n#86)C with more behind it\n`\nend\n",
        ] {
            let mut same = text.to_owned();
            assert!(take_out(&mut same, 5).is_empty(), "{text}");
            assert_eq!(same, text);
        }
    }

    #[test]
    fn files_over_the_limit_stay_in_the_text() {
        let mut text = [encoded("a", b"one"), encoded("b", b"two")].concat();
        assert_eq!(take_out(&mut text, 1).len(), 1);
        assert!(text.starts_with("begin 644 b"), "{text}");
    }
}
