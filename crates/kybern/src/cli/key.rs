//! `kybern key`: API keys.

use std::process::ExitCode;

use clap::Subcommand;
use kybern_core::actor::Role;
use kybern_core::id::{KeyId, UserId};
use serde_json::{Map, Value, json};

use super::list::{List, Page};
use super::{Context, Exit, Format, input};
use crate::client::{ClientError, PostedBody};
use crate::output::{Failure, clean, field, kybern};
use crate::recover::RecoverOptions;

/// `kybern key …`
#[derive(Subcommand, Debug)]
pub(super) enum KeyCommand {
    /// Make a key; it is shown once
    Create {
        /// What it is for
        #[arg(long)]
        name: String,
        /// Whose it is; yours when not stated
        #[arg(long, value_name = "USER")]
        user: Option<UserId>,
        /// A role it is limited to: viewer, operator, reviewer, admin, platform_admin; its user's when none is stated
        #[arg(long = "role", value_name = "ROLE", value_parser = role)]
        roles: Vec<Role>,
        /// What narrows it; may be repeated
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<String>,
        /// When it ends: 2027-01-31T12:00:00Z, or 90d
        #[arg(long, value_name = "WHEN", value_parser = input::moment)]
        expires: Option<jiff::Timestamp>,
        #[command(flatten)]
        format: Format,
    },
    /// List the keys
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Revoke a key at once
    Revoke {
        /// The key's id
        id: KeyId,
        /// Revoke the keys as well that were made with it; they stop working with it
        #[arg(long)]
        cascade: bool,
        /// Revoke also the last working key of a platform admin with all rights; then only kybern key recover, or
        /// another KYBERN_ADMIN_KEY at the next start, helps
        #[arg(long)]
        force: bool,
    },
    /// Make a new admin key, when the old one is lost; needs write access to the database
    Recover {
        /// Go on under the present master key, because the one of the database is lost for good: old API keys, sealed
        /// values and the audit chain up to now no longer hold
        #[arg(long)]
        new_master_key: bool,
    },
}

/// The role with that name.
///
/// # Errors
/// A sentence for the usage message.
pub(super) fn role(text: &str) -> Result<Role, String> {
    let names: Vec<&str> = Role::ALL.iter().map(|role| role.as_str()).collect();
    Role::parse(text).ok_or_else(|| format!("is no role, take one of {}", names.join(", ")))
}

/// Makes a new admin key on the database itself.
pub(super) async fn recover(new_master_key: bool, context: &Context) -> Result<ExitCode, Failure> {
    context.refuse_url_for("key recover")?;
    let options = RecoverOptions { config: context.config(None)?, new_master_key, screen: context.new_screen() };
    Ok(crate::recover::run(options).await?)
}

pub(super) async fn run(command: KeyCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        KeyCommand::Create { name, user, roles, scopes, expires, format } => {
            let mut body = Map::from_iter([("name".to_owned(), json!(name))]);
            let mut put = |key: &str, value: Value| {
                if !value.is_null() && value != json!([]) {
                    body.insert(key.to_owned(), value);
                }
            };
            put("userId", json!(user));
            put("roles", json!(roles));
            put("scopes", json!(scopes));
            put("expiresAt", json!(expires));
            create(&Value::Object(body), format, context).await
        }
        KeyCommand::List { page } => {
            let columns = [
                ("ID", "/id"),
                ("NAME", "/name"),
                ("BEGINS", "/prefix"),
                ("ROLES", "/roles"),
                ("SCOPES", "/scopes"),
                ("EXPIRES", "/expiresAt"),
                ("REVOKED", "/revokedAt"),
            ];
            List::at("/api/keys", "key list").or("no keys").print(&page, columns, context).await
        }
        KeyCommand::Revoke { id, cascade, force } => {
            let client = context.connect().await?;
            let forced = if force { "&force=true" } else { "" };
            let reply = client.delete(&format!("/api/keys/{id}?cascade={cascade}{forced}")).await;
            let reply = reply.map_err(with_flags)?;
            context.screen().line(format!("key {id} is revoked"));
            for key in reply.value.get("revokedWith").and_then(Value::as_array).into_iter().flatten() {
                let (name, id) = (field(key, "name"), field(key, "id"));
                context.screen().line(clean(&format!("with it: key {id} ({name})")));
            }
            Ok(Exit::Done)
        }
        KeyCommand::Recover { .. } => Ok(Exit::Done),
    }
}

/// The API names its parameters; here they are flags.
fn with_flags(mut error: ClientError) -> ClientError {
    if let ClientError::Api(api) = &mut error {
        api.message = api.message.replace("cascade=true", "--cascade").replace("force=true", "--force");
    }
    error
}

async fn create(body: &Value, format: Format, context: &mut Context) -> Result<Exit, Failure> {
    let reply = context.post("/api/keys", PostedBody::Json(body)).await?;
    let id = field(&reply.value, "id");
    let revoke = format!("{kybern} key revoke {id}", kybern = kybern());
    let lost = format!("the key was made and is lost, revoke it with: {revoke}");
    let about = format!("This is shown once. Revoke it with: {revoke}");
    context.told_once((&reply, "key"), format, lost, about)
}
