//! Telephone numbers, addresses and states in one form each.

use crate::pattern::Pattern;

pub(crate) const STATES: &[&str] = &[
    "AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "DC", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY", "LA",
    "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND", "OH", "OK", "OR",
    "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY", "PR",
];

/// Letters of a domain that is only a part of a name.
const MIN_DOMAIN: usize = 5;

/// What stands between a name and a country's two letters, as in `example.co.uk`.
const SECOND_LEVELS: &[&str] = &["ac", "co", "com", "edu", "gob", "gov", "net", "ne", "or", "org"];

/// A state in an address: behind a comma, before a ZIP code or the end of the part.
static STATE: Pattern = Pattern::new(r",\s*([A-Z]{2})\b");
static ZIP_STATE: Pattern = Pattern::new(r"\b([A-Z]{2})\s+\d{5}(?:-\d{4})?\b");

/// A telephone number as ten digits; `None` when it is none of North America.
pub(crate) fn phone(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let bare = if digits.len() == 11 { digits.strip_prefix('1')? } else { &digits };
    (bare.len() == 10).then(|| bare.to_owned())
}

/// An e-mail address in lower case; `None` when it is none.
pub(crate) fn email(text: &str) -> Option<String> {
    let address = text.trim().trim_matches(['<', '>']).to_lowercase();
    let (local, domain) = address.split_once('@')?;
    let sound = !local.is_empty() && domain.contains('.') && !address.contains(char::is_whitespace);
    (sound && !domain.starts_with('.') && !domain.ends_with('.')).then_some(address)
}

/// Whether mail can reach a user's address. The first admin of a server has one that it cannot.
pub(crate) fn is_reached(address: &str) -> bool {
    !address.to_lowercase().ends_with("@localhost")
}

/// Whether an address is of a company's own domain: the domain is the name's words run together, or its beginning of five
/// letters or more, or begins with them.
pub(crate) fn is_domain_of(address: &str, normal_name: &str) -> bool {
    let Some((_, domain)) = address.rsplit_once('@') else { return false };
    let labels: Vec<&str> = domain.split('.').collect();
    let Some(own) = labels.len().checked_sub(2).and_then(|at| labels.get(at)) else { return false };
    let own: String = own.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = normal_name.split(' ').filter(|word| *word != "and").collect();
    let name = words.concat();
    // Cut after a word, so that `oak` is not the domain of `oakland freight`.
    let heads = (1..=words.len()).map(|count| words[..count].concat());
    own == name
        || own == normal_name.replace(' ', "")
        || heads.into_iter().any(|head| head.len() >= MIN_DOMAIN && own == head)
        || (own.len() >= MIN_DOMAIN && name.starts_with(&own))
        || (name.len() >= MIN_DOMAIN && own.starts_with(&name))
}

/// The label of an address's domain that its owner has registered, letters and digits only: of `a@mail.oak-bend.example`
/// and of `a@oakbend.co.uk` it is `oakbend`. Whoever has a domain makes all that stands before it, so nothing else in it
/// says whose it is.
pub(crate) fn registered_label(address: &str) -> Option<String> {
    let domain = registered_domain(address)?;
    let label: String = domain.split('.').next()?.chars().filter(|c| c.is_alphanumeric()).collect();
    (!label.is_empty()).then_some(label)
}

/// The part of an address's domain that its owner has registered, in small letters: of `a@mail.oak-bend.example` it is
/// `oak-bend.example`.
pub(crate) fn registered_domain(address: &str) -> Option<String> {
    let (_, domain) = address.rsplit_once('@')?;
    let domain = domain.trim_end_matches('.').to_lowercase();
    let labels: Vec<&str> = domain.split('.').collect();
    let registered = match labels.as_slice() {
        [.., own, second, country] if country.len() == 2 && SECOND_LEVELS.contains(second) => {
            [*own, second, country].join(".")
        }
        [.., own, top] => [*own, top].join("."),
        _ => return None,
    };
    Some(registered)
}

/// A two-letter state; `None` when there is no such state.
pub(crate) fn state(text: &str) -> Option<String> {
    let code = text.trim().to_uppercase();
    STATES.contains(&code.as_str()).then_some(code)
}

/// The state that a postal address names.
pub(crate) fn state_of_address(address: &str) -> Option<String> {
    let before_zip = ZIP_STATE.groups(address).into_iter().rev().find_map(state);
    before_zip.or_else(|| STATE.groups(address).into_iter().rev().find_map(state))
}

/// Whether mail from this address is sent by a machine, so that the address is nobody's.
pub(crate) fn is_machine_address(address: &str) -> bool {
    let local = address.split('@').next().unwrap_or_default().replace(['.', '-', '_'], "");
    [
        "noreply",
        "donotreply",
        "forms",
        "form",
        "web",
        "webform",
        "mailer",
        "notifications",
        "notification",
        "postmaster",
        "mailerdaemon",
        "vm",
        "voicemail",
        "voicemessage",
        "fax",
        "efax",
        "scanner",
        "scan",
        "copier",
        "alerts",
        "automated",
    ]
    .contains(&local.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telephone_numbers_have_ten_digits() {
        assert_eq!(phone("(775) 555-0121").as_deref(), Some("7755550121"));
        assert_eq!(phone("+12545550187").as_deref(), Some("2545550187"));
        assert_eq!(phone("555-0121"), None);
    }

    #[test]
    fn addresses_are_checked() {
        assert_eq!(email(" Owner@Gravelbend.example ").as_deref(), Some("owner@gravelbend.example"));
        assert_eq!(email("call me"), None);
        assert!(is_machine_address("no-reply@example.com"));
        assert!(is_machine_address("voicemail@example.com"));
    }

    #[test]
    fn a_domain_is_whose_label_is_registered() {
        for (address, label) in [
            ("a@oakbend.example", Some("oakbend")),
            ("a@claims.Oak-Bend.example.", Some("oakbend")),
            ("a@mail.oakbend.co.uk", Some("oakbend")),
            ("a@oakbend.mx", Some("oakbend")),
            ("a@oakbend.evil.example", Some("evil")),
            ("oakbend", None),
            ("a@localhost", None),
            ("a@-.example", None),
        ] {
            assert_eq!(registered_label(address).as_deref(), label, "{address}");
        }
    }

    #[test]
    fn the_state_is_read_from_the_address() {
        assert!(STATE.is_sound() && ZIP_STATE.is_sound());
        assert_eq!(state_of_address("77 Canyon Spur, Elko, NV 89801").as_deref(), Some("NV"));
        assert_eq!(state_of_address("Waco, TX. 3 trucks").as_deref(), Some("TX"));
        assert_eq!(state_of_address("12 Main Street, QQ"), None);
    }
}
