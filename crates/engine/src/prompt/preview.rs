//! What a message would be sent as: the prompt of a turn, written down and not sent.
//!
//! It is gathered and written by what gathers and writes for real turns, so it cannot say anything else. No task is
//! made and nothing is said; stored are only the vectors of memories that had none, and what their embedding and that
//! of the question cost. No other model is asked.

use std::sync::Arc;

use kybern_core::actor::Actor;
use kybern_core::agent::{Agent, AskOptions, TurnStart};
use kybern_core::context::{LayerUse, LeftOut, SectionKind};
use kybern_core::error::Result;
use kybern_core::id::{ChatId, MessageId, PromptId, TaskId};
use kybern_core::model::{Abilities, ModelMessage};
use kybern_core::ports::{Clock, IdSource};
use kybern_core::prompt;

use crate::agent::tools::open_to;
use crate::agent::{
    AgentTools, Agents, ChatPosition, ModelPermissions, Person, Question, SUGGEST_MEMORY, TurnInput, TurnServices,
    functions, gather, route_name, section, written,
};
use crate::chat::{Chats, check_content};
use crate::models::{CallContext, Route};
use crate::tools::ToolCatalogue;
use crate::tools::grant::{CallOrigin, Grant, rules_of};

/// What is to be written down.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PreviewRequest {
    /// What would be said.
    pub content: String,
    /// The agent, by id, key or name; that of the chat, or the one that the words choose, when nobody says.
    pub agent: Option<String>,
    /// The chat in which it would be said; a new one when nobody says.
    pub chat: Option<ChatId>,
    /// The text of a prompt that is tried in place of what the agent is told.
    pub text: Option<String>,
}

/// The first question of a turn, as it would be sent.
#[derive(Clone, PartialEq, Debug)]
pub struct Preview {
    /// The agent's key.
    pub agent: String,
    /// By what the model would be chosen.
    pub route: String,
    /// The governed prompt in it; `None` for the agent's own text, and for one that is tried.
    pub prompt: Option<PromptId>,
    /// What would be sent, in order.
    pub messages: Vec<ModelMessage>,
    /// What each layer takes, the strongest first.
    pub layers: Vec<LayerUse>,
    /// What found no place.
    pub left_out: LeftOut,
    /// The functions that the model would be given, by name.
    pub tools: Vec<String>,
}

/// Writes prompts down that are not sent.
pub struct Previews {
    pub(crate) chats: Chats,
    pub(crate) agents: Agents,
    pub(crate) catalogue: Arc<ToolCatalogue>,
    pub(crate) turns: Arc<TurnServices>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
}

impl Previews {
    /// What would be sent if the actor said that now.
    ///
    /// # Errors
    /// `VALIDATION_ERROR` for an unknown agent, words that are too long and a text that cannot be a prompt; `NOT_FOUND` for
    /// a chat that the actor does not see; `UNPROCESSABLE` when it would not fit into the model's window;
    /// `BUDGET_EXCEEDED` when the question cannot be embedded any more.
    pub async fn preview(&self, actor: &Actor, request: &PreviewRequest) -> Result<Preview> {
        let scope = actor.scope();
        check_content("/content", &request.content)?;
        let tried = request.text.as_deref().map(prompt::checked).transpose()?;
        let agent = self.previewed_agent(actor, request).await?;
        let now = self.clock.now();
        let [chat, before, task] = [(); 3].map(|()| self.ids.next());
        let grant = self.grant_of_model(actor).await?;
        let person = match actor.user() {
            Some(user) => self.turns.store.acting_user(scope, user).await?,
            None => None,
        };
        let is_abroad = person.as_ref().is_some_and(|(_, is_at_home)| !is_at_home);
        let subject = TurnInput {
            text: request.content.replace('\0', ""),
            shown: Vec::new(),
            person: person.map(|(user, _)| Person { name: user.name, timezone: user.timezone }),
            files: None,
            strange: false,
            agent: agent.draft.key.clone(),
            prompt: agent.draft.system_prompt.clone(),
            user: actor.user(),
            permissions: ModelPermissions::of(&grant),
            begun: now,
            since: now.minus(agent.draft.limits.history),
            // A chat that nobody has begun has no messages.
            chat: Some(ChatPosition {
                chat: request.chat.unwrap_or_else(|| ChatId::from_uuid(chat)),
                before: MessageId::from_uuid(before),
            }),
        };
        let snapshot = self.catalogue.of(scope).await;
        let mut keys = AgentTools::of(&agent, &snapshot).keys;
        keys.retain(|tool| tool != SUGGEST_MEMORY || !is_abroad);
        let start = start_of(&agent, keys);
        let open = open_to(&snapshot, &start.tools, &grant);
        let mut gathered = gather(&self.turns, &CallContext::of(actor), &subject, (&snapshot, &open)).await?;
        if let Some(text) = tried {
            gathered.prompt = None;
            for base in gathered.sections.iter_mut().filter(|section| section.kind == SectionKind::Base) {
                *base = section(SectionKind::Base, text.clone());
            }
        }
        let route = Route::parse(&start.route);
        let tools = functions::offered(&snapshot, &open);
        let needs = Abilities { functions: !tools.is_empty(), ..Abilities::default() };
        // Where no model can be chosen now, as where none is configured, it is written for a window that nobody knows.
        let window = self.turns.models.window(scope, &route, needs).await.unwrap_or_default();
        let question = Question {
            scope,
            user: actor.user(),
            task: TaskId::from_uuid(task),
            tree: None,
            asked: AskOptions { tools: !start.tools.is_empty(), cap: None },
            tools: snapshot,
            open,
            start,
            said: Vec::new(),
            subject,
            gathered: Arc::default(),
            behind: 0,
            tainted: false,
            live: None,
            traceparent: None,
        };
        let composed = written(&self.turns, &question, &gathered, window)?;
        Ok(Preview {
            agent: agent.draft.key,
            route: question.start.route,
            prompt: gathered.prompt,
            messages: composed.messages,
            layers: composed.layers,
            left_out: composed.left_out,
            tools: tools.into_iter().map(|tool| tool.name).collect(),
        })
    }

    async fn previewed_agent(&self, actor: &Actor, request: &PreviewRequest) -> Result<Agent> {
        let scope = actor.scope();
        let of_chat = match request.chat {
            Some(chat) => self.chats.get(actor, chat).await?.agent,
            None => None,
        };
        match (&request.agent, of_chat) {
            (Some(name), _) => self.agents.named(scope, name).await,
            (None, Some(key)) => self.agents.get(scope, &key).await,
            (None, None) => self.agents.choose(scope, &request.content).await,
        }
    }

    /// By what right a model would call tools in a turn that the actor begins.
    async fn grant_of_model(&self, actor: &Actor) -> Result<Grant> {
        let (scope, user) = (actor.scope(), actor.user());
        let rules = rules_of(self.turns.store.as_ref(), scope, user).await?;
        let settings = self.turns.store.tool_settings(scope).await?;
        Ok(Grant { origin: CallOrigin::Model, user, rules, rights: actor.rights(), settings })
    }
}

/// What would hold for the turn.
fn start_of(agent: &Agent, tools: Vec<String>) -> TurnStart {
    TurnStart {
        agent: agent.draft.key.clone(),
        version: agent.version,
        route: route_name(&agent.draft),
        max_tokens: agent.draft.max_tokens,
        temperature: agent.draft.temperature,
        limits: agent.draft.limits,
        tools,
        text: None,
        after: Vec::new(),
        tainted: false,
    }
}
