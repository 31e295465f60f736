//! Slack: connects, sends, edits, answers. `event` reads what comes in, `render` sets what goes out.
//!
//! The library's own listeners acknowledge what they cannot read and drop fields that they do not know; so its client makes the calls,
//! and payloads are read as the JSON that they are.

mod api;
mod connections;
pub mod event;
mod fetch;
mod give;
mod handle;
mod history;
mod http;
mod intake;
mod message;
mod page;
mod people;
pub mod render;
mod respond;
pub mod setup;
mod socket;
mod words;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{Context, Result};
use bot::event::{FileRef, Handle, Person, PersonKind};
use bot::place::{Channel, MessageRef, Place};
use bot::reply::Reply;
use bot::store::memory::Cursor;
use bot::store::outbox::{File, PostKey};
use serde_json::{Value, json};
use tokio::time::sleep;
use tracing::{debug, info, warn};

use self::api::{Api, is_final};
use self::handle::Way;
use self::message::{id, text};
use self::people::People;
use self::respond::Told;
use crate::config::Config;
use crate::config::desk::SLACK;
use crate::config::platform::{Slack as Settings, SlackMode, SlackWorkspace as Workspace};
use crate::config::secret::Secret;
use crate::serve::chat::{Chat, Doing, Failure, Incoming, Pace, Sending, Stop};
use crate::serve::door::Door;

/// The name of our mark in a message's metadata, by which `find` knows it.
const MARK: &str = "bouncedesk_post";
/// What a message is marked with while it is worked on.
const EYES: &str = "eyes";
/// How long we wait before the Web API is tried again at the start.
const PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How often, in the end, a workspace that does not take our token is asked again.
const NOW_AND_THEN: Duration = Duration::from_secs(600);

/// Slack.
pub struct Slack {
    settings: Settings,
    api: Api,
    people: People,
    /// Our user id in each workspace, once Slack has said it.
    us: RwLock<HashMap<String, String>>,
    told: Told,
}

/// Why we do not know who we are in a workspace.
enum NotMet {
    Refused {
        why: String,
        /// Until somebody changes something.
        stays: bool,
    },
    Failed(Failure),
}

impl Slack {
    /// # Errors
    /// Where the system has no certificates.
    pub fn new(settings: &Settings, config: &Config) -> Result<Self> {
        let api = Api::new(settings, config.loopback_only).context("set up the calls to Slack")?;
        Ok(Self {
            settings: settings.clone(),
            api,
            people: People::default(),
            us: RwLock::default(),
            told: Told::default(),
        })
    }

    /// The bot token of a workspace.
    fn token(&self, team: &str) -> Result<&Secret, Failure> {
        let mut all = self.settings.workspaces.iter();
        let found = all.find(|workspace| workspace.id == team);
        found
            .map(|workspace| &workspace.bot_token)
            .ok_or_else(|| Failure::Refused(format!("no token for the workspace {team}")))
    }

    async fn post(&self, team: &str, method: &str, body: &Value) -> Result<Value, Failure> {
        self.api.post(self.token(team)?, method, body).await
    }

