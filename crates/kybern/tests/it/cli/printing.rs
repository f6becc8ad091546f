//! What is printed, arrives or is an error; and commands that are printed can be pasted.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::server::{Answer, KEY, Server, envelope, kybern};

const ID: &str = "01920000-0000-7000-8000-000000000001";

fn scripted() -> Server {
    Server::start(|seen| {
        Some(match (seen.method.as_str(), seen.path.as_str()) {
            ("POST", "/api/keys") => Answer::Json(201, json!({"id": ID, "key": "kyb_secret"})),
            ("POST", "/api/webhooks/outbound") => Answer::Json(201, json!({"id": ID, "secret": "whsec_secret"})),
            ("POST", "/api/admin/tenants") => Answer::Json(201, json!({"id": ID, "slug": "acme", "adminKey": "kyb_x"})),
            ("POST", "/api/tasks") => Answer::Json(202, json!({"id": ID, "status": "pending"})),
            ("GET", "/api/audit/head") => Answer::Json(200, json!({"seq": 1, "hash": "h"})),
            ("GET", "/api/tasks") => Answer::Json(200, json!({"items": [], "nextCursor": null})),
            _other => return None,
        })
    })
}

/// Runs the command line with a standard output that takes nothing: the exit code, and what it says of that.
fn into_the_full(server: &Server, args: &[&str]) -> (i32, String) {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kybern"));
    command.args(args).current_dir(server.folder()).env_clear().stdin(Stdio::null()).stdout(full);
    let output = command.env("KYBERN_URL", server.url()).env("KYBERN_API_KEY", KEY).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn what_cannot_be_printed_is_an_error() {
    let server = scripted();
    for args in [
        &["--help"] as &[&str],
        &["--version"],
        &["completion", "bash"],
        &["task", "list"],
        &["task", "list", "--json"],
        &["audit", "head", "--json"],
    ] {
        let (code, err) = into_the_full(&server, args);
        assert!(code == 1 && err.contains("the output could not be written"), "{args:?}: {code} {err}");
    }
}

#[test]
fn a_secret_that_cannot_be_printed_names_what_to_revoke() {
    let server = scripted();
    let lost = [
        (&["key", "create", "--name", "n"] as &[&str], format!("kybern key revoke {ID}")),
        (&["key", "create", "--name", "n", "--json"], format!("kybern key revoke {ID}")),
        (&["webhook", "create", "https://example.com/x"], format!("kybern webhook delete {ID}")),
        (&["tenant", "create", "Acme"], format!("{ID} (acme) was made")),
    ];
    for (args, says) in lost {
        let (code, err) = into_the_full(&server, args);
        assert!(code == 1 && err.contains(&says), "{args:?}: {code} {err}");
        assert!(!err.contains("kyb_") && !err.contains("whsec_"), "{args:?}: {err}");
    }
}

/// Runs the command line with a standard error that takes nothing, and a standard output that does where `out` says so.
fn with_errors_full(folder: &std::path::Path, args: &[&str], out: bool) -> (Option<i32>, String) {
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kybern"));
    command.args(args).current_dir(folder).env_clear().stdin(Stdio::null()).stderr(full());
    command.stdout(if out { Stdio::piped() } else { Stdio::from(full()) });
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_note_that_cannot_be_written_ends_nothing_and_a_key_does() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out) = with_errors_full(folder.path(), &["task", "list"], true);
    assert!(code == Some(0) && out.contains("no tasks"), "{code:?} {out}");
    assert_eq!(with_errors_full(folder.path(), &["task", "list"], false).0, Some(1));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database", "sqlite:a.db"];
    assert_eq!(with_errors_full(folder.path(), &serve, true).0, Some(1), "its first key is lost");
    let submit = ["task", "submit", "a text", "--database", "sqlite:b.db"];
    assert_eq!(with_errors_full(folder.path(), &submit, true).0, Some(1));
    // Nobody else has the database that the failed start has made.
    let recovered = kybern(folder.path(), &["key", "recover", "--database", "sqlite:a.db"], &[]);
    assert!(recovered.code == 0 && recovered.out.contains("kyb_"), "{}", recovered.err);
}

#[test]
fn where_the_log_is_json_a_lost_key_is_told_once_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kybern"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--database", "sqlite:a.db"]).current_dir(folder.path());
    command.env_clear().env("KYBERN_TELEMETRY__FORMAT", "json").stdin(Stdio::null()).stdout(full);
    let output = command.output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    let lost = err.lines().find(|line| line.contains("the server cannot run")).unwrap();
    assert!(lost.contains("key recover"), "{err}");
    assert!(err.lines().all(|line| line.starts_with('{')), "all of it is the log: {err}");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let server = scripted();
    let line = format!("{} --help | true", env!("CARGO_BIN_EXE_kybern"));
    let mut shell = Command::new("bash");
    let run = shell.args(["-o", "pipefail", "-c", &line]).current_dir(server.folder()).output().unwrap();
    assert!(run.status.success() && run.stderr.is_empty(), "{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn with_json_an_error_is_json_too() {
    let refusing = Server::start(|_| {
        let details = json!([{"path": "/limit", "message": "is too large"}]);
        Some(envelope(400, "VALIDATION_ERROR", "limit is too large", details))
    });
    let error = |args: &[&str]| -> (i32, Value) {
        let run = refusing.run(args);
        let told: Value = serde_json::from_str(&run.err).unwrap_or_else(|_| panic!("{args:?}: {}", run.err));
        (run.code, told["error"].clone())
    };
    let (code, told) = error(&["task", "list", "--json"]);
    assert!(code == 1 && told["code"] == "VALIDATION_ERROR" && told["requestId"] == "req-1", "{told}");
    assert_eq!(told["details"][0]["path"], "/limit");
    let (code, told) = error(&["task", "list", "--json", "--no-such-flag"]);
    assert!(code == 2 && told["message"].as_str().unwrap().starts_with("unexpected argument"), "{told}");
    let (code, told) = error(&["task", "submit", "--json", "missing.eml"]);
    assert!(code == 2 && told["remedy"].as_str().unwrap().contains("name an e-mail"), "{told}");
}

