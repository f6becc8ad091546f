//! The plans of tenants, every version of them.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{PlanId, TenantId};
use kybern_core::plan::parse::{self, PlanDraft, no_version};
use kybern_core::plan::{Plan, PlanFault, PlanOrigin, PlanPlace, no_room};
use kybern_core::ports::{MAX_PAGE_BYTES, Page, PlanStore};
use kybern_core::task::PlanEffect;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::audit;
use crate::db::scope_of_row;
use crate::db::{Row, Sql, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;

statements! {
    LAST_VERSION = shared "plan_last_version";
    VERSION = shared "plan_version";
    DEACTIVATE = shared "plan_deactivate";
    ACTIVATE_NEWEST = shared "plan_activate_newest";
    INSERT = shared "plan_insert";
    LIST = shared "plan_list";
    FIND = shared "plan_find";
    PAGE = split "plan_page";
    VERSIONS = shared "plan_versions";
    ALL_ACTIVE = split "plan_all_active";
    OTHERS = shared "plan_others";
    NEWEST_BYTES = shared "plan_newest_bytes";
    IN_USE = shared "plan_in_use";
}

/// A plan to be stored.
struct PutPlan {
    scope: TenantScope,
    id: PlanId,
    draft: PlanDraft,
    at: Timestamp,
    audit: AuditEvent,
}

fn plan(id: PlanId, draft: PlanDraft, version: u32, active: bool, created_at: Timestamp) -> Plan {
    Plan {
        id: Some(id),
        key: draft.key,
        intent_key: draft.intent_key,
        domain: draft.domain,
        description: draft.description,
        keywords: draft.keywords,
        examples: draft.examples,
        priority: draft.priority,
        version,
        output: draft.output,
        steps: draft.steps,
        origin: PlanOrigin::Tenant,
        active,
        created_at,
        quarantine: Vec::new(),
    }
}

/// The body of a plan: what its author wrote, in the wire form.
fn body(draft: &PlanDraft) -> Value {
    json!({
        "key": draft.key,
        "intentKey": draft.intent_key,
        "domain": draft.domain,
        "description": draft.description,
        "keywords": draft.keywords,
        "examples": draft.examples,
        "priority": draft.priority,
        "output": draft.output,
        "steps": draft.steps,
    })
}

/// The newest version of a plan; 0 when there is none.
async fn last_version(tx: &mut Tx, scope: TenantScope, key: &str) -> Result<u32> {
    Ok(tx.find(&LAST_VERSION, args![scope, key], Row::u32).await?.unwrap_or(0))
}

/// Refuses a plan of that key and so many bytes for which the tenant has no room beside its others.
async fn find_room(tx: &mut Tx, scope: TenantScope, key: &str, bytes: usize) -> Result<()> {
    let Some(mut row) = tx.fetch_optional(&OTHERS, args![scope, key]).await? else { return Ok(()) };
    let (others, others_bytes) = (row.i64()?, row.i64()?);
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    no_room(count(others), count(others_bytes), bytes as u64).map_or(Ok(()), |why| Err(StoreError::Full(why)))
}

async fn put(tx: &mut Tx, putting: &PutPlan) -> Result<Plan> {
    let PutPlan { scope, id, draft, at, audit } = putting;
    let last = last_version(tx, *scope, &draft.key).await?;
    let version = draft.version.unwrap_or(last.saturating_add(1));
    if let Some(why) = no_version(&draft.key, version) {
        return Err(StoreError::Full(why));
    }
    if tx.fetch_optional(&VERSION, args![*scope, draft.key.as_str(), version]).await?.is_some() {
        return Err(StoreError::Conflict(format!("plan {} has a version {version} already", draft.key)));
    }
    let body = body(draft).to_string();
    find_room(tx, *scope, &draft.key, body.len()).await?;
    tx.execute(&DEACTIVATE, args![*scope, draft.key.as_str()]).await?;
    let args = args![*scope, id.as_uuid(), draft.key.as_str(), version, body, *at];
    tx.execute(&INSERT, args).await?;
    tx.outdates_what_is_known();
    audit::append(tx, *scope, *at, &audit.clone().telling("version", json!(version))).await?;
    Ok(plan(*id, draft.clone(), version, true, *at))
}

/// Checks what a step believed about a plan that it stores or retires.
pub(crate) async fn check(tx: &mut Tx, scope: TenantScope, effect: &PlanEffect) -> Result<()> {
    let changed = || StoreError::Changed(format!("plan {}", effect.key()));
    let last = last_version(tx, scope, effect.key()).await?;
    match effect {
        PlanEffect::Put { draft, .. } => {
            let next = last.saturating_add(1);
            if draft.version != Some(next) || no_version(&draft.key, next).is_some() {
                return Err(changed());
            }
            match find_room(tx, scope, &draft.key, body(draft).to_string().len()).await {
                Err(StoreError::Full(_)) => Err(StoreError::Changed("the room for plans".to_owned())),
                checked => checked,
            }
        }
        PlanEffect::Retire { key, version } => {
            let in_use = tx.find(&IN_USE, args![scope, key.as_str()], Row::u32).await?;
            if in_use.unwrap_or(0) == *version { Ok(()) } else { Err(changed()) }
        }
    }
}

/// Writes what a step makes of a plan. What it believed has been checked in this transaction.
pub(crate) async fn write(
    tx: &mut Tx,
    scope: TenantScope,
    effect: &PlanEffect,
    at: Timestamp,
    audit: &AuditEvent,
) -> Result<()> {
    match effect {
        PlanEffect::Put { id, draft } => {
            let putting = PutPlan { scope, id: *id, draft: draft.clone(), at, audit: audit.clone() };
            put(tx, &putting).await.map(drop)
        }
        PlanEffect::Retire { key, .. } => {
            let switch = SwitchPlan { scope, key: key.clone(), active: false, at, audit: audit.clone() };
            set_active(tx, &switch).await
        }
    }
}

/// Reads a row. A body that this program cannot read is a plan that is quarantined with its faults, not an error:
/// one bad plan must not stop the others.
fn read(row: &mut Row) -> Result<(TenantScope, Plan)> {
    let scope = scope_of_row(TenantId::from_uuid(row.uuid()?));
    let (id, key, version, active) = (PlanId::from_uuid(row.uuid()?), row.text()?, row.u32()?, row.flag()?);
    let (body, at) = (row.json::<Value>(), row.time()?);
    let parsed = match &body {
        Ok(body) => parse::plan(body),
        Err(error) => Err(vec![PlanFault::new("", None, error.to_string())]),
    };
    let stored = match (parsed, body.unwrap_or_default()) {
        (Ok(draft), _) => plan(id, draft, version, active, at),
        (Err(faults), body) => {
            let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let draft = PlanDraft {
                intent_key: text("intentKey"),
                domain: text("domain"),
                description: text("description"),
                keywords: Vec::new(),
                examples: Vec::new(),
                priority: 0,
                version: None,
                output: None,
                steps: Vec::new(),
                key,
            };
            Plan { quarantine: faults, ..plan(id, draft, version, active, at) }
        }
    };
    Ok((scope, stored))
}

async fn list(tx: &mut Tx, scope: TenantScope) -> Result<Vec<Plan>> {
    tx.list(&LIST, args![scope], |row| read(row).map(|(_, plan)| plan)).await
}

async fn find(tx: &mut Tx, scope: TenantScope, id: PlanId) -> Result<Option<Plan>> {
    tx.find(&FIND, args![scope, id.as_uuid()], |row| read(row).map(|(_, plan)| plan)).await
}

/// Rows that are read at once; each may have [`MAX_BYTES`](kybern_core::plan::limits::MAX_BYTES).
const CHUNK: usize = 8;

type ListPlans = (&'static Sql, TenantScope, (String, i64), u32);

/// A page of plans: those of the statement behind a key and a version.
async fn page(tx: &mut Tx, (list, scope, behind, limit): &ListPlans) -> Result<Page<Plan>> {
    let limit = usize::try_from((*limit).clamp(1, 200)).unwrap_or(1);
    let (mut items, mut bytes, mut behind) = (Vec::new(), 0_usize, behind.clone());
    loop {
        // One more than is wanted tells whether there is a next page.
        let most = CHUNK.min(limit - items.len() + 1);
        let args = args![*scope, behind.0.as_str(), behind.1, i64::try_from(most).unwrap_or(1)];
        let rows = tx.fetch_all(list, args).await?;
        let ends = rows.len() < most;
        for mut row in rows {
            bytes = bytes.saturating_add(row.bytes());
            let (_, plan) = read(&mut row)?;
            if items.len() == limit || (!items.is_empty() && bytes > MAX_PAGE_BYTES) {
                let next = items.last().map(|last: &Plan| last.place().to_string());
                return Ok(Page { items, next });
            }
            behind = (plan.key.clone(), i64::from(plan.version));
            items.push(plan);
        }
        if ends {
            return Ok(Page { items, next: None });
        }
    }
}

async fn active(tx: &mut Tx, tenant: TenantId, key: &str) -> Result<Vec<(TenantScope, Plan)>> {
    let args = args![tenant.as_uuid(), key, i64::try_from(CHUNK).unwrap_or(1)];
    tx.list(&ALL_ACTIVE, args, read).await
}

/// A plan to be taken out of use, or brought back.
struct SwitchPlan {
    scope: TenantScope,
    key: String,
    active: bool,
    at: Timestamp,
    audit: AuditEvent,
}

async fn set_active(tx: &mut Tx, switch: &SwitchPlan) -> Result<()> {
    let (scope, key) = (switch.scope, switch.key.as_str());
    if last_version(tx, scope, key).await? == 0 {
        return Err(StoreError::not_found("plan", key));
    }
    if switch.active {
        let bytes = tx.count(&NEWEST_BYTES, args![scope, key]).await?;
        find_room(tx, scope, key, usize::try_from(bytes).unwrap_or(0)).await?;
    }
    tx.execute(&DEACTIVATE, args![scope, key]).await?;
    if switch.active {
        tx.execute(&ACTIVATE_NEWEST, args![scope, key]).await?;
    }
    tx.outdates_what_is_known();
    audit::append(tx, scope, switch.at, &switch.audit).await
}

#[async_trait]
impl<D: 'static> PlanStore for SqlStore<D> {
    async fn put_plan(
        &self,
        scope: TenantScope,
        id: PlanId,
        draft: PlanDraft,
        at: Timestamp,
        audit: AuditEvent,
    ) -> PortResult<Plan> {
        let putting = PutPlan { scope, id, draft, at, audit };
        let plan = self.write(scope, putting, |tx, putting| Box::pin(put(tx, putting))).await?;
        if plan.version > 1 {
            // Whoever is told that the new version is in use may rely on it in every process.
            self.shared.known.outlived().await;
        }
        Ok(plan)
    }

    async fn plans(&self, scope: TenantScope) -> PortResult<Arc<Vec<Plan>>> {
        let known = &self.shared.known;
        let read = || self.read(scope, scope, |tx, scope| Box::pin(list(tx, *scope)));
        Ok(known.or_read(&known.plans, scope.tenant(), read).await?)
    }

    async fn find_plan(&self, scope: TenantScope, id: PlanId) -> PortResult<Option<Plan>> {
        Ok(self.read(scope, (scope, id), |tx, (scope, id)| Box::pin(find(tx, *scope, *id))).await?)
    }

    async fn plan_page(&self, scope: TenantScope, after: PlanPlace, limit: u32) -> PortResult<Page<Plan>> {
        let args = (&PAGE, scope, (after.key, i64::from(after.version)), limit);
        Ok(self.read(scope, args, |tx, args| Box::pin(page(tx, args))).await?)
    }

    async fn plan_versions(
        &self,
        scope: TenantScope,
        key: &str,
        below: Option<u32>,
        limit: u32,
    ) -> PortResult<Page<Plan>> {
        let args = (&VERSIONS, scope, (key.to_owned(), below.map_or(i64::MAX, i64::from)), limit);
        Ok(self.read(scope, args, |tx, args| Box::pin(page(tx, args))).await?)
    }

    async fn set_plan_active(&self, scope: TenantScope, key: &str, active: bool, audit: AuditEvent) -> PortResult<()> {
        let switch = SwitchPlan { scope, key: key.to_owned(), active, at: self.shared.clock.now(), audit };
        self.write(scope, switch, |tx, switch| Box::pin(set_active(tx, switch))).await?;
        self.shared.known.outlived().await;
        Ok(())
    }

    async fn active_plans(&self, after: Option<(TenantId, String)>) -> PortResult<Vec<(TenantScope, Plan)>> {
        let args = after.unwrap_or((TenantId::from_uuid(Uuid::nil()), String::new()));
        Ok(self.read_all(args, |tx, (tenant, key)| Box::pin(active(tx, *tenant, key))).await?)
    }
}
