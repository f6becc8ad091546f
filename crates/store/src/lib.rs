//! kybern-store