#[test]
fn a_printed_command_reaches_the_same_server() {
    let server = scripted();
    let url = server.url();
    let run = kybern(server.folder(), &["--url", &url, "task", "submit", "a text"], &[("KYBERN_API_KEY", KEY)]);
    assert!(run.out.contains(&format!("kybern --url {url} task watch {ID}")), "{}", run.out);
    let run = kybern(server.folder(), &["--url", &url, "task", "list"], &[("KYBERN_API_KEY", KEY)]);
    assert!(run.out.contains(&format!("kybern --url {url} task submit FILE.eml")), "{}", run.out);
    let run = server.run(&["task", "submit", "a text"]);
    assert!(run.out.contains(&format!("next: kybern task watch {ID}")), "{}", run.out);
    std::fs::write(server.folder().join("my settings.toml"), "").unwrap();
    let args = ["--config", "my settings.toml", "--url", "http://127.0.0.1:1", "task", "list"];
    let run = kybern(server.folder(), &args, &[]);
    // What is started here is not started at a URL.
    assert!(run.err.contains("start it with \"kybern --config 'my settings.toml' serve\""), "{}", run.err);
}

#[test]
fn a_printed_command_reaches_the_same_postgres_database_and_has_no_password() {
    let folder = tempfile::tempdir().unwrap();
    let url = "postgres://app:secret@127.0.0.1:1/kybern?sslmode=disable&password=hidden&application_name=a";
    let shown = "'postgres://app@127.0.0.1:1/kybern?sslmode=disable&application_name=a'";
    let run = kybern(folder.path(), &["--database", url, "doctor", "--url", "http://127.0.0.1:1"], &[]);
    assert!(run.out.contains(&format!("kybern --database {shown} serve")), "{}{}", run.out, run.err);
    assert!(!run.out.contains("secret") && !run.out.contains("hidden"), "{}", run.out);
}

/// What a client makes of the user in a URL takes the place of the key.
#[test]
fn a_url_with_a_user_is_refused_and_says_to_use_the_key() {
    let server = scripted();
    let url = server.url().replace("http://", "http://app:secret@");
    let ways = [
        kybern(server.folder(), &["--url", &url, "task", "list"], &[("KYBERN_API_KEY", KEY)]),
        kybern(server.folder(), &["task", "list", "--json"], &[("KYBERN_API_KEY", KEY), ("KYBERN_URL", &url)]),
        kybern(server.folder(), &["--url", &url, "doctor"], &[("KYBERN_API_KEY", KEY)]),
    ];
    for run in ways {
        let said = format!("{}{}", run.out, run.err);
        assert_eq!(run.code, 2, "{said}");
        assert!(said.contains("KYBERN_API_KEY") && said.contains("USER:PASSWORD@"), "{said}");
        assert!(!said.contains("secret"), "{said}");
    }
    assert!(server.seen("GET", "/api/tasks").is_empty());
}

#[test]
fn where_nothing_is_set_or_it_is_wrong_the_remedy_is_one_for_a_command_line() {
    let closed = Server::start(|_| {
        Some(envelope(401, "UNAUTHENTICATED", "send the header Authorization: Bearer <api key>", json!([])))
    });
    let run = kybern(closed.folder(), &["task", "list"], &[("KYBERN_URL", &closed.url())]);
    assert!(
        run.code == 1 && run.err.contains("no API key is set") && run.err.contains("KYBERN_API_KEY"),
        "{}",
        run.err
    );
    for args in [&["task", "list"], &["doctor", "--json"]] {
        let run = kybern(closed.folder(), args, &[("KYBERN_URL", "127.0.0.1:22001")]);
        assert_eq!(run.code, 2, "{args:?}: {}{}", run.out, run.err);
    }
    let folder = format!("sqlite:{}", closed.folder().display());
    let run = kybern(closed.folder(), &["--database", &folder, "task", "list"], &[]);
    assert!(run.code == 2 && run.err.contains("names the folder"), "{}", run.err);
    std::fs::write(closed.folder().join("notes.txt"), "no database").unwrap();
    let run = kybern(closed.folder(), &["--database", "sqlite:notes.txt", "task", "list"], &[]);
    assert!(run.code == 1 && run.err.contains("no Kybern database") && !run.err.contains("key recover"), "{}", run.err);
}
