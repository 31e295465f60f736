//! What must outlive a crash: events received, posts to deliver, which paste got which answer, feedback.
//!
//! When an operation of a [`Store`] returns `Ok`, what it did is on the disk; what it shows others is on the disk as well. It answers
//! to any task of an async program and never blocks one. It has no clock: callers pass the time.

pub mod audit;
pub mod inbox;
pub mod memory;
pub mod outbox;
pub mod sled;
pub mod ticketing;
pub mod trouble;

use std::future::Future;
use std::pin::Pin;

use crate::place::{DeskName, MessageRef, Place};
use crate::store::audit::{Addition, KeyOf, PersonKey};
use crate::store::inbox::{Event, EventId, NewEvent, Outcome, Received};
use crate::store::memory::{Answer, Cursor, Feedback};
use crate::store::outbox::{Dead, Due, NewPost, PostId, PostKey, Posted, Pull, Settled};
use crate::store::ticketing::{Kept, Query};
use crate::store::time::Time;
use crate::store::trouble::Trouble;
use crate::tickets::fingerprint::Sighting;
use crate::tickets::mirror::Said;
use crate::tickets::rules::Entry;
use crate::tickets::ticket::Ticket;
pub use crate::time;

/// Most bytes of one value: the payload of an event, a reply, a file.
pub const LARGEST_VALUE: usize = 4 << 20;

/// Most names of one event that are looked at.
pub const MOST_KEYS: usize = 8;

/// What an operation returns. Once polled it is carried out, also where the caller stops waiting.
pub type Promise<'a, T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send + 'a>>;

/// One atomic change: all of it becomes durable, or nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The event whose work ends here. Finishing it twice does nothing the second time.
    pub finished: Option<(EventId, Outcome)>,
    /// In the order in which they are to appear. A post may name one before it.
    pub posts: Vec<NewPost>,
    /// Added, or put in the place of the row for that paste.
    pub answers: Vec<Answer>,
    /// Pastes that are gone: their rows go.
    pub forgotten: Vec<MessageRef>,
    pub feedback: Vec<Feedback>,
    /// Tickets as they are from now on, each refused (and all of the change with it) where it was changed since it was read.
    pub tickets: Vec<Kept>,
    /// What was said about tickets.
    pub said: Vec<Said>,
    /// Bounces that were seen.
    pub seen: Vec<Sighting>,
    pub read: Vec<Cursor>,
    /// Gaps that `Store::open_gaps` gave out and that are read. One that begins elsewhere by now stays.
    pub caught_up: Vec<Cursor>,
    /// When this happens.
    pub now: Time,
}

/// Which old rows `Store::prune` takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prune {
    /// Finished events received before this: payload and names go.
    pub events_before: Time,
    /// Delivered posts and answers settled before this: what hangs on them can no longer be edited.
    pub posts_before: Time,
    /// Feedback given before this.
    pub feedback_before: Time,
    /// Sightings of bounces from before this.
    pub seen_before: Time,
    /// Most rows in one go; call again while it takes that many away.
    pub most: usize,
}

/// How the store fares, for health and metrics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Why nothing is accepted at the moment.
    pub trouble: Option<Trouble>,
    pub unfinished: u64,
    pub waiting: u64,
    pub dead: u64,
    pub bytes_on_disk: u64,
}

/// A durable store. Callers share one as `Arc<dyn Store>`.
pub trait Store: Send + Sync {
    /// Writes an event down unless one of its keys is known.
    fn receive(&self, event: NewEvent) -> Promise<'_, Received>;

    /// Gives out up to `most` unfinished events that nobody in this process works on, oldest first, and counts that. Call it at the
    /// start until it returns none, and again after an operation ended in `Trouble`.
    fn resume(&self, most: usize) -> Promise<'_, Vec<Event>>;

    /// An event with its payload, until it is pruned.
    fn event(&self, id: EventId) -> Promise<'_, Option<Event>>;

    /// Makes a change. For each of its posts the number it has: an old one where its key was known.
    fn commit(&self, change: Change) -> Promise<'_, Vec<PostId>>;

    /// The heads of a chat's threads that may go now, longest due first. Before it answers, each is durably noted as one that may be
    /// out there; none is given out again in this process until it is settled.
    fn take(&self, pull: Pull) -> Promise<'_, Vec<Due>>;

    /// Notes how a taken post fared.
    fn settle(&self, post: PostId, how: Settled, now: Time) -> Promise<'_, ()>;

    /// What became of the post of this name.
    fn posted(&self, key: PostKey) -> Promise<'_, Option<Posted>>;

