//! The work on one event, from reading it to the change that ends it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bot::ask::{Ask, Asker, Pasted, Usage};
use bot::bot::{Answer, Bot};
use bot::compose::remark;
use bot::desk::{Desk, Right};
use bot::event::{Event, Handle, Message, Person, PersonKind, What};
use bot::place::MessageRef;
use bot::reply::Reply;
use bot::store::inbox::{EventId, Outcome};
use bot::store::outbox::{Act, NewPost, PostKey};
use bot::store::trouble::Trouble;
use bot::store::{Change, Store};
use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tracing::{error, info, warn};

use super::chat::{Chat, Failure};
use super::door::Job;
use super::files::{Hold, gather};
use super::server::{Server, now};
use super::tickets::carry::{self, Heard};
use super::{direct, paste};

/// From so many bytes on a paste is read on a thread of its own.
const LARGE: usize = 64 << 10;

/// What the work on an event has at hand.
pub struct Work<'j> {
    pub server: &'j Server,
    pub chat: &'j dyn Chat,
    pub desk: &'j Desk,
    pub bot: Arc<Bot>,
    pub event: &'j Event,
    /// Who did it, and what that person is to the place.
    pub person: Person,
    pub id: EventId,
    pub resumed: bool,
    /// Its place among those that are worked on. It is left while name servers are waited for.
    room: Mutex<Option<OwnedSemaphorePermit>>,
    files: Hold,
}

/// Works on an event, whatever happens. `false`: it is to be worked on once more.
pub async fn run(job: &Job, room: OwnedSemaphorePermit, resumed: bool) -> bool {
    let begun = Instant::now();
    let server = &job.server;
    let guarded = std::panic::AssertUnwindSafe(dispatch(job, room, resumed)).catch_unwind();
    let ended = match guarded.await {
        Ok(ended) => ended,
        Err(_) => {
            error!(event = job.id.0, "the work on an event ended in a panic");
            apologize(job).await;
            finish(server, job.id, Outcome::Failed)
                .await
                .map(|()| Outcome::Failed)
        }
    };
    match ended {
        Ok(outcome) => {
            let took = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            info!(
                event = job.id.0,
                kind = kind(&job.event.what),
                outcome = ?outcome,
                ms = took,
                "event worked on"
            );
            true
        }
        Err(trouble @ (Trouble::TooLarge { .. } | Trouble::Missing(_))) => {
            error!(event = job.id.0, why = %trouble, "an event cannot be worked on");
            apologize(job).await;
            finish(server, job.id, Outcome::Failed).await.is_ok()
        }
        Err(trouble) => {
            warn!(event = job.id.0, why = %trouble, "an event is left for later");
            false
        }
    }
}

fn kind(what: &What) -> &'static str {
    match what {
        What::Wrote(_) => "message",
        What::Edited(_) => "edit",
        What::Deleted(_) => "deletion",
        What::Command { .. } => "command",
        What::Explain { .. } => "shortcut",
        What::Pressed { .. } => "button",
        What::Submitted { .. } => "form",
    }
}

async fn dispatch(
    job: &Job,
    room: OwnedSemaphorePermit,
    resumed: bool,
) -> Result<Outcome, Trouble> {
    let server = job.server.as_ref();
    let world = server.world();
    let channel = &job.event.place.channel;
    let (Some((desk, bot)), Some(line)) = (world.desk_of(channel), server.line(&channel.chat))
    else {
        // The config has changed since.
        finish(server, job.id, Outcome::Refused).await?;
        return Ok(Outcome::Refused);
    };
    let (person, room) = introduced(job, desk, line.chat.as_ref(), room).await?;
    if person.kind == PersonKind::Bot {
        finish(server, job.id, Outcome::Silent).await?;
        return Ok(Outcome::Silent);
    }
    let work = Work {
        server,
        chat: line.chat.as_ref(),
        desk,
        bot,
        event: &job.event,
        person,
        id: job.id,
        resumed,
        room: Mutex::new(Some(room)),
        files: Hold::new(&server.files),
    };
    match &job.event.what {
        What::Wrote(message) => match heard(job, carry::wrote(&work, message)).await? {
            Heard::Done(outcome) => Ok(outcome),
            Heard::Nothing | Heard::Carried => paste::wrote(&work, message).await,
        },
        What::Edited(message) => match heard(job, carry::wrote(&work, message)).await? {
            Heard::Done(outcome) => Ok(outcome),
            Heard::Nothing | Heard::Carried => paste::edited(&work, message).await,
        },
        What::Deleted(message) => match heard(job, carry::deleted(&work, message)).await? {
            Heard::Done(outcome) => Ok(outcome),
            Heard::Nothing | Heard::Carried => paste::deleted(&work, message).await,
        },
        What::Explain { message, handle } => direct::explain(&work, message, handle).await,
        What::Command { text, handle } => direct::command(&work, text, handle).await,
        What::Pressed { action, on, handle } => {
            direct::pressed(&work, *action, on.as_ref(), handle).await
        }
        What::Submitted {
            form,
            filled,
            handle,
        } => direct::submitted(&work, *form, filled, handle).await,
    }
}

