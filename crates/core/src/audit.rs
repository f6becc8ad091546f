//! Audit events and the chain that binds them.
//!
//! Each tenant has one chain. An event's hash is a keyed BLAKE3 over the previous hash and the RFC 8785 form of the
//! event, so an edited, removed, reordered or cut chain is found by whoever holds the key.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::error::Result;
use crate::id::TenantId;
use crate::policy::redact;
use crate::ports::AuditStore;
use crate::tenant::TenantScope;
use crate::time::Timestamp;

/// Events that are read at once.
const PAGE: u32 = 500;

/// An act, a decision or a change of configuration that has to be explained later.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// What was done, as `noun.verb`, for instance `task.review`.
    pub action: String,
    /// Who did it ([`crate::actor::Principal::label`]).
    pub actor: String,
    /// What it was done to, for instance `task:0198…`.
    pub subject: String,
    /// The request under which it happened, when there was one.
    pub request_id: Option<String>,
    /// What else explains it: keys, ids, counts, and the reasons that people gave. [`AuditKey::chain`] takes out what
    /// is secret or personal.
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
pub struct ChainedEvent {
    /// Its place, from 1, without gaps.
    pub seq: i64,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: AuditEvent,
    /// The hash of the event before it; 64 zeros for the first.
    pub prev_hash: String,
    /// The keyed hash over this event and `prev_hash`, in hex.
    pub hash: String,
    /// What of the row this program cannot read, and why; it is left empty here. `None` for every sound row.
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
    /// Its hash.
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
    pub fn is_named_by(&self, link: &ChainedEvent) -> bool {
        let detail = &link.event.detail;
        link.event.action == PURGED
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
        let event = event.redacted();
        let hash = self.hash(seq, at, &canonical(&event), prev_hash);
        ChainedEvent { seq, at, event, prev_hash: prev_hash.to_owned(), hash, unreadable: None }
    }

    /// The same for a store that keeps text: the event's canonical JSON as it is to be stored, and its hash.
    #[must_use]
    pub fn chain_text(&self, seq: i64, at: Timestamp, event: AuditEvent, prev_hash: &str) -> (String, String) {
        let text = canonical(&event.redacted());
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

/// What a chain ended with at some moment, signed: kept somewhere else it proves later that nothing up to there was
/// changed, also to whoever can write the database and its head.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditHead {
    /// Whose chain it is.
    pub tenant_id: TenantId,
    /// The number of its last event; 0 when there was none.
    pub seq: i64,
    /// The hash of that event.
    pub hash: String,
    /// When it was signed.
    pub at: Timestamp,
    /// Keyed BLAKE3 over all of this, in hex, under a key that is derived from the master key.
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
///
/// # Errors
/// When the store fails.
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

/// An event's RFC 8785 form. Serialising strings, maps and a JSON value cannot fail; an empty form would still break the
/// chain loudly.
fn canonical(event: &AuditEvent) -> String {
    serde_json_canonicalizer::to_string(event).unwrap_or_default()
}

/// What is wrong with a chain.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainFault {
    /// Where it was found.
    pub seq: i64,
    /// What was found.
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
        if self.key.hash(link.seq, link.at, &canonical(&link.event), &link.prev_hash) != link.hash {
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

/// What stands in an export, and whether nothing stands there beside it.
#[derive(Clone, PartialEq, Debug)]
pub struct Exported<T> {
    /// What was read.
    pub value: T,
    /// Whether it would be written exactly so. What would not was added or written otherwise, and no hash covers it.
    pub is_as_written: bool,
}

impl<'de, T: DeserializeOwned + Serialize> Deserialize<'de> for Exported<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        let value: T = serde_json::from_value(given.clone()).map_err(D::Error::custom)?;
        let is_as_written = serde_json::to_value(&value).is_ok_and(|written| written == given);
        Ok(Self { value, is_as_written })
    }
}

/// Checks events of an export as they follow each other, and the head that it ends with. What comes before the first
/// of them is taken as it says.
#[must_use]
pub fn check_export(
    key: AuditKey,
    tenant: TenantId,
    events: &[Exported<ChainedEvent>],
    head: Option<&Exported<AuditHead>>,
) -> AuditReport {
    let first = events.first().map(|first| &first.value);
    let start = first.map(|first| ChainStart { seq: first.seq.saturating_sub(1), hash: first.prev_hash.clone() });
    let start = start.unwrap_or_default();
    let mut verifier = ChainVerifier::after(key, start.clone());
    let fault = |seq: i64, problem: &str| ChainFault { seq, problem: problem.to_owned() };
    let added = "something stands in it that its hash does not cover: added, or written otherwise";
    for Exported { value: event, is_as_written } in events {
        verifier.push(event);
        // A row that could not be read when it was listed has no content to be held against its hash.
        if !is_as_written || event.unreadable.is_some() {
            verifier.faults.push(fault(event.seq, added));
        }
    }
    let (length, mut faults) = (verifier.next_seq.saturating_sub(1), verifier.faults);
    if let Some(Exported { value: head, is_as_written }) = head {
        if head.tenant_id != tenant || !key.has_signed(head) {
            faults.push(fault(head.seq, "the head was not signed for this tenant under this master key"));
        } else if !is_as_written {
            faults.push(fault(head.seq, "something stands in the head that its signature does not cover"));
        }
    }
    AuditReport { valid: faults.is_empty(), length, removed_to: start.seq, faults }
}

/// What a walk over a whole chain found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditReport {
    /// Whether nothing was edited, removed, reordered or cut.
    pub valid: bool,
    /// The number of its last event.
    pub length: i64,
    /// The number of the last event that was exported and removed; 0 when none was.
    pub removed_to: i64,
    /// What is wrong.
    pub faults: Vec<ChainFault>,
}

