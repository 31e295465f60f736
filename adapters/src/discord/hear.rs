//! What comes in: each channel's messages in their order to the door; commands, presses and forms acknowledged once they are written
//! down.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bot::store::trouble::Trouble;
use serde_json::Value;
use serenity::all::{Interaction, Message};
use serenity::http::Route;
use serenity::model::event::{Event, MessageUpdateEvent};
use serenity::model::id::{ChannelId, GuildId};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::around::{around, channel, is_program};
use super::event::{self, Seen};
use super::gateway::{self, Heard, Listening};
use super::known::Me;
use super::{Discord, answer, salvage};
use crate::serve::chat::{Failure, Incoming, Stop};
use crate::serve::door::Door;
use crate::serve::logs;

/// So many messages are taken in at a time; those of one channel one after another, so that it is known how far it was read.
const LINES: usize = 16;
/// So many commands, presses and forms at a time, and how long one more waits: Discord waits three seconds for its acknowledgement.
const ASKED: usize = 64;
const HURRY: Duration = Duration::from_secs(2);
/// So many wait in each line: as many as in the gateway's, so that a line that stands still holds no question back.
const WAITING: usize = gateway::WAITING;
/// First and longest pause before something is taken in once more.
const PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// So often what ends without a word from the store is tried.
const MOST_TRIES: u32 = 3;

/// Something that is taken in.
enum Came {
    Wrote(Box<Message>),
    Edited(Box<Message>),
    /// Only a part of what was edited came; the whole has to be asked for.
    EditedPartly(Box<Message>),
    Deleted(ChannelId, Option<GuildId>, Vec<u64>),
}

/// Listens until the program stops.
pub async fn listen(discord: Arc<Discord>, door: Door, stop: Stop) -> Result<(), Failure> {
    let mut workers = JoinSet::new();
    let new_line = || {
        let (line, mut waiting) = mpsc::channel(WAITING);
        let taking = Taking {
            discord: Arc::clone(&discord),
            door: door.clone(),
            stop: stop.clone(),
        };
        workers.spawn(async move {
            while let Some(came) = waiting.recv().await {
                taking.take(came).await;
            }
        });
        line
    };
    let written = std::iter::repeat_with(new_line).take(LINES).collect();
    let (line, listening) = gateway::line();
    let ear = Ear {
        discord: Arc::clone(&discord),
        door,
        written,
        asked: JoinSet::new(),
        room: Arc::new(Semaphore::new(ASKED)),
        unread: 0,
    };
    let hearing = tokio::spawn(ear.hear(listening));
    let ended = gateway::run(&discord.rest, &discord.at, line, stop).await;
    // What was received is taken in before the program goes.
    let _heard = hearing.await;
    while workers.join_next().await.is_some() {}
    ended
}

struct Ear {
    discord: Arc<Discord>,
    door: Door,
    written: Vec<mpsc::Sender<Came>>,
    /// A task for each question.
    asked: JoinSet<()>,
    room: Arc<Semaphore>,
    /// What the gateway said and serenity could not read at all, as far as it was noted.
    unread: u64,
}

impl Ear {
    async fn hear(mut self, mut listening: Listening) {
        while let Some(heard) = listening.heard.recv().await {
            let dropped = listening.dropped.swap(0, Ordering::AcqRel);
            let unread = logs::unread();
            if dropped > 0 || unread != self.unread {
                let unread = unread - std::mem::replace(&mut self.unread, unread);
                warn!(
                    dropped,
                    unread, "events of Discord's are lost; the channels are read again"
                );
                self.read_again().await;
            }
            match heard {
                Heard::Event(event) => self.event(*event).await,
                Heard::Down => self.door.disconnected(event::NAME),
                Heard::Over => break,
            }
        }
        // What was asked is acknowledged before the program goes.
        while self.asked.join_next().await.is_some() {}
    }

    /// The same where nobody says what happened meanwhile.
    async fn begin_anew(&self) {
        self.door.disconnected(event::NAME);
        self.read_again().await;
    }

    /// Reads what stands in the channels after what was taken in. Everything that comes later waits until it is noted how far that is.
    async fn read_again(&self) {
        let since = self.door.connecting(event::NAME).await;
        self.door.connected(event::NAME, since);
    }

