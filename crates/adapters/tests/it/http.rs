//! The egress client against real servers on loopback.

mod bodies;
mod redirects;
mod site;
mod ssrf;

use std::net::IpAddr;

use kybern_adapters::http::tls::client_config;
use kybern_adapters::http::{Egress, EgressOptions, install_tls};
use kybern_core::policy::{EgressDenied, EgressPolicy};
use kybern_core::ports::{HttpBody, HttpClient as _, HttpFailure, HttpRequest};
use kybern_core::time::Millis;
use serde_json::json;

use self::site::{Names, Site, page};
use crate::{peer, tls};

/// A GET with room and time enough.
fn get(url: impl Into<String>) -> HttpRequest {
    HttpRequest {
        method: "GET".to_owned(),
        url: url.into(),
        headers: Vec::new(),
        body: HttpBody::Empty,
        timeout: Millis(20_000),
        max_bytes: 1 << 20,
        only_hosts: None,
        trusted_endpoint: false,
    }
}

fn trusted(url: impl Into<String>) -> HttpRequest {
    HttpRequest { trusted_endpoint: true, ..get(url) }
}

/// A client that opens `allow` and resolves names by `names`.
fn egress(allow: &[String], names: &Names) -> Egress {
    let options = EgressOptions { lookup: names.lookup(), connect_timeout: Millis(500), ..EgressOptions::default() };
    Egress::with_options(EgressPolicy::new(allow).unwrap(), options).unwrap()
}

fn closed() -> Egress {
    egress(&[], &Names::default())
}

fn address(failure: HttpFailure) -> (String, u16, IpAddr) {
    match failure {
        HttpFailure::Denied(EgressDenied::Address { host, port, address }) => (host, port, address),
        other => panic!("expected a closed address, got {other:?}"),
    }
}

