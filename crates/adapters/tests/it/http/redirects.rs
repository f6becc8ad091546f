//! Redirects: followed by hand, each judged anew.

use kybern_core::policy::EgressDenied;
use kybern_core::ports::{HttpBody, HttpClient as _, HttpFailure, HttpRequest};

use super::site::{Names, Site, page, redirect};
use super::{address, closed, egress, get, trusted};

#[tokio::test]
async fn a_redirect_inside_is_refused_however_it_is_written() {
    let inside = Site::start(|_| page(200, "secret"));
    let port = inside.port();
    for host in ["127.0.0.1", "2130706433", "[::1]", "localhost", "[::ffff:127.0.0.1]"] {
        let location = format!("http://{host}:{port}/");
        let outside = Site::start(move |_| redirect(302, &location));
        let names = Names::default();
        names.answer("localhost", &["127.0.0.1"]);
        let egress = egress(&[format!("127.0.0.1:{}", outside.port())], &names);
        address(egress.send(get(outside.url("/"))).await.unwrap_err());
        assert_eq!(outside.seen().len(), 1, "{host}");
    }
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn a_redirect_to_another_scheme_or_with_credentials_is_refused() {
    for location in ["file:///etc/passwd", "ftp://example.com/", "javascript:alert(1)"] {
        let site = Site::start(move |_| redirect(301, location));
        let failure = closed().send(trusted(site.url("/"))).await.unwrap_err();
        assert!(matches!(failure, HttpFailure::Denied(EgressDenied::Scheme(_))), "{location}: {failure:?}");
    }
    let site = Site::start(|_| redirect(301, "http://a:b@example.com/"));
    let failure = closed().send(trusted(site.url("/"))).await.unwrap_err();
    assert_eq!(failure, HttpFailure::Denied(EgressDenied::Credentials));
}

#[tokio::test]
async fn a_trusted_endpoint_cannot_pass_its_trust_on() {
    let inside = Site::start(|_| page(200, "secret"));
    let location = inside.url("/");
    let site = Site::start(move |_| redirect(307, &location));
    address(closed().send(trusted(site.url("/"))).await.unwrap_err());
    assert_eq!(inside.connections(), 0);
}

#[tokio::test]
async fn five_redirects_are_followed_and_the_sixth_is_not() {
    let site = Site::start(|seen| match seen.path()[1..].parse::<u32>().unwrap() {
        0 => page(200, "there"),
        left => redirect(302, &format!("/{}", left - 1)),
    });
    assert_eq!(closed().send(trusted(site.url("/5"))).await.unwrap().body, "there");
    let failure = closed().send(trusted(site.url("/6"))).await.unwrap_err();
    assert!(matches!(&failure, HttpFailure::NoAnswer(why) if why.contains("redirects")), "{failure:?}");
}

#[tokio::test]
async fn only_get_and_head_follow() {
    let site = Site::start(|seen| if seen.path() == "/" { redirect(307, "/next") } else { page(200, "") });
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let request = HttpRequest { method: method.to_owned(), ..trusted(site.url("/")) };
        let answer = closed().send(request).await.unwrap();
        assert_eq!(answer.status, 307, "{method}");
        assert!(answer.headers.contains(&("location".to_owned(), "/next".to_owned())));
    }
    for method in ["GET", "HEAD"] {
        let request = HttpRequest { method: method.to_owned(), ..trusted(site.url("/")) };
        assert_eq!(closed().send(request).await.unwrap().status, 200, "{method}");
    }
}

#[tokio::test]
async fn another_host_gets_no_secrets() {
    let other = Site::start(|_| page(200, "ok"));
    let location = other.url("/there");
    let site =
        Site::start(move |seen| if seen.path() == "/" { redirect(302, "/two") } else { redirect(307, &location) });
    let allow = [format!("127.0.0.1:{}", site.port()), format!("127.0.0.1:{}", other.port())];
    let headers = ["Authorization", "Cookie", "X-Api-Key", "traceparent"].map(|name| (name.to_owned(), "v".to_owned()));
    let request =
        HttpRequest { headers: headers.to_vec(), body: HttpBody::Text("secret".to_owned()), ..get(site.url("/")) };
    assert_eq!(egress(&allow, &Names::default()).send(request).await.unwrap().body, "ok");
    let (here, there) = (site.seen(), other.seen());
    assert_eq!(here[1].header("authorization"), Some("v"), "the same host keeps them");
    for name in ["authorization", "cookie", "x-api-key"] {
        assert_eq!(there[0].header(name), None, "{name}");
    }
    assert_eq!(there[0].header("traceparent"), Some("v"));
    assert_eq!(there[0].body, b"");
}

#[tokio::test]
async fn a_redirect_to_nowhere_may_have_been_sent() {
    let dead = crate::peer::closed_port();
    let site = Site::start(move |_| redirect(302, &format!("http://127.0.0.1:{dead}/")));
    let allow = [format!("127.0.0.1:{}", site.port()), format!("127.0.0.1:{dead}")];
    let failure = egress(&allow, &Names::default()).send(get(site.url("/"))).await.unwrap_err();
    assert!(matches!(failure, HttpFailure::NoAnswer(_)), "{failure:?}");
}

#[tokio::test]
async fn a_redirect_without_a_target_is_an_answer() {
    let site = Site::start(|_| page(302, "no location"));
    assert_eq!(closed().send(trusted(site.url("/"))).await.unwrap().body, "no location");
}
