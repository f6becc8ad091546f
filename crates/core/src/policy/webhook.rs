//! Signatures of webhooks, after Standard Webhooks 1.0: who sent a body, when, and that nobody edited it.
//!
//! Pure: the time is handed in. The bytes must be the raw body, before any parsing. A signature does not stop the same
//! message from being delivered twice within the tolerance; its id is there for that.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::time::{Millis, Timestamp};

/// The header with the message's id, the same for every try.
pub const ID_HEADER: &str = "webhook-id";
/// The header with the time of sending, in whole seconds since 1970.
pub const TIMESTAMP_HEADER: &str = "webhook-timestamp";
pub const SIGNATURE_HEADER: &str = "webhook-signature";
/// How far the sender's clock and ours may be apart, from the specification.
pub const TOLERANCE: Millis = Millis::from_secs(5 * 60);
/// The most signatures in one header: a few keys in rotation.
const MAX_SIGNATURES: usize = 16;

/// The three headers as they arrived.
#[derive(Clone, Copy, Debug)]
pub struct WebhookHeaders<'a> {
    /// [`ID_HEADER`].
    pub id: &'a str,
    /// [`TIMESTAMP_HEADER`].
    pub timestamp: &'a str,
    /// [`SIGNATURE_HEADER`]: `v1,BASE64`, several separated by spaces.
    pub signature: &'a str,
}

/// Why a signature was not made or not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WebhookFault {
    /// The secret is neither `whsec_` and base64 nor base64.
    #[error("the webhook secret is not base64 after whsec_")]
    Secret,
    /// The id is empty or holds a full stop or a control character, so that what was signed is ambiguous.
    #[error("webhook-id is empty or holds a full stop or a control character")]
    Id,
    /// The timestamp is no number of seconds.
    #[error("webhook-timestamp is not a number of seconds")]
    Timestamp,
    /// The message is older, or younger, than the tolerance allows.
    #[error("webhook-timestamp is more than 5 minutes from this server's clock")]
    Stale,
    /// No signature in the header fits.
    #[error("no signature in webhook-signature fits")]
    Mismatch,
}

/// The value of [`SIGNATURE_HEADER`] for a body sent `at`. [`TIMESTAMP_HEADER`] is then [`seconds`] of `at`.
///
/// # Errors
/// When the secret or the id is malformed.
pub fn sign(secret: &str, id: &str, at: Timestamp, body: &[u8]) -> Result<String, WebhookFault> {
    let digest = digest(secret, id, &seconds(at).to_string(), body)?;
    Ok(format!("v1,{}", STANDARD.encode(digest)))
}

/// The whole seconds that are signed and sent.
#[must_use]
pub const fn seconds(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(1000)
}

/// Checks that `body` was signed with `secret` within [`TOLERANCE`] of `now`. Signatures of other versions than `v1`
/// are passed over; every `v1` signature is compared in constant time.
///
/// # Errors
/// The first reason not to accept it.
pub fn verify(secret: &str, headers: WebhookHeaders<'_>, body: &[u8], now: Timestamp) -> Result<(), WebhookFault> {
    let sent: i64 = headers.timestamp.parse().map_err(|_| WebhookFault::Timestamp)?;
    let sent = Timestamp::from_millis(sent.checked_mul(1000).ok_or(WebhookFault::Timestamp)?);
    let expected = digest(secret, headers.id, headers.timestamp, body)?;
    if now.since(sent).max(sent.since(now)) > TOLERANCE {
        return Err(WebhookFault::Stale);
    }
    let fits = headers.signature.split(' ').take(MAX_SIGNATURES).filter_map(parse_signature);
    let fits = fits.fold(false, |fits, given| fits | bool::from(given.ct_eq(&expected)));
    if fits { Ok(()) } else { Err(WebhookFault::Mismatch) }
}

fn parse_signature(text: &str) -> Option<Vec<u8>> {
    decode(text.strip_prefix("v1,")?)
}

fn decode(text: &str) -> Option<Vec<u8>> {
    STANDARD_NO_PAD.decode(text.trim_end_matches('=')).ok()
}

