//! Mail: taken apart, fetched and sent.

mod bounds;
mod empty_parts;
mod enclosed;
pub mod imap;
mod manners;
mod parameters;
pub mod parse;
mod parse_part;
mod passages;
mod reader;
pub mod smtp;
mod smtp_stream;
mod structure;
pub mod tls;
mod tnef;
mod uuencode;
mod visible;