#[tokio::test]
async fn a_private_address_is_refused_in_every_spelling_and_nothing_is_sent() {
    let site = Site::start(|_| page(200, "secret"));
    let port = site.port();
    let hosts = [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "0.0.0.0",
        "[::]",
        "１２７.0.0.1",
        "169.254.169.254",
        "10.0.0.1",
    ];
    for host in hosts {
        let failure = closed().send(get(format!("http://{host}:{port}/"))).await.unwrap_err();
        assert_eq!(address(failure).1, port, "{host}");
    }
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn other_schemes_credentials_and_broken_urls_are_refused() {
    let send = async |url: &str| closed().send(get(url)).await.unwrap_err();
    for url in ["file:///etc/passwd", "ftp://example.com/", "gopher://example.com/", "data:text/plain,x"] {
        assert!(matches!(send(url).await, HttpFailure::Denied(EgressDenied::Scheme(_))), "{url}");
    }
    for url in ["http://user@example.com/", "http://user:pass@example.com/", "http://:pass@example.com/"] {
        assert_eq!(send(url).await, HttpFailure::Denied(EgressDenied::Credentials), "{url}");
    }
    assert_eq!(send("http://").await, HttpFailure::Denied(EgressDenied::NoHost));
    for url in ["", "/path", "example.com", "http://exa mple.com/", "http://[::1/", "http://a:99999/"] {
        assert!(matches!(send(url).await, HttpFailure::Invalid(_)), "{url}");
    }
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_where_the_connection_is_made() {
    let site = Site::start(|_| page(200, "secret"));
    let names = Names::default();
    names.answer("inside.test", &["127.0.0.1"]);
    let failure = egress(&[], &names).send(get(site.url_as("inside.test", "/"))).await.unwrap_err();
    assert_eq!(address(failure), ("inside.test".to_owned(), site.port(), "127.0.0.1".parse().unwrap()));
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_told_as_such() {
    let failure = egress(&[], &Names::default()).send(get("http://nowhere.test/v1?key=1")).await.unwrap_err();
    assert_eq!(failure.to_string(), "cannot connect: the name nowhere.test cannot be resolved");
}

#[tokio::test]
async fn what_is_said_of_a_way_that_is_closed_or_dead_names_no_inner_address() {
    let names = Names::default();
    names.answer("inside.test", &["127.0.0.1"]);
    names.answer("deep.test", &["10.20.30.40", "fd00::77"]);
    let leads_on = Site::start(|seen| match seen.path() {
        "/deep" => site::redirect(302, "http://deep.test/"),
        _ => site::redirect(307, "http://inside.test:9/"),
    });
    let dead = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    // What is open is reached by its name as well.
    let open = [format!("127.0.0.1:{}", leads_on.port()), format!("inside.test:{dead}"), "inside.test:9".to_owned()];
    let client = egress(&open, &names);
    let asked = [
        (get("http://deep.test/"), "does not lead to a public address"),
        (get(leads_on.url("/deep")), "does not lead to a public address"),
        (get(format!("http://inside.test:{dead}/")), "cannot connect"),
        (get(leads_on.url("/dead")), "cannot connect"),
    ];
    for (request, says) in asked {
        let url = request.url.clone();
        let failure = client.send(request).await.unwrap_err();
        let chain = std::iter::successors(Some(&failure as &dyn std::error::Error), |error| error.source());
        let told: Vec<String> = chain.map(ToString::to_string).collect();
        let told = told.join(": ");
        assert!(told.contains(says), "{url}: {told}");
        for address in ["10.20.30.40", "fd00::77", "127.0.0.1"] {
            assert!(!told.contains(address), "{url}: {told}");
        }
    }
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_resolved_once_for_each_connection() {
    let site = Site::start(|_| page(200, "secret"));
    let names = Names::default();
    // Judged public at first (nobody has this address); whoever asked again before connecting would be led inside.
    names.answer("rebind.test", &["3000::7"]);
    names.answer("rebind.test", &["127.0.0.1"]);
    let egress = egress(&[], &names);
    let first = egress.send(get(site.url_as("rebind.test", "/"))).await.unwrap_err();
    assert!(matches!(first, HttpFailure::Connect(_)), "{first:?}");
    assert_eq!(names.asked(), 1);
    let second = egress.send(get(site.url_as("rebind.test", "/"))).await.unwrap_err();
    assert_eq!(address(second).2, "127.0.0.1".parse::<IpAddr>().unwrap());
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn of_a_mixed_answer_only_the_public_address_is_tried() {
    let site = Site::start(|_| page(200, "secret"));
    let names = Names::default();
    names.answer("mixed.test", &["127.0.0.1", "3000::7", "::1"]);
    let failure = egress(&[], &names).send(get(site.url_as("mixed.test", "/"))).await.unwrap_err();
    assert!(matches!(failure, HttpFailure::Connect(_)), "{failure:?}");
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn what_the_policy_opens_by_name_is_open_at_that_port_only() {
    let (site, other) = (Site::start(|_| page(200, "open")), Site::start(|_| page(200, "secret")));
    let names = Names::default();
    names.answer("nas.test", &["127.0.0.1"]);
    let egress = egress(&[format!("nas.test:{}", site.port())], &names);
    let answer = egress.send(get(site.url_as("NAS.test", "/"))).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, &b"open"[..]));
    address(egress.send(get(other.url_as("nas.test", "/"))).await.unwrap_err());
    address(egress.send(get(site.url("/"))).await.unwrap_err());
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_trusted_connection_is_not_lent_to_an_untrusted_request() {
    let site = Site::start(|_| page(200, "inside"));
    let names = Names::default();
    names.answer("pool.test", &["127.0.0.1"]);
    let egress = egress(&[], &names);
    for _ in 0..2 {
        assert_eq!(egress.send(trusted(site.url_as("pool.test", "/"))).await.unwrap().status, 200);
    }
    assert_eq!(site.connections(), 1, "the connection is kept");
    address(egress.send(get(site.url_as("pool.test", "/"))).await.unwrap_err());
    assert_eq!(site.seen().len(), 2);
}

#[tokio::test]
async fn trust_opens_addresses_and_nothing_else() {
    let failure = closed().send(trusted("file:///etc/passwd")).await.unwrap_err();
    assert!(matches!(failure, HttpFailure::Denied(EgressDenied::Scheme(_))));
    let failure = closed().send(trusted("http://a:b@127.0.0.1/")).await.unwrap_err();
    assert_eq!(failure, HttpFailure::Denied(EgressDenied::Credentials));
}

#[tokio::test]
async fn headers_of_the_connection_and_line_breaks_are_refused_without_showing_values() {
    let site = Site::start(|_| page(200, ""));
    let wrong = [
        ("Host", "other"),
        ("connection", "close"),
        ("Transfer-Encoding", "chunked"),
        ("content-length", "0"),
        ("Upgrade", "h2c"),
        ("te", "x"),
        ("Proxy-Authorization", "x"),
        ("x-a", "hunter2\r\nx-b: c"),
        ("x-a", "hunter2\nx"),
        ("x-a", "hunter2\0"),
        ("x a", "b"),
        ("x-a\r\nx-b", "c"),
        ("", "x"),
    ];
    for (name, value) in wrong {
        let headers = vec![(name.to_owned(), value.to_owned())];
        let failure = closed().send(HttpRequest { headers, ..trusted(site.url("/")) }).await.unwrap_err();
        let HttpFailure::Invalid(message) = failure else { panic!("{name}: {failure:?}") };
        assert!(!message.contains("hunter2"), "{message}");
    }
    for method in ["get", "CONNECT", "TRACE", "", "GET /x"] {
        let failure = closed().send(HttpRequest { method: method.to_owned(), ..trusted(site.url("/")) }).await;
        assert!(matches!(failure, Err(HttpFailure::Invalid(_))), "{method}");
    }
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_request_arrives_as_it_was_given() {
    let site = Site::start(|_| page(201, "made"));
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let headers = vec![("traceparent".to_owned(), traceparent.to_owned()), ("X-Name".to_owned(), "Zoë".to_owned())];
    let body = HttpBody::Json(json!({"b": 1, "a": [true]}));
    let request = HttpRequest { method: "POST".to_owned(), headers, body, ..trusted(site.url("/x?q=1")) };
    let answer = closed().send(request).await.unwrap();
    assert_eq!((answer.status, &answer.body[..]), (201, &b"made"[..]));
    assert!(answer.headers.contains(&("x-site".to_owned(), "Yes".to_owned())), "{:?}", answer.headers);

    let headers = vec![("Content-Type".to_owned(), "text/csv".to_owned())];
    let text = HttpBody::Text("a,b".to_owned());
    let request = HttpRequest { method: "PUT".to_owned(), headers, body: text.clone(), ..trusted(site.url("/y")) };
    closed().send(request).await.unwrap();
    closed().send(HttpRequest { method: "PATCH".to_owned(), body: text, ..trusted(site.url("/z")) }).await.unwrap();

    let seen = site.seen();
    assert_eq!(seen[0].line, "POST /x?q=1 HTTP/1.1");
    assert_eq!(seen[0].body, br#"{"b":1,"a":[true]}"#);
    assert_eq!(seen[0].header("content-type"), Some("application/json"));
    assert_eq!(seen[0].header("traceparent"), Some(traceparent));
    assert_eq!(seen[0].header("x-name"), Some("Zoë"));
    assert_eq!(seen[0].header("host"), Some(format!("127.0.0.1:{}", site.port()).as_str()));
    assert_eq!(seen[1].header("content-type"), Some("text/csv"));
    assert_eq!(seen[2].header("content-type"), Some("text/plain; charset=utf-8"));
}

#[tokio::test]
async fn no_connection_means_that_nothing_was_sent() {
    let refused = closed().send(trusted(format!("http://127.0.0.1:{}/", peer::closed_port()))).await.unwrap_err();
    assert!(matches!(refused, HttpFailure::Connect(_)), "{refused:?}");
    let unknown = closed().send(get("http://nowhere.test/?token=hunter2")).await.unwrap_err();
    assert!(matches!(&unknown, HttpFailure::Connect(why) if !why.contains("hunter2")), "{unknown:?}");
}

#[tokio::test]
async fn tls_is_checked_against_the_roots_and_the_name() {
    install_tls();
    install_tls();
    let site = Site::start_encrypted(|_| page(200, "encrypted"));
    let names = Names::default();
    for name in ["tls.test", "other.test"] {
        names.always(name, &["127.0.0.1"]);
    }
    let tls = Some(client_config(&[tls::authority()]).unwrap());
    let options = EgressOptions { lookup: names.lookup(), tls, ..EgressOptions::default() };
    let egress = Egress::with_options(EgressPolicy::default(), options).unwrap();
    let url = |name: &str| format!("https://{name}:{}/", site.port());
    assert_eq!(egress.send(trusted(url("tls.test"))).await.unwrap().body, "encrypted");
    assert_eq!(egress.send(trusted(url("127.0.0.1"))).await.unwrap().body, "encrypted");
    let wrong_name = egress.send(trusted(url("other.test"))).await.unwrap_err();
    assert!(matches!(wrong_name, HttpFailure::Connect(_)), "{wrong_name:?}");
    let stranger = closed().send(trusted(url("127.0.0.1"))).await.unwrap_err();
    assert!(matches!(stranger, HttpFailure::Connect(_)), "{stranger:?}");
}
