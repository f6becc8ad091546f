//! What makes a person look at a message in any trade: it asks for money or for secrets, or says to wait.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::words::words;

/// Turns of mail that wants to be paid, or wants to be let in. Two weak ones are a strong one.
const SIGNS: &[(&str, u8)] = &[
    ("wire transfer", 2),
    ("wire the", 1),
    ("bank details", 1),
    ("banking details", 1),
    ("banking information", 1),
    ("bank account", 1),
    ("routing number", 1),
    ("new account details", 2),
    ("have changed our bank", 2),
    ("our bank details have changed", 2),
    ("new bank", 1),
    ("remit", 1),
    ("remittance", 1),
    ("overdue", 1),
    ("past due", 1),
    ("payment is due", 1),
    ("final notice", 1),
    ("payment today", 1),
    ("immediate payment", 2),
    ("pay immediately", 2),
    ("gift card", 2),
    ("gift cards", 2),
    ("bitcoin", 2),
    ("verify your account", 2),
    ("confirm your password", 2),
    ("your password expires", 2),
    ("password will expire", 2),
    ("mailbox is almost full", 2),
    ("unusual sign in", 2),
    ("account will be suspended", 2),
    ("account has been suspended", 2),
    ("log in to", 1),
    ("sign in to", 1),
    ("docusign", 1),
    ("are you at your desk", 2),
    ("keep this confidential", 1),
    ("transferencia bancaria", 2),
    ("datos bancarios", 1),
    ("cuenta bancaria", 1),
    ("pago inmediato", 2),
    ("virement", 1),
    ("coordonnées bancaires", 2),
    ("mot de passe", 1),
    ("contraseña", 1),
    ("bankverbindung", 2),
    ("überweisung", 1),
    ("überweisen", 1),
    ("passwort", 1),
];
/// Turns of mail that tells what is wanted, and not to do it yet.
const WAITS: &[(&str, u8)] = &[
    ("hold off", 2),
    ("do not contact", 1),
    ("don't contact", 1),
    ("do not contact anyone", 2),
    ("do not contact anybody", 2),
    ("don't contact anyone", 2),
    ("don't contact anybody", 2),
    ("do not order anything", 2),
    ("don't order anything", 2),
    ("do not request anything", 2),
    ("don't request anything", 2),
    ("do not send anything", 1),
    ("don't send anything", 1),
    ("do not order", 1),
    ("don't order", 1),
    ("do not request", 1),
    ("don't request", 1),
    ("do not do anything", 1),
    ("don't do anything", 1),
    ("wait until", 1),
    ("wait till", 1),
    ("wait for", 1),
    ("until i send", 1),
    ("until we send", 1),
    ("until i say", 1),
    ("until you hear from", 1),
    ("until you have", 1),
    ("until he signs", 1),
    ("until she signs", 1),
    ("until they sign", 1),
    ("has not signed", 1),
    ("hasn't signed", 1),
    ("have not signed", 1),
    ("haven't signed", 1),
    ("not yet signed", 1),
    ("no contacten", 1),
    ("no pidan nada", 2),
    ("no soliciten", 1),
    ("esperen a que", 1),
    ("espere a que", 1),
    ("hasta que", 1),
    ("ne contactez pas", 1),
    ("ne demandez rien", 2),
    ("attendez que", 1),
    ("avant que je", 1),
    ("tant que", 1),
];
/// Where two signs are weak, both must be there.
const STRONG: u8 = 2;

static DEMANDS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(SIGNS.iter().map(|(sign, _)| *sign)));
static PAUSES: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(WAITS.iter().map(|(sign, _)| *sign)));

/// Why a person must look at a message, whatever its intent; `None` when nothing speaks for it.
pub(super) fn of_manner(subject: &str, text: &str) -> Option<String> {
    let parts = [words(subject, 0), words(text, 0)];
    let told = |phrases: &Phrases, signs: &[(&str, u8)], what: &str| {
        let mut seen: Vec<usize> =
            parts.iter().flat_map(|part| phrases.find_all(part)).map(|found| found.phrase).collect();
        seen.sort_unstable();
        seen.dedup();
        let sum: u8 = seen.iter().map(|index| signs[*index].1).fold(0, u8::saturating_add);
        let named: Vec<String> = seen.iter().take(3).map(|index| format!("\"{}\"", signs[*index].0)).collect();
        (sum >= STRONG).then(|| format!("{what}: {}", named.join(", ")))
    };
    told(&DEMANDS, SIGNS, "it asks for money or for access to an account")
        .or_else(|| told(&PAUSES, WAITS, "it says to wait"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_are_known_and_requests_are_not() {
        assert!(of_manner("Invoice 22", "Our bank details have changed, please remit today.").is_some());
        assert!(of_manner("Sign in to your mailbox", "Your password expires today").is_some());
        assert!(of_manner("Loss runs", "Please order the loss runs for the renewal.").is_none());
        assert!(of_manner("Payment", "When is my next installment due?").is_none());
    }

    #[test]
    fn whoever_says_to_wait_is_heard_and_whoever_waits_is_not() {
        for text in [
            "Please do NOT contact the carrier until I send the signed letter.",
            "Don't contact Fern Hollow until we send it.",
            "Set it up, but hold off on ordering.",
            "She hasn't signed, so wait for the letter.",
            "Don\u{2019}t contact anyone yet.",
        ] {
            let why = of_manner("Loss runs", text).unwrap_or_default();
            assert!(why.starts_with("it says to wait: "), "{text}: {why}");
        }
        for text in [
            "We wait for your quote.",
            "Please do not contact our present broker.",
            "The policy runs until you have a new one.",
        ] {
            assert_eq!(of_manner("Loss runs", text), None, "{text}");
        }
    }
}
