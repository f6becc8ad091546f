//! Fuzz targets of what strangers write: whatever an e-mail says, the packs' tools make something of it. The engine is a
//! whole one with the real packs and the offline rules. `cargo xtask fuzz` plays them a million times.

mod agency;
mod floods;
mod letters;
mod messages;
mod trade;
