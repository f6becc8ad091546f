//! What a verb works with: the settings, the screen, and the connection to a server.

use serde_json::Value;

use crate::cli::{Exit, Format, Globals};
use crate::client::{Client, PostedBody, Reply};
use crate::config::database::DatabaseUrl;
use crate::config::{Config, ConfigError, DocumentOptions, Environment, Overrides, Secret};
use crate::local::{self, LocalOptions, LocalServer, LocalUse};
use crate::output::{Failure, Screen, Table, aside, field, kybern, kybern_here};

const API_KEY: &str = "KYBERN_API_KEY";
const URL: &str = "KYBERN_URL";
/// How long a verb without a server waits for a task to come to rest before it says that the task goes on, in
/// milliseconds.
const REST_MS: u32 = 250;

/// One run of the command line.
pub(crate) struct Context {
    globals: Globals,
    env: Environment,
    screen: Screen,
    local: Option<LocalServer>,
}

impl Context {
    /// A run with these flags in this environment.
    pub(crate) fn new(globals: Globals, env: Environment) -> Self {
        let screen = Screen::stdout(&env);
        Self { globals, env, screen, local: None }
    }

    /// Where output goes.
    pub(crate) const fn screen(&mut self) -> &mut Screen {
        &mut self.screen
    }

    /// A screen of its own for a part that runs by itself.
    pub(crate) fn new_screen(&self) -> Screen {
        self.screen.another()
    }

    /// Whether everything that was printed has arrived.
    ///
    /// # Errors
    /// The first write that failed; a reader that has gone away is none.
    pub(crate) fn written(&self) -> Result<(), Failure> {
        self.screen.written()
    }

    /// The settings.
    ///
    /// # Errors
    /// Every fault in them.
    pub(crate) fn config(&self, listen: Option<String>) -> Result<Config, ConfigError> {
        let overrides = Overrides { listen, database: self.globals.database.clone() };
        Config::load(self.globals.config.as_deref(), &overrides, &self.env)
    }

    /// The server that was named, if one was. A database that is named on the command line goes before a server of
    /// the environment.
    pub(crate) fn url(&self) -> Option<&str> {
        let flag = self.globals.url.as_deref().filter(|url| !url.is_empty());
        flag.or_else(|| self.env.get(URL).map(str::trim).filter(|_| self.globals.database.is_none()))
    }

    /// Refuses `--url` for a verb that works on this machine: whoever types it means a server that the verb would not
    /// ask. `what` is what the verb does instead.
    ///
    /// # Errors
    /// [`Failure::Usage`] where the command line names a server.
    pub(crate) fn refuse_url(&self, what: &str, remedy: &str) -> Result<(), Failure> {
        match self.globals.url {
            None => Ok(()),
            Some(_) => Err(Failure::usage(format!("--url names a server to talk to, and {what}"), remedy)),
        }
    }

