//! Language models that follow a script and remember what they were asked.

use std::sync::Mutex;

use async_trait::async_trait;
use kybern_core::model::{
    EmbedRequest, Embedded, FinishReason, ListedModel, ModelEvent, ModelFailure, ModelFailureKind, ModelReply,
    ModelRequest, ModelTimeouts, Part, TokenUsage,
};
use kybern_core::ports::{LanguageModel, ModelStream};
use kybern_core::time::Millis;

/// What a model does when it is asked.
#[derive(Clone, Debug)]
pub enum Scripted {
    /// It replies at once; in pieces when it is asked to stream.
    Reply(Box<ModelReply>),
    /// It streams these pieces, and then breaks with that failure, or ends. An empty piece never comes.
    Pieces(Vec<Vec<ModelEvent>>, Option<ModelFailure>),
    Fail(ModelFailure),
    /// It says nothing until its time is up.
    Silence,
    /// The same after a while.
    After(Millis, Box<Scripted>),
}

impl Scripted {
    /// A reply of one text with that usage.
    #[must_use]
    pub fn text(text: &str, input: u64, output: u64) -> Self {
        let usage = TokenUsage { input, output, ..TokenUsage::default() };
        Self::Reply(Box::new(ModelReply {
            id: "reply-1".to_owned(),
            model: "scripted".to_owned(),
            parts: vec![Part::Text { text: text.to_owned() }],
            finish: FinishReason::Stop,
            usage: Some(usage),
            logprobs: None,
        }))
    }

    #[must_use]
    pub fn fail(kind: ModelFailureKind) -> Self {
        Self::Fail(ModelFailure::new(kind, format!("scripted {kind:?}")))
    }
}

type ModelScript = Box<dyn Fn(usize, &ModelRequest) -> Scripted + Send + Sync>;

/// The names that a provider lists.
type List = Result<Vec<String>, ModelFailure>;

/// A provider that does what a test says.
pub struct ScriptedModel {
    name: String,
    script: ModelScript,
    asked: Mutex<Vec<ModelRequest>>,
    list: Mutex<List>,
}

impl std::fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScriptedModel").field("name", &self.name).finish_non_exhaustive()
    }
}

impl ScriptedModel {
    /// A provider of that name. The script gets the number of the call, from 0, and the request.
    pub fn new<F>(name: &str, script: F) -> Self
    where
        F: Fn(usize, &ModelRequest) -> Scripted + Send + Sync + 'static,
    {
        let list = Mutex::new(Ok(vec!["scripted".to_owned()]));
        Self { name: name.to_owned(), script: Box::new(script), asked: Mutex::default(), list }
    }

    /// What it lists from now on; at first a model `scripted`.
    pub fn lists(&self, list: Result<&[&str], ModelFailureKind>) {
        let listed = list.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let failed = |kind| ModelFailure::new(kind, format!("scripted {kind:?}")).of(&self.name);
        *self.list.lock().expect("no test panics here") = listed.map_err(failed);
    }

    /// How often it was asked.
    #[must_use]
    pub fn count(&self) -> usize {
        self.asked.lock().expect("no test panics here").len()
    }

    /// What it was asked.
    #[must_use]
    pub fn asked(&self) -> Vec<ModelRequest> {
        self.asked.lock().expect("no test panics here").clone()
    }

    async fn answer(&self, request: &ModelRequest, timeouts: ModelTimeouts) -> Result<Scripted, ModelFailure> {
        let number = {
            let mut asked = self.asked.lock().expect("no test panics here");
            asked.push(request.clone());
            asked.len() - 1
        };
        let mut scripted = (self.script)(number, request);
        loop {
            match scripted {
                Scripted::Fail(failure) => return Err(failure.of(&self.name)),
                Scripted::Silence => {
                    rest(timeouts.first.min(timeouts.whole)).await;
                    let failure = ModelFailure::new(ModelFailureKind::FirstTimeout, "scripted silence");
                    return Err(failure.of(&self.name));
                }
                Scripted::After(span, then) => {
                    rest(span).await;
                    scripted = *then;
                }
                other @ (Scripted::Reply(_) | Scripted::Pieces(..)) => return Ok(other),
            }
        }
    }
}

