//! The program `bouncedesk`: reads its arguments, does one thing, says plainly what went wrong.

mod args;
mod array;
mod bench;
mod check_domain;
mod explain;
mod input;
mod keep;
mod progress;
mod store;
mod terminal;

use std::process::ExitCode;

use bot::bot::Bot;
use bot::knowledge::load::Knowledge;
use clap::Parser;

use args::{Arguments, Task};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.task {
        Task::Explain(explain) => explain::run(&explain),
        Task::Code { code } => terminal::answer_once(&embedded(), &format!("/code {code}")),
        Task::Chat {
            our_domain,
            name_servers,
        } => terminal::chat::run(&our_domain, &name_servers),
        Task::CheckDomain(check) => check_domain::run(&check),
        Task::Knowledge(task) => keep::run(&task),
        Task::Store(task) => store::run(&task),
        Task::Bench { folder } => bench::run(&folder),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bouncedesk: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn embedded() -> Bot {
    Bot {
        knowledge: Knowledge::embedded(),
        resolver: None,
    }
}

/// `bouncedesk … | head` is no failure.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        let json = cause
            .downcast_ref::<serde_json::Error>()
            .and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(std::io::ErrorKind::BrokenPipe)
    })
}
