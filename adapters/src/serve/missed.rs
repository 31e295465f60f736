//! What happened while nobody listened: which channels have a gap, what was changed and taken back, and who reads it. One reading for
//! each chat at a time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bot::desk::Attention;
use bot::place::Channel;
use bot::store::Change;
use bot::store::memory::{Answer, Cursor};
use bot::store::trouble::Trouble;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::warn;

use super::chat::{Chat, Doing, Failure, Incoming};
use super::door::{Door, Since};
use super::far::{Coming, Far};
use super::server::{Server, now};

/// Most messages of one channel that are read after a break.
const MOST_MISSED: usize = 200;
/// Most answers whose pastes are looked at after a break, and whose threads are read; and how old they are at most.
const MOST_ANSWERS: usize = 50;
const LOOKED_BACK: Duration = Duration::from_secs(24 * 3_600);
/// How often reading them is tried before the other channels have their turn.
const TRIES: u32 = 5;
/// How long a channel that could not be read waits for its next turn, at first and at most.
const AGAIN: Duration = Duration::from_secs(60);
const LONGEST_AGAIN: Duration = Duration::from_secs(3_600);
/// How long what the store refused waits before the channels are read for it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Who reads, and how far.
#[derive(Debug, Default)]
pub struct Reading {
    running: Mutex<HashMap<String, JoinHandle<()>>>,
    pub far: Arc<Far>,
    /// Chats where something may have been changed while nobody listened.
    unseen: Mutex<HashSet<String>>,
    /// Chats that are read again soon.
    soon: Mutex<HashSet<String>>,
}

impl Reading {
    /// Ends the reading of a chat. What it did not come to stays a gap.
    pub async fn end(&self, chat: &str) {
        let running = locked(&self.running).remove(chat);
        if let Some(running) = running {
            running.abort();
            // Only when it has ended can it close no gap any more.
            let _ended = running.await;
        }
    }

    /// Notes from where on the channels of a chat may hold what was not received.
    pub async fn begin(&self, server: &Server, chat: &str) -> Result<Since, Trouble> {
        let listens = |line: &super::server::Line| line.connected.load(Ordering::Relaxed);
        if !server.line(chat).is_some_and(listens) {
            locked(&self.unseen).insert(chat.to_string());
        }
        let troubles = self.far.troubles();
        let reached = self.far.reached(chat).into_iter();
        let read: Vec<Cursor> = reached.map(|(channel, id)| cursor(&channel, &id)).collect();
        if !read.is_empty() {
            note(server, read).await?;
        }
        let gaps = server.store.open_gaps(chat.to_string()).await?;
        Ok(Since { gaps, troubles })
    }

    /// Reads the gaps of a chat in the background, until that is done, the program stops or `end` is called.
    pub fn start(&self, door: &Door, chat: &str, since: Since) {
        let (door, name) = (door.clone(), chat.to_string());
        let mut stop = door.server().stop.clone();
        let task = tokio::spawn(async move {
            tokio::select! {
                () = catch_up(&door, &name, since) => {}
                _ = stop.changed() => {}
            }
        });
        if let Some(before) = locked(&self.running).insert(chat.to_string(), task) {
            before.abort();
        }
    }

    /// Reads a chat's channels once more, soon: the store did not take in what came.
    pub fn again(self: &Arc<Self>, door: &Door, chat: &str) {
        if !locked(&self.soon).insert(chat.to_string()) {
            return;
        }
        let (reading, door, chat) = (Arc::clone(self), door.clone(), chat.to_string());
        let mut stop = door.server().stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = sleep(PATIENCE) => {}
                _ = stop.changed() => return,
            }
            locked(&reading.soon).remove(&chat);
            let since = door.connecting(&chat).await;
            reading.start(&door, &chat, since);
        });
    }

    /// Notes how far the channels are that nobody ever read.
    pub fn begin_new(&self, door: &Door, chat: &str) {
        let (door, name) = (door.clone(), chat.to_string());
        let mut stop = door.server().stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = begin_all(&door, &name) => {}
                _ = stop.changed() => {}
            }
        });
    }

    /// A message was received, and its channel need not be read from before it.
    pub fn pass(&self, server: &Arc<Server>, coming: Coming) {
        let Some((channel, id)) = coming.passes() else {
            return;
        };
        let server = Arc::clone(server);
        tokio::spawn(async move {
            if let Err(trouble) = note(&server, vec![cursor(&channel, &id)]).await {
                warn!(why = %trouble, "how far a channel is read could not be written down");
            }
        });
    }
}

fn locked<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cursor(channel: &Channel, message: &str) -> Cursor {
    Cursor {
        channel: channel.clone(),
        message: message.into(),
        at: now(),
    }
}

async fn note(server: &Server, read: Vec<Cursor>) -> Result<(), Trouble> {
    let change = Change {
        read,
        now: now(),
        ..Change::default()
    };
    server.store.commit(change).await.map(drop)
}

async fn catch_up(door: &Door, name: &str, since: Since) {
    let server = door.server();
    let Some(line) = server.line(name) else {
        return;
    };
    let chat = line.chat.as_ref();
    let after = now().minus(LOOKED_BACK);
    let answers = server.store.answers(name.into(), after, MOST_ANSWERS);
    let answers = answers.await.unwrap_or_else(|trouble| {
        warn!(chat = name, why = %trouble, "what was answered lately is not known");
        Vec::new()
    });
    tokio::join!(
        close_all(door, chat, since, &answers),
        begin_all(door, name),
        look_at_all(door, chat, &answers),
    );
}

