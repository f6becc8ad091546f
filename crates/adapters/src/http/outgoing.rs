//! A request on its way: checked, judged, and changed by redirects.

use std::sync::Arc;

use bytes::Bytes;
use kybern_core::list;
use kybern_core::policy::place::host_fits;
use kybern_core::policy::{EgressDenied, EgressPolicy, TRAVELLING_HEADERS};
use kybern_core::ports::{HttpBody, HttpFailure, HttpRequest};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Method, StatusCode};
use url::{Host, Url};

/// Headers that belong to a connection or are made from the request itself.
const REFUSED_HEADERS: &[&str] = list!(
    "connection, content-length, host, http2-settings, keep-alive, proxy-authenticate, proxy-authorization, \
     proxy-connection, te, trailer, transfer-encoding, upgrade"
);

/// Which connections a request may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ConnectionClass {
    /// To an endpoint of the configuration file: any address.
    Trusted,
    /// To a host that the policy opens by name: any address.
    Opened,
    /// To public addresses only.
    Public,
}

/// A request that is well-formed.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Bytes,
    trusted: bool,
    /// The hosts that it may reach; `None` for all.
    only_hosts: Option<Arc<[String]>>,
}

impl Outgoing {
    /// Takes a request apart.
    pub(super) fn parse(request: HttpRequest) -> Result<Self, HttpFailure> {
        let (body, content_type) = match request.body {
            HttpBody::Empty => (Vec::new(), None),
            HttpBody::Text(text) => (text.into_bytes(), Some("text/plain; charset=utf-8")),
            HttpBody::Json(value) => {
                let json = serde_json::to_vec(&value);
                (json.map_err(|error| HttpFailure::Invalid(error.to_string()))?, Some("application/json"))
            }
        };
        let (method, url, trusted) = (&request.method, &request.url, request.trusted_endpoint);
        let mut outgoing = Self::of(method, url, &request.headers, body.into(), trusted)?;
        outgoing.only_hosts = request.only_hosts;
        if let Some(content_type) = content_type {
            outgoing.headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(content_type));
        }
        Ok(outgoing)
    }

    /// Takes a request of plain bytes.
    pub(super) fn of(
        method: &str,
        url: &str,
        headers: &[(String, String)],
        body: Bytes,
        trusted: bool,
    ) -> Result<Self, HttpFailure> {
        let method = parse_method(method)?;
        let url = Url::parse(url).map_err(|error| match error {
            url::ParseError::EmptyHost => HttpFailure::Denied(EgressDenied::NoHost),
            other => HttpFailure::Invalid(format!("the URL cannot be read: {other}")),
        })?;
        let mut parsed = HeaderMap::new();
        for (name, value) in headers {
            let (name, value) = parse_header(name, value)?;
            parsed.append(name, value);
        }
        Ok(Self { method, url, headers: parsed, body, trusted, only_hosts: None })
    }

    /// Where it goes.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Judges the URL. A name whose addresses are not known yet is judged again by the resolver.
    pub(super) fn way(&self, policy: &EgressPolicy) -> Result<ConnectionClass, EgressDenied> {
        let scheme = self.url.scheme();
        if !matches!(scheme, "http" | "https") {
            return Err(EgressDenied::Scheme(scheme.to_owned()));
        }
        if !self.url.username().is_empty() || self.url.password().is_some() {
            return Err(EgressDenied::Credentials);
        }
        let (Some(host), Some(name), Some(port)) =
            (self.url.host(), self.url.host_str(), self.url.port_or_known_default())
        else {
            return Err(EgressDenied::NoHost);
        };
        let allows = |hosts: &Arc<[String]>| hosts.iter().any(|rule| host_fits(rule, name));
        if self.only_hosts.as_ref().is_some_and(|hosts| !allows(hosts)) {
            return Err(EgressDenied::Host(name.to_owned()));
        }
        if self.trusted {
            return Ok(ConnectionClass::Trusted);
        }
        if policy.is_opened(name, port) {
            return Ok(ConnectionClass::Opened);
        }
        match host {
            Host::Ipv4(address) => policy.judge(name, port, address.into())?,
            Host::Ipv6(address) => policy.judge(name, port, address.into())?,
            Host::Domain(_) => {}
        }
        Ok(ConnectionClass::Public)
    }

    /// The request for the HTTP library.
    pub(super) fn to_request(&self) -> reqwest::Request {
        let mut request = reqwest::Request::new(self.method.clone(), self.url.clone());
        request.headers_mut().clone_from(&self.headers);
        if !self.body.is_empty() {
            *request.body_mut() = Some(self.body.clone().into());
        }
        request
    }

    /// The request that an answer leads on to, when this is GET or HEAD and the answer names where.
    ///
    /// Another origin gets no body and only harmless headers, and is no longer trusted, not even if it leads back.
    pub(super) fn redirect(&self, status: StatusCode, answer: &HeaderMap) -> Result<Option<Self>, HttpFailure> {
        let follows =
            matches!(self.method, Method::GET | Method::HEAD) && matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
        let Some(location) = answer.get(LOCATION).filter(|_| follows) else {
            return Ok(None);
        };
        let broken = || HttpFailure::NoAnswer("the redirect names no readable URL".to_owned());
        let location = location.to_str().map_err(|_| broken())?;
        let url = self.url.join(location).map_err(|_| broken())?;
        let mut next = Self { url, ..self.clone() };
        if next.url.origin() != self.url.origin() {
            next.trusted = false;
            next.drop_body();
            next.keep_headers(TRAVELLING_HEADERS);
        }
        if !matches!(status.as_u16(), 307 | 308) {
            next.drop_body();
        }
        Ok(Some(next))
    }

    fn drop_body(&mut self) {
        self.body = Bytes::new();
        self.headers.remove(CONTENT_TYPE);
    }

    fn keep_headers(&mut self, names: &[&str]) {
        let strange = self.headers.keys().filter(|name| !names.contains(&name.as_str()));
        for name in strange.cloned().collect::<Vec<_>>() {
            self.headers.remove(name);
        }
    }
}

