//! Escalation: a conversation that was handed to the second line, its life, what belongs together, what is said on which side. Pure.

pub mod ask;
pub mod fingerprint;
pub mod mirror;
pub mod remind;
pub mod rules;
pub mod ticket;