/// Closes all gaps, however long that takes.
async fn close_all(door: &Door, chat: &dyn Chat, since: Since, answers: &[Answer]) {
    let mut left = since.gaps;
    let mut pause = AGAIN;
    loop {
        let world = door.server().world();
        let attention = |gap: &Cursor| {
            let (desk, _) = world.desk_of(&gap.channel)?;
            desk.attention(&gap.channel)
        };
        left.retain(|gap| attention(gap).is_some());
        // Where everything is answered, more is missed.
        left.sort_by_key(|gap| attention(gap) != Some(Attention::Watched));
        let mut open = Vec::new();
        for gap in left {
            if close(door, chat, &gap, answers).await {
                door.reading().far.was_read(&gap.channel, since.troubles);
            } else {
                open.push(gap);
            }
        }
        if open.is_empty() {
            return;
        }
        left = open;
        sleep(pause).await;
        pause = LONGEST_AGAIN.min(pause * 2);
    }
}

/// Takes in what a gap holds, then closes it. `false`: it is still open.
async fn close(door: &Door, chat: &dyn Chat, gap: &Cursor, answers: &[Answer]) -> bool {
    let mut threads: Vec<String> = Vec::new();
    for answer in answers.iter().filter(|a| a.place.channel == gap.channel) {
        let thread = answer.place.thread.as_ref();
        threads.extend(thread.filter(|thread| !threads.contains(thread)).cloned());
    }
    let missed = match persistently(chat, || chat.missed(gap, &threads, MOST_MISSED)).await {
        Asked::Said(missed) => missed,
        Asked::Refused => Vec::new(),
        Asked::Later => return false,
    };
    let last = missed.iter().rev().find_map(|incoming| {
        let at = incoming.event.message()?;
        (at.channel == gap.channel).then(|| cursor(&at.channel, &at.id))
    });
    for incoming in missed {
        if !take_in(door, incoming).await {
            return false;
        }
    }
    let change = Change {
        read: last.into_iter().collect(),
        caught_up: vec![gap.clone()],
        now: now(),
        ..Change::default()
    };
    match door.server().store.commit(change).await {
        Ok(_) => true,
        Err(trouble) => {
            warn!(chat = chat.name(), why = %trouble, "that a channel is read could not be written down");
            false
        }
    }
}

async fn take_in(door: &Door, incoming: Incoming) -> bool {
    match door.receive_once(incoming).await {
        Ok(accepted) => accepted.work(),
        Err(trouble) => {
            warn!(why = %trouble, "what was missed could not be taken in");
            return false;
        }
    }
    true
}

/// Looks at the pastes that were answered lately: were they changed or taken back while nobody listened?
async fn look_at_all(door: &Door, chat: &dyn Chat, answers: &[Answer]) {
    if !locked(&door.reading().unseen).contains(chat.name()) {
        return;
    }
    let mut all = true;
    for answer in answers {
        let place = answer.pasted_at.as_ref().unwrap_or(&answer.place);
        match persistently(chat, || chat.changed(&answer.paste, place)).await {
            Asked::Said(Some(incoming)) => all &= take_in(door, incoming).await,
            Asked::Said(None) | Asked::Refused => {}
            Asked::Later => all = false,
        }
    }
    // Else it is looked at again after the next break.
    if all {
        locked(&door.reading().unseen).remove(chat.name());
    }
}

/// Notes how far the channels are that desks name and nobody ever read: what is written there during the first break is missed else.
async fn begin_all(door: &Door, name: &str) {
    let server = door.server();
    let (Some(line), Ok(cursors)) = (
        server.line(name),
        server.store.cursors(name.to_string()).await,
    ) else {
        return;
    };
    let (world, far) = (server.world(), &door.reading().far);
    let troubles = far.troubles();
    let named = world.desks.iter().flat_map(|desk| desk.channels(name));
    for channel in named {
        let known = cursors.iter().any(|cursor| cursor.channel == channel);
        // What comes at this moment says itself how far it is.
        if known || !far.is_still(&channel) {
            continue;
        }
        let chat = line.chat.as_ref();
        let Asked::Said(newest) = persistently(chat, || chat.newest(&channel)).await else {
            continue;
        };
        match note(server, vec![cursor(&channel, &newest)]).await {
            Ok(()) => far.was_read(&channel, troubles),
            Err(trouble) => {
                warn!(chat = name, why = %trouble, "how far a channel is could not be written down");
            }
        }
    }
}

/// What came of a question.
enum Asked<T> {
    Said(T),
    Refused,
    /// It may be said later.
    Later,
}

/// Asks a chat some times.
async fn persistently<'a, T>(chat: &dyn Chat, mut ask: impl FnMut() -> Doing<'a, T>) -> Asked<T> {
    let mut pause = Duration::from_secs(1);
    for _ in 0..TRIES {
        match ask().await {
            Ok(said) => return Asked::Said(said),
            Err(Failure::Slow { wait, .. }) => sleep(wait).await,
            Err(Failure::Down(_) | Failure::Unsure(_)) => sleep(pause).await,
            Err(failure @ (Failure::Refused(_) | Failure::Gone | Failure::Stale)) => {
                warn!(chat = chat.name(), why = %failure, "what was missed cannot be read");
                return Asked::Refused;
            }
        }
        pause *= 2;
    }
    warn!(
        chat = chat.name(),
        "what was missed could not be read; it is tried again later"
    );
    Asked::Later
}
