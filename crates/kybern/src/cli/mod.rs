//! The command line. `serve`, `demo`, `backup`, `restore`, `doctor` and `key recover` work on this machine; every
//! other verb is an HTTP client of the API and has one implementation, whether a server runs or not.
//!
//! Exit codes: 0 done, 1 failed, 2 usage, which a file that is not there and wrong settings are too, 3 waits for review.

mod admin;
mod agent;
mod approval;
mod audit;
mod budget;
mod chat;
mod context;
mod dossier;
mod exit;
mod file;
mod input;
mod key;
mod knowledge;
mod lesson;
pub(crate) mod list;
mod memory;
mod model;
mod outbox;
mod own_tool;
mod plan;
mod prompt;
mod prove;
mod purge;
mod record;
mod secret;
mod shell;
mod task;
mod tenant;
mod tool;
mod user;
mod webhook;

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

pub(crate) use context::Context;
pub(crate) use exit::Exit;

use crate::config::Environment;
use crate::output::{Failure, FailureFormat, Paint, Screen, called_with};

/// Kybern: an AI orchestration server that never loses a task.
#[derive(Parser, Debug)]
#[command(name = "kybern", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 usage, 3 waits for review.\nBegin with: kybern demo")]
pub(crate) struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// What every verb takes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Globals {
    /// The settings; kybern.toml of this folder when it exists
    #[arg(long, global = true, value_name = "FILE", help_heading = "Where")]
    pub(crate) config: Option<PathBuf>,
    /// The database: sqlite:PATH or postgres://…
    #[arg(long, global = true, value_name = "URL", help_heading = "Where")]
    pub(crate) database: Option<String>,
    /// The server to talk to [env: KYBERN_URL, where no --database is given]
    #[arg(long, global = true, value_name = "URL", help_heading = "Where")]
    pub(crate) url: Option<String>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Start the server
    Serve(admin::ServeArgs),
    /// See the main job done on bundled messages
    Demo(admin::DemoArgs),
    /// Submit tasks, watch them, answer them
    #[command(subcommand)]
    Task(task::TaskCommand),
    /// Look at plans, check and store them
    #[command(subcommand)]
    Plan(plan::PlanCommand),
    /// Look at tools and call them
    #[command(subcommand)]
    Tool(tool::ToolCommand),
    /// See what waits for a person, and decide
    #[command(subcommand)]
    Approval(approval::ApprovalCommand),
    /// Look at what tasks have written about the world
    #[command(subcommand)]
    Record(record::RecordCommand),
    /// See what left or wants to leave, and send it once more
    #[command(subcommand)]
    Outbox(outbox::OutboxCommand),
    /// Decide what is learned from answers
    #[command(subcommand)]
    Lesson(lesson::LessonCommand),
    /// Look at agents
    #[command(subcommand)]
    Agent(agent::AgentCommand),
    /// Write what agents are told, and approve it
    #[command(subcommand)]
    Prompt(prompt::PromptCommand),
    /// Keep what is remembered of users and of records
    #[command(subcommand)]
    Memory(memory::MemoryCommand),
    /// See what is known of an entity
    Dossier(dossier::DossierArgs),
    /// Keep the documents that agents may quote
    #[command(subcommand)]
    Knowledge(knowledge::KnowledgeCommand),
    /// Talk to an agent
    Chat(chat::ChatArgs),
    /// Look at language models and try them
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Limit what may be spent
    #[command(subcommand)]
    Budget(budget::BudgetCommand),
    /// Say what was spent, on what and by whom
    Usage(budget::UsageArgs),
    /// Write what tools may send, and where to
    #[command(subcommand)]
    Secret(secret::SecretCommand),
    /// Say who is told when tasks end or wait for a person
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Make users, and say what they may do
    #[command(subcommand)]
    User(user::UserCommand),
    /// Make organisations, as a platform admin
    #[command(subcommand)]
    Tenant(tenant::TenantCommand),
    /// Make and revoke API keys
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// Check the audit trail
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Remove what is over and old, now
    Purge(purge::PurgeArgs),
    /// Write the whole database into one file, also while the server runs; the master key is not in it
    Backup(admin::BackupArgs),
    /// Make a database out of a backup
    Restore(admin::RestoreArgs),
    /// Say what is configured, reachable and missing, and how to fix it
    Doctor(admin::DoctorArgs),
    /// Print the script with which a shell completes the verbs
    #[command(alias = "completions")]
    Completion(shell::CompletionArgs),
    /// Write manual pages, one for each verb
    Man(shell::ManArgs),
}

/// How a reading verb answers.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the command line, and gives its exit code.
pub(crate) fn main() -> ExitCode {
    let env = Environment::of_process();
    let voice = voice(&env);
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            voice.misread(&error);
            return Exit::Usage.into();
        }
        Err(help) => return ended(print_help(&help, &env), voice),
    };
    called_with(&cli.globals);
    let mut context = Context::new(cli.globals, env);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let failure = Failure::Other(anyhow::Error::new(error).context("the runtime cannot be started"));
            return ended(Err(failure), voice);
        }
    };
    let code = runtime.block_on(run(cli.command, &mut context));
    ended(code.and_then(|code| context.written().map(|()| code)), voice)
}

