//! Fuzz targets of what authors of plans and senders of webhooks write. `cargo xtask fuzz` plays them a million times.

mod plans;
mod schemas;
mod signatures;
mod templates;
