//! `kybern demo --crash`: the mails of the demonstration and a few orders, while the server that works on them is killed
//! with SIGKILL at the worst moments, started again, and left alone; then what came of it is counted.
//!
//! The server is a process of its own. The model that it asks, the receiver that it calls and whoever delivers the mails
//! are this process, so that what they count does not depend on what was killed.

mod facts;
mod proof;
mod victim;
mod world;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kybern_adapters::clock::SystemClock;
use kybern_adapters::keys::new_api_key;
use kybern_core::ports::Clock as _;
use kybern_core::time::Millis;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::samples::{SAMPLES, Sample, SampleChannel};
use crate::cli::list;
use crate::client::{Client, ClientError, PostedBody, pause};
use crate::output::{Screen, field, quoted, span};
use facts::{Acknowledged, CrashFacts};
use proof::Claim;
use victim::{ServerAddress, Victim, since};
use world::{KillMoment, ORDER, World};

/// How long a part of the demonstration may take; nothing waits so long when all is well.
const PATIENCE: Millis = Millis(120_000);
/// How often is looked whether something has come to rest.
const LOOK: Duration = Duration::from_millis(20);
/// Messages that are on their way at once.
const AT_ONCE: usize = 4;
/// Orders that are submitted behind the mails.
const ORDERS: usize = 10;
const PLAN: &str = "demo.order";
/// The step of the plan that asks the model.
const DECIDE: &str = "decide";

/// When the server is killed, in this order: at which moment, and how often that has to come since the kill before. A server
/// that dies three times while it reads one document takes that for what killed it, and fails the task; so it dies twice
/// with mails at work.
const KILLS: [(KillMoment, usize); 5] = [
    (KillMoment::Acknowledged, 6),
    (KillMoment::Acknowledged, 8),
    (KillMoment::Asked, 3),
    (KillMoment::Ordered, 3),
    (KillMoment::Told, 2),
];

/// What the demonstration is started with.
pub(crate) struct CrashOptions {
    /// Keep its folder afterwards.
    pub(crate) keep: bool,
    /// The folder it uses; a temporary one when not stated.
    pub(crate) dir: Option<PathBuf>,
    /// Where programs are, for the server's process.
    pub(crate) path: Option<String>,
    /// Where it shows what happens.
    pub(crate) screen: Screen,
}

