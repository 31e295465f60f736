//! What only one person gets: a file with a private answer, and direct messages.

use bot::event::{Handle, Person};
use bot::reply::Reply;
use bot::store::outbox::File;
use serde_json::{Value, json};
use serenity::builder::Builder;
use serenity::http::{LightMethod, Route};

use super::asking::{Shown, Way};
use super::say::{attached, token};
use super::trouble::{Asked, Trouble};
use super::{Discord, number, render};
use crate::serve::chat::Failure;

/// Answers with a file, where the answer is the asker's alone.
pub async fn hand(
    discord: &Discord,
    to: &Handle,
    reply: &Reply,
    file: &File,
) -> Result<(), Failure> {
    let Some(way) = Way::read(to) else {
        return Err(Failure::Stale);
    };
    if way.shown != Shown::ToAsker {
        return Err(Failure::Refused("others would see the file".into()));
    }
    let (application, token) = (number(&way.application)?.into(), token(&way.token)?);
    let route = Route::WebhookOriginalInteractionResponse {
        application_id: application,
        token,
    };
    let http = discord.rest.http();
    http.set_application_id(application);
    let body = render::response(reply).new_attachment(attached(file));
    let asked = Asked {
        repeats: true,
        by_interaction: true,
    };
    let sending = body.execute(http, token);
    match discord.rest.within(route, asked, sending).await {
        Ok(_) => Ok(()),
        // It was acknowledged too late, or its time is over.
        Err(Trouble::NoChannel | Trouble::Failed(Failure::Gone)) => Err(Failure::Stale),
        Err(trouble) => Err(trouble.into()),
    }
}

/// Writes to somebody directly.
pub async fn whisper(discord: &Discord, to: &Person, reply: &Reply) -> Result<(), Failure> {
    let body = json!({ "recipient_id": number(&to.id)?.to_string() });
    let opened = discord
        .rest
        .tell(LightMethod::Post, Route::UserMeDmChannels, &body)
        .await
        .map_err(Failure::from)?;
    let channel = opened.get("id").and_then(Value::as_str).unwrap_or_default();
    let route = Route::ChannelMessages {
        channel_id: number(channel)?.into(),
    };
    let message = render::message(reply, None);
    let sent = discord.rest.tell(LightMethod::Post, route, &message).await;
    sent.map(drop).map_err(Failure::from)
}
