//! API keys. A key stands as long as every key in the line of those that made it, in whichever tenants they are.

use std::collections::BTreeMap;

use kybern_core::actor::Role;
use kybern_core::audit::AuditEvent;
use kybern_core::id::{KeyId, TenantId, UserId};
use kybern_core::identity::{ApiKey, KeyHolder};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use super::{AuditedAct, user_by_id};
use crate::db::{Row, RowVisibility, Tx, args, scope_of_row, statements};
use crate::error::{Result, StoreError};
use crate::{audit, page};

statements! {
    INSERT = shared "key_insert";
    LIST = shared "key_list";
    FALLEN = shared "key_fallen";
    STATE = shared "key_state";
    REVOKE = shared "key_revoke";
    HOLDER = shared "key_holder";
    STANDS = shared "key_stands";
    BELOW = shared "key_below";
    WORKING = shared "key_working";
}

pub(super) async fn insert(tx: &mut Tx, scope: TenantScope, key: &ApiKey, key_hash: &str) -> Result<()> {
    let args = args![
        scope,
        key.id.as_uuid(),
        key.user_id.as_uuid(),
        key.name.as_str(),
        key.prefix.as_str(),
        json!(key.roles).to_string(),
        json!(key.scopes).to_string(),
        key.expires_at,
        key.revoked_at,
        key.created_at,
        key_hash,
        key.made_by_key_id.map(KeyId::as_uuid),
        key.made_by_user_id.map(UserId::as_uuid),
    ];
    tx.execute(&INSERT, args).await.map(|_| ())
}

pub(super) async fn create(tx: &mut Tx, act: &AuditedAct<(ApiKey, String)>) -> Result<()> {
    let (key, key_hash) = &act.what;
    if user_by_id(tx, act.scope, key.user_id).await?.is_none() {
        return Err(StoreError::not_found("user", key.user_id));
    }
    insert(tx, act.scope, key, key_hash).await?;
    act.audited(tx).await
}

fn key(row: &mut Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: KeyId::from_uuid(row.uuid()?),
        user_id: UserId::from_uuid(row.uuid()?),
        name: row.text()?,
        prefix: row.text()?,
        roles: row.json()?,
        scopes: row.json()?,
        expires_at: row.opt_time()?,
        revoked_at: row.opt_time()?,
        created_at: row.time()?,
        made_by_key_id: row.opt_uuid()?.map(KeyId::from_uuid),
        made_by_user_id: row.opt_uuid()?.map(UserId::from_uuid),
    })
}

pub(super) async fn list(tx: &mut Tx, scope: TenantScope) -> Result<Vec<ApiKey>> {
    // The lines of keys lead through other tenants.
    tx.enter(RowVisibility::Everyone).await?;
    let fallen = tx.list(&FALLEN, args![scope], |row| Ok((KeyId::from_uuid(row.uuid()?), row.time()?))).await?;
    let fallen: BTreeMap<KeyId, Timestamp> = fallen.into_iter().collect();
    tx.enter(RowVisibility::Tenant(scope)).await?;
    let keys = page::readable(tx.fetch_all(&LIST, args![scope]).await?, key);
    Ok(keys.into_iter().map(|key| ApiKey { revoked_at: fallen.get(&key.id).copied(), ..key }).collect())
}

pub(super) async fn revoke(tx: &mut Tx, act: &AuditedAct<KeyId>) -> Result<()> {
    let id = act.what;
    if tx.fetch_optional(&STATE, args![act.scope, id.as_uuid()]).await?.is_none() {
        return Err(StoreError::not_found("key", id));
    }
    tx.enter(RowVisibility::Everyone).await?;
    let falling = match stands(tx, id).await? {
        true => below_by_tenant(tx, id, act.at).await?,
        false => Vec::new(),
    };
    tx.enter(RowVisibility::Tenant(act.scope)).await?;
    if tx.execute(&REVOKE, args![act.scope, id.as_uuid(), act.at]).await? == 0 {
        return Ok(());
    }
    act.audited(tx).await?;
    for (tenant, key) in falling.into_iter().filter(|(tenant, _)| *tenant != act.scope.tenant()) {
        // Neither who revoked it nor which key it was made with: both are another tenant's.
        let detail = json!({"fellWithItsMaker": true});
        let event = AuditEvent::by_executor("key.revoke", format!("key:{key}"), detail);
        let scope = scope_of_row(tenant);
        tx.enter(RowVisibility::Tenant(scope)).await?;
        audit::append(tx, scope, act.at, &event).await?;
    }
    Ok(())
}

fn of_holder(row: &mut Row) -> Result<KeyHolder> {
    let (tenant, user, key) = (row.uuid()?, row.uuid()?, row.uuid()?);
    // Nobody may stop a start, or get more than was meant, with what cannot be read: it is a key that may do nothing.
    let mut unreadable = None;
    let own: Vec<Role> = row.json_or_default(&mut unreadable);
    let users: Vec<Role> = row.json_or_default(&mut unreadable);
    let scopes = row.json_or_default(&mut unreadable);
    let roles = if unreadable.is_none() { Role::limited(&own, &users) } else { Vec::new() };
    Ok(KeyHolder {
        tenant: TenantId::from_uuid(tenant),
        user: UserId::from_uuid(user),
        key: KeyId::from_uuid(key),
        roles,
        scopes,
        expires_at: row.opt_time()?,
    })
}

pub(super) async fn holder(tx: &mut Tx, key_hash: &str) -> Result<Option<KeyHolder>> {
    tx.find(&HOLDER, args![key_hash], of_holder).await
}

pub(super) async fn stands(tx: &mut Tx, id: KeyId) -> Result<bool> {
    Ok(tx.fetch_optional(&STANDS, args![id.as_uuid()]).await?.is_some())
}

pub(super) async fn below(tx: &mut Tx, id: KeyId, at: Timestamp) -> Result<Vec<KeyId>> {
    Ok(below_by_tenant(tx, id, at).await?.into_iter().map(|(_, key)| key).collect())
}

/// In the order of the tenants.
async fn below_by_tenant(tx: &mut Tx, id: KeyId, at: Timestamp) -> Result<Vec<(TenantId, KeyId)>> {
    let read = |row: &mut Row| Ok((TenantId::from_uuid(row.uuid()?), KeyId::from_uuid(row.uuid()?)));
    tx.list(&BELOW, args![id.as_uuid(), at], read).await
}

pub(super) async fn of_platform_admins(tx: &mut Tx, at: Timestamp) -> Result<Vec<KeyId>> {
    let holders = tx.list(&WORKING, args![at], of_holder).await?;
    Ok(holders.into_iter().filter(KeyHolder::opens_all).map(|holder| holder.key).collect())
}
