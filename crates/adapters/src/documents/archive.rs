//! Office packages: ZIP archives that are unpacked part by part, under limits that hold while unpacking.

use std::io::{Cursor, Read};

use kybern_core::document::{DocumentFault, FaultKind, limits};
use zip::ZipArchive;
use zip::result::ZipError;

use super::pages::unpacks_too_far;

/// Parts of one package.
const MAX_PARTS: usize = 10_000;
/// Under this size the rate of expansion says nothing: a tiny part may expand a lot.
const FREE_BYTES: u64 = 1024 * 1024;
/// Bytes of one part that is read as text. XML of this size becomes text over its own limit anyway.
const MAX_PART: u64 = 32 * 1024 * 1024;

/// What a ZIP archive is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Package {
    /// A Word document.
    Word,
    /// An Excel workbook.
    Excel,
    /// Something known that cannot be read, with its name.
    Other(&'static str),
    /// A plain archive.
    Plain,
}

/// What this archive is, from the names of its parts; `None` when its list of parts cannot be read.
pub(super) fn package(bytes: &[u8]) -> Option<Package> {
    let archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let any = |start: &str| archive.file_names().any(|name| name.starts_with(start));
    Some(if any("word/") {
        Package::Word
    } else if any("xl/workbook.bin") {
        Package::Other("an Excel workbook of the binary kind (.xlsb)")
    } else if any("xl/") {
        Package::Excel
    } else if any("ppt/") {
        Package::Other("a presentation")
    } else if any("content.xml") && any("mimetype") {
        Package::Other("an OpenDocument file")
    } else {
        Package::Plain
    })
}

/// A file out of an archive: its name there and its bytes.
pub(crate) type Unzipped = (String, Vec<u8>);

/// Whether this is an archive of files, not a package that is a document.
pub(crate) fn is_plain_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") && package(bytes) == Some(Package::Plain)
}

/// Whether a file in this archive is locked with a password.
pub(super) fn is_locked(bytes: &[u8]) -> bool {
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return false };
    let most = archive.len().min(MAX_PARTS);
    (0..most).any(|at| archive.by_index_raw(at).is_ok_and(|part| part.encrypted()))
}

/// Which limit an archive of files is over by its own list of them; such a one is not opened.
pub(super) fn over_limit(bytes: &[u8]) -> Option<String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let files = archive.file_names().filter(|name| !name.ends_with(['/', '\\'])).count();
    if files > limits::MAX_ATTACHMENTS {
        return Some(format!("of {files} files, the limit is {} attachments", limits::MAX_ATTACHMENTS));
    }
    let parts = archive.len();
    let unpacked = (0..parts).filter_map(|at| archive.by_index_raw(at).ok().map(|part| part.size()));
    let unpacked = unpacked.fold(0, u64::saturating_add);
    let limit = limits::MAX_UNPACKED;
    (unpacked > limit).then(|| format!("that unpacks to {unpacked} bytes, the limit is {limit} bytes"))
}

/// The files of an archive with their names, and whether these are all that are wanted; `None` when there are more
/// than `most`, when they unpack too far or to more than `room` bytes, or when it is damaged.
pub(crate) fn unzip(
    bytes: &[u8],
    most: usize,
    room: u64,
    wanted: impl Fn(&str) -> bool,
) -> Option<(Vec<Unzipped>, bool)> {
    let mut parts = OpenPackage::open(bytes).ok()?;
    parts.left = parts.left.min(room);
    let names: Vec<String> =
        parts.names().into_iter().filter(|name| !name.ends_with(['/', '\\']) && wanted(name)).collect();
    if names.len() > most {
        return None;
    }
    let mut files = Vec::new();
    let mut complete = true;
    for name in names {
        match parts.bytes(&name) {
            Ok(Some(content)) if content.len() <= limits::MAX_BYTES => files.push((name, content)),
            Err(fault) if fault.kind == FaultKind::TooLarge => return None,
            Ok(_) | Err(_) => complete = false,
        }
    }
    Some((files, complete))
}

/// An open package, with what may still be unpacked from it.
pub(super) struct OpenPackage<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
}

