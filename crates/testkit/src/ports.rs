//! The ports of the faulty store, and those of which the in-memory store keeps nothing: written by the build.

#![expect(unused_imports, reason = "a port's file names more than its methods need")]

include!(concat!(env!("OUT_DIR"), "/ports.rs"));
