//! Secrets: what lies sealed, its versions, and the tenant's data key.

use futures::future::join_all;
use kybern_core::error::ErrorCode;
use kybern_core::ports::DataKey;
use kybern_core::secret::{MAX_SECRETS, SealedSecret, Secret, data_key_owner};

use super::fixture::{HOUR, code};
use super::{FullHarness, Home, World};

impl World {
    /// A sealed value that fits what the tenant has, at that version.
    async fn sealed(&self, home: &Home, name: &str, version: u32, value: &str) -> SealedSecret {
        let owner = data_key_owner(home.scope);
        let data_key = match self.store().data_key(home.scope).await.unwrap() {
            Some(known) => known,
            None => self.harness.keys.new_data_key(&owner).unwrap(),
        };
        let secret = Secret {
            name: name.parse().unwrap(),
            hosts: vec!["api.example.com".parse().unwrap(), "*.example.com:8443".parse().unwrap()],
            description: "what \"it\" is for".to_owned(),
            version,
            created_by: "user:test".to_owned(),
            created_at: self.now(),
            updated_at: self.now(),
        };
        let key = DataKey { owner: &owner, wrapped: &data_key };
        let sealed = self.harness.keys.seal_under(key, &secret.binding(home.scope), value.as_bytes()).unwrap();
        SealedSecret { secret, sealed, data_key }
    }

    async fn write(&self, home: &Home, new: &SealedSecret) -> bool {
        self.store().put_secret(home.scope, new, self.event("secret.set")).await.unwrap()
    }

    /// The value of a secret as its row opens it.
    async fn opened(&self, home: &Home, name: &str) -> Option<String> {
        let found = self.store().sealed_secret(home.scope, &name.parse().unwrap()).await.unwrap()?;
        let owner = data_key_owner(home.scope);
        let key = DataKey { owner: &owner, wrapped: &found.data_key };
        let plain = self.harness.keys.open_under(key, &found.secret.binding(home.scope), &found.sealed);
        Some(String::from_utf8(plain.expect("what was just sealed opens")).unwrap())
    }
}

pub async fn a_secret_comes_back_sealed_as_it_was_written(h: FullHarness) {
    let (w, home) = World::new(h).await;
    assert_eq!(w.store().data_key(home.scope).await.unwrap(), None);
    let new = w.sealed(&home, "crm_token", 1, "a value").await;
    assert!(w.write(&home, &new).await);
    assert_eq!(w.store().sealed_secret(home.scope, &new.secret.name).await.unwrap(), Some(new.clone()));
    assert_eq!(w.opened(&home, "crm_token").await.as_deref(), Some("a value"));
    let second = w.sealed(&home, "a_first", 1, "another").await;
    assert!(w.write(&home, &second).await);
    let third = w.sealed(&home, "a1", 1, "a third").await;
    assert!(w.write(&home, &third).await);
    let names: Vec<String> =
        w.store().secrets(home.scope).await.unwrap().into_iter().map(|secret| secret.name.to_string()).collect();
    assert_eq!(names, ["a1", "a_first", "crm_token"], "by name, in the order of bytes");
    assert_eq!(w.acts_of(&home, "secret.set").await, 3);
}

pub async fn writing_again_is_the_next_version(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let first = w.sealed(&home, "crm_token", 1, "old value").await;
    assert!(w.write(&home, &first).await);
    w.harness.clock.advance(HOUR);
    let mut second = w.sealed(&home, "crm_token", 2, "new value").await;
    second.secret.hosts.truncate(1);
    let again = SealedSecret {
        sealed: {
            let owner = data_key_owner(home.scope);
            let key = DataKey { owner: &owner, wrapped: &second.data_key };
            w.harness.keys.seal_under(key, &second.secret.binding(home.scope), b"new value").unwrap()
        },
        ..second.clone()
    };
    assert!(w.write(&home, &again).await);
    let found = w.store().sealed_secret(home.scope, &first.secret.name).await.unwrap().unwrap();
    assert_eq!((found.secret.version, found.secret.hosts.len()), (2, 1));
    assert_eq!((found.secret.created_at, found.secret.updated_at), (first.secret.created_at, again.secret.updated_at));
    assert_eq!(w.opened(&home, "crm_token").await.as_deref(), Some("new value"));
    for stale in [1, 2, 4] {
        let late = w.sealed(&home, "crm_token", stale, "late").await;
        assert!(!w.write(&home, &late).await, "version {stale} does not follow 2");
    }
    assert_eq!(
        (w.opened(&home, "crm_token").await.as_deref(), w.acts_of(&home, "secret.set").await),
        (Some("new value"), 2)
    );
}

