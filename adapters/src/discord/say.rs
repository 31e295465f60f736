//! What goes out: answers in the thread of their paste, each once; edits, deletions, direct answers, signs of work.

use bot::event::Handle;
use bot::place::{MessageRef, Place};
use bot::reply::Reply;
use bot::store::outbox::{File, PostKey};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use serenity::all::{
    AutoArchiveDuration, CreateAttachment, CreateMessage, CreateThread, MessageReference, Nonce,
};
use serenity::http::{LightMethod, Route};
use serenity::model::id::{ChannelId, MessageId};

use super::asking::{Shown, Way};
use super::render::{self, thread_name};
use super::trouble::{Asked, Trouble};
use super::{Discord, number};
use crate::serve::chat::{Failure, Sending};

/// So many messages of a thread are looked through for one of ours: the latest.
const LOOKED_AT: usize = 100;
/// Shown at a message that is worked on: 👀.
const EYES: &str = "%F0%9F%91%80";

/// The name by which a message is found again: in its nonce, and small in its footer.
fn mark(key: &PostKey, place: &Place) -> String {
    let thread = place.thread.as_deref().unwrap_or_default();
    let whole = format!("{}\0{}\0{thread}", key.0, place.channel.id);
    let sum = digest(&SHA256, whole.as_bytes());
    let bytes = sum.as_ref().iter().take(10);
    bytes.map(|b| format!("{b:02x}")).collect()
}

/// What stands in a footer.
fn short(mark: &str) -> &str {
    mark.get(..10).unwrap_or(mark)
}

/// The channel or thread that messages of a place stand in.
pub fn within(discord: &Discord, place: &Place) -> Result<ChannelId, Failure> {
    let id = match &place.thread {
        Some(thread) => discord.known.thread_at(thread),
        None => place.channel.id.clone(),
    };
    Ok(number(&id)?.into())
}

pub async fn send(discord: &Discord, sending: Sending<'_>) -> Result<String, Failure> {
    let Sending {
        key,
        place,
        reply,
        files,
    } = sending;
    let mark = mark(key, place);
    let mut message = render::message(reply, Some(short(&mark)))
        .nonce(Nonce::String(mark.clone()))
        .enforce_nonce(true);
    let mut within = within(discord, place)?;
    let mut beside = false;
    if let Some(thread) = &place.thread
        && discord.known.channel(thread).is_none()
    {
        match open(discord, &place.channel.id, thread, reply).await? {
            Opened::There => within = self::within(discord, place)?,
            Opened::MayNot => beside = true,
        }
    }
    let mut posted = Err(Trouble::NoRight);
    if !beside {
        posted = post(discord, within, message.clone(), files).await;
    }
    // What was asked is answered all the same where the bot may open no thread, or not write in one: everybody sees to what it belongs.
    if let (Err(Trouble::NoRight), Some(thread)) = (&posted, &place.thread) {
        let channel = ChannelId::new(number(&place.channel.id)?);
        let to = MessageReference::from((channel, MessageId::new(number(thread)?)));
        // A thread that hangs on no message there may be a private one: what is said in it is not for the channel.
        message = message.reference_message(to.fail_if_not_exists(!beside));
        match post(discord, channel, message, files).await {
            // A forum has nothing beside its threads.
            Err(Trouble::OtherKind(_) | Trouble::Failed(Failure::Refused(_))) if !beside => {}
            answered => (within, posted) = (channel, answered),
        }
    }
    match posted {
        Ok(Some(message)) => {
            discord.known.stands(&message, &within.to_string());
            Ok(message)
        }
        Ok(None) => Err(Failure::Unsure("it said nothing about the message".into())),
        Err(trouble) => {
            // It may have been there, and be gone.
            if let (Trouble::NoChannel, Some(thread)) = (&trouble, &place.thread) {
                discord.known.forget(thread);
            }
            Err(trouble.into())
        }
    }
}

async fn post(
    discord: &Discord,
    within: ChannelId,
    message: CreateMessage,
    files: &[File],
) -> Result<Option<String>, Trouble> {
    let route = Route::ChannelMessages { channel_id: within };
    if files.is_empty() {
        let said = discord
            .rest
            .tell(LightMethod::Post, route, &message)
            .await?;
        let id = said.get("id").and_then(Value::as_str);
        return Ok(id.map(Into::into));
    }
    // Only serenity's own way numbers the parts of a message with files.
    let message = message.add_files(files.iter().map(attached));
    let once = Asked {
        repeats: false,
        by_interaction: false,
    };
    let sending = within.send_message(discord.rest.http(), message);
    let sent = discord.rest.within(route, once, sending).await?;
    Ok(Some(sent.id.to_string()))
}

