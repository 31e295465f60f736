//! Where events come in: written down, acknowledged, worked on.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bot::conversation::{First, Heed, first, heed};
use bot::desk::Desk;
use bot::event::{Event, What};
use bot::place::{MessageRef, Place};
use bot::store::LARGEST_VALUE;
use bot::store::inbox::{self, NewEvent, Outcome, Received};
use bot::store::memory::Cursor;
use bot::store::trouble::Trouble;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::sleep;
use tracing::{info, warn};

use super::chat::Incoming;
use super::far::Coming;
use super::missed::Reading;
use super::server::{Server, now};
use super::turns::Turn;
use super::work;

/// Longest text of a message that is kept; chats stop far earlier.
const LONGEST_TEXT: usize = 1 << 20;
/// How long what the store refused waits for another try.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a connection waits at most for another try of the store.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Events in one go of taking up what was left.
const AT_A_TIME: usize = 100;
/// So often an event may end the program before it is left alone.
const MOST_RESUMED: u32 = 3;

/// What an adapter hands its events to. Cheap to clone.
#[derive(Clone)]
pub struct Door {
    server: Arc<Server>,
    reading: Arc<Reading>,
}

/// From where on the channels of a chat may hold what was not received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    pub(super) gaps: Vec<Cursor>,
    /// So many messages could not be taken in until then.
    pub(super) troubles: u64,
}

/// An event that is written down. Acknowledge it with `first`, then call `work`.
#[must_use = "the event is worked on once `work` is called"]
pub struct Accepted {
    pub first: First,
    job: Option<Left>,
}

/// What is left to do once an event is acknowledged: an answer that overtakes its acknowledgement is lost.
enum Left {
    Job(Box<Job>),
    /// To say that it was asked in a place of no desk.
    Nowhere(Arc<Server>, Box<Event>),
}

/// Work to do.
pub(super) struct Job {
    pub server: Arc<Server>,
    pub event: Event,
    pub id: inbox::EventId,
    /// It was begun before, by a program that ended.
    pub resumed: bool,
    turn: Option<Turn<MessageRef>>,
    /// What is said in a thread is carried over in its order. It is left once that is done.
    pub thread: Mutex<Option<Turn<Place>>>,
    _waiting: OwnedSemaphorePermit,
}

impl Door {
    pub(super) fn new(server: Arc<Server>) -> Self {
        Self {
            server,
            reading: Arc::default(),
        }
    }

    pub(super) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    pub(super) fn reading(&self) -> &Arc<Reading> {
        &self.reading
    }

    /// Writes an event down. When this returns it is durable: acknowledge it, then let it be worked on. Where the caller stops waiting
    /// (the platform hung up), the event is taken in and worked on all the same.
    ///
    /// # Errors
    /// When it could not be written: do not acknowledge it, so that the platform sends it again. A message of a channel is read again,
    /// too, once the store takes something in.
    pub async fn receive(&self, incoming: Incoming) -> Result<Accepted, Trouble> {
        let chat = incoming.event.place.channel.chat.clone();
        let written = matches!(incoming.event.what, What::Wrote(_));
        let received = self.receive_once(incoming).await;
        if received.is_err() && written {
            self.reading.again(self, &chat);
        }
        received
    }

    /// The same for who tries again by itself.
    pub(super) async fn receive_once(&self, incoming: Incoming) -> Result<Accepted, Trouble> {
        let door = self.clone();
        let taking = tokio::spawn(async move { door.take_in(incoming).await });
        taking.await.map_err(|_| Trouble::Closed)?
    }

