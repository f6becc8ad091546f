//! The engine as its callers see it: over the in-memory store, with scripted tools, in simulated time.
#![expect(unreachable_pub, reason = "the modules of a test binary have no outside")]

mod calls;
mod children;
mod control;
mod crash;
mod delegation;
mod effects;
mod inject;
mod journal;
mod live;
mod outside;
mod parallel;
mod persons;
mod phases;
mod property;
mod sequence;
mod steering;
mod world;
