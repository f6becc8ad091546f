//! Secrets.

use kybern_core::secret::Secret;

page! {
    /// A page of secrets.
    pub SecretPage of Secret: "The secrets."
}
