//! Callers that submit tasks all the time, and remember what they were told.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::server::Client;
use crate::server::client::{Ask, pause, text, until};

/// Callers at once.
const CALLERS: usize = 6;
/// Between two submissions of a caller.
const BREATH: Duration = Duration::from_millis(15);

/// What the callers know.
#[derive(Default)]
pub(super) struct Load {
    /// Added to each input, so that a disk fills up.
    ballast: usize,
    next: Cell<u64>,
    /// The tasks that were acknowledged, by their number.
    taken: RefCell<BTreeMap<u64, String>>,
    /// The numbers that were refused.
    refused: RefCell<BTreeSet<u64>>,
}

impl Load {
    /// Callers whose tasks carry that many bytes.
    pub(super) fn of(ballast: usize) -> Self {
        Self { ballast, ..Self::default() }
    }

    /// Stores the plan that the tasks walk.
    pub(super) async fn prepare(client: &Client) {
        let args = json!({"kind": "test.order", "key": "order-{{ task.payload.n }}", "props": {"of": "{{ task.id }}"}});
        let steps = json!([
            {"id": "first", "tool": "core.noop"},
            {"id": "keep", "tool": "core.put_record", "args": args}
        ]);
        client.post("/api/plans", &json!({"key": "outage.order", "intentKey": "outage.order", "steps": steps})).await;
    }

    /// Submits until `fault` is over, and gives what it came to.
    pub(super) async fn during<T>(&self, client: &Client, fault: impl Future<Output = T>) -> T {
        let over = Cell::new(false);
        let calling = join_all((0..CALLERS).map(|_| async {
            while !over.get() {
                let n = self.next.get();
                self.next.set(n + 1);
                self.submit(client, n).await;
                pause(BREATH).await;
            }
        }));
        let fault = async {
            let came = fault.await;
            over.set(true);
            came
        };
        tokio::join!(calling, fault).1
    }

    /// Waits until so many more were acknowledged: all is well.
    pub(super) async fn served(&self, more: usize) {
        let enough = self.taken() + more;
        until("callers are served", || std::future::ready((self.taken() >= enough).then_some(()))).await;
    }

    /// Waits until so many more were refused: the fault is felt.
    pub(super) async fn turned_away(&self, more: usize) {
        let enough = self.refused() + more;
        until("callers are refused", || std::future::ready((self.refused() >= enough).then_some(()))).await;
    }

    /// How many were acknowledged.
    pub(super) fn taken(&self) -> usize {
        self.taken.borrow().len()
    }

    /// How many were refused.
    pub(super) fn refused(&self) -> usize {
        self.refused.borrow().len()
    }

    /// A submission is acknowledged, or refused with the code that says why; the server itself is always there.
    async fn submit(&self, client: &Client, n: u64) -> bool {
        let (status, answer) = client.send(&self.ask(n)).await;
        if status.as_u16() == 202 {
            self.taken.borrow_mut().insert(n, text(&answer["id"]));
            return true;
        }
        let error = &answer["error"];
        assert_eq!((status.as_u16(), error["code"].as_str()), (503, Some("UNAVAILABLE")), "{answer}");
        assert!(!text(&error["message"]).is_empty() && error["requestId"].is_string(), "{answer}");
        self.refused.borrow_mut().insert(n);
        false
    }

    fn ask(&self, n: u64) -> Ask {
        let input = format!("go {}", "x".repeat(self.ballast));
        let key = format!("outage-order-{n}");
        let body = json!({"input": input, "planKey": "outage.order", "payload": {"n": n}, "idempotencyKey": key});
        Ask::json("/api/tasks", &body)
    }

    /// The outage is over: whoever was refused comes again and is served, every task ends, each is there once.
    pub(super) async fn settle(&self, client: &Client) {
        let refused: Vec<u64> = self.refused.borrow().iter().copied().collect();
        for n in refused {
            until("a caller who was refused is served", || async { self.submit(client, n).await.then_some(()) }).await;
        }
        let taken = self.taken.borrow().clone();
        for (n, id) in &taken {
            let task = client.rest(id).await;
            assert_eq!(task["status"], "completed", "{n}: {task}");
        }
        assert_eq!(client.list("/api/tasks").await.len(), taken.len(), "each order is one task");
        let records = client.list("/api/records/test.order").await;
        let of: BTreeSet<&str> = records.iter().filter_map(|record| record["props"]["of"].as_str()).collect();
        assert_eq!(of, taken.values().map(String::as_str).collect());
        assert!(records.iter().all(|record: &Value| record["version"] == 1), "a record was written twice");
        for id in taken.values().take(20) {
            client.replays(id).await;
        }
        client.audit_is_whole().await;
    }
}
