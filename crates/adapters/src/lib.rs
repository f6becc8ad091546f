//! kybern-adapters
pub mod clock;
mod colour;
pub mod documents;
pub mod http;
pub mod keys;
pub mod mail;
pub mod models;
pub mod tools;
mod workers;
