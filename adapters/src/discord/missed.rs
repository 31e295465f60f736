//! What happened while nobody listened: the newest messages of a channel and of its threads, and what became of older ones.

use bot::place::{Channel, MessageRef, Place};
use bot::store::memory::Cursor;
use serde_json::Value;
use serenity::http::{LightMethod, Route};
use serenity::model::channel::Message;
use tracing::warn;

use super::around::{around, channel, is_program};
use super::event::{self, Seen};
use super::say::within;
use super::trouble::Trouble;
use super::{Discord, number, salvage};
use crate::serve::chat::{Failure, Incoming};

/// Most threads that are looked into for missed messages.
const MOST_THREADS: usize = 50;
/// Most messages in one answer of Discord's.
const AT_A_TIME: usize = 100;

/// The newest message of a channel and of its threads.
pub async fn newest(discord: &Discord, channel: &Channel) -> Result<String, Failure> {
    let id = number(&channel.id)?;
    let last = history(discord, id, 0, 1).await?;
    let mut newest = last.iter().map(|message| message.id.get()).max();
    if !channel.space.is_empty() {
        let threads = threads(discord, number(&channel.space)?, id, 0).await?;
        newest = newest.max(threads.into_iter().map(|(_, last)| last).max());
    }
    Ok(newest.unwrap_or(1).to_string())
}

/// Messages of a channel and of its threads after the cursor, oldest first. Of threads those that are open, and those that are named.
pub async fn missed(
    discord: &Discord,
    since: &Cursor,
    named: &[String],
    most: usize,
) -> Result<Vec<Incoming>, Failure> {
    let (channel, after) = (number(&since.channel.id)?, number(&since.message)?);
    let space = &since.channel.space;
    let mut missed = history(discord, channel, after, most).await?;
    if !space.is_empty() {
        let open = threads(discord, number(space)?, channel, after).await?;
        let mut threads: Vec<u64> = open.into_iter().map(|(thread, _)| thread).collect();
        for thread in named {
            let thread = number(&discord.known.thread_at(thread))?;
            if !threads.contains(&thread) {
                threads.push(thread);
            }
        }
        for thread in threads {
            missed.extend(history(discord, thread, after, most).await?);
        }
    }
    missed.sort_by_key(|message| message.id);
    missed.dedup_by_key(|message| message.id);
    let first = missed.len().saturating_sub(most);
    let mut incoming = Vec::new();
    for mut message in missed.split_off(first) {
        message.guild_id = number(space).ok().map(Into::into);
        if is_program(&message) {
            continue;
        }
        let (space, seen) = around(discord, &message).await?;
        incoming.extend(event::wrote(&message, &space, &seen));
    }
    Ok(incoming)
}

/// How a message stands now, where it was changed or is gone.
pub async fn changed(
    discord: &Discord,
    message: &MessageRef,
    place: &Place,
) -> Result<Option<Incoming>, Failure> {
    let (within, id) = (within(discord, place)?, number(&message.id)?);
    let space = &place.channel.space;
    let there = Route::ChannelMessage {
        channel_id: within,
        message_id: id.into(),
    };
    let said = match discord.rest.get(there).await {
        Ok(said) => said,
        Err(Trouble::Failed(Failure::Gone)) => {
            let seen = Seen {
                channel: channel(discord, within, !space.is_empty()).await?,
                ..Seen::default()
            };
            let gone = event::deleted(&message.id, &within.to_string(), space, &seen);
            return Ok(Some(gone));
        }
        // Nobody sees what stands there.
        Err(Trouble::NoChannel) => return Ok(None),
        Err(trouble) => return Err(trouble.into()),
    };
    let Some(mut message) = salvage::message(said) else {
        return Ok(None);
    };
    message.guild_id = number(space).ok().map(Into::into);
    let (space, seen) = around(discord, &message).await?;
    Ok(event::edited(&message, &space, &seen))
}

/// Threads of a channel in which something was written after a message, each with its last one.
async fn threads(
    discord: &Discord,
    server: u64,
    channel: u64,
    after: u64,
) -> Result<Vec<(u64, u64)>, Failure> {
    let route = Route::GuildThreadsActive {
        guild_id: server.into(),
    };
    let said = match discord.rest.get(route).await {
        Ok(said) => said,
        Err(trouble) => match Failure::from(trouble) {
            // That stays so, and what stands in the channel is not lost for it.
            failure @ (Failure::Refused(_) | Failure::Gone | Failure::Stale) => {
                warn!(why = %failure, "what was written in threads meanwhile cannot be read");
                Value::Null
            }
            failure => return Err(failure),
        },
    };
    let list = said.get("threads").and_then(Value::as_array);
    let mut threads = Vec::new();
    for thread in list.into_iter().flatten() {
        discord.known.read(thread);
        let id = |key: &str| {
            let id = thread.get(key).and_then(Value::as_str)?;
            number(id).ok()
        };
        // A thread without messages is as young as its own id.
        let last = id("last_message_id").or_else(|| id("id"));
        let last = last.unwrap_or_default();
        if id("parent_id") == Some(channel) && last > after {
            threads.extend(id("id").map(|id| (id, last)));
        }
    }
    threads.truncate(MOST_THREADS);
    Ok(threads)
}

/// The newest messages of a channel or thread after an id, at most so many.
async fn history(
    discord: &Discord,
    channel: u64,
    after: u64,
    most: usize,
) -> Result<Vec<Message>, Failure> {
    let mut messages: Vec<Message> = Vec::new();
    let mut before: Option<u64> = None;
    while messages.len() < most {
        let mut params = vec![("limit", AT_A_TIME.to_string())];
        params.extend(before.map(|before| ("before", before.to_string())));
        let route = Route::ChannelMessages {
            channel_id: channel.into(),
        };
        let asked = discord
            .rest
            .ask(LightMethod::Get, route, None, Some(params));
        let said = match asked.await {
            Ok(said) => said,
            // A forum has no messages of its own; a channel may be gone or closed to us.
            Err(
                Trouble::NoChannel
                | Trouble::NoRight
                | Trouble::OtherKind(_)
                | Trouble::Failed(Failure::Refused(_) | Failure::Gone),
            ) => break,
            Err(trouble) => return Err(trouble.into()),
        };
        let page = said.as_array().cloned().unwrap_or_default();
        let full = page.len() >= AT_A_TIME;
        let ids = page.iter().filter_map(|message| {
            let id = message.get("id").and_then(Value::as_str)?;
            number(id).ok()
        });
        let oldest = ids.min();
        let new = page.into_iter().filter_map(|value| {
            let message = salvage::message(value);
            if message.is_none() {
                warn!("a message in a history cannot be read");
            }
            message.filter(|message| message.id.get() > after)
        });
        messages.extend(new);
        match oldest {
            Some(oldest) if full && oldest > after => before = Some(oldest),
            _ => break,
        }
    }
    messages.truncate(most);
    Ok(messages)
}
