//! Data keys: random keys, one for each owner, that lie in the database wrapped under the master key.
//!
//! What is sealed under a data key needs no new sealing when the master key changes: only the wrapping does.

use kybern_core::ports::{DataKey, Keys as _};
use zeroize::Zeroizing;

use super::{KEY_BYTES, MasterKey, Sealer};

/// What a wrapped key is bound to.
fn purpose(owner: &str) -> String {
    format!("data key of {owner}")
}

/// A fresh key, wrapped; `None` without random bytes: a key that can be guessed is never made.
pub(super) fn make(master: &MasterKey, owner: &str) -> Option<Vec<u8>> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    if let Err(error) = getrandom::fill(key.as_mut_slice()) {
        tracing::error!(%error, "no random bytes for a data key");
        return None;
    }
    Some(master.seal(&purpose(owner), key.as_slice()))
}

pub(super) fn unwrap(master: &MasterKey, key: DataKey<'_>) -> Option<Sealer> {
    let bytes = Zeroizing::new(master.open(&purpose(key.owner), key.wrapped)?);
    let bytes: &[u8; KEY_BYTES] = bytes.as_slice().try_into().ok()?;
    let derive = |context: &str| blake3::derive_key(context, bytes);
    let [id, ..] = derive("kybern v1 2026 data key fingerprint");
    Some(Sealer {
        id,
        cipher: derive("kybern v1 2026 data key cipher").into(),
        nonces: derive("kybern v1 2026 data key nonces").into(),
    })
}
