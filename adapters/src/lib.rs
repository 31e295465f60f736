//! The map of the crate: everything a person touches. The program `bouncedesk` is `main.rs`.

pub mod args;
pub mod array;
pub mod config;

pub mod audit;
pub mod bench;
pub mod check_domain;
pub mod explain;
pub mod feedback;
pub mod input;
pub mod keep;
pub mod outbox;
pub mod progress;
pub mod store;
pub mod terminal;
pub mod trace;

pub mod discord;

pub mod serve;
pub mod slack;
pub mod web;