/// Kills a server in the middle of its work, and proves what came of it.
///
/// # Errors
/// When the server cannot be started, or does not come to rest.
pub(crate) async fn run(options: CrashOptions) -> anyhow::Result<ExitCode> {
    let CrashOptions { keep, dir, path, mut screen } = options;
    kybern_adapters::http::install_tls();
    let keep = keep || dir.is_some();
    // The server works in that folder, where a relative name would mean another.
    let folder = super::folder(dir)?.canonicalize()?;
    let mut victim = Victim::new(&folder, new_api_key()?, path);
    if victim.database().exists() {
        bail!("{} is there already, name another folder", victim.database().display());
    }
    let (parts, stop) = (TaskTracker::new(), CancellationToken::new());
    let (world, mut springs) = World::start(&parts, stop.clone()).await?;
    std::fs::write(folder.join("kybern.toml"), settings(&world)).context("the settings of the server")?;
    let began = SystemClock.elapsed();
    let ended = storm(&mut victim, &world, &mut springs, &mut screen).await;
    let took = since(began);
    let database = victim.database();
    // Where the storm failed there may be none to be ended; its own error says more.
    drop(victim.kill().await);
    stop.cancel();
    parts.close();
    parts.wait().await;
    let ended = ended.map(|facts| tell(&mut screen, &proof::claims(&facts, KILLS.len()), took));
    if keep {
        let database = quoted(&format!("sqlite:{}", database.display()));
        screen.line(format!("look into it: kybern --database {database} task list"));
    } else {
        std::fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(if ended? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Mails are read by the rules alone; the model decides about orders.
fn settings(world: &World) -> String {
    let address = world.address();
    format!(
        "[intake]\nlanguage_model = \"off\"\n[egress]\nallow = [\"{address}\"]\n[providers.desk]\nkind = \"custom\"\n\
         base_url = \"http://{address}/v1\"\nmodels = [{{ name = \"clerk\", json_schema = true }}]\n"
    )
}

fn plan(world: &World) -> Value {
    let order = "{{ task.payload.order }}";
    let send = json!({"method": "POST", "url": format!("http://{}/orders", world.address()), "effect": "keyed",
        "json": {"order": order, "urgent": "{{ state.urgent }}"}});
    let schema = json!({"type": "object", "properties": {"urgent": {"type": "boolean"}}, "required": ["urgent"]});
    json!({"key": PLAN, "steps": [
        {"id": DECIDE, "kind": "decision", "prompt": format!("Is {order} urgent?"), "schema": schema},
        {"id": "place", "tool": "core.http_request", "args": send},
        {"id": "keep", "tool": "core.put_record",
         "args": {"kind": "demo.order", "key": order, "props": {"urgent": "{{ state.urgent }}"}}},
    ]})
}

/// Hands everything in, kills the server meanwhile, waits until all of it rests, and gathers what is known then.
async fn storm(
    victim: &mut Victim,
    world: &World,
    springs: &mut mpsc::UnboundedReceiver<KillMoment>,
    screen: &mut Screen,
) -> anyhow::Result<CrashFacts> {
    world.arm(KILLS.first().copied());
    victim.start().await?;
    let place = victim.place();
    let client = place.client()?;
    client.post("/api/plans", PostedBody::Json(&plan(world)), None).await?;
    let told = json!({"url": format!("http://{}/told", world.address()), "events": ["task.completed"]});
    client.post("/api/webhooks/outbound", PostedBody::Json(&told), None).await?;
    let mails: Vec<&Sample> = SAMPLES.iter().filter(|sample| sample.way == SampleChannel::Mail).collect();
    let paint = screen.paint();
    let line = format!("{} mails and {ORDERS} orders are handed in, while the server is killed.", mails.len());
    screen.line(paint.bold(&line));
    let (taken, kills) = tokio::join!(hand_in_all(&mails, &place, world), kill_all(victim, world, springs, screen));
    let (taken, kills) = (taken?, kills?);
    rest(&place).await?;
    let client = place.client()?;
    CrashFacts::gather(&client, world, kills, taken).await
}

/// Hands in the mails, and the orders when the mails have come to rest.
async fn hand_in_all(mails: &[&Sample], place: &ServerAddress, world: &World) -> anyhow::Result<Vec<Acknowledged>> {
    let mails = mails.iter().map(|sample| deliver(message_id(sample), Some(sample), place, world));
    let mut taken: Vec<Acknowledged> = stream::iter(mails).buffered(AT_ONCE).try_collect().await?;
    rest(place).await?;
    let orders = (1..=ORDERS).map(|n| deliver(format!("{ORDER}{n}"), None, place, world));
    taken.extend(stream::iter(orders).buffered(AT_ONCE).try_collect::<Vec<_>>().await?);
    Ok(taken)
}

/// Delivers as a mail server does: the same message again until somebody has taken it.
async fn deliver(
    message: String,
    sample: Option<&Sample>,
    place: &ServerAddress,
    world: &World,
) -> anyhow::Result<Acknowledged> {
    let began = SystemClock.elapsed();
    let mut tries = 1;
    loop {
        let client = place.client()?;
        match hand_in(&client, &message, sample).await {
            Ok(task) => {
                if sample.is_some() {
                    world.meets(KillMoment::Acknowledged);
                }
                return Ok(Acknowledged { message, is_mail: sample.is_some(), task, tries });
            }
            Err(error) if error.is_passing() && since(began) < PATIENCE => pause(LOOK).await,
            Err(error) => return Err(anyhow::Error::new(error).context(message)),
        }
        tries += 1;
    }
}

async fn hand_in(client: &Client, message: &str, sample: Option<&Sample>) -> Result<String, ClientError> {
    Ok(match sample {
        Some(sample) => {
            let reply = client.post("/api/inbound/email", PostedBody::Mail(sample.bytes.to_vec()), None).await?;
            field(&reply.value, "taskId")
        }
        None => {
            let body = json!({"input": "place an order", "planKey": PLAN, "payload": {"order": message}});
            field(&client.post("/api/tasks", PostedBody::Json(&body), Some(message)).await?.value, "id")
        }
    })
}

/// The Message-ID of a mail, by which its repeats are known; its name where it has none.
fn message_id(sample: &Sample) -> String {
    let text = String::from_utf8_lossy(sample.bytes);
    let line = text.lines().take_while(|line| !line.is_empty()).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("message-id").then(|| value.trim().to_owned())
    });
    line.filter(|id| !id.is_empty()).unwrap_or_else(|| sample.name.to_owned())
}

/// Kills the server at each moment and starts it again; how often that was done.
async fn kill_all(
    victim: &mut Victim,
    world: &World,
    springs: &mut mpsc::UnboundedReceiver<KillMoment>,
    screen: &mut Screen,
) -> anyhow::Result<usize> {
    let mut next = KILLS.iter().skip(1).copied();
    for (n, _) in KILLS.iter().enumerate() {
        let moment = tokio::time::timeout(PATIENCE.as_duration(), springs.recv()).await;
        let Some(moment) = moment.context("the moment to kill the server did not come")? else { return Ok(n) };
        let process = victim.kill().await?;
        world.arm(next.next());
        let began = SystemClock.elapsed();
        victim.start().await?;
        let paint = screen.paint();
        let when = match moment {
            KillMoment::Acknowledged => "mails are being read",
            KillMoment::Asked => "the model is thinking: the question is out, no answer has come",
            KillMoment::Ordered => "an order has arrived, and the server does not know it yet",
            KillMoment::Told => "a completed task is announced, and the server does not know that it has arrived",
        };
        screen.line(format!("  {} process {process} while {when}", paint.bad("kill -9")));
        screen.line(paint.dim(&format!("          started again, answers after {}", span(since(began).0))));
    }
    Ok(KILLS.len())
}

/// Waits until every task has ended or waits for a person, and nothing is on its way any more.
async fn rest(place: &ServerAddress) -> anyhow::Result<()> {
    let began = SystemClock.elapsed();
    loop {
        let client = place.client()?;
        match is_resting(&client).await {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(error) if error.is_passing() => {}
            Err(error) => return Err(error.into()),
        }
        if since(began) > PATIENCE {
            bail!("the work does not come to rest");
        }
        pause(LOOK).await;
    }
}

async fn is_resting(client: &Client) -> Result<bool, ClientError> {
    let rests =
        |task: &Value| ["completed", "failed", "cancelled", "needs_review"].contains(&field(task, "status").as_str());
    let leaves = |message: &Value| matches!(field(message, "status").as_str(), "pending" | "sending");
    let (tasks, outbox) = (list::all(client, "/api/tasks").await?, list::all(client, "/api/outbox").await?);
    Ok(tasks.iter().all(rests) && !outbox.iter().any(leaves))
}

/// Tells each claim with its figure and where it was counted; whether all hold.
fn tell(screen: &mut Screen, claims: &[Claim], took: Millis) -> bool {
    let paint = screen.paint();
    screen.line("");
    screen.line(paint.bold("What that proves"));
    for claim in claims {
        let mark = if claim.holds() { paint.good("✓") } else { paint.bad("✗") };
        screen.line(format!("  {mark} {}: {}", paint.bold(claim.says), claim.figure));
        screen.line(paint.dim(&format!("    counted: {}", claim.counted)));
        claim.against.iter().for_each(|fault| screen.line(format!("    {} {fault}", paint.bad("but"))));
    }
    let held = claims.iter().filter(|claim| claim.holds()).count();
    screen.line("");
    screen.line(format!("{held} of {} claims hold, in {}", claims.len(), span(took.0)));
    held == claims.len()
}
