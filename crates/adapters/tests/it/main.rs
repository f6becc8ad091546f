//! Integration tests of the adapters, against real peers on loopback.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail loudly, like the tests themselves")]

mod documents;
mod fuzz;
mod http;
mod keys;
mod local_tools;
mod locate;
mod mail;
mod mime;
mod models;
mod ocr;
mod offline;
mod own_labels;
mod peer;
mod tls;
