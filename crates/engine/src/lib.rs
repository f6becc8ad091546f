//! kybern-engine
