//! `bouncedesk serve`: events in, answers out, for every chat the same.

pub mod chat;
pub mod door;
