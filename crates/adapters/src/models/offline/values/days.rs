//! Days as people tell them: with the day of the week before them, and without a year.

use kybern_core::list;

use jiff::civil::Date;

use super::ReadValue;
use super::dates::{self, make, month_and_day};

/// Days of the week, and how they are cut short.
const WEEKDAYS: &[&str] = list!(
    "monday, tuesday, wednesday, thursday, friday, saturday, sunday, mon, tue, tues, wed, thu, thur, thurs, fri, sat, \
     sun, lunes, martes, miércoles, miercoles, jueves, viernes, sábado, sabado, domingo, lundi, mardi, mercredi, \
     jeudi, vendredi, samedi, dimanche, montag, dienstag, mittwoch, donnerstag, freitag"
);
/// Words before a day that say nothing of it.
const ARTICLES: [&str; 6] = ["the ", "on ", "el ", "le ", "am ", "den "];
/// A day without its year is the nearest one where that is so many days away at most: any other is then far off.
const NEAR: i32 = 122;
/// A number behind a month that is so near to the year may be a year.
const YEARS_NEAR: i16 = 3;

/// How many bytes an article and a day of the week take before a date.
pub(super) fn weekday(text: &str) -> usize {
    let mut at = 0;
    for _ in 0..2 {
        at += article(&text[at..]);
        let length = text[at..].find(|c: char| !c.is_alphabetic()).unwrap_or(text.len() - at);
        if !is_weekday(&text[at..at + length]) {
            break;
        }
        let after = text[at + length..].trim_start_matches(['.', ',', ' ', '\u{a0}']);
        at = text.len() - after.len();
    }
    at
}

fn is_weekday(word: &str) -> bool {
    if word.is_ascii() {
        return WEEKDAYS.iter().any(|day| day.eq_ignore_ascii_case(word));
    }
    WEEKDAYS.contains(&word.to_lowercase().as_str())
}

fn article(text: &str) -> usize {
    let begins = |article: &&&str| text.get(..article.len()).is_some_and(|word| word.eq_ignore_ascii_case(article));
    ARTICLES.iter().find(begins).map_or(0, |article| article.len())
}

/// The day that a text begins with: a date, or a day without its year in that in which it is nearest to the day on
/// which it was written.
pub(in super::super) fn day(text: &str, written: Option<Date>) -> Option<ReadValue> {
    if let Some(read) = dates::date(text) {
        return Some(read);
    }
    let start = weekday(text);
    let (month, day, end) = month_and_day(&text[start..])?;
    let rest = &text[start + end..];
    // `7/15-8/1` and `24 May to 3 June` are no single days, `3/4" bolts` and `1/2 ton` none at all.
    let goes_on = rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '–' | '/' | '"' | '%' | '°'));
    let spans = ["to ", "through ", "thru ", "until ", "al ", "au ", "ton", "inch", "and "];
    let rest = rest.trim_start();
    if goes_on || spans.iter().any(|word| rest.starts_with(word)) || rest.starts_with(['-', '–']) {
        return None;
    }
    let written = written?;
    // `5/26` may be a month with its year.
    let is_plain = start == 0 && text[..end].contains('/');
    if is_plain && i16::abs(written.year() % 100 - day) <= YEARS_NEAR {
        return None;
    }
    let years = (written.year() - 1..=written.year() + 1).filter_map(|year| make(year, month, day));
    let away = |date: &Date| date.since(written).map_or(i32::MAX, |span| span.get_days().abs());
    let nearest = years.min_by_key(away).filter(|date| away(date) <= NEAR)?;
    Some(ReadValue::new(nearest.to_string(), start, start + end, 0.9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_of_the_week_before_a_date_changes_nothing() {
        for text in [
            "Monday 4/27/2026",
            "on Monday, April 27, 2026",
            "el lunes 27 de abril de 2026",
            "lundi le 27 avril 2026",
            "Mon. 4/27/26",
        ] {
            assert_eq!(dates::date(text).map(|read| read.value), Some("2026-04-27".into()), "{text}");
        }
        assert_eq!(dates::date("Mondays 4/27/2026"), None);
    }

    #[test]
    fn a_day_without_its_year_is_the_nearest_one_and_only_where_no_other_comes_close() {
        let day = |text: &str, written: &str| {
            day(text, written.parse().ok()).and_then(|read| read.value.as_str().map(str::to_owned)).unwrap_or_default()
        };
        assert_eq!(day("7/15.", "2026-04-14"), "2026-07-15");
        assert_eq!(day("January 5", "2026-10-01"), "2027-01-05");
        assert_eq!(day("Friday 12/18", "2027-01-10"), "2026-12-18");
        assert_eq!(day("el lunes 20 de abril", "2026-04-14"), "2026-04-20");
        for text in ["11/2", "7/15-8/1", "7/15 to 8/1", "3/4\" bolts", "1/2 ton", "5/1/", "13/2", "6/8x"] {
            assert_eq!(day(text, "2026-05-20"), "", "{text}");
        }
        assert_eq!(day("7/15", ""), "", "nobody knows when it was written");
    }
}
