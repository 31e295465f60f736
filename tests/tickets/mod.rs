//! Tickets: their rules, and what becomes of them in the store and in the chats.

mod rules;
