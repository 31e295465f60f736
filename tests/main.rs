//! The one test binary: a module for each subject.

mod cli;
mod corpus;
mod golden;
mod hostile;
mod house;
mod knowledge;
mod scores;
mod support;
mod torn;
mod walls;
