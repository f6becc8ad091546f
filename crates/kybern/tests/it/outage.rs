//! The database goes away under load: it is restarted, its connections are cut, its disk is full, somebody else has
//! locked it. Callers are told so with a code, nothing that was acknowledged is lost, and nobody has to help.

mod cluster;
mod disk;
mod load;
mod locked;
mod postgres;
