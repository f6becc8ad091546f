//! Fuzz targets of what authors of plans and senders of webhooks write. `cargo xtask fuzz` plays them a million times.

mod plans;
mod signatures;
mod templates;
