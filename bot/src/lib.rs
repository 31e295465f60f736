//! The map of the crate, in reading order.

#[rustfmt::skip]
pub mod bot;
pub mod ask;
pub mod classify;
pub mod code;
pub mod commands;
pub mod compose;
pub mod knowledge;
pub mod ndr;
pub mod reply;
pub mod text;
