//! The engine as its callers see it: over the in-memory store, with scripted tools, in simulated time.
#![expect(unreachable_pub, reason = "the modules of a test binary have no outside")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail loudly, like the tests themselves")]

mod agent_steps;
mod agents;
mod approvals;
mod attached;
mod built;
mod calls;
mod chats;
mod children;
mod control;
mod crash;
mod decisions;
mod delegation;
mod documents;
mod door;
mod early;
mod effects;
mod entities;
mod fuzz;
mod http;
mod inject;
mod intake;
mod jobs;
mod journal;
mod knowledge;
mod live;
mod memories;
mod models;
mod nul;
mod open_effects;
mod outbox;
mod outside;
mod parallel;
mod persons;
mod phases;
mod prompts;
mod property;
mod sequence;
mod sim;
mod steering;
mod strangers;
mod together;
mod turns;
mod worker;
mod world;
