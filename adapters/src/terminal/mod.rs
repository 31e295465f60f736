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
        Ok(Answer::Silence) => Ok(ExitCode::SUCCESS),
        Err(usage) => bail!("{usage}"),
    }
}
