//! An application under test, and requests to it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use bytes::Bytes;
use futures::StreamExt;
use kybern_core::actor::Role;
use kybern_core::agent::AgentDraft;
use kybern_core::id::{RequestId, TenantId};
use kybern_core::model::{ModelEvent, ModelFailureKind, ModelKind, ModelMessage, ModelRequest, ModelSpec};
use kybern_core::pack::PackRegistry;
use kybern_core::ports::HttpClient;
use kybern_core::task::{EffectClass, WorkerId};
use kybern_engine::identity::{NewKey, NewUser};
use kybern_engine::models::{ModelParts, ModelSettings, ProviderParts};
use kybern_engine::{Engine, EngineParts, Settings, WorkflowEndpoint};
use kybern_server::{AppState, InboundSource, Limits};
use kybern_store::{SqliteOptions, SqliteStore};
use kybern_testkit::fakes::{FixedIntent, RecordingMailSender, TextReader};
use kybern_testkit::models::{Scripted, ScriptedModel};
use kybern_testkit::tools::ScriptedTool;
use kybern_testkit::{Fault, FaultPoint, FaultyStore, SeededIds, SeededRandom, TestKeys};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use uuid::Uuid;

use crate::outside::{NoExtractor, NoNetwork, PlainMail, RunningClock};

/// The platform admin's key.
pub(crate) const PLATFORM: &str = "kyb_platform_admin_of_the_tests_0001";
/// The domain of intake addresses.
pub(crate) const INTAKE: &str = "in.example.com";
/// Of what holds these words the model says the beginning, and then nothing more.
pub(crate) const FALLS_SILENT: &str = "think about it for ever";
/// The secret of the configured source `forms`.
pub(crate) const GATEWAY_TOKEN: &str = "a-gateways-token";
pub(crate) const SOURCE_SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The largest body in these tests, so that too large ones are small.
pub(crate) const MAX_BODY: usize = 64 * 1024;
/// The largest mail.
pub(crate) const MAX_MAIL: usize = 96 * 1024;

/// Keys of one tenant by what they may do.
#[derive(Clone, Debug, Default)]
pub(crate) struct TenantKeys {
    pub(crate) viewer: String,
    pub(crate) operator: String,
    pub(crate) reviewer: String,
    pub(crate) admin: String,
    /// An admin's key that is narrowed to answering reviews: it may not even read.
    pub(crate) narrow: String,
}

