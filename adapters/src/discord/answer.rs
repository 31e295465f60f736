//! Commands, presses and forms: written down, acknowledged within Discord's three seconds, worked on. Suggestions are given at once.

use std::time::Duration;

use bot::conversation::First;
use serenity::all::{
    CreateInteractionResponse as Response, CreateInteractionResponseMessage as Body, Interaction,
};
use serenity::http::{LightMethod, Route};
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::around::channel_soon;
use super::asking::{self, Asked};
use super::event::Seen;
use super::say::token;
use super::trouble::Trouble;
use super::{Discord, commands, known, render};
use crate::serve::chat::Failure;
use crate::serve::door::Door;

/// After that Discord has told the asker that nobody answers.
const PATIENCE: Duration = Duration::from_secs(5);
/// After that it is told a second time; and the pause where it failed before.
const FIRST: Duration = Duration::from_millis(1_500);
const PAUSE: Duration = Duration::from_millis(200);

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
    let (direct, with_us) = (asked.guild.is_none(), asked.with_us());
    let seen = Seen {
        me: discord.known.me().user,
        on_server,
        channel: if direct && !with_us {
            known::Channel::default()
        } else {
            channel_soon(discord, asked.channel_id, !direct).await
        },
    };
    let Some(incoming) = asking::interaction(of, &seen) else {
        let old = "That does not work any more. Ask again with /help or a new paste.";
        acknowledge(discord, asked, &Response::Message(render::private(old))).await;
        return;
    };
    // What serenity does not say of a form has to stand in its name.
    let behind = if space.is_empty() && !with_us {
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
            // Where no desk has the place the door says so, and the answer's handle does not know it.
            if accepted.first == (First::Later { private: true }) {
                discord.known.is_private(asked.token);
            }
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
    let tell = |patience| {
        let done = discord.rest.tell(LightMethod::Post, route, what);
        async move {
            let late = || Trouble::Failed(Failure::Down("it took too long".into()));
            timeout(patience, done)
                .await
                .unwrap_or_else(|_| Err(late()))
        }
    };
    let mut told = tell(FIRST).await;
    if let Err(Trouble::Failed(Failure::Down(_) | Failure::Unsure(_) | Failure::Slow { .. })) =
        &told
    {
        // What got there after all is not done a second time.
        sleep(PAUSE).await;
        told = tell(PATIENCE.saturating_sub(FIRST)).await;
    }
    match told {
        Ok(_) | Err(Trouble::Acknowledged) => {}
        Err(trouble) => {
            warn!(why = %Failure::from(trouble), "an acknowledgement did not get through");
        }
    }
}
