//! `kybern secret`: the value comes in by a pipe, a file or a variable, and nowhere else.

use std::io::Write as _;
use std::process::{Output, Stdio};

use serde_json::json;

use super::{echo, request};
use crate::server::{KEY, Server, Site};

fn run(site: &Site, server: &Server, args: &[&str], piped: &[u8], env: &[(&str, &str)]) -> Output {
    let mut command = site.command(&[&["secret"], args].concat());
    command.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).envs(env.iter().copied());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A verb that does not read its input may have ended already.
    drop(child.stdin.take().unwrap().write_all(piped));
    child.wait_with_output().unwrap()
}

#[tokio::test]
async fn a_value_is_piped_or_read_and_never_an_argument() {
    let receiver = echo();
    let site = Site::sqlite().with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()));
    let server = site.start();
    let host = receiver.url("");
    let sent = async || {
        let input = json!({"method": "GET", "url": receiver.url("/"), "auth": {"secret": "crm_token"}});
        assert_eq!(request(&server.client(), input).await["status"], "success");
        receiver.seen().pop().unwrap().header("authorization").to_owned()
    };
    let set = ["set", "crm_token", "--host", &host];
    let done = run(&site, &server, &set, b"piped-value\n", &[]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "secret crm_token is set, version 1\n", "{done:?}");
    assert_eq!(sent().await, "Bearer piped-value", "without the line end");
    let file = site.file("token", "filed-value\r\n");
    let done = run(&site, &server, &[&set[..], &["--from-file", file.to_str().unwrap()]].concat(), b"", &[]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(sent().await, "Bearer filed-value");
    let from_env = [&set[..], &["--from-env", "CRM_TOKEN", "--json"]].concat();
    let done = run(&site, &server, &from_env, b"", &[("CRM_TOKEN", "env-example-value")]);
    assert!(done.status.success() && !String::from_utf8_lossy(&done.stdout).contains("env-example"), "{done:?}");
    assert_eq!(sent().await, "Bearer env-example-value");
    let list = run(&site, &server, &["list"], b"", &[]);
    let out = String::from_utf8(list.stdout).unwrap();
    assert!(out.contains("crm_token") && out.contains(&host) && !out.contains("value"), "{out}");
    for (args, piped, says) in [
        (vec!["set", "crm_token", "example-value", "--host", &host], &b""[..], "unexpected argument"),
        (vec!["set", "crm_token"], b"", "--host"),
        (vec!["set", "Crm", "--host", &host], b"", "small letter"),
        (set.to_vec(), b"short", "at least 8 bytes"),
        (set.to_vec(), b"\xff\xff\xff\xff\xff\xff\xff\xff", "UTF-8"),
        (vec!["set", "crm_token", "--host", "*.com"], b"example-value", "is no host"),
        ([&set[..], &["--from-env", "NOT_SET"]].concat(), b"", "NOT_SET"),
    ] {
        let refused = run(&site, &server, &args, piped, &[]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success(), "{args:?}");
        assert!(said.contains(says) || says == "is no host" && said.contains("too much"), "{args:?}: {said}");
        assert!(args.len() > 4 || !said.contains("example-value"), "{args:?}: {said}");
    }
    assert!(run(&site, &server, &["delete", "crm_token"], b"", &[]).status.success());
    assert!(server.client().list("/api/secrets").await.is_empty());
}
