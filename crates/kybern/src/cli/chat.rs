//! `kybern chat`: a conversation with an agent. The answer is shown as it is written, with the calls that are made for
//! it; a call that needs a yes is asked about here, a form is shown with the commands that answer it; Ctrl-C cancels the
//! turn, and pressed again leaves.

use std::io::BufRead as _;

use clap::Args;
use kybern_core::id::ChatId;
use serde_json::{Value, json};

use super::approval::decisions;
use super::{Context, Exit, Format};
use crate::client::{Client, Event, Events, PostedBody};
use crate::output::{Failure, Paint, Screen, clean, field, in_full, kybern, render_waits};

/// `kybern chat [MESSAGE]`
#[derive(Args, Debug)]
pub(super) struct ChatArgs {
    /// What you say; without it you are asked, line by line
    message: Option<String>,
    /// The agent, by key, name or id; without one the words of each message choose
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Go on with a chat
    #[arg(long, value_name = "ID", conflicts_with = "agent")]
    chat: Option<ChatId>,
    #[command(flatten)]
    format: Format,
}

pub(super) async fn run(args: ChatArgs, context: &mut Context) -> Result<Exit, Failure> {
    let client = context.connect().await?;
    let chat = match args.chat {
        Some(id) => client.get(&format!("/api/chats/{id}"), &[]).await?.value,
        None => client.post("/api/chats", PostedBody::Json(&json!({"agent": args.agent})), None).await?.value,
    };
    let mut talk = ChatSession { client: &client, chat: field(&chat, "id"), json: args.format.json };
    let screen = context.screen();
    if let Some(message) = args.message {
        return talk.turn(&message, screen).await;
    }
    if screen.is_interactive() {
        let agent = chat.get("agent").and_then(Value::as_str).unwrap_or("whoever the words choose");
        screen.line(format!("chat {} with {agent}; an empty line or Ctrl-D ends it, Ctrl-C cancels a turn", talk.chat));
    }
    let mut exit = Exit::Done;
    loop {
        if screen.is_interactive() {
            screen.text(format!("{} ", screen.paint().bold("you>")));
        }
        let line = match read_line().await? {
            TypedLine::Line(line) => line,
            TypedLine::End => break,
            TypedLine::Interrupt => {
                screen.line("");
                break;
            }
        };
        if line.trim().is_empty() {
            break;
        }
        exit = talk.turn(&line, screen).await?;
        if screen.is_broken() || exit == Exit::Review {
            break;
        }
    }
    Ok(exit)
}

/// What is typed at a prompt.
enum TypedLine {
    Line(String),
    /// Nothing more.
    End,
    /// Ctrl-C.
    Interrupt,
}

/// The next line of what is typed. The thread that reads it stays behind when it is interrupted; the program ends then,
/// or a call is not allowed.
async fn read_line() -> Result<TypedLine, Failure> {
    let (typed, line) = tokio::sync::oneshot::channel();
    // A thread of its own, because one of the runtime's would be waited for at the end of the program.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        drop(typed.send(read.map(|count| if count > 0 { TypedLine::Line(line) } else { TypedLine::End })));
    });
    let read = tokio::select! {
        read = line => read.map_err(|error| Failure::Other(error.into()))?,
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| TypedLine::Interrupt),
    };
    read.map_err(|error| Failure::Other(anyhow::Error::new(error).context("what is typed cannot be read")))
}

/// A conversation.
struct ChatSession<'a> {
    client: &'a Client,
    chat: String,
    json: bool,
}

/// What became of the turn so far.
#[derive(Default)]
struct TurnProgress {
    task: String,
    /// Whether the last thing that was written was a piece of a line.
    in_line: bool,
    exit: Option<Exit>,
    leaves: bool,
}

