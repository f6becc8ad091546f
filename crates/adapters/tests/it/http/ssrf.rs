//! Everything that tries to lead the client inside: a list of forms, each asked for directly and as a redirect, with
//! listeners on loopback that must never see a connection.

use kybern_adapters::http::Egress;
use kybern_core::policy::EgressDenied;
use kybern_core::ports::{HttpBody, HttpClient as _, HttpFailure, HttpRequest};

use super::site::{Names, Site, page, redirect};
use super::{egress, get};

/// One form a line: how it is refused, and the URL, in which `{port}` is the listener's and `\t \n \x00` are escapes.
const FORMS: &str = include_str!("ssrf/forms.txt");

/// Every name leads inside, wherever it is in the list.
const INSIDE: [&str; 3] = ["127.0.0.1", "::1", "169.254.169.254"];

struct Form {
    expected: &'static str,
    url: String,
}

fn forms(port: u16) -> Vec<Form> {
    let form = |line: &'static str| {
        let (expected, url) = line.split_once(' ').unwrap();
        let url = url.replace("{port}", &port.to_string());
        let plain = [("\\t", "\t"), ("\\n", "\n"), ("\\x00", "\0"), ("\\x20", " "), ("\\x0b", "\x0b"), ("\\\\", "\\")];
        Form { expected, url: plain.iter().fold(url, |url, (from, to)| url.replace(from, to)) }
    };
    FORMS.lines().map(form).collect()
}

fn code(failure: &HttpFailure) -> &'static str {
    match failure {
        HttpFailure::Denied(EgressDenied::Address { .. }) => "closed",
        HttpFailure::Denied(EgressDenied::Scheme(_)) => "scheme",
        HttpFailure::Denied(EgressDenied::Credentials) => "credentials",
        HttpFailure::Denied(EgressDenied::NoHost) => "nohost",
        HttpFailure::Denied(EgressDenied::Host(_)) => "host",
        HttpFailure::Invalid(_) => "invalid",
        HttpFailure::Connect(_) => "connect",
        HttpFailure::NoAnswer(_) | HttpFailure::TimedOut(_) => "no answer",
        HttpFailure::TooLarge(_) => "too large",
    }
}

/// Names of which every one leads inside.
fn inside() -> Names {
    let names = Names::default();
    names.otherwise(&INSIDE);
    names
}