async fn rest(span: Millis) {
    let _ = tokio::time::timeout(span.as_duration(), std::future::pending::<()>()).await;
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn provider(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &ModelRequest, timeouts: ModelTimeouts) -> Result<ModelReply, ModelFailure> {
        match self.answer(request, timeouts).await? {
            Scripted::Reply(reply) => Ok(*reply),
            other => unreachable!("a whole reply was asked for, the script has {other:?}"),
        }
    }

    async fn stream(
        &self,
        request: &ModelRequest,
        timeouts: ModelTimeouts,
    ) -> Result<Box<dyn ModelStream>, ModelFailure> {
        let (pieces, end) = match self.answer(request, timeouts).await? {
            Scripted::Pieces(pieces, end) => (pieces, end.map(|end| end.of(&self.name))),
            Scripted::Reply(reply) => (in_pieces(&reply), None),
            other => unreachable!("a stream was asked for, the script has {other:?}"),
        };
        Ok(Box::new(ScriptedStream { pieces: pieces.into_iter(), end }))
    }

    async fn embed(&self, request: &EmbedRequest, timeouts: ModelTimeouts) -> Result<Embedded, ModelFailure> {
        let (model, traceparent) = (request.model.clone(), request.traceparent.clone());
        let as_request = ModelRequest { model, traceparent, ..ModelRequest::default() };
        self.answer(&as_request, timeouts).await?;
        let vectors = request.texts.iter().map(|text| vec![1.0, f32::from(u8::try_from(text.len() % 7).unwrap_or(0))]);
        Ok(Embedded { model: request.model.clone(), vectors: vectors.collect(), usage: None })
    }

    async fn models(&self, _: ModelTimeouts) -> Result<Vec<ListedModel>, ModelFailure> {
        let names = self.list.lock().expect("no test panics here").clone()?;
        Ok(names.into_iter().map(ListedModel::named).collect())
    }
}

fn in_pieces(reply: &ModelReply) -> Vec<Vec<ModelEvent>> {
    let mut pieces = vec![vec![ModelEvent::Started { id: reply.id.clone(), model: reply.model.clone() }]];
    let mut calls = 0;
    for part in &reply.parts {
        pieces.push(match part {
            Part::Text { text } => text.split_inclusive(' ').map(|word| ModelEvent::Text(word.to_owned())).collect(),
            Part::Reasoning(reasoning) => vec![ModelEvent::Reasoning(reasoning.clone())],
            Part::ToolCall(call) => {
                calls += 1;
                let (index, fragment) = (calls - 1, call.arguments.clone());
                vec![
                    ModelEvent::CallBegun { index, id: call.id.clone(), name: call.name.clone() },
                    ModelEvent::CallArguments { index, fragment },
                ]
            }
            Part::Image(_) | Part::ToolAnswer(_) => Vec::new(),
        });
    }
    pieces.extend(reply.logprobs.clone().map(|logprobs| vec![ModelEvent::Logprobs(logprobs)]));
    pieces.push(vec![ModelEvent::Finished { finish: reply.finish, usage: reply.usage }]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

struct ScriptedStream {
    pieces: std::vec::IntoIter<Vec<ModelEvent>>,
    end: Option<ModelFailure>,
}

#[async_trait]
impl ModelStream for ScriptedStream {
    async fn next(&mut self) -> Result<Vec<ModelEvent>, ModelFailure> {
        match self.pieces.next() {
            Some(piece) if piece.is_empty() => std::future::pending().await,
            Some(piece) => Ok(piece),
            None => self.end.take().map_or(Ok(Vec::new()), Err),
        }
    }
}
