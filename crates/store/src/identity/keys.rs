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
    MAKERS = shared "key_makers";
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
    let read = |row: &mut Row| {
        let (id, maker) = (KeyId::from_uuid(row.uuid()?), row.opt_uuid()?.map(KeyId::from_uuid));
        Ok((id, KeyInLine { maker, revoked_at: row.opt_time()? }))
    };
    let fallen = fallen(&tx.list(&MAKERS, args![scope], read).await?.into_iter().collect());
    tx.enter(RowVisibility::Tenant(scope)).await?;
    let keys = page::readable(tx.fetch_all(&LIST, args![scope]).await?, key);
    let since = |key: &ApiKey| fallen.get(&key.id).copied().flatten().or(key.revoked_at);
    Ok(keys.into_iter().map(|key| ApiKey { revoked_at: since(&key), ..key }).collect())
}

/// A key and the one that it was made with.
struct KeyInLine {
    maker: Option<KeyId>,
    revoked_at: Option<Timestamp>,
}

/// Since when each key does not stand any more: since it or one in the line of its makers was revoked first. Each key is
/// looked at once, because a line may be thousands of keys long.
fn fallen(keys: &BTreeMap<KeyId, KeyInLine>) -> BTreeMap<KeyId, Option<Timestamp>> {
    let mut since: BTreeMap<KeyId, Option<Timestamp>> = BTreeMap::new();
    for id in keys.keys() {
        let (mut line, mut next) = (Vec::new(), Some(*id));
        while let Some(id) = next.filter(|id| !since.contains_key(id) && line.len() < keys.len()) {
            let Some(key) = keys.get(&id) else { break };
            line.push((id, key.revoked_at));
            next = key.maker;
        }
        let mut earliest = next.and_then(|maker| since.get(&maker).copied().flatten());
        for (id, revoked_at) in line.into_iter().rev() {
            earliest = [earliest, revoked_at].into_iter().flatten().min();
            since.insert(id, earliest);
        }
    }
    since
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
    for (tenant, key, _) in falling.into_iter().filter(|(tenant, ..)| *tenant != act.scope.tenant()) {
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

pub(super) async fn below(tx: &mut Tx, id: KeyId, at: Timestamp) -> Result<Vec<(KeyId, UserId)>> {
    Ok(below_by_tenant(tx, id, at).await?.into_iter().map(|(_, key, user)| (key, user)).collect())
}

/// In the order of the tenants.
async fn below_by_tenant(tx: &mut Tx, id: KeyId, at: Timestamp) -> Result<Vec<(TenantId, KeyId, UserId)>> {
    let read = |row: &mut Row| {
        let (tenant, key, user) = (row.uuid()?, row.uuid()?, row.uuid()?);
        Ok((TenantId::from_uuid(tenant), KeyId::from_uuid(key), UserId::from_uuid(user)))
    };
    tx.list(&BELOW, args![id.as_uuid(), at], read).await
}

pub(super) async fn of_platform_admins(tx: &mut Tx, at: Timestamp) -> Result<Vec<KeyId>> {
    let holders = tx.list(&WORKING, args![at], of_holder).await?;
    Ok(holders.into_iter().filter(KeyHolder::opens_all).map(|holder| holder.key).collect())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(n: u64) -> KeyId {
        KeyId::from_uuid(Uuid::from_u128(u128::from(n)))
    }

    #[test]
    fn a_key_falls_when_one_of_its_makers_does_and_the_first_counts() {
        let key = |maker: Option<u64>, revoked: Option<i64>| KeyInLine {
            maker: maker.map(id),
            revoked_at: revoked.map(Timestamp::from_millis),
        };
        let keys =
            [(1, key(None, None)), (2, key(Some(1), Some(20))), (3, key(Some(2), Some(10))), (4, key(Some(3), None))];
        let keys = keys.into_iter().map(|(n, key)| (id(n), key)).collect();
        let since = fallen(&keys);
        let at = |n| since[&id(n)].map(Timestamp::as_millis);
        assert_eq!([at(1), at(2), at(3), at(4)], [None, Some(20), Some(10), Some(10)]);
    }

    #[test]
    fn a_long_line_takes_no_more_than_its_length() {
        let line = |count: usize| {
            let count = count as u64;
            // The last one first: each is looked at before the one that it was made with.
            let keys: BTreeMap<KeyId, KeyInLine> = (0..count)
                .map(|n| (id(n), KeyInLine { maker: (n + 1 < count).then(|| id(n + 1)), revoked_at: None }))
                .collect();
            assert!(fallen(&keys).values().all(Option::is_none));
        };
        assert!(kybern_testkit::growth(500, line) < 24.0);
    }
}
