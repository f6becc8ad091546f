//! Writes an archive.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kybern_core::id::TenantId;
use kybern_core::time::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::tables::{ColumnKind, Table, every_table};
use super::{ArchiveEntry, FORMAT, MANIFEST, Manifest};
use crate::db::scope_of_row;
use crate::db::{Row, RowVisibility, Tx};
use crate::error::{Result, StoreError};
use crate::{blobs, migrate, private};

/// What is to be written.
pub(super) struct DumpOrder {
    pub(super) file: PathBuf,
    pub(super) folder: Option<PathBuf>,
    pub(super) created_at: Timestamp,
    pub(super) key_fingerprint: Option<String>,
}

/// An archive while it is being written.
struct Archive {
    zip: ZipWriter<PartialFile>,
    entries: Vec<ArchiveEntry>,
    /// The originals that the tables name, by what they are called in the archive.
    named: BTreeSet<String>,
}

/// The file that is written. After a failure it takes everything and keeps nothing: the archive would otherwise try to end
/// itself when it is dropped, and print that it cannot.
struct PartialFile {
    file: BufWriter<File>,
    failed: bool,
    /// Where the next byte stands, and where the last one.
    at: u64,
    end: u64,
}

impl PartialFile {
    fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), failed: false, at: 0, end: 0 }
    }

    fn unless_failed<T>(
        &mut self,
        otherwise: T,
        act: impl FnOnce(&mut BufWriter<File>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.failed {
            return Ok(otherwise);
        }
        act(&mut self.file).inspect_err(|error| self.failed = error.kind() != io::ErrorKind::Interrupted)
    }
}

impl Write for PartialFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.unless_failed(bytes.len(), |file| file.write(bytes))?;
        self.at += u64::try_from(written).unwrap_or_default();
        self.end = self.end.max(self.at);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_failed((), |file| file.flush())
    }
}

impl Seek for PartialFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => place,
            SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            SeekFrom::End(by) => self.end.saturating_add_signed(by),
        };
        self.at = self.unless_failed(place, |file| file.seek(to))?;
        Ok(self.at)
    }
}

/// What an original is called in the archive.
fn file_name(tenant: Uuid, hash: &str) -> String {
    format!("files/{tenant}/{hash}")
}

fn zip_fault(error: zip::result::ZipError) -> StoreError {
    StoreError::io("writing the archive")(error.into())
}

fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored).large_file(true)
}

impl Archive {
    fn begin(&mut self, name: &str) -> Result<()> {
        self.zip.start_file(name, options()).map_err(zip_fault)
    }

    fn write(&mut self, hasher: &mut blake3::Hasher, bytes: &[u8]) -> Result<()> {
        hasher.update(bytes);
        self.zip.write_all(bytes).map_err(StoreError::io("writing the archive"))
    }

    fn add(&mut self, name: String, hasher: &blake3::Hasher, rows: u64, columns: Vec<String>) {
        self.entries.push(ArchiveEntry { name, checksum: hasher.finalize().to_hex().to_string(), rows, columns });
    }

    fn file(&mut self, tenant: TenantId, hash: &str, bytes: &[u8]) -> Result<()> {
        let name = file_name(tenant.as_uuid(), hash);
        let mut hasher = blake3::Hasher::new();
        self.begin(&name)?;
        self.write(&mut hasher, bytes)?;
        self.add(name, &hasher, 1, Vec::new());
        Ok(())
    }
}

/// Writes everything into the file.
pub(super) async fn dump(tx: &mut Tx, order: &DumpOrder) -> Result<Manifest> {
    if order.file.exists() {
        return Err(StoreError::Archive(format!("{} exists already: choose another name", order.file.display())));
    }
    let mut part = order.file.clone().into_os_string();
    part.push(".part");
    let part = PathBuf::from(part);
    let written = write(tx, order, &part).await;
    if tx.is_postgres() {
        // The caller ends the transaction.
    } else {
        tx.roll_back().await?;
    }
    let manifest = match written {
        Ok(manifest) => manifest,
        Err(error) => {
            // A leftover would only take space; the failure itself is what counts.
            drop(std::fs::remove_file(&part));
            return Err(error);
        }
    };
    std::fs::rename(&part, &order.file).map_err(StoreError::io("naming the archive"))?;
    Ok(manifest)
}

async fn write(tx: &mut Tx, order: &DumpOrder, part: &Path) -> Result<Manifest> {
    tx.snapshot().await?;
    expect_present(tx).await?;
    let file = private::create(part).map_err(StoreError::io(format!("creating {}", part.display())))?;
    let mut archive =
        Archive { zip: ZipWriter::new(PartialFile::new(file)), entries: Vec::new(), named: BTreeSet::new() };
    let tenants = if tx.is_postgres() { tenants(tx).await? } else { Vec::new() };
    for table in every_table(tx).await? {
        dump_table(tx, &mut archive, &table, &tenants).await?;
    }
    match &order.folder {
        Some(folder) => dump_folder(&mut archive, folder)?,
        None => dump_blobs(tx, &mut archive, &tenants).await?,
    }
    for entry in &archive.entries {
        archive.named.remove(&entry.name);
    }
    let manifest = Manifest {
        format: FORMAT,
        schema: migrate::known_version(),
        created_at: order.created_at,
        key_fingerprint: order.key_fingerprint.clone(),
        entries: archive.entries,
        missing: archive.named.into_iter().collect(),
    };
    archive.zip.start_file(MANIFEST, options()).map_err(zip_fault)?;
    let body = serde_json::to_vec_pretty(&manifest).map_err(|error| StoreError::Archive(error.to_string()))?;
    let fault = || StoreError::io("writing the archive");
    archive.zip.write_all(&body).map_err(fault())?;
    let file =
        archive.zip.finish().map_err(zip_fault)?.file.into_inner().map_err(|error| fault()(error.into_error()))?;
    file.sync_all().map_err(fault())?;
    Ok(manifest)
}

