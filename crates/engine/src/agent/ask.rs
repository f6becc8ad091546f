//! One question of a turn: the prompt is written, the model is asked, its pieces are passed on, and what came is told.

use std::collections::BTreeSet;
use std::sync::Arc;

use kybern_core::agent::{AskOptions, Links, ReplyRecord, TurnStart};
use kybern_core::budget::Limits;
use kybern_core::chat::{LinkFilter, links_in};
use kybern_core::context::{LayerUse, LeftOut, SectionKind, Shares, WindowLimits, WindowMessage};
use kybern_core::error::{Error, ErrorCode, Result};
use kybern_core::id::{PromptId, TaskId, UserId};
use kybern_core::model::{
    Abilities, Assembly, FinishReason, FunctionChoice, ModelEvent, ModelMessage, ModelReply, ModelRequest,
    ModelTimeouts, Part,
};
use kybern_core::money::{NanoUsd, Tokens, Usage};
use kybern_core::tenant::TenantScope;
use kybern_core::time::Millis;
use kybern_core::tool::ToolFailure;
use tokio::sync::OnceCell;

use super::functions;
use super::gather::{GatheredContext, TurnInput, TurnServices, count, count_message, gather};
use crate::budget::tree::tree_of;
use crate::context::{ComposedPrompt, Material, compose};
use crate::events::LiveReply;
use crate::models::prompt::{CORE, OFFLINE, TOOL_RULES, TURN_CLOSING};
use crate::models::{Ask, CallContext, ChosenCall, ReservedCall, Route, desk_failure};
use crate::tools::ToolSnapshot;

/// The model that answers where none is configured.
pub(crate) const OFFLINE_MODEL: &str = "offline/rules";

pub(crate) struct Question {
    pub(crate) scope: TenantScope,
    pub(crate) user: Option<UserId>,
    pub(crate) task: TaskId,
    /// The tree that pays, where it is known already.
    pub(crate) tree: Option<(TaskId, Option<Limits>)>,
    pub(crate) start: TurnStart,
    pub(crate) asked: AskOptions,
    /// What can be called.
    pub(crate) tools: Arc<ToolSnapshot>,
    /// The turn's tools that its user may let a model call: it is told of no others.
    pub(crate) open: Vec<String>,
    /// The turn so far.
    pub(crate) said: Vec<ModelMessage>,
    pub(crate) subject: TurnInput,
    /// What was gathered for the turn; the first question does it.
    pub(crate) gathered: Arc<OnceCell<GatheredContext>>,
    /// The last row of the journal.
    pub(crate) behind: i64,
    /// Whether the turn has read what strangers wrote.
    pub(crate) tainted: bool,
    /// Where pieces go while somebody reads along.
    pub(crate) live: Option<Arc<LiveReply>>,
    /// The W3C `traceparent` that goes along.
    pub(crate) traceparent: Option<String>,
}

/// What came of a question.
pub(crate) enum QuestionOutcome {
    Reply(Box<ReplyRecord>, Usage, bool),
    /// Nothing, or a part of a reply, and whether it was told what strangers wrote.
    Broke(ToolFailure, Option<Box<ReplyRecord>>, bool),
}

/// A question whose prompt is written and whose model is chosen. Nobody has been asked.
pub(crate) struct PromptedQuestion {
    question: Arc<Question>,
    known: ReplyContext,
    /// What answers: `None` is the server itself, where no model is configured.
    chosen: Option<ChosenCall>,
}

/// A question that may be asked: what it can cost is reserved.
pub(crate) struct ReservedQuestion {
    question: Arc<Question>,
    known: ReplyContext,
    reserved: Option<ReservedCall>,
}

impl PromptedQuestion {
    /// Reserves what it can cost. Whoever has to write what led to it does that before the question is asked.
    ///
    /// # Errors
    /// What becomes of the question when nothing can be reserved.
    ///
    /// # Cancel safety
    /// Dropping the future gives back what it may have reserved.
    pub(crate) async fn reserved(self) -> std::result::Result<ReservedQuestion, QuestionOutcome> {
        let reserved = match self.chosen {
            Some(chosen) => Some(chosen.reserved().await.map_err(|error| QuestionOutcome::failed(&error))?),
            None => None,
        };
        Ok(ReservedQuestion { question: self.question, known: self.known, reserved })
    }
}

impl QuestionOutcome {
    fn failed(error: &Error) -> Self {
        Self::Broke(desk_failure(error), None, false)
    }
}

/// What is known of a reply before it comes.
struct ReplyContext {
    layers: Vec<LayerUse>,
    left_out: LeftOut,
    prompt: Option<PromptId>,
    tainted: bool,
    /// Which links of the reply are shown.
    links: Links,
}

/// A question, with what is known of its reply.
struct ReplyFrame<'a> {
    question: &'a Question,
    known: ReplyContext,
}

/// Which links of a reply are shown: where strangers' words were read, those that the agent's prompt has, or what the
/// user says.
fn links(question: &Question, gathered: &GatheredContext, tainted: bool) -> Links {
    if !tainted && !question.tainted {
        return Links::All;
    }
    let subject = &question.subject;
    let mut kept = if subject.strange { BTreeSet::new() } else { links_in(&subject.text) };
    let base = gathered.sections.iter().filter(|section| section.kind == SectionKind::Base);
    kept.extend(base.flat_map(|section| links_in(&section.text)));
    Links::Only(kept)
}

