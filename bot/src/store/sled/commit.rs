//! One thread owns the database. It takes all changes that wait, makes each, makes all of them durable with one sync, then answers.
//!
//! Nobody sees a change before it is durable, since reading goes the same way. When the database fails, everything is refused until it
//! was opened, verified and written anew.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sled::Tree;
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;

use super::draft::{Draft, Fault};
use super::mind::Mind;
use super::open::{Claim, Database, open, trouble_of, write_mark};
use crate::store::Health;
use crate::store::trouble::Trouble;

/// Most changes that share a sync.
const LARGEST_GROUP: usize = 256;

/// How long after a failure the database is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// So many changes lie at most between two notes of how far the store is.
const CHANGES_BETWEEN_MARKS: u64 = 10_000;

/// Work for the thread: it is carried out, or told why not.
pub enum Job {
    Change(Work),
    /// The last one.
    Close(oneshot::Sender<Result<(), Trouble>>),
}

pub type Work = Box<dyn FnOnce(Turn<'_>) -> Step + Send>;

/// What a change meets when it is its turn.
pub enum Turn<'a> {
    Go(&'a Tree, &'a mut Mind),
    Refused(Trouble),
}

/// What a change did.
pub struct Step {
    /// Did it write something?
    pub wrote: bool,
    /// Why the database cannot go on.
    pub fault: Option<Fault>,
    /// Says to the caller that the change is durable, or why it may not be.
    pub answer: Answer,
}

pub type Answer = Box<dyn FnOnce(Result<(), Trouble>) + Send>;

/// Makes a job of some work on a draft.
pub fn job<T: Send + 'static>(
    work: impl FnOnce(&mut Draft, &mut Mind) -> Result<T, Fault> + Send + 'static,
    caller: oneshot::Sender<Result<T, Fault>>,
) -> Job {
    Job::Change(Box::new(move |turn| {
        // A caller that does not wait any more needs no answer: a failed send is nothing.
        let refuse = |caller: oneshot::Sender<Result<T, Fault>>, fault| {
            drop(caller.send(Err(fault)));
        };
        let (tree, mind) = match turn {
            Turn::Go(tree, mind) => (tree, mind),
            Turn::Refused(trouble) => {
                refuse(caller, Fault::Refused(trouble));
                return Step::nothing();
            }
        };
        let before = mind.mark();
        let mut draft = Draft::new(tree);
        let done = work(&mut draft, mind).and_then(|value| {
            let wrote = !draft.is_empty();
            if wrote {
                draft.apply(&mut mind.counts)?;
            }
            Ok((value, wrote))
        });
        match done {
            Ok((value, wrote)) => Step {
                wrote,
                fault: None,
                answer: Box::new(move |durable| {
                    drop(caller.send(durable.map(|()| value).map_err(Fault::Refused)));
                }),
            },
            Err(Fault::Broken(error)) => {
                mind.undo(&before);
                Step {
                    wrote: false,
                    fault: Some(Fault::Broken(error)),
                    answer: Box::new(move |durable| {
                        let trouble = durable.err().unwrap_or(Trouble::Closed);
                        refuse(caller, Fault::Refused(trouble));
                    }),
                }
            }
            Err(fault) => {
                mind.undo(&before);
                refuse(caller, fault);
                Step::nothing()
            }
        }
    }))
}

impl Step {
    fn nothing() -> Self {
        Self {
            wrote: false,
            fault: None,
            answer: Box::new(drop),
        }
    }
}

/// The thread's part.
pub struct Owner {
    pub claim: Claim,
    pub mind: Mind,
    pub health: Arc<Mutex<Health>>,
    pub state: State,
    pub marked: u64,
}

pub enum State {
    Open(Database),
    /// Why, and since when; `true` where only a new start can help.
    Broken(Trouble, Instant, Lasting),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasting {
    UntilItWorks,
    UntilRestart,
}

impl Owner {
    /// Works until it is told to close, or nobody is left who could ask.
    pub fn run(mut self, mut jobs: Receiver<Job>) {
        let mut closing = None;
        while closing.is_none() {
            let Some(first) = jobs.blocking_recv() else {
                break;
            };
            let mut group = Vec::new();
            let mut next = Some(first);
            while let Some(job) = next.take() {
                match job {
                    Job::Change(change) => group.push(change),
                    Job::Close(caller) => closing = Some(caller),
                }
                if closing.is_none() && group.len() < LARGEST_GROUP {
                    next = jobs.try_recv().ok();
                }
            }
            self.carry_out(group);
        }
        let closed = self.close();
        if let Some(caller) = closing {
            drop(caller.send(closed));
        }
    }

