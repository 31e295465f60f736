//! Answers to whoever called a command, pressed a button or sent a form: through Slack's address for it, else beside it.

use bot::event::Handle;
use bot::reply::Reply;
use serde_json::json;

use super::handle::{Origin, Way};
use super::{Slack, api, put, render};
use crate::serve::chat::Failure;

impl Slack {
    pub(super) async fn answer(
        &self,
        to: &Handle,
        reply: &Reply,
        again: bool,
    ) -> Result<(), Failure> {
        let Some(way) = Way::read(&to.0) else {
            return Err(Failure::Stale);
        };
        let card = render::render(reply);
        // The message with the button is everybody's answer: what one person asked besides stands next to it.
        let replaces = again
            && match way.from {
                Origin::Command | Origin::Shortcut => true,
                Origin::Own | Origin::Message => !reply.private,
            };
        let private = reply.private || way.from == Origin::Own;
        let Ok(address) = reqwest::Url::parse(&way.url) else {
            return self.whisper(&way, reply, &card).await;
        };
        if !self.api.is_theirs(&address) {
            return Err(Failure::Refused(
                "the address for the answer is not Slack's".into(),
            ));
        }
        let mut body = json!({
            "response_type": if private { "ephemeral" } else { "in_channel" },
            "replace_original": replaces,
            "text": card.text,
            "blocks": card.blocks,
            "unfurl_links": false,
            "unfurl_media": false
        });
        put(&mut body, "thread_ts", way.thread.as_deref());
        let sent = self
            .api
            .plain
            .post(address)
            .header("content-type", "application/json; charset=utf-8");
        match sent.body(body.to_string()).send().await {
            Ok(said) if said.status().is_success() => Ok(()),
            // Used up or too old.
            Ok(said) if matches!(said.status().as_u16(), 404 | 410) => {
                self.whisper(&way, reply, &card).await
            }
            Ok(said) => Err(api::status(said.status().as_u16())),
            Err(error) if error.is_connect() => Err(Failure::Down("no connection".into())),
            Err(_) => Err(Failure::Unsure("the connection broke".into())),
        }
    }

    /// Answers without an address for it: to the asker alone, or in the channel.
    async fn whisper(&self, way: &Way, reply: &Reply, card: &render::Card) -> Result<(), Failure> {
        if way.channel.is_empty() || way.user.is_empty() {
            return Err(Failure::Stale);
        }
        let mut body = json!({
            "channel": way.channel,
            "text": card.text,
            "blocks": card.blocks,
            "unfurl_links": false,
            "unfurl_media": false,
            "parse": "none",
            "link_names": false
        });
        put(&mut body, "thread_ts", way.thread.as_deref());
        let method = if reply.private || way.from == Origin::Own {
            put(&mut body, "user", Some(&way.user));
            "chat.postEphemeral"
        } else {
            "chat.postMessage"
        };
        self.post(&way.team, method, &body).await.map(|_| ())
    }
}
