//! Secrets.

use kybern_core::secret::Secret;

page! {
    /// A page of secrets.
    SecretPage of Secret: "The secrets."
}
