//! The command line against a scripted server: the real binary, the documented shapes.

mod fork;
mod noun;
mod printing;
mod prove;
mod server;
mod task;
mod words;
