//! Secrets, sealed, and the data key of each tenant, wrapped. A value is never here.

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::ports::SecretStore;
use kybern_core::secret::{MAX_SECRETS, SealedSecret, Secret, SecretName};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{audit, page, reservations};

statements! {
    LIST = part "secret" "list";
    GET = part "secret" "get";
    VERSION = part "secret" "version";
    COUNT = part "secret" "count";
    INSERT = part "secret" "insert";
    UPDATE = part "secret" "update";
    DELETE = part "secret" "delete";
    KEY_GET = part "tenant_key" "get";
    KEY_INSERT = part "tenant_key" "insert";
    KEY_HOLD = split "tenant_key_hold";
    KEY_DELETE = part "tenant_key" "delete";
}

fn secret(row: &mut Row) -> Result<Secret> {
    Ok(Secret {
        name: row.named(|name| name.parse().ok())?,
        hosts: row.json()?,
        description: row.text()?,
        version: row.u32()?,
        created_by: row.text()?,
        created_at: row.time()?,
        updated_at: row.time()?,
    })
}

async fn list(tx: &mut Tx, scope: TenantScope) -> Result<Vec<Secret>> {
    let rows = tx.fetch_all(&LIST, args![scope]).await?;
    let mut found: Vec<Secret> = page::readable(rows, secret);
    // Databases do not agree on the order of names.
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

async fn get(tx: &mut Tx, (scope, name): &(TenantScope, SecretName)) -> Result<Option<SealedSecret>> {
    let Some(mut row) = tx.fetch_optional(&GET, args![*scope, name.as_str()]).await? else { return Ok(None) };
    // A row that was edited by hand may hold no base64: it then opens as little as any other edited one.
    let (secret, sealed) = (secret(&mut row)?, row.text()?);
    let sealed = STANDARD.decode(sealed).unwrap_or_default();
    let data_key = STANDARD.decode(row.text()?).unwrap_or_default();
    Ok(Some(SealedSecret { secret, sealed, data_key }))
}

async fn data_key(tx: &mut Tx, scope: TenantScope) -> Result<Option<Vec<u8>>> {
    tx.find(&KEY_GET, args![scope], |row| row.named(|text| STANDARD.decode(text).ok())).await
}

async fn put(tx: &mut Tx, (scope, new, event): &(TenantScope, SealedSecret, AuditEvent)) -> Result<bool> {
    let (scope, SealedSecret { secret, sealed, data_key }) = (*scope, new);
    reservations::lock_tenant(tx, scope).await?;
    // The tenant's key is held from here on, so all who write its secrets stand in line.
    let wrapped = STANDARD.encode(data_key);
    let held = tx.find(&KEY_HOLD, args![scope], Row::text).await?;
    let known = tx.find(&VERSION, args![scope, secret.name.as_str()], Row::u32).await?;
    let other_key = held.is_some_and(|held| held != wrapped);
    if other_key || known.unwrap_or(0).checked_add(1) != Some(secret.version) {
        return Ok(false);
    }
    let count = tx.count(&COUNT, args![scope]).await?;
    if known.is_none() && count >= i64::from(MAX_SECRETS) {
        let message = format!("a tenant has at most {MAX_SECRETS} secrets, delete one that is not used");
        return Err(StoreError::Full(message));
    }
    if tx.execute(&KEY_INSERT, args![scope, wrapped.as_str(), secret.updated_at]).await? == 0 {
        // Somebody else's first secret came between the look and the key: theirs may be another one.
        if tx.find(&KEY_HOLD, args![scope], Row::text).await?.as_ref() != Some(&wrapped) {
            return Ok(false);
        }
    }
    let (hosts, sealed) = (json!(secret.hosts).to_string(), STANDARD.encode(sealed));
    let (name, version) = (secret.name.as_str(), i64::from(secret.version));
    let (about, by) = (secret.description.as_str(), secret.created_by.as_str());
    if known.is_some() {
        let row = args![scope, name, version, hosts, about, sealed, by, secret.updated_at];
        tx.execute(&UPDATE, row).await?;
    } else {
        let row = args![scope, name, version, hosts, about, sealed, by, secret.created_at, secret.updated_at];
        tx.execute(&INSERT, row).await?;
    }
    audit::append(tx, scope, secret.updated_at, event).await?;
    Ok(true)
}

type DeleteSecret = (TenantScope, SecretName, Timestamp, AuditEvent);

async fn delete(tx: &mut Tx, (scope, name, at, event): &DeleteSecret) -> Result<bool> {
    reservations::lock_tenant(tx, *scope).await?;
    tx.fetch_optional(&KEY_HOLD, args![*scope]).await?;
    let there = tx.execute(&DELETE, args![*scope, name.as_str()]).await? > 0;
    if there {
        tx.execute(&KEY_DELETE, args![*scope]).await?;
        audit::append(tx, *scope, *at, event).await?;
    }
    Ok(there)
}

#[async_trait]
impl<D: Send + Sync> SecretStore for SqlStore<D> {
    async fn secrets(&self, scope: TenantScope) -> PortResult<Vec<Secret>> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(list(tx, *scope))).await?)
    }

    async fn sealed_secret(&self, scope: TenantScope, name: &SecretName) -> PortResult<Option<SealedSecret>> {
        Ok(self.read(scope, (scope, name.clone()), |tx, args| Box::pin(get(tx, args))).await?)
    }

    async fn data_key(&self, scope: TenantScope) -> PortResult<Option<Vec<u8>>> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(data_key(tx, *scope))).await?)
    }

    async fn put_secret(&self, scope: TenantScope, new: &SealedSecret, audit: AuditEvent) -> PortResult<bool> {
        let args = (scope, new.clone(), audit);
        Ok(self.write(scope, args, |tx, args| Box::pin(put(tx, args))).await?)
    }

    async fn delete_secret(
        &self,
        scope: TenantScope,
        name: &SecretName,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<bool> {
        let args = (scope, name.clone(), at, audit);
        Ok(self.write(scope, args, |tx, args| Box::pin(delete(tx, args))).await?)
    }
}
