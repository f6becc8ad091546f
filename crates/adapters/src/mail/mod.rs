//! Mail: taken apart, fetched and sent.

mod bounds;
mod enclosed;
pub mod imap;
mod manners;
pub mod parse;
mod parse_part;
mod passages;
mod reader;
pub mod smtp;
mod structure;
pub mod tls;
mod tnef;
mod visible;
