//! Signs that a message is no request at all: bulk mail, automatic answers, delivery failures.
//!
//! These are the manners of such mail in any trade, so they may live here; no word of a domain does.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::words::TextWords;

/// Signs and how much each weighs. A few weak ones make a strong one.
const SIGNS: &[(&str, f64)] = &[
    ("unsubscribe", 2.5),
    ("newsletter", 2.0),
    ("view in browser", 2.5),
    ("view this mail in a browser", 2.5),
    ("view this email in your browser", 2.5),
    ("you are receiving this", 1.5),
    ("mailing list", 2.0),
    ("manage your preferences", 2.0),
    ("out of office", 3.0),
    ("out of the office", 3.0),
    ("automatic reply", 3.0),
    ("auto reply", 3.0),
    ("autoreply", 3.0),
    ("on vacation", 1.5),
    ("delivery failed", 2.0),
    ("undeliverable", 3.0),
    ("undelivered", 2.5),
    ("mailbox is full", 3.0),
    ("delivery status notification", 3.0),
    ("password reset", 3.0),
    ("reset your password", 3.0),
    ("verify your account", 2.5),
    ("we have received it and will answer", 2.0),
    ("thank you for your message", 1.5),
    ("click here", 2.0),
    ("click below", 1.5),
    ("limited time", 2.0),
    ("seats are limited", 2.0),
    ("register now", 2.0),
    ("register by", 1.5),
    ("sign up", 1.2),
    ("early bird", 2.5),
    ("tickets", 1.2),
    ("webinar", 2.5),
    ("conference", 1.5),
    ("seminar", 1.5),
    ("expo", 1.5),
    ("trade show", 2.0),
    ("free trial", 2.5),
    ("trial", 1.0),
    ("for free", 1.2),
    ("first month free", 1.5),
    ("days free", 2.0),
    ("free shipping", 2.0),
    ("free demo", 2.0),
    ("book a demo", 2.0),
    ("schedule a demo", 2.0),
    ("schedule a call with us", 2.0),
    ("demo", 0.8),
    ("discount", 1.5),
    ("off your first", 2.0),
    ("special offer", 2.0),
    ("savings", 1.0),
    ("this weekend only", 2.0),
    ("buy now", 2.0),
    ("shop now", 2.5),
    ("order now", 1.5),
    ("act now", 2.0),
    ("don t miss", 1.5),
    ("coupon", 2.0),
    ("flyer", 1.5),
    ("grand opening", 2.5),
    ("price list", 2.0),
    ("our platform", 1.5),
    ("our software", 1.5),
    ("software", 1.0),
    ("platform", 1.0),
    ("app", 0.5),
    ("sponsor", 1.5),
    ("donation", 1.5),
    ("fundraiser", 2.0),
    ("raffle", 2.0),
    ("survey", 1.5),
    ("congratulations", 2.0),
    ("you have won", 3.0),
    ("gift card", 2.5),
    ("claim your prize", 3.0),
    ("lottery", 3.0),
    ("crypto", 3.0),
    ("no risk", 1.5),
    ("working capital", 2.5),
    ("approved in 24 hours", 2.0),
    ("seo", 2.5),
    ("search results", 1.5),
    ("subscription", 1.2),
    ("tip of the month", 2.0),
    ("read more", 1.2),
    ("podcast", 2.0),
    ("magazine", 1.5),
    ("holiday", 1.0),
    ("happy birthday", 2.0),
    ("season s greetings", 2.0),
    ("calendar", 1.0),
    ("meeting notes", 1.5),
    ("do you have 15 minutes", 2.0),
    ("15 minutes on", 1.0),
    ("see how it works", 2.0),
    ("companies like yours", 2.0),
    ("businesses like yours", 2.0),
    ("agencies like yours", 2.0),
    ("fleets like yours", 2.0),
    ("lunch", 1.2),
];

/// More than this says nothing more.
const MOST: f64 = 6.0;
/// What each exclamation mark beyond the first weighs, and how many count.
const SHOUT: f64 = 0.4;
const MAX_SHOUTS: u8 = 4;

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(SIGNS.iter().map(|(sign, _)| *sign)));

/// How much speaks for noise in a subject and a text, from 0 to [`MOST`], and the strongest sign.
pub(super) fn noise(parts: &[TextWords<'_>; 2]) -> (f64, Option<&'static str>) {
    let [subject, TextWords { text, words }] = parts;
    let found = PHRASES.find_all(&subject.words).into_iter().chain(PHRASES.find_all(words));
    let mut seen: Vec<usize> = found.map(|found| found.phrase).collect();
    seen.sort_unstable();
    seen.dedup();
    let shouts = text.matches('!').take(usize::from(MAX_SHOUTS) + 1).map(|_| SHOUT).sum::<f64>() - SHOUT;
    let sum: f64 = seen.iter().map(|index| SIGNS[*index].1).sum();
    let strongest = seen.iter().map(|index| SIGNS[*index]).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(sign, _)| sign);
    ((sum + shouts.max(0.0)).min(MOST), strongest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(subject: &str, text: &str) -> (f64, Option<&'static str>) {
        super::noise(&[TextWords::of(subject), TextWords::of(text)])
    }

    #[test]
    fn bulk_mail_is_noise_and_a_request_is_not() {
        assert!(noise("Spring savings", "Shop now!!! Unsubscribe here.").0 > 4.0);
        assert!(noise("Loss runs", "Please request loss runs. Thank you!").0 < 0.1);
    }
}
