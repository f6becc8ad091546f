//! Headers of outgoing webhooks, after Standard Webhooks.

use kybern_core::policy::webhook;
use kybern_core::time::Timestamp;

/// Signs a body.
pub(super) fn headers(
    secret: &str,
    id: &str,
    at: Timestamp,
    body: &[u8],
) -> Result<Vec<(String, String)>, webhook::WebhookFault> {
    let signature = webhook::sign(secret, id, at, body)?;
    Ok(vec![
        ("webhook-id".to_owned(), id.to_owned()),
        ("webhook-timestamp".to_owned(), (at.as_millis() / 1000).to_string()),
        ("webhook-signature".to_owned(), signature),
    ])
}
