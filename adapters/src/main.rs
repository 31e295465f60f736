//! The program `bouncedesk`: reads its arguments, does one thing, says plainly what went wrong.

use std::process::ExitCode;

use adapters::args::{Arguments, Setup, Task};
use adapters::terminal::is_closed_pipe;
use adapters::{
    bench, check_domain, discord, explain, feedback, keep, outbox, serve, slack, store, terminal,
    trace,
};
use bot::bot::Bot;
use bot::knowledge::load::Knowledge;
use clap::Parser;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.task {
        Task::Explain(explain) => explain::run(&explain),
        Task::Code { code } => terminal::answer_once(&embedded(), &format!("/code {code}")),
        Task::Chat {
            our_domain,
            config,
            name_servers,
        } => terminal::chat::run(&our_domain, config.as_deref(), &name_servers),
        Task::CheckDomain(check) => check_domain::run(&check),
        Task::Trace(task) => trace::run(&task),
        Task::Knowledge(task) => keep::run(&task),
        Task::Serve { config } => serve::run::run(&config, serve::chats::named),
        Task::Setup(Setup::Discord { config }) => discord::setup::run(&config),
        Task::Feedback(task) => feedback::run(&task),
        Task::Outbox(task) => outbox::run(&task),
        Task::Store(task) => store::run(&task),
        Task::Audit(task) => adapters::audit::run(&task),
        Task::Setup(Setup::Slack {
            config,
            request_url,
        }) => slack::setup::run(config.as_deref(), request_url.as_deref()),
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
