//! Starts that fail, and what the doctor says before them: no key is lost, none comes back, and nothing is made by a
//! look.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use serde_json::Value;

use crate::server::client::{Ask, text};
use crate::server::postgres::Database;
use crate::server::{KEY, Server, Site};

/// 32 bytes.
const MASTER_KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";
/// Where nobody listens.
const NOWHERE: &str = "http://127.0.0.1:1";

/// Runs a verb on the site's database: exit code, output, errors.
fn run(site: &Site, args: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = site.command(args).args(["--database", &site.database()]).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// A start that ends by itself: exit code, output, errors.
fn start(site: &Site) -> (Option<i32>, String, String) {
    run(site, &["serve", "--listen", "127.0.0.1:0"])
}

fn doctor(site: &Site) -> (Option<i32>, String) {
    let (code, out, err) = run(site, &["doctor", "--url", NOWHERE]);
    (code, format!("{out}{err}"))
}

async fn stopped(mut server: Server) {
    server.terminate();
    server.ended().await;
}

/// Names a tenant that there is not.
const OF_NOBODY: &str = "[webhooks.forms]\nsecret_env = \"FORMS_SECRET\"\ntenant = \"nobody\"\n";

/// A place whose first start makes a key and fails afterwards: which tenants there are shows once a PostgreSQL database
/// is open. `None` when there is no server.
fn failing() -> Option<Site> {
    let site = Site::postgres()?.with("KYBERN_ADMIN_KEY", "").with("FORMS_SECRET", "a secret of the forms");
    site.file("kybern.toml", OF_NOBODY);
    Some(site)
}

#[test]
fn a_first_start_that_its_settings_end_makes_nothing() {
    let site = Site::sqlite().with("FORMS_SECRET", "a secret of the forms");
    let another = site.file("another", "#!/bin/sh\necho hello\n");
    fs::set_permissions(&another, fs::Permissions::from_mode(0o755)).unwrap();
    for (settings, key) in [
        (OF_NOBODY.to_owned(), "webhooks.forms.tenant = \"nobody\" is no tenant's name"),
        ("[models]\nfile = \"absent.json\"\n".to_owned(), "models.file"),
        ("[audit]\nhead_file = \"absent/heads.jsonl\"\n".to_owned(), "audit.head_file"),
        ("[audit]\nhead_file = \"another/heads.jsonl\"\n".to_owned(), "audit.head_file"),
        ("[audit]\nhead_file = \".\"\n".to_owned(), "audit.head_file"),
        (format!("[documents]\nocr = \"{}\"\n", another.display()), "documents.ocr"),
    ] {
        site.file("kybern.toml", &settings);
        let (code, _, err) = start(&site);
        assert!(code == Some(2) && err.contains(key), "{settings}{code:?} {err}");
        let there = fs::read_dir(site.folder()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut there: Vec<String> = there.map(|name| name.into_string().unwrap()).collect();
        there.sort();
        assert_eq!(there, ["another", "kybern.toml"], "{settings}");
    }
}

#[tokio::test]
async fn a_postgresql_database_whose_key_is_not_here_is_not_said_to_be_under_another() {
    let Some(site) = Site::postgres() else { return };
    stopped(site.start()).await;
    let key = site.folder().join("kybern.key");
    fs::remove_file(&key).unwrap();
    let (code, _, err) = run(&site, &["task", "list"]);
    assert!(code == Some(1) && err.contains("its master key kybern.key is not: bring the file back"), "{err}");
    assert!(!key.exists(), "none is made for it");
    let other =
        site.command(&["task", "list", "--database", &site.database()]).env("KYBERN_MASTER_KEY", MASTER_KEY).output();
    let err = String::from_utf8(other.unwrap().stderr).unwrap();
    assert!(err.contains("made under another master key"), "{err}");
}

async fn a_first_start_that_fails_does_not_cost_the_admin_key(site: Site) {
    let (code, out, err) = start(&site);
    assert_eq!(code, Some(2), "{out}{err}");
    assert!(err.contains("webhooks.forms.tenant = \"nobody\" is no tenant's name"), "{err}");
    let key = err.lines().find_map(|line| line.strip_prefix("admin key, shown this once: ")).unwrap().to_owned();
    let (code, _, err) = start(&site);
    assert!(code == Some(2) && !err.contains("kyb_"), "{err}");
    site.file("kybern.toml", "");
    let server = site.start();
    server.client().with_key(&key).get("/api/users").await;
}

/// A verb has made the schema of an empty file, and no tenant in it: what is in a file is known once it is open.
#[tokio::test]
async fn a_first_start_that_fails_does_not_cost_the_admin_key_on_sqlite() {
    let site = Site::sqlite().with("KYBERN_ADMIN_KEY", "").with("FORMS_SECRET", "a secret of the forms");
    site.file("kybern.db", "");
    run(&site, &["task", "list"]);
    assert_eq!(site.count("SELECT count(*) FROM tenant"), 0);
    site.file("kybern.toml", OF_NOBODY);
    a_first_start_that_fails_does_not_cost_the_admin_key(site).await;
}

#[tokio::test]
async fn a_first_start_that_fails_does_not_cost_the_admin_key_on_postgres() {
    let Some(site) = failing() else { return };
    a_first_start_that_fails_does_not_cost_the_admin_key(site).await;
}

/// The schema is committed by then, and the key under which it was made with it.
#[tokio::test]
async fn a_first_start_without_the_roles_of_a_server_is_mended_by_the_grant_that_it_asks_for() {
    let (Some(other), Some(database)) = (Site::postgres(), Database::create()) else { return };
    // The roles are there, and whoever has made them gives them to nobody unasked.
    stopped(other.start()).await;
    let database = database.owned_by_a_stranger();
    let site = Site::on(database);
    let (code, _, err) = start(&site);
    assert!(code == Some(1) && err.contains("GRANT kybern_app, kybern_worker TO"), "{code:?} {err}");
    assert!(site.key_file().exists(), "the database is under it");
    let (_, _, err) = start(&site);
    assert!(err.contains("GRANT kybern_app, kybern_worker TO") && !err.contains("its master key"), "{err}");
    site.grant_roles();
    site.start().client().get("/api/users").await;
}

#[test]
fn a_first_start_that_reaches_no_server_makes_no_key() {
    let Some(site) = Site::postgres() else { return };
    let away = site.command(&["serve", "--listen", "127.0.0.1:0", "--database", "postgres://u@127.0.0.1:1/k"]).output();
    let err = String::from_utf8(away.unwrap().stderr).unwrap();
    assert!(err.contains("start PostgreSQL") && !site.key_file().exists(), "{err}");
}

#[tokio::test]
async fn where_the_log_is_json_a_failing_first_start_writes_the_key_and_says_why_in_the_log() {
    let Some(site) = failing() else { return };
    let site = site.with("KYBERN_TELEMETRY__FORMAT", "json");
    let (code, out, err) = start(&site);
    assert_eq!(code, Some(2), "{out}{err}");
    let told: Value = serde_json::from_str(out.trim()).unwrap();
    assert!(err.contains("the server cannot run: webhooks.forms.tenant") && !err.contains("kyb_"), "{err}");
    site.file("kybern.toml", "");
    site.start().client().with_key(&text(&told["adminKey"])).get("/api/users").await;
}

async fn a_revoked_admin_key_ends_a_start_and_stays_revoked(site: Site) {
    let server = site.start();
    let id = text(&server.client().list("/api/keys").await[0]["id"]);
    let mut revoke = site.command(&["key", "revoke", &id, "--force", "--url", server.url()]);
    let Output { status, stderr, .. } = revoke.env("KYBERN_API_KEY", KEY).output().unwrap();
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    stopped(server).await;
    let keys = "SELECT CAST(count(*) AS TEXT), CAST(count(revoked_at) AS TEXT) FROM api_key";
    for _again in 0..2 {
        let (code, _, err) = start(&site);
        assert_eq!(code, Some(2), "{err}");
        for part in ["KYBERN_ADMIN_KEY", "was revoked", "unset it", " key recover"] {
            assert!(err.contains(part), "{part} is not in: {err}");
        }
        assert!(!err.contains(KEY), "{err}");
    }
    assert_eq!(site.rows(keys), [["1", "1"]]);
    let site = site.with("KYBERN_ADMIN_KEY", "");
    let server = site.start();
    let refused = server.client().raw(&Ask::get("/api/users")).await.unwrap();
    assert_eq!(refused.status(), 401);
    stopped(server).await;
    let (code, out, err) = run(&site, &["key", "recover"]);
    assert_eq!(code, Some(0), "{err}");
    let key = out.split_whitespace().find(|word| word.starts_with("kyb_")).unwrap().to_owned();
    site.start().client().with_key(&key).get("/api/users").await;
}

#[tokio::test]
async fn a_revoked_admin_key_ends_a_start_and_stays_revoked_on_sqlite() {
    a_revoked_admin_key_ends_a_start_and_stays_revoked(Site::sqlite()).await;
}

#[tokio::test]
async fn a_revoked_admin_key_ends_a_start_and_stays_revoked_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    a_revoked_admin_key_ends_a_start_and_stays_revoked(site).await;
}

#[tokio::test]
async fn what_only_a_start_finds_wrong_in_settings_ends_it_with_2_and_the_doctor_names_it() {
    let site = Site::sqlite();
    stopped(site.start()).await;
    let tesseract = site.file(
        "tesseract",
        "#!/bin/sh\ncase $1 in --version) echo 'tesseract 5.3.0' ;; *) echo List; echo eng ;; esac\n",
    );
    let another = site.file("another", "#!/bin/sh\necho hello\n");
    for program in [&tesseract, &another] {
        fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let another = format!("[documents]\nocr = \"{}\"\n", another.display());
    let ocr = format!("[documents]\nocr = \"{}\"\nocr_languages = [\"eng\", \"tlh\"]\n", tesseract.display());
    let smtp = "[smtp]\nhost = \"mail.example.com\"\n";
    let imap = "[imap]\nusername = \"u\"\npassword = \"p\"\ntls = \"none\"\n";
    let faulty = [
        (format!("{smtp}from = \"a@b.example\"\ntls = \"none\"\nusername = \"u\"\npassword = \"p\"\n"), "smtp.tls"),
        (format!("{smtp}from = \"Somebody <@b.example>\"\n"), "smtp.from"),
        (format!("{smtp}from = \"a@b.example\"\npassword = \"p\"\n"), "smtp.username"),
        (format!("{imap}host = \"mail.example.com\"\n"), "imap.tls"),
        (format!("{imap}host = \"localhost\"\ntenant = \"nobody\"\n"), "imap.tenant"),
        ("[models]\ndefault = \"nobody/small\"\n".to_owned(), "models.default"),
        ("[models]\nfallback = [\"nobody/small\"]\n".to_owned(), "models.fallback"),
        ("[models]\nembedding = \"nobody\"\n".to_owned(), "models.embedding"),
        ("[models]\nfile = \"absent.json\"\n".to_owned(), "models.file"),
        ("[providers.openai]\n".to_owned(), "providers.openai"),
        ("[audit]\nhead_file = \"absent/heads.jsonl\"\n".to_owned(), "audit.head_file"),
        ("[audit]\nhead_file = \".\"\n".to_owned(), "audit.head_file"),
        (ocr, "documents.ocr_languages"),
        (another, "documents.ocr"),
    ];
    for (settings, key) in faulty {
        site.file("kybern.toml", &settings);
        let (code, _, err) = start(&site);
        assert!(code == Some(2) && err.contains(key), "{settings}{code:?} {err}");
        assert!(!err.contains("ERROR"), "a start that fails has begun no work: {err}");
        let (code, said) = doctor(&site);
        assert!(code == Some(2) && said.contains(&format!("configuration: {key}")), "{settings}{code:?} {said}");
    }
    site.file("kybern.toml", "");
    stopped(site.start()).await;
}

#[test]
fn a_master_key_that_is_none_is_a_wrong_setting() {
    let site = Site::sqlite().with("KYBERN_MASTER_KEY", "no key");
    for said in [start(&site), run(&site, &["task", "submit", "a text"])] {
        let (code, _, err) = said;
        assert!(code == Some(2) && err.contains("KYBERN_MASTER_KEY: is not a key"), "{code:?} {err}");
        assert!(err.contains("openssl rand -base64 32") && !err.contains("no key"), "{err}");
    }
    let (code, said) = doctor(&site);
    assert!(code == Some(2) && said.contains("configuration: KYBERN_MASTER_KEY"), "{code:?} {said}");
}

#[test]
fn the_doctor_makes_no_database_of_an_empty_file() {
    let site = Site::sqlite();
    let file = site.file("kybern.db", "");
    let (_, said) = doctor(&site);
    assert!(said.contains("kybern.db: empty, the next start makes the schema"), "{said}");
    let site = site.with("KYBERN_MASTER_KEY", MASTER_KEY);
    let (_, said) = doctor(&site);
    assert!(said.contains("kybern.db: empty, the next start makes the schema"), "{said}");
    assert_eq!(fs::read(&file).unwrap(), b"");
    assert_eq!(fs::read_dir(site.folder()).unwrap().count(), 1);
}

/// As a start leaves one whose disk was full when it made the schema.
#[tokio::test]
async fn a_file_that_has_a_head_and_no_table_is_taken_as_empty() {
    let site = Site::sqlite();
    let file = site.folder().join("kybern.db");
    let conn = rusqlite::Connection::open(&file).unwrap();
    conn.query_row("PRAGMA journal_mode = WAL", [], |_row| Ok(())).unwrap();
    drop(conn);
    assert!(fs::metadata(&file).unwrap().len() > 0);
    let (_, said) = doctor(&site);
    assert!(said.contains("kybern.db: empty, the next start makes the schema"), "{said}");
    site.start().client().get("/api/users").await;
}

#[tokio::test]
async fn where_a_database_has_lost_its_key_the_doctor_says_what_the_start_says() {
    let site = Site::sqlite();
    let (_, said) = doctor(&site);
    assert!(said.contains("will be made at the first start"), "{said}");
    stopped(site.start()).await;
    fs::remove_file(site.key_file()).unwrap();
    let (code, _, refused) = start(&site);
    let (told, said) = doctor(&site);
    let remedy = format!(
        "bring the file back or set KYBERN_MASTER_KEY; when the key is lost for good, run `kybern --database {} key \
         recover --new-master-key`",
        site.database()
    );
    assert!(code == Some(1) && refused.contains(&remedy), "{refused}");
    assert!(told == Some(1) && said.contains(&format!("master key: {remedy}")), "{said}");
    assert!(!said.contains("will be made"), "{said}");
}

#[tokio::test]
async fn the_doctor_looks_at_the_database_that_is_named_whoever_has_the_address_of_the_settings() {
    let (site, other) = (Site::sqlite(), Site::sqlite());
    let server = site.start();
    stopped(other.start()).await;
    let listen = server.url().trim_start_matches("http://").to_owned();
    let other = other.with("KYBERN_SERVER__LISTEN", &listen);
    let (code, out, err) = run(&other, &["doctor"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("kybern.db: 0 tasks, 0 dead jobs") && out.contains("no server was asked"), "{out}");
    assert!(!out.contains("answers at"), "{out}");
    // One that is not named is looked for where the settings say.
    let unnamed = other.command(&["doctor"]).env("KYBERN_DATABASE__URL", other.database()).output().unwrap();
    let out = String::from_utf8(unnamed.stdout).unwrap();
    assert!(out.contains(&format!("answers at {}", server.url())), "{out}");
}

#[test]
fn the_doctor_makes_no_schema_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    let site = site.with("KYBERN_MASTER_KEY", MASTER_KEY);
    let (_, said) = doctor(&site);
    assert!(said.contains("empty, the next start makes the schema"), "{said}");
    let tables = site.rows("SELECT count(*)::text FROM information_schema.tables WHERE table_schema = 'public'");
    assert_eq!(tables, [["0"]], "{said}");
}

async fn the_doctor_says_how_old_a_database_is_and_leaves_it_so(site: Site) {
    stopped(site.start()).await;
    let (_, said) = doctor(&site);
    assert!(said.contains(": 0 tasks, 0 dead jobs") && said.contains("every row can be read"), "{said}");
    site.beneath("DELETE FROM schema_migration WHERE version > (SELECT max(version) - 2 FROM schema_migration)");
    let count = "SELECT CAST(count(*) AS TEXT) FROM schema_migration";
    let before = (site.rows(count), fs::read(site.folder().join("kybern.db")).ok());
    let (_, said) = doctor(&site);
    assert!(said.contains("an older version wrote it, the next start applies 2 migrations"), "{said}");
    assert!((site.rows(count), fs::read(site.folder().join("kybern.db")).ok()) == before, "{said}");
    site.beneath("UPDATE master_key SET proof = 'of another'");
    let (_, said) = doctor(&site);
    assert!(said.contains("made under another master key"), "{said}");
}

#[tokio::test]
async fn the_doctor_says_how_old_a_database_is_and_leaves_it_so_on_sqlite() {
    the_doctor_says_how_old_a_database_is_and_leaves_it_so(Site::sqlite()).await;
}

#[tokio::test]
async fn the_doctor_says_how_old_a_database_is_and_leaves_it_so_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    the_doctor_says_how_old_a_database_is_and_leaves_it_so(site).await;
}
