//! The binary, as its users see it.

#[cfg(test)]
mod cli;
#[cfg(test)]
mod offline;