impl ReplyFrame<'_> {
    fn replied(
        &self,
        model: String,
        parts: Vec<Part>,
        finish: Option<FinishReason>,
        pieces: Vec<u32>,
    ) -> Box<ReplyRecord> {
        let mut replied = ReplyRecord {
            model,
            parts,
            finish,
            calls: Vec::new(),
            tools: self.question.asked.tools,
            cap: self.question.asked.cap,
            prompt: self.known.prompt,
            layers: self.known.layers.clone(),
            left_out: self.known.left_out.clone(),
            behind: self.question.behind,
            pieces,
            links: Links::All,
        };
        replied.links = self.known.links.in_text(&replied);
        Box::new(replied)
    }
}

/// Writes a question's prompt and chooses its model.
///
/// # Errors
/// What becomes of a question that cannot be asked.
pub(crate) async fn prepare(
    services: &TurnServices,
    question: &Arc<Question>,
    timeout: Millis,
) -> std::result::Result<PromptedQuestion, QuestionOutcome> {
    prepared(services, question, timeout).await.map_err(|error| QuestionOutcome::failed(&error))
}

/// Asks.
///
/// # Cancel safety
/// Dropping the future ends the request; what it may have cost is settled at its estimate.
pub(crate) async fn ask(ready: ReservedQuestion) -> QuestionOutcome {
    let ReservedQuestion { question, known, reserved } = ready;
    let frame = ReplyFrame { question: &question, known };
    let Some(reserved) = reserved else { return offline(&frame) };
    let came = match &question.live {
        Some(live) => streamed(&frame, live, reserved).await,
        None => reserved.complete().await.map(|answered| {
            let usage = used(answered.usage.input, answered.usage.output, answered.cost);
            let ModelReply { parts, finish, .. } = answered.reply;
            QuestionOutcome::Reply(
                frame.replied(answered.model, parts, Some(finish), Vec::new()),
                usage,
                frame.known.tainted,
            )
        }),
    };
    came.unwrap_or_else(|error| QuestionOutcome::failed(&error))
}

async fn prepared(services: &TurnServices, question: &Arc<Question>, timeout: Millis) -> Result<PromptedQuestion> {
    let tree = match question.tree {
        Some(known) => known,
        None => tree_of(services.store.as_ref(), question.scope, question.task).await?,
    };
    let caller = CallContext::executor(question.scope, question.user, question.traceparent.clone());
    let caller = CallContext { tree: Some(tree), ..caller };
    let gathered = question
        .gathered
        .get_or_try_init(|| gather(services, &caller, &question.subject, (&question.tools, &question.open)))
        .await?;
    let models = &services.models;
    if models.providers().is_empty() {
        return unanswered(question);
    }
    let route = Route::parse(&question.start.route);
    let functions = functions::offered(&question.tools, &question.open);
    // Pictures are shown in their own turn only.
    let parts = gathered.conversation.last().map(|spoken| &spoken.message.parts);
    let images = parts.is_some_and(|parts| parts.iter().any(|part| matches!(part, Part::Image(_))));
    let needs = Abilities { functions: !functions.is_empty(), images, ..Abilities::default() };
    let window = models.window(question.scope, &route, needs).await?;
    let composed = written(services, question, gathered, window)?;
    let request = ModelRequest {
        messages: composed.messages,
        function_choice: if question.asked.tools { FunctionChoice::Auto } else { FunctionChoice::None },
        functions,
        max_output_tokens: Some(question.start.max_tokens),
        temperature: Some(question.start.temperature),
        ..ModelRequest::default()
    };
    let timeouts = ModelTimeouts::within(models.settings().timeouts, timeout);
    let prompt = Some(format!("{},{}", CORE.mark(), TOOL_RULES.mark()));
    let ComposedPrompt { layers, left_out, tainted, .. } = composed;
    // All that is asked is in the layers, each with its digest, beside what the agent has and how it is set.
    let start = &question.start;
    let asked = (&layers, &start.tools, question.asked.tools, start.max_tokens, start.temperature);
    let digest = services.keys.digest_key(question.scope.tenant()).digest_as_written(&asked);
    let ask = Ask { route, request, timeouts, may_fall_back: true, prompt, digest };
    let links = links(question, gathered, tainted);
    let known = ReplyContext { layers, left_out, prompt: gathered.prompt, tainted, links };
    Ok(PromptedQuestion { question: Arc::clone(question), known, chosen: Some(models.choose(&caller, ask).await?) })
}

