//! kybern-testkit
