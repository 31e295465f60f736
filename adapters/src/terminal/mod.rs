//! The terminal as a place to ask and answer.

pub mod chat;
pub mod render;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Result, bail};
use bot::ask::Asker;
use bot::bot::{Answer, Bot};
use bot::commands;

use crate::check_domain::runtime;
use render::{Screen, render};

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

/// Answers one command and ends.
pub fn answer_once(bot: &Bot, text: &str) -> Result<ExitCode> {
    let Some(Ok(ask)) = commands::read(text) else {
        bail!("there is nothing to answer");
    };
    let asker = Asker {
        addressed: true,
        ..Asker::default()
    };
    match runtime()?.block_on(bot.answer(&ask, &asker)) {
        Ok(Answer::Say { reply, .. }) => {
            io::stdout().write_all(render(&reply, &Screen::of_stdout()).as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Answer::Silence | Answer::Remove) => Ok(ExitCode::SUCCESS),
        Err(usage) => bail!("{usage}"),
    }
}
