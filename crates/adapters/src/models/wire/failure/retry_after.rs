//! How long a provider asks to be left alone.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kybern_core::time::Millis;

/// The headers of an answer.
pub struct Headers<'a>(pub &'a [(String, String)]);

impl Headers<'_> {
    /// The first value of that name, which is given in lower case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The span that the headers name, from the most to the least precise of them.
    pub(super) fn span(&self) -> Option<Millis> {
        if let Some(ms) = self.get("retry-after-ms").and_then(|value| value.trim().parse::<f64>().ok()) {
            return seconds(ms / 1000.0);
        }
        if let Some(value) = self.get("retry-after") {
            return self.until(value);
        }
        // The limits that are used up say when they are filled again; the last of them counts.
        let used_up = self.0.iter().filter(|(_, value)| value.trim() == "0").filter_map(|(name, _)| {
            let reset = name.strip_suffix("-remaining").map(|limit| format!("{limit}-reset"));
            let reset = reset.or_else(|| name.contains("-remaining-").then(|| name.replace("-remaining-", "-reset-")));
            self.get(&reset?).and_then(|value| self.until(value))
        });
        used_up.max().or_else(|| self.get("x-ratelimit-reset").and_then(|value| self.until(value)))
    }

    /// A span, or the moment at which it ends. The answer's own date is the clock that such a moment is told by.
    fn until(&self, value: &str) -> Option<Millis> {
        let value = value.trim();
        if let Ok(number) = value.parse::<f64>() {
            // Some send a span in seconds, some a moment in seconds or milliseconds.
            return match number {
                number if number >= 1e12 => self.left_until(number),
                number if number >= 1e9 => self.left_until(number * 1000.0),
                number => seconds(number),
            };
        }
        if let Some(span) = span(value) {
            return Some(span);
        }
        let moment = date(value).or_else(|| value.parse().ok())?;
        let left = moment.as_millisecond().checked_sub(self.now()?.as_millisecond())?;
        Some(Millis(left.max(0).unsigned_abs()))
    }

    fn left_until(&self, moment_ms: f64) -> Option<Millis> {
        let moment = seconds(moment_ms / 1000.0)?;
        let now = u64::try_from(self.now()?.as_millisecond()).ok()?;
        Some(Millis(moment.0.saturating_sub(now)))
    }

    fn now(&self) -> Option<Timestamp> {
        date(self.get("date")?)
    }
}

fn date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok()
}

/// That many seconds; nothing that is not a sensible number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small positive number")]
pub(super) fn seconds(seconds: f64) -> Option<Millis> {
    (0.0..1e11).contains(&seconds).then(|| Millis((seconds * 1000.0).ceil() as u64))
}

/// A span like `2m59.56s`, `20ms`, `34.07s` or `1h`.
pub(super) fn span(text: &str) -> Option<Millis> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit);
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * factor;
        rest = tail;
    }
    seconds(total)
}

/// The span in a sentence like "Please try again in 6m0s." (OpenAI, Groq).
pub(super) fn in_words(message: &str) -> Option<Millis> {
    let lower = message.to_ascii_lowercase();
    let at = ["try again in ", "retry in "].iter().find_map(|lead| Some(lower.find(lead)? + lead.len()))?;
    let word = lower.get(at..)?.split_whitespace().next()?;
    span(word.trim_end_matches(['.', ',', ')']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> Option<Millis> {
        let owned: Vec<_> = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Headers(&owned).span()
    }

    #[test]
    fn every_way_to_say_it_is_understood() {
        let date = ("date", "Wed, 21 Oct 2026 07:28:00 GMT");
        let cases: &[(&[(&str, &str)], u64)] = &[
            (&[("retry-after", "7")], 7000),
            (&[("retry-after", "0.25")], 250),
            (&[("retry-after-ms", "1500"), ("retry-after", "9")], 1500),
            (&[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT"), date], 30_000),
            (&[("retry-after", "Wed, 21 Oct 2026 07:00:00 GMT"), date], 0),
            (&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "2m59.56s")], 179_560),
            (
                &[
                    ("x-ratelimit-remaining-requests", "0"),
                    ("x-ratelimit-reset-requests", "20ms"),
                    ("x-ratelimit-remaining-tokens", "5"),
                    ("x-ratelimit-reset-tokens", "6m0s"),
                ],
                20,
            ),
            (
                &[
                    ("anthropic-ratelimit-requests-remaining", "0"),
                    ("anthropic-ratelimit-requests-reset", "2026-10-21T07:28:05Z"),
                    date,
                ],
                5000,
            ),
            (&[("x-ratelimit-reset", "1792567690000"), date], 10_000),
            (&[("x-ratelimit-reset", "3")], 3000),
        ];
        for (pairs, ms) in cases {
            assert_eq!(headers(pairs), Some(Millis(*ms)), "{pairs:?}");
        }
        for pairs in [&[("retry-after", "soon")], &[("retry-after", "-1")], &[("x-other", "3")]] {
            assert_eq!(headers(pairs), None, "{pairs:?}");
        }
        assert_eq!(headers(&[("retry-after", "Wed, 21 Oct 2026 07:28:30 GMT")]), None);
    }

    #[test]
    fn spans_stand_in_sentences() {
        assert_eq!(in_words("Rate limit reached. Please try again in 6m0s. Visit"), Some(Millis(360_000)));
        assert_eq!(in_words("Please retry in 34.074824224s."), Some(Millis(34_075)));
        assert_eq!(in_words("try again in a moment"), None);
    }
}