/// A file as it may be called in a request.
pub fn attached(file: &File) -> CreateAttachment {
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = file.name.chars().filter(fits).take(100).collect();
    CreateAttachment::bytes(file.bytes.clone(), name)
}

/// What became of a thread.
enum Opened {
    There,
    /// The bot may open none.
    MayNot,
}

/// Opens the thread at a message, where it is not there yet.
async fn open(
    discord: &Discord,
    channel: &str,
    message: &str,
    reply: &Reply,
) -> Result<Opened, Failure> {
    let body =
        CreateThread::new(thread_name(reply)).auto_archive_duration(AutoArchiveDuration::OneHour);
    let route = Route::ChannelMessageThreads {
        channel_id: number(channel)?.into(),
        message_id: number(message)?.into(),
    };
    match discord.rest.tell(LightMethod::Post, route, &body).await {
        Ok(opened) => {
            let id = opened.get("id").and_then(Value::as_str);
            if let Some(id) = id.filter(|id| *id != message) {
                discord.known.opened(message, id);
            }
            discord.known.thread(message, channel);
            Ok(Opened::There)
        }
        Err(Trouble::ThreadExists) => {
            discord.known.thread(message, channel);
            Ok(Opened::There)
        }
        // A post of a forum hangs on no message of its channel, and somebody else may have opened it: it is simply there.
        Err(
            trouble @ (Trouble::NoChannel
            | Trouble::NoRight
            | Trouble::OtherKind(_)
            | Trouble::Failed(Failure::Gone)),
        ) => {
            let there = Route::Channel {
                channel_id: number(message)?.into(),
            };
            match discord.rest.get(there).await {
                Ok(said) => {
                    discord.known.read(&said);
                    Ok(Opened::There)
                }
                Err(Trouble::NoChannel) if trouble == Trouble::NoRight => Ok(Opened::MayNot),
                // The message is gone, and its thread with it.
                Err(why) => Err(why.into()),
            }
        }
        Err(trouble) => Err(trouble.into()),
    }
}

pub async fn edit(
    discord: &Discord,
    place: &Place,
    message: &str,
    reply: &Reply,
) -> Result<(), Failure> {
    let body = serde_json::to_vec(&render::edit(reply))
        .map_err(|_| Failure::Refused("it cannot be written down".into()))?;
    change(discord, place, message, LightMethod::Patch, Some(body)).await
}

pub async fn delete(discord: &Discord, place: &Place, message: &str) -> Result<(), Failure> {
    change(discord, place, message, LightMethod::Delete, None).await
}

/// Changes a message of ours, where it stands: in its thread, or in the channel where none could be opened.
async fn change(
    discord: &Discord,
    place: &Place,
    message: &str,
    method: LightMethod,
    body: Option<Vec<u8>>,
) -> Result<(), Failure> {
    let first = match discord.known.within(message) {
        Some(within) => number(&within)?.into(),
        None => within(discord, place)?,
    };
    let id = number(message)?;
    let beside = ChannelId::new(number(&place.channel.id)?);
    match change_in(discord, first, id, method, body.clone()).await {
        Err(Trouble::NoChannel | Trouble::Failed(Failure::Gone)) if first != beside => {
            let changed = change_in(discord, beside, id, method, body).await;
            match changed {
                Ok(()) => discord.known.stands(message, &beside.to_string()),
                // A forum holds no messages itself.
                Err(Trouble::OtherKind(_)) => return Err(Failure::Gone),
                Err(trouble) => return Err(trouble.into()),
            }
            Ok(())
        }
        changed => changed.map_err(Failure::from),
    }
}

/// A thread that closed itself is opened for that; one that somebody locked stays as it is.
async fn change_in(
    discord: &Discord,
    within: ChannelId,
    message: u64,
    method: LightMethod,
    body: Option<Vec<u8>>,
) -> Result<(), Trouble> {
    let route = Route::ChannelMessage {
        channel_id: within,
        message_id: message.into(),
    };
    let asking = || discord.rest.ask(method, route, body.clone(), None);
    let changed = match asking().await {
        Err(Trouble::Archived) => {
            let thread = Route::Channel { channel_id: within };
            let open = json!({ "archived": false });
            discord.rest.tell(LightMethod::Patch, thread, &open).await?;
            asking().await
        }
        changed => changed,
    };
    changed.map(drop)
}