/// Refuses a database of another version, or of another master key. It belongs to the moment that is read: a server may just be migrating.
async fn expect_present(tx: &mut Tx) -> Result<()> {
    if tx.is_postgres() {
        // Opening the store has brought it to the present version.
        return Ok(());
    }
    let mut applied = Vec::new();
    let text = "SELECT version, checksum FROM schema_migration ORDER BY version";
    tx.each_row(text, &[], |mut row| {
        applied.push((row.i64()?, row.text()?));
        Ok(())
    })
    .await?;
    migrate::expect_present(&applied)?;
    let mut known = None;
    tx.each_row(migrate::PROOF, &[], |mut row| {
        known = Some(row.text()?);
        Ok(())
    })
    .await?;
    let keys = std::sync::Arc::clone(&tx.shared().keys);
    migrate::KeyProof::of(keys.as_ref(), false).expect(known.as_deref())
}

/// Every tenant of which there is something: PostgreSQL shows one at a time.
pub(super) async fn tenants(tx: &mut Tx) -> Result<Vec<TenantId>> {
    tx.enter(RowVisibility::Everyone).await?;
    let mut found = Vec::new();
    let text = "SELECT id FROM tenant UNION SELECT tenant_id FROM task UNION SELECT tenant_id FROM job \
        UNION SELECT tenant_id FROM plan ORDER BY 1";
    tx.each_row(text, &[], |mut row| {
        found.push(TenantId::from_uuid(row.uuid()?));
        Ok(())
    })
    .await?;
    Ok(found)
}

async fn dump_table(tx: &mut Tx, archive: &mut Archive, table: &Table, tenants: &[TenantId]) -> Result<()> {
    let name = format!("tables/{}.jsonl", table.name);
    archive.begin(&name)?;
    let (mut hasher, mut rows) = (blake3::Hasher::new(), 0_u64);
    let mut take = |row: Row| {
        rows += 1;
        let cells = line(table, row)?;
        archive.named.extend(original(table, &cells));
        let mut line = Value::Array(cells).to_string();
        line.push('\n');
        archive.write(&mut hasher, line.as_bytes())
    };
    if tx.is_postgres() {
        for tenant in tenants {
            tx.enter(RowVisibility::Tenant(scope_of_row(*tenant))).await?;
            tx.each_row(&table.select(true), &[tenant.as_uuid().into()], &mut take).await?;
        }
    } else {
        tx.each_row(&table.select(false), &[], &mut take).await?;
    }
    archive.add(name, &hasher, rows, table.columns.iter().map(|(column, _)| column.clone()).collect());
    Ok(())
}

/// A row as the cells of a JSON array.
pub(super) fn line(table: &Table, mut row: Row) -> Result<Vec<Value>> {
    let cells = table.columns.iter().map(|(_, kind)| {
        Ok(match kind {
            ColumnKind::U => json!(row.opt_uuid()?),
            ColumnKind::I => json!(row.opt_i64()?),
            ColumnKind::F => json!(row.opt_f64()?),
            ColumnKind::T => json!(row.opt_text()?),
        })
    });
    cells.collect()
}

/// The original that a row names.
fn original(table: &Table, cells: &[Value]) -> Option<String> {
    let cell = |column| cells.get(table.columns.iter().position(|(name, _)| name == column)?)?.as_str();
    (table.name == "attachment").then_some(())?;
    Some(file_name(cell("tenant_id")?.parse().ok()?, cell("hash")?))
}

fn dump_folder(archive: &mut Archive, folder: &Path) -> Result<()> {
    for tenant in names(folder)? {
        let Ok(id) = tenant.parse::<Uuid>().map(TenantId::from_uuid) else { continue };
        for start in names(&folder.join(&tenant))? {
            for hash in names(&folder.join(&tenant).join(&start))? {
                // What does not match its name any more is left out: it could not be read back either.
                if let Some(bytes) = blobs::read(folder, id, &hash)? {
                    archive.file(id, &hash, &bytes)?;
                }
            }
        }
    }
    Ok(())
}

/// The names in a folder, in order; none where there is no folder.
fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::io(format!("reading {}", folder.display()))(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(StoreError::io(format!("reading {}", folder.display())))?;
        names.extend(entry.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

async fn dump_blobs(tx: &mut Tx, archive: &mut Archive, tenants: &[TenantId]) -> Result<()> {
    for tenant in tenants {
        let scope = scope_of_row(*tenant);
        tx.enter(RowVisibility::Tenant(scope)).await?;
        for hash in blobs::hashes(tx, scope).await? {
            if let Some(bytes) = blobs::get(tx, scope, &hash).await? {
                archive.file(*tenant, &hash, &bytes)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_cannot_be_written_ends_without_a_word() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut zip = ZipWriter::new(PartialFile::new(full));
        let begun = zip.start_file("a", options()).map_err(io::Error::from);
        let written = begun.and_then(|()| (0..100).try_for_each(|_| zip.write_all(&[7; 4096])));
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::StorageFull);
        // What a drop would do, which panics or prints where it fails.
        zip.finish().unwrap();
    }
}