    async fn get(
        &self,
        team: &str,
        method: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Value, Failure> {
        self.api.get(self.token(team)?, method, parameters).await
    }

    /// Asks who we are in each workspace. Says which are left out: a workspace that has thrown us out stops nobody else's answers.
    async fn introduce(&self, stop: &mut Stop) -> Result<Vec<Workspace>, Failure> {
        let mut left_out = Vec::new();
        let mut refused = Vec::new();
        for workspace in &self.settings.workspaces {
            let mut pause = PAUSE;
            loop {
                match self.meet(workspace).await {
                    Ok(()) => break,
                    Err(NotMet::Refused { why, stays }) => {
                        warn!(chat = SLACK, %why, "a workspace is left out");
                        left_out.push(workspace.clone());
                        refused.extend(stays.then_some(Failure::Refused(why)));
                        break;
                    }
                    Err(NotMet::Failed(failure)) => {
                        warn!(chat = SLACK, why = %failure, "Slack is asked again");
                    }
                }
                tokio::select! {
                    () = sleep(pause) => {}
                    _ = stop.changed() => return Ok(Vec::new()),
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
        match refused.pop() {
            Some(failure) if refused.len() + 1 == self.settings.workspaces.len() => Err(failure),
            Some(_) | None => Ok(left_out),
        }
    }

    /// Asks who we are in a workspace.
    async fn meet(&self, workspace: &Workspace) -> Result<(), NotMet> {
        let token = &workspace.bot_token;
        match self.api.post(token, "auth.test", &json!({})).await {
            Ok(said) if text(&said, "team_id") != workspace.id => Err(NotMet::Refused {
                why: format!(
                    "the bot token of workspace {} belongs to workspace {}; correct `slack.workspace` in the config",
                    workspace.id,
                    harmless_id(text(&said, "team_id"))
                ),
                stays: true,
            }),
            Ok(said) => {
                let mut us = self.us.write().unwrap_or_else(PoisonError::into_inner);
                us.insert(workspace.id.clone(), id(&said, "user_id"));
                Ok(())
            }
            Err(Failure::Refused(why)) => Err(NotMet::Refused {
                stays: is_final(&why),
                why: format!(
                    "the bot token of workspace {} is not taken ({why}); `bouncedesk setup slack` says what it needs",
                    workspace.id
                ),
            }),
            Err(failure) => Err(NotMet::Failed(failure)),
        }
    }

    /// Asks those that were left out now and then, until all are met.
    async fn meet_later(&self, mut left_out: Vec<Workspace>, mut stop: Stop) {
        let mut pause = PAUSE;
        while !left_out.is_empty() {
            tokio::select! {
                () = sleep(pause) => {}
                _ = stop.changed() => return,
            }
            pause = (pause * 2).min(NOW_AND_THEN);
            let mut still = Vec::new();
            for workspace in left_out {
                match self.meet(&workspace).await {
                    Ok(()) => info!(chat = SLACK, team = workspace.id, "a workspace is there"),
                    Err(NotMet::Refused { why, .. }) => {
                        debug!(chat = SLACK, %why, "a workspace is still left out");
                        still.push(workspace);
                    }
                    Err(NotMet::Failed(failure)) => {
                        debug!(chat = SLACK, why = %failure, "a workspace is still left out");
                        still.push(workspace);
                    }
                }
            }
            left_out = still;
        }
    }

    /// Shows a form. Slack wants it within three seconds of the act that asked for it.
    async fn open(&self, way: &Way, trigger: &str, form: &bot::form::Form) -> Result<(), Failure> {
        let view = render::modal(form, &way.handle().0);
        let body = json!({ "trigger_id": trigger, "view": view });
        self.post(&way.team, "views.open", &body).await.map(|_| ())
    }

    async fn send_message(&self, sending: Sending<'_>) -> Result<String, Failure> {
        if !sending.files.is_empty() {
            return Err(Failure::Refused("files cannot be sent to Slack yet".into()));
        }
        let card = render::render(sending.reply);
        let mut body = json!({
            "channel": sending.place.channel.id,
            "text": card.text,
            "blocks": card.blocks,
            "unfurl_links": false,
            "unfurl_media": false,
            "parse": "none",
            "link_names": false,
            "metadata": { "event_type": MARK, "event_payload": { "key": sending.key.0 } }
        });
        put(&mut body, "thread_ts", sending.place.thread.as_deref());
        let said = self.post(&sending.place.channel.space, "chat.postMessage", &body);
        let ts = id(&said.await?, "ts");
        if ts.is_empty() {
            return Err(Failure::Unsure("the answer names no message".into()));
        }
        Ok(ts)
    }

    async fn change_message(&self, place: &Place, ts: &str, reply: &Reply) -> Result<(), Failure> {
        let card = render::render(reply);
        let body = json!({
            "channel": place.channel.id,
            "ts": ts,
            "text": card.text,
            "blocks": card.blocks,
            "parse": "none",
            "link_names": false
        });
        let said = self.post(&place.channel.space, "chat.update", &body).await;
        said.map(|_| ())
    }

    async fn react(&self, on: &MessageRef, yes: bool) -> Result<(), Failure> {
        let body = json!({ "channel": on.channel.id, "timestamp": on.id, "name": EYES });
        let method = if yes {
            "reactions.add"
        } else {
            "reactions.remove"
        };
        match self.post(&on.channel.space, method, &body).await {
            Err(Failure::Refused(why)) if why == "already_reacted" || why == "no_reaction" => {
                Ok(())
            }
            said => said.map(|_| ()),
        }
    }
}

impl event::Here for Slack {
    fn us(&self, team: &str) -> Option<String> {
        let us = self.us.read().unwrap_or_else(PoisonError::into_inner);
        us.get(team).cloned()
    }
}

fn put(body: &mut Value, key: &str, value: Option<&str>) {
    if let (Some(fields), Some(value)) = (body.as_object_mut(), value) {
        fields.insert(key.into(), value.into());
    }
}

fn harmless_id(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .take(20)
        .collect()
}

impl Chat for Slack {
    fn name(&self) -> &'static str {
        SLACK
    }

    // docs.slack.dev/apis/web-api/rate-limits: about one message a second in each channel, short bursts above that.
    fn pace(&self) -> Pace {
        Pace {
            burst: 10,
            every: Duration::from_secs(1),
            at_once: 16,
        }
    }

    fn listen(self: Arc<Self>, door: Door, mut stop: Stop) -> Doing<'static, ()> {
        Box::pin(async move {
            let left_out = self.introduce(&mut stop).await?;
            let (slack, told) = (Arc::clone(&self), stop.clone());
            tokio::spawn(async move { slack.meet_later(left_out, told).await });
            match self.settings.mode {
                SlackMode::Socket => socket::listen(self, door, stop).await,
                SlackMode::Http => http::listen(self, door, stop).await,
            }
        })
    }

    fn send<'a>(&'a self, sending: Sending<'a>) -> Doing<'a, String> {
        Box::pin(self.send_message(sending))
    }

    fn edit<'a>(&'a self, place: &'a Place, message: &'a str, reply: &'a Reply) -> Doing<'a, ()> {
        Box::pin(self.change_message(place, message, reply))
    }

    fn delete<'a>(&'a self, place: &'a Place, message: &'a str) -> Doing<'a, ()> {
        Box::pin(async move {
            let body = json!({ "channel": place.channel.id, "ts": message });
            let said = self.post(&place.channel.space, "chat.delete", &body).await;
            said.map(|_| ())
        })
    }

