//! kybern-packs
