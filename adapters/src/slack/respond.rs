//! Answers to whoever called a command, pressed a button or sent a form: through Slack's address for it, else beside it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use bot::event::Handle;
use bot::place::{Channel, Place};
use bot::reply::Reply;
use bot::store::outbox::PostKey;
use ring::digest::{SHA256, digest};
use serde_json::json;

use super::handle::{Origin, Way};
use super::{Slack, api, put, render};
use crate::config::desk::SLACK;
use crate::serve::chat::{Failure, Sending};

/// So many answers are remembered; a second one comes within seconds.
const REMEMBERED: usize = 1_000;

/// Where answers to commands stand, by the handle they were given through.
#[derive(Default)]
pub struct Told(Mutex<Known>);

#[derive(Default)]
struct Known {
    by_key: HashMap<String, Stands>,
    order: VecDeque<String>,
}

/// Where an answer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stands {
    /// As a message of ours with this time stamp.
    Ours(String),
    /// Slack's address took it, and nothing can change it any more.
    Theirs,
    /// It was sent as a message of ours, and nobody knows whether it is there.
    Perhaps,
}

impl Told {
    fn note(&self, key: &str, stands: Stands) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.by_key.insert(key.into(), stands).is_none() {
            known.order.push_back(key.into());
        }
        if known.order.len() > REMEMBERED
            && let Some(oldest) = known.order.pop_front()
        {
            known.by_key.remove(&oldest);
        }
    }

    fn get(&self, key: &str) -> Option<Stands> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.by_key.get(key).cloned()
    }
}

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
        // At the address of a command or the shortcut nothing is ever replaced: a second answer would stand beside the first. So what all
        // may see is a message of ours, which can be changed.
        let ours = matches!(way.from, Origin::Command | Origin::Shortcut);
        if !ours {
            // The message with the button is everybody's answer: what one person asked besides stands next to it.
            let replaces = again && !reply.private;
            let private = reply.private || way.from == Origin::Own;
            return self.through_address(&way, reply, private, replaces).await;
        }
        if reply.private || way.channel.is_empty() {
            return self
                .through_address(&way, reply, reply.private, false)
                .await;
        }
        let key = key(to);
        let known = self.told.get(&key);
        if let (true, Some(Stands::Theirs)) = (again, &known) {
            return self.through_address(&way, reply, true, false).await;
        }
        let sure = known
            .as_ref()
            .is_some_and(|known| *known != Stands::Perhaps);
        match self.in_channel(&way, reply, again, known, &key).await {
            Ok(ts) => {
                self.told.note(&key, Stands::Ours(ts));
                Ok(())
            }
            Err(failure @ Failure::Unsure(_)) => {
                if !sure {
                    self.told.note(&key, Stands::Perhaps);
                }
                Err(failure)
            }
            // We are not in that channel, or may not write there.
            Err(Failure::Refused(_)) => {
                self.through_address(&way, reply, false, false).await?;
                self.told.note(&key, Stands::Theirs);
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }

    /// Answers with a message of ours, or changes it. Its time stamp.
    async fn in_channel(
        &self,
        way: &Way,
        reply: &Reply,
        again: bool,
        known: Option<Stands>,
        key: &str,
    ) -> Result<String, Failure> {
        let place = Place {
            channel: Channel {
                chat: SLACK.into(),
                space: way.team.clone(),
                id: way.channel.clone(),
            },
            thread: way.thread.clone(),
        };
        let mark = PostKey(format!("answer/{key}"));
        let stands = match known {
            Some(Stands::Ours(ts)) => Some(ts).filter(|_| again),
            Some(Stands::Perhaps) => self.look_for(&place, &mark).await?,
            // A program that ended may have answered; where Slack does not say, it is answered anew.
            None if again => self.look_for(&place, &mark).await.ok().flatten(),
            Some(Stands::Theirs) | None => None,
        };
        if let Some(ts) = stands {
            match self.change_message(&place, &ts, reply).await {
                Err(Failure::Gone) => {}
                changed => return changed.map(|()| ts),
            }
        }
        self.send_message(Sending {
            key: &mark,
            place: &place,
            reply,
            files: &[],
        })
        .await
    }

    /// Answers through Slack's address for it.
    async fn through_address(
        &self,
        way: &Way,
        reply: &Reply,
        private: bool,
        replaces: bool,
    ) -> Result<(), Failure> {
        let card = render::render(reply);
        let Ok(address) = reqwest::Url::parse(&way.url) else {
            return self.whisper(way, private, &card).await;
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
                self.whisper(way, private, &card).await
            }
            Ok(said) => Err(api::status(said.status().as_u16())),
            Err(error) if error.is_connect() => Err(Failure::Down("no connection".into())),
            Err(_) => Err(Failure::Unsure("the connection broke".into())),
        }
    }

    /// Answers without an address for it: to the asker alone, or in the channel.
    async fn whisper(&self, way: &Way, private: bool, card: &render::Card) -> Result<(), Failure> {
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
        let method = if private {
            put(&mut body, "user", Some(&way.user));
            "chat.postEphemeral"
        } else {
            "chat.postMessage"
        };
        self.post(&way.team, method, &body).await.map(|_| ())
    }
}

/// A handle's name: the handle itself lets whoever has it speak in our name.
fn key(to: &Handle) -> String {
    let sum = digest(&SHA256, to.0.as_bytes());
    sum.as_ref().iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_answers_are_remembered() {
        let told = Told::default();
        for nth in 0..=REMEMBERED {
            told.note(&nth.to_string(), Stands::Ours(nth.to_string()));
        }
        told.note("1", Stands::Theirs);
        assert_eq!(told.get("0"), None);
        assert_eq!(told.get("1"), Some(Stands::Theirs));
        assert_eq!(told.get("2"), Some(Stands::Ours("2".into())));
        assert_eq!(told.0.lock().expect("a lock").order.len(), REMEMBERED);
    }
}
