//! Schemathesis asks a real server what the OpenAPI document lets a caller ask, and what it forbids: every answer is
//! documented and shaped as the document says, none is a fault of the server, and what the document forbids is refused.
//!
//! How it asks stands in `contract/schemathesis.toml`. By hand, longer and with other draws:
//! `KYBERN_TEST_SCHEMATHESIS_ARGS="--max-examples 300 --seed 7"`.

use std::path::Path;
use std::process::Command;

use crate::clients::found;
use crate::routes::receiver;
use crate::server::client::text;
use crate::server::{KEY, Site};

#[tokio::test]
async fn schemathesis_finds_nothing_in_any_route() {
    let Some(program) = found("KYBERN_TEST_SCHEMATHESIS") else { return };
    let receiver = receiver();
    let site = Site::sqlite()
        // Among what it draws are wrong keys.
        .with("KYBERN_SERVER__WRONG_KEYS_PER_MINUTE", "0")
        .with("KYBERN_EGRESS__ALLOW", &format!("[\"{}\"]", receiver.address()))
        .with("KYBERN_WORKFLOWS__QUOTE__URL", &receiver.url("/quote"))
        .with("KYBERN_PROVIDERS__FAKE__KIND", "custom")
        .with("KYBERN_PROVIDERS__FAKE__BASE_URL", &receiver.url("/v1"));
    let server = site.start();
    let asks = &server.client().list("/api/keys").await[0];
    let own = format!("{},{}", text(&asks["id"]), text(&asks["userId"]));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/contract");
    let mut run = Command::new(program);
    run.arg("--config-file").arg(folder.join("schemathesis.toml")).args(["run", "--no-color"]);
    run.arg(format!("{}/openapi.json", server.url())).args(["--header", &format!("Authorization: Bearer {KEY}")]);
    run.args(std::env::var("KYBERN_TEST_SCHEMATHESIS_ARGS").unwrap_or_default().split_whitespace());
    run.current_dir(site.folder()).env("PYTHONDONTWRITEBYTECODE", "1").env("NO_PROXY", "*");
    run.env("SCHEMATHESIS_HOOKS", folder.join("hooks.py")).env("KYBERN_TEST_OWN_IDS", own);
    let output = run.output().unwrap();
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    eprintln!("{said}\n{errors}");
    assert!(output.status.success(), "schemathesis has found something, see above: {}", output.status);
    assert!(said.contains("No issues found"), "schemathesis has not come to its end, see above");
    // A key that is lost on the way gets 401 and 403 from everything, and those are documented.
    server.client().get("/api/admin/tenants").await;
}
