//! What tests stand on: a clock that is moved by hand, ids and randomness from a seed, an in-memory store that is
//! the model of all stores, the conformance suite that every store passes, a receiver of effects, tools that follow a
//! script, and the player of fuzz targets.
//!
//! Nothing here is part of the product; it is a dev-dependency of the other crates and panics when a test is wrong.
#![expect(clippy::expect_used, reason = "test support: a failure here is a failed test")]

pub mod actors;
pub mod clock;
pub mod conformance;
pub mod fakes;
pub mod faulty;
pub mod fuzz;
pub mod growth;
pub mod handlers;
pub mod keys;
pub mod mem;
pub mod models;
pub mod plants;
mod ports;
pub mod sink;
pub mod tools;

pub use clock::{SeededIds, SeededRandom, SimClock};
pub use faulty::{Fault, FaultPoint, FaultyStore};
pub use growth::growth;
pub use keys::TestKeys;
pub use mem::MemStore;
pub use sink::{EffectSink, ReceivedRequest, Reply};
