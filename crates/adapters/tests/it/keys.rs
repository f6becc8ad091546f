//! The master key through its public interface.

use std::os::unix::fs::PermissionsExt as _;

use kybern_adapters::keys::{KeyError, MasterKey, new_api_key};
use kybern_core::audit::{AuditEvent, GENESIS};
use kybern_core::id::TenantId;
use kybern_core::policy::webhook;
use kybern_core::ports::{DataKey, Keys as _};
use kybern_core::time::Timestamp;
use serde_json::json;
use uuid::Uuid;

fn key(byte: u8) -> MasterKey {
    MasterKey::from_bytes(&[byte; 32])
}

fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}

#[test]
fn derived_values_are_stable_and_differ_by_key_purpose_and_subject() {
    let (one, two) = (key(1), key(2));
    assert_eq!(one.callback_secret("wf-1"), key(1).callback_secret("wf-1"));
    assert_eq!(one.callback_secret("wf-1").len(), 43);
    assert_eq!(one.api_key_hash("kyb_a").len(), 64);
    assert_ne!(one.callback_secret("wf-1"), one.callback_secret("wf-2"));
    assert_ne!(one.callback_secret("wf-1"), two.callback_secret("wf-1"));
    assert_ne!(one.api_key_hash("kyb_a"), two.api_key_hash("kyb_a"));
    assert_ne!(one.webhook_secret(tenant(1), "a"), one.webhook_secret(tenant(2), "a"));
    assert_ne!(one.webhook_secret(tenant(1), "a"), one.webhook_secret(tenant(1), "b"));
    let seal = |key: &MasterKey, tenant| key.cursor_key(tenant).digest(&"x");
    assert_eq!(seal(&one, tenant(1)), seal(&key(1), tenant(1)));
    assert_ne!(seal(&one, tenant(1)), seal(&one, tenant(2)));
    assert_ne!(seal(&one, tenant(1)), seal(&two, tenant(1)));
    assert_ne!(seal(&one, tenant(1)), one.digest_key(tenant(1)).digest(&"x"));
    assert_ne!(one.fingerprint(), two.fingerprint());
    assert_eq!(one.fingerprint().len(), 8);
}

#[test]
fn each_tenant_has_its_own_audit_chain() {
    let hash = |number| {
        let event = AuditEvent::by_executor("task.review", "task:1", json!({}));
        key(1).audit_key(tenant(number)).chain(1, Timestamp::from_millis(5), event, GENESIS).hash
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn what_is_sealed_opens_only_for_its_purpose_key_and_unedited() {
    let one = key(1);
    let sealed = one.seal("connection:7", b"password");
    assert_ne!(sealed, one.seal("connection:7", b"password"), "the nonce is random");
    assert!(!sealed.windows(8).any(|window| window == b"password"));
    assert_eq!(one.open("connection:7", &sealed).unwrap(), b"password");
    assert_eq!(one.open("connection:8", &sealed), None);
    assert_eq!(key(2).open("connection:7", &sealed), None);
    for at in 0..sealed.len() {
        let mut edited = sealed.clone();
        edited[at] ^= 1;
        assert_eq!(one.open("connection:7", &edited), None, "byte {at}");
        assert_eq!(one.open("connection:7", &sealed[..at]), None, "cut at {at}");
    }
}

#[test]
fn a_retired_key_still_opens_and_no_longer_seals() {
    let sealed = key(1).seal("p", b"old");
    let rotated = key(3).with_retired(key(2).with_retired(key(1)));
    assert_eq!(rotated.open("p", &sealed).unwrap(), b"old");
    assert_eq!(key(1).open("p", &rotated.seal("p", b"new")), None);
    assert_eq!(rotated.fingerprint(), key(3).fingerprint());
}

#[test]
fn a_data_key_opens_what_it_sealed_for_its_owner_under_its_master_key() {
    let (one, two) = (key(1), key(2));
    let wrapped = one.new_data_key("tenant a").unwrap();
    assert_ne!(wrapped, one.new_data_key("tenant a").unwrap(), "each is random");
    let data = DataKey { owner: "tenant a", wrapped: &wrapped };
    let sealed = one.seal_under(data, "secret/x/1", b"example-value").unwrap();
    assert!(!sealed.windows(13).any(|window| window == b"example-value"));
    assert_eq!(one.open_under(data, "secret/x/1", &sealed).unwrap(), b"example-value");
    assert_eq!(one.open_under(data, "secret/x/2", &sealed), None, "bound to its purpose");
    assert_eq!(one.open("secret/x/1", &sealed), None, "the master key itself does not open it");
    let foreign = DataKey { owner: "tenant b", ..data };
    assert!(one.open_under(foreign, "secret/x/1", &sealed).is_none() && !one.knows(foreign));
    assert!(two.open_under(data, "secret/x/1", &sealed).is_none() && !two.knows(data));
    assert!(two.seal_under(data, "secret/x/1", b"v").is_none());
    // A master key that took over from it unwraps the same data key: nothing is sealed anew.
    let rotated = two.with_retired(key(1));
    assert_eq!(rotated.open_under(data, "secret/x/1", &sealed).unwrap(), b"example-value");
    for at in 0..wrapped.len() {
        let mut edited = wrapped.clone();
        edited[at] ^= 1;
        assert!(!one.knows(DataKey { wrapped: &edited, ..data }), "byte {at}");
    }
}

#[test]
fn debug_shows_the_fingerprint_and_nothing_else() {
    let one = key(1);
    assert_eq!(format!("{one:?}"), format!("MasterKey({}, …)", one.fingerprint()));
}

#[test]
fn api_keys_are_long_and_never_repeat() {
    let (one, two) = (new_api_key().unwrap(), new_api_key().unwrap());
    assert_ne!(one, two);
    assert!(one.starts_with("kyb_") && one.len() == 47, "{one}");
    assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
}

#[test]
fn the_key_file_is_made_private_and_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let made = MasterKey::load_or_create(&path).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(MasterKey::load_or_create(&path).unwrap().fingerprint(), made.fingerprint());
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["master.key"], "no draft is left behind");
}

#[test]
fn processes_that_start_together_end_with_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || MasterKey::load_or_create(&path).unwrap().fingerprint())
        })
        .collect();
    let prints: Vec<String> = starts.into_iter().map(|start| start.join().unwrap()).collect();
    assert!(prints.iter().all(|print| *print == prints[0]), "{prints:?}");
}

#[test]
fn a_key_file_that_others_can_read_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    MasterKey::load_or_create(&path).unwrap();
    for mode in [0o640, 0o604, 0o660] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let error = MasterKey::load_or_create(&path).unwrap_err();
        assert!(matches!(error, KeyError::Exposed { .. }), "{error}");
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }
}

#[test]
fn a_key_file_without_a_key_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    std::fs::write(&path, "not a key").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(matches!(MasterKey::load_or_create(&path).unwrap_err(), KeyError::Malformed { .. }));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "not a key");
}

#[test]
fn a_derived_webhook_secret_signs_and_verifies() {
    let secret = key(1).webhook_secret(tenant(1), "done");
    let now = Timestamp::from_millis(1_790_000_000_000);
    let signature = webhook::sign(&secret, "msg_1", now, b"{}").unwrap();
    let headers = webhook::WebhookHeaders { id: "msg_1", timestamp: "1790000000", signature: &signature };
    assert_eq!(webhook::verify(&secret, headers, b"{}", now), Ok(()));
}
