//! The map of the crate, in reading order.

pub mod bot;

pub mod ask;
pub mod commands;
pub mod place;

pub mod code;
pub mod ndr;

pub mod knowledge;

pub mod classify;

pub mod dns;

pub mod follow_up;

pub mod compose;
pub mod names;
pub mod network;

pub mod reply;
pub mod text;

pub mod store;
