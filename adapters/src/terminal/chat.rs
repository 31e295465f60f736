//! A conversation in the terminal: the same questions and answers as in a chat.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use bot::ask::{Ask, Asker, Pasted, Usage};
use bot::bot::{Answer, Bot};
use bot::commands;
use bot::knowledge::load::Knowledge;
use bot::ndr::LARGEST_INPUT;
use bot::reply::Reply;
use tokio::runtime::Runtime;

use crate::args::NameServers;
use crate::check_domain::{resolver, runtime};
use crate::trace;

use super::render::{Screen, render};

/// Longest line that is read at once, in bytes; a longer one is read in pieces.
const LONGEST_LINE: u64 = 1 << 20;

/// Talks until the input ends.
pub fn run(
    our_domains: &[String],
    config: Option<&Path>,
    name_servers: &NameServers,
) -> Result<ExitCode> {
    let interactive = io::stdin().is_terminal();
    let named = !name_servers.name_server.is_empty();
    let bot = Bot {
        knowledge: Knowledge::embedded(),
        // Without any network everything but domain checks works; a server that was named must be one.
        resolver: match resolver(name_servers) {
            Err(error) if named => return Err(error),
            resolver => resolver.ok(),
        },
    };
    let mut talk = Talk {
        bot: &bot,
        runtime: runtime()?,
        asker: Asker {
            our_domains: our_domains.to_vec(),
            addressed: true,
            ..Asker::default()
        },
        screen: Screen::of_stdout(),
        earlier: None,
    };
    if interactive {
        println!(
            "Paste a bounce, then a line holding a single dot. /help lists commands, Ctrl-D ends."
        );
    }
    let mut input = io::stdin().lock();
    let mut pasted: Vec<u8> = Vec::new();
    loop {
        if interactive && pasted.is_empty() {
            print!("> ");
            io::stdout().flush()?;
        }
        let mut line = Vec::new();
        let read = (&mut input)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)?;
        let trimmed = line.trim_ascii();
        if read == 0 {
            if pasted.iter().all(u8::is_ascii_whitespace) {
                return Ok(ExitCode::SUCCESS);
            }
            talk.explain(std::mem::take(&mut pasted).into())?;
            if !interactive {
                return Ok(ExitCode::SUCCESS);
            }
        } else if trimmed == b"." {
            if !pasted.is_empty() {
                talk.explain(std::mem::take(&mut pasted).into())?;
            }
        } else if let (true, Some(command)) = (pasted.is_empty(), command(trimmed)) {
            match command {
                Ok(Ask::Explain { pasted, .. }) => talk.explain(pasted)?,
                Ok(Ask::Trace(words)) => talk.trace(config, &words)?,
                Ok(ask) => talk.answer(&ask)?,
                Err(usage) => println!("{usage}"),
            }
        } else if (!pasted.is_empty() || !trimmed.is_empty()) && pasted.len() <= LARGEST_INPUT {
            pasted.extend_from_slice(&line);
        }
    }
}

fn command(line: &[u8]) -> Option<Result<Ask, Usage>> {
    std::str::from_utf8(line).ok().and_then(commands::read)
}

struct Talk<'a> {
    bot: &'a Bot,
    runtime: Runtime,
    asker: Asker,
    screen: Screen,
    /// What was pasted before: a second half is read together with it.
    earlier: Option<Pasted>,
}

impl Talk<'_> {
    fn explain(&mut self, pasted: Pasted) -> Result<()> {
        let ask = Ask::Explain {
            pasted: pasted.clone(),
            earlier: self.earlier.take(),
        };
        self.answer(&ask)?;
        self.earlier = Some(pasted);
        Ok(())
    }

    /// The operator's own question: who may read the config may look in its tenants.
    fn trace(&self, config: Option<&Path>, words: &str) -> Result<()> {
        let domains = &self.asker.our_domains;
        let traced = trace::in_conversation(config, domains, words);
        let mut out = io::stdout().lock();
        match self.runtime.block_on(traced) {
            Ok(replies) => {
                for reply in replies {
                    writeln!(out, "{}", render(&reply, &self.screen))?;
                }
            }
            Err(why) => writeln!(out, "{why:#}")?,
        }
        out.flush()?;
        Ok(())
    }

    fn answer(&self, ask: &Ask) -> Result<()> {
        let mut out = io::stdout().lock();
        match self.runtime.block_on(self.bot.answer(ask, &self.asker)) {
            Ok(Answer::Say { reply, then, .. }) => {
                writeln!(out, "{}", render(&reply, &self.screen))?;
                out.flush()?;
                if let Some(then) = then {
                    self.add(&reply, &then, &mut out)?;
                }
            }
            Ok(Answer::Silence | Answer::Remove) => {}
            Err(usage) => writeln!(out, "{usage}")?,
        }
        out.flush()?;
        Ok(())
    }

    /// What comes next takes the first answer's place elsewhere; here the answer stands, so only what is new is shown.
    fn add(&self, said: &Reply, then: &Ask, out: &mut impl Write) -> Result<()> {
        if let Ok(Answer::Say { reply, .. }) =
            self.runtime.block_on(self.bot.answer(then, &self.asker))
        {
            let new = Reply {
                checks: reply.checks.into_iter().skip(said.checks.len()).collect(),
                ..Reply::default()
            };
            writeln!(out, "{}", render(&new, &self.screen))?;
        }
        Ok(())
    }
}
