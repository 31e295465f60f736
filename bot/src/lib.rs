//! The map of the crate, in reading order.

pub mod classify;
pub mod code;
pub mod compose;
pub mod knowledge;
pub mod ndr;