    /// Which post of ours a message is: where a button was pressed, where a reply hangs on.
    fn posted_as(&self, message: MessageRef) -> Promise<'_, Option<Posted>>;

    /// Dead letters with larger numbers than `after`, oldest first.
    fn dead(&self, after: PostId, most: usize) -> Promise<'_, Vec<Dead>>;

    /// Puts a dead letter, and those that died because of it, back into their threads, before what is newer. How many.
    fn retry(&self, post: PostId, now: Time) -> Promise<'_, usize>;

    /// Takes a dead letter away for good.
    fn discard(&self, post: PostId, now: Time) -> Promise<'_, ()>;

    /// The answer to a paste.
    fn answer(&self, paste: MessageRef) -> Promise<'_, Option<Answer>>;

    /// The pastes that a post answers, oldest first.
    fn answered_by(&self, post: PostKey) -> Promise<'_, Vec<Answer>>;

    /// The last paste of a person that was answered, or pasted, at a place.
    fn last_paste(&self, place: Place, person: String) -> Promise<'_, Option<Answer>>;

    /// Answers in a chat that were given after a time, at most so many: the newest, newest first.
    fn answers(&self, chat: String, after: Time, most: usize) -> Promise<'_, Vec<Answer>>;

    /// How far the channels of a chat are read.
    fn cursors(&self, chat: String) -> Promise<'_, Vec<Cursor>>;

    /// Before a connection: from where on the channels of a chat may hold what was not received. It stays so, whatever is received
    /// meanwhile and whoever is killed, until a `Change` says that it is caught up.
    fn open_gaps(&self, chat: String) -> Promise<'_, Vec<Cursor>>;

    /// Feedback in the order it was given, `from` the first row that is wanted.
    fn feedback(&self, from: u64, most: usize) -> Promise<'_, Vec<(u64, Feedback)>>;

    /// The number of the ticket that is made under that name: the same name has the same number, whoever asks again.
    fn ticket_number(&self, desk: DeskName, name: String) -> Promise<'_, u64>;

    fn ticket(&self, desk: DeskName, number: u64) -> Promise<'_, Option<Ticket>>;

    /// The newest ticket that a conversation belongs to.
    fn ticket_at(&self, desk: DeskName, place: Place) -> Promise<'_, Option<Ticket>>;

    /// The tickets that a query asks for, the newest first.
    fn tickets(&self, query: Query) -> Promise<'_, Vec<Ticket>>;

    /// What was done to a ticket, from that version on.
    fn ticket_steps(
        &self,
        desk: DeskName,
        number: u64,
        from: u64,
        most: usize,
    ) -> Promise<'_, Vec<Entry>>;

    /// What was said about a ticket since then, oldest first.
    fn said(&self, desk: DeskName, number: u64, since: Time, most: usize)
    -> Promise<'_, Vec<Said>>;

    /// What was said in that message about a ticket of the desk.
    fn said_in(&self, desk: DeskName, message: MessageRef) -> Promise<'_, Option<Said>>;

    /// Tickets whose reminder is due, the longest due first.
    fn due_tickets(&self, now: Time, most: usize) -> Promise<'_, Vec<Ticket>>;

    /// The bounces with a fingerprint that a desk has seen since then, oldest first.
    fn sightings(
        &self,
        desk: DeskName,
        fingerprint: String,
        since: Time,
        most: usize,
    ) -> Promise<'_, Vec<Sighting>>;

    /// Adds an entry to the audit chain, with the keys that come and go with it. `false`, and nothing is changed, where it would not be
    /// the next one.
    fn audit(&self, addition: Addition) -> Promise<'_, bool>;

    /// How many entries the audit chain has.
    fn audit_length(&self) -> Promise<'_, u64>;

    /// Entries of the audit chain in their order, `from` the first that is wanted.
    fn audited(&self, from: u64, most: usize) -> Promise<'_, Vec<(u64, Vec<u8>)>>;

    /// For each that is wanted its key, unless it was dropped or never was.
    fn audit_keys(&self, wanted: Vec<KeyOf>) -> Promise<'_, Vec<Option<PersonKey>>>;

    /// Takes old rows away. How many. The audit chain stays.
    fn prune(&self, what: Prune) -> Promise<'_, usize>;

    /// How the store fares. Asks nothing of the disk.
    fn health(&self) -> Health;

    /// Carries out what is waiting, then lets go of the files. Later operations are refused.
    fn close(&self) -> Promise<'_, ()>;
}
