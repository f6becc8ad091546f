//! What came back, or why nothing did.

use std::error::Error;
use std::io::ErrorKind;
use std::net::IpAddr;

use bytes::BytesMut;
use kybern_core::policy::EgressDenied;
use kybern_core::ports::{HttpFailure, HttpResponse};
use reqwest::Response;
use url::Url;

use super::resolver::{ClosedAddress, UnresolvedName};

/// Reads an answer whose body, after decompression, has at most `max_bytes`.
pub(super) async fn read(mut response: Response, max_bytes: usize) -> Result<HttpResponse, HttpFailure> {
    let too_large = || HttpFailure::TooLarge(max_bytes);
    let declared = response.content_length().unwrap_or(0);
    if usize::try_from(declared).map_err(|_| too_large())? > max_bytes {
        return Err(too_large());
    }
    let status = response.status().as_u16();
    let headers = headers(&response);
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if chunk.len() > max_bytes - body.len() {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(HttpResponse { status, headers, body: body.freeze() })
}

/// The headers, lower-case names.
pub(super) fn headers(response: &Response) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers = response.headers().iter();
    headers.map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes()))).collect()
}

/// A body that did not come to its end.
pub(super) fn broken(error: reqwest::Error) -> HttpFailure {
    HttpFailure::NoAnswer(format!("the body broke off: {}", describe(error)))
}

/// Why sending to `url` failed, after `hop` redirects.
pub(super) fn failure(error: reqwest::Error, url: &Url, hop: usize) -> HttpFailure {
    if let Some(ClosedAddress { address }) = find(&error) {
        return HttpFailure::Denied(denied(url, *address));
    }
    if error.is_builder() {
        return HttpFailure::Invalid(describe(error));
    }
    match (error.is_connect(), hop) {
        (true, 0) => HttpFailure::Connect(unconnected(error, url)),
        (true, _) => HttpFailure::NoAnswer(format!("cannot connect after a redirect: {}", unconnected(error, url))),
        (false, _) => HttpFailure::NoAnswer(describe(error)),
    }
}

/// That a name leads to a closed address, which the log says and nobody else is told.
pub(super) fn denied(url: &Url, address: IpAddr) -> EgressDenied {
    let host = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or_default();
    tracing::info!(server.address = %host, server.port = port, %address, "a closed address was refused");
    EgressDenied::Address { host, port, address }
}

fn find<T: Error + 'static>(error: &reqwest::Error) -> Option<&T> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |cause: &&(dyn Error + 'static)| (*cause).source())
}

/// Why there is no connection. The system's own words, which may hold addresses and say how the network is laid out,
/// are for the log.
fn unconnected(error: reqwest::Error, url: &Url) -> String {
    if find::<UnresolvedName>(&error).is_some() {
        tracing::debug!(error = %describe(error), "no address");
        return format!("the name {} cannot be resolved", url.host_str().unwrap_or_default());
    }
    let kind = find::<std::io::Error>(&error).map(std::io::Error::kind);
    let described = describe(error);
    match kind.filter(|kind| *kind != ErrorKind::Other) {
        Some(kind) => {
            tracing::debug!(error = %described, "no connection");
            kind.to_string()
        }
        None => described,
    }
}

/// The causes in one line. The URL stays out: its query may hold a secret.
fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut parts = vec![error.to_string()];
    parts.extend(causes(&error).map(ToString::to_string));
    parts.dedup();
    parts.join(": ")
}
