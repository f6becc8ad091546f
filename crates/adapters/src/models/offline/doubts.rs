//! What makes a person look at a message in any trade: it says nothing, or it asks for money or for secrets.

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
const STRONG: u8 = 2;

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(SIGNS.iter().map(|(sign, _)| *sign)));

/// Why a person must look at a message, whatever its intent; `None` when nothing speaks for it.
pub(super) fn of_manner(subject: &str, text: &str) -> Option<String> {
    let mut seen: Vec<usize> = Vec::new();
    for part in [subject, text] {
        seen.extend(PHRASES.find_all(&words(part, 0)).iter().map(|found| found.phrase));
    }
    seen.sort_unstable();
    seen.dedup();
    let sum: u8 = seen.iter().map(|index| SIGNS[*index].1).fold(0, u8::saturating_add);
    let named: Vec<String> = seen.iter().take(3).map(|index| format!("\"{}\"", SIGNS[*index].0)).collect();
    (sum >= STRONG).then(|| format!("it asks for money or for access to an account: {}", named.join(", ")))
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
}
