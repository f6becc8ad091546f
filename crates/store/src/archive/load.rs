//! Restores an archive.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use kybern_core::id::TenantId;
use serde_json::Value;
use uuid::Uuid;
use zip::{CompressionMethod, ZipArchive};

use super::tables::{ColumnKind, Table, every_table};
use super::{ArchiveEntry, FORMAT, MANIFEST, Manifest, broken};
use crate::db::scope_of_row;
use crate::db::{Arg, RowVisibility, Tx};
use crate::error::{Result, StoreError};
use crate::{blobs, migrate};

/// Rows that are inserted by one statement.
const CHUNK: usize = 100;

/// What is to be restored.
pub(super) struct RestoreOrder {
    pub(super) file: PathBuf,
    pub(super) folder: Option<PathBuf>,
}

type Archive = ZipArchive<BufReader<File>>;

/// Opens an archive and reads its manifest.
pub(super) fn open(file: &Path) -> Result<(Archive, Manifest)> {
    let opened = File::open(file).map_err(StoreError::io(format!("opening {}", file.display())))?;
    let mut archive = ZipArchive::new(BufReader::new(opened)).map_err(broken)?;
    lie_apart(&mut archive)?;
    let manifest: Manifest = {
        let entry = archive.by_name(MANIFEST).map_err(broken)?;
        serde_json::from_reader(entry).map_err(broken)?
    };
    if manifest.format > FORMAT {
        let problem = format!("the archive has form {}, this program reads {FORMAT}", manifest.format);
        return Err(StoreError::Archive(format!("{problem}: restore it with a newer program")));
    }
    if manifest.schema > migrate::known_version() {
        return Err(StoreError::Newer { found: manifest.schema, known: migrate::known_version() });
    }
    Ok((archive, manifest))
}

/// Refuses an archive that unpacks to more than the file holds: with compressed entries, or with several that share their
/// bytes. No backup has either.
fn lie_apart(archive: &mut Archive) -> Result<()> {
    let mut places = Vec::with_capacity(archive.len());
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(broken)?;
        let name = entry.name().to_owned();
        if entry.compression() != CompressionMethod::Stored || entry.size() != entry.compressed_size() {
            return Err(broken(format!("{name} is compressed, which nothing in a backup is")));
        }
        let begin = entry.header_start();
        let content = entry.data_start().ok_or_else(|| broken(format!("{name} begins nowhere")))?;
        places.push((begin, content.saturating_add(entry.size()), name));
    }
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        Some(pair) => Err(broken(format!("{} and {} overlap", pair[0].2, pair[1].2))),
        None => Ok(()),
    }
}

/// Looks whether everything that the manifest names is there and whole.
pub(super) fn look(file: &Path) -> Result<Manifest> {
    let (mut archive, manifest) = open(file)?;
    verify(&mut archive, &manifest)?;
    Ok(manifest)
}

/// Restores everything in the transaction it stands in.
pub(super) async fn load(tx: &mut Tx, order: &RestoreOrder) -> Result<Manifest> {
    let (mut archive, manifest) = open(&order.file)?;
    verify(&mut archive, &manifest)?;
    must_be_empty(tx).await?;
    tx.outdates_what_is_known();
    for table in every_table(tx).await? {
        let name = format!("tables/{}.jsonl", table.name);
        if let Some(entry) = manifest.entries.iter().find(|entry| entry.name == name) {
            load_table(tx, &mut archive, &table, entry).await?;
        }
    }
    for entry in manifest.entries.iter().filter(|entry| entry.name.starts_with("files/")) {
        load_file(tx, &mut archive, entry, order.folder.as_deref()).await?;
    }
    Ok(manifest)
}

/// Checks every entry before anything is written.
fn verify(archive: &mut Archive, manifest: &Manifest) -> Result<()> {
    let mut names = HashSet::with_capacity(manifest.entries.len());
    for entry in &manifest.entries {
        if !names.insert(&entry.name) {
            return Err(broken(format!("{} is listed twice", entry.name)));
        }
        let mut stored = archive.by_name(&entry.name).map_err(broken)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(&mut stored).map_err(broken)?;
        if hasher.finalize().to_hex().as_str() != entry.checksum {
            return Err(broken(format!("{} does not match its checksum", entry.name)));
        }
    }
    Ok(())
}

/// Only an empty store may be filled. What can be asked of all tenants is enough: every store that was ever used has
/// a tenant, a task, a plan or a job.
async fn must_be_empty(tx: &mut Tx) -> Result<()> {
    for text in [
        "SELECT id FROM tenant LIMIT 1",
        "SELECT id FROM task LIMIT 1",
        "SELECT id FROM job LIMIT 1",
        "SELECT id FROM plan LIMIT 1",
    ] {
        let mut found = false;
        tx.each_row(text, &[], |_| {
            found = true;
            Ok(())
        })
        .await?;
        if found {
            let message = "the database is not empty: restore into a new one, or remove this one first";
            return Err(StoreError::Conflict(message.to_owned()));
        }
    }
    Ok(())
}