    fn find<'a>(&'a self, place: &'a Place, key: &'a PostKey) -> Doing<'a, Option<String>> {
        Box::pin(self.look_for(place, key))
    }

    fn respond<'a>(&'a self, to: &'a Handle, reply: &'a Reply, again: bool) -> Doing<'a, ()> {
        Box::pin(self.answer(to, reply, again))
    }

    fn hand<'a>(&'a self, to: &'a Handle, reply: &'a Reply, file: &'a File) -> Doing<'a, ()> {
        Box::pin(self.give(to, reply, file))
    }

    fn whisper<'a>(&'a self, to: &'a Person, at: &'a Channel, reply: &'a Reply) -> Doing<'a, ()> {
        Box::pin(async move { self.direct(&at.space, &to.id, reply).await.map(drop) })
    }

    fn fetch<'a>(
        &'a self,
        file: &'a FileRef,
        message: &'a MessageRef,
        most: usize,
    ) -> Doing<'a, Vec<u8>> {
        Box::pin(async move {
            let token = self.token(&message.channel.space)?;
            fetch::fetch(&self.api, &self.settings.file_hosts, token, file, most).await
        })
    }

    fn working<'a>(&'a self, on: &'a MessageRef, yes: bool) -> Doing<'a, ()> {
        Box::pin(self.react(on, yes))
    }

    fn kind<'a>(
        &'a self,
        person: &'a Person,
        at: &'a Channel,
        _: &'a [&'a str],
    ) -> Doing<'a, PersonKind> {
        Box::pin(async move {
            let token = self.token(&at.space)?;
            self.people
                .kind(&self.api, token, &at.space, &person.id)
                .await
        })
    }

    fn called<'a>(&'a self, person: &'a Person, at: &'a Channel) -> Doing<'a, String> {
        Box::pin(async move {
            let token = self.token(&at.space)?;
            self.people
                .name(&self.api, token, &at.space, &person.id)
                .await
        })
    }

    fn groups<'a>(
        &'a self,
        person: &'a Person,
        at: &'a Channel,
        _: &'a [&'a str],
        among: &'a [&'a str],
    ) -> Doing<'a, Vec<String>> {
        Box::pin(async move {
            let mut groups = Vec::new();
            for group in among {
                let token = self.token(&at.space)?;
                let members = self.people.members(&self.api, token, &at.space, group);
                if members.await?.contains(&person.id) {
                    groups.push((*group).to_string());
                }
            }
            Ok(groups)
        })
    }

    fn newest<'a>(&'a self, channel: &'a Channel) -> Doing<'a, String> {
        Box::pin(self.newest_in(channel))
    }

    fn missed<'a>(
        &'a self,
        since: &'a Cursor,
        threads: &'a [String],
        most: usize,
    ) -> Doing<'a, Vec<Incoming>> {
        Box::pin(self.history(since, threads, most))
    }

    fn changed<'a>(
        &'a self,
        message: &'a MessageRef,
        place: &'a Place,
    ) -> Doing<'a, Option<Incoming>> {
        Box::pin(self.what_became_of(message, place))
    }
}
