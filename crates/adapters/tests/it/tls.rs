//! A private authority for tests, and a server's certificate of it for `localhost`, `tls.test` and `127.0.0.1`. Made
//! once with openssl, valid for a hundred years, trusted by nobody.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The authority.
const CA: &str = "-----BEGIN CERTIFICATE-----
MIIBczCCARmgAwIBAgIBATAKBggqhkjOPQQDAjAgMR4wHAYDVQQDDBVreWJlcm4g
dGVzdCBhdXRob3JpdHkwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBa
MCAxHjAcBgNVBAMMFWt5YmVybiB0ZXN0IGF1dGhvcml0eTBZMBMGByqGSM49AgEG
CCqGSM49AwEHA0IABDlH3uUkIkA0tJ/9nx3hrn1pxJ9ydFrKGLJrdlkKRaV6O3t8
FV/iU7eMrWmVMfsdihcml+S75cRW4tvGU08gZNSjQjBAMA8GA1UdEwEB/wQFMAMB
Af8wDgYDVR0PAQH/BAQDAgIEMB0GA1UdDgQWBBSoTjvoUzGgu9vwlvGrYgaSxLFu
bjAKBggqhkjOPQQDAgNIADBFAiBA7KKPk0hbJVjvGTw/Mrqn9TmPPvsKN8KbjU6V
JCCANwIhAN2z2Ri0zvia6OTEgGPnc0DLCqdCYt4qvcdRr8bzZMyk
-----END CERTIFICATE-----
";

/// The server's certificate.
const SERVER: &str = "-----BEGIN CERTIFICATE-----
MIIBtzCCAV6gAwIBAgIBAjAKBggqhkjOPQQDAjAgMR4wHAYDVQQDDBVreWJlcm4g
dGVzdCBhdXRob3JpdHkwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBa
MB0xGzAZBgNVBAMMEmt5YmVybiB0ZXN0IHNlcnZlcjBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABN6IgDVrNb5jRXFOteJXCsBglXFmF2txB33C1HIIDKvIbiEzZ/SR
pCTh5cUvcj7NABYRVqmI7TtAFUALdZ2XSR2jgYkwgYYwJAYDVR0RBB0wG4IJbG9j
YWxob3N0ggh0bHMudGVzdIcEfwAAATAJBgNVHRMEAjAAMBMGA1UdJQQMMAoGCCsG
AQUFBwMBMB0GA1UdDgQWBBSVCaoqvGVo9fJKZFXqSSVfVGaHazAfBgNVHSMEGDAW
gBSoTjvoUzGgu9vwlvGrYgaSxLFubjAKBggqhkjOPQQDAgNHADBEAiAptK6T0tc5
konDbZ5RP6HeSOi5zVScj8+F4U2YpICIggIgMVGfrdDenV30t/mdaXdE7NL88h5H
IUgGb2umuxWRG8o=
-----END CERTIFICATE-----
";

const SERVER_KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgA+NvR/knxhtG6JAk
2LPwVl6y47FUw0E1s+t9GOHlgGKhRANCAATeiIA1azW+Y0VxTrXiVwrAYJVxZhdr
cQd9wtRyCAyryG4hM2f0kaQk4eXFL3I+zQAWEVapiO07QBVAC3Wdl0kd
-----END PRIVATE KEY-----
";

/// TLS as a server speaks it.
pub(crate) fn server_config() -> Arc<ServerConfig> {
    let chain = vec![CertificateDer::from_pem_slice(SERVER.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(SERVER_KEY.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap())
}

/// The authority's certificate.
pub(crate) fn authority() -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(CA.as_bytes()).unwrap()
}

/// The authority's certificate in a file, with the folder that keeps it.
pub(crate) fn authority_file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ca.pem");
    std::fs::write(&path, CA).unwrap();
    (folder, path)
}
