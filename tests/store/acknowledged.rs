//! What `store load` printed, and whether a store holds it: nothing acknowledged is lost, nothing is given out twice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use bot::place::{Channel, MessageRef};
use bot::store::inbox::{NewEvent, Outcome, Received};
use bot::store::outbox::{PostState, Pull, Settled};
use bot::store::time::Time;

use super::{Bed, done, key, open};

/// Names by what was said about them.
#[derive(Debug, Default)]
pub struct Said {
    pub received: BTreeSet<String>,
    pub answered: BTreeSet<String>,
    pub sent: BTreeSet<String>,
    pub delivered: BTreeSet<String>,
    /// How often something was refused, and why.
    pub refused: BTreeMap<String, usize>,
    /// How many names were acknowledged before, and so are known to be there.
    pub opened: bool,
}

impl Said {
    /// Reads whole lines; one that was cut off was not acknowledged.
    pub fn hear(&mut self, out: &str) {
        for line in out
            .split_inclusive('\n')
            .filter_map(|line| line.strip_suffix('\n'))
        {
            let (what, name) = line.split_once(' ').unwrap_or((line, ""));
            let name = name.to_string();
            match what {
                "received" => drop(self.received.insert(name)),
                "answered" => drop(self.answered.insert(name)),
                "sent" => {
                    assert!(self.sent.insert(name.clone()), "{name} was given out twice");
                }
                "delivered" => drop(self.delivered.insert(name)),
                "refused" => *self.refused.entry(name).or_default() += 1,
                "opened" => self.opened = true,
                "closed" => {}
                _ => panic!("`store load` does not say such things: {line}"),
            }
        }
    }

    pub fn acknowledged(&self) -> usize {
        self.received.len() + self.answered.len() + self.delivered.len()
    }
}

/// Opens the store and looks for everything that was said. How long it took to open.
pub fn verify(folder: &Path, said: &Said) -> Duration {
    let begun = Instant::now();
    let store = open(folder);
    let took = begun.elapsed();
    let unfinished = done(store.resume(1_000_000));
    let open: BTreeSet<_> = unfinished.iter().map(|event| event.id).collect();
    for name in &said.received {
        let id = match done(store.receive(named(name))) {
            Received::Known(id) => id,
            Received::New(_) => panic!("the event {name} was acknowledged and is lost"),
        };
        let event = done(store.event(id)).unwrap_or_else(|| panic!("{name} has no payload"));
        let whole = name.bytes().cycle().take(event.payload.len());
        assert!(
            event.payload.len() >= 2_000 && whole.eq(event.payload),
            "{name} is torn"
        );
        let answered = said.answered.contains(name);
        assert!(
            !(answered && open.contains(&id)),
            "{name} was finished and is open again"
        );
        let ended = event.outcome == Some(Outcome::Answered);
        assert!(
            ended || open.contains(&id),
            "{name} is neither finished nor to be resumed"
        );
    }
    for name in &said.answered {
        let posted = done(store.posted(key(name)));
        let posted = posted.unwrap_or_else(|| panic!("the answer {name} is lost"));
        let paste = MessageRef {
            channel: channel(),
            id: name.clone(),
        };
        let answer = done(store.answer(paste)).unwrap_or_else(|| panic!("{name} has no answer"));
        assert_eq!(answer.post, posted.key);
    }
    for name in &said.delivered {
        let posted = done(store.posted(key(name)));
        let posted = posted.unwrap_or_else(|| panic!("the delivered {name} is lost"));
        assert_eq!(
            posted.state,
            PostState::Delivered,
            "{name} would be sent again"
        );
        assert_eq!(posted.message, Some(format!("message-{name}")));
    }
    let mut given = BTreeSet::new();
    loop {
        let taken = done(store.take(all()));
        if taken.is_empty() {
            break;
        }
        for due in taken {
            let name = due.post.key.0;
            assert!(given.insert(name.clone()), "{name} is given out twice");
            assert!(
                !said.delivered.contains(&name),
                "{name} is delivered and given out again"
            );
            assert!(
                due.unsure || !said.sent.contains(&name),
                "{name} may be out there, unmarked"
            );
            let message = Some(format!("message-{name}"));
            let now = Time::from(std::time::SystemTime::now());
            done(store.settle(due.id, Settled::Delivered { message }, now));
        }
    }
    for name in said.answered.difference(&said.delivered) {
        let posted = done(store.posted(key(name))).map(|posted| posted.state);
        assert_eq!(
            posted,
            Some(PostState::Delivered),
            "{name} is not sent at all"
        );
    }
    done(store.close());
    let blobs = folder.join("blobs");
    let blobs = std::fs::read_dir(blobs)
        .expect("the folder is there")
        .count();
    assert_eq!(
        blobs, 0,
        "no row was large enough for a file that is never synced"
    );
    took
}

fn named(name: &str) -> NewEvent {
    NewEvent {
        keys: vec![format!("load/event/{name}")],
        ..NewEvent::default()
    }
}

fn channel() -> Channel {
    Channel {
        chat: "load".into(),
        ..super::channel()
    }
}

fn all() -> Pull {
    Pull {
        chat: "load".into(),
        now: Time::from(std::time::SystemTime::now()),
        ..super::pull(0)
    }
}

#[test]
fn a_loss_would_be_seen() {
    let bed = Bed::new();
    done(bed.store().close());
    let mut said = Said::default();
    said.hear("opened 3\nreceived 1-1\nanswered 1-");
    assert_eq!(said.acknowledged(), 1, "half a line is no acknowledgement");
    let folder = bed.folder.path().to_path_buf();
    drop(bed.store);
    let lost = std::panic::catch_unwind(|| verify(&folder, &said));
    assert!(
        lost.is_err(),
        "an empty store holds nothing of what was said"
    );
}
