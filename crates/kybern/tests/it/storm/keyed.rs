//! A process that is killed inside a submission with an `Idempotency-Key`: the repeat learns its task at once, and there
//! is one task.

use serde_json::json;

use crate::server::client::{Ask, text, until};
use crate::server::{Server, Site};

/// Where the process stands when it is killed: what it would write next never ends.
struct Moment {
    what: &'static str,
    /// The write that never ends.
    before: &'static str,
    /// Whether the task is there by then.
    has_task: bool,
}

const MOMENTS: [Moment; 2] = [
    Moment { what: "the key is taken", before: "INSERT ON task", has_task: false },
    Moment { what: "the task is there and the answer is not kept", before: "UPDATE ON idempotency", has_task: true },
];

/// Has the database work for ever before that write.
fn stall(site: &Site, on_postgres: bool, before: &str) {
    site.beneath(&if on_postgres {
        format!(
            "CREATE OR REPLACE FUNCTION stall() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); \
             RETURN NEW; END $$; CREATE TRIGGER stall BEFORE {before} FOR EACH ROW EXECUTE FUNCTION stall()"
        )
    } else {
        format!(
            "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n; \
             CREATE TRIGGER stall BEFORE {before} BEGIN SELECT count(*) FROM endless; END"
        )
    });
}

/// Takes that away. What a dead process had asked of PostgreSQL ends with its connection.
fn go_on(site: &Site, on_postgres: bool, before: &str) {
    if !on_postgres {
        site.beneath("DROP TRIGGER stall; DROP VIEW endless");
        return;
    }
    site.rows(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    let table = before.rsplit(' ').next().unwrap_or_default();
    site.beneath(&format!("DROP TRIGGER stall ON {table}"));
}

async fn the_repeat_learns_its_task_at_once(site: Site, on_postgres: bool) {
    // Long leases, so that it is the key that tells, and not somebody who finds the task later; and so that PostgreSQL
    // gives no statement up before its process is killed.
    let site = site.with("KYBERN_WORKER__LEASE_MS", "600000").with("KYBERN_WORKER__HEARTBEAT_MS", "10000");
    for Moment { what, before, has_task } in MOMENTS {
        let mut server: Server = site.start();
        let client = server.client();
        let steps = json!([{"id": "a", "tool": "core.noop"}]);
        client.post("/api/plans", &json!({"key": "keyed", "steps": steps})).await;
        let known = client.list("/api/tasks").await.len();
        let ask = Ask::json("/api/tasks", &json!({"input": what, "planKey": "keyed"})).header("idempotency-key", what);
        stall(&site, on_postgres, before);
        let keys = format!("SELECT count(*) FROM idempotency WHERE key = '{what}' AND status IS NULL");
        let tasks = "SELECT count(*) FROM task";
        let there = known as u64 + u64::from(has_task);
        let killing = async {
            until(what, || async { (site.count(&keys) == 1 && site.count(tasks) == there).then_some(()) }).await;
            server.kill();
        };
        let (answered, ()) = tokio::join!(client.raw(&ask), killing);
        assert!(answered.is_err(), "{what}: it was answered before it was killed");
        go_on(&site, on_postgres, before);
        assert_eq!((site.count(&keys), site.count(tasks)), (1, there), "{what}");

        let server = site.start();
        let client = server.client();
        let mut learned = Vec::new();
        for _ in 0..3 {
            let (status, task) = client.send(&ask).await;
            assert_eq!(status.as_u16(), 202, "{what}: {task}");
            learned.push(text(&task["id"]));
        }
        assert!(learned.iter().all(|id| *id == learned[0]), "{what}: {learned:?}");
        let listed = client.list("/api/tasks").await;
        let ours: Vec<String> =
            listed.iter().filter(|task| task["input"] == what).map(|task| text(&task["id"])).collect();
        assert_eq!((listed.len(), ours), (known + 1, vec![learned[0].clone()]), "{what}");
    }
}

#[tokio::test]
async fn a_repeat_after_a_kill_learns_its_task_at_once_on_sqlite() {
    the_repeat_learns_its_task_at_once(Site::sqlite(), false).await;
}

#[tokio::test]
async fn a_repeat_after_a_kill_learns_its_task_at_once_on_postgres() {
    let Some(site) = Site::postgres() else { return };
    the_repeat_learns_its_task_at_once(site, true).await;
}
