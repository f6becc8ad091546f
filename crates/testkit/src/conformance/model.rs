//! Random walks: the store under test and the in-memory store take the same calls, and must answer the same and hold
//! the same at the end.

mod compare;
mod walk;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::Harness;
use walk::ModelWalk;

/// Few and long: a fresh database is what costs.
const WALKS: u32 = 16;
/// Calls of one walk, at most.
const CALLS: usize = 80;

/// One call. A task is named by its place among those submitted so far, modulo their number.
#[derive(Clone, Debug)]
pub(super) enum ModelMove {
    Submit { key: Option<u8>, body: u8, claim: bool },
    Claim,
    Commit { task: usize, stale: bool, effect: EffectMove, change: ChangeMove, seen: bool },
    Begin { task: usize, generation: u32, attempt: u32, args: u8 },
    Answer { task: usize, wait: i64 },
    Callback { task: usize, workflow: u8, body: u8 },
    Steer { task: usize, how: Steering },
    Heartbeat,
    TakeOver,
    Advance,
}

/// What a person does to a task.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steering {
    Cancel,
    Pause(bool),
    Reopen,
}

/// What a commit writes besides its row.
#[derive(Clone, Debug)]
pub(super) enum EffectMove {
    Nothing,
    Put {
        key: u8,
        expect: u8,
        merge: u8,
        value: u8,
        lookup: Option<u8>,
    },
    Send,
    Spawn,
    /// Any task, mostly no child of the one that commits.
    Reopen {
        task: usize,
    },
    Cancel {
        task: usize,
    },
    Delegate {
        workflow: u8,
    },
}

/// What a commit makes of the task.
#[derive(Clone, Debug)]
pub(super) enum ChangeMove {
    Keep,
    Progress { phase: u8 },
    Sleep { waits: i64 },
    Later,
    Now,
    End { how: u8 },
}

fn moves() -> impl Strategy<Value = ModelMove> {
    let task = 0..32_usize;
    prop_oneof![
        4 => (prop::option::weighted(0.4, 0..3_u8), 0..2_u8, any::<bool>())
            .prop_map(|(key, body, claim)| ModelMove::Submit { key, body, claim }),
        4 => Just(ModelMove::Claim),
        12 => (task.clone(), prop::bool::weighted(0.15), effects(), changes(), prop::bool::weighted(0.7))
            .prop_map(|(task, stale, effect, change, seen)| ModelMove::Commit { task, stale, effect, change, seen }),
        2 => (task.clone(), 0..2_u32, 1..3_u32, 0..2_u8)
            .prop_map(|(task, generation, attempt, args)| ModelMove::Begin { task, generation, attempt, args }),
        3 => (task.clone(), 1..4_i64).prop_map(|(task, wait)| ModelMove::Answer { task, wait }),
        2 => (task.clone(), 0..2_u8, 0..2_u8).prop_map(|(task, workflow, body)| ModelMove::Callback { task, workflow, body }),
        4 => (task, steering()).prop_map(|(task, how)| ModelMove::Steer { task, how }),
        1 => Just(ModelMove::Heartbeat),
        1 => Just(ModelMove::TakeOver),
        1 => Just(ModelMove::Advance),
    ]
}

fn steering() -> impl Strategy<Value = Steering> {
    prop_oneof![
        1 => Just(Steering::Cancel),
        2 => any::<bool>().prop_map(Steering::Pause),
        1 => Just(Steering::Reopen),
    ]
}

fn effects() -> impl Strategy<Value = EffectMove> {
    prop_oneof![
        3 => Just(EffectMove::Nothing),
        4 => (0..3_u8, 0..5_u8, 0..3_u8, 0..3_u8, prop::option::of(0..3_u8)).prop_map(
            |(key, expect, merge, value, lookup)| EffectMove::Put { key, expect, merge, value, lookup }
        ),
        1 => Just(EffectMove::Send),
        2 => Just(EffectMove::Spawn),
        2 => (0..8_usize).prop_map(|task| EffectMove::Reopen { task }),
        1 => (0..8_usize).prop_map(|task| EffectMove::Cancel { task }),
        1 => (0..2_u8).prop_map(|workflow| EffectMove::Delegate { workflow }),
    ]
}

fn changes() -> impl Strategy<Value = ChangeMove> {
    prop_oneof![
        4 => Just(ChangeMove::Keep),
        2 => (0..2_u8).prop_map(|phase| ChangeMove::Progress { phase }),
        3 => (0..4_i64).prop_map(|waits| ChangeMove::Sleep { waits }),
        1 => Just(ChangeMove::Later),
        1 => Just(ChangeMove::Now),
        2 => (0..3_u8).prop_map(|how| ChangeMove::End { how }),
    ]
}

pub async fn any_walk_ends_as_in_the_model<F: AsyncFn() -> Harness>(make: F) {
    // The same walks in every run: a failure is a failure everywhere, and the smallest one is printed.
    let config = Config { cases: WALKS, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let walks = prop::collection::vec(moves(), 1..CALLS);
    let outcome = runner.run(&walks, |walk| {
        let handle = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| handle.block_on(one(&make, walk)))
    });
    if let Err(failure) = outcome {
        panic!("the store and the model part ways: {failure}");
    }
}

async fn one<F: AsyncFn() -> Harness>(make: &F, moves: Vec<ModelMove>) -> Result<(), TestCaseError> {
    let mut walk = ModelWalk::new(make().await).await;
    for next in moves {
        walk.step(&next).await.map_err(|what| TestCaseError::fail(format!("at {next:?}: {what}")))?;
    }
    walk.finish().await.map_err(|what| TestCaseError::fail(format!("at the end: {what}")))
}