/// Rows that wait to be inserted together; all of one tenant.
struct Chunk<'a> {
    table: &'a Table,
    columns: Vec<(&'a str, ColumnKind)>,
    tenant: Option<TenantId>,
    rows: Vec<Vec<Value>>,
}

async fn load_table(tx: &mut Tx, archive: &mut Archive, table: &Table, entry: &ArchiveEntry) -> Result<()> {
    let known = |name: &String| {
        table.columns.iter().find(|(column, _)| column == name).map(|(column, kind)| (column.as_str(), *kind))
    };
    let columns: Option<Vec<_>> = entry.columns.iter().map(known).collect();
    let columns = columns.ok_or_else(|| broken(format!("{} has columns that this program lacks", entry.name)))?;
    let owner = columns.iter().position(|(name, _)| *name == table.owner()).unwrap_or_else(|| table.owner_at());
    let mut chunk = Chunk { table, columns, tenant: None, rows: Vec::with_capacity(CHUNK) };
    let stored = archive.by_name(&entry.name).map_err(broken)?;
    for line in BufReader::new(stored).split(b'\n') {
        let line = line.map_err(broken)?;
        let cells: Vec<Value> =
            serde_json::from_slice(&line).map_err(|error| broken(format!("{}: {error}", entry.name)))?;
        let tenant = cells.get(owner).and_then(Value::as_str).and_then(|text| text.parse::<Uuid>().ok());
        let tenant =
            tenant.map(TenantId::from_uuid).ok_or_else(|| broken(format!("{}: a row of nobody", entry.name)))?;
        if cells.len() != chunk.columns.len() {
            return Err(broken(format!("{}: a row of {} columns", entry.name, cells.len())));
        }
        if chunk.tenant != Some(tenant) || chunk.rows.len() >= CHUNK {
            flush(tx, &mut chunk).await?;
            chunk.tenant = Some(tenant);
        }
        chunk.rows.push(cells);
    }
    flush(tx, &mut chunk).await
}

async fn flush(tx: &mut Tx, chunk: &mut Chunk<'_>) -> Result<()> {
    let Some(tenant) = chunk.tenant.filter(|_| !chunk.rows.is_empty()) else { return Ok(()) };
    tx.enter(RowVisibility::Tenant(scope_of_row(tenant))).await?;
    let names: Vec<&str> = chunk.columns.iter().map(|(name, _)| *name).collect();
    let text = chunk.table.insert(&names, chunk.rows.len());
    let cells = chunk.rows.iter().flat_map(|row| row.iter().zip(&chunk.columns));
    let args = cells.map(|(cell, (name, kind))| arg(cell, *kind, name)).collect::<Result<Vec<Arg<'_>>>>()?;
    tx.execute_text(&text, &args).await?;
    chunk.rows.clear();
    Ok(())
}

fn arg<'a>(cell: &'a Value, kind: ColumnKind, column: &str) -> Result<Arg<'a>> {
    let wrong = || broken(format!("column {column} holds {cell}"));
    let null = cell.is_null();
    Ok(match kind {
        ColumnKind::I if null => Arg::I64(None),
        ColumnKind::F if null => Arg::F64(None),
        ColumnKind::T if null => Arg::Text(None),
        ColumnKind::U if null => Arg::Uuid(None),
        ColumnKind::I => cell.as_i64().ok_or_else(wrong)?.into(),
        ColumnKind::F => cell.as_f64().ok_or_else(wrong)?.into(),
        ColumnKind::T => cell.as_str().ok_or_else(wrong)?.into(),
        ColumnKind::U => cell.as_str().and_then(|text| text.parse::<Uuid>().ok()).ok_or_else(wrong)?.into(),
    })
}

async fn load_file(tx: &mut Tx, archive: &mut Archive, entry: &ArchiveEntry, folder: Option<&Path>) -> Result<()> {
    let mut parts = entry.name.split('/').skip(1);
    let tenant = parts.next().and_then(|text| text.parse::<Uuid>().ok()).map(TenantId::from_uuid);
    let hash = parts.next().filter(|hash| blobs::is_name(hash));
    let (Some(tenant), Some(hash)) = (tenant, hash) else { return Err(broken(&entry.name)) };
    let mut bytes = Vec::new();
    archive.by_name(&entry.name).map_err(broken)?.read_to_end(&mut bytes).map_err(broken)?;
    if blake3::hash(&bytes).to_hex().as_str() != hash {
        return Err(broken(format!("{} does not match its name", entry.name)));
    }
    match folder {
        Some(folder) => blobs::write(folder, tenant, hash, &bytes, tx.shared().clock.now()),
        None => {
            let scope = scope_of_row(tenant);
            tx.enter(RowVisibility::Tenant(scope)).await?;
            blobs::insert(tx, scope, hash, &bytes).await
        }
    }
}
