//! Signed heads of the audit chains, kept elsewhere: added to a file, posted to a receiver, or both.
//!
//! A head is written when its chain has grown since the last one, and again after a start. What could not be written is
//! written in the next round: a later head proves all that an earlier one does.

use std::collections::BTreeMap;
use std::io::{ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kybern_core::audit::AuditHead;
use kybern_core::error::Result;
use kybern_core::id::{RequestId, TenantId};
use kybern_core::ports::{HttpBody, HttpRequest};
use kybern_core::time::Millis;
use kybern_core::trace::traceparent_of;
use kybern_engine::Engine;
use serde_json::json;
use tokio::fs::{File, OpenOptions};
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;

use crate::config::{AuditOptions, ConfigError, Fault};

/// How long the receiver may take to answer.
const RECEIVER_TIMEOUT: Millis = Millis(20_000);
/// Bytes of its answer that are read.
const MAX_ANSWER: usize = 64 * 1024;
/// Heads of one request or one write: a quarter of a megabyte.
const BATCH: usize = 1_000;

/// Where heads go.
#[derive(Clone, Debug)]
enum HeadsTarget {
    File(PathBuf),
    Webhook(String),
}

/// A place, and what stands there already.
#[derive(Debug)]
struct HeadsCopy {
    place: HeadsTarget,
    known: BTreeMap<TenantId, (i64, String)>,
}

/// Writes heads until the server stops.
pub(crate) struct Heads {
    engine: Engine,
    every: Millis,
    copies: Vec<HeadsCopy>,
}

impl Heads {
    /// The places of the settings; `None` when there are none.
    ///
    /// # Errors
    /// A [`ConfigError`] when the file cannot be written.
    pub(crate) async fn of(audit: &AuditOptions, engine: &Engine) -> anyhow::Result<Option<Self>> {
        let mut places = Vec::new();
        if let Some(path) = &audit.head_file {
            let opened = open(path).await;
            opened.map_err(|error| ConfigError::one(unwritable(path, &error)))?;
            places.push(HeadsTarget::File(path.clone()));
        }
        places.extend(audit.head_webhook.clone().map(HeadsTarget::Webhook));
        if places.is_empty() {
            return Ok(None);
        }
        let copies = places.into_iter().map(|place| HeadsCopy { place, known: BTreeMap::new() }).collect();
        Ok(Some(Self { engine: engine.clone(), every: audit.head_every_ms, copies }))
    }

    /// Writes heads until `stop`.
    pub(crate) async fn run(mut self, stop: CancellationToken) {
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.round() => {}
            }
            if tokio::time::timeout(self.every.as_duration(), stop.cancelled()).await.is_ok() {
                return;
            }
        }
    }

    async fn round(&mut self) {
        let heads = match self.heads().await {
            Ok(heads) => heads,
            Err(error) => return tracing::error!(%error, "the heads of the audit chains cannot be read, tried again"),
        };
        for copy in &mut self.copies {
            let grown: Vec<&AuditHead> = heads.iter().filter(|head| copy.lacks(head)).collect();
            for some in grown.chunks(BATCH) {
                let written = match &copy.place {
                    HeadsTarget::File(path) => append(path, some).await,
                    HeadsTarget::Webhook(url) => post(&self.engine, url, some).await,
                };
                if let Err(error) = written {
                    tracing::error!(
                        error = format!("{error:#}"),
                        "heads of the audit chains were not kept, tried again"
                    );
                    break;
                }
                copy.known.extend(some.iter().map(|head| (head.tenant_id, (head.seq, head.hash.clone()))));
            }
        }
    }

    /// The head of every tenant's chain. One that cannot be read keeps back no other.
    async fn heads(&self) -> Result<Vec<AuditHead>> {
        let mut heads = Vec::new();
        for tenant in self.engine.store().tenants().await? {
            let request = RequestId::from_uuid(self.engine.ids().next());
            let actor = self.engine.identity().channel_actor(tenant.id, "audit", request);
            match self.engine.audit().head(actor.scope()).await {
                Ok(head) => heads.push(head),
                Err(error) => {
                    tracing::error!(tenant.id = %tenant.id, %error, "the head of an audit chain cannot be read")
                }
            }
        }
        Ok(heads)
    }
}

/// That the file of the settings cannot be written.
pub(crate) fn unwritable(path: &Path, why: &dyn std::fmt::Display) -> Fault {
    let remedy = "let this user write it and its folder, or name another file".to_owned();
    Fault { remedy, ..Fault::bad("audit.head_file", &path.display(), format!("cannot be written: {why}")) }
}

impl HeadsCopy {
    fn lacks(&self, head: &AuditHead) -> bool {
        self.known.get(&head.tenant_id).is_none_or(|(seq, hash)| (*seq, hash) != (head.seq, &head.hash))
    }
}

async fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path).await
}

/// Whether what is added to a file begins on a line of its own. What cannot be read back, such as a pipe, is taken to.
async fn ends_with_a_line(path: &Path) -> std::io::Result<bool> {
    if !tokio::fs::metadata(path).await?.is_file() {
        return Ok(true);
    }
    let Ok(mut file) = File::open(path).await else { return Ok(true) };
    if file.seek(SeekFrom::End(0)).await? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1)).await?;
    Ok(file.read_u8().await? == b'\n')
}

async fn append(path: &Path, heads: &[&AuditHead]) -> anyhow::Result<()> {
    let mut lines = String::new();
    for head in heads {
        lines.push_str(&serde_json::to_string(head)?);
        lines.push('\n');
    }
    let written = async {
        let mut file = open(path).await?;
        // A full disk or a crash may have left half a line.
        if !ends_with_a_line(path).await? {
            lines.insert(0, '\n');
        }
        file.write_all(lines.as_bytes()).await?;
        file.sync_data().await.or_else(|error| match error.kind() {
            // A pipe, for one, has nothing to sync.
            ErrorKind::InvalidInput => Ok(()),
            _ => Err(error),
        })
    };
    written.await.with_context(|| path.display().to_string())
}

async fn post(engine: &Engine, url: &str, heads: &[&AuditHead]) -> anyhow::Result<()> {
    let request = HttpRequest {
        method: "POST".to_owned(),
        url: url.to_owned(),
        headers: traceparent_of(engine.ids().next())
            .map(|trace| ("traceparent".to_owned(), trace))
            .into_iter()
            .collect(),
        body: HttpBody::Json(json!({"heads": heads})),
        timeout: RECEIVER_TIMEOUT,
        max_bytes: MAX_ANSWER,
        only_hosts: None,
        trusted_endpoint: true,
    };
    let answer = engine.http().send(request).await.context("audit.head_webhook")?;
    anyhow::ensure!((200..300).contains(&answer.status), "audit.head_webhook answered {}", answer.status);
    Ok(())
}
