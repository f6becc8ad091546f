//! Audit events and the chain that binds them.
//!
//! Each tenant has one chain. An event's hash is a keyed BLAKE3 over the previous hash and the canonical form of the
//! event, so an edited, removed, reordered or cut chain is found by whoever holds the key.

mod canonical;
mod export;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::Result;
use crate::id::TenantId;
use crate::policy::redact;
use crate::ports::AuditStore;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

pub use export::{ExportEnds, ExportReader, Exported, check_export};

/// Events that are read at once.
const PAGE: u32 = 500;

/// An event in its place in the chain.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = in_place::AuditEvent))]
pub struct AuditEvent {
    /// What was done, `noun.verb`.
    pub action: String,
    /// Who did it.
    pub actor: String,
    /// What it was done to.
    pub subject: String,
    /// The request under which it happened.
    #[cfg_attr(feature = "schema", schema(required))]
    pub request_id: Option<String>,
    /// What else explains it.
    #[cfg_attr(feature = "schema", schema(required))]
    pub detail: Value,
}

impl AuditEvent {
    /// An event by an authenticated actor.
    pub fn by(actor: &crate::actor::Actor, action: &str, subject: impl Into<String>, detail: Value) -> Self {
        Self {
            action: action.to_owned(),
            actor: actor.principal().label(),
            subject: subject.into(),
            request_id: Some(actor.request().to_string()),
            detail,
        }
    }

    /// The same event with one more detail, which is known only where it is written.
    #[must_use]
    pub fn telling(mut self, name: &str, value: Value) -> Self {
        if let Value::Object(detail) = &mut self.detail {
            detail.insert(name.to_owned(), value);
        }
        self
    }

    /// The event without secrets and personal data. Whoever did it is named by ids only.
    fn redacted(mut self) -> Self {
        self.subject = redact::redacted(self.subject);
        redact::redact_value(&mut self.detail);
        self
    }

    /// An event by the server itself, on behalf of a task.
    pub fn by_executor(action: &str, subject: impl Into<String>, detail: Value) -> Self {
        Self {
            action: action.to_owned(),
            actor: crate::actor::Principal::Executor.label(),
            subject: subject.into(),
            request_id: None,
            detail,
        }
    }
}

/// An event in its place in the chain.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AuditEvent))]
pub struct ChainedEvent {
    /// Its place, from 1, without gaps.
    pub seq: i64,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: AuditEvent,
    /// The hash of the event before it.
    pub prev_hash: String,
    /// The keyed hash over this event and the one before it.
    pub hash: String,
    /// What of it this program cannot read, and why; it is empty here. Only there when something is wrong: see `kybern
    /// doctor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// The hash before the first event.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The act with which every tenant's chain begins.
pub const TENANT_CREATED: &str = "tenant.create";

/// The act with which the beginning of a chain was removed after it had been exported.
pub const PURGED: &str = "audit.purge";

/// What a chain begins after: the last event that was exported and removed. An event [`PURGED`] further on names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChainStart {
    /// Its number; 0 when nothing was removed.
    pub seq: i64,
    pub hash: String,
}

impl Default for ChainStart {
    fn default() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

impl ChainStart {
    /// What the event [`PURGED`] says of it.
    #[must_use]
    pub fn detail(&self, count: i64, before: Timestamp) -> Value {
        json!({"seq": self.seq, "hash": self.hash, "count": count, "before": before})
    }

    /// Whether an event says that the chain was removed up to here.
    #[must_use]
    pub fn is_named_by(&self, action: &str, detail: &Value) -> bool {
        action == PURGED
            && detail.get("seq").and_then(Value::as_i64) == Some(self.seq)
            && detail.get("hash").and_then(Value::as_str) == Some(&self.hash)
    }
}

/// The key of a tenant's chain.
#[derive(Clone, Copy)]
pub struct AuditKey([u8; 32]);

impl std::fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AuditKey(…)")
    }
}

impl AuditKey {
    /// Wraps 32 bytes of key.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Places `event` after an event with `prev_hash`. Every store chains through here, so this is where the audit is
    /// redacted, before it is hashed.
    #[must_use]
    pub fn chain(&self, seq: i64, at: Timestamp, event: AuditEvent, prev_hash: &str) -> ChainedEvent {
        let (text, hash) = self.chain_text(seq, at, event.clone(), prev_hash);
        let event = serde_json::from_str(&text).unwrap_or(event);
        ChainedEvent { seq, at, event, prev_hash: prev_hash.to_owned(), hash, unreadable: None }
    }

