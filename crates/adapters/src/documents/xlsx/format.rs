//! Number formats of workbooks, as far as they change what a number says: percent, money, leading zeros, decimals.

/// How the numbers of a cell are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Format {
    /// As they are; also for what is not understood.
    General,
    /// With a fixed number of decimals.
    Number {
        /// What stands before it, such as a currency.
        before: String,
        /// What stands after it.
        after: String,
        decimals: usize,
        /// Whether thousands are set apart.
        grouped: bool,
        percent: bool,
    },
    /// With as many digits as these, the missing ones being zeros.
    Zeros(usize),
}

/// Digits that a format adds at most.
const MAX_DIGITS: usize = 30;
/// Numbers over this are written as they are.
const MAX_NUMBER: f64 = 1e15;

impl Format {
    /// A format that is known by its number.
    pub(super) fn built_in(id: u32) -> Self {
        Self::of_code(match id {
            1 => "0",
            2 => "0.00",
            3 | 37 | 38 | 41 => "#,##0",
            4 | 39 | 40 | 43 => "#,##0.00",
            5 | 6 | 42 => "$#,##0",
            7 | 8 | 44 => "$#,##0.00",
            9 => "0%",
            10 => "0.00%",
            _ => "",
        })
    }

    /// The format that a code describes, such as `"$"#,##0.00`.
    pub(super) fn of_code(code: &str) -> Self {
        let section = code.split(';').next().unwrap_or_default();
        let (mut before, mut after, mut digits) = (String::new(), String::new(), String::new());
        let mut percent = false;
        let mut chars = section.chars();
        while let Some(c) = chars.next() {
            let literal = if digits.is_empty() { &mut before } else { &mut after };
            match c {
                '"' => literal.extend(chars.by_ref().take_while(|c| *c != '"')),
                '\\' => literal.extend(chars.next()),
                // A place as wide as the next character, and one that is repeated to fill the cell.
                '_' | '*' => drop(chars.next()),
                '[' => {
                    let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                    if let Some(currency) = inside.strip_prefix('$') {
                        literal.push_str(currency.split('-').next().unwrap_or_default());
                    }
                }
                '0' | '#' | '?' | '.' | ',' => digits.push(c),
                '%' => percent = true,
                '$' | '€' | '£' | '(' | ')' | ' ' | '-' | '+' | ':' => literal.push(c),
                _ => return Self::General,
            }
        }
        if !digits.contains(['0', '#', '?']) || before.len() + after.len() > MAX_DIGITS || digits.len() > MAX_DIGITS {
            return Self::General;
        }
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let zeros = digits.chars().all(|c| c == '0') && digits.len() > 1;
        // Commas at the end divide by thousands, which nobody expects of a text.
        if digits.ends_with(',') || decimals > 6 {
            return Self::General;
        }
        if zeros && before.is_empty() && after.is_empty() && !percent {
            return Self::Zeros(digits.len());
        }
        let [before, after] = [before, after].map(|text| text.replace(['(', ')'], "").trim().to_owned());
        Self::Number { before, after, decimals, grouped: digits.contains(','), percent }
    }

    /// A number in this format; `None` when it is written as it is.
    pub(super) fn show(&self, number: f64) -> Option<String> {
        if !number.is_finite() || number.abs() > MAX_NUMBER {
            return None;
        }
        match self {
            Self::General => None,
            Self::Zeros(digits) => Some(format!("{number:0digits$.0}")),
            Self::Number { before, after, decimals, grouped, percent } => {
                let value = if *percent { number * 100.0 } else { number };
                let plain = format!("{:.decimals$}", value.abs());
                let sign =
                    if value < 0.0 && plain.contains(|c: char| c.is_ascii_digit() && c != '0') { "-" } else { "" };
                let digits = if *grouped { in_thousands(&plain) } else { plain };
                let percent = if *percent { "%" } else { "" };
                let gap = |text: &str| if text.ends_with(char::is_alphabetic) { " " } else { "" };
                let after = if after.is_empty() { String::new() } else { format!(" {after}") };
                Some(format!("{sign}{before}{}{digits}{percent}{after}", gap(before)))
            }
        }
    }
}

fn in_thousands(plain: &str) -> String {
    let whole = plain.find('.').unwrap_or(plain.len());
    let mut text = String::with_capacity(plain.len() + whole / 3);
    for (n, c) in plain.chars().enumerate() {
        if n > 0 && n < whole && (whole - n).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_they_are_shown() {
        let show = |code: &str, number: f64| Format::of_code(code).show(number);
        assert_eq!(show("\"$\"#,##0.00", 1_234_567.5).as_deref(), Some("$1,234,567.50"));
        assert_eq!(show("_(\"$\"* #,##0_);_(\"$\"* (#,##0)", -2_500.0).as_deref(), Some("-$2,500"));
        assert_eq!(show("[$€-407] #,##0", 999.0).as_deref(), Some("€999"));
        assert_eq!(show("#,##0 \"mi\"", 120_000.0).as_deref(), Some("120,000 mi"));
        assert_eq!(show("0.0%", 0.125).as_deref(), Some("12.5%"));
        assert_eq!(show("00000", 899.0).as_deref(), Some("00899"));
        assert_eq!(Format::built_in(44).show(5.0).as_deref(), Some("$5.00"));
        for general in ["General", "@", "yyyy-mm-dd", "0.00E+00", "# ?/?", "#,##0,", "", "[Red]"] {
            assert_eq!(show(general, 5.0), None, "{general}");
        }
        assert_eq!(show("0.00", f64::NAN), None);
    }
}
