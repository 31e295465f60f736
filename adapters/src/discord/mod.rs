//! Discord as a place to ask and answer.
//!
//! serenity speaks with it. `gateway` brings what happens, `hear` and `answer` hand it to the door, `event` and `asking` make events of
//! it, `salvage` reads what serenity's types do not take, `missed` what nobody heard; `rest` asks the API within `limits` and `trouble`
//! says why it did not; `say` sends, `render`, `page` and `cut` shape it, `files` fetches; `known`, `around` and `people` are what is known
//! beside it.

mod answer;
mod around;
mod asking;
mod commands;
mod cut;
mod event;
mod files;
mod gateway;
mod give;
mod hear;
mod known;
mod limits;
mod missed;
mod page;
mod people;
pub mod render;
mod rest;
mod salvage;
mod say;
pub mod setup;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use bot::event::{FileRef, Handle, Person, PersonKind};
use bot::knowledge::load::Knowledge;
use bot::place::{Channel, MessageRef, Place};
use bot::reply::Reply;
use bot::store::memory::Cursor;
use bot::store::outbox::{File, PostKey};

use crate::config::Config;
use crate::serve::chat::{Chat, Doing, Failure, Incoming, Pace, Sending, Stop};
use crate::serve::door::Door;
use gateway::Where;
use known::Known;
pub use rest::Elsewhere;
use rest::Rest;

/// One bot on Discord.
pub struct Discord {
    rest: Rest,
    /// For files.
    files: reqwest::Client,
    known: Known,
    at: Where,
    file_hosts: Vec<String>,
    /// What is suggested while a code is typed.
    codes: Vec<String>,
}

/// The bot that a config names.
///
/// # Errors
/// Where there is none, or this machine's certificates cannot be used.
pub fn chat(config: &Config) -> Result<Discord> {
    chat_elsewhere(config, None)
}

/// The bot that a config names, with Discord at another address: what tests of its limits need.
///
/// # Errors
/// As `chat`.
pub fn chat_elsewhere(config: &Config, elsewhere: Option<&Elsewhere>) -> Result<Discord> {
    let Some(discord) = &config.discord else {
        bail!("the config has no [discord]");
    };
    let rest = Rest::new(&discord.api, discord.token.clone(), elsewhere);
    Ok(Discord {
        rest: rest.context("set up the connection to Discord")?,
        files: files::client().context("set up the connection for files")?,
        known: Known::default(),
        at: Where {
            fixed: discord.gateway.clone(),
            loopback_only: config.loopback_only,
        },
        file_hosts: discord.file_hosts.clone(),
        codes: commands::codes(&Knowledge::embedded()),
    })
}

impl Chat for Discord {
    fn name(&self) -> &'static str {
        event::NAME
    }

    /// Discord's own limits hold per thread and are kept by serenity; this only spreads a burst.
    fn pace(&self) -> Pace {
        Pace {
            burst: 40,
            every: Duration::from_millis(50),
            at_once: 16,
        }
    }

    fn listen(self: Arc<Self>, door: Door, stop: Stop) -> Doing<'static, ()> {
        Box::pin(hear::listen(self, door, stop))
    }

    fn send<'a>(&'a self, sending: Sending<'a>) -> Doing<'a, String> {
        Box::pin(say::send(self, sending))
    }

    fn edit<'a>(&'a self, place: &'a Place, message: &'a str, reply: &'a Reply) -> Doing<'a, ()> {
        Box::pin(say::edit(self, place, message, reply))
    }

    fn delete<'a>(&'a self, place: &'a Place, message: &'a str) -> Doing<'a, ()> {
        Box::pin(say::delete(self, place, message))
    }

    fn find<'a>(&'a self, place: &'a Place, key: &'a PostKey) -> Doing<'a, Option<String>> {
        Box::pin(say::find(self, place, key))
    }

    fn respond<'a>(&'a self, to: &'a Handle, reply: &'a Reply, again: bool) -> Doing<'a, ()> {
        Box::pin(say::respond(self, to, reply, again))
    }

    fn hand<'a>(&'a self, to: &'a Handle, reply: &'a Reply, file: &'a File) -> Doing<'a, ()> {
        Box::pin(give::hand(self, to, reply, file))
    }

    fn whisper<'a>(&'a self, to: &'a Person, _: &'a Channel, reply: &'a Reply) -> Doing<'a, ()> {
        Box::pin(give::whisper(self, to, reply))
    }

    fn fetch<'a>(
        &'a self,
        file: &'a FileRef,
        message: &'a MessageRef,
        most: usize,
    ) -> Doing<'a, Vec<u8>> {
        Box::pin(files::fetch(self, file, message, most))
    }

    fn working<'a>(&'a self, on: &'a MessageRef, yes: bool) -> Doing<'a, ()> {
        Box::pin(say::working(self, on, yes))
    }

    /// Discord says it with each event of a server.
    fn kind<'a>(
        &'a self,
        person: &'a Person,
        _: &'a Channel,
        homes: &'a [&'a str],
    ) -> Doing<'a, PersonKind> {
        Box::pin(people::kind(self, person, homes))
    }

    fn called<'a>(&'a self, person: &'a Person, at: &'a Channel) -> Doing<'a, String> {
        Box::pin(people::name(self, person, &at.space))
    }

    /// Discord sends the roles with each event of a server; elsewhere they are asked for.
    fn groups<'a>(
        &'a self,
        person: &'a Person,
        _: &'a Channel,
        homes: &'a [&'a str],
        among: &'a [&'a str],
    ) -> Doing<'a, Vec<String>> {
        Box::pin(people::roles(self, person, homes, among))
    }

    fn newest<'a>(&'a self, channel: &'a Channel) -> Doing<'a, String> {
        Box::pin(missed::newest(self, channel))
    }

    fn missed<'a>(
        &'a self,
        since: &'a Cursor,
        threads: &'a [String],
        most: usize,
    ) -> Doing<'a, Vec<Incoming>> {
        Box::pin(missed::missed(self, since, threads, most))
    }

    fn changed<'a>(
        &'a self,
        message: &'a MessageRef,
        place: &'a Place,
    ) -> Doing<'a, Option<Incoming>> {
        Box::pin(missed::changed(self, message, place))
    }
}

/// Is that one of Discord's ids? Nothing else is put into an address.
fn is_id(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// An id as a number, which is never 0.
fn number(text: &str) -> Result<u64, Failure> {
    let number = text.parse().ok().filter(|number| *number > 0);
    let number = number.filter(|_| is_id(text));
    number.ok_or_else(|| Failure::Refused("that is no id of Discord's".into()))
}
