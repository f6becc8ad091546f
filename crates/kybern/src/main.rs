//! kybern
fn main() {}