    async fn event(&mut self, event: Event) {
        let known = &self.discord.known;
        match event {
            Event::Ready(event) => {
                known.is(Me {
                    user: event.ready.user.id.to_string(),
                    application: event.ready.application.id.to_string(),
                });
                for server in &event.ready.guilds {
                    known.is_on(&server.id.to_string(), true);
                }
                self.begin_anew().await;
            }
            Event::Resumed(_) => self.read_again().await,
            Event::GuildCreate(event) => {
                known.is_on(&event.guild.id.to_string(), true);
                event.guild.channels.values().for_each(|c| known.see(c));
                event.guild.threads.iter().for_each(|c| known.see(c));
            }
            Event::GuildDelete(event) if !event.guild.unavailable => {
                known.is_on(&event.guild.id.to_string(), false);
            }
            Event::ChannelCreate(event) => known.see(&event.channel),
            Event::ChannelUpdate(event) => known.see(&event.channel),
            Event::ChannelDelete(event) => known.forget(&event.channel.id.to_string()),
            Event::ThreadCreate(event) => known.see(&event.thread),
            Event::ThreadUpdate(event) => known.see(&event.thread),
            Event::ThreadDelete(event) => known.forget(&event.thread.id.to_string()),
            Event::ThreadListSync(event) => event.threads.iter().for_each(|c| known.see(c)),
            Event::MessageCreate(event) => self.wrote(event.message).await,
            Event::MessageUpdate(event) => self.edited(event).await,
            Event::MessageDelete(event) => {
                let ids = vec![event.message_id.get()];
                let gone = Came::Deleted(event.channel_id, event.guild_id, ids);
                self.hand_on(event.channel_id, gone).await;
            }
            Event::MessageDeleteBulk(event) => {
                let ids = event.ids.iter().map(|id| id.get()).collect();
                let gone = Came::Deleted(event.channel_id, event.guild_id, ids);
                self.hand_on(event.channel_id, gone).await;
            }
            Event::InteractionCreate(event) => self.ask(event.interaction),
            // What serenity's types do not take comes as it was.
            Event::Unknown(event) => self.salvage(&event.kind, event.value).await,
            _ => {}
        }
    }

    async fn salvage(&mut self, kind: &str, value: Value) {
        let known = &self.discord.known;
        let read = match kind {
            "READY" => {
                let id = |at: &str| value.pointer(at).and_then(Value::as_str);
                let (user, application) = (id("/user/id"), id("/application/id"));
                known.is(Me {
                    user: user.unwrap_or_default().into(),
                    application: application.unwrap_or_default().into(),
                });
                self.begin_anew().await;
                user.is_some()
            }
            "GUILD_CREATE" | "THREAD_LIST_SYNC" => {
                if let Some(server) = value.get("id").and_then(Value::as_str) {
                    known.is_on(server, true);
                }
                for list in ["channels", "threads"] {
                    let list = value.get(list).and_then(Value::as_array);
                    list.into_iter().flatten().for_each(|c| known.read(c));
                }
                true
            }
            "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "THREAD_CREATE" | "THREAD_UPDATE" => {
                known.read(&value);
                true
            }
            "MESSAGE_CREATE" => match salvage::message(value) {
                Some(message) => {
                    self.wrote(message).await;
                    true
                }
                None => false,
            },
            "MESSAGE_UPDATE" => match salvage::message(value) {
                Some(message) if message.edited_timestamp.is_some() => {
                    let channel = message.channel_id;
                    self.hand_on(channel, Came::Edited(Box::new(message))).await;
                    true
                }
                Some(_) => true,
                None => false,
            },
            "INTERACTION_CREATE" => match salvage::interaction(value) {
                Some(interaction) => {
                    self.ask(interaction);
                    true
                }
                None => false,
            },
            "MESSAGE_DELETE" | "MESSAGE_DELETE_BULK" => false,
            // Kinds that nothing is done with.
            _ => true,
        };
        if !read {
            warn!(kind, "an event of Discord's cannot be read");
        }
    }

    async fn wrote(&self, message: Message) {
        if !is_program(&message) {
            let channel = message.channel_id;
            self.hand_on(channel, Came::Wrote(Box::new(message))).await;
        }
    }

    async fn edited(&self, event: MessageUpdateEvent) {
        // A preview that Discord adds is no change.
        if event.edited_timestamp.is_none() {
            return;
        }
        let whole = event.author.is_some() && event.content.is_some();
        let mut message = Message::default();
        event.apply_to_message(&mut message);
        let channel = message.channel_id;
        let message = Box::new(message);
        let came = if whole {
            Came::Edited(message)
        } else {
            Came::EditedPartly(message)
        };
        self.hand_on(channel, came).await;
    }

    /// What happens in a channel and its threads keeps its order.
    async fn hand_on(&self, channel: ChannelId, came: Came) {
        let channel = channel.to_string();
        let known = self.discord.known.channel(&channel);
        let whole = known.and_then(|known| known.parent).unwrap_or(channel);
        let mut hasher = DefaultHasher::new();
        whole.hash(&mut hasher);
        let chosen = usize::try_from(hasher.finish() % (self.written.len().max(1) as u64));
        if let Some(line) = chosen.ok().and_then(|at| self.written.get(at)) {
            // Its other end lives as long as this one.
            let _sent = line.send(came).await;
        }
    }

    fn ask(&mut self, interaction: Interaction) {
        // Those that are done.
        while self.asked.try_join_next().is_some() {}
        let (discord, door) = (Arc::clone(&self.discord), self.door.clone());
        let room = Arc::clone(&self.room);
        self.asked.spawn(async move {
            match timeout(HURRY, room.acquire_owned()).await {
                Ok(Ok(_room)) => answer::interact(&discord, &door, &interaction).await,
                _ => warn!("more is asked at a time than can be acknowledged; one gets no answer"),
            }
        });
    }
}

