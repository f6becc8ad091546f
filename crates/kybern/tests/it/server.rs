//! A real server: the binary as a process of its own, on a database of its own, over real HTTP.

pub(crate) mod client;
pub(crate) mod inside;
pub(crate) mod postgres;
pub(crate) mod provider;
pub(crate) mod receiver;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub(crate) use client::Client;

use self::postgres::{Database, Transaction};

/// The admin key of every server.
pub(crate) const KEY: &str = "kyb_0123456789abcdef0123456789abcdef";
/// How long a condition may take to come true before the test gives up; nothing waits this long when all is well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A place for a server: a folder, a database, settings. It outlives the processes that are started on it.
pub(crate) struct Site {
    folder: tempfile::TempDir,
    postgres: Option<Database>,
    env: Vec<(String, String)>,
}

impl Site {
    /// A SQLite file in a folder of its own.
    pub(crate) fn sqlite() -> Self {
        let site = Self { folder: tempfile::tempdir().unwrap(), postgres: None, env: Vec::new() };
        site.with("KYBERN_ADMIN_KEY", KEY)
    }

    /// A database of its own on the test server, with leases that end soon; `None` when there is no server.
    pub(crate) fn postgres() -> Option<Self> {
        Database::create().map(Self::on)
    }

    /// That database, with leases that end soon.
    pub(crate) fn on(database: Database) -> Self {
        let site = Self { postgres: Some(database), ..Self::sqlite() };
        let leases = site.with("KYBERN_WORKER__LEASE_MS", "1000").with("KYBERN_WORKER__HEARTBEAT_MS", "300");
        leases.with("KYBERN_WORKER__POLL_MS", "100")
    }

    /// The same place with one more variable in the environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What `--database` takes.
    pub(crate) fn database(&self) -> String {
        match &self.postgres {
            Some(database) => database.url(),
            None => format!("sqlite:{}", self.folder.path().join("kybern.db").display()),
        }
    }

    /// Lets the owner of its PostgreSQL database be the roles of other databases.
    pub(crate) fn grant_roles(&self) {
        self.postgres.as_ref().unwrap().grant_roles();
    }

    /// What a statement finds in its database, each value as text; ids are what the database makes of them.
    pub(crate) fn rows(&self, statement: &str) -> Vec<Vec<String>> {
        let Some(database) = &self.postgres else {
            let conn = rusqlite::Connection::open(self.folder().join("kybern.db")).unwrap();
            conn.busy_timeout(PATIENCE).unwrap();
            let mut found = conn.prepare(statement).unwrap();
            let columns = found.column_count();
            let text = |value: rusqlite::types::Value| match value {
                rusqlite::types::Value::Null => String::new(),
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => format!("{other:?}"),
            };
            let rows = found.query_map([], |row| (0..columns).map(|at| row.get(at).map(text)).collect());
            return rows.unwrap().collect::<Result<_, _>>().unwrap();
        };
        database.rows(statement)
    }

    /// A number that a statement finds.
    pub(crate) fn count(&self, statement: &str) -> u64 {
        self.rows(statement)[0][0].parse().unwrap()
    }

    /// Runs statements by a connection of their own, beneath whatever server there is on its database.
    pub(crate) fn beneath(&self, statements: &str) {
        let Some(database) = &self.postgres else {
            let conn = rusqlite::Connection::open(self.folder().join("kybern.db")).unwrap();
            conn.busy_timeout(PATIENCE).unwrap();
            conn.execute_batch(&format!("BEGIN IMMEDIATE; {statements}; COMMIT")).unwrap();
            return;
        };
        database.rows(statements);
    }

    /// Keeps every journal of its database from being written until this is dropped.
    pub(crate) fn locked(&self) -> Locked {
        let Some(database) = &self.postgres else {
            let conn = rusqlite::Connection::open(self.folder().join("kybern.db")).unwrap();
            conn.busy_timeout(PATIENCE).unwrap();
            conn.execute_batch("BEGIN IMMEDIATE").unwrap();
            return Locked::Sqlite(conn);
        };
        Locked::Postgres(database.begin("LOCK TABLE step_row IN EXCLUSIVE MODE"))
    }

