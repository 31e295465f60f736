//! The embedded store: a folder of this machine, for one process, built on sled 0.34.7 by rules that were measured.
//!
//! One thread owns the database (`commit`): it takes all changes that wait, applies each as one batch (`draft`), makes the group durable by
//! `flush` and a sync of the file through a handle of its own, then answers. Reading goes the same way, so that nobody acts on what is not
//! durable. Rows are at most 6,000 bytes and longer values are cut. Opening verifies (`open`): one process, a known format, every open
//! event and waiting post read whole, and as many rows as were counted in the batches that wrote them. A disk that is full or read-only is
//! tried again each second, and everything is refused until the database was opened, verified and written anew; after a write that
//! the disk did not confirm, until the next start.

mod audit;
mod commit;
mod draft;
mod inbox;
mod keys;
mod lane;
mod memory;
mod mind;
mod open;
mod outbox;
mod post;
mod ticketing;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use self::commit::{Job, Owner, State, job};
use self::draft::{Draft, Fault};
use self::mind::Mind;
use self::open::trouble_of;
use crate::place::{DeskName, MessageRef, Place};
use crate::store::audit::{Addition, KeyOf, PersonKey};
use crate::store::inbox::{Event, EventId, NewEvent, Received};
use crate::store::memory::{Answer, Cursor, Feedback};
use crate::store::outbox::{Dead, Due, PostId, PostKey, Posted, Pull, Settled};
use crate::store::ticketing::Query;
use crate::store::time::Time;
use crate::store::trouble::Trouble;
use crate::store::{Change, Health, Promise, Prune, Store};
use crate::tickets::fingerprint::Sighting;
use crate::tickets::mirror::Said;
use crate::tickets::rules::Entry;
use crate::tickets::ticket::Ticket;

/// Changes that may wait for the thread; more wait in their tasks.
const LONGEST_QUEUE: usize = 1_024;

/// A store in a folder.
pub struct SledStore {
    folder: PathBuf,
    jobs: mpsc::Sender<Job>,
    health: Arc<Mutex<Health>>,
}

impl SledStore {
    /// Opens the store of a folder, or begins one. It blocks for as long as that takes: call it before the program serves.
    ///
    /// # Errors
    /// When the folder is in use, cannot be written, was written by a newer version, or does not hold what was acknowledged.
    pub fn open(folder: &Path) -> Result<Self, Trouble> {
        let claim = open::claim(folder)?;
        let mut mind = Mind::default();
        let database = open::open(&claim, &mut mind)?;
        let health = Arc::new(Mutex::new(Health::default()));
        let owner = Owner {
            claim,
            marked: mind.counts.changes,
            mind,
            health: health.clone(),
            state: State::Open(database),
        };
        owner.report();
        let (jobs, queue) = mpsc::channel(LONGEST_QUEUE);
        thread::Builder::new()
            .name("store".to_string())
            .spawn(move || owner.run(queue))
            .map_err(|error| Trouble::Unavailable(error.kind()))?;
        Ok(Self {
            folder: folder.to_path_buf(),
            jobs,
            health,
        })
    }

    /// Reads and counts every row, however many there are, while nothing else goes on. How many.
    ///
    /// # Errors
    /// When one cannot be read, or some are missing.
    pub fn verify(&self) -> Promise<'_, u64> {
        self.run(|draft, mind| {
            let rows = draft.count_stored()?;
            if rows == mind.counts.rows {
                Ok(rows)
            } else {
                Err(Fault::Damaged)
            }
        })
    }

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Draft, &mut Mind) -> Result<T, Fault> + Send + 'static,
    ) -> Promise<'_, T> {
        Box::pin(async move {
            let (caller, answer) = oneshot::channel();
            let sent = self.jobs.send(job(work, caller)).await;
            sent.map_err(|_| Trouble::Closed)?;
            match answer.await {
                Ok(answer) => answer.map_err(|fault| trouble_of(fault, &self.folder)),
                Err(_) if self.jobs.is_closed() => Err(Trouble::Closed),
                // The thread dropped the answer: the database panicked under this change or one beside it.
                Err(_) => Err(Trouble::Unavailable(std::io::ErrorKind::Other)),
            }
        })
    }
}

