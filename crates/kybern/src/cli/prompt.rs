//! `kybern prompt`: what agents are told, from the draft to what is in use.

use std::path::PathBuf;

use clap::Subcommand;
use kybern_core::id::PromptId;
use serde_json::{Value, json};

use super::list::{List, Page};
use super::{Context, Exit, Format, input};
use crate::client::{Client, PostedBody};
use crate::output::{Failure, field, in_full, kybern};

/// `kybern prompt …`
#[derive(Subcommand, Debug)]
pub(super) enum PromptCommand {
    /// List the prompts
    List {
        /// Only of this agent
        #[arg(long)]
        agent: Option<String>,
        /// Only those that stand so: draft, review, approved, active or retired
        #[arg(long)]
        status: Option<String>,
        #[command(flatten)]
        page: Page,
    },
    /// Show a prompt with its text
    Show {
        /// The prompt's id
        id: PromptId,
        #[command(flatten)]
        format: Format,
    },
    /// Write a draft
    Create {
        /// The file with the text
        file: PathBuf,
        /// For this agent; for all when not stated
        #[arg(long)]
        agent: Option<String>,
        #[command(flatten)]
        format: Format,
    },
    /// Hand a draft in, so that another person may approve it
    Submit {
        /// The prompt's id
        id: PromptId,
    },
    /// Approve the text as it is shown before
    Approve(ReadPrompt),
    /// Send a prompt back to its author
    Reject {
        /// The prompt's id
        id: PromptId,
        /// What is to be changed
        #[arg(long)]
        note: String,
    },
    /// Put an approved prompt into use, as it is shown before
    Activate(ReadPrompt),
    /// Show what a model would be told
    Preview {
        /// What somebody would say
        content: String,
        /// To this agent
        #[arg(long)]
        agent: Option<String>,
        /// Try this file's text in place of what the agent is told
        #[arg(long, value_name = "FILE")]
        text: Option<PathBuf>,
    },
}

/// A prompt whose text somebody has read.
#[derive(clap::Args, Debug)]
pub(super) struct ReadPrompt {
    /// The prompt's id
    id: PromptId,
    /// The textHash of the text that you have read; else the text is shown, and asked about on a terminal
    #[arg(long, value_name = "TEXT_HASH")]
    read: Option<String>,
}

const PATH: &str = "/api/prompts";

pub(super) async fn run(command: PromptCommand, context: &mut Context) -> Result<Exit, Failure> {
    match command {
        PromptCommand::List { agent, status, page } => {
            let columns =
                [("ID", "/id"), ("AGENT", "/agent"), ("VERSION", "/version"), ("STATUS", "/status"), ("TEXT", "/text")];
            let nothing = format!("no prompts; {} prompt create FILE --agent NAME", kybern());
            let prompts = List::at(PATH, "prompt list").only("agent", agent).only("status", status).or(nothing);
            prompts.print(&page, columns, context).await
        }
        PromptCommand::Show { id, format } => {
            if let Some(prompt) = context.read(&format!("{PATH}/{id}"), &[], format).await? {
                print(&prompt.value, context);
            }
            Ok(Exit::Done)
        }
        PromptCommand::Create { file, agent, format } => {
            let body = json!({"agent": agent, "text": text(&file)?});
            let reply = context.post(PATH, PostedBody::Json(&body)).await?;
            Ok(context.told(&reply, format, |draft| {
                let id = field(draft, "id");
                format!("draft {id} is made; hand it in with: {kybern} prompt submit {id}", kybern = kybern())
            }))
        }
        PromptCommand::Submit { id } => {
            let next = format!("another person approves it with: {kybern} prompt approve {id}", kybern = kybern());
            let done = format!("prompt {id} is handed in; {next}");
            context.act(&format!("{PATH}/{id}/submit"), PostedBody::Empty, done).await
        }
        PromptCommand::Approve(reading) => decide(reading, "approve", "is approved", context).await,
        PromptCommand::Activate(reading) => decide(reading, "activate", "is in use", context).await,
        PromptCommand::Reject { id, note } => {
            let done = format!("prompt {id} is sent back");
            context.act(&format!("{PATH}/{id}/reject"), PostedBody::Json(&json!({"note": note})), done).await
        }
        PromptCommand::Preview { content, agent, text: file } => {
            let replaced = file.as_deref().map(text).transpose()?;
            let body = json!({"content": content, "agent": agent, "text": replaced});
            let reply = context.post(&format!("{PATH}/preview"), PostedBody::Json(&body)).await?;
            context.screen().line(in_full(&reply.value, ""));
            Ok(Exit::Done)
        }
    }
}

fn text(file: &std::path::Path) -> Result<String, Failure> {
    String::from_utf8(input::bytes(file)?)
        .map_err(|_| Failure::Content { path: file.display().to_string(), problem: "is not UTF-8 text".to_owned() })
}

fn print(prompt: &Value, context: &mut Context) {
    let [id, status, agent, version, hash] =
        ["id", "status", "agent", "version", "textHash"].map(|name| field(prompt, name));
    let paint = context.screen().paint();
    context.screen().line(format!("prompt {id}  {}", paint.status(&status)));
    let agent = if agent.is_empty() { "all agents".to_owned() } else { agent };
    context.screen().line(format!("  for {agent}, version {version}, text hash {hash}"));
    context.screen().line(in_full(&prompt["text"], "    "));
}

/// A decision about a text holds for the text that was read, and for no other.
async fn decide(reading: ReadPrompt, verb: &str, done: &str, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let id = reading.id;
    let hash = match reading.read {
        Some(hash) => hash,
        None => match read(&client, id, verb, context).await? {
            Some(hash) => hash,
            None => return Ok(Exit::Review),
        },
    };
    client.post(&format!("{PATH}/{id}/{verb}"), PostedBody::Json(&json!({"textHash": hash})), None).await?;
    context.screen().line(format!("prompt {id} {done}"));
    Ok(Exit::Done)
}

/// Shows the text and asks; `None` without a yes.
async fn read(client: &Client, id: PromptId, verb: &str, context: &mut Context) -> Result<Option<String>, Failure> {
    let prompt = client.get(&format!("{PATH}/{id}"), &[]).await?.value;
    print(&prompt, context);
    let hash = field(&prompt, "textHash");
    let command = format!("{} prompt {verb} {id} --read {hash}", kybern());
    Ok(input::says_yes(context.screen(), verb, ("text", "prompt"), &command)?.then_some(hash))
}
