//! What the store keeps in memory: numbers it may give out, who works on what. A group of changes that fails takes its part back.

use std::collections::HashSet;

use super::draft::{Counts, Draft, Fault};
use super::keys::{Key, Kind};
use crate::store::time::Time;

/// Numbers are reserved in blocks, so that not each change writes how far they are used.
const BLOCK: u64 = 1_000;

/// Who works on what, in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    /// Events that are given out and not finished.
    Given,
    /// Posts that are taken and not settled.
    Flying,
}

#[derive(Debug, Default)]
struct Numbers {
    next: u64,
    reserved: u64,
}

/// A state of the mind.
#[derive(Debug)]
pub struct Mark {
    journal: usize,
    reserved: [u64; 3],
}

#[derive(Debug, Default)]
pub struct Mind {
    sets: HashSet<(Set, u64)>,
    /// What the group changed, and whether it was there before.
    journal: Vec<(Set, u64, bool)>,
    events: Numbers,
    posts: Numbers,
    feedback: Numbers,
    /// How many rows there are.
    pub counts: Counts,
    /// The time of the last `take`: an earlier one means that the clock was set back.
    pub latest: Option<Time>,
    /// From which event on `resume` has not looked yet.
    pub resume_from: u64,
}

impl Mind {
    pub fn has(&self, set: Set, id: u64) -> bool {
        self.sets.contains(&(set, id))
    }

    pub fn add(&mut self, set: Set, id: u64) {
        if self.sets.insert((set, id)) {
            self.journal.push((set, id, false));
        }
    }

    pub fn remove(&mut self, set: Set, id: u64) {
        if self.sets.remove(&(set, id)) {
            self.journal.push((set, id, true));
        }
    }

    /// The present state, to go back to.
    pub fn mark(&self) -> Mark {
        Mark {
            journal: self.journal.len(),
            reserved: [&self.events, &self.posts, &self.feedback].map(|numbers| numbers.reserved),
        }
    }

    /// The group is durable.
    pub fn settle(&mut self) {
        self.journal.clear();
    }

    /// Takes back what was noted after the mark. Numbers that were given out since are not given out again.
    pub fn undo(&mut self, mark: &Mark) {
        let [events, posts, feedback] = mark.reserved;
        self.events.reserved = events;
        self.posts.reserved = posts;
        self.feedback.reserved = feedback;
        while self.journal.len() > mark.journal {
            match self.journal.pop() {
                Some((set, id, true)) => self.sets.insert((set, id)),
                Some((set, id, false)) => self.sets.remove(&(set, id)),
                None => break,
            };
        }
    }

    /// Reads how far numbers are used, after the database was opened. Blocks that were begun are not used on.
    pub fn reopen(&mut self, draft: &Draft) -> Result<(), Fault> {
        self.latest = None;
        self.resume_from = 0;
        self.counts = draft.counts()?.unwrap_or_default();
        for (name, numbers) in [
            ("events", &mut self.events),
            ("posts", &mut self.posts),
            ("feedback", &mut self.feedback),
        ] {
            let reserved = draft
                .number(&Key::new(Kind::Meta).text(name))?
                .unwrap_or(1)
                .max(numbers.reserved);
            *numbers = Numbers {
                next: reserved,
                reserved,
            };
        }
        Ok(())
    }

    /// The largest number of each kind that may be in use lies below these: events, posts.
    pub fn bounds(&self) -> (u64, u64) {
        (self.events.reserved, self.posts.reserved)
    }

    pub fn next_event(&mut self, draft: &mut Draft) -> Result<u64, Fault> {
        next("events", &mut self.events, draft)
    }

    pub fn next_post(&mut self, draft: &mut Draft) -> Result<u64, Fault> {
        next("posts", &mut self.posts, draft)
    }

    pub fn next_feedback(&mut self, draft: &mut Draft) -> Result<u64, Fault> {
        next("feedback", &mut self.feedback, draft)
    }
}

fn next(name: &str, numbers: &mut Numbers, draft: &mut Draft) -> Result<u64, Fault> {
    let id = numbers.next.max(1);
    if id >= numbers.reserved {
        numbers.reserved = id.saturating_add(BLOCK);
        draft.put_number(Key::new(Kind::Meta).text(name), numbers.reserved);
    }
    numbers.next = id.saturating_add(1);
    Ok(id)
}
