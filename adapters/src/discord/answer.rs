//! Commands, presses and forms: written down, acknowledged within Discord's three seconds, worked on. Suggestions are given at once.

use std::time::Duration;

use bot::conversation::First;
use serenity::all::{
    CreateInteractionResponse as Response, CreateInteractionResponseMessage as Body, Interaction,
};
use serenity::http::{LightMethod, Route};
use tokio::time::timeout;
use tracing::{debug, warn};

use super::around::{channel_soon, is_member};
use super::asking::{self, Asked};
use super::event::Seen;
use super::say::token;
use super::trouble::Trouble;
use super::{Discord, commands, render};
use crate::serve::chat::Failure;
use crate::serve::door::Door;

/// After that Discord has told the asker that nobody answers.
const PATIENCE: Duration = Duration::from_secs(5);

pub async fn interact(discord: &Discord, door: &Door, of: &Interaction) {
    let Some(asked) = asking::asked(of) else {
        return;
    };
    if let Interaction::Autocomplete(of) = of {
        let typed = of.data.autocomplete().map(|option| option.value);
        let choices = commands::suggestions(&discord.codes, typed.unwrap_or_default());
        acknowledge(discord, asked, &Response::Autocomplete(choices)).await;
        return;
    }
    if let Some(known) = asked.channel {
        let parent = known.parent_id.map(|id| id.to_string());
        discord.known.saw(&known.id.to_string(), known.kind, parent);
    }
    let guild = asked.guild.map(|guild| guild.to_string());
    let on_server = guild.is_some_and(|guild| discord.known.on(&guild));
    let space = asked.space(on_server);
    let direct = asked.guild.is_none();
    let seen = Seen {
        me: discord.known.me().user,
        // Who brought the bot along to another server is a stranger there.
        member: !space.is_empty() || direct && is_member(discord, asked.user.id).await,
        on_server,
        channel: channel_soon(discord, asked.channel_id, !direct).await,
    };
    let Some(incoming) = asking::interaction(of, &seen) else {
        let old = "That does not work any more. Ask again with /help or a new paste.";
        acknowledge(discord, asked, &Response::Message(render::private(old))).await;
        return;
    };
    // What serenity does not say of a form has to stand in its name.
    let behind = if !direct && space.is_empty() {
        asking::OWN
    } else {
        ""
    };
    match door.receive(incoming).await {
        Ok(accepted) => {
            let first = match &accepted.first {
                First::Received => Response::Acknowledge,
                First::Later { private } => Response::Defer(Body::new().ephemeral(*private)),
                First::Open(form) => Response::Modal(render::form(form, behind)),
                First::SentBack(complaints) => Response::Message(render::complaints(complaints)),
            };
            acknowledge(discord, asked, &first).await;
            accepted.work();
        }
        Err(trouble) => {
            warn!(why = %trouble, "a question could not be taken in");
            let later = "That could not be taken in just now. Ask again in a minute.";
            acknowledge(discord, asked, &Response::Message(render::private(later))).await;
        }
    }
}

async fn acknowledge(discord: &Discord, asked: Asked<'_>, what: &Response) {
    let Ok(token) = token(asked.token) else {
        return;
    };
    let route = Route::InteractionResponse {
        interaction_id: asked.id.into(),
        token,
    };
    let done = discord.rest.tell(LightMethod::Post, route, what);
    match timeout(PATIENCE, done).await {
        Ok(Ok(_) | Err(Trouble::Acknowledged)) => {}
        Ok(Err(trouble)) => {
            debug!(why = %Failure::from(trouble), "an acknowledgement did not get through");
        }
        Err(_) => debug!("an acknowledgement took too long"),
    }
}