fn digest(secret: &str, id: &str, timestamp: &str, body: &[u8]) -> Result<[u8; 32], WebhookFault> {
    if id.is_empty() || id.contains(|letter: char| letter == '.' || letter.is_control()) {
        return Err(WebhookFault::Id);
    }
    let secret = decode(secret.strip_prefix("whsec_").unwrap_or(secret)).filter(|secret| !secret.is_empty());
    let secret = secret.ok_or(WebhookFault::Secret)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret).map_err(|_| WebhookFault::Secret)?;
    for part in [id.as_bytes(), b".", timestamp.as_bytes(), b".", body] {
        mac.update(part);
    }
    Ok(mac.finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // The examples that the reference libraries of Standard Webhooks are tested with.
    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    const NOW: Timestamp = Timestamp::from_millis(1_614_265_330_000);

    fn check(secret: &str, id: &str, timestamp: &str, signature: &str, body: &[u8]) -> Result<(), WebhookFault> {
        verify(secret, WebhookHeaders { id, timestamp, signature }, body, NOW)
    }

    #[test]
    fn the_published_examples_hold() {
        assert_eq!(sign(SECRET, ID, NOW, BODY).unwrap(), SIGNATURE);
        let body = br#"{"event_type":"ping","data":{"success":true}}"#;
        let at = Timestamp::from_millis(1_731_705_121_000);
        let signature = sign("whsec_plJ3nmyCDGBKInavdOK15jsl", "msg_loFOjxBNrRLzqYUf", at, body).unwrap();
        assert_eq!(signature, "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=");
    }

    #[test]
    fn a_signature_among_others_is_found() {
        let bare = SECRET.trim_start_matches("whsec_");
        let several = format!("v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= v2,xyz v1a,abc {SIGNATURE}");
        assert_eq!(check(SECRET, ID, "1614265330", SIGNATURE, BODY), Ok(()));
        assert_eq!(check(bare, ID, "1614265330", &several, BODY), Ok(()));
    }

    #[test]
    fn anything_edited_is_refused() {
        let mismatch = Err(WebhookFault::Mismatch);
        assert_eq!(check(SECRET, ID, "1614265330", SIGNATURE, b"{}"), mismatch);
        assert_eq!(check(SECRET, "msg_other", "1614265330", SIGNATURE, BODY), mismatch);
        assert_eq!(check(SECRET, ID, "1614265331", SIGNATURE, BODY), mismatch);
        assert_eq!(check("whsec_YWJj", ID, "1614265330", SIGNATURE, BODY), mismatch);
        for signature in ["", "v1,", "v1", &SIGNATURE[3..], &SIGNATURE.replace("v1,", "v2,"), "v1,g0hM9SsE"] {
            assert_eq!(check(SECRET, ID, "1614265330", signature, BODY), mismatch, "{signature}");
        }
    }

    #[test]
    fn malformed_parts_are_named() {
        assert_eq!(check("whsec_***", ID, "1614265330", SIGNATURE, BODY), Err(WebhookFault::Secret));
        assert_eq!(check("whsec_", ID, "1614265330", SIGNATURE, BODY), Err(WebhookFault::Secret));
        assert_eq!(check(SECRET, "a.b", "1614265330", SIGNATURE, BODY), Err(WebhookFault::Id));
        assert_eq!(check(SECRET, "", "1614265330", SIGNATURE, BODY), Err(WebhookFault::Id));
        assert_eq!(check(SECRET, ID, "soon", SIGNATURE, BODY), Err(WebhookFault::Timestamp));
        assert_eq!(check(SECRET, ID, "9223372036854775807", SIGNATURE, BODY), Err(WebhookFault::Timestamp));
    }

    #[test]
    fn five_minutes_are_the_tolerance_on_either_side() {
        let signature = sign(SECRET, ID, NOW, BODY).unwrap();
        let headers = WebhookHeaders { id: ID, timestamp: "1614265330", signature: &signature };
        let late = Millis(TOLERANCE.0 + 1);
        assert_eq!(verify(SECRET, headers, BODY, NOW.plus(TOLERANCE)), Ok(()));
        assert_eq!(verify(SECRET, headers, BODY, NOW.minus(TOLERANCE)), Ok(()));
        assert_eq!(verify(SECRET, headers, BODY, NOW.plus(late)), Err(WebhookFault::Stale));
        assert_eq!(verify(SECRET, headers, BODY, NOW.minus(late)), Err(WebhookFault::Stale));
    }
}
