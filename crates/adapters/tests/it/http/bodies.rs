//! Answers that are slow, cut off, too large, or larger than they look.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use kybern_core::ports::{HttpClient as _, HttpFailure, HttpRequest};
use kybern_core::time::Millis;

use super::site::{Answer, Site, Then, page, with_headers};
use super::{closed, trusted};

fn raw(bytes: &[u8], then: Then) -> Answer {
    Answer { bytes: bytes.to_vec(), then }
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_body_at_the_limit_passes_and_one_byte_more_does_not() {
    let site = Site::start(|seen| page(200, &"x".repeat(seen.path()[1..].parse().unwrap())));
    let send = async |size: usize| {
        closed().send(HttpRequest { max_bytes: 1000, ..trusted(site.url(&format!("/{size}"))) }).await
    };
    assert_eq!(send(1000).await.unwrap().body.len(), 1000);
    assert_eq!(send(1001).await.unwrap_err(), HttpFailure::TooLarge(1000));
    assert_eq!(send(0).await.unwrap().body.len(), 0);
}

#[tokio::test]
async fn a_body_that_does_not_say_its_size_is_cut_while_it_streams() {
    // It would never end, so only the limit can end it.
    let chunk = [b"400\r\n".as_slice(), &[b'x'; 1024], b"\r\n"].concat();
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".as_slice();
    let bytes = [head, &chunk.repeat(64)].concat();
    let site = Site::start(move |_| raw(&bytes, Then::Stall));
    let failure = closed().send(HttpRequest { max_bytes: 10_000, ..trusted(site.url("/")) }).await.unwrap_err();
    assert_eq!(failure, HttpFailure::TooLarge(10_000));
}

#[tokio::test]
async fn a_gzip_bomb_is_cut_after_decompression() {
    let bomb = gzip(&vec![0; 64 << 20]);
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    let site = Site::start(move |_| with_headers(200, &[("Content-Encoding", "gzip")], &bomb));
    let failure = closed().send(HttpRequest { max_bytes: 1 << 20, ..trusted(site.url("/")) }).await.unwrap_err();
    assert_eq!(failure, HttpFailure::TooLarge(1 << 20));
}

#[tokio::test]
async fn honest_gzip_is_unpacked() {
    let packed = gzip(&b"kybern ".repeat(1000));
    let site = Site::start(move |_| with_headers(200, &[("Content-Encoding", "gzip")], &packed));
    let answer = closed().send(trusted(site.url("/"))).await.unwrap();
    assert_eq!(answer.body, b"kybern ".repeat(1000));
    assert!(!answer.headers.iter().any(|(name, _)| name == "content-encoding"));
}

#[tokio::test]
async fn broken_gzip_is_no_answer() {
    let site = Site::start(|_| with_headers(200, &[("Content-Encoding", "gzip")], b"not gzip at all"));
    let failure = closed().send(trusted(site.url("/"))).await.unwrap_err();
    assert!(matches!(failure, HttpFailure::NoAnswer(_)), "{failure:?}");
}

#[tokio::test]
async fn an_answer_that_stalls_ends_at_the_time_limit() {
    let nothing = Site::start(|_| raw(b"", Then::Stall));
    let half = Site::start(|_| raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Then::Stall));
    for site in [nothing, half] {
        let request = HttpRequest { timeout: Millis(300), ..trusted(site.url("/")) };
        let failure = closed().send(request).await.unwrap_err();
        assert_eq!(failure, HttpFailure::TimedOut(Millis(300)));
        assert_eq!(site.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_connection_that_is_lost_after_the_request_is_no_answer() {
    let silent = Site::start(|_| raw(b"", Then::Close));
    let half = Site::start(|_| raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", Then::Close));
    let noise = Site::start(|_| raw(b"SSH-2.0-OpenSSH\r\n", Then::Close));
    for site in [silent, half, noise] {
        let request = HttpRequest { method: "POST".to_owned(), ..trusted(site.url("/?token=hunter2")) };
        let failure = closed().send(request).await.unwrap_err();
        assert!(matches!(&failure, HttpFailure::NoAnswer(why) if !why.contains("hunter2")), "{failure:?}");
        assert_eq!(site.seen().len(), 1, "a POST is sent once");
    }
}