    fn carry_out(&mut self, group: Vec<Work>) {
        self.reopen();
        let before = self.mind.mark();
        let database = match &mut self.state {
            State::Open(database) => database,
            State::Broken(trouble, ..) => {
                for change in group {
                    change(Turn::Refused(trouble.clone()));
                }
                return;
            }
        };
        let mut answers: Vec<Answer> = Vec::with_capacity(group.len());
        let mind = &mut self.mind;
        let tree = database.tree.clone();
        // What panics in the database is a failure of the database: it is opened anew.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let mut wrote = false;
            for change in group {
                let step = change(Turn::Go(&tree, mind));
                answers.push(step.answer);
                if let Some(fault) = step.fault {
                    return Err(fault);
                }
                wrote |= step.wrote;
            }
            if wrote {
                database.db.flush()?;
            }
            Ok(wrote)
        }));
        let failed = match done {
            Ok(Ok(false)) => None,
            Ok(Ok(true)) => {
                let synced = database.file.sync_data();
                synced.err().map(|error| Trouble::Unsynced(error.kind()))
            }
            Ok(Err(fault)) => Some(trouble_of(fault, &self.claim.folder)),
            Err(_panic) => Some(Trouble::Unavailable(std::io::ErrorKind::Other)),
        };
        match failed {
            None => {
                self.mind.settle();
                self.report();
                for answer in answers {
                    answer(Ok(()));
                }
                self.note_how_far();
            }
            Some(trouble) => {
                self.mind.undo(&before);
                self.mind.settle();
                let trouble = self.give_up(trouble);
                self.report();
                for answer in answers {
                    answer(Err(trouble.clone()));
                }
            }
        }
    }

    /// Lets go of a database that failed.
    fn give_up(&mut self, trouble: Trouble) -> Trouble {
        // A write that the disk refused to confirm may be gone from memory as well: no later one can be trusted. A full or read-only
        // disk refuses before anything is lost.
        let (trouble, lasting) = match trouble {
            Trouble::Full | Trouble::ReadOnly(_) => (trouble, Lasting::UntilItWorks),
            Trouble::Unavailable(std::io::ErrorKind::Other) => (trouble, Lasting::UntilItWorks),
            Trouble::Unavailable(kind) => (Trouble::Unsynced(kind), Lasting::UntilRestart),
            other => (other, Lasting::UntilRestart),
        };
        let broken = State::Broken(trouble.clone(), Instant::now(), lasting);
        let old = std::mem::replace(&mut self.state, broken);
        // Closing a failed database can hang or panic; nobody waits for that.
        let letting_go = thread::Builder::new().name("store-close".to_string());
        drop(letting_go.spawn(move || drop(old)));
        trouble
    }

    /// Tries to open a database that failed, some time after it did.
    fn reopen(&mut self) {
        let State::Broken(trouble, since, Lasting::UntilItWorks) = &self.state else {
            return;
        };
        if since.elapsed() < PAUSE {
            return;
        }
        let first = trouble.clone();
        self.state = match open(&self.claim, &mut self.mind) {
            Ok(database) => State::Open(database),
            Err(trouble) => {
                // The failed database may still be letting go of its files: the trouble is the one before.
                let own = matches!(trouble, Trouble::InUse(_));
                let trouble = if own { first } else { trouble };
                State::Broken(trouble, Instant::now(), Lasting::UntilItWorks)
            }
        };
        self.mind.settle();
        self.report();
    }

    fn note_how_far(&mut self) {
        let changes = self.mind.counts.changes;
        if changes >= self.marked + CHANGES_BETWEEN_MARKS {
            self.marked = changes;
            // An older note is still true; the disk's own trouble shows at the next commit.
            drop(write_mark(&self.claim.folder, changes));
        }
    }

    pub fn report(&self) {
        let mut health = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.state {
            State::Open(_) => {
                health.trouble = None;
                health.unfinished = self.mind.counts.open;
                health.waiting = self.mind.counts.waiting;
                health.dead = self.mind.counts.dead;
            }
            State::Broken(trouble, ..) => health.trouble = Some(trouble.clone()),
        }
    }

    fn close(self) -> Result<(), Trouble> {
        let health = self.health;
        let mut health = health.lock().unwrap_or_else(PoisonError::into_inner);
        health.trouble = Some(Trouble::Closed);
        match self.state {
            State::Open(database) => {
                let noted = write_mark(&self.claim.folder, self.mind.counts.changes);
                drop(database);
                noted
            }
            State::Broken(trouble, ..) => Err(trouble),
        }
    }
}
