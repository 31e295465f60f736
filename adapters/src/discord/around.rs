//! What has to be known beside a message: where it stands. Asked for where it is not known, and never for long.

use std::time::Duration;

use serenity::http::Route;
use serenity::model::channel::Message;
use serenity::model::id::ChannelId;
use tokio::time::timeout;

use super::event::Seen;
use super::{Discord, known};
use crate::serve::chat::Failure;

/// What is asked before an event is written down must not take long.
const PATIENCE: Duration = Duration::from_millis(1_200);

/// Most of what programs write ends here; nothing is asked about it.
#[must_use]
pub fn is_program(message: &Message) -> bool {
    message.author.bot || message.author.system || message.webhook_id.is_some()
}

/// What has to be known beside a message.
///
/// # Errors
/// Where it cannot be known now.
pub async fn around(discord: &Discord, message: &Message) -> Result<(String, Seen), Failure> {
    let space = message.guild_id.map(|guild| guild.to_string());
    let space = space.unwrap_or_default();
    let channel = channel(discord, message.channel_id, !space.is_empty()).await?;
    if channel.parent.is_some() {
        let (id, within) = (message.id.to_string(), message.channel_id.to_string());
        discord.known.stands(&id, &within);
    }
    let seen = Seen {
        me: discord.known.me().user,
        on_server: !space.is_empty(),
        channel,
    };
    Ok((space, seen))
}

/// What a channel is; asked for where it is not known.
///
/// # Errors
/// Where it cannot be asked for now.
pub async fn channel(
    discord: &Discord,
    channel: ChannelId,
    on_server: bool,
) -> Result<known::Channel, Failure> {
    let id = channel.to_string();
    if let Some(known) = discord.known.channel(&id) {
        return Ok(known);
    }
    if !on_server {
        return Ok(known::Channel {
            direct: true,
            ..known::Channel::default()
        });
    }
    let route = Route::Channel {
        channel_id: channel,
    };
    match discord.rest.get(route).await {
        Ok(said) => discord.known.read(&said),
        Err(trouble) => match Failure::from(trouble) {
            // It is gone, or closed to us: that will not change by asking.
            Failure::Refused(_) | Failure::Gone | Failure::Stale => {}
            failure => return Err(failure),
        },
    }
    Ok(discord.known.channel(&id).unwrap_or_else(guess))
}

/// What a channel is, or a guess where nobody says it soon: a question does not wait for long.
pub async fn channel_soon(discord: &Discord, of: ChannelId, on_server: bool) -> known::Channel {
    let asked = timeout(PATIENCE, channel(discord, of, on_server)).await;
    asked.ok().and_then(Result::ok).unwrap_or_else(guess)
}

/// Most channels are such; a thread that is taken for one belongs to no desk.
fn guess() -> known::Channel {
    known::Channel {
        threads: true,
        ..known::Channel::default()
    }
}