pub async fn of_twenty_who_write_the_same_version_one_does(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let new = w.sealed(&home, "crm_token", 1, "a value").await;
    let wrote = join_all((0..20).map(|_| w.write(&home, &new))).await;
    assert_eq!(wrote.into_iter().filter(|wrote| *wrote).count(), 1);
    assert_eq!(w.acts_of(&home, "secret.set").await, 1);
}

pub async fn a_tenant_has_one_data_key_as_long_as_it_has_secrets(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let new = w.sealed(&home, "one", 1, "a value").await;
    assert!(w.write(&home, &new).await);
    let mut other = w.sealed(&home, "two", 1, "a value").await;
    other.data_key = w.harness.keys.seal("another key", b"x");
    assert!(!w.write(&home, &other).await, "a second data key is refused");
    let two = w.sealed(&home, "two", 1, "a value").await;
    assert!(w.write(&home, &two).await);
    let (scope, at) = (home.scope, w.now());
    assert!(w.store().delete_secret(scope, &new.secret.name, at, w.event("secret.delete")).await.unwrap());
    assert_eq!(w.store().data_key(scope).await.unwrap(), Some(new.data_key.clone()), "the other still needs it");
    assert!(!w.store().delete_secret(scope, &new.secret.name, at, w.event("secret.delete")).await.unwrap());
    assert!(w.store().delete_secret(scope, &two.secret.name, at, w.event("secret.delete")).await.unwrap());
    assert_eq!(w.store().data_key(scope).await.unwrap(), None);
    assert!(w.store().secrets(scope).await.unwrap().is_empty());
    assert_eq!(w.acts_of(&home, "secret.delete").await, 2, "what was not there is not told");
    assert!(w.write(&home, &other).await, "and the next first secret brings its own");
}

pub async fn another_tenant_neither_sees_nor_removes_a_secret(h: FullHarness) {
    let (w, home) = World::new(h).await;
    let new = w.sealed(&home, "crm_token", 1, "a value").await;
    assert!(w.write(&home, &new).await);
    let other = w.tenant("second").await;
    let (store, name) = (w.store(), &new.secret.name);
    assert_eq!(store.sealed_secret(other.scope, name).await.unwrap(), None);
    assert_eq!(store.data_key(other.scope).await.unwrap(), None);
    assert!(store.secrets(other.scope).await.unwrap().is_empty());
    assert!(!store.delete_secret(other.scope, name, w.now(), w.event("secret.delete")).await.unwrap());
    let same = w.sealed(&other, "crm_token", 1, "their value").await;
    assert!(w.write(&other, &same).await, "names are a tenant's own");
    assert_ne!(store.data_key(other.scope).await.unwrap(), store.data_key(home.scope).await.unwrap());
    assert_eq!(w.opened(&home, "crm_token").await.as_deref(), Some("a value"));
    assert_eq!(w.opened(&other, "crm_token").await.as_deref(), Some("their value"));
}

pub async fn a_tenant_has_no_more_secrets_than_it_may(h: FullHarness) {
    let (w, home) = World::new(h).await;
    for n in 0..MAX_SECRETS {
        assert!(w.write(&home, &w.sealed(&home, &format!("s{n}"), 1, "a value").await).await, "{n}");
    }
    let over = w.sealed(&home, "over", 1, "a value").await;
    let refused = w.store().put_secret(home.scope, &over, w.event("secret.set")).await;
    assert_eq!(code(refused), ErrorCode::Unprocessable);
    assert!(w.write(&home, &w.sealed(&home, "s7", 2, "a newer value").await).await, "one that is there may change");
}