    async fn take_in(&self, incoming: Incoming) -> Result<Accepted, Trouble> {
        let Incoming { keys, mut event } = incoming;
        cut(&mut event);
        let first = first(&event);
        let nothing = |first| Ok(Accepted { first, job: None });
        if matches!(first, First::Open(_) | First::SentBack(_)) {
            return nothing(first);
        }
        let world = self.server.world();
        let Some((desk, _)) = world.desk_of(&event.place.channel) else {
            // Who asks directly in a place of no desk is told so; nothing is kept of it.
            if event.handle().is_some() {
                let nowhere = Left::Nowhere(Arc::clone(&self.server), Box::new(event));
                return Ok(Accepted {
                    first: First::Later { private: true },
                    job: Some(nowhere),
                });
            }
            return nothing(first);
        };
        let coming = match &event.what {
            What::Wrote(message) => Some(self.reading.far.comes(&message.at)),
            _ => None,
        };
        let is_ours = match heed(&event, desk) {
            Heed::Ignore => false,
            Heed::IfAnswered => self.is_answered(&event, desk).await?,
            Heed::Work => true,
        };
        // It is noted of so many channels as the config names, no more.
        let named = desk.names(&event.place.channel);
        if !is_ours {
            self.pass(coming, named);
            return nothing(first);
        }
        let waiting = Arc::clone(&self.server.waiting).acquire_owned().await;
        let waiting = waiting.map_err(|_| Trouble::Closed)?;
        let payload = match serde_json::to_vec(&event) {
            Ok(payload) if payload.len() <= LARGEST_VALUE => payload,
            Ok(_) | Err(_) => {
                warn!(chat = %event.place.channel.chat, "an event is too large to be kept");
                self.pass(coming, named);
                return nothing(first);
            }
        };
        let read = match &event.what {
            What::Wrote(message) => Some(message.at.clone()),
            _ => None,
        };
        let read = read.filter(|_| coming.as_ref().is_some_and(Coming::may_move));
        let moves = read.is_some();
        let received = self.server.store.receive(NewEvent {
            keys,
            desk: desk.name.clone(),
            place: event.place.clone(),
            payload,
            received: now(),
            read,
        });
        let received = received.await?;
        match coming {
            Some(coming) if moves => coming.arrives(),
            coming => self.pass(coming, named),
        }
        let id = match received {
            Received::New(id) => id,
            Received::Known(_) => return nothing(first),
        };
        let job = self.job(id, event, false, waiting);
        Ok(Accepted {
            first,
            job: Some(Left::Job(Box::new(job))),
        })
    }

    /// A message need not be read again.
    fn pass(&self, coming: Option<Coming>, named: bool) {
        match coming {
            Some(coming) if named => self.reading.pass(&self.server, coming),
            Some(coming) => coming.arrives(),
            None => {}
        }
    }

    fn job(
        &self,
        id: inbox::EventId,
        event: Event,
        resumed: bool,
        waiting: OwnedSemaphorePermit,
    ) -> Job {
        let message = event.message().cloned();
        let said = matches!(
            event.what,
            What::Wrote(_) | What::Edited(_) | What::Deleted(_)
        );
        let thread = Some(event.place.clone()).filter(|place| said && place.thread.is_some());
        // Both lines are joined at once: in two orders they would wait for each other.
        let joining = &self.server.joining;
        let _one = joining.lock().unwrap_or_else(PoisonError::into_inner);
        Job {
            server: Arc::clone(&self.server),
            turn: message.map(|message| self.server.messages.join(message)),
            thread: Mutex::new(thread.map(|place| self.server.threads.join(place))),
            event,
            id,
            resumed,
            _waiting: waiting,
        }
    }

