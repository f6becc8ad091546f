//! Secrets: written by people, never read back, used by tools.
//!
//! A value is sealed before it leaves this module and opened only for a call of a tool. What is read is every time the
//! newest version, so a value that was replaced or removed is not used any more.

mod reader;
mod scrub;

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::audit::AuditEvent;
use kybern_core::error::{Detail, Error, ErrorCode, Result};
use kybern_core::ports::{Clock, DataKey, Keys, SecretStore};
use kybern_core::secret::{
    HostRule, MAX_DESCRIPTION, MAX_HOSTS, SealedSecret, Secret, SecretName, SecretValue, data_key_owner,
};
use kybern_core::tenant::TenantScope;
use serde_json::json;

pub(crate) use reader::TenantSecrets;
pub(crate) use scrub::Scrub;

/// How often a write is begun anew when others write the same secret at the same time.
const MOST_TRIES: u8 = 5;

/// A secret to be written.
#[derive(Clone, Debug)]
pub struct NewSecret {
    pub name: SecretName,
    pub value: SecretValue,
    /// Where it may be sent.
    pub hosts: Vec<HostRule>,
    pub description: String,
}

impl NewSecret {
    /// What keeps it from being written, place by place.
    fn faults(&self) -> Vec<Detail> {
        let mut faults = Vec::new();
        faults.extend(self.value.check().err().map(|problem| Detail::new("/value", problem)));
        if self.hosts.is_empty() || self.hosts.len() > MAX_HOSTS {
            let message = format!("name 1 to {MAX_HOSTS} hosts to which the secret may be sent");
            faults.push(Detail::new("/hosts", message));
        }
        if self.description.chars().count() > MAX_DESCRIPTION || self.description.contains('\0') {
            let message = format!("a description has at most {MAX_DESCRIPTION} characters, and no NUL");
            faults.push(Detail::new("/description", message));
        }
        faults
    }
}

/// The secrets of tenants: written here, opened by nobody but a tool's call.
#[derive(Clone)]
pub struct Secrets {
    pub(crate) store: Arc<dyn SecretStore>,
    pub(crate) keys: Arc<dyn Keys>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Secrets {
    /// What is known of each of the tenant's secrets, by name. Never a value.
    pub async fn list(&self, scope: TenantScope) -> Result<Vec<Secret>> {
        self.store.secrets(scope).await
    }

    /// What is known of one of them. Never its value.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn get(&self, scope: TenantScope, name: &SecretName) -> Result<Secret> {
        let found = self.store.sealed_secret(scope, name).await?;
        found.map(|found| found.secret).ok_or_else(|| Error::not_found("secret", name))
    }

    /// Writes a secret, or its next version: the old value is gone.
    ///
    /// # Errors
    /// `VALIDATION_ERROR`; `UNPROCESSABLE` when the tenant has too many, or its data key does not open under the
    /// present master key; `CONFLICT` when others keep writing the same one.
    pub async fn set(&self, actor: &Actor, new: NewSecret) -> Result<Secret> {
        let faults = new.faults();
        if let Some(first) = faults.first() {
            return Err(Error::new(ErrorCode::Validation, first.message.clone()).with_details(faults));
        }
        if let Some(written) = self.written_before(actor, &new).await? {
            return Ok(written);
        }
        for _ in 0..MOST_TRIES {
            let sealed = self.seal_secret(actor, &new).await?;
            // A subject that says "secret:" is redacted behind it.
            let (version, hosts) = (sealed.secret.version, &sealed.secret.hosts);
            let detail = json!({"name": new.name, "version": version, "hosts": hosts});
            let audit = AuditEvent::by(actor, "secret.set", format!("secret:{}", new.name), detail);
            if self.store.put_secret(actor.scope(), &sealed, audit).await? {
                return Ok(sealed.secret);
            }
        }
        let message = format!("secret {} is being written by others, read its version and write it again", new.name);
        Err(Error::new(ErrorCode::Conflict, message))
    }

    /// The secret as an earlier try of the actor's command has written it.
    async fn written_before(&self, actor: &Actor, new: &NewSecret) -> Result<Option<Secret>> {
        if !actor.command().is_some_and(|command| command.is_repeated()) {
            return Ok(None);
        }
        let scope = actor.scope();
        let Some(known) = self.store.sealed_secret(scope, &new.name).await? else { return Ok(None) };
        let owner = data_key_owner(scope);
        let key = DataKey { owner: &owner, wrapped: &known.data_key };
        let value = self.keys.open_under(key, &known.secret.binding(scope), &known.sealed);
        let same = known.secret.hosts == new.hosts
            && known.secret.description == new.description
            && known.secret.created_by == actor.principal().label()
            && value.as_deref() == Some(new.value.expose().as_bytes());
        Ok(same.then_some(known.secret))
    }

    async fn seal_secret(&self, actor: &Actor, new: &NewSecret) -> Result<SealedSecret> {
        let (scope, keys, store) = (actor.scope(), &self.keys, &self.store);
        let owner = data_key_owner(scope);
        let data_key = match store.data_key(scope).await? {
            Some(wrapped) => wrapped,
            None => keys.new_data_key(&owner).ok_or_else(|| {
                Error::new(ErrorCode::Internal, "the operating system gives no random bytes for a data key")
            })?,
        };
        let known = store.sealed_secret(scope, &new.name).await?.map(|known| known.secret);
        let now = self.clock.now();
        let secret = Secret {
            name: new.name.clone(),
            hosts: new.hosts.clone(),
            description: new.description.clone(),
            version: known.as_ref().map_or(0, |known| known.version).saturating_add(1),
            created_by: actor.principal().label(),
            created_at: known.map_or(now, |known| known.created_at),
            updated_at: now,
        };
        let key = DataKey { owner: &owner, wrapped: &data_key };
        let sealed = keys.seal_under(key, &secret.binding(scope), new.value.expose().as_bytes());
        let sealed = sealed.ok_or_else(|| {
            let message = "the tenant's data key does not open: it was edited, or wrapped under another master key. \
                           Bring that key back, or delete every secret of the tenant and write them again";
            Error::new(ErrorCode::Unprocessable, message)
        })?;
        Ok(SealedSecret { secret, sealed, data_key })
    }

    /// Removes a secret: calls that name it fail from now on.
    ///
    /// # Errors
    /// `NOT_FOUND`.
    pub async fn delete(&self, actor: &Actor, name: &SecretName) -> Result<()> {
        // One that cannot be read is removed as well.
        let known = self.get(actor.scope(), name).await.ok();
        let detail = known.map_or(
            json!({"name": name}),
            |known| json!({"name": name, "version": known.version, "hosts": known.hosts}),
        );
        let audit = AuditEvent::by(actor, "secret.delete", format!("secret:{name}"), detail);
        let deleted = self.store.delete_secret(actor.scope(), name, self.clock.now(), audit).await?;
        if deleted { Ok(()) } else { Err(Error::not_found("secret", name)) }
    }
}
