//! Which names say that a secret, or something personal, stands under them.

use super::kind::Kind;

/// The longest name that is looked at; of a longer one, its end.
const LONGEST: usize = 64;

/// What a name says of its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NameKind {
    pub(super) kind: Kind,
    /// Whether there are several: a number under such a name counts them.
    pub(super) several: bool,
}

/// A name in lower case without what separates its words, which are remembered apart.
struct SpelledName {
    letters: [u8; LONGEST],
    len: usize,
    /// Bit n: a word begins at letter n.
    begins: u64,
}

impl SpelledName {
    fn of(name: &[u8]) -> Self {
        let name = name.get(name.len().saturating_sub(LONGEST)..).unwrap_or_default();
        let mut spelled = Self { letters: [0; LONGEST], len: 0, begins: 0 };
        let (mut previous, mut fresh) = (0_u8, true);
        for (n, &byte) in name.iter().enumerate() {
            if !byte.is_ascii_alphanumeric() && byte < 0x80 {
                (previous, fresh) = (byte, true);
                continue;
            }
            let next = name.get(n + 1).copied().unwrap_or(0);
            // `apiKey` and `APIKey`.
            let hump = byte.is_ascii_uppercase()
                && (!previous.is_ascii_uppercase() || (next.is_ascii_lowercase() && previous.is_ascii_uppercase()));
            if fresh || hump {
                spelled.begins |= 1 << spelled.len;
            }
            if let Some(letter) = spelled.letters.get_mut(spelled.len) {
                *letter = byte.to_ascii_lowercase();
                spelled.len += 1;
            }
            (previous, fresh) = (byte, false);
        }
        spelled
    }

    fn text(&self) -> &[u8] {
        self.letters.get(..self.len).unwrap_or_default()
    }

    fn is(&self, word: &str) -> bool {
        self.text() == word.as_bytes()
    }

    fn ends(&self, word: &str) -> bool {
        ends(self.text(), word)
    }

    /// Whether its last word, or words, are these: `card pin`, not `spin`.
    fn ends_with_word(&self, word: &str) -> bool {
        self.ends(word) && self.begins & (1 << (self.len - word.len())) != 0
    }

    /// What stands before that end.
    fn before(&self, end: &str) -> &[u8] {
        self.text().get(..self.len.saturating_sub(end.len())).unwrap_or_default()
    }

    fn cut(&mut self, letters: usize) {
        self.len = self.len.saturating_sub(letters);
    }
}

/// What may follow the word that counts: `password2`, `newPasswordConfirmation`, `clientSecretValue`.
const AFTERWARDS: [&str; 12] = [
    "value",
    "plain",
    "plaintext",
    "raw",
    // Digits are cut off first: `base64`.
    "base",
    "hex",
    "hash",
    "confirmation",
    "confirm",
    "again",
    "repeat",
    "current",
];

/// Ends of names that say it wherever they begin, since no other word ends like this.
const ENDS: [(&str, Kind); 56] = [
    ("password", Kind::Password),
    ("passwd", Kind::Password),
    ("passphrase", Kind::Password),
    ("passcode", Kind::Password),
    ("passwort", Kind::Password),
    ("contrasena", Kind::Password),
    ("motdepasse", Kind::Password),
    ("secret", Kind::Secret),
    ("credential", Kind::Credentials),
    ("connectionstring", Kind::Credentials),
    ("authheader", Kind::Authorization),
    ("basicauth", Kind::Authorization),
    ("setcookie", Kind::Cookie),
    ("sessionid", Kind::Cookie),
    ("securitycode", Kind::Code),
    ("verificationcode", Kind::Code),
    ("authorizationcode", Kind::Code),
    ("authcode", Kind::Code),
    ("onetimecode", Kind::Code),
    ("recoverycode", Kind::Code),
    ("backupcode", Kind::Code),
    ("accesscode", Kind::Code),
    ("mfacode", Kind::Code),
    ("creditcard", Kind::Card),
    ("debitcard", Kind::Card),
    ("paymentcard", Kind::Card),
    ("bankcard", Kind::Card),
    ("cardnumber", Kind::Card),
    ("cardno", Kind::Card),
    ("cardpan", Kind::Card),
    ("ccnumber", Kind::Card),
    ("socialsecuritynumber", Kind::Ssn),
    ("socialsecurity", Kind::Ssn),
    ("ssn", Kind::Ssn),
    ("bankaccount", Kind::Account),
    ("bankaccountnumber", Kind::Account),
    ("accountnumber", Kind::Account),
    ("routingnumber", Kind::Account),
    ("sortcode", Kind::Account),
    ("dateofbirth", Kind::BirthDate),
    ("birthdate", Kind::BirthDate),
    ("birthday", Kind::BirthDate),
    ("passportnumber", Kind::IdNumber),
    ("driverlicensenumber", Kind::IdNumber),
    ("driverlicencenumber", Kind::IdNumber),
    ("driverslicensenumber", Kind::IdNumber),
    ("driverslicencenumber", Kind::IdNumber),
    ("drivinglicensenumber", Kind::IdNumber),
    ("drivinglicencenumber", Kind::IdNumber),
    ("driverlicense", Kind::IdNumber),
    ("driverlicence", Kind::IdNumber),
    ("driverslicense", Kind::IdNumber),
    ("driverslicence", Kind::IdNumber),
    ("drivinglicense", Kind::IdNumber),
    ("drivinglicence", Kind::IdNumber),
    ("nationalid", Kind::IdNumber),
];