    /// Does it concern an answer that was given, one that is being made, or a ticket?
    async fn is_answered(&self, event: &Event, desk: &Desk) -> Result<bool, Trouble> {
        let store = &self.server.store;
        let Some(at) = event.message() else {
            return Ok(true);
        };
        if self.server.messages.busy(at) || store.answer(at.clone()).await?.is_some() {
            return Ok(true);
        }
        let tickets = desk.second_line.is_some();
        if tickets
            && store
                .said_in(desk.name.clone(), at.clone())
                .await?
                .is_some()
        {
            return Ok(true);
        }
        let (What::Wrote(message) | What::Edited(message)) = &event.what else {
            return Ok(false);
        };
        if tickets {
            let place = message.answer_at.clone();
            let ticket = store.ticket_at(desk.name.clone(), place).await?;
            if ticket.is_some_and(|ticket| ticket.is_live()) {
                return Ok(true);
            }
        }
        let What::Wrote(_) = &event.what else {
            return Ok(false);
        };
        for place in [&message.answer_at, &event.place] {
            let last = store.last_paste(place.clone(), event.person.id.clone());
            if last.await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Call it before connecting: what is written in the channels from here on is either received or read afterwards. It waits for the
    /// store, without which nothing can be received.
    pub async fn connecting(&self, chat: &str) -> Since {
        self.reading.end(chat).await;
        let mut stop = self.server.stop.clone();
        let mut pause = Duration::from_secs(1);
        loop {
            match self.reading.begin(&self.server, chat).await {
                Ok(since) => return since,
                Err(trouble) => {
                    warn!(chat, why = %trouble, "how far the channels are read is not known");
                }
            }
            tokio::select! {
                () = sleep(pause) => pause = LONGEST_PAUSE.min(pause * 2),
                _ = stop.changed() => return Since::default(),
            }
        }
    }

    /// Call it once a connection stands: what was missed is read in the background.
    pub fn connected(&self, chat: &str, since: Since) {
        if let Some(line) = self.server.line(chat) {
            line.connected.store(true, Ordering::Relaxed);
        }
        info!(chat, "connected");
        self.reading.start(self, chat, since);
    }

    /// Call it when a connection is lost.
    pub fn disconnected(&self, chat: &str) {
        let line = self.server.line(chat);
        if line.is_some_and(|line| line.connected.swap(false, Ordering::Relaxed)) {
            info!(chat, "disconnected");
        }
    }

    /// Call it when the desks have other channels: what is new is read from now on.
    pub(super) fn renewed(&self) {
        for line in self.server.lines() {
            self.reading.begin_new(self, line.chat.name());
        }
    }

    /// Takes up what a program that ended left undone.
    ///
    /// # Errors
    /// When the store does not answer.
    pub(super) async fn resume(&self) -> Result<usize, Trouble> {
        let mut count = 0;
        loop {
            let left = self.server.store.resume(AT_A_TIME).await?;
            if left.is_empty() {
                return Ok(count);
            }
            for stored in left {
                count += 1;
                let event: Option<Event> = serde_json::from_slice(&stored.payload).ok();
                let Some(event) = event.filter(|_| stored.resumed < MOST_RESUMED) else {
                    warn!(
                        event = stored.id.0,
                        "an event that cannot be worked on is left alone"
                    );
                    work::finish(&self.server, stored.id, Outcome::Failed).await?;
                    continue;
                };
                let waiting = Arc::clone(&self.server.waiting).acquire_owned().await;
                let waiting = waiting.map_err(|_| Trouble::Closed)?;
                self.job(stored.id, event, true, waiting).start();
            }
        }
    }
}

impl Accepted {
    /// Starts the work, in a task of its own.
    pub fn work(mut self) {
        if let Some(job) = self.job.take() {
            job.start();
        }
    }
}

/// An acknowledgement that failed loses nothing.
impl Drop for Accepted {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            job.start();
        }
    }
}

impl Left {
    fn start(self) {
        match self {
            Self::Job(job) => job.start(),
            Self::Nowhere(server, event) => {
                tokio::spawn(work::nowhere(server, *event));
            }
        }
    }
}

impl Job {
    fn start(mut self) {
        tokio::spawn(async move {
            if let Some(turn) = &mut self.turn {
                turn.wait().await;
            }
            let thread = self.thread.get_mut();
            if let Some(turn) = thread.unwrap_or_else(PoisonError::into_inner) {
                turn.wait().await;
            }
            let mut stop = self.server.stop.clone();
            let mut resumed = self.resumed;
            loop {
                let room = Arc::clone(&self.server.room);
                let Ok(room) = room.acquire_owned().await else {
                    return;
                };
                // What does not end because of the store is tried again; what is left at the stop is taken up at the next start.
                if work::run(&self, room, resumed).await || *stop.borrow() {
                    return;
                }
                resumed = true;
                tokio::select! {
                    () = sleep(PATIENCE) => {}
                    _ = stop.changed() => return,
                }
            }
        });
    }
}

/// Cuts what is longer than any bounce is.
fn cut(event: &mut Event) {
    let text = match &mut event.what {
        What::Wrote(message) | What::Edited(message) | What::Explain { message, .. } => {
            &mut message.text
        }
        What::Command { text, .. } => text,
        What::Deleted(_) | What::Pressed { .. } | What::Submitted { .. } => return,
    };
    let end = text.floor_char_boundary(LONGEST_TEXT);
    text.truncate(end);
}
