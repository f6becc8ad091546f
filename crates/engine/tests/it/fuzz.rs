//! Fuzz targets of what authors of plans, senders of webhooks and keepers of exports hand in. `cargo xtask fuzz` plays
//! them a million times.

mod exports;
mod plans;
mod schemas;
mod signatures;
mod templates;
