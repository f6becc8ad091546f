//! Models: what answers when Kybern asks what somebody wants, or what a document says.

pub mod offline;