#[tokio::test]
async fn every_form_is_refused_with_its_code_and_nothing_is_reached() {
    let site = Site::start(|_| page(200, "secret"));
    let forms = forms(site.port());
    assert!(forms.len() >= 150, "{}", forms.len());
    let client = egress(&[], &inside());
    let mut wrong = Vec::new();
    for Form { expected, url } in &forms {
        match client.send(get(url.as_str())).await {
            Err(failure) if code(&failure) == *expected => {}
            other => wrong.push(format!("{expected} {url:?}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn every_form_is_refused_as_a_redirect_of_every_kind() {
    let site = Site::start(|_| page(200, "secret"));
    let mut wrong = Vec::new();
    let mut count = 0;
    let statuses = [301, 302, 303, 307, 308];
    for (n, Form { expected, url }) in forms(site.port()).into_iter().enumerate() {
        // A header holds no control characters; what is relative leads back to the site that is open.
        if url.chars().any(|c| c.is_control() || !c.is_ascii()) || expected == "invalid" || !url.contains(':') {
            continue;
        }
        count += 1;
        let location = url.clone();
        let outside = Site::start(move |seen| match seen.path() {
            "/" => redirect(statuses[n % 5], "/again"),
            _ => redirect(statuses[(n + 1) % 5], &location),
        });
        let client = egress(&[format!("127.0.0.1:{}", outside.port())], &inside());
        let failure = client.send(get(outside.url("/"))).await;
        // Without slashes it is relative to the site, whose scheme it has: then it leads to a path of it.
        let relative = ["http:1", "http:/1", "http:\\1"].iter().any(|start| url.starts_with(start));
        let refused = match &failure {
            Err(failure) if code(failure) == expected => true,
            Err(HttpFailure::NoAnswer(why)) => (relative && why.contains("redirects")) || why.contains("readable URL"),
            _ => false,
        };
        if !refused {
            wrong.push(format!("{expected} {url:?}: {failure:?}"));
        }
    }
    assert!(count >= 150, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_mind_gets_in_at_no_turn() {
    let site = Site::start(|_| page(200, "secret"));
    // Nobody has 3000::7: it is judged public, and reached by nothing.
    for turns in [vec!["3000::7", "127.0.0.1"], vec!["127.0.0.1", "3000::7"], vec!["3000::7", "::1", "10.0.0.1"]] {
        let names = Names::default();
        turns.iter().for_each(|address| names.answer("rebind.test", &[*address]));
        let client = egress(&[], &names);
        for turn in &turns {
            let failure = client.send(get(site.url_as("rebind.test", "/"))).await.unwrap_err();
            let expected = if *turn == "3000::7" { "connect" } else { "closed" };
            assert_eq!(code(&failure), expected, "{turns:?} {failure:?}");
        }
    }
    for mixed in [&["127.0.0.1", "3000::7"][..], &["3000::7", "127.0.0.1", "::1"], &["::ffff:127.0.0.1", "3000::7"]] {
        let names = Names::default();
        names.always("mixed.test", mixed);
        let failure = egress(&[], &names).send(get(site.url_as("mixed.test", "/"))).await.unwrap_err();
        assert_eq!(code(&failure), "connect", "{mixed:?} {failure:?}");
    }
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_a_name_that_changes_its_mind_gets_in_at_no_turn() {
    let site = Site::start(|_| page(200, "secret"));
    let location = site.url_as("rebind.test", "/");
    let outside = Site::start(move |_| redirect(302, &location));
    let names = Names::default();
    names.answer("rebind.test", &["3000::7"]);
    names.answer("rebind.test", &["127.0.0.1"]);
    let client = egress(&[format!("127.0.0.1:{}", outside.port())], &names);
    let first = client.send(get(outside.url("/"))).await.unwrap_err();
    assert_eq!(code(&first), "no answer", "{first:?}");
    let second = client.send(get(outside.url("/"))).await.unwrap_err();
    assert_eq!(code(&second), "closed", "{second:?}");
    assert_eq!(site.connections(), 0);
}

#[tokio::test]
async fn loops_and_long_chains_end() {
    let looping = Site::start(|seen| redirect(307, if seen.path() == "/a" { "/b" } else { "/a" }));
    let client = egress(&[format!("127.0.0.1:{}", looping.port())], &Names::default());
    let failure = client.send(get(looping.url("/a"))).await.unwrap_err();
    assert_eq!(code(&failure), "no answer", "{failure:?}");
    assert_eq!(looping.seen().len(), 6, "one request and five redirects");

    let itself = Site::start(|_| redirect(308, ""));
    let client = egress(&[format!("127.0.0.1:{}", itself.port())], &Names::default());
    assert_eq!(code(&client.send(get(itself.url("/"))).await.unwrap_err()), "no answer");
}

/// A chain of open sites of which the last leads inside.
#[tokio::test]
async fn a_chain_that_ends_inside_is_refused_at_its_end() {
    let inside = Site::start(|_| page(200, "secret"));
    let mut next = inside.url("/");
    let mut chain = Vec::new();
    for status in [301, 302, 303, 307] {
        let location = next.clone();
        let site = Site::start(move |_| redirect(status, &location));
        next = site.url("/");
        chain.push(site);
    }
    let allow: Vec<String> = chain.iter().map(|site| format!("127.0.0.1:{}", site.port())).collect();
    let failure = egress(&allow, &Names::default()).send(get(next)).await.unwrap_err();
    assert_eq!(code(&failure), "closed", "{failure:?}");
    assert!(chain.iter().all(|site| site.seen().len() == 1));
    assert_eq!(inside.connections(), 0);
}

async fn followed(client: &Egress, url: String, headers: &[(&str, &str)]) {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let request = HttpRequest { headers, body: HttpBody::Text("secret".to_owned()), ..get(url) };
    assert_eq!(client.send(request).await.unwrap().status, 200);
}

#[tokio::test]
async fn no_header_with_a_secret_goes_along_to_another_host_and_every_one_stays_on_its_own() {
    const SECRET: [&str; 10] = [
        "authorization",
        "cookie",
        "x-api-key",
        "api-key",
        "x-auth-token",
        "x-callback-secret",
        "idempotency-key",
        "webhook-signature",
        "x-amz-security-token",
        "x-anything",
    ];
    for status in [301, 302, 303, 307, 308] {
        let other = Site::start(|_| page(200, "ok"));
        let location = other.url("/there");
        let site = Site::start(move |seen| match seen.path() {
            "/" => redirect(status, "/two"),
            _ => redirect(status, &location),
        });
        let allow = [format!("127.0.0.1:{}", site.port()), format!("127.0.0.1:{}", other.port())];
        let headers: Vec<(&str, &str)> = SECRET.iter().map(|name| (*name, "v")).collect();
        followed(&egress(&allow, &Names::default()), site.url("/"), &headers).await;
        let (here, there) = (site.seen(), other.seen());
        for name in SECRET {
            assert_eq!(here[1].header(name), Some("v"), "{status} {name} stays on its own host");
            assert_eq!(there[0].header(name), None, "{status} {name}");
        }
        assert_eq!(there[0].body, b"", "{status}");
        assert_eq!(there[0].header("referer"), None, "{status}");
    }
}

#[tokio::test]
async fn the_host_header_is_that_of_the_url() {
    let site = Site::start(|_| page(200, "ok"));
    let client = egress(&[format!("127.0.0.1:{}", site.port())], &Names::default());
    for name in ["Host", "host", "HOST", ":authority"] {
        let headers = vec![(name.to_owned(), "169.254.169.254".to_owned())];
        let failure = client.send(HttpRequest { headers, ..get(site.url("/")) }).await.unwrap_err();
        assert_eq!(code(&failure), "invalid", "{name}");
    }
    for name in ["X-Forwarded-Host", "X-Original-URL", "Forwarded"] {
        followed(&client, site.url("/"), &[(name, "http://169.254.169.254/")]).await;
    }
    let own = format!("127.0.0.1:{}", site.port());
    assert!(site.seen().iter().all(|seen| seen.header("host") == Some(own.as_str())));
}
