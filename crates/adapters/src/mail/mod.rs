//! Mail: taken apart, fetched and sent.

mod bounds;
mod enclosed;
pub mod imap;
pub mod parse;
mod parse_part;
pub mod smtp;
pub mod tls;
mod tnef;
