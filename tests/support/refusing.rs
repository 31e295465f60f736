//! A store that takes nothing in for a while, as one on a full disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bot::place::{DeskName, MessageRef, Place};
use bot::store::audit::{Addition, KeyOf, PersonKey};
use bot::store::inbox::{Event, EventId, NewEvent, Received};
use bot::store::memory::{Answer, Cursor, Feedback};
use bot::store::outbox::{Dead, Due, PostId, PostKey, Posted, Pull, Settled};
use bot::store::ticketing::Query;
use bot::store::trouble::Trouble;
use bot::store::{Change, Health, Promise, Prune, Store};
use bot::tickets::fingerprint::Sighting;
use bot::tickets::mirror::Said;
use bot::tickets::rules::Entry;
use bot::tickets::ticket::Ticket;
use bot::time::Time;

pub struct Refusing {
    pub store: Arc<dyn Store>,
    pub left: Arc<Refusals>,
}

/// What is refused.
#[derive(Default)]
pub struct Refusals {
    /// So many events.
    pub events: AtomicUsize,
    /// Every entry of the audit chain.
    pub attempts: AtomicBool,
}

macro_rules! as_it_is {
    ($($name:ident($($value:ident: $kind:ty),*) -> $said:ty;)*) => {
        $(fn $name(&self, $($value: $kind),*) -> Promise<'_, $said> {
            self.store.$name($($value),*)
        })*
    };
}

impl Store for Refusing {
    fn receive(&self, event: NewEvent) -> Promise<'_, Received> {
        let fewer = |left: usize| left.checked_sub(1);
        let refused = self
            .left
            .events
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer);
        if refused.is_ok() {
            return Box::pin(async { Err(Trouble::Full) });
        }
        self.store.receive(event)
    }

    fn audit(&self, addition: Addition) -> Promise<'_, bool> {
        if self.left.attempts.load(Ordering::SeqCst) {
            return Box::pin(async { Err(Trouble::Full) });
        }
        self.store.audit(addition)
    }

    as_it_is! {
        resume(most: usize) -> Vec<Event>;
        event(id: EventId) -> Option<Event>;
        commit(change: Change) -> Vec<PostId>;
        take(pull: Pull) -> Vec<Due>;
        settle(post: PostId, how: Settled, now: Time) -> ();
        posted(key: PostKey) -> Option<Posted>;
        posted_as(message: MessageRef) -> Option<Posted>;
        dead(after: PostId, most: usize) -> Vec<Dead>;
        retry(post: PostId, now: Time) -> usize;
        discard(post: PostId, now: Time) -> ();
        answer(paste: MessageRef) -> Option<Answer>;
        answered_by(post: PostKey) -> Vec<Answer>;
        last_paste(place: Place, person: String) -> Option<Answer>;
        answers(chat: String, after: Time, most: usize) -> Vec<Answer>;
        cursors(chat: String) -> Vec<Cursor>;
        open_gaps(chat: String) -> Vec<Cursor>;
        feedback(from: u64, most: usize) -> Vec<(u64, Feedback)>;
        ticket_number(desk: DeskName, name: String) -> u64;
        ticket(desk: DeskName, number: u64) -> Option<Ticket>;
        ticket_at(desk: DeskName, place: Place) -> Option<Ticket>;
        tickets(query: Query) -> Vec<Ticket>;
        ticket_steps(desk: DeskName, number: u64, from: u64, most: usize) -> Vec<Entry>;
        said(desk: DeskName, number: u64, since: Time, most: usize) -> Vec<Said>;
        said_in(desk: DeskName, message: MessageRef) -> Option<Said>;
        due_tickets(now: Time, most: usize) -> Vec<Ticket>;
        sightings(desk: DeskName, fingerprint: String, since: Time, most: usize) -> Vec<Sighting>;
        audit_length() -> u64;
        audited(from: u64, most: usize) -> Vec<(u64, Vec<u8>)>;
        audit_keys(wanted: Vec<KeyOf>) -> Vec<Option<PersonKey>>;
        prune(what: Prune) -> usize;
        close() -> ();
    }

    fn health(&self) -> Health {
        self.store.health()
    }
}
