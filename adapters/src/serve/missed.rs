//! What was written while nobody listened: which channels have a gap, and who reads it. One reading for each chat at a time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bot::desk::{Attention, Desk};
use bot::event::{Event, What};
use bot::place::Channel;
use bot::store::Change;
use bot::store::memory::Cursor;
use bot::store::trouble::Trouble;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tracing::warn;

use super::chat::{Chat, Failure, Incoming};
use super::door::{Door, Since};
use super::server::{Server, now};

/// Most messages of one channel that are read after a break.
const MOST_MISSED: usize = 200;
/// How often reading them is tried before the other channels have their turn.
const TRIES: u32 = 5;
/// How long a channel that could not be read waits for its next turn, at first and at most.
const AGAIN: Duration = Duration::from_secs(60);
const LONGEST_AGAIN: Duration = Duration::from_secs(3_600);
/// How often it is written down that messages were passed over.
const WRITTEN: Duration = Duration::from_secs(60);

/// Who reads, and what was passed over.
#[derive(Debug, Default)]
pub struct Reading {
    running: Mutex<HashMap<String, JoinHandle<()>>>,
    passed: Mutex<HashMap<Channel, Passed>>,
}

/// The latest message of a channel that was nobody's business.
#[derive(Debug)]
struct Passed {
    message: String,
    written: Instant,
}

impl Reading {
    /// Ends the reading of a chat. What it did not come to stays a gap.
    pub async fn end(&self, chat: &str) {
        let running = self.running().remove(chat);
        if let Some(running) = running {
            running.abort();
            // Only when it has ended can it close no gap any more.
            let _ended = running.await;
        }
    }

    /// Notes from where on the channels of a chat may hold what was not received.
    pub async fn begin(&self, server: &Server, chat: &str) -> Result<Vec<Cursor>, Trouble> {
        let read: Vec<Cursor> = {
            let passed = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
            let here = passed.iter().filter(|(channel, _)| channel.chat == chat);
            here.map(|(channel, passed)| cursor(channel, &passed.message))
                .collect()
        };
        if !read.is_empty() {
            let change = Change {
                read,
                now: now(),
                ..Change::default()
            };
            server.store.commit(change).await?;
        }
        server.store.open_gaps(chat.to_string()).await
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
        if let Some(before) = self.running().insert(chat.to_string(), task) {
            before.abort();
        }
    }

    /// A message was received and is nobody's business: it need not be read again.
    pub fn passed(&self, server: &Arc<Server>, event: &Event, desk: &Desk) {
        let What::Wrote(message) = &event.what else {
            return;
        };
        let (channel, id) = (&message.at.channel, &message.at.id);
        // So many channels as the config names, no more.
        if !desk.names(channel) {
            return;
        }
        let mut all = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get_mut(channel) {
            if (known.message.len(), &known.message) < (id.len(), id) {
                known.message.clone_from(id);
            }
            if known.written.elapsed() < WRITTEN {
                return;
            }
        }
        let passed = Passed {
            message: id.clone(),
            written: Instant::now(),
        };
        all.insert(channel.clone(), passed);
        drop(all);
        let (server, read) = (Arc::clone(server), vec![cursor(channel, id)]);
        tokio::spawn(async move {
            let change = Change {
                read,
                now: now(),
                ..Change::default()
            };
            if let Err(trouble) = server.store.commit(change).await {
                warn!(why = %trouble, "how far a channel is read could not be written down");
            }
        });
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashMap<String, JoinHandle<()>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cursor(channel: &Channel, message: &str) -> Cursor {
    Cursor {
        channel: channel.clone(),
        message: message.into(),
        at: now(),
    }
}

async fn catch_up(door: &Door, name: &str, since: Since) {
    let server = door.server();
    let Some(line) = server.line(name) else {
        return;
    };
    let mut left = since.0;
    let mut pause = AGAIN;
    loop {
        let world = server.world();
        let attention = |gap: &Cursor| {
            let (desk, _) = world.desk_of(&gap.channel)?;
            desk.attention(&gap.channel)
        };
        left.retain(|gap| attention(gap).is_some());
        // Where everything is answered, more is missed.
        left.sort_by_key(|gap| attention(gap) != Some(Attention::Watched));
        let mut open = Vec::new();
        for gap in left {
            if !close(door, line.chat.as_ref(), &gap).await {
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
async fn close(door: &Door, chat: &dyn Chat, gap: &Cursor) -> bool {
    let Some(missed) = missed(chat, gap).await else {
        return false;
    };
    let last = missed.iter().rev().find_map(|incoming| {
        let at = incoming.event.message()?;
        (at.channel == gap.channel).then(|| cursor(&at.channel, &at.id))
    });
    for incoming in missed {
        match door.receive(incoming).await {
            Ok(accepted) => accepted.work(),
            Err(trouble) => {
                warn!(chat = chat.name(), why = %trouble, "a missed message could not be taken in");
                return false;
            }
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

/// The messages of a gap. `None`: it may work later.
async fn missed(chat: &dyn Chat, gap: &Cursor) -> Option<Vec<Incoming>> {
    let mut pause = Duration::from_secs(1);
    for _ in 0..TRIES {
        match chat.missed(gap, MOST_MISSED).await {
            Ok(missed) => return Some(missed),
            Err(Failure::Slow { wait, .. }) => sleep(wait).await,
            Err(Failure::Down(_) | Failure::Unsure(_)) => sleep(pause).await,
            Err(failure @ (Failure::Refused(_) | Failure::Gone | Failure::Stale)) => {
                warn!(chat = chat.name(), why = %failure, "missed messages cannot be read");
                return Some(Vec::new());
            }
        }
        pause *= 2;
    }
    warn!(
        chat = chat.name(),
        "missed messages were not read; it is tried again later"
    );
    None
}
