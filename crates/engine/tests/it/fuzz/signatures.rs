//! Signatures of webhooks: whatever stands in the headers, nobody without the secret gets through, and nothing panics.

use kybern_core::policy::webhook::{self, WebhookHeaders};
use kybern_core::time::{Millis, Timestamp};
use kybern_testkit::fuzz::{Chance, Target};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const NOW: Timestamp = Timestamp::from_millis(1_614_265_330_000);
const WORDS: &[&str] = &[
    "v1,",
    "v2,",
    "v1a,",
    " ",
    "=",
    "==",
    "\n",
    ".",
    "1614265330",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "+1614265330",
    "01614265330",
    "whsec_",
    "msg_1",
    "\u{0}",
    "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    "é",
];

/// Lines: id, timestamp, signatures, secret; the rest is the body.
fn check(input: &[u8]) -> Result<(), String> {
    let mut lines = input.splitn(5, |byte| *byte == b'\n').map(String::from_utf8_lossy);
    let mut line = || lines.next().unwrap_or_default().into_owned();
    let (id, timestamp, signature, secret, body) = (line(), line(), line(), line(), line());
    let headers = WebhookHeaders { id: &id, timestamp: &timestamp, signature: &signature };
    let given = webhook::verify(&secret, headers, body.as_bytes(), NOW);
    if webhook::verify(&secret, headers, body.as_bytes(), NOW) != given {
        return Err("the same signature is right and wrong".to_owned());
    }
    if given.is_ok() {
        // It is right; then one that is made for the same moment is among those given, and no other secret fits.
        let sent: i64 = timestamp.parse().map_err(|_| "a time that is no number was accepted".to_owned())?;
        let sent = Timestamp::from_millis(sent.saturating_mul(1000));
        if NOW.since(sent).max(sent.since(NOW)) > webhook::TOLERANCE {
            return Err("a stale signature was accepted".to_owned());
        }
        if webhook::seconds(sent).to_string() == timestamp {
            let ours = webhook::sign(&secret, &id, sent, body.as_bytes()).map_err(|fault| fault.to_string())?;
            let digest = ours.trim_end_matches('=');
            if !signature.split(' ').any(|one| one.trim_end_matches('=') == digest) {
                return Err(format!("{signature:?} was accepted, {ours:?} is right"));
            }
        }
        if webhook::verify("whsec_YW5vdGhlcg==", headers, body.as_bytes(), NOW).is_ok() {
            return Err("two secrets fit".to_owned());
        }
        let edited = format!("{body} ");
        if webhook::verify(&secret, headers, edited.as_bytes(), NOW).is_ok() {
            return Err("two bodies fit".to_owned());
        }
    }
    Ok(())
}

/// A message that is signed rightly, most of the time.
fn make(chance: &Chance) -> Vec<u8> {
    let id = format!("msg_{}", chance.below(100));
    let at = NOW.plus(Millis(chance.below(400_000))).minus(Millis(chance.below(400_000)));
    let body = String::from_utf8_lossy(&chance.bytes(60)).into_owned();
    let signature = webhook::sign(SECRET, &id, at, body.as_bytes()).unwrap();
    let others = "v1,AAAA v2,x ".repeat(chance.index(12));
    format!("{id}\n{}\n{others}{signature}\n{SECRET}\n{body}", webhook::seconds(at)).into_bytes()
}

#[test]
fn signatures() {
    Target::new("signatures", 10_000, check).words(WORDS).made_by(make).play();
}