/// What is said is carried over in its order; then the next one of its thread may be.
async fn heard(
    job: &Job,
    carried: impl Future<Output = Result<Heard, Trouble>>,
) -> Result<Heard, Trouble> {
    let heard = carried.await?;
    let turn = job
        .thread
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    drop(turn);
    Ok(heard)
}

/// Who did it. While the chat does not say what somebody is, the room is left to others.
async fn introduced(
    job: &Job,
    desk: &Desk,
    chat: &dyn Chat,
    room: OwnedSemaphorePermit,
) -> Result<(Person, OwnedSemaphorePermit), Trouble> {
    let person = &job.event.person;
    if person.kind != PersonKind::Unsaid || matches!(job.event.what, What::Deleted(_)) {
        return Ok((person.clone(), room));
    }
    drop(room);
    let at = &job.event.place.channel;
    let homes = desk.homes(&at.chat);
    let said = job.server.until_said(|| chat.kind(person, at, &homes));
    let said = said.await?;
    let room = Arc::clone(&job.server.room).acquire_owned().await;
    let room = room.map_err(|_| Trouble::Closed)?;
    let kind = said.unwrap_or(PersonKind::Stranger);
    let person = Person {
        kind,
        ..person.clone()
    };
    Ok((person, room))
}

impl Work<'_> {
    pub fn store(&self) -> &dyn Store {
        self.server.store.as_ref()
    }

    /// # Errors
    /// Where the program stops before the chat said what the right hangs on.
    pub async fn may(&self, right: Right) -> Result<bool, Trouble> {
        let channel = &self.event.place.channel;
        self.server
            .allows(self.desk, right, &self.person, channel)
            .await
    }

    pub fn asker(&self, addressed: bool) -> Asker {
        Asker {
            our_domains: self.desk.our_domains(),
            addressed,
            case: Some(self.id.0),
            escalates: self.desk.second_line.is_some(),
            traces: !self.desk.tenants().is_empty(),
            contact: self.desk.contact.clone(),
        }
    }

    /// Asks the core. What takes long is done on a thread of its own; while name servers are asked, which may take seconds, others have
    /// the room.
    pub async fn ask(&self, ask: Ask, asker: Asker) -> Result<Answer, Usage> {
        let _place = if asks_name_servers(&ask) {
            self.leave_room();
            Some(self.server.checks.acquire().await)
        } else {
            None
        };
        if size(&ask) < LARGE {
            return self.bot.answer(&ask, &asker).await;
        }
        let bot = Arc::clone(&self.bot);
        let handle = tokio::runtime::Handle::current();
        let asked =
            tokio::task::spawn_blocking(move || handle.block_on(bot.answer(&ask, &asker))).await;
        asked.unwrap_or_else(|_| Err(Usage("That text could not be read.".into())))
    }

    pub fn leave_room(&self) {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        drop(room.take());
    }

    /// Asks what comes next, after what is known is said.
    pub async fn ask_then(&self, then: Ask) -> Option<Reply> {
        match self.ask(then, self.asker(true)).await {
            Ok(Answer::Say { reply, .. }) => Some(*reply),
            Ok(Answer::Silence | Answer::Remove) | Err(_) => None,
        }
    }

    /// The name of what this event says.
    pub fn key(&self, what: &str) -> PostKey {
        PostKey(format!("event/{}/{what}", self.id.0))
    }

    pub fn post(&self, key: PostKey, act: Act, reply: Reply, version: u64) -> NewPost {
        NewPost {
            key,
            desk: self.desk.name.clone(),
            act,
            reply,
            files: Vec::new(),
            version,
        }
    }

    /// Makes the change that ends the work, or a part of it, now; whoever has something to send is woken.
    pub async fn commit(&self, change: Change) -> Result<(), Trouble> {
        self.files.let_go();
        let posts = !change.posts.is_empty();
        self.store()
            .commit(Change {
                now: now(),
                ..change
            })
            .await?;
        for line in self.server.lines().iter().filter(|_| posts) {
            line.wake.notify_one();
        }
        Ok(())
    }

    pub async fn end(&self, outcome: Outcome) -> Result<Outcome, Trouble> {
        finish(self.server, self.id, outcome).await?;
        Ok(outcome)
    }

    /// Answers through the event's handle. While the chat does not take it, the room is left to others.
    ///
    /// # Errors
    /// Where the program stops before: it is said after the next start. `false`: the chat takes no answer that way any more.
    pub async fn respond(&self, to: &Handle, reply: &Reply, again: bool) -> Result<bool, Trouble> {
        self.files.let_go();
        let again = again || self.resumed;
        respond(self.server, self.chat, (to, reply, again), || {
            self.leave_room();
        })
        .await
    }

    /// The text of a message and its files.
    pub async fn gather(&self, message: &Message) -> Pasted {
        gather(self.chat, message, &self.files).await
    }

    /// Shows at a message that it takes a while, until what is returned is dropped. Nothing waits for it.
    pub fn working(&self, on: &MessageRef) -> Sign {
        let (sign, ended) = oneshot::channel();
        if let Some(line) = self.server.line(self.chat.name()) {
            let (chat, on) = (Arc::clone(&line.chat), on.clone());
            tokio::spawn(async move {
                show(chat.as_ref(), &on, true).await;
                // Ended either way.
                let _dropped = ended.await;
                show(chat.as_ref(), &on, false).await;
            });
        }
        Sign(sign)
    }
}

