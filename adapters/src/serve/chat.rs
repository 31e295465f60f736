//! What a chat does for the program: the one trait that each chat platform's adapter implements.
//!
//! An adapter turns what comes over the wire into [`Incoming`] and hands it to the [`Door`]; it carries out what this trait asks for.
//! It keeps no state that must outlive it: what is to be said, tried again or remembered stands in the store.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bot::event::{Event, FileRef, Handle, Person, PersonKind};
use bot::place::{Channel, MessageRef, Place};
use bot::reply::Reply;
use bot::store::memory::Cursor;
use bot::store::outbox::{File, PostKey};
use tokio::sync::watch;

use super::door::Door;

/// What a chat does takes time and may fail.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// An event as an adapter read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// All names that the platform gives it, prefixed with the chat and what they are ("…/event/Ev123", "…/message/C1/170.01",
    /// "…/trigger/…"). It is known when any of them is. Live events and those that `Chat::missed` reads must share one.
    pub keys: Vec<String>,
    pub event: Event,
}

/// Why something was not done. Sentences are ours: they stand in logs and dead letters, so no stranger's text, no address, no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The platform asks to wait; it was certainly not done.
    #[error("the chat asks to wait {} ms", .wait.as_millis())]
    Slow {
        wait: Duration,
        /// Everything of this chat has to wait, not only the channel.
        everywhere: bool,
    },
    /// It was certainly not done and may work later: no connection, the platform is in trouble.
    #[error("the chat cannot be reached: {0}")]
    Down(String),
    /// Nobody knows whether it was done: the connection broke, no answer came in time.
    #[error("no answer came from the chat: {0}")]
    Unsure(String),
    /// It will never work: no permission, no such channel, a message too large.
    #[error("the chat refuses: {0}")]
    Refused(String),
    /// The message is not there (any more).
    #[error("the message is gone")]
    Gone,
    /// The handle of a command, button or form is too old or used up.
    #[error("the question is too old to be answered directly")]
    Stale,
}

/// A new message.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    /// Put into the message so that `find` finds it (metadata, nonce, footer: whatever nobody is bothered by).
    pub key: &'a PostKey,
    /// A channel, or a thread to answer in. A thread that does not exist yet is opened.
    pub place: &'a Place,
    pub reply: &'a Reply,
    pub files: &'a [File],
}

/// How fast a channel may be written to before the platform asks to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// So many posts at once …
    pub burst: u32,
    /// … and then one each.
    pub every: Duration,
    /// So many requests at a time, in all.
    pub at_once: usize,
}

/// Tells when the program stops: `true` then. Each loop ends on it.
pub type Stop = watch::Receiver<bool>;

/// A chat platform. Each call ends by itself (time-outs are the adapter's).
pub trait Chat: Send + Sync + 'static {
    /// The name in `Channel::chat`, in the config and in the logs.
    fn name(&self) -> &'static str;

    fn pace(&self) -> Pace;

    /// Receives until `stop` says so, reconnecting by itself; returns early only where it can never work (a token that is refused),
    /// with a sentence that says what to do. On every connection: `door.connecting()` before, `door.connected(…)` after it stands.
    fn listen(self: Arc<Self>, door: Door, stop: Stop) -> Doing<'static, ()>;

    /// Sends a message and says its id.
    fn send<'a>(&'a self, sending: Sending<'a>) -> Doing<'a, String>;

    /// Changes a message of ours.
    fn edit<'a>(&'a self, place: &'a Place, message: &'a str, reply: &'a Reply) -> Doing<'a, ()>;

    /// Takes a message of ours away.
    fn delete<'a>(&'a self, place: &'a Place, message: &'a str) -> Doing<'a, ()>;

    /// Looks in a place for a message of ours with that key: whether a sending whose end nobody knows was done. `None`: it is
    /// certainly not there.
    fn find<'a>(&'a self, place: &'a Place, key: &'a PostKey) -> Doing<'a, Option<String>>;

    /// Answers an event through its handle. `again`: an answer was given through it already; this one takes its place.
    /// `reply.private` is what `First::Later` said.
    fn respond<'a>(&'a self, to: &'a Handle, reply: &'a Reply, again: bool) -> Doing<'a, ()>;

    /// Answers an event through its handle with a file, which only the asker gets: with the answer, or as a direct message beside it.
    fn hand<'a>(&'a self, to: &'a Handle, reply: &'a Reply, file: &'a File) -> Doing<'a, ()>;

    /// Tells one person something where nobody else sees it: what is too late for a handle. `at` is where it was asked.
    fn whisper<'a>(&'a self, to: &'a Person, at: &'a Channel, reply: &'a Reply) -> Doing<'a, ()>;

    /// Fetches a file, from the platform's own hosts only, without following redirects elsewhere, and never more than `most` bytes:
    /// a larger one is `Failure::Refused`. `message` is where it is attached (an address that ran out can be asked for anew).
    fn fetch<'a>(
        &'a self,
        file: &'a FileRef,
        message: &'a MessageRef,
        most: usize,
    ) -> Doing<'a, Vec<u8>>;

    /// Shows at a message that it is worked on, or takes that back. Nothing depends on it.
    fn working<'a>(&'a self, on: &'a MessageRef, yes: bool) -> Doing<'a, ()>;

    /// What somebody is to a place. Asked only where the event did not say (`PersonKind::Unsaid`). `homes` are the workspaces or servers
    /// of the desk whose place it is.
    fn kind<'a>(
        &'a self,
        person: &'a Person,
        at: &'a Channel,
        homes: &'a [&'a str],
    ) -> Doing<'a, PersonKind>;

    /// Which of these groups or roles a person is in. Asked only where the event did not say and a right hangs on it; the caller
    /// keeps the answer for a minute at most.
    fn groups<'a>(
        &'a self,
        person: &'a Person,
        at: &'a Channel,
        homes: &'a [&'a str],
        among: &'a [&'a str],
    ) -> Doing<'a, Vec<String>>;

    /// What somebody is called there, in a word or two. The person chose it.
    fn called<'a>(&'a self, person: &'a Person, at: &'a Channel) -> Doing<'a, String>;

    /// The newest message of a channel and its threads: what is written from now on has a larger id. Where there is none, what every
    /// id is larger than.
    fn newest<'a>(&'a self, channel: &'a Channel) -> Doing<'a, String>;

    /// Messages of a watched channel after the cursor, oldest first, at most `most`: the newest of them where there are more. Those of
    /// `threads` are among them, whatever else is.
    fn missed<'a>(
        &'a self,
        since: &'a Cursor,
        threads: &'a [String],
        most: usize,
    ) -> Doing<'a, Vec<Incoming>>;

    /// What became of a message that stood in a place: its last change, or its end. `None`: it stands as it was written.
    fn changed<'a>(
        &'a self,
        message: &'a MessageRef,
        place: &'a Place,
    ) -> Doing<'a, Option<Incoming>>;
}
