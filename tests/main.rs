//! The one test binary: a module for each subject.

mod cli;
mod corpus;
mod documents;
mod domains;
mod faults;
mod golden;
mod growth;
mod hostile;
mod house;
mod keepers;
mod knowledge;
mod lab_answers;
mod nameserver;
mod policies;
mod scores;
mod store;
mod support;
mod talk;
mod torn;
mod walls;