    /// Lets what a server has left behind that was killed come to its end: on PostgreSQL what was on its way to the
    /// database, its leases and the time of its calls. A server on SQLite finds all of that itself when it starts.
    pub(crate) async fn bury(&self) {
        let Some(database) = &self.postgres else { return };
        let living = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
            AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
        client::until("nobody is at the database", || {
            std::future::ready((database.rows(living) == [["0"]]).then_some(()))
        })
        .await;
        database.rows("UPDATE task SET claimable_at = 0 WHERE lease_owner IS NOT NULL");
        database.rows("UPDATE reservation SET expires_at = 0");
    }

    /// Whether its database has a clock of its own.
    pub(crate) fn keeps_time(&self) -> bool {
        self.postgres.is_some()
    }

    /// An id as a statement on its database says it.
    pub(crate) fn id(&self, id: &str) -> String {
        if self.postgres.is_some() { format!("'{id}'") } else { format!("x'{}'", id.replace('-', "")) }
    }

    /// The folder in which everything runs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where the master key lies.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.folder.path().join(if self.postgres.is_some() { "kybern.key" } else { "kybern.db.key" })
    }

    /// A file in the folder.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The same place, whose one provider is a model at that address; tools may reach it, too. `more` settings come first.
    pub(crate) fn asking(self, address: &str, more: &str) -> Self {
        let settings = format!(
            "{more}[egress]\nallow = [\"{address}\"]\n\
             [providers.fake]\nkind = \"openai\"\nformat = \"openai_chat\"\nbase_url = \"http://{address}/v1\"\n\
             api_key = \"none\"\nmodels = [{{ name = \"small\", input_price = 1, output_price = 2 }}]\n"
        );
        self.file("kybern.toml", settings);
        self
    }

    /// The binary with this environment and nothing else of ours.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kybern"));
        command.args(args).current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts a server, and returns once it listens.
    pub(crate) fn start(&self) -> Server {
        self.try_start().unwrap_or_else(|said| panic!("the server did not start:\n{said}"))
    }

    /// Starts a server; what it said when it ended instead.
    pub(crate) fn try_start(&self) -> Result<Server, String> {
        let database = self.database();
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0", "--database", &database]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (ready, address) = mpsc::channel();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (lines, kept) = (BufReader::new(child.stderr.take().unwrap()).lines(), Arc::clone(&said));
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, url)) = line.split_once(" listens on ") {
                    // Where the log is JSON, the line goes on behind it.
                    drop(ready.send(url.split(['"', ' ']).next().unwrap_or_default().to_owned()));
                }
                kept.lock().unwrap().push(line);
            }
        });
        let server = |url| Server { child, url, said: Arc::clone(&said) };
        match address.recv_timeout(PATIENCE) {
            Ok(url) => Ok(server(url)),
            Err(_gone) => {
                let mut failed = server(String::new());
                failed.kill();
                Err(failed.said())
            }
        }
    }
}

/// A database whose journals nobody can write.
pub(crate) enum Locked {
    Sqlite(#[expect(dead_code, reason = "held until it is dropped")] rusqlite::Connection),
    Postgres(#[expect(dead_code, reason = "held until it is dropped")] Transaction),
}

/// A running server; killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    url: String,
    said: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Where it listens.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A client with the admin key.
    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, KEY)
    }

    /// Ends it as `kill -9` does, and waits until it is gone.
    pub(crate) fn kill(&mut self) {
        drop(self.child.kill());
        self.child.wait().unwrap();
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::SIGTERM);
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().cast_signed()), signal).unwrap();
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        client::until("the server ends", || {
            status = self.child.try_wait().unwrap();
            std::future::ready(status)
        })
        .await
    }

    /// What it has written to standard error.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("--- the server said ---\n{}", self.said());
        }
    }
}