    /// The same for a verb that works on the database itself.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn refuse_url_for(&self, verb: &str) -> Result<(), Failure> {
        let what = format!("{verb} works on the database of this machine");
        self.refuse_url(&what, "leave it out; --database, or the settings, name the database")
    }

    /// Whether the command line names the database.
    pub(crate) const fn names_database(&self) -> bool {
        self.globals.database.is_some()
    }

    /// The key of the environment.
    pub(crate) fn api_key(&self) -> Option<Secret> {
        self.env.get(API_KEY).map(|key| Secret::new(key.trim()))
    }

    /// How documents are read where nobody says so.
    pub(crate) fn documents(&self) -> DocumentOptions {
        DocumentOptions::of(&self.env)
    }

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).map(str::to_owned)
    }

    /// A connection: to the server that was named; else to the one where the settings say; else to the one that has the
    /// database; else to one that is opened inside this process on the database itself. No database is made that nobody
    /// has named.
    ///
    /// # Errors
    /// When the settings are faulty, or the database cannot be opened.
    pub(crate) async fn connect(&mut self) -> Result<Client, Failure> {
        self.connect_for(LocalUse::Work).await
    }

    /// The same for a verb that only reads: without a server it makes no database and writes nothing.
    ///
    /// # Errors
    /// The same.
    pub(crate) async fn connect_to_read(&mut self) -> Result<Client, Failure> {
        self.connect_for(LocalUse::Read).await
    }

    async fn connect_for(&mut self, purpose: LocalUse) -> Result<Client, Failure> {
        if self.globals.url.is_some() && self.globals.database.is_some() {
            let message = "--url names a server and --database a database, one of them is meant";
            return Err(Failure::usage(message, "leave one of them out"));
        }
        if let Some(url) = self.url() {
            // The server has settings of its own; a file that was named is still meant, and may be mistyped.
            if let Some(path) = &self.globals.config {
                Config::check_file(path)?;
            }
            return Ok(Client::new(url, self.api_key())?);
        }
        let config = self.config(None)?;
        let client = Client::new(&config.server.local_url(), self.api_key())?;
        // A database that is named on the command line is meant, not the one of some server that happens to run.
        if self.globals.database.is_none() && client.answers().await {
            return Ok(client);
        }
        if let DatabaseUrl::Sqlite(path) = &config.database.url {
            // A server may have the file and listen elsewhere than the settings of this folder say.
            if let Some(url) = kybern_store::served_at(path) {
                return Ok(Client::new(&url, self.api_key())?);
            }
            if purpose == LocalUse::Work && !config.database.is_named && !path.exists() {
                let (url, file) = (config.server.local_url(), path.display());
                let message = format!("no server answers at {url}, and there is no database {file} in this folder");
                let remedy = format!(
                    "start a server with: {} serve; name another one with --url, or the database with --database \
                     sqlite:FILE, which is made when it is missing",
                    kybern_here()
                );
                return Err(Failure::usage(message, remedy));
            }
        }
        let local = local::open(LocalOptions { config, purpose }).await?;
        let client = Client::new(&local.url, Some(local.key.clone()))?;
        self.local = Some(local);
        Ok(client)
    }

    /// Whether the verb runs on a server of its own, which ends with it.
    pub(crate) const fn is_local(&self) -> bool {
        self.local.is_some()
    }

    /// What comes after a task was let go on: where it rests already, who works on it, or how to follow it.
    pub(crate) async fn follow_up(&self, client: &Client, task: impl std::fmt::Display) -> String {
        if !self.is_local() {
            return format!("follow it with: {kybern} task watch {task}", kybern = kybern());
        }
        match self.rested(client, &task).await {
            Some(rested) => rested,
            None => format!("no server runs, so what is left of it waits: start one with {} serve", kybern_here()),
        }
    }

    /// How a task has come to rest while this verb ran, and how to look at it; `None` where it goes on. The server of
    /// this verb works on it as long as the verb runs, which is enough for a short one.
    pub(crate) async fn rested(&self, client: &Client, task: impl std::fmt::Display) -> Option<String> {
        let wait = [("waitMs", Some(REST_MS.to_string()))];
        let found = client.get(&format!("/api/tasks/{task}"), &wait).await.ok()?;
        let how = match field(&found.value, "status").as_str() {
            "needs_review" => "waits for a person".to_owned(),
            status @ ("completed" | "failed" | "cancelled") => format!("is {status}"),
            _goes_on => return None,
        };
        Some(format!("it {how} already, look at it with: {kybern} task show {task}", kybern = kybern()))
    }

    /// Ends the server inside this process, if there is one.
    pub(crate) async fn close(&mut self) {
        if let Some(local) = self.local.take() {
            local.close().await;
        }
    }

    /// Sends something to a path.
    ///
    /// # Errors
    /// [`Failure`]
    pub(crate) async fn post(&mut self, path: &str, body: PostedBody<'_>) -> Result<Reply, Failure> {
        Ok(self.connect().await?.post(path, body, None).await?)
    }

    /// The same, and says what has become of it.
    ///
    /// # Errors
    /// [`Failure`]
    pub(crate) async fn act(
        &mut self,
        path: &str,
        body: PostedBody<'_>,
        done: impl AsRef<str>,
    ) -> Result<Exit, Failure> {
        self.post(path, body).await?;
        self.screen.line(done);
        Ok(Exit::Done)
    }

    /// Removes what stands at a path, and says so.
    ///
    /// # Errors
    /// [`Failure`]
    pub(crate) async fn remove(&mut self, path: &str, done: impl AsRef<str>) -> Result<Exit, Failure> {
        self.connect().await?.delete(path).await?;
        self.screen.line(done);
        Ok(Exit::Done)
    }

    /// Reads what is there. Where JSON is asked for it is printed as it came, and nothing is left to do.
    ///
    /// # Errors
    /// [`Failure`]
    pub(crate) async fn read(
        &mut self,
        path: &str,
        query: &[(&str, Option<String>)],
        format: Format,
    ) -> Result<Option<Reply>, Failure> {
        let client = self.connect_to_read().await?;
        let reply = client.get(path, query).await?;
        if format.json {
            self.raw(&reply);
            return Ok(None);
        }
        Ok(Some(reply))
    }

    /// Prints an answer as it came where JSON is asked for, and otherwise a line about it.
    pub(crate) fn told(&mut self, reply: &Reply, format: Format, line: impl FnOnce(&Value) -> String) -> Exit {
        if format.json {
            self.raw(reply);
        } else {
            self.screen.line(line(&reply.value));
        }
        Exit::Done
    }

    /// Prints a member of an answer that is shown this once. It alone is on standard output, so that a script can take it;
    /// what is to be known of it goes beside it.
    ///
    /// # Errors
    /// What to do about it, where it could not be written.
    pub(crate) fn told_once(
        &mut self,
        (reply, member): (&Reply, &str),
        format: Format,
        lost: String,
        about: String,
    ) -> Result<Exit, Failure> {
        let paint = self.screen.paint();
        self.told(reply, format, |value| paint.bold(&field(value, member)));
        self.screen.secret_written(lost)?;
        if !format.json {
            aside(about);
        }
        Ok(Exit::Done)
    }

    /// Prints a table.
    pub(crate) fn table(&mut self, table: &Table) {
        self.screen.line(table.render(self.screen.paint()));
    }

    /// Prints an answer as it came.
    pub(crate) fn raw(&mut self, reply: &Reply) {
        self.screen.line(reply.text.trim_end());
    }
}