/// How failures are told: as JSON where `--json` was typed, also on a command line that is wrong otherwise.
fn voice(env: &Environment) -> FailureFormat {
    let typed = std::env::args_os().skip(1).take_while(|word| word != "--").any(|word| word == "--json");
    let color = std::io::stderr().is_terminal() && env.get("NO_COLOR").is_none();
    if typed { FailureFormat::Json } else { FailureFormat::Lines(Paint::new(color)) }
}

fn ended(code: Result<ExitCode, Failure>, voice: FailureFormat) -> ExitCode {
    code.unwrap_or_else(|failure| {
        voice.report(&failure);
        failure.exit().into()
    })
}

/// Prints the help, or the version, that was asked for.
fn print_help(help: &clap::Error, env: &Environment) -> Result<ExitCode, Failure> {
    let mut screen = Screen::stdout(env);
    let text = help.render();
    screen.text(if screen.paint().is_on() { text.ansi().to_string() } else { text.to_string() });
    screen.written().map(|()| Exit::Done.into())
}

async fn run(command: Command, context: &mut Context) -> Result<ExitCode, Failure> {
    let exit = match command {
        Command::Serve(args) => return admin::serve(args, context).await,
        Command::Demo(args) => return admin::demo(args, context).await,
        Command::Backup(args) => return admin::backup(args, context).await,
        Command::Restore(args) => return admin::restore(args, context).await,
        Command::Doctor(args) => return admin::doctor(args, context).await,
        Command::Completion(args) => Ok(shell::completion(&args, context)),
        Command::Man(args) => shell::man(&args),
        Command::Key(key::KeyCommand::Recover { new_master_key }) => {
            return key::recover(new_master_key, context).await;
        }
        Command::Task(command) => task::run(command, context).await,
        Command::Plan(command) => plan::run(command, context).await,
        Command::Tool(command) => tool::run(command, context).await,
        Command::Approval(command) => approval::run(command, context).await,
        Command::Record(command) => record::run(command, context).await,
        Command::Outbox(command) => outbox::run(command, context).await,
        Command::Lesson(command) => lesson::run(command, context).await,
        Command::Prompt(command) => prompt::run(command, context).await,
        Command::Memory(command) => memory::run(command, context).await,
        Command::Dossier(args) => dossier::run(args, context).await,
        Command::Knowledge(command) => knowledge::run(command, context).await,
        Command::Agent(command) => agent::run(command, context).await,
        Command::Chat(args) => chat::run(args, context).await,
        Command::Model(command) => model::run(command, context).await,
        Command::Budget(command) => budget::run(command, context).await,
        Command::Usage(args) => budget::usage(args, context).await,
        Command::Secret(command) => secret::run(command, context).await,
        Command::Webhook(command) => webhook::run(command, context).await,
        Command::User(command) => user::run(command, context).await,
        Command::Tenant(command) => tenant::run(command, context).await,
        Command::Key(command) => key::run(command, context).await,
        Command::Purge(args) => purge::run(args, context).await,
        Command::Audit(command) => audit::run(command, context).await,
    };
    context.close().await;
    Ok(exit?.into())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_commands_are_consistent() {
        Cli::command().debug_assert();
    }

    /// An argument of a verb under a global's name would be taken for that one.
    #[test]
    fn no_argument_of_a_verb_has_the_name_of_a_global() {
        let (command, globals) = (Cli::command(), ["config", "database", "url"]);
        for noun in command.get_subcommands() {
            for verb in noun.get_subcommands().chain([noun]) {
                for argument in verb.get_arguments() {
                    let id = argument.get_id().as_str();
                    assert!(!globals.contains(&id), "{} {}: {id}", noun.get_name(), verb.get_name());
                }
            }
        }
    }

    #[test]
    fn the_help_for_a_key_names_every_role() {
        let command = Cli::command();
        let create = command.find_subcommand("key").and_then(|key| key.find_subcommand("create")).unwrap();
        let role = create.get_arguments().find(|argument| argument.get_id() == "roles").unwrap();
        let help = role.get_help().unwrap().to_string();
        let named: Vec<&str> = help.split([' ', ',', ':', ';']).collect();
        for known in kybern_core::actor::Role::ALL {
            assert!(named.contains(&known.as_str()), "{}: {help}", known.as_str());
        }
    }

    #[test]
    fn every_verb_is_documented() {
        let page = include_str!("../../../../docs/cli.md");
        let command = Cli::command();
        for noun in command.get_subcommands() {
            let verbs: Vec<&str> = noun.get_subcommands().map(clap::Command::get_name).collect();
            let names = if verbs.is_empty() { vec![""] } else { verbs };
            for verb in names {
                let line = format!("kybern {} {verb}", noun.get_name());
                assert!(page.contains(line.trim()), "docs/cli.md lacks {line}");
            }
        }
    }
}
