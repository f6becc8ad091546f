//! What makes a person look at a message in any trade: it asks for money or for secrets, wants to be kept from others,
//! or says to wait.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::waits;
use super::words::TextWords;

/// Turns of mail that wants to be paid, or wants to be let in. Two weak ones are a strong one.
const SIGNS: &[(&str, u8)] = &[
    ("wire transfer", 2),
    ("wire the", 1),
    ("wired to", 2),
    ("be wired", 1),
    ("receiving bank", 1),
    ("remittance instructions", 2),
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
/// Turns of mail whose writer does not want others to hear of it. A notice beneath a mail that it is confidential is none.
const HUSHES: &[(&str, u8)] = &[
    ("must not be informed", 2),
    ("must not be told", 2),
    ("must not know", 2),
    ("should not be informed", 2),
    ("should not be told", 2),
    ("should not know", 2),
    ("do not inform", 2),
    ("don t inform", 2),
    ("do not let them know", 2),
    ("don t let them know", 2),
    ("without their knowledge", 2),
    ("without telling", 2),
    ("keep this between us", 2),
    ("stays between us", 2),
    ("keep this confidential", 1),
    ("keep it confidential", 1),
    ("tell nobody", 2),
    ("no need to bother the", 2),
    ("no need to involve the", 2),
    ("no need to contact the", 2),
    ("no need to ask the", 2),
    ("without bothering the", 2),
    ("without involving the", 2),
    ("sent to me directly", 1),
    ("send them to me directly", 1),
    ("directly to me", 1),
    ("to me only", 1),
    ("only to me", 1),
    ("to this address only", 1),
    ("only to this address", 1),
    ("no debe enterarse", 2),
    ("no deben enterarse", 2),
    ("sin que se entere", 2),
    ("solo a mí", 1),
    ("ne doit pas être informé", 2),
    ("ne doivent pas être informés", 2),
    ("à moi seul", 1),
    ("darf nicht erfahren", 2),
];
/// Turns of mail from somebody who takes another's place: a new address, nobody to call, and what belongs to others.
const DISGUISES: &[(&str, u8)] = &[
    ("mail has been compromised", 2),
    ("email has been compromised", 2),
    ("account has been compromised", 2),
    ("mail is compromised", 2),
    ("email is compromised", 2),
    ("account is compromised", 2),
    ("mail was compromised", 2),
    ("email was compromised", 2),
    ("account was compromised", 2),
    ("mails have been compromised", 2),
    ("emails have been compromised", 2),
    ("mail was hacked", 2),
    ("email was hacked", 2),
    ("account was hacked", 2),
    ("mail has been hacked", 2),
    ("email has been hacked", 2),
    ("account has been hacked", 2),
    ("mail got hacked", 2),
    ("email got hacked", 2),
    ("account got hacked", 2),
    ("use only this", 1),
    ("only to this address", 1),
    ("to this address only", 1),
    ("mail is not working", 1),
    ("email is not working", 1),
    ("mail isn t working", 1),
    ("email isn t working", 1),
    ("mail does not work", 1),
    ("email does not work", 1),
    ("only this new address", 2),
    ("only use this", 1),
    ("use this new address", 1),
    ("send only to", 1),
    ("reply only to", 1),
    ("do not use my old", 1),
    ("do not use the old", 1),
    ("do not call", 1),
    ("don t call", 1),
    ("do not telephone", 1),
    ("do not phone", 1),
    ("don t phone", 1),
    ("not take calls", 1),
    ("can t take calls", 1),
    ("cannot be reached by phone", 1),
    ("social security", 1),
    ("ssn", 1),
    ("ssns", 1),
    ("date of birth of", 1),
    ("date of births", 1),
    ("copies of licenses", 1),
    ("copy of drivers", 1),
    ("copy of driver", 1),
    ("copies of driver", 1),
    ("bank account on file", 2),
    ("account on file", 1),
    ("treat as urgent", 1),
    ("top priority", 1),
    ("urgent and confidential", 2),
    ("matter is confidential", 1),
    ("keep this confidential", 1),
    ("no me llame", 1),
    ("no llame", 1),
    ("seguro social", 1),
    ("ne m appelez pas", 1),
    ("ne pas appeler", 1),
    ("assurance sociale", 1),
];
/// Turns that take back what was asked for.
const RETURNS: &[(&str, u8)] = &[
    ("no longer need", 2),
    ("no longer needed", 2),
    ("no longer want", 2),
    ("don t need them anymore", 2),
    ("don t need it anymore", 2),
    ("don t need those anymore", 2),
    ("never mind the loss", 2),
    ("never mind the request", 2),
    ("never mind the order", 2),
    ("forget it", 2),
    ("forget about it", 2),
    ("scratch that", 2),
    ("scratch the", 2),
    ("cancel that", 2),
    ("cancel my request", 2),
    ("cancel our request", 2),
    ("withdraw my request", 2),
    ("withdraw our request", 2),
    ("disregard my", 2),
    ("disregard our", 2),
    ("ignore my last", 2),
    ("ignore my previous", 2),
    ("changed my mind", 2),
    ("cross that off", 2),
    ("olvídelo", 2),
    ("olvidelo", 2),
    ("olvídalo", 2),
    ("olvidalo", 2),
    ("ya no necesito", 2),
    ("ya no necesitamos", 2),
    ("ya no hace falta", 2),
    ("laissez tomber", 2),
    ("plus besoin", 2),
    ("oubliez cela", 2),
    ("oubliez ça", 2),
];
/// Where two signs are weak, both must be there.
const STRONG: u8 = 2;
/// Signs that a reason names.
const MAX_NAMED: usize = 3;

/// All turns with what each says, and what a person is told when they are enough.
const KINDS: [(&str, &[(&str, u8)]); 4] = [
    ("it asks for money or for access to an account", SIGNS),
    ("it wants others not to know", HUSHES),
    ("it may come from somebody else than it says", DISGUISES),
    ("it takes something back", RETURNS),
];

/// The turns of all kinds, one after the other, so that a message is walked once.
static TURNS: LazyLock<Phrases> =
    LazyLock::new(|| Phrases::of(KINDS.iter().flat_map(|(_, signs)| signs.iter().map(|(sign, _)| *sign))));

/// Why a person must look at a message, its subject and its text, whatever its intent: each reason once, none when nothing speaks for it.
pub(super) fn of_manner(parts: &[TextWords<'_>; 2]) -> Vec<String> {
    let mut seen: Vec<usize> =
        parts.iter().flat_map(|part| TURNS.find_all(&part.words)).map(|found| found.phrase).collect();
    seen.sort_unstable();
    seen.dedup();
    let mut first = 0;
    let kinds = KINDS.map(|(what, signs)| {
        let own = seen.iter().filter_map(|turn| signs.get(turn.checked_sub(first)?));
        let said = enough(own);
        first += signs.len();
        (what, said)
    });
    let reasons = kinds.into_iter().chain([("it says to wait", waits::said(parts))]);
    let told = |(what, said): (&str, Vec<String>)| {
        let named: Vec<String> = said.iter().take(MAX_NAMED).map(|said| format!("{said:?}")).collect();
        (!named.is_empty()).then(|| format!("{what}: {}", named.join(", ")))
    };
    reasons.filter_map(told).collect()
}

/// The signs of one kind that a message has, when they are enough.
fn enough<'s>(signs: impl Iterator<Item = &'s (&'s str, u8)>) -> Vec<String> {
    let signs: Vec<&(&str, u8)> = signs.collect();
    let sum = signs.iter().map(|(_, counts)| *counts).fold(0, u8::saturating_add);
    if sum < STRONG { Vec::new() } else { signs.iter().map(|(sign, _)| (*sign).to_owned()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_manner(subject: &str, text: &str) -> Vec<String> {
        super::of_manner(&[TextWords::of(subject), TextWords::of(text)])
    }

    #[test]
    fn demands_are_known_and_requests_are_not() {
        assert!(!of_manner("Invoice 22", "Our bank details have changed, please remit today.").is_empty());
        assert!(!of_manner("Sign in to your mailbox", "Your password expires today").is_empty());
        assert!(of_manner("Loss runs", "Please order the loss runs for the renewal.").is_empty());
        assert!(of_manner("Payment", "When is my next installment due?").is_empty());
    }

    #[test]
    fn whoever_wants_others_not_to_know_is_heard() {
        for said in [
            "Order the loss runs. Our present agent must not be told.",
            "Keep this confidential and send the certificate only to me.",
            "Pide la siniestralidad, el corredor no debe enterarse.",
        ] {
            assert!(of_manner("Loss runs", said)[0].starts_with("it wants others not to know"), "{said}");
        }
        for said in [
            "Please send the loss runs only to me, Dana is out this week.",
            "CONFIDENTIAL: this message is for its addressee only. If you received it in error, do not disclose it.",
            "The shipper should know that we deliver on Monday.",
        ] {
            assert!(of_manner("Loss runs", said).is_empty(), "{said}");
        }
    }

    #[test]
    fn whoever_takes_anothers_place_is_not_believed() {
        for said in [
            "My company email is compromised, do not use it. Order the loss runs and send only to this one.",
            "Please use only this new address. I am in meetings, do not call the number on file.",
            "My regular email is not working. Order them and have them sent only to this address.",
            "Send the loss runs with the social security number of every driver. Treat as urgent.",
        ] {
            assert!(of_manner("Loss runs", said)[0].starts_with("it may come from somebody else"), "{said}");
        }
        for said in [
            "I am in the truck all day, so please do not call before five. Could you order the loss runs?",
            "This is a top priority for the bank, please order the loss runs.",
        ] {
            assert!(of_manner("Loss runs", said).is_empty(), "{said}");
        }
    }

    #[test]
    fn what_is_taken_back_is_heard() {
        for said in [
            "We no longer need the loss runs from Harrow.",
            "Order both. Actually, scratch the second one.",
            "El historial, olvídelo, ya lo tengo.",
            "Le relevé, laissez tomber.",
        ] {
            assert!(of_manner("Loss runs", said)[0].starts_with("it takes something back"), "{said}");
        }
        assert!(of_manner("Loss runs", "We need the loss runs, and longer terms would help.").is_empty());
    }

    #[test]
    fn a_demand_hides_no_order_to_wait() {
        let text = "Our bank details have changed. Please hold off on the loss runs until we have signed.";
        let reasons = of_manner("Renewal", text);
        assert!(reasons[0].starts_with("it asks for money") && reasons[1].contains("\"hold off\""), "{reasons:?}");
        assert_eq!(reasons.len(), 2);
    }
}
