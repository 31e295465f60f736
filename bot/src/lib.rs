//! The map of the crate, in reading order.

pub mod bot;

pub mod ask;
pub mod commands;
pub mod place;
pub mod time;

pub mod conversation;
pub mod desk;
pub mod event;

pub mod code;
pub mod ndr;

pub mod knowledge;

pub mod classify;

pub mod dns;

pub mod trace;

pub mod grant;

pub mod follow_up;
pub mod parts;

pub mod compose;
pub mod names;
pub mod network;

pub mod action;
pub mod form;
pub mod reply;
pub mod text;

pub mod tickets;

pub mod audit;
pub mod store;
