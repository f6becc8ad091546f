//! What lies in the database: never a value, and nothing that opens once it was touched.

use kybern_core::id::TenantId;
use serde_json::{Value, json};

use super::{VALUE, echo, holds, prepared, request, set};
use crate::server::client::text;
use crate::server::receiver::Receiver;
use crate::server::{Client, Site};

/// Every byte of every file of a folder.
fn bytes_of(folder: &std::path::Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            all.extend(bytes_of(&entry.path()));
        } else {
            all.extend(std::fs::read(entry.path()).unwrap());
        }
    }
    all
}

async fn fill(client: &Client, receiver: &Receiver) {
    let input = json!({"method": "POST", "url": receiver.url("/"), "auth": {"secret": "crm_token"},
        "headers": {"X-Token": {"secret": "crm_token"}}, "json": {"n": 1}});
    assert_eq!(request(client, input).await["status"], "success");
}

#[tokio::test]
async fn no_file_of_a_sqlite_server_holds_the_value() {
    let receiver = echo();
    let (site, mut server) = prepared(Site::sqlite(), &receiver).await;
    fill(&server.client(), &receiver).await;
    let text = String::from_utf8_lossy(&bytes_of(site.folder())).into_owned();
    assert!(text.contains("crm_token"), "the name is there");
    assert!(!holds(&text), "the value lies in a file while the server runs");
    server.terminate();
    server.ended().await;
    let backup = site.folder().join("out.kybern");
    let backed_up =
        site.command(&["backup", backup.to_str().unwrap(), "--database", &site.database()]).output().unwrap();
    assert!(backed_up.status.success(), "{}", String::from_utf8_lossy(&backed_up.stderr));
    assert!(!holds(&String::from_utf8_lossy(&bytes_of(site.folder()))), "the value lies in a file afterwards");
}

#[tokio::test]
async fn no_row_of_a_postgres_database_holds_the_value() {
    let Some(site) = Site::postgres() else { return };
    let receiver = echo();
    let (site, server) = prepared(site, &receiver).await;
    fill(&server.client(), &receiver).await;
    let tables = site.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    let mut named = false;
    for table in tables.into_iter().flatten() {
        let rows = site.rows(&format!("SELECT to_jsonb(t)::text FROM {table} t"));
        for row in rows.into_iter().flatten() {
            assert!(!holds(&row), "{table}: {row}");
            named |= row.contains("crm_token");
        }
    }
    assert!(named, "the rows were looked at");
}

/// What is done to the rows, and what the call then says.
const WAYS: &[(&str, &str)] = &[
    ("UPDATE secret SET sealed = 'AAAA' || substr(sealed, 5) WHERE name = 'crm_token'", "its row was edited"),
    ("UPDATE secret SET sealed = 'no base64!' WHERE name = 'crm_token'", "its row was edited"),
    // Whoever has the database and not the key would like to read it at a host of their own.
    ("UPDATE secret SET hosts = '{HOSTS}' WHERE name = 'crm_token'", "its row was edited"),
    ("UPDATE secret SET version = version + 1 WHERE name = 'crm_token'", "its row was edited"),
    (
        "UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE name = 'other') WHERE name = 'crm_token'",
        "its row was edited",
    ),
    ("UPDATE tenant_key SET wrapped = 'AAAA' || substr(wrapped, 5) WHERE tenant_id = {A}", "data key was edited"),
];

async fn whatever_is_touched_does_not_open(site: Site) {
    let receiver = echo();
    let (site, server) = prepared(site, &receiver).await;
    let client = server.client();
    set(&client, "other", "another-value", &receiver.url("")).await;
    let input = json!({"method": "GET", "url": receiver.url("/"), "auth": {"secret": "crm_token"},
        "effect": "read"});
    site.beneath("CREATE TABLE kept_secret AS SELECT * FROM secret; CREATE TABLE kept_key AS SELECT * FROM tenant_key");
    let ours = site.id(&TenantId::DEFAULT.to_string());
    let hosts = json!([receiver.url(""), "https://evil.example"]).to_string();
    for (statement, says) in WAYS {
        site.beneath(&statement.replace("{A}", &ours).replace("{HOSTS}", &hosts));
        let called = request(&client, input.clone()).await;
        assert_eq!(called["error"]["code"], "UNPROCESSABLE", "{statement}: {called}");
        let message = text(&called["error"]["message"]);
        assert!(message.contains("crm_token") && message.contains(says), "{statement}: {message}");
        site.beneath(
            "DELETE FROM secret; DELETE FROM tenant_key; INSERT INTO tenant_key SELECT * FROM kept_key; \
             INSERT INTO secret SELECT * FROM kept_secret",
        );
    }
    assert!(receiver.seen().is_empty(), "nothing was sent");
    assert_eq!(request(&client, input).await["status"], "success", "as it was, it opens");
    assert!(holds(receiver.seen()[0].header("authorization")) && !VALUE.is_empty());
}

#[tokio::test]
async fn whatever_is_touched_in_sqlite_does_not_open() {
    whatever_is_touched_does_not_open(Site::sqlite()).await;
}

#[tokio::test]
async fn whatever_is_touched_in_postgres_does_not_open() {
    let Some(site) = Site::postgres() else { return };
    whatever_is_touched_does_not_open(site).await;
}

#[tokio::test]
async fn under_another_master_key_a_secret_does_not_open_and_can_be_written_anew() {
    let receiver = echo();
    let (site, mut server) = prepared(Site::sqlite(), &receiver).await;
    server.terminate();
    server.ended().await;
    std::fs::remove_file(site.key_file()).unwrap();
    let database = site.database();
    let recovered = site.command(&["key", "recover", "--new-master-key", "--database", &database]).output().unwrap();
    assert!(recovered.status.success(), "{}", String::from_utf8_lossy(&recovered.stderr));
    let said = String::from_utf8(recovered.stdout).unwrap();
    let key = said.split_whitespace().find(|word| word.starts_with("kyb_")).unwrap().to_owned();
    let server = site.start();
    let client = server.client().with_key(&key);
    let input = json!({"method": "GET", "url": receiver.url("/"), "auth": {"secret": "crm_token"}});
    let called = request(&client, input.clone()).await;
    assert_eq!(called["error"]["code"], "UNPROCESSABLE", "{called}");
    assert!(text(&called["error"]["message"]).contains("another master key"), "{called}");
    let new = json!({"name": "crm_token", "value": VALUE, "hosts": [receiver.url("")]});
    let (status, refused): (_, Value) = client.send(&crate::server::client::Ask::json("/api/secrets", &new)).await;
    assert_eq!((status.as_u16(), refused["error"]["code"].as_str()), (422, Some("UNPROCESSABLE")), "{refused}");
    assert!(!holds(&refused.to_string()) && refused.to_string().contains("delete every secret"), "{refused}");
    let remove = crate::server::client::Ask {
        method: reqwest::Method::DELETE,
        ..crate::server::client::Ask::get("/api/secrets/crm_token")
    };
    assert_eq!(client.send(&remove).await.0.as_u16(), 204);
    client.post("/api/secrets", &new).await;
    assert_eq!(request(&client, input).await["status"], "success");
}