/// A sign of work that stands while this is kept.
#[must_use = "the sign goes when this is dropped"]
pub struct Sign(#[expect(dead_code, reason = "its end is what is told")] oneshot::Sender<()>);

/// Gives a sign of work or takes it back, some tries long.
async fn show(chat: &dyn Chat, on: &MessageRef, yes: bool) {
    for _ in 0..TRIES {
        let wait = match chat.working(on, yes).await {
            Ok(()) => return,
            Err(Failure::Slow { wait, .. }) => wait,
            Err(Failure::Down(_) | Failure::Unsure(_)) => Duration::from_secs(2),
            Err(failure) => {
                tracing::debug!(why = %failure, "a sign of work could not be given");
                return;
            }
        };
        tokio::time::sleep(wait).await;
    }
}

/// How often a sign of work is tried.
const TRIES: u32 = 4;
/// So long a direct answer is tried: chats take none after a quarter of an hour.
const RESPONDING: Duration = Duration::from_secs(10 * 60);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Answers through a handle. Where nobody knows whether that got through, it is said again: twice is better than never. `waits` is
/// called before each pause.
async fn respond(
    server: &Server,
    chat: &dyn Chat,
    (to, reply, again): (&Handle, &Reply, bool),
    waits: impl Fn(),
) -> Result<bool, Trouble> {
    let (begun, mut stop) = (Instant::now(), server.stop.clone());
    let mut pause = Duration::from_millis(500);
    loop {
        let wait = match chat.respond(to, reply, again).await {
            Ok(()) => return Ok(true),
            Err(Failure::Slow { wait, .. }) => wait,
            Err(Failure::Down(_) | Failure::Unsure(_)) => pause,
            Err(failure) => {
                warn!(chat = chat.name(), why = %failure, "a direct answer did not get through");
                return Ok(false);
            }
        };
        if begun.elapsed() + wait > RESPONDING {
            warn!(chat = chat.name(), "a direct answer was given up");
            return Ok(false);
        }
        waits();
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            _ = stop.changed() => return Err(Trouble::Closed),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Tells who asks in a place of no desk that there is none.
pub async fn nowhere(server: Arc<Server>, event: Event) {
    let line = server.line(&event.place.channel.chat);
    if let (Some(line), Some(handle)) = (line, event.handle()) {
        let said = (handle, &remark::nowhere(), false);
        // Nothing is kept of it where the program stops.
        let _stopped = respond(&server, line.chat.as_ref(), said, || {}).await;
    }
}

async fn apologize(job: &Job) {
    let line = job.server.line(&job.event.place.channel.chat);
    if let (Some(line), Some(handle)) = (line, job.event.handle()) {
        let said = (handle, &remark::trouble(job.id.0), false);
        // The event is over, whether or not they heard of it.
        let _stopped = respond(&job.server, line.chat.as_ref(), said, || {}).await;
    }
}

/// Notes that nothing more comes of an event.
pub async fn finish(server: &Server, id: EventId, outcome: Outcome) -> Result<(), Trouble> {
    let change = Change {
        finished: Some((id, outcome)),
        now: now(),
        ..Change::default()
    };
    server.store.commit(change).await.map(|_| ())
}

fn asks_name_servers(ask: &Ask) -> bool {
    match ask {
        Ask::CheckDomain(_) | Ask::CheckSender(_) | Ask::AddChecks { .. } => true,
        Ask::Explain { .. }
        | Ask::Evidence(_)
        | Ask::Note(_)
        | Ask::Code(_)
        | Ask::Ticket(_)
        | Ask::Trace(_)
        | Ask::Help => false,
    }
}

fn size(ask: &Ask) -> usize {
    let of = |pasted: &bot::ask::Pasted| pasted.parts.iter().map(Vec::len).sum::<usize>();
    match ask {
        Ask::Explain { pasted, earlier } => of(pasted) + earlier.as_ref().map_or(0, of),
        Ask::Evidence(pasted) | Ask::Note(pasted) | Ask::CheckSender(pasted) => of(pasted),
        Ask::Code(_)
        | Ask::CheckDomain(_)
        | Ask::AddChecks { .. }
        | Ask::Ticket(_)
        | Ask::Trace(_)
        | Ask::Help => 0,
    }
}
