//! Answers in, replies out: whole sentences, in one place.

pub mod diagnosis;
pub mod names;
pub mod report;