impl<'a> OpenPackage<'a> {
    /// Opens a package.
    ///
    /// # Errors
    /// `Broken` when its list of parts cannot be read, `TooLarge` when it has too many.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, DocumentFault> {
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| damaged(&error))?;
        if archive.len() > MAX_PARTS {
            return Err(DocumentFault::new(FaultKind::TooLarge, format!("it has more than {MAX_PARTS} parts")));
        }
        let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        let by_rate = size.saturating_mul(limits::MAX_EXPANSION).max(FREE_BYTES);
        Ok(Self { archive, left: by_rate.min(limits::MAX_UNPACKED) })
    }

    /// The names of the parts, in the order of the archive.
    pub(super) fn names(&self) -> Vec<String> {
        self.archive.file_names().map(str::to_owned).collect()
    }

    /// Unpacks one part as XML; `None` when there is no such part.
    ///
    /// # Errors
    /// `TooLarge` over a limit, `Broken` when it cannot be unpacked, is not UTF-8 or UTF-16, or brings a DTD.
    pub(super) fn xml(&mut self, name: &str) -> Result<Option<String>, DocumentFault> {
        let Some(bytes) = self.bytes(name)? else { return Ok(None) };
        let text = super::text::decode(&bytes)
            .map_err(|_| DocumentFault::new(FaultKind::Broken, format!("its part {name} is not readable")))?;
        if text.contains("<!DOCTYPE") {
            return Err(DocumentFault::new(FaultKind::Broken, format!("its part {name} declares entities of its own")));
        }
        Ok(Some(text))
    }

    /// Unpacks one part and throws it away, to find out whether the limits hold.
    ///
    /// # Errors
    /// As for [`OpenPackage::xml`].
    pub(super) fn probe(&mut self, name: &str) -> Result<(), DocumentFault> {
        let left = self.left;
        let Some(mut part) = self.part(name)? else { return Ok(()) };
        let packed = part.compressed_size();
        let mut buffer = vec![0; 64 * 1024];
        let mut total = 0u64;
        loop {
            let read = part.read(&mut buffer).map_err(|error| torn(name, &error))?;
            total += u64::try_from(read).unwrap_or(u64::MAX);
            if total > allowed(left, packed) {
                return Err(unpacks_too_far());
            }
            if read == 0 {
                break;
            }
        }
        drop(part);
        self.left -= total;
        Ok(())
    }

    fn bytes(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentFault> {
        let left = self.left;
        let Some(part) = self.part(name)? else { return Ok(None) };
        let most = allowed(left, part.compressed_size()).min(MAX_PART);
        let mut bytes = Vec::new();
        part.take(most + 1).read_to_end(&mut bytes).map_err(|error| torn(name, &error))?;
        let total = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if total > most {
            return Err(unpacks_too_far());
        }
        self.left -= total;
        Ok(Some(bytes))
    }

    fn part(&mut self, name: &str) -> Result<Option<zip::read::ZipFile<'_, Cursor<&'a [u8]>>>, DocumentFault> {
        match self.archive.by_name(name) {
            Ok(part) if part.encrypted() => Err(locked()),
            Ok(part) => Ok(Some(part)),
            Err(ZipError::FileNotFound) => Ok(None),
            Err(ZipError::UnsupportedArchive(message)) if message == ZipError::PASSWORD_REQUIRED => Err(locked()),
            Err(error) => Err(damaged(&error)),
        }
    }
}

/// What a part of this packed size may unpack to.
fn allowed(left: u64, packed: u64) -> u64 {
    left.min(packed.saturating_mul(limits::MAX_EXPANSION).max(FREE_BYTES))
}

fn torn(name: &str, error: &std::io::Error) -> DocumentFault {
    if error.kind() == std::io::ErrorKind::OutOfMemory {
        return DocumentFault::new(FaultKind::TooLarge, "unpacking it takes more memory than a document may have");
    }
    DocumentFault::new(FaultKind::Broken, format!("its part {name} cannot be unpacked"))
}

fn damaged(error: &ZipError) -> DocumentFault {
    DocumentFault::new(FaultKind::Broken, format!("it is damaged: {error}"))
}

fn locked() -> DocumentFault {
    DocumentFault::new(FaultKind::Encrypted, "its parts are locked with a password")
}
