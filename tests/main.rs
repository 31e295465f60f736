//! The one test binary: a module for each subject.

mod cli;
mod corpus;
mod documents;
mod faults;
mod golden;
mod growth;
mod hostile;
mod house;
mod keepers;
mod knowledge;
mod nameserver;
mod scores;
mod store;
mod support;
mod talk;
mod torn;
mod walls;
