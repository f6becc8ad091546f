//! Faults of the in-memory store: a hook that looks at every call and says how it ends.

use kybern_core::time::Millis;

/// One call of the store, before it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultPoint {
    /// The name of the port's method.
    pub call: &'static str,
    /// The number of this call in the life of the store, from 1.
    pub n: u64,
}

/// How a call ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fault {
    /// As it should.
    #[default]
    None,
    /// As it should, after everybody else had a turn: calls that race are taken in another order.
    Yield,
    /// As it should, but the answer comes after everybody else had a turn: whoever asked may leave before it.
    YieldAfter,
    /// As it should, but so much later: the network, or the caller's whole process, stood still meanwhile.
    Stall(Millis),
    /// The caller's process dies before the call takes effect: the call never returns. Drop its future.
    CrashBefore,
    /// The caller's process dies after the call took effect: the call never returns. Drop its future.
    CrashAfter,
    /// `UNAVAILABLE`, and nothing happened.
    Unavailable,
    /// `UNAVAILABLE`, although it happened: the connection broke on the way back.
    AnswerLost,
    /// The connection falls silent, and the caller gives up after so long: `UNAVAILABLE`, and nothing happened.
    Silent(Millis),
    /// The same, although it happened before the connection fell silent.
    SilentAfter(Millis),
    /// `UNAVAILABLE`, and so much later a commit is written all the same: it lay in a queue on the way. Another call
    /// never happens.
    Belated(Millis),
}

/// Decides about each call.
pub type FaultHook = Box<dyn Fn(FaultPoint) -> Fault + Send + Sync>;
