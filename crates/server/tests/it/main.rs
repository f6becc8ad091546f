//! The HTTP edge as callers see it: a router over a real engine on the in-memory store.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may fail loudly too")]

mod addresses;
mod answers;
mod audit_and_sudo;
mod bodies;
mod bounds;
mod cases;
mod ending;
mod envelopes;
mod events;
mod examples;
mod fixture;
mod forms;
mod fuzz;
mod harness;
mod idempotency;
mod limits;
mod lists;
mod local;
mod metrics;
mod nouns;
mod openapi;
mod outside;
mod private;
mod reach;
mod routes;
mod schemas;
mod serving;
mod signed;
