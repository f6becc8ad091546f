//! What only a start would find wrong in the settings.

use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{AccessFlags, access};

use crate::config::{Config, ConfigError, Faults, WebhookOptions};
use crate::{heads, models, wiring};

/// Every fault that shows without a start: of models, of the languages of scans (`unread` is why nobody reads them), of
/// the file for heads, and of tenants, whose names and slugs are `tenants` where they are known.
pub(super) fn faults(
    config: &Config,
    unread: Option<&anyhow::Error>,
    tenants: Option<&[String]>,
) -> Option<ConfigError> {
    let mut faults = Faults::default();
    let models = models::check(config).err();
    for error in models.iter().chain(unread).filter_map(|error| error.downcast_ref::<ConfigError>()) {
        error.faults().iter().cloned().for_each(|fault| faults.add(fault));
    }
    if let Some(path) = &config.audit.head_file
        && let Err(errno) = may_write(path)
    {
        faults.add(heads::unwritable(path, &errno.desc()));
    }
    // Where there is none at all, the first start makes one.
    if let Some(known) = tenants.filter(|known| !known.is_empty()) {
        let of_webhook = |(name, webhook): (&String, &WebhookOptions)| {
            webhook.tenant.clone().map(|tenant| (format!("webhooks.{name}.tenant"), tenant))
        };
        let of_mailbox = config.imap.as_ref().map(|imap| ("imap.tenant".to_owned(), imap.tenant.clone()));
        let named = config.webhooks.iter().filter_map(of_webhook).chain(of_mailbox);
        named
            .filter(|(_, name)| !known.contains(name))
            .for_each(|(key, name)| faults.add(wiring::no_tenant(&key, &name)));
    }
    faults.into_error()
}

/// Whether lines can be added to a file, or it can be made. It is not opened: a pipe would wait for its reader.
fn may_write(path: &Path) -> nix::Result<()> {
    if let Ok(found) = path.metadata() {
        return match found.file_type() {
            kind if kind.is_dir() => Err(Errno::EISDIR),
            kind if kind.is_socket() => Err(Errno::ENXIO),
            _file_or_pipe => access(path, AccessFlags::W_OK),
        };
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    if !folder.is_dir() {
        return Err(if folder.exists() { Errno::ENOTDIR } else { Errno::ENOENT });
    }
    access(folder, AccessFlags::W_OK | AccessFlags::X_OK)
}