impl ChatSession<'_> {
    /// Says something, and shows what comes.
    async fn turn(&mut self, message: &str, screen: &mut Screen) -> Result<Exit, Failure> {
        let path = format!("/api/chats/{}", self.chat);
        let body = json!({"content": message.trim_end()});
        let mut events = self.client.say(format!("{path}/messages"), body, format!("{path}/stream"));
        let mut seen = TurnProgress::default();
        loop {
            let next = tokio::select! {
                next = events.next() => next?,
                interrupted = tokio::signal::ctrl_c() => {
                    interrupted.map_err(|error| Failure::Other(error.into()))?;
                    if seen.leaves || seen.task.is_empty() {
                        return Ok(Exit::Failed);
                    }
                    seen.leaves = true;
                    let cancel = format!("/api/tasks/{}/cancel", seen.task);
                    // It may have ended meanwhile; the events say how.
                    let _ended = self.client.post(&cancel, PostedBody::Empty, None).await;
                    continue;
                }
            };
            let Some(event) = next else { break };
            self.heard(&event, &path, &mut events, &mut seen, screen).await?;
            if seen.exit == Some(Exit::Review) {
                break;
            }
        }
        end_line(&mut seen, screen);
        Ok(seen.exit.unwrap_or(Exit::Done))
    }

    async fn heard(
        &self,
        event: &Event,
        path: &str,
        events: &mut Events<'_>,
        seen: &mut TurnProgress,
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        if event.name == "message.start" {
            seen.task = field(&event.data, "taskId");
            // From here on the turn is read by its message, whatever is said next.
            events.read_on_at(format!("{path}/stream?message={}", field(&event.data, "messageId")));
        }
        if self.json {
            screen.line(json!({"type": event.name, "data": event.data}).to_string());
        } else {
            show(event, seen, screen);
        }
        match event.name.as_str() {
            "approval.required" => self.asked(event, seen, screen).await?,
            "message.complete" if field(&event.data, "finishReason") == "cancelled" => seen.exit = Some(Exit::Failed),
            "error" => seen.exit = Some(Exit::Failed),
            _ => {}
        }
        Ok(())
    }

    /// A call needs a yes: whoever sits here is asked, anybody else decides elsewhere.
    async fn asked(&self, event: &Event, seen: &mut TurnProgress, screen: &mut Screen) -> Result<(), Failure> {
        let id = field(&event.data, "approvalId");
        let is_form = field(&event.data, "kind") != "confirmation";
        if self.json || !screen.is_interactive() {
            match (self.json, is_form) {
                (true, _) => {}
                (false, true) => self.form(&id, seen, screen).await,
                (false, false) => screen.line(format!("decide: {}", decisions(id))),
            }
            seen.exit = Some(Exit::Review);
            return Ok(());
        }
        if is_form {
            self.form(&id, seen, screen).await;
            screen.line("it is answered by one of these commands, from another terminal; the turn goes on here then");
            return Ok(());
        }
        screen.text("allow it? [y/N, or why not] ");
        let said = match read_line().await? {
            TypedLine::Line(line) => line,
            TypedLine::End => String::new(),
            TypedLine::Interrupt => {
                // The turn goes on to wait; whoever comes back decides.
                screen.line("");
                screen.line(format!("decide: {}", decisions(id)));
                seen.exit = Some(Exit::Review);
                return Ok(());
            }
        };
        let body = match said.trim() {
            "y" | "Y" | "yes" => json!({"decision": "approve"}),
            "" | "n" | "N" | "no" => json!({"decision": "deny"}),
            note => json!({"decision": "deny", "note": note}),
        };
        self.client.post(&format!("/api/approvals/{id}"), PostedBody::Json(&body), None).await?;
        Ok(())
    }

    /// Shows what a question asks that a mere yes does not answer, such as a form, and the commands that answer it.
    async fn form(&self, id: &str, seen: &TurnProgress, screen: &mut Screen) {
        // The turn goes on, whether or not this can be read.
        let task = self.client.get(&format!("/api/tasks/{}", seen.task), &[]).await.ok();
        let waits = task.and_then(|task| render_waits(&task.value, screen.paint()));
        screen.line(waits.unwrap_or_else(|| format!("see what is asked: {} approval show {id}", kybern())));
    }
}

fn end_line(seen: &mut TurnProgress, screen: &mut Screen) {
    if std::mem::take(&mut seen.in_line) {
        screen.line("");
    }
}

/// Shows an event to a person.
fn show(event: &Event, seen: &mut TurnProgress, screen: &mut Screen) {
    let (paint, data) = (screen.paint(), &event.data);
    match event.name.as_str() {
        "message.delta" => {
            let piece = data.get("content").and_then(Value::as_str).unwrap_or_default();
            screen.text(piece.lines().map(clean).collect::<Vec<_>>().join("\n"));
            if piece.ends_with('\n') {
                screen.text("\n");
            }
            seen.in_line = !piece.ends_with('\n');
        }
        "tool.start" => aside(seen, screen, paint.dim(&format!("  … {}", field(data, "toolName")))),
        "tool.complete" => {
            let (tool, status) = (field(data, "toolName"), field(data, "status"));
            let line = match status.as_str() {
                "success" => format!("  {} {tool}", paint.good("✓")),
                other => format!("  {} {tool}: {other}", paint.bad("✗")),
            };
            aside(seen, screen, line);
        }
        "approval.required" => {
            aside(seen, screen, asks(data, paint));
        }
        "message.reset" => aside(seen, screen, paint.dim("  the server was started again; what follows begins anew")),
        "message.complete" => {
            end_line(seen, screen);
            let (finish, usage) = (field(data, "finishReason"), &data["usage"]);
            if finish != "complete" {
                screen.line(paint.wait(&format!("  ended: {finish}")));
            }
            let tokens = format!("  {} tokens in, {} out", field(usage, "inputTokens"), field(usage, "outputTokens"));
            screen.line(paint.dim(&tokens));
            for memory in data["memorySuggestions"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                screen.line(paint.dim(&format!("  would remember: {}", clean(memory))));
            }
        }
        "error" => {
            end_line(seen, screen);
            screen.line(format!("{} {}: {}", paint.bad("✗"), field(data, "code"), field(data, "message")));
        }
        _ => {}
    }
}

fn aside(seen: &mut TurnProgress, screen: &mut Screen, line: String) {
    end_line(seen, screen);
    screen.line(line);
}

fn asks(data: &Value, paint: Paint) -> String {
    let (tool, reason) = (field(data, "toolName"), field(data, "reason"));
    let input = in_full(&data["input"], "    ");
    match field(data, "kind").as_str() {
        "confirmation" => format!("{} {tool} needs a yes: {reason}\n{input}", paint.wait("?")),
        _form => format!("{} a person is asked: {reason}", paint.wait("?")),
    }
}
