//! What was written while nobody listened: the newest messages of a channel and of its threads.

use bot::store::memory::Cursor;
use serde_json::Value;
use serenity::http::{LightMethod, Route};
use serenity::model::channel::Message;
use tracing::warn;

use super::around::{around, is_program};
use super::event;
use super::trouble::Trouble;
use super::{Discord, number, salvage};
use crate::serve::chat::{Failure, Incoming};

/// Most threads that are looked into for missed messages.
const MOST_THREADS: usize = 50;
/// Most messages in one answer of Discord's.
const AT_A_TIME: usize = 100;

/// Messages of a channel and of its threads after the cursor, oldest first.
pub async fn missed(
    discord: &Discord,
    since: &Cursor,
    most: usize,
) -> Result<Vec<Incoming>, Failure> {
    let (channel, after) = (number(&since.channel.id)?, number(&since.message)?);
    let space = &since.channel.space;
    let mut missed = history(discord, channel, after, most).await?;
    if !space.is_empty() {
        for thread in threads(discord, number(space)?, channel, after).await? {
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

/// Threads of a channel in which something was written after a message.
async fn threads(
    discord: &Discord,
    server: u64,
    channel: u64,
    after: u64,
) -> Result<Vec<u64>, Failure> {
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
        let last = id("last_message_id").unwrap_or_default();
        if id("parent_id") == Some(channel) && last > after {
            threads.extend(id("id"));
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
