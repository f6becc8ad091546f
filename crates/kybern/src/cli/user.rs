//! `kybern user`: who works with the server, and what they may do.

use clap::Subcommand;
use kybern_core::actor::Role;
use kybern_core::id::UserId;
use serde_json::{Value, json};

use super::list::{self, List, Page};
use super::{Context, Exit, Format, input, key};
use crate::client::PostedBody;
use crate::output::{Failure, field, in_full, kybern};

/// `kybern user …`
#[derive(Subcommand, Debug)]
pub(super) enum UserCommand {
    /// List the users
    List {
        #[command(flatten)]
        page: Page,
    },
    /// Make a user; kybern key create --user makes a key for them
    Create {
        /// What people call them
        #[arg(long)]
        name: String,
        /// Their address
        #[arg(long)]
        email: String,
        /// A role they have: viewer, operator, reviewer, admin, platform_admin; may be repeated
        #[arg(long = "role", value_name = "ROLE", value_parser = key::role)]
        roles: Vec<Role>,
        #[command(flatten)]
        format: Format,
    },
    /// Show a user
    Show {
        /// The user
        id: UserId,
        #[command(flatten)]
        format: Format,
    },
    /// Show what a user may do, or change it
    Permissions {
        /// The user
        id: UserId,
        /// What changes, such as {"preset":"read_only"}; what is left out stays
        #[arg(long, value_name = "JSON", value_parser = input::object)]
        set: Option<Value>,
        #[command(flatten)]
        format: Format,
    },
}

pub(super) async fn run(command: UserCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        UserCommand::List { page } => {
            let columns = [("ID", "/id"), ("NAME", "/name"), ("E-MAIL", "/email"), ("ROLES", "/roles")];
            List::at("/api/users", "user list").or("no users").print(&page, columns, context).await
        }
        UserCommand::Create { name, email, roles, format } => {
            let body = json!({"name": name, "email": email, "roles": roles});
            let reply = context.post("/api/users", PostedBody::Json(&body)).await?;
            Ok(context.told(&reply, format, |user| {
                let id = field(user, "id");
                format!(
                    "user {id} is made; a key for them: {kybern} key create --name NAME --user {id}",
                    kybern = kybern()
                )
            }))
        }
        UserCommand::Show { id, format } => list::show(&format!("/api/users/{id}"), format, context).await,
        UserCommand::Permissions { id, set: None, format } => {
            list::show(&format!("/api/users/{id}/permissions"), format, context).await
        }
        UserCommand::Permissions { id, set: Some(change), format } => {
            let client = context.connect().await?;
            let reply = client.put(&format!("/api/users/{id}/permissions"), &change).await?;
            Ok(context.told(&reply, format, |permissions| in_full(permissions, "")))
        }
    }
}