impl Store for SledStore {
    fn receive(&self, event: NewEvent) -> Promise<'_, Received> {
        self.run(move |draft, mind| inbox::receive(draft, mind, event))
    }

    fn resume(&self, most: usize) -> Promise<'_, Vec<Event>> {
        self.run(move |draft, mind| inbox::resume(draft, mind, most))
    }

    fn event(&self, id: EventId) -> Promise<'_, Option<Event>> {
        self.run(move |draft, _| inbox::event(draft, id))
    }

    fn commit(&self, change: Change) -> Promise<'_, Vec<PostId>> {
        self.run(move |draft, mind| make(draft, mind, change))
    }

    fn take(&self, pull: Pull) -> Promise<'_, Vec<Due>> {
        self.run(move |draft, mind| lane::take(draft, mind, &pull))
    }

    fn settle(&self, post: PostId, how: Settled, now: Time) -> Promise<'_, ()> {
        self.run(move |draft, mind| lane::settle(draft, mind, post, how, now))
    }

    fn posted(&self, key: PostKey) -> Promise<'_, Option<Posted>> {
        self.run(move |draft, _| Ok(post::find(draft, &key)?.map(|row| row.posted())))
    }

    fn posted_as(&self, message: MessageRef) -> Promise<'_, Option<Posted>> {
        self.run(move |draft, _| Ok(post::find_message(draft, &message)?.map(|row| row.posted())))
    }

    fn dead(&self, after: PostId, most: usize) -> Promise<'_, Vec<Dead>> {
        self.run(move |draft, _| lane::dead(draft, after, most))
    }

    fn retry(&self, post: PostId, now: Time) -> Promise<'_, usize> {
        self.run(move |draft, mind| lane::retry(draft, mind, post, now))
    }

    fn discard(&self, post: PostId, now: Time) -> Promise<'_, ()> {
        self.run(move |draft, mind| lane::discard(draft, mind, post, now))
    }

    fn answer(&self, paste: MessageRef) -> Promise<'_, Option<Answer>> {
        self.run(move |draft, _| memory::answer(draft, &paste))
    }

    fn answered_by(&self, post: PostKey) -> Promise<'_, Vec<Answer>> {
        self.run(move |draft, _| memory::answered_by(draft, &post))
    }

    fn last_paste(&self, place: Place, person: String) -> Promise<'_, Option<Answer>> {
        self.run(move |draft, _| memory::last_paste(draft, &place, &person))
    }

    fn answers(&self, chat: String, after: Time, most: usize) -> Promise<'_, Vec<Answer>> {
        self.run(move |draft, _| memory::answers(draft, &chat, after, most))
    }

    fn cursors(&self, chat: String) -> Promise<'_, Vec<Cursor>> {
        self.run(move |draft, _| memory::cursors(draft, &chat))
    }

    fn open_gaps(&self, chat: String) -> Promise<'_, Vec<Cursor>> {
        self.run(move |draft, _| memory::open_gaps(draft, &chat))
    }

    fn feedback(&self, from: u64, most: usize) -> Promise<'_, Vec<(u64, Feedback)>> {
        self.run(move |draft, _| memory::feedback(draft, from, most))
    }

    fn ticket_number(&self, desk: DeskName, name: String) -> Promise<'_, u64> {
        self.run(move |draft, _| ticketing::number(draft, &desk, &name))
    }

    fn ticket(&self, desk: DeskName, number: u64) -> Promise<'_, Option<Ticket>> {
        self.run(move |draft, _| ticketing::get(draft, &desk, number))
    }

    fn ticket_at(&self, desk: DeskName, place: Place) -> Promise<'_, Option<Ticket>> {
        self.run(move |draft, _| ticketing::at(draft, &desk, &place))
    }

    fn tickets(&self, query: Query) -> Promise<'_, Vec<Ticket>> {
        self.run(move |draft, _| ticketing::find(draft, &query))
    }

    fn ticket_steps(
        &self,
        desk: DeskName,
        number: u64,
        from: u64,
        most: usize,
    ) -> Promise<'_, Vec<Entry>> {
        self.run(move |draft, _| ticketing::history(draft, &desk, number, from, most))
    }

    fn said(
        &self,
        desk: DeskName,
        number: u64,
        since: Time,
        most: usize,
    ) -> Promise<'_, Vec<Said>> {
        self.run(move |draft, _| ticketing::said(draft, &desk, number, since, most))
    }

    fn said_in(&self, desk: DeskName, message: MessageRef) -> Promise<'_, Option<Said>> {
        self.run(move |draft, _| ticketing::said_in(draft, &desk, &message))
    }

    fn due_tickets(&self, now: Time, most: usize) -> Promise<'_, Vec<Ticket>> {
        self.run(move |draft, _| ticketing::due(draft, now, most))
    }

    fn sightings(
        &self,
        desk: DeskName,
        fingerprint: String,
        since: Time,
        most: usize,
    ) -> Promise<'_, Vec<Sighting>> {
        self.run(move |draft, _| ticketing::sightings(draft, &desk, &fingerprint, since, most))
    }

    fn audit(&self, addition: Addition) -> Promise<'_, bool> {
        self.run(move |draft, _| audit::add(draft, &addition))
    }

    fn audit_length(&self) -> Promise<'_, u64> {
        self.run(|draft, _| audit::length(draft))
    }

    fn audited(&self, from: u64, most: usize) -> Promise<'_, Vec<(u64, Vec<u8>)>> {
        self.run(move |draft, _| audit::entries(draft, from, most))
    }

    fn audit_keys(&self, wanted: Vec<KeyOf>) -> Promise<'_, Vec<Option<PersonKey>>> {
        self.run(move |draft, _| audit::keys(draft, &wanted))
    }

    fn prune(&self, what: Prune) -> Promise<'_, usize> {
        self.run(move |draft, _| {
            let mut taken = inbox::prune(draft, &what, what.most)?;
            taken += memory::prune(draft, &what, what.most - taken)?;
            taken += outbox::prune(draft, &what, what.most - taken)?;
            taken += ticketing::prune(draft, what.seen_before, what.most - taken)?;
            Ok(taken)
        })
    }

    fn health(&self) -> Health {
        let health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let length = fs::metadata(self.folder.join("db")).map_or(0, |data| data.len());
        Health {
            bytes_on_disk: length,
            ..health.clone()
        }
    }

    fn close(&self) -> Promise<'_, ()> {
        Box::pin(async move {
            let (caller, answer) = oneshot::channel();
            let sent = self.jobs.send(Job::Close(caller)).await;
            sent.map_err(|_| Trouble::Closed)?;
            answer.await.map_err(|_| Trouble::Closed)?
        })
    }
}

/// Makes one change, in the order in which its parts may need one another.
fn make(draft: &mut Draft, mind: &mut Mind, change: Change) -> Result<Vec<PostId>, Fault> {
    let Change {
        finished,
        posts,
        answers,
        forgotten,
        feedback,
        tickets,
        said,
        seen,
        read,
        caught_up,
        now,
    } = change;
    let mut ids = Vec::with_capacity(posts.len());
    for post in posts {
        ids.push(outbox::enqueue(draft, mind, post, now)?);
    }
    for answer in &answers {
        memory::put_answer(draft, answer)?;
    }
    for paste in &forgotten {
        memory::forget(draft, paste)?;
    }
    for given in &feedback {
        memory::put_feedback(draft, mind, given)?;
    }
    for ticket in &tickets {
        ticketing::put(draft, ticket)?;
    }
    for words in &said {
        ticketing::say(draft, words)?;
    }
    for bounce in &seen {
        ticketing::sight(draft, bounce)?;
    }
    for cursor in read {
        memory::read(draft, cursor)?;
    }
    for gap in &caught_up {
        memory::close_gap(draft, gap)?;
    }
    if let Some((id, outcome)) = finished {
        inbox::finish(draft, mind, id, outcome)?;
    }
    Ok(ids)
}