/// A call of the store, and how it goes.
type Ill = Arc<Mutex<Option<(&'static str, Fault)>>>;

/// The application.
pub(crate) struct App {
    pub(crate) router: Router,
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<RunningClock>,
    pub(crate) shutdown: CancellationToken,
    /// The keys of the tenant that asks.
    pub(crate) ours: TenantKeys,
    /// The keys of another tenant.
    pub(crate) theirs: TenantKeys,
    pub(crate) their_id: TenantId,
    /// The call of the store that goes wrong, and how.
    ill: Ill,
}

impl App {
    /// An application with two tenants, on an engine that works.
    pub(crate) async fn start() -> Self {
        Self::start_with(Arc::new(NoNetwork), BTreeMap::new()).await
    }

    /// The same, with an outside world and workflows in it.
    pub(crate) async fn start_with(http: Arc<dyn HttpClient>, workflows: BTreeMap<String, WorkflowEndpoint>) -> Self {
        Self::limited(http, workflows, Limits { max_body: MAX_BODY, max_mail: MAX_MAIL, ..Limits::default() }).await
    }

    /// The same, with other limits.
    pub(crate) async fn limited(
        http: Arc<dyn HttpClient>,
        workflows: BTreeMap<String, WorkflowEndpoint>,
        limits: Limits,
    ) -> Self {
        let clock = Arc::new(RunningClock::new());
        let ill = Ill::default();
        let engine = engine(&clock, http, workflows, ill.clone()).await;
        engine.start().await.unwrap();
        engine.identity().bootstrap(Some(PLATFORM), String::new).await.unwrap();
        let request = RequestId::from_uuid(Uuid::nil());
        let platform = engine.identity().authenticate(PLATFORM, request, None).await.unwrap();
        let (other, other_admin) = engine.identity().create_tenant(&platform, "Other Carrier").await.unwrap();
        let shutdown = CancellationToken::new();
        let sources = BTreeMap::from([
            ("forms".to_owned(), InboundSource { secret: Some(SOURCE_SECRET.to_owned()), tenant: TenantId::DEFAULT }),
            ("sms".to_owned(), InboundSource { secret: Some(GATEWAY_TOKEN.to_owned()), tenant: TenantId::DEFAULT }),
            ("open".to_owned(), InboundSource { secret: None, tenant: TenantId::DEFAULT }),
        ]);
        let state = AppState::new(engine.clone(), limits, sources, shutdown.clone(), None);
        let ours = tenant_keys(&engine, PLATFORM).await;
        let theirs = tenant_keys(&engine, &other_admin).await;
        let router = kybern_server::router(state);
        Self { router, engine, clock, shutdown, ours, theirs, their_id: other.id, ill }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(&self, ask: Ask) -> Answer {
        let response = self.router.clone().oneshot(ask.0).await.unwrap();
        Answer::read(response).await
    }

    /// From now on no answer of an idempotent request is kept, as if the process died before that; or each is again.
    pub(crate) fn lose_answers(&self, lose: bool) {
        self.fail(lose.then_some(("answer_key", Fault::Unavailable)));
    }

    /// From now on that call of the store goes so.
    pub(crate) fn fail(&self, how: Option<(&'static str, Fault)>) {
        *self.ill.lock().unwrap() = how;
    }

    /// Sends a request and leaves the answer's body unread.
    pub(crate) async fn open(&self, ask: Ask) -> axum::response::Response {
        self.router.clone().oneshot(ask.0).await.unwrap()
    }

    /// Submits a task and waits until it rests.
    pub(crate) async fn submit(&self, key: &str, body: Value) -> Value {
        let answer = self.send(Ask::post("/api/tasks?waitMs=20000").key(key).json(&body)).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()
    }
}

async fn engine(
    clock: &Arc<RunningClock>,
    http: Arc<dyn HttpClient>,
    workflows: BTreeMap<String, WorkflowEndpoint>,
    ill: Ill,
) -> Engine {
    let keys = Arc::new(TestKeys::new());
    let ids = Arc::new(SeededIds::new(7, clock.clone()));
    let fault = move |point: FaultPoint| match *ill.lock().unwrap() {
        Some((call, how)) if call == point.call => how,
        Some(_) | None => Fault::None,
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kybern.db");
    let store = SqliteStore::open(path, SqliteOptions::default(), keys.clone(), clock.clone()).await.unwrap();
    let (wake_ups, job_wake_ups) = (store.wake_ups(), store.wake_ups());
    let store = Arc::new(FaultyStore::new(Arc::new(store), clock.clone(), fault).keeping(folder));
    let mut registry = PackRegistry::default();
    registry.tool(Arc::new(ScriptedTool::echo("test.echo"))).unwrap();
    registry.agent(AgentDraft::named("Assistant", "You help.").checked().unwrap()).unwrap();
    let never = |_, _| futures::FutureExt::boxed(std::future::pending());
    registry.tool(Arc::new(ScriptedTool::pending("test.never", EffectClass::Read, never))).unwrap();
    Engine::new(EngineParts {
        tool_sources: Vec::new(),
        wake_ups,
        job_wake_ups,
        store,
        registry,
        keys,
        clock: clock.clone(),
        ids,
        random: Arc::new(SeededRandom::new(9)),
        http,
        mail_parser: Arc::new(PlainMail),
        mail_sender: Some(Arc::new(RecordingMailSender::new())),
        documents: Arc::new(TextReader),
        intents: Arc::new(FixedIntent::new()),
        extractor: Arc::new(NoExtractor),
        decisions: None,
        models: models(),
        worker: WorkerId::new("edge-tests"),
        settings: Settings { intake_domain: Some(INTAKE.to_owned()), workflows, ..Settings::default() },
    })
    .unwrap()
}

/// A provider of one's own whose model repeats what it is told.
fn models() -> ModelParts {
    let echo = ScriptedModel::new("scripted", |_, request: &ModelRequest| {
        let said = request.messages.last().map(ModelMessage::joined_text).unwrap_or_default();
        match said.as_str() {
            "fail" => Scripted::fail(ModelFailureKind::Request),
            said if said.contains(FALLS_SILENT) => {
                let begun = ModelEvent::Started { id: "reply-1".to_owned(), model: "echo".to_owned() };
                Scripted::Pieces(vec![vec![begun, ModelEvent::Text("one moment".to_owned())], Vec::new()], None)
            }
            "trace" => Scripted::text(request.traceparent.as_deref().unwrap_or_default(), 12, 5),
            said => Scripted::text(&format!("you said: {said}"), 12, 5),
        }
    });
    let chat = ModelSpec { quality: Some(50), ..ModelSpec::unknown("echo") };
    let embed = ModelSpec { kind: ModelKind::Embedding, ..ModelSpec::unknown("embed") };
    let scripted = ProviderParts { model: Arc::new(echo), models: vec![chat, embed], others: false, free: true };
    ModelParts { providers: vec![scripted], settings: ModelSettings::default(), counter: None }
}

async fn tenant_keys(engine: &Engine, admin_key: &str) -> TenantKeys {
    let admin = engine.identity().authenticate(admin_key, RequestId::from_uuid(Uuid::nil()), None).await.unwrap();
    let key = async |name: &str, role: Role, scopes: &[&str]| {
        let email = format!("{name}@example.com");
        let new = NewUser { name: name.to_owned(), email, roles: vec![role], timezone: String::new() };
        let user = engine.identity().create_user(&admin, new).await.unwrap();
        let scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
        let new = NewKey { name: name.to_owned(), user_id: Some(user.id), roles: vec![], scopes, expires_at: None };
        engine.identity().create_key(&admin, new).await.unwrap().1
    };
    TenantKeys {
        viewer: key("viewer", Role::Viewer, &[]).await,
        operator: key("operator", Role::Operator, &[]).await,
        reviewer: key("reviewer", Role::Reviewer, &[]).await,
        admin: key("admin", Role::Admin, &[]).await,
        narrow: key("narrow", Role::Admin, &["review"]).await,
    }
}

/// A request in the making.
pub(crate) struct Ask(Request<Body>);

impl Ask {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        Self(Request::builder().method(method).uri(path).body(Body::empty()).unwrap())
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub(crate) fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    pub(crate) fn path(&self) -> String {
        self.0.uri().path().to_owned()
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.0.headers_mut().insert(name, value.parse().unwrap());
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// A body of that type; without a type no `Content-Type` is sent.
    pub(crate) fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        let body: Bytes = body.into();
        self.0.headers_mut().insert(header::CONTENT_LENGTH, body.len().into());
        if !content_type.is_empty() {
            self.0.headers_mut().insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        }
        *self.0.body_mut() = Body::from(body);
        self
    }

    /// A body that does not say how long it is.
    pub(crate) fn chunked(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        let body: Bytes = body.into();
        let chunks: Vec<Result<Bytes, std::io::Error>> =
            body.chunks(4096).map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
        self.0.headers_mut().remove(header::CONTENT_LENGTH);
        self.0.headers_mut().insert(header::CONTENT_TYPE, content_type.parse().unwrap());
        *self.0.body_mut() = Body::from_stream(futures::stream::iter(chunks));
        self
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    async fn read(response: axum::response::Response) -> Self {
        let (parts, body) = response.into_parts();
        let mut stream = body.into_data_stream();
        let mut whole = Vec::new();
        while let Some(chunk) = stream.next().await {
            whole.extend_from_slice(&chunk.unwrap());
        }
        Self { status: StatusCode::as_u16(&parts.status), headers: parts.headers, body: whole.into() }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
    }

    /// Checks that this is an error of that kind in the envelope, and gives the paths of its details.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str, about: &str) -> Vec<String> {
        assert_eq!(self.status, status, "{about}: {}", self.text());
        let body = self.json();
        let error = &body["error"];
        assert_eq!(error["code"], code, "{about}: {body}");
        assert!(error["message"].as_str().is_some_and(|text| text.len() > 5), "{about}: {body}");
        assert_eq!(error["requestId"], self.header("x-request-id"), "{about}: {body}");
        assert_eq!(error.as_object().unwrap().len(), 4, "{about}: {body}");
        let details = error["details"].as_array().unwrap();
        details.iter().map(|detail| detail["path"].as_str().unwrap().to_owned()).collect()
    }
}
