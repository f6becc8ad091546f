//! `kybern secret`: what tools may send, and where to. A value comes in by standard input, a file or a variable, never
//! as an argument, where other processes and the shell's history could see it.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use kybern_core::secret::{MAX_VALUE, SecretName, SecretValue};
use serde_json::json;

use super::input::bytes;
use super::list::{List, Page};
use super::{Context, Exit, Format};
use crate::client::PostedBody;
use crate::output::{Failure, field, kybern};

/// `kybern secret …`
#[derive(Subcommand, Debug)]
pub(super) enum SecretCommand {
    /// Write a secret, or its next version; the value comes from standard input unless stated otherwise
    Set {
        /// Its name: small letters, digits and underscores
        name: SecretName,
        /// Where it may be sent: api.example.com, *.example.com, host:port; may be given several times
        #[arg(long = "host", required = true, value_name = "HOST")]
        hosts: Vec<String>,
        /// What it is for
        #[arg(long, default_value = "")]
        description: String,
        #[command(flatten)]
        source: Source,
        #[command(flatten)]
        format: Format,
    },
    /// List the secrets; never their values
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Remove a secret; calls that name it fail from then on
    Delete {
        /// Its name
        name: SecretName,
    },
}

/// Where the value comes from.
#[derive(Args, Clone, Debug, Default)]
#[group(multiple = false)]
pub(super) struct Source {
    /// Take the value from this file
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
    /// Take the value from this environment variable
    #[arg(long, value_name = "VARIABLE")]
    from_env: Option<String>,
}

impl Source {
    /// The value, without the line end that editors and `echo` add.
    fn read(&self, context: &Context) -> Result<SecretValue, Failure> {
        let (origin, raw) = match (&self.from_file, &self.from_env) {
            (Some(path), _) => (path.display().to_string(), bytes(path)?),
            (None, Some(name)) => {
                let unset = || Failure::usage(format!("{name} is not set"), "name a variable that holds the value");
                let value = context.variable(name).ok_or_else(unset)?;
                (name.clone(), value.into_bytes())
            }
            (None, None) => ("standard input".to_owned(), piped()?),
        };
        let value = SecretValue::from_bytes(raw).ok_or_else(|| problem(&origin, "is not UTF-8 text"))?;
        let text = value.expose();
        let text = text.strip_suffix('\n').map_or(text, |text| text.strip_suffix('\r').unwrap_or(text));
        let value = SecretValue::new(text.to_owned());
        value.check().map_err(|fault| problem(&origin, &format!("holds no secret: {fault}")))?;
        Ok(value)
    }
}

fn problem(origin: &str, problem: &str) -> Failure {
    Failure::Content { path: origin.to_owned(), problem: problem.to_owned() }
}

/// What is piped in, up to a little more than a secret may have.
fn piped() -> Result<Vec<u8>, Failure> {
    if std::io::stdin().is_terminal() {
        let remedy = "pipe it in, or use --from-file FILE or --from-env VARIABLE";
        return Err(Failure::usage("no value is piped in, and it is not typed where others can see it", remedy));
    }
    let mut read = Vec::new();
    let most = u64::try_from(MAX_VALUE).unwrap_or(u64::MAX).saturating_add(16);
    let taken = std::io::stdin().lock().take(most).read_to_end(&mut read);
    taken.map_err(|source| Failure::File { path: "standard input".to_owned(), source })?;
    Ok(read)
}

pub(super) async fn run(command: SecretCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        SecretCommand::Set { name, hosts, description, source, format } => {
            let value = source.read(context)?;
            let body = json!({"name": name, "value": value.expose(), "hosts": hosts, "description": description});
            let reply = context.post("/api/secrets", PostedBody::Json(&body)).await?;
            Ok(context.told(&reply, format, |set| format!("secret {name} is set, version {}", field(set, "version"))))
        }
        SecretCommand::List { page } => {
            let columns = [
                ("NAME", "/name"),
                ("VERSION", "/version"),
                ("HOSTS", "/hosts"),
                ("WRITTEN", "/updatedAt"),
                ("DESCRIPTION", "/description"),
            ];
            let nothing = format!("no secrets; {} secret set NAME --host HOST", kybern());
            List::at("/api/secrets", "secret list").or(nothing).print(&page, columns, context).await
        }
        SecretCommand::Delete { name } => {
            context.remove(&format!("/api/secrets/{name}"), format!("secret {name} is removed")).await
        }
    }
}
