//! Keys from fixed material. Honest constructions, and no secret: whoever reads this file can open what they seal.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kybern_core::audit::AuditKey;
use kybern_core::digest::DigestKey;
use kybern_core::id::TenantId;
use kybern_core::ports::{DataKey, Keys};

const NONCE: usize = 24;
const TAG: usize = 32;

/// Keys that are the same in every run.
#[derive(Clone, Copy, Debug)]
pub struct TestKeys([u8; 32]);

impl TestKeys {
    /// The keys that tests share.
    #[must_use]
    pub fn new() -> Self {
        Self::of(0)
    }

    /// Other keys, for tests of a wrong one.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self(blake3::derive_key("kybern testkit 2026-01-01 master", &seed.to_be_bytes()))
    }

    fn derive(&self, purpose: &str) -> [u8; 32] {
        *blake3::keyed_hash(&self.0, purpose.as_bytes()).as_bytes()
    }

    fn unwrap(&self, key: DataKey<'_>) -> Option<Self> {
        let bytes = self.open(&format!("wrap {}", key.owner), key.wrapped)?;
        Some(Self(bytes.try_into().ok()?))
    }

    fn hex(&self, purpose: &str, text: &str) -> String {
        blake3::keyed_hash(&self.derive(purpose), text.as_bytes()).to_hex().to_string()
    }
}

impl Default for TestKeys {
    fn default() -> Self {
        Self::new()
    }
}

impl Keys for TestKeys {
    fn api_key_hash(&self, key: &str) -> String {
        self.hex("api key", key)
    }

    fn callback_secret(&self, workflow_id: &str) -> String {
        self.hex("callback", workflow_id)
    }

    fn webhook_secret(&self, tenant: TenantId, name: &str) -> String {
        let secret = blake3::keyed_hash(&self.derive("webhook"), format!("{tenant}/{name}").as_bytes());
        format!("whsec_{}", STANDARD.encode(secret.as_bytes()))
    }

    fn audit_key(&self, tenant: TenantId) -> AuditKey {
        AuditKey::new(*blake3::keyed_hash(&self.derive("audit"), tenant.as_uuid().as_bytes()).as_bytes())
    }

    fn digest_key(&self, tenant: TenantId) -> DigestKey {
        DigestKey::new(*blake3::keyed_hash(&self.derive("digest"), tenant.as_uuid().as_bytes()).as_bytes())
    }

    fn cursor_key(&self, tenant: TenantId) -> DigestKey {
        DigestKey::new(*blake3::keyed_hash(&self.derive("cursor"), tenant.as_uuid().as_bytes()).as_bytes())
    }

    /// A nonce out of the content, a key stream over it, and a tag over all: the same content seals the same way.
    fn seal(&self, purpose: &str, plain: &[u8]) -> Vec<u8> {
        let key = self.derive(&format!("seal {purpose}"));
        let mut sealed = blake3::keyed_hash(&key, plain).as_bytes()[..NONCE].to_vec();
        let stream = stream(&key, &sealed, plain.len());
        sealed.extend(plain.iter().zip(stream).map(|(byte, mask)| byte ^ mask));
        let tag = tag(&key, &sealed);
        sealed.extend(tag);
        sealed
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let key = self.derive(&format!("seal {purpose}"));
        let (body, seal) = sealed.split_at(sealed.len().checked_sub(TAG)?);
        let (nonce, cipher) = body.split_at_checked(NONCE)?;
        // Comparing hashes compares in constant time.
        if blake3::Hash::from_bytes(tag(&key, body)) != blake3::Hash::from_slice(seal).ok()? {
            return None;
        }
        Some(cipher.iter().zip(stream(&key, nonce, cipher.len())).map(|(byte, mask)| byte ^ mask).collect())
    }

    /// A data key out of the owner's name, so that it is the same in every run.
    fn new_data_key(&self, owner: &str) -> Option<Vec<u8>> {
        Some(self.seal(&format!("wrap {owner}"), &self.derive(&format!("data key {owner}"))))
    }

    fn seal_under(&self, key: DataKey<'_>, purpose: &str, plain: &[u8]) -> Option<Vec<u8>> {
        Some(self.unwrap(key)?.seal(purpose, plain))
    }

    fn open_under(&self, key: DataKey<'_>, purpose: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        self.unwrap(key)?.open(purpose, sealed)
    }

    fn knows(&self, key: DataKey<'_>) -> bool {
        self.unwrap(key).is_some()
    }
}

fn stream(key: &[u8; 32], nonce: &[u8], length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new_keyed(key).update(b"stream").update(nonce).finalize_xof().fill(&mut bytes);
    bytes
}

fn tag(key: &[u8; 32], body: &[u8]) -> [u8; TAG] {
    *blake3::Hasher::new_keyed(key).update(b"tag").update(body).finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_for_its_purpose_and_key_only() {
        let keys = TestKeys::new();
        let sealed = keys.seal("connection/1", b"secret");
        assert_eq!(keys.open("connection/1", &sealed).as_deref(), Some(b"secret".as_slice()));
        assert_eq!(keys.open("connection/2", &sealed), None);
        assert_eq!(TestKeys::of(1).open("connection/1", &sealed), None);
        assert!(!sealed.windows(6).any(|window| window == b"secret"));
    }

    #[test]
    fn an_edited_or_cut_seal_does_not_open() {
        let keys = TestKeys::new();
        let sealed = keys.seal("p", b"");
        assert_eq!(keys.open("p", &sealed), Some(Vec::new()));
        for n in 0..sealed.len() {
            let mut edited = sealed.clone();
            edited[n] ^= 1;
            assert_eq!(keys.open("p", &edited), None);
            assert_eq!(keys.open("p", &sealed[..n]), None);
        }
    }

    #[test]
    fn secrets_differ_by_purpose_tenant_and_name() {
        let keys = TestKeys::new();
        assert_ne!(keys.api_key_hash("a"), keys.callback_secret("a"));
        assert_ne!(keys.webhook_secret(TenantId::DEFAULT, "a"), keys.webhook_secret(TenantId::DEFAULT, "b"));
        assert!(keys.webhook_secret(TenantId::DEFAULT, "a").starts_with("whsec_"));
    }
}