/// Walks a tenant's whole chain.
///
/// # Errors
/// When the store fails.
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
        removal_is_told |= events.iter().any(|event| start.is_named_by(event));
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
mod tests {
    use super::*;

    fn chain(n: i64) -> (AuditKey, Vec<ChainedEvent>) {
        let key = AuditKey::new([7; 32]);
        let mut prev = GENESIS.to_owned();
        let links = (1..=n)
            .map(|seq| {
                let event = AuditEvent::by_executor("task.review", format!("task:{seq}"), json!({"n": seq}));
                let link = key.chain(seq, Timestamp::from_millis(seq), event, &prev);
                prev.clone_from(&link.hash);
                link
            })
            .collect();
        (key, links)
    }

    fn verify(key: AuditKey, links: &[ChainedEvent], head: &ChainedEvent) -> usize {
        let mut verifier = ChainVerifier::new(key);
        links.iter().for_each(|link| verifier.push(link));
        verifier.finish(Some((head.seq, head.hash.clone()))).1.len()
    }

    #[test]
    fn numbers_at_the_end_of_their_range_are_faults() {
        for seq in [i64::MIN, i64::MAX] {
            for at in 0..3 {
                let (key, mut links) = chain(3);
                links[at].seq = seq;
                let events: Vec<_> = links.into_iter().map(|value| Exported { value, is_as_written: true }).collect();
                let report = check_export(key, TenantId::DEFAULT, &events, None);
                assert!(report.faults.iter().any(|fault| fault.seq == seq), "{seq} at {at}: {:?}", report.faults);
            }
        }
    }

    #[test]
    fn an_untouched_chain_is_whole() {
        let (key, links) = chain(5);
        assert_eq!(verify(key, &links, &links[4]), 0);
    }

    #[test]
    fn what_is_chained_holds_no_secret_and_is_whole() {
        let key = AuditKey::new([7; 32]);
        let detail = json!({"reason": "asked by bob@example.com", "names": ["a"], "inputHash": "00ff", "token": "abc"});
        let event = AuditEvent::by_executor("tenant.sudo", "tenant:1", detail);
        let link = key.chain(1, Timestamp::from_millis(1), event, GENESIS);
        let left = json!({"reason": "asked by [redacted:email]", "names": ["a"], "inputHash": "00ff",
            "token": "[redacted:token]"});
        assert_eq!(link.event.detail, left);
        assert_eq!(verify(key, std::slice::from_ref(&link), &link), 0);
    }

    #[test]
    fn a_head_is_signed_for_one_tenant_and_place() {
        let (key, links) = chain(3);
        let tenant = TenantId::DEFAULT;
        let head = key.sign_head(tenant, (3, links[2].hash.clone()), Timestamp::from_millis(5));
        assert!(key.has_signed(&head));
        let other = TenantId::from_uuid(uuid::Uuid::from_u128(7));
        for forged in [
            AuditHead { tenant_id: other, ..head.clone() },
            AuditHead { seq: 2, ..head.clone() },
            AuditHead { hash: links[1].hash.clone(), ..head.clone() },
            AuditHead { at: Timestamp::from_millis(6), ..head.clone() },
            AuditHead { signature: String::new(), ..head.clone() },
        ] {
            assert!(!key.has_signed(&forged), "{forged:?}");
        }
        assert!(!AuditKey::new([9; 32]).has_signed(&head));
    }

    #[test]
    fn what_no_hash_covers_is_found_in_an_export() {
        let (key, links) = chain(2);
        let tenant = TenantId::DEFAULT;
        let head = key.sign_head(tenant, (2, links[1].hash.clone()), Timestamp::from_millis(5));
        let faults = |events: &[Value], head: &Value| {
            let events: Vec<Exported<ChainedEvent>> = serde_json::from_value(json!(events)).unwrap();
            let head: Exported<AuditHead> = serde_json::from_value(head.clone()).unwrap();
            check_export(key, tenant, &events, Some(&head)).faults.len()
        };
        let (events, head) = (links.iter().map(|link| json!(link)).collect::<Vec<_>>(), json!(head));
        assert_eq!(faults(&events, &head), 0);
        let with = |value: &Value, name: &str, member: Value| {
            let mut changed = value.clone();
            changed[name] = member;
            changed
        };
        for changed in [
            with(&events[0], "note", json!("approved by the board")),
            with(&events[0], "unreadable", json!("it was spoilt")),
            with(&events[0], "unreadable", Value::Null),
            with(&events[0], "at", json!("1970-01-01T00:00:00.001000001Z")),
        ] {
            assert_eq!(faults(&[changed.clone(), events[1].clone()], &head), 1, "{changed}");
        }
        assert_eq!(faults(&events, &with(&head, "note", json!("x"))), 1);
        assert_eq!(faults(&events, &with(&head, "seq", json!(1))), 1, "a head that nobody signed");
    }

    #[test]
    fn an_edited_event_is_found() {
        let (key, mut links) = chain(5);
        let head = links[4].clone();
        links[2].event.detail = json!({"n": 99});
        assert!(verify(key, &links, &head) > 0);
    }

    #[test]
    fn a_removed_a_swapped_and_a_cut_event_are_found() {
        let (key, links) = chain(5);
        let mut removed = links.clone();
        removed.remove(1);
        assert!(verify(key, &removed, &links[4]) > 0);
        let mut swapped = links.clone();
        swapped.swap(1, 2);
        assert!(verify(key, &swapped, &links[4]) > 0);
        assert!(verify(key, &links[..4], &links[4]) > 0);
    }
}
