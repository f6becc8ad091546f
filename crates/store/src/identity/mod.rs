//! Tenants, users, keys and completion webhooks.

pub(crate) mod keys;

use std::collections::BTreeSet;

use async_trait::async_trait;
use kybern_core::actor::Role;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{KeyId, TenantId, UserId, WebhookId};
use kybern_core::identity::{AccountMakers, ApiKey, KeyHolder, OutboundWebhook, Tenant, User};
use kybern_core::ports::IdentityStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::json;

use crate::db::scope_of_row;
use crate::db::{Row, RowVisibility, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;
use crate::{audit, page};

statements! {
    TENANT_INSERT = shared "tenant_insert";
    TENANT_TAKEN = shared "tenant_taken";
    TENANT_LIST = shared "tenant_list";
    TENANT_GET = shared "tenant_get";
    TENANT_BY_SLUG = shared "tenant_by_slug";
    USER_INSERT = shared "user_insert";
    USER_TAKEN = shared "user_taken";
    USER_LIST = shared "user_list";
    USER_GET = shared "user_get";
    USER_SET_ROLES = shared "user_set_roles";
    USER_HOME = shared "user_home";
    PLATFORM_ADMINS = shared "user_platform_admins";
    USER_MAKERS = shared "user_makers";
    WEBHOOK_INSERT = shared "webhook_insert";
    WEBHOOK_LIST = shared "webhook_list";
    WEBHOOK_DELETE = shared "webhook_delete";
}

/// An act with its audit event.
struct AuditedAct<T> {
    scope: TenantScope,
    what: T,
    at: Timestamp,
    audit: AuditEvent,
}

impl<T> AuditedAct<T> {
    /// Writes the audit event of what was changed.
    async fn audited(&self, tx: &mut Tx) -> Result<()> {
        tx.outdates_what_is_known();
        audit::append(tx, self.scope, self.at, &self.audit).await
    }
}

type NewTenant = (Tenant, User, ApiKey, String);

async fn create_tenant(tx: &mut Tx, act: &AuditedAct<NewTenant>) -> Result<()> {
    let (tenant, admin, key, key_hash) = &act.what;
    let (id, name, slug) = (tenant.id.as_uuid(), tenant.name.as_str(), tenant.slug.as_str());
    // Names are unique over all tenants, and one tenant does not see the others.
    tx.enter(RowVisibility::Everyone).await?;
    let taken = tx.fetch_optional(&TENANT_TAKEN, args![id, name, slug]).await?.is_some();
    tx.enter(RowVisibility::Tenant(act.scope)).await?;
    if taken {
        return Err(StoreError::Conflict(format!("the tenant name {name:?} or its slug {slug:?} is taken")));
    }
    tx.execute(&TENANT_INSERT, args![id, name, slug, tenant.created_at]).await?;
    insert_user(tx, act.scope, admin).await?;
    keys::insert(tx, act.scope, key, key_hash).await?;
    act.audited(tx).await
}

fn tenant(row: &mut Row) -> Result<Tenant> {
    let id = TenantId::from_uuid(row.uuid()?);
    Ok(Tenant { id, name: row.text()?, slug: row.text()?, created_at: row.time()? })
}

async fn insert_user(tx: &mut Tx, scope: TenantScope, user: &User) -> Result<()> {
    let args = args![
        scope,
        user.id.as_uuid(),
        user.name.as_str(),
        user.email.as_str(),
        json!(user.roles).to_string(),
        user.timezone.as_str(),
        user.created_at,
        user.made_by_user_id.map(UserId::as_uuid),
    ];
    tx.execute(&USER_INSERT, args).await.map(|_| ())
}

async fn create_user(tx: &mut Tx, act: &AuditedAct<User>) -> Result<()> {
    let user = &act.what;
    let args = args![act.scope, user.id.as_uuid(), user.email.as_str()];
    if tx.fetch_optional(&USER_TAKEN, args).await?.is_some() {
        return Err(StoreError::Conflict("that address is taken".to_owned()));
    }
    insert_user(tx, act.scope, user).await?;
    act.audited(tx).await
}

fn user(row: &mut Row) -> Result<User> {
    Ok(User {
        id: UserId::from_uuid(row.uuid()?),
        name: row.text()?,
        email: row.text()?,
        roles: row.json()?,
        timezone: row.text()?,
        created_at: row.time()?,
        made_by_user_id: row.opt_uuid()?.map(UserId::from_uuid),
    })
}

/// Refuses what names a user that the tenant does not have.
pub(crate) async fn must_know(tx: &mut Tx, scope: TenantScope, id: UserId) -> Result<()> {
    let known = user_by_id(tx, scope, id).await?;
    known.map(|_| ()).ok_or_else(|| StoreError::not_found("user", id))
}

async fn user_by_id(tx: &mut Tx, scope: TenantScope, id: UserId) -> Result<Option<User>> {
    tx.find(&USER_GET, args![scope, id.as_uuid()], user).await
}

/// The user in their own tenant, whichever it is.
async fn user_abroad(tx: &mut Tx, id: UserId) -> Result<Option<User>> {
    let Some(home) = home_of(tx, id).await? else { return Ok(None) };
    tx.enter(RowVisibility::Tenant(home)).await?;
    user_by_id(tx, home, id).await
}

/// Whose a user is. Asked for by those who see all tenants.
pub(crate) async fn home_of(tx: &mut Tx, id: UserId) -> Result<Option<TenantScope>> {
    let home = tx.find(&USER_HOME, args![id.as_uuid()], Row::uuid).await?;
    Ok(home.map(|home| scope_of_row(TenantId::from_uuid(home))))
}

async fn platform_admins(tx: &mut Tx) -> Result<Vec<(TenantId, UserId)>> {
    let found = page::readable(tx.fetch_all(&PLATFORM_ADMINS, args![]).await?, |row| {
        let (tenant, id, roles) = (row.uuid()?, row.uuid()?, row.json::<Vec<Role>>()?);
        Ok(roles.contains(&Role::PlatformAdmin).then_some((TenantId::from_uuid(tenant), UserId::from_uuid(id))))
    });
    Ok(found.into_iter().flatten().collect())
}

async fn set_roles(tx: &mut Tx, act: &AuditedAct<(UserId, Vec<Role>)>) -> Result<()> {
    let (id, roles) = &act.what;
    let args = args![act.scope, id.as_uuid(), json!(roles).to_string()];
    if tx.execute(&USER_SET_ROLES, args).await? == 0 {
        return Err(StoreError::not_found("user", id));
    }
    act.audited(tx).await
}

async fn account_makers(tx: &mut Tx, users: &[UserId]) -> Result<AccountMakers> {
    let (mut known, mut open) = (BTreeSet::from_iter(users.iter().copied()), users.to_vec());
    let mut pairs = Vec::new();
    while let Some(made) = open.pop() {
        let makers = tx.list(&USER_MAKERS, args![made.as_uuid()], |row| row.uuid().map(UserId::from_uuid)).await?;
        pairs.extend(makers.iter().map(|maker| (made, *maker)));
        open.extend(makers.into_iter().filter(|maker| known.insert(*maker)));
    }
    Ok(pairs.into_iter().collect())
}

async fn create_webhook(tx: &mut Tx, act: &AuditedAct<OutboundWebhook>) -> Result<()> {
    let webhook = &act.what;
    let args = args![
        act.scope,
        webhook.id.as_uuid(),
        webhook.url.as_str(),
        json!(webhook.events).to_string(),
        webhook.active,
        webhook.created_at,
    ];
    tx.execute(&WEBHOOK_INSERT, args).await?;
    act.audited(tx).await
}

/// The tenant's completion webhooks, oldest first.
pub(crate) async fn webhooks(tx: &mut Tx, scope: TenantScope) -> Result<Vec<OutboundWebhook>> {
    let rows = tx.fetch_all(&WEBHOOK_LIST, args![scope]).await?;
    Ok(page::readable(rows, |row| {
        Ok(OutboundWebhook {
            id: WebhookId::from_uuid(row.uuid()?),
            url: row.text()?,
            events: row.json()?,
            active: row.flag()?,
            created_at: row.time()?,
        })
    }))
}

async fn delete_webhook(tx: &mut Tx, act: &AuditedAct<WebhookId>) -> Result<()> {
    if tx.execute(&WEBHOOK_DELETE, args![act.scope, act.what.as_uuid()]).await? == 0 {
        return Err(StoreError::not_found("webhook", act.what));
    }
    act.audited(tx).await
}

pub(crate) async fn tenants(tx: &mut Tx) -> Result<Vec<Tenant>> {
    tx.list(&TENANT_LIST, args![], tenant).await
}

async fn tenant_by_id(tx: &mut Tx, id: TenantId) -> Result<Option<Tenant>> {
    tx.find(&TENANT_GET, args![id.as_uuid()], tenant).await
}

async fn tenant_by_slug(tx: &mut Tx, slug: &str) -> Result<Option<Tenant>> {
    tx.find(&TENANT_BY_SLUG, args![slug], tenant).await
}

async fn users(tx: &mut Tx, scope: TenantScope) -> Result<Vec<User>> {
    Ok(page::readable(tx.fetch_all(&USER_LIST, args![scope]).await?, user))
}

impl<D> SqlStore<D> {
    fn act<T>(&self, scope: TenantScope, what: T, audit: AuditEvent) -> AuditedAct<T> {
        AuditedAct { scope, what, at: self.shared.clock.now(), audit }
    }
}

#[async_trait]
impl<D: 'static> IdentityStore for SqlStore<D> {
    async fn create_tenant(
        &self,
        tenant: &Tenant,
        admin: &User,
        key: &ApiKey,
        key_hash: &str,
        audit: AuditEvent,
    ) -> PortResult<()> {
        let scope = scope_of_row(tenant.id);
        let what = (tenant.clone(), admin.clone(), key.clone(), key_hash.to_owned());
        let act = self.act(scope, what, audit);
        Ok(self.write(scope, act, |tx, act| Box::pin(create_tenant(tx, act))).await?)
    }

    async fn tenants(&self) -> PortResult<Vec<Tenant>> {
        Ok(self.read_all((), |tx, ()| Box::pin(tenants(tx))).await?)
    }

    async fn tenant(&self, id: TenantId) -> PortResult<Option<Tenant>> {
        Ok(self.read_all(id, |tx, id| Box::pin(tenant_by_id(tx, *id))).await?)
    }

    async fn tenant_by_slug(&self, slug: &str) -> PortResult<Option<Tenant>> {
        Ok(self.read_all(slug.to_owned(), |tx, slug| Box::pin(tenant_by_slug(tx, slug))).await?)
    }

    async fn create_user(&self, scope: TenantScope, user: &User, audit: AuditEvent) -> PortResult<()> {
        let act = self.act(scope, user.clone(), audit);
        Ok(self.write(scope, act, |tx, act| Box::pin(create_user(tx, act))).await?)
    }

    async fn users(&self, scope: TenantScope) -> PortResult<Vec<User>> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(users(tx, *scope))).await?)
    }

    async fn user(&self, scope: TenantScope, id: UserId) -> PortResult<Option<User>> {
        let known = &self.shared.known;
        let find = || self.read_few(scope, (scope, id), |tx, (scope, id)| Box::pin(user_by_id(tx, *scope, *id)));
        Ok(known.or_find(&known.users, (scope.tenant(), id), find).await?)
    }

    async fn user_abroad(&self, id: UserId) -> PortResult<Option<User>> {
        Ok(self.read_all(id, |tx, id| Box::pin(user_abroad(tx, *id))).await?)
    }

    async fn platform_admins(&self) -> PortResult<Vec<(TenantId, UserId)>> {
        Ok(self.read_all((), |tx, ()| Box::pin(platform_admins(tx))).await?)
    }

    async fn set_roles(&self, scope: TenantScope, id: UserId, roles: &[Role], audit: AuditEvent) -> PortResult<()> {
        let act = self.act(scope, (id, roles.to_vec()), audit);
        self.write(scope, act, |tx, act| Box::pin(set_roles(tx, act))).await?;
        self.shared.known.outlived().await;
        Ok(())
    }

    async fn create_key(&self, scope: TenantScope, key: &ApiKey, key_hash: &str, audit: AuditEvent) -> PortResult<()> {
        let act = self.act(scope, (key.clone(), key_hash.to_owned()), audit);
        Ok(self.write(scope, act, |tx, act| Box::pin(keys::create(tx, act))).await?)
    }

    async fn keys(&self, scope: TenantScope) -> PortResult<Vec<ApiKey>> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(keys::list(tx, *scope))).await?)
    }

    async fn revoke_key(&self, scope: TenantScope, id: KeyId, at: Timestamp, audit: AuditEvent) -> PortResult<()> {
        let act = AuditedAct { scope, what: id, at, audit };
        self.write(scope, act, |tx, act| Box::pin(keys::revoke(tx, act))).await?;
        // Whoever is told that the key is revoked may rely on it in every process.
        self.shared.known.outlived().await;
        Ok(())
    }

    async fn key_holder(&self, key_hash: &str) -> PortResult<Option<KeyHolder>> {
        let known = &self.shared.known;
        let find = || self.read_all(key_hash.to_owned(), |tx, hash| Box::pin(keys::holder(tx, hash)));
        Ok(known.or_find(&known.holders, key_hash.to_owned(), find).await?)
    }

    async fn key_stands(&self, id: KeyId) -> PortResult<bool> {
        Ok(self.read_all(id, |tx, id| Box::pin(keys::stands(tx, *id))).await?)
    }

    async fn account_makers(&self, users: &[UserId]) -> PortResult<AccountMakers> {
        Ok(self.read_all(users.to_vec(), |tx, users| Box::pin(account_makers(tx, users))).await?)
    }

    async fn keys_below(&self, id: KeyId, at: Timestamp) -> PortResult<Vec<(KeyId, UserId)>> {
        Ok(self.read_all((id, at), |tx, (id, at)| Box::pin(keys::below(tx, *id, *at))).await?)
    }

    async fn platform_keys(&self, at: Timestamp) -> PortResult<Vec<KeyId>> {
        Ok(self.read_all(at, |tx, at| Box::pin(keys::of_platform_admins(tx, *at))).await?)
    }

    async fn create_webhook(&self, scope: TenantScope, webhook: &OutboundWebhook, audit: AuditEvent) -> PortResult<()> {
        let act = self.act(scope, webhook.clone(), audit);
        Ok(self.write(scope, act, |tx, act| Box::pin(create_webhook(tx, act))).await?)
    }

    async fn webhooks(&self, scope: TenantScope) -> PortResult<Vec<OutboundWebhook>> {
        Ok(self.read(scope, scope, |tx, scope| Box::pin(webhooks(tx, *scope))).await?)
    }

    async fn delete_webhook(&self, scope: TenantScope, id: WebhookId, audit: AuditEvent) -> PortResult<()> {
        let act = self.act(scope, id, audit);
        Ok(self.write(scope, act, |tx, act| Box::pin(delete_webhook(tx, act))).await?)
    }
}