    /// The same for a store that keeps text: the event's canonical JSON as it is to be stored, and its hash.
    #[must_use]
    pub fn chain_text(&self, seq: i64, at: Timestamp, event: AuditEvent, prev_hash: &str) -> (String, String) {
        let text = canonical::text(&event.redacted());
        let hash = self.hash(seq, at, &text, prev_hash);
        (text, hash)
    }

    /// The hash of an event of that canonical form in that place, after an event with `prev_hash`.
    fn hash(&self, seq: i64, at: Timestamp, canonical: &str, prev_hash: &str) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(prev_hash.as_bytes());
        hasher.update(&seq.to_be_bytes());
        hasher.update(&at.as_millis().to_be_bytes());
        hasher.update(canonical.as_bytes());
        hasher.finalize().to_hex().to_string()
    }
}

/// What a chain ends with, signed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AuditHead {
    /// Whose chain it is.
    pub tenant_id: TenantId,
    /// The number of its last event; 0 when there is none.
    pub seq: i64,
    /// The hash of that event.
    pub hash: String,
    /// When it was signed.
    pub at: Timestamp,
    /// Keyed BLAKE3 over all of this, in hex.
    pub signature: String,
}

impl AuditKey {
    /// Signs what a tenant's chain ends with.
    #[must_use]
    pub fn sign_head(&self, tenant_id: TenantId, (seq, hash): (i64, String), at: Timestamp) -> AuditHead {
        let signature = self.head_signature(tenant_id, seq, &hash, at).to_hex().to_string();
        AuditHead { tenant_id, seq, hash, at, signature }
    }

    /// Whether this key has signed that head. Comparing takes as long wherever they differ.
    #[must_use]
    pub fn has_signed(&self, head: &AuditHead) -> bool {
        let own = self.head_signature(head.tenant_id, head.seq, &head.hash, head.at);
        blake3::Hash::from_hex(&head.signature).is_ok_and(|given| given == own)
    }

    fn head_signature(&self, tenant: TenantId, seq: i64, hash: &str, at: Timestamp) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        // Not what an event's hash begins with, which is hex.
        hasher.update(b"signed head of an audit chain, v1:");
        hasher.update(tenant.as_uuid().as_bytes());
        hasher.update(&seq.to_be_bytes());
        hasher.update(&at.as_millis().to_be_bytes());
        hasher.update(hash.as_bytes());
        hasher.finalize()
    }
}

/// Holds a chain against a head that was signed earlier: what has been changed up to there since.
pub async fn hold_against<S: AuditStore + ?Sized>(
    store: &S,
    scope: TenantScope,
    key: AuditKey,
    head: &AuditHead,
) -> Result<Option<ChainFault>> {
    let fault = |problem: &str| Some(ChainFault { seq: head.seq, problem: problem.to_owned() });
    if head.tenant_id != scope.tenant() || !key.has_signed(head) {
        return Ok(fault("the head was not signed for this tenant under this master key"));
    }
    let start = store.audit_start(scope).await?;
    if head.seq < start.seq || head.seq == 0 {
        // What it names was exported and removed: the export is held against it.
        return Ok(None);
    }
    if head.seq == start.seq {
        return Ok(if start.hash == head.hash { None } else { fault("is not the event up to which was removed") });
    }
    let event = store.audit_events(scope, head.seq - 1, 1).await?.into_iter().find(|event| event.seq == head.seq);
    Ok(match event {
        Some(event) if event.hash == head.hash => None,
        Some(_) => fault("is not the event that the signed head names: the chain was made anew since"),
        None => fault("the event that the signed head names is not there: the chain was cut since"),
    })
}

/// One fault of the chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AuditFault))]
pub struct ChainFault {
    pub seq: i64,
    pub problem: String,
}

/// Walks a chain page by page and remembers where it stands.
#[derive(Debug)]
pub struct ChainVerifier {
    key: AuditKey,
    next_seq: i64,
    prev_hash: String,
    faults: Vec<ChainFault>,
}

impl ChainVerifier {
    /// A verifier before the first event.
    #[must_use]
    pub fn new(key: AuditKey) -> Self {
        Self::after(key, ChainStart::default())
    }

    /// A verifier of what follows an event.
    #[must_use]
    pub fn after(key: AuditKey, start: ChainStart) -> Self {
        Self { key, next_seq: start.seq.saturating_add(1), prev_hash: start.hash, faults: Vec::new() }
    }

