//! kybern-adapters
