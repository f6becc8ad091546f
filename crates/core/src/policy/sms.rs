//! Signatures of text messages, as Twilio makes them: HMAC-SHA-1 over the address that was called and the form.
//!
//! Such a signature holds no time, so the same message may be delivered again whenever somebody has seen it once; its
//! `MessageSid` is there for that.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use subtle::ConstantTimeEq as _;

pub const SIGNATURE_HEADER: &str = "x-twilio-signature";

/// The signature of a form that is posted to `url` by whoever knows `token`. `url` is the whole address as it is called.
#[must_use]
pub fn sign(token: &str, url: &str, form: &[(String, String)]) -> String {
    digest(token, url, form).map(|digest| STANDARD.encode(digest)).unwrap_or_default()
}

/// Whether a form has that signature. The comparison takes the same time whatever is wrong.
#[must_use]
pub fn verify(token: &str, url: &str, form: &[(String, String)], signature: &str) -> bool {
    let (Some(expected), Ok(given)) = (digest(token, url, form), STANDARD.decode(signature)) else { return false };
    given.ct_eq(&expected).into()
}

/// The address, then each field's name and value, by their names.
fn digest(token: &str, url: &str, form: &[(String, String)]) -> Option<[u8; 20]> {
    let mut mac = Hmac::<Sha1>::new_from_slice(token.as_bytes()).ok()?;
    mac.update(url.as_bytes());
    let mut fields: Vec<(&str, &str)> = form.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    fields.sort_unstable();
    fields.dedup();
    for (name, value) in fields {
        mac.update(name.as_bytes());
        mac.update(value.as_bytes());
    }
    Some(mac.finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Twilio's documentation.
    const URL: &str = "https://mycompany.com/myapp.php?foo=1&bar=2";
    const TOKEN: &str = "12345";
    const SIGNATURE: &str = "RSOYDt4T1cUTdK1PDd93/VVr8B8=";

    fn form(fields: &[(&str, &str)]) -> Vec<(String, String)> {
        fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn example() -> Vec<(String, String)> {
        form(&[
            ("Digits", "1234"),
            ("To", "+18005551212"),
            ("From", "+14158675309"),
            ("Caller", "+14158675309"),
            ("CallSid", "CA1234567890ABCDE"),
        ])
    }

    #[test]
    fn the_published_example_holds_in_any_order() {
        assert_eq!(sign(TOKEN, URL, &example()), SIGNATURE);
        assert!(verify(TOKEN, URL, &example(), SIGNATURE));
        let mut turned = example();
        turned.reverse();
        assert!(verify(TOKEN, URL, &turned, SIGNATURE));
    }

    #[test]
    fn whatever_is_changed_is_noticed() {
        let more = [example(), form(&[("Body", "x")])].concat();
        let mut other = example();
        "1235".clone_into(&mut other[0].1);
        assert!(!verify("12346", URL, &example(), SIGNATURE));
        assert!(!verify(TOKEN, "https://mycompany.com/myapp.php?foo=1", &example(), SIGNATURE));
        for fields in [more, other, Vec::new()] {
            assert!(!verify(TOKEN, URL, &fields, SIGNATURE), "{fields:?}");
        }
        for signature in ["", "RSOYDt4T1cUTdK1PDd93/VVr8B8", "RSOYDt4T1cUTdK1PDd93/VVr8B9=", "!"] {
            assert!(!verify(TOKEN, URL, &example(), signature), "{signature:?}");
        }
    }
}
