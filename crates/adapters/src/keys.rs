//! The master key: what is derived from it, and what is sealed under it.
//!
//! The 32 bytes are read once and split into subkeys, one for each purpose, by BLAKE3's key derivation; the master
//! bytes themselves are not kept. This module does not read the environment: the binary hands the text in.

mod data_key;
mod file;

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use kybern_core::audit::AuditKey;
use kybern_core::digest::DigestKey;
use kybern_core::id::TenantId;
use kybern_core::ports::{DataKey, Keys};
use zeroize::Zeroizing;

/// The length of a key in bytes.
const KEY_BYTES: usize = 32;
/// The length of an XChaCha20 nonce in bytes.
const NONCE_BYTES: usize = 24;
/// The first byte of everything sealed.
const SEAL_VERSION: u8 = 1;
/// Version and key id, before the nonce.
const HEADER_BYTES: usize = 2;

/// Why there is no master key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The text is no key. The text itself is never shown.
    #[error(
        "{origin} is not a key, expected 32 bytes as 64 hex digits or as base64, as `openssl rand -base64 32` prints"
    )]
    Malformed {
        /// Where the text came from.
        origin: String,
    },
    /// Somebody else may read the file.
    #[error("{} has mode {mode:03o} and can be read by others, run: chmod 600 {}", path.display(), path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file cannot be read or made.
    #[error("cannot {act} the key file {}", path.display())]
    File {
        /// What was tried.
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// The operating system gives no randomness.
    #[error("the operating system gives no random bytes: {0}")]
    NoRandomness(getrandom::Error),
}

/// The subkeys of one master key, and those of keys that were in use before it.
pub struct MasterKey {
    api_keys: [u8; KEY_BYTES],
    callbacks: [u8; KEY_BYTES],
    webhooks: [u8; KEY_BYTES],
    audit: [u8; KEY_BYTES],
    digests: [u8; KEY_BYTES],
    cursors: [u8; KEY_BYTES],
    fingerprint: [u8; 4],
    current: Sealer,
    retired: Vec<Sealer>,
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MasterKey({}, …)", self.fingerprint())
    }
}

impl MasterKey {
    /// The key with exactly these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        let derive = |context: &str| blake3::derive_key(context, bytes);
        let [a, b, c, d, ..] = derive("kybern v1 2026 master key fingerprint");
        Self {
            api_keys: derive("kybern v1 2026 hashes of api keys"),
            callbacks: derive("kybern v1 2026 secrets of delegation callbacks"),
            webhooks: derive("kybern v1 2026 secrets of outgoing webhooks"),
            audit: derive("kybern v1 2026 keys of audit chains"),
            digests: derive("kybern v1 2026 keys of digests"),
            cursors: derive("kybern v1 2026 keys of cursors of lists"),
            fingerprint: [a, b, c, d],
            current: Sealer {
                id: a,
                cipher: derive("kybern v1 2026 sealing cipher").into(),
                nonces: derive("kybern v1 2026 sealing nonces").into(),
            },
            retired: Vec::new(),
        }
    }

    /// The key written as 64 hex digits or as base64 of 32 bytes, with or without padding, in either alphabet.
    ///
    /// # Errors
    /// [`KeyError::Malformed`], naming `origin` (for instance the variable the text came from) and never the text.
    pub fn parse(text: &str, origin: &str) -> Result<Self, KeyError> {
        let bytes = parse_key(text.trim()).ok_or_else(|| KeyError::Malformed { origin: origin.to_owned() })?;
        Ok(Self::from_bytes(&bytes))
    }

    /// The same key, which also opens what was sealed under `old`. Hashes, secrets and audit chains stay those of
    /// this key: only what was sealed moves from key to key.
    #[must_use]
    pub fn with_retired(mut self, old: Self) -> Self {
        self.retired.push(old.current);
        self.retired.extend(old.retired);
        self
    }

    /// Eight hex digits that tell keys apart and give nothing away, for backups and the doctor.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let [a, b, c, d] = self.fingerprint;
        format!("{a:02x}{b:02x}{c:02x}{d:02x}")
    }
}

