//! What makes a person look at a message in any trade: it asks for money or for secrets, or says to wait.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::waits;
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
/// Where two signs are weak, both must be there.
const STRONG: u8 = 2;
/// Signs that a reason names.
const MAX_NAMED: usize = 3;

static DEMANDS: LazyLock<Phrases> = LazyLock::new(|| Phrases::of(SIGNS.iter().map(|(sign, _)| *sign)));

/// Why a person must look at a message, whatever its intent: each reason once, none when nothing speaks for it.
pub(super) fn of_manner(subject: &str, text: &str) -> Vec<String> {
    let reasons = [
        ("it asks for money or for access to an account", demands(subject, text)),
        ("it says to wait", waits::said(subject, text)),
    ];
    let told = |(what, said): (&str, Vec<String>)| {
        let named: Vec<String> = said.iter().take(MAX_NAMED).map(|said| format!("{said:?}")).collect();
        (!named.is_empty()).then(|| format!("{what}: {}", named.join(", ")))
    };
    reasons.into_iter().filter_map(told).collect()
}

/// What demands money or access.
fn demands(subject: &str, text: &str) -> Vec<String> {
    let parts = [words(subject, 0), words(text, 0)];
    let mut seen: Vec<usize> = parts.iter().flat_map(|part| DEMANDS.find_all(part)).map(|found| found.phrase).collect();
    seen.sort_unstable();
    seen.dedup();
    let sum: u8 = seen.iter().map(|index| SIGNS[*index].1).fold(0, u8::saturating_add);
    if sum < STRONG { Vec::new() } else { seen.iter().map(|index| SIGNS[*index].0.to_owned()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_are_known_and_requests_are_not() {
        assert!(!of_manner("Invoice 22", "Our bank details have changed, please remit today.").is_empty());
        assert!(!of_manner("Sign in to your mailbox", "Your password expires today").is_empty());
        assert!(of_manner("Loss runs", "Please order the loss runs for the renewal.").is_empty());
        assert!(of_manner("Payment", "When is my next installment due?").is_empty());
    }

    #[test]
    fn a_demand_hides_no_order_to_wait() {
        let text = "Our bank details have changed. Please hold off on the loss runs until we have signed.";
        let reasons = of_manner("Renewal", text);
        assert!(reasons[0].starts_with("it asks for money") && reasons[1].contains("\"hold off\""), "{reasons:?}");
        assert_eq!(reasons.len(), 2);
    }
}
