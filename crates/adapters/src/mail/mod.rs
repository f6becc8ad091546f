//! Mail: taken apart, fetched and sent.

mod bounds;
pub mod imap;
mod manners;
pub mod parse;
mod parse_part;
mod passages;
pub mod smtp;
mod structure;
pub mod tls;
mod visible;