/// A fresh API key: `kyb_` and 256 random bits in 43 characters.
///
/// # Errors
/// [`KeyError::NoRandomness`]; a key that can be guessed is never returned.
pub fn new_api_key() -> Result<String, KeyError> {
    let mut bytes = [0; KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(KeyError::NoRandomness)?;
    Ok(format!("kyb_{}", URL_SAFE_NO_PAD.encode(bytes)))
}

impl Keys for MasterKey {
    fn api_key_hash(&self, key: &str) -> String {
        blake3::keyed_hash(&self.api_keys, key.as_bytes()).to_hex().to_string()
    }

    fn callback_secret(&self, workflow_id: &str) -> String {
        URL_SAFE_NO_PAD.encode(blake3::keyed_hash(&self.callbacks, workflow_id.as_bytes()).as_bytes())
    }

    fn webhook_secret(&self, tenant: TenantId, name: &str) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.webhooks);
        hasher.update(tenant.as_uuid().as_bytes()).update(name.as_bytes());
        format!("whsec_{}", STANDARD.encode(hasher.finalize().as_bytes()))
    }

    fn audit_key(&self, tenant: TenantId) -> AuditKey {
        AuditKey::new(blake3::keyed_hash(&self.audit, tenant.as_uuid().as_bytes()).into())
    }

    fn digest_key(&self, tenant: TenantId) -> DigestKey {
        DigestKey::new(blake3::keyed_hash(&self.digests, tenant.as_uuid().as_bytes()).into())
    }

    fn cursor_key(&self, tenant: TenantId) -> DigestKey {
        DigestKey::new(blake3::keyed_hash(&self.cursors, tenant.as_uuid().as_bytes()).into())
    }

    fn seal(&self, purpose: &str, plain: &[u8]) -> Vec<u8> {
        self.current.seal(purpose, plain)
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        // An id is one byte, so two keys may share it: each that fits is tried, and the cipher decides.
        std::iter::once(&self.current).chain(&self.retired).find_map(|sealer| sealer.open(purpose, sealed))
    }

    fn new_data_key(&self, owner: &str) -> Option<Vec<u8>> {
        data_key::make(self, owner)
    }

    fn seal_under(&self, key: DataKey<'_>, purpose: &str, plain: &[u8]) -> Option<Vec<u8>> {
        Some(data_key::unwrap(self, key)?.seal(purpose, plain))
    }

    fn open_under(&self, key: DataKey<'_>, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        data_key::unwrap(self, key)?.open(purpose, sealed)
    }

    fn knows(&self, key: DataKey<'_>) -> bool {
        data_key::unwrap(self, key).is_some()
    }
}

/// Seals as `version, key id, nonce, ciphertext and tag`, bound to its purpose.
struct Sealer {
    id: u8,
    cipher: Zeroizing<[u8; KEY_BYTES]>,
    nonces: Zeroizing<[u8; KEY_BYTES]>,
}

impl Sealer {
    fn seal(&self, purpose: &str, plain: &[u8]) -> Vec<u8> {
        let nonce = self.nonce(purpose, plain);
        let payload = Payload { msg: plain, aad: purpose.as_bytes() };
        // Fails only beyond 256 GiB; what is empty opens for nobody.
        let Ok(body) = XChaCha20Poly1305::new((&*self.cipher).into()).encrypt(XNonce::from_slice(&nonce), payload)
        else {
            return Vec::new();
        };
        [&[SEAL_VERSION, self.id][..], &nonce, &body].concat()
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let ([version, id], rest) = sealed.split_first_chunk::<HEADER_BYTES>()?;
        let (nonce, body) = rest.split_first_chunk::<NONCE_BYTES>()?;
        if *version != SEAL_VERSION || *id != self.id {
            return None;
        }
        let payload = Payload { msg: body, aad: purpose.as_bytes() };
        XChaCha20Poly1305::new((&*self.cipher).into()).decrypt(XNonce::from_slice(nonce), payload).ok()
    }

    /// A random nonce, hedged: random bytes, purpose and text go through a keyed hash, so that even without
    /// randomness no nonce serves two different texts.
    fn nonce(&self, purpose: &str, plain: &[u8]) -> [u8; NONCE_BYTES] {
        let mut random = [0; KEY_BYTES];
        if let Err(error) = getrandom::fill(&mut random) {
            tracing::error!(%error, "no random bytes for a nonce, deriving it from the text alone");
        }
        let mut hasher = blake3::Hasher::new_keyed(&self.nonces);
        hasher.update(&random).update(blake3::hash(purpose.as_bytes()).as_bytes()).update(plain);
        let mut nonce = [0; NONCE_BYTES];
        hasher.finalize_xof().fill(&mut nonce);
        nonce
    }
}

fn parse_key(text: &str) -> Option<[u8; KEY_BYTES]> {
    if text.len() == 2 * KEY_BYTES {
        return parse_hex(text.as_bytes());
    }
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let text = text.replace('-', "+").replace('_', "/");
    let bytes = GeneralPurpose::new(&base64::alphabet::STANDARD, lenient).decode(text).ok()?;
    bytes.try_into().ok()
}

fn parse_hex(digits: &[u8]) -> Option<[u8; KEY_BYTES]> {
    let mut bytes = [0; KEY_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_the_same_in_every_spelling() {
        let bytes: [u8; KEY_BYTES] = std::array::from_fn(|at| 255 - u8::try_from(at).unwrap());
        let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let spellings = [hex, STANDARD.encode(bytes), URL_SAFE_NO_PAD.encode(bytes)];
        for text in spellings {
            assert_eq!(parse_key(&text), Some(bytes), "{text}");
        }
        for wrong in ["", "c2hvcnQ=", &"g".repeat(64), &"+1".repeat(32), &"é".repeat(32)] {
            assert_eq!(parse_key(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_wrong_key_is_not_repeated_in_the_error() {
        let error = MasterKey::parse("hunter2", "KYBERN_MASTER_KEY").unwrap_err().to_string();
        assert!(error.contains("KYBERN_MASTER_KEY") && error.contains("openssl rand"), "{error}");
        assert!(!error.contains("hunter2"));
    }
}