fn parse_method(method: &str) -> Result<Method, HttpFailure> {
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let method = Some(method).filter(|method| known.contains(method));
    method
        .and_then(|method| Method::from_bytes(method.as_bytes()).ok())
        .ok_or_else(|| HttpFailure::Invalid(format!("the method is none of {}", known.join(", "))))
}

/// Values are never repeated in an error: they may be secret.
fn parse_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HttpFailure> {
    let invalid = |why: &str| HttpFailure::Invalid(format!("header {name:?} {why}"));
    let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("has a name that is not allowed"))?;
    if REFUSED_HEADERS.contains(&parsed.as_str()) {
        return Err(invalid("belongs to the connection and cannot be set"));
    }
    let value = HeaderValue::from_bytes(value.as_bytes());
    let mut value = value.map_err(|_| invalid("has a line break or another control character in its value"))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kybern_core::time::Millis;

    fn request(method: &str, url: &str) -> HttpRequest {
        HttpRequest {
            method: method.to_owned(),
            url: url.to_owned(),
            headers: vec![("Authorization".into(), "secret".into()), ("Accept".into(), "*/*".into())],
            body: HttpBody::Text("body".into()),
            timeout: Millis(1000),
            max_bytes: 1000,
            only_hosts: None,
            trusted_endpoint: true,
        }
    }

    fn redirect(method: &str, status: u16, location: &str) -> Option<Outgoing> {
        let outgoing = Outgoing::parse(request(method, "https://a.test/x")).unwrap();
        let headers = HeaderMap::from_iter([(LOCATION, HeaderValue::from_str(location).unwrap())]);
        outgoing.redirect(StatusCode::from_u16(status).unwrap(), &headers).unwrap()
    }

    #[test]
    fn the_same_origin_keeps_headers_and_trust() {
        let next = redirect("GET", 307, "/y").unwrap();
        assert_eq!(next.url.as_str(), "https://a.test/y");
        assert!(next.trusted && next.headers.contains_key("authorization") && !next.body.is_empty());
        assert!(redirect("GET", 302, "/y").unwrap().body.is_empty());
    }

    #[test]
    fn another_origin_gets_nothing_that_may_be_secret() {
        for location in ["https://b.test/", "http://a.test/", "https://a.test:444/", "//b.test/"] {
            let next = redirect("GET", 308, location).unwrap();
            assert!(!next.trusted && next.body.is_empty(), "{location}");
            assert_eq!(next.headers.keys().collect::<Vec<_>>(), ["accept"], "{location}");
        }
    }

    #[test]
    fn only_get_and_head_follow_and_only_redirects() {
        assert!(redirect("POST", 302, "/y").is_none());
        assert!(redirect("GET", 304, "/y").is_none());
        assert!(redirect("GET", 200, "/y").is_none());
        assert!(redirect("HEAD", 301, "/y").is_some());
    }
}
