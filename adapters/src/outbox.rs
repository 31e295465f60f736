//! `bouncedesk outbox`: what could not be said, for who mends the reason and has it tried again.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result};
use bot::store::Store;
use bot::store::outbox::{Act, Dead, PostId};
use bot::store::sled::SledStore;
use bot::store::trouble::Trouble;
use tokio::runtime::Runtime;

use crate::args;
use crate::check_domain::runtime;
use crate::config::Config;
use crate::store::open;
use crate::terminal::render::harmless;

/// Letters in one go.
const AT_A_TIME: usize = 100;

/// Looks after the dead letters in the store of a config.
///
/// # Errors
/// Where the config or the store cannot be read, or a letter is not there.
pub fn run(task: &args::Outbox) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    match task {
        args::Outbox::List { config } => {
            let store = open(&Config::read(config)?)?;
            list(&store, &runtime()?, &mut out)?;
        }
        args::Outbox::Retry { which, config } => {
            let store = open(&Config::read(config)?)?;
            let back = each(&store, &runtime()?, which, |store, runtime, id| {
                runtime.block_on(store.retry(id, now()))
            })?;
            writeln!(
                out,
                "{} will be tried again when the program serves.",
                posts(back)
            )?;
        }
        args::Outbox::Drop { which, config } => {
            let store = open(&Config::read(config)?)?;
            let gone = each(&store, &runtime()?, which, |store, runtime, id| {
                runtime.block_on(store.discard(id, now())).map(|()| 1)
            })?;
            writeln!(out, "{} will never be said.", posts(gone))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn now() -> bot::store::time::Time {
    SystemTime::now().into()
}

fn posts(count: usize) -> String {
    match count {
        1 => "1 post".into(),
        count => format!("{count} posts"),
    }
}

fn list(store: &SledStore, runtime: &Runtime, out: &mut impl Write) -> Result<()> {
    let letters = all(store, runtime)?;
    if letters.is_empty() {
        writeln!(out, "Nothing was given up.")?;
    }
    for letter in &letters {
        let place = letter.place.as_ref();
        let channel = place.map_or_else(
            || "a thread that never was".into(),
            |place| {
                let channel = &place.channel;
                let thread = place.thread.as_ref();
                let thread = thread.map_or_else(String::new, |thread| format!(" thread {thread}"));
                format!("{} {} {}{thread}", channel.chat, channel.space, channel.id)
            },
        );
        writeln!(
            out,
            "{:>8}  {}  {} in {}, desk {}, after {} attempts",
            letter.id.0,
            letter.since,
            what(letter),
            harmless(&channel),
            harmless(&letter.post.desk.0),
            letter.attempts
        )?;
        writeln!(out, "{:>10}{}", "", harmless(&letter.why))?;
        let title = letter.post.reply.title.words();
        if !title.is_empty() {
            writeln!(out, "{:>10}\"{}\"", "", harmless(&title))?;
        }
    }
    runtime.block_on(store.close())?;
    Ok(())
}

fn what(letter: &Dead) -> &'static str {
    match letter.post.act {
        Act::Send(_) => "a message",
        Act::Edit(_) => "a change",
        Act::Delete(_) => "a deletion",
    }
}

/// Does it to the letters that are named. How many posts that concerned.
fn each(
    store: &SledStore,
    runtime: &Runtime,
    which: &args::Letters,
    mut act: impl FnMut(&SledStore, &Runtime, PostId) -> Result<usize, Trouble>,
) -> Result<usize> {
    let mut count = 0;
    if which.all {
        for letter in all(store, runtime)? {
            match act(store, runtime, letter.id) {
                Ok(more) => count += more,
                // It went with one before it, or cannot go alone.
                Err(Trouble::Missing(_)) => {}
                Err(trouble) => return Err(trouble.into()),
            }
        }
    }
    for number in &which.numbers {
        let done = act(store, runtime, PostId(*number));
        count += done.with_context(|| format!("dead letter {number}"))?;
    }
    runtime.block_on(store.close())?;
    Ok(count)
}

fn all(store: &SledStore, runtime: &Runtime) -> Result<Vec<Dead>> {
    let mut letters: Vec<Dead> = Vec::new();
    loop {
        let after = letters.last().map_or(PostId(0), |letter| letter.id);
        let page = runtime.block_on(store.dead(after, AT_A_TIME));
        let page = page.context("read the dead letters")?;
        if page.is_empty() {
            return Ok(letters);
        }
        letters.extend(page);
    }
}
