//! The plans of tenants, every version of them.

use std::sync::Arc;

use async_trait::async_trait;
use kybern_core::audit::AuditEvent;
use kybern_core::error::Result as PortResult;
use kybern_core::id::{PlanId, TenantId};
use kybern_core::plan::parse::{self, PlanDraft};
use kybern_core::plan::{Plan, PlanFault, PlanOrigin};
use kybern_core::ports::PlanStore;
use kybern_core::tenant::TenantScope;
use kybern_core::time::Timestamp;
use serde_json::{Value, json};

use crate::audit;
use crate::db::scope_of_row;
use crate::db::{Row, Tx, args, statements};
use crate::error::{Result, StoreError};
use crate::store::SqlStore;

statements! {
    LAST_VERSION = shared "plan_last_version";
    VERSION = shared "plan_version";
    DEACTIVATE = shared "plan_deactivate";
    ACTIVATE_NEWEST = shared "plan_activate_newest";
    INSERT = shared "plan_insert";
    LIST = shared "plan_list";
    VERSIONS = shared "plan_versions";
    ALL_ACTIVE = shared "plan_all_active";
}

/// A plan to be stored.
struct Putting {
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

async fn put(tx: &mut Tx, putting: &Putting) -> Result<Plan> {
    let Putting { scope, id, draft, at, audit } = putting;
    let last = match tx.fetch_optional(&LAST_VERSION, args![*scope, draft.key.as_str()]).await? {
        Some(mut row) => row.u32()?,
        None => 0,
    };
    let version = draft.version.unwrap_or(last + 1);
    if tx.fetch_optional(&VERSION, args![*scope, draft.key.as_str(), version]).await?.is_some() {
        return Err(StoreError::Conflict(format!("plan {} has a version {version} already", draft.key)));
    }
    tx.execute(&DEACTIVATE, args![*scope, draft.key.as_str()]).await?;
    let args = args![*scope, id.as_uuid(), draft.key.as_str(), version, body(draft).to_string(), *at];
    tx.execute(&INSERT, args).await?;
    tx.outdates_what_is_known();
    audit::append(tx, *scope, *at, audit).await?;
    Ok(plan(*id, draft.clone(), version, true, *at))
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

fn plans_of(rows: Vec<Row>) -> Result<Vec<Plan>> {
    rows.into_iter().map(|mut row| read(&mut row).map(|(_, plan)| plan)).collect()
}

async fn list(tx: &mut Tx, scope: TenantScope) -> Result<Vec<Plan>> {
    plans_of(tx.fetch_all(&LIST, args![scope]).await?)
}

async fn versions(tx: &mut Tx, scope: TenantScope, key: &str) -> Result<Vec<Plan>> {
    plans_of(tx.fetch_all(&VERSIONS, args![scope, key]).await?)
}

async fn all_active(tx: &mut Tx) -> Result<Vec<(TenantScope, Plan)>> {
    tx.fetch_all(&ALL_ACTIVE, args![]).await?.iter_mut().map(read).collect()
}

/// A plan to be taken out of use, or brought back.
struct Switch {
    scope: TenantScope,
    key: String,
    active: bool,
    at: Timestamp,
    audit: AuditEvent,
}

async fn set_active(tx: &mut Tx, switch: &Switch) -> Result<()> {
    let (scope, key) = (switch.scope, switch.key.as_str());
    let last = tx.fetch_optional(&LAST_VERSION, args![scope, key]).await?;
    if last.map_or(Ok(0), |mut row| row.i64())? == 0 {
        return Err(StoreError::not_found("plan", key));
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
        let putting = Putting { scope, id, draft, at, audit };
        let plan = self.write(scope, putting, |tx, putting| Box::pin(put(tx, putting))).await?;
        if plan.version > 1 {
            // Whoever is told that the new version is in use may rely on it in every process.
            self.shared.known.outlived().await;
        }
        Ok(plan)
    }

    async fn plans(&self, scope: TenantScope) -> PortResult<Arc<Vec<Plan>>> {
        let known = &self.shared.known;
        // Taken before reading, so what changes meanwhile does not fit it.
        let stamp = known.stamp();
        if let Some(plans) = known.plans(scope.tenant(), stamp) {
            return Ok(plans);
        }
        // Boxed, so that who finds them known does not carry the reading along.
        let read = Box::pin(self.read(scope, scope, |tx, scope| Box::pin(list(tx, *scope))));
        let plans = Arc::new(read.await?);
        known.keep_plans(scope.tenant(), stamp, &plans);
        Ok(plans)
    }

    async fn plan_versions(&self, scope: TenantScope, key: &str) -> PortResult<Vec<Plan>> {
        let args = (scope, key.to_owned());
        Ok(self.read(scope, args, |tx, (scope, key)| Box::pin(versions(tx, *scope, key))).await?)
    }

    async fn set_plan_active(&self, scope: TenantScope, key: &str, active: bool, audit: AuditEvent) -> PortResult<()> {
        let switch = Switch { scope, key: key.to_owned(), active, at: self.shared.clock.now(), audit };
        self.write(scope, switch, |tx, switch| Box::pin(set_active(tx, switch))).await?;
        self.shared.known.outlived().await;
        Ok(())
    }

    async fn all_active_plans(&self) -> PortResult<Vec<(TenantScope, Plan)>> {
        Ok(self.read_all((), |tx, ()| Box::pin(all_active(tx))).await?)
    }
}
