//! `bouncedesk serve`: events in, answers out, for every chat the same.
//!
//! `chat` is what an adapter does, `door` where its events come in, `work` and what stands below it the work on one event, `send`
//! what goes out, `run` the life of the whole.

pub mod chat;
pub mod chats;
pub mod door;

mod case;
mod direct;
mod files;
mod paste;
mod tickets;
mod trace;
mod turns;
mod work;

mod send;

mod far;
mod heads;
pub mod logs;
mod missed;
mod reload;
pub mod run;
mod server;
mod tenants;
mod world;