/// Short words that say it when they stand alone at the end: `card_pin`, not `spinning`.
const WORDS: [(&str, Kind); 14] = [
    ("pwd", Kind::Password),
    ("cookie", Kind::Cookie),
    ("creds", Kind::Credentials),
    ("jwt", Kind::Token),
    ("otp", Kind::Code),
    ("totp", Kind::Code),
    ("cvv", Kind::Code),
    ("cvc", Kind::Code),
    ("iban", Kind::Iban),
    ("dob", Kind::BirthDate),
    ("telephone", Kind::Phone),
    ("phone", Kind::Phone),
    ("mobile", Kind::Phone),
    ("fax", Kind::Phone),
];

/// Words that say it only when they are the whole name.
const WHOLE: [(&str, Kind); 11] = [
    ("authorization", Kind::Authorization),
    ("proxyauthorization", Kind::Authorization),
    ("xauthorization", Kind::Authorization),
    ("auth", Kind::Authorization),
    ("bearer", Kind::Authorization),
    ("card", Kind::Card),
    ("pan", Kind::Card),
    ("dsn", Kind::Credentials),
    ("passport", Kind::IdNumber),
    ("tel", Kind::Phone),
    ("cell", Kind::Phone),
];

/// What makes a `key` a secret one. Not `idempotencyKey`, `primaryKey`, `planKey`, `publicKey`, `monkey`.
const KEYS: &[&str] = crate::list!(
    "api, access, secret, private, signing, encryption, decryption, master, shared, auth, account, subscription, \
     session, ssh, hmac, aes, rsa, pgp, gpg, admin, service, deploy, license, webhook, client"
);

/// Words before `token` with which it is a place in a list, or a piece of text, and no secret.
const PLACES: &[&str] = crate::list!(
    "page, sync, continuation, cursor, next, previous, prev, resume, pagination, delta, skip, stop, per, first, last, \
     special, pad, unexpected, unknown"
);

/// Words before `tokens` with which they are secrets; otherwise they are counts, or pieces of text.
const HOLDERS: [&str; 8] = ["access", "refresh", "auth", "bearer", "api", "session", "csrf", "secret"];

/// Words before `pass` and `pin` with which they are secrets.
const OWNERS: [&str; 16] = [
    "user", "db", "database", "smtp", "imap", "mail", "admin", "root", "ftp", "ssh", "login", "card", "security",
    "access", "debit", "atm",
];

/// Whether a name ends with a word. Its last letter is asked first, which most names and words have not in common.
#[inline]
fn ends(name: &[u8], word: &str) -> bool {
    name.last() == word.as_bytes().last() && name.ends_with(word.as_bytes())
}