/// The prompt of a question.
pub(crate) fn written(
    services: &TurnServices,
    question: &Question,
    gathered: &GatheredContext,
    window: Option<u64>,
) -> Result<ComposedPrompt> {
    let reply = Tokens(u64::from(question.start.max_tokens));
    let shares = Shares::of(window.map(Tokens), reply, gathered.purpose);
    let turn = question.said.iter().map(|message| WindowMessage {
        tokens: count_message(message),
        message: message.clone(),
        at: question.subject.begun,
        redacted: false,
        // What strangers wrote in it is known by the outcomes of its calls.
        tainted: false,
        beside: false,
    });
    let material = Material {
        sections: gathered.sections.clone(),
        memories: gathered.memories.clone(),
        knowledge: gathered.knowledge.clone(),
        conversation: gathered.conversation.clone(),
        turn: turn.collect(),
        limits: WindowLimits {
            messages: WindowLimits::MESSAGES,
            tokens: shares.conversation,
            since: Some(question.subject.since),
        },
        tools: question.asked.tools,
        closing: question.asked.cap.map(|_| TURN_CLOSING.text),
    };
    compose(material, &shares, &services.keys.digest_key(question.scope.tenant()), &count)
}

/// Asks for a reply in pieces, and passes each on as it comes.
async fn streamed(frame: &ReplyFrame<'_>, live: &LiveReply, reserved: ReservedCall) -> Result<QuestionOutcome> {
    live.begin(frame.question.behind);
    let mut filter = match &frame.known.links {
        Links::All => None,
        Links::Only(kept) => Some(LinkFilter::new(kept.clone())),
    };
    let mut streaming = reserved.stream().await?;
    let (mut assembly, mut pieces) = (Assembly::default(), Vec::new());
    loop {
        match streaming.next().await {
            Ok(events) if events.is_empty() => break,
            Ok(events) => {
                let mut piece = String::new();
                for event in &events {
                    if let ModelEvent::Text(text) = event {
                        piece.push_str(text);
                    }
                    assembly.add(event);
                }
                if !piece.is_empty() {
                    match &mut filter {
                        None => live.add(&piece),
                        Some(filter) => live.add(&filter.push(&piece)),
                    }
                    pieces.push(u32::try_from(piece.len()).unwrap_or(u32::MAX));
                }
            }
            Err(error) => {
                let tokens = streaming.usage().unwrap_or_default();
                let usage = used(tokens.input, tokens.output, streaming.cost());
                return Ok(broken(frame, &error, (&streaming.model(), usage), &assembly, pieces));
            }
        }
    }
    if let Some(filter) = &mut filter {
        live.add(&filter.end());
    }
    let (model, cost) = (streaming.model(), streaming.cost());
    let usage = streaming.usage().unwrap_or_default();
    let usage = used(usage.input, usage.output, cost);
    match assembly.finished() {
        Some(reply) => Ok(QuestionOutcome::Reply(
            frame.replied(model, reply.parts, Some(reply.finish), pieces),
            usage,
            frame.known.tainted,
        )),
        None => Err(Error::new(ErrorCode::Model, format!("{model} ended its reply without an end"))),
    }
}

/// A stream that broke off. What came stays; nobody is asked again for what somebody has read already.
fn broken(
    frame: &ReplyFrame<'_>,
    error: &Error,
    (model, usage): (&str, Usage),
    assembly: &Assembly,
    pieces: Vec<u32>,
) -> QuestionOutcome {
    let failure = ToolFailure { usage, ..desk_failure(error) };
    if !assembly.has_begun() {
        return QuestionOutcome::Broke(failure, None, frame.known.tainted);
    }
    // Its calls may be cut off, and are not made.
    let texts = assembly.parts().iter().filter(|part| matches!(part, Part::Text { .. }));
    let partial = frame.replied(model.to_owned(), texts.cloned().collect(), None, pieces);
    QuestionOutcome::Broke(ToolFailure { retryable: false, ..failure }, Some(partial), frame.known.tainted)
}

fn used(input: u64, output: u64, cost: NanoUsd) -> Usage {
    Usage { input_tokens: Tokens(input), output_tokens: Tokens(output), cost_nanos: cost }
}

/// Where no model is configured a conversation is told so; nothing is pretended.
fn unanswered(question: &Arc<Question>) -> Result<PromptedQuestion> {
    if !question.is_conversation() {
        let message = "agent steps need a language model, and none is configured: set OPENAI_API_KEY, \
                       ANTHROPIC_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY or OLLAMA_HOST, or a [providers.NAME]";
        return Err(Error::new(ErrorCode::Unprocessable, message));
    }
    let (layers, left_out, links) = (Vec::new(), LeftOut::default(), Links::All);
    let known = ReplyContext { layers, left_out, prompt: None, tainted: false, links };
    Ok(PromptedQuestion { question: Arc::clone(question), known, chosen: None })
}

fn offline(frame: &ReplyFrame<'_>) -> QuestionOutcome {
    let text = OFFLINE.text.trim().to_owned();
    if let Some(live) = &frame.question.live {
        live.begin(frame.question.behind);
        live.add(&text);
    }
    let parts = vec![Part::Text { text }];
    let reply = frame.replied(OFFLINE_MODEL.to_owned(), parts, Some(FinishReason::NoModel), Vec::new());
    QuestionOutcome::Reply(reply, Usage::default(), false)
}

impl Question {
    /// Whether a person reads the answer.
    fn is_conversation(&self) -> bool {
        self.subject.is_conversation()
    }
}
