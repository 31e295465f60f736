//! Message trace: what Exchange Online did with a message, asked of Microsoft Graph as an application.

pub mod range;

pub mod question;

pub mod row;

pub mod filter;

pub mod windows;

pub mod budget;

pub mod assertion;
pub mod fault;
pub mod sign_in;

pub mod graph;

pub mod gather;
pub mod summary;

pub mod events;

pub mod judge;
mod reading;

pub mod bounce;

pub mod beyond;
pub mod csv;
pub mod mask;
