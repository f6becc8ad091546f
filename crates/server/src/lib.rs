//! kybern-server
