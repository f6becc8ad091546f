//! An outside service that answers late, or not before it is told to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::kit;

/// How late an answer from `/late` is, in milliseconds.
pub(crate) const LATE_MS: u64 = 50;
/// How often a held request looks whether it may go.
const LOOK: Duration = Duration::from_millis(2);

/// The service, on a thread of its own.
pub(crate) struct Service {
    authority: String,
    state: Arc<State>,
    runtime: Option<Runtime>,
}

#[derive(Default)]
struct State {
    holds: AtomicBool,
    held: AtomicUsize,
}

impl Service {
    /// Listens on a free port, and holds what comes to `/held`.
    pub(crate) fn open() -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let state = Arc::new(State::default());
        state.holds.store(true, Ordering::Relaxed);
        let shared = Arc::clone(&state);
        let held = async move || {
            shared.held.fetch_add(1, Ordering::Relaxed);
            while shared.holds.load(Ordering::Relaxed) {
                tokio::time::sleep(LOOK).await;
            }
            "{}"
        };
        let late = async || {
            tokio::time::sleep(Duration::from_millis(LATE_MS)).await;
            "{}"
        };
        let routes = Router::new().route("/late", get(late)).route("/held", get(held));
        let listener = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.1", 0))).unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        runtime.spawn(async move { axum::serve(listener, routes).await });
        Self { authority, state, runtime: Some(runtime) }
    }

    /// The setting that lets tools reach it.
    pub(crate) fn allowed(&self) -> String {
        format!("[\"{}\"]", self.authority)
    }

    /// A step that asks it.
    pub(crate) fn step(&self, id: &str, path: &str) -> Value {
        let url = format!("http://{}{path}", self.authority);
        json!({"id": id, "tool": "core.http_request", "args": {"method": "GET", "url": url}})
    }

    /// Waits until so many requests are held.
    pub(crate) fn until_held(&self, count: usize) {
        kit::until("requests are held", LOOK, || self.state.held.load(Ordering::Relaxed) >= count);
    }

    /// Answers what is held, and from now on at once.
    pub(crate) fn release(&self) {
        self.state.holds.store(false, Ordering::Relaxed);
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