/// Looks for a message of ours: by its nonce, where Discord still says it, else by what stands in its footer.
pub async fn find(
    discord: &Discord,
    place: &Place,
    key: &PostKey,
) -> Result<Option<String>, Failure> {
    let (within, mark) = (within(discord, place)?, mark(key, place));
    let limit = ("limit", LOOKED_AT.to_string());
    if let Some(found) = find_in(discord, within, vec![limit.clone()], &mark).await? {
        return Ok(Some(found));
    }
    // Where no thread could be opened, it stands in the channel, after what it answers.
    let Some(thread) = &place.thread else {
        return Ok(None);
    };
    let beside = number(&place.channel.id)?.into();
    let after = vec![limit, ("after", thread.clone())];
    let found = match find_in(discord, beside, after, &mark).await {
        Ok(found) => found,
        // Of a forum.
        Err(Trouble::Failed(Failure::Refused(_))) => None,
        Err(trouble) => return Err(trouble.into()),
    };
    if let Some(message) = &found {
        discord.known.stands(message, &place.channel.id);
    }
    Ok(found)
}

async fn find_in(
    discord: &Discord,
    within: ChannelId,
    params: Vec<(&'static str, String)>,
    mark: &str,
) -> Result<Option<String>, Trouble> {
    let route = Route::ChannelMessages { channel_id: within };
    let asked = discord
        .rest
        .ask(LightMethod::Get, route, None, Some(params));
    let said = match asked.await {
        Ok(said) => said,
        // The thread was never opened; a forum holds no messages itself.
        Err(Trouble::NoChannel | Trouble::OtherKind(_)) => return Ok(None),
        Err(trouble) => return Err(trouble),
    };
    let me = discord.known.me().user;
    let text = |message: &Value, at: &str| {
        let text = message.pointer(at).and_then(Value::as_str);
        text.unwrap_or_default().to_string()
    };
    let ours = |message: &&Value| {
        if me.is_empty() {
            message.pointer("/author/bot") == Some(&Value::Bool(true))
        } else {
            text(message, "/author/id") == me
        }
    };
    let messages = said.as_array().map(Vec::as_slice).unwrap_or_default();
    let found = messages.iter().filter(ours).find(|message| {
        text(message, "/nonce") == mark
            || text(message, "/embeds/0/footer/text").ends_with(short(mark))
    });
    Ok(found.map(|message| text(message, "/id")))
}

/// Answers directly. What was acknowledged on a button's message would replace that message, and what was acknowledged for all would
/// be seen by all: what only the asker may see comes as a message of its own then.
pub async fn respond(
    discord: &Discord,
    to: &Handle,
    reply: &Reply,
    _again: bool,
) -> Result<(), Failure> {
    let Some(way) = Way::read(to) else {
        return Err(Failure::Stale);
    };
    let (application, token) = (number(&way.application)?.into(), token(&way.token)?);
    let original = Route::WebhookOriginalInteractionResponse {
        application_id: application,
        token,
    };
    let shown = match way.shown {
        Shown::ToAll if discord.known.private(&way.token) => Shown::ToAsker,
        shown => shown,
    };
    if shown == Shown::ToAll && reply.private {
        // What everybody would see goes first: what follows an acknowledgement without words would take its place.
        match discord
            .rest
            .ask(LightMethod::Delete, original, None, None)
            .await
        {
            Ok(_) | Err(Trouble::Failed(Failure::Gone)) => {}
            Err(trouble) => return Err(trouble.into()),
        }
    }
    let answered = if shown != Shown::ToAsker && reply.private {
        let route = Route::WebhookFollowupMessages {
            application_id: application,
            token,
        };
        let body = render::followup(reply);
        discord.rest.tell(LightMethod::Post, route, &body).await
    } else {
        let body = render::response(reply);
        discord.rest.tell(LightMethod::Patch, original, &body).await
    };
    match answered {
        Ok(_) => Ok(()),
        // It was acknowledged too late, or its time is over.
        Err(Trouble::NoChannel | Trouble::Failed(Failure::Gone)) => Err(Failure::Stale),
        Err(trouble) => Err(trouble.into()),
    }
}

/// A token as it may stand in an address.
pub fn token(text: &str) -> Result<&str, Failure> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'=');
    if (1..=1_000).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with('.') {
        Ok(text)
    } else {
        Err(Failure::Stale)
    }
}

pub async fn working(discord: &Discord, on: &MessageRef, yes: bool) -> Result<(), Failure> {
    let stands = discord.known.within(&on.id);
    let route = Route::ChannelMessageReactionMe {
        channel_id: number(stands.as_deref().unwrap_or(&on.channel.id))?.into(),
        message_id: number(&on.id)?.into(),
        reaction: EYES,
    };
    let method = if yes {
        LightMethod::Put
    } else {
        LightMethod::Delete
    };
    let shown = discord.rest.ask(method, route, None, None).await;
    shown.map(drop).map_err(Failure::from)
}
