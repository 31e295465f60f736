//! What is known about codes, wordings, providers, causes and questions: data in `knowledge/`, looked up here.

pub mod check;
pub mod entry;
mod examples;
pub mod find;
pub mod fold;
pub mod load;
pub mod phrases;
pub mod schema;