    /// Checks the next event.
    pub fn push(&mut self, link: &ChainedEvent) {
        if link.seq != self.next_seq {
            let problem = format!("expected event {}, found {}: removed or reordered", self.next_seq, link.seq);
            self.faults.push(ChainFault { seq: link.seq, problem });
        }
        if link.prev_hash != self.prev_hash {
            let problem = "does not follow the event before it: removed or reordered".to_owned();
            self.faults.push(ChainFault { seq: link.seq, problem });
        }
        let own = self.key.hash(link.seq, link.at, &canonical::text(&link.event), &link.prev_hash);
        if own != link.hash || !canonical::says_all(&link.event.detail) {
            self.faults.push(ChainFault { seq: link.seq, problem: "its content was edited".to_owned() });
        }
        // An export may say any number; one at the end of their range is none of a chain's, and has its fault already.
        self.next_seq = link.seq.saturating_add(1);
        self.prev_hash.clone_from(&link.hash);
    }

    /// Ends the walk. `head` is the length and hash that the store keeps apart from the events, so that a chain
    /// that was cut at its end is found too.
    #[must_use]
    pub fn finish(mut self, head: Option<(i64, String)>) -> (i64, Vec<ChainFault>) {
        let length = self.next_seq.saturating_sub(1);
        let (head_seq, head_hash) = head.unwrap_or((0, GENESIS.to_owned()));
        if head_seq != length || head_hash != self.prev_hash {
            let problem = format!("the chain ends at {length}, its head says {head_seq}: cut or replaced");
            self.faults.push(ChainFault { seq: length, problem });
        }
        (length, self.faults)
    }
}

/// What a verification found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AuditReport {
    /// Whether the chain is whole.
    pub valid: bool,
    /// The number of its last event.
    pub length: i64,
    /// The number of the last event that was exported and removed; 0 when none was.
    pub removed_to: i64,
    /// What is wrong with it.
    pub faults: Vec<ChainFault>,
}

/// Walks a tenant's whole chain.
pub async fn verify<S: AuditStore + ?Sized>(store: &S, scope: TenantScope, key: AuditKey) -> Result<AuditReport> {
    let mut start = store.audit_start(scope).await?;
    loop {
        let report = verify_after(store, scope, key, &start).await?;
        // What is removed while the chain is walked is missed in it.
        let now = store.audit_start(scope).await?;
        if now == start {
            return Ok(report);
        }
        start = now;
    }
}

async fn verify_after<S: AuditStore + ?Sized>(
    store: &S,
    scope: TenantScope,
    key: AuditKey,
    start: &ChainStart,
) -> Result<AuditReport> {
    // The head is read first: events that come while the chain is walked lie beyond it and are left out.
    let head = store.audit_head(scope).await?;
    let last = head.as_ref().map_or(0, |(seq, _)| *seq);
    let mut verifier = ChainVerifier::after(key, start.clone());
    let (mut after, mut beyond, mut begun_anew) = (start.seq, None, false);
    let mut removal_is_told = start.seq == 0;
    while beyond.is_none() {
        let events = store.audit_events(scope, after, PAGE).await?;
        let Some(newest) = events.last().map(|event| event.seq) else { break };
        // Without the master key nobody can write such an event, so a chain without it was begun by the next act.
        begun_anew |= after == 0 && events.first().is_some_and(|first| first.event.action != TENANT_CREATED);
        removal_is_told |= events.iter().any(|link| start.is_named_by(&link.event.action, &link.event.detail));
        events.iter().filter(|event| event.seq <= last).for_each(|event| verifier.push(event));
        beyond = (newest > last).then_some(newest);
        after = newest;
    }
    let (length, mut faults) = verifier.finish(head);
    // An event and the head that counts it are one transaction: a head that is read afterwards counts what was seen.
    let counted = store.audit_head(scope).await?.map_or(0, |(seq, _)| seq);
    if let Some(seq) = beyond.filter(|seq| *seq > counted) {
        let problem = format!("lies beyond the head, which says {counted}: added or the head was set back");
        faults.push(ChainFault { seq, problem });
    }
    if begun_anew {
        let problem = "it does not begin with the tenant's creation: what was before is removed".to_owned();
        faults.push(ChainFault { seq: 1, problem });
    }
    if !removal_is_told {
        let problem = "what was before is removed, and no event says that it was exported".to_owned();
        faults.push(ChainFault { seq: start.seq, problem });
    }
    if length == 0 && beyond.is_none() {
        let problem = "there are no events, not even that of the tenant's creation: all were removed".to_owned();
        faults.push(ChainFault { seq: 0, problem });
    }
    Ok(AuditReport { valid: faults.is_empty(), length, removed_to: start.seq, faults })
}

#[cfg(test)]
mod tests;
