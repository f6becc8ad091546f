//! One TLS for everything: rustls with ring, and the roots that browsers trust, built in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// Why TLS could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file of certificates cannot be read.
    #[error("cannot read certificates from {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// A file holds no certificate.
    #[error("{} holds no certificate, expected PEM", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A certificate or a setting that the library refuses.
    #[error("TLS cannot be set up")]
    Refused(#[source] rustls::Error),
}

/// Makes ring the cryptography of this process, for libraries that ask for a default. Call it first in `main`;
/// calling it again does nothing.
pub fn install_tls() {
    // Refused only when a provider is installed already, which is what was asked for.
    drop(ring::default_provider().install_default());
}

/// A client's TLS that trusts the built-in roots and `extra`. Does not need [`install_tls`].
///
/// # Errors
/// When a certificate in `extra` is malformed.
pub fn client_config(extra: &[CertificateDer<'_>]) -> Result<ClientConfig, TlsError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in extra {
        roots.add(root.clone().into_owned()).map_err(TlsError::Refused)?;
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Refused)?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates in a PEM file, for a private authority. Blocks on the disk.
///
/// # Errors
/// When the file cannot be read or holds none.
pub fn read_roots(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let unreadable = |source| TlsError::Unreadable { path: path.to_owned(), source };
    let roots = CertificateDer::pem_file_iter(path).map_err(unreadable)?;
    let roots = roots.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    if roots.is_empty() { Err(TlsError::Empty { path: path.to_owned() }) } else { Ok(roots) }
}