/// Takes in what stands in one line.
struct Taking {
    discord: Arc<Discord>,
    door: Door,
    stop: Stop,
}

impl Taking {
    async fn take(&self, came: Came) {
        let discord = &self.discord;
        match came {
            Came::Wrote(message) => {
                let beside = self.again(|| around(discord, &message)).await;
                if let Some((space, seen)) = beside {
                    self.receive(event::wrote(&message, &space, &seen)).await;
                }
            }
            Came::Edited(message) => self.edited(&message).await,
            Came::EditedPartly(part) => {
                let route = Route::ChannelMessage {
                    channel_id: part.channel_id,
                    message_id: part.id,
                };
                let whole = || async { Ok(discord.rest.get(route).await?) };
                if let Some(mut whole) = self.again(whole).await.and_then(salvage::message) {
                    whole.guild_id = part.guild_id;
                    self.edited(&whole).await;
                }
            }
            Came::Deleted(within, guild, ids) => {
                let space = guild.map(|guild| guild.to_string()).unwrap_or_default();
                let channel = || channel(discord, within, guild.is_some());
                let Some(channel) = self.again(channel).await else {
                    return;
                };
                let seen = Seen {
                    channel,
                    ..Seen::default()
                };
                for id in ids {
                    let gone = event::deleted(&id.to_string(), &within.to_string(), &space, &seen);
                    self.receive(Some(gone)).await;
                }
            }
        }
    }

    async fn edited(&self, message: &Message) {
        if is_program(message) {
            return;
        }
        let beside = self.again(|| around(&self.discord, message)).await;
        if let Some((space, seen)) = beside {
            self.receive(event::edited(message, &space, &seen)).await;
        }
    }

    /// Asks for what has to be known until it is said. `None`: it never will be, or the program stops.
    async fn again<T, F>(&self, asking: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = Result<T, Failure>>,
    {
        let (mut pause, mut stop) = (PAUSE, self.stop.clone());
        loop {
            // What needs no asking is said even then.
            let said = tokio::select! {
                biased;
                said = asking() => said,
                () = gateway::stopped(&mut stop) => return None,
            };
            let wait = match said {
                Ok(said) => return Some(said),
                Err(Failure::Slow { wait, .. }) => wait.max(pause),
                Err(failure @ (Failure::Down(_) | Failure::Unsure(_))) => {
                    warn!(why = %failure, "what has to be known of a message cannot be asked for");
                    pause
                }
                Err(Failure::Refused(_) | Failure::Gone | Failure::Stale) => return None,
            };
            if !self.pause(wait).await {
                return None;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// What the store refuses is tried again, and what comes after it waits: a full disk costs time and no paste.
    async fn receive(&self, incoming: Option<Incoming>) {
        let Some(incoming) = incoming else { return };
        let (mut pause, mut tries) = (PAUSE, 0);
        loop {
            let trouble = match self.door.receive(incoming.clone()).await {
                Ok(accepted) => return accepted.work(),
                Err(trouble) => trouble,
            };
            warn!(why = %trouble, "a message could not be taken in");
            tries += 1;
            let never = match trouble {
                Trouble::TooLarge { .. } | Trouble::Missing(_) => true,
                // So ends a panic, too, and one message must not hold the others back for ever.
                Trouble::Closed => tries >= MOST_TRIES,
                _ => false,
            };
            if never || !self.pause(pause).await {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// `false`: the program stops. What was not taken in by then is read after the next start.
    async fn pause(&self, time: Duration) -> bool {
        let mut stop = self.stop.clone();
        tokio::select! {
            () = sleep(time) => true,
            () = gateway::stopped(&mut stop) => false,
        }
    }
}