/// What `name` says of its value; `None` when it says nothing.
pub(super) fn named(name: &[u8]) -> Option<NameKind> {
    let mut name = SpelledName::of(name);
    for _ in 0..2 {
        let digits = name.text().iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        name.cut(digits);
        let after = AFTERWARDS.iter().find(|after| name.len > after.len() && name.ends_with_word(after));
        name.cut(after.map_or(0, |after| after.len()));
    }
    if let Some(kind) = of(&name) {
        return Some(NameKind { kind, several: false });
    }
    if !name.ends("s") || name.ends("ss") {
        return None;
    }
    let tokens = name.ends("tokens");
    if tokens && !HOLDERS.iter().any(|holder| ends(name.before("tokens"), holder)) {
        return None;
    }
    name.cut(1);
    of(&name).map(|kind| NameKind { kind, several: true })
}

fn of(name: &SpelledName) -> Option<Kind> {
    let ends_any = |rest: &[u8], words: &[&str]| words.iter().any(|word| ends(rest, word));
    if name.ends("key") {
        let rest = name.before("key");
        if rest.ends_with(b"private") {
            return Some(Kind::PrivateKey);
        }
        return ends_any(rest, KEYS).then_some(Kind::ApiKey);
    }
    if name.ends("token") {
        return (!ends_any(name.before("token"), PLACES)).then_some(Kind::Token);
    }
    if name.ends_with_word("pass") || name.ends_with_word("pin") {
        let (end, kind) = if name.ends("pass") { ("pass", Kind::Password) } else { ("pin", Kind::Code) };
        let rest = name.before(end);
        return (rest.is_empty() || ends_any(rest, &OWNERS)).then_some(kind);
    }
    let by_end = ENDS.iter().find(|(end, _)| name.ends(end));
    let by_word = || WORDS.iter().find(|(word, _)| name.ends_with_word(word));
    let by_whole = || WHOLE.iter().find(|(word, _)| name.is(word));
    let phone = || {
        let number = name.ends("number").then(|| name.before("number"))?;
        ends_any(number, &["phone", "mobile", "fax", "cell"]).then_some(&("number", Kind::Phone))
    };
    by_end.or_else(by_word).or_else(by_whole).or_else(phone).map(|(_, kind)| *kind)
}

/// The last letters of all names above; few other words share them.
const LAST_LETTERS: [&[u8; 3]; 65] = [
    b"ord", b"rds", b"swd", b"pwd", b"ase", b"ode", b"des", b"ort", b"ret", b"ets", b"ken", b"ens", b"key", b"eys",
    b"ial", b"als", b"eds", b"ion", b"kie", b"ies", b"ssn", b"ban", b"ard", b"ber", b"ers", b"cvv", b"cvc", b"pin",
    b"otp", b"jwt", b"dsn", b"dob", b"ass", b"ing", b"rth", b"ate", b"day", b"one", b"ile", b"tel", b"ell", b"fax",
    b"nse", b"rer", b"uth", b"ity", b"lue", b"ash", b"ain", b"raw", b"hex", b"irm", b"eat", b"ent", b"ext", b"pan",
    b"nal", b"unt", b"der", b"nid", b"lid", b"dno", b"nce", b"ena", b"sse",
];

/// Bit for bit, which three letters are among them. Looked up, because every word of every line of the log is asked.
static MAY_SAY: [u64; 32 * 32 * 32 / 64] = {
    let mut bits = [0; 32 * 32 * 32 / 64];
    let mut n = 0;
    while n < LAST_LETTERS.len() {
        let place = place_of(LAST_LETTERS[n]);
        bits[place / 64] |= 1 << (place % 64);
        n += 1;
    }
    bits
};

/// A number for three letters, whatever their case.
#[inline]
const fn place_of(letters: &[u8; 3]) -> usize {
    let [a, b, c] = *letters;
    ((a & 31) as usize) << 10 | ((b & 31) as usize) << 5 | (c & 31) as usize
}

/// Whether a name that ends like this is worth spelling out: a cheap look at its last letters.
#[inline]
pub(super) fn may_say(name: &[u8]) -> bool {
    let end = name.iter().rposition(u8::is_ascii_alphabetic).map_or(0, |last| last + 1);
    let Some(letters) = name.get(..end).and_then(|name| name.last_chunk::<3>()) else { return false };
    let place = place_of(letters);
    let listed = MAY_SAY.get(place / 64).is_some_and(|bits| bits & (1 << (place % 64)) != 0);
    listed && letters.iter().all(u8::is_ascii_alphabetic)
}
