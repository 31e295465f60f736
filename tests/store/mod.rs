//! The durable store: what it promises, against each way in which a program or a machine can end.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that finds less than it looks for has to fail"
)]

mod acknowledged;
mod behaviour;
mod command;
mod faults;
mod killed;
mod model;
mod order;
mod power;
mod random;
mod tickets;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bot::place::{Channel, DeskName, MessageRef, Place};
use bot::reply::Reply;
use bot::store::inbox::{EventId, NewEvent, Received};
use bot::store::memory::Answer;
use bot::store::outbox::{Act, Due, NewPost, PostId, PostKey, Pull, Settled, To};
use bot::store::sled::SledStore;
use bot::store::time::Time;
use bot::store::trouble::Trouble;
use bot::store::{Change, Store};
use bot::text::Text;
use tempfile::TempDir;

/// A store in a folder that goes away with it.
struct Bed {
    folder: TempDir,
    store: Option<Arc<dyn Store>>,
}

impl Bed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let store = Some(open(folder.path()));
        Self { folder, store }
    }

    fn store(&self) -> &dyn Store {
        self.store.as_deref().expect("the store is open")
    }

    /// Closes and opens, as a new start of the program does.
    fn restart(&mut self) {
        done(self.store().close());
        self.store = None;
        self.store = Some(open(self.folder.path()));
    }

    fn commit(&self, change: Change) -> Vec<PostId> {
        done(self.store().commit(change))
    }

    fn post(&self, post: NewPost) -> PostId {
        let posts = vec![post];
        let ids = self.commit(Change {
            posts,
            ..Change::default()
        });
        *ids.first().expect("each post has a number")
    }

    fn take(&self, now: u64) -> Vec<Due> {
        done(self.store().take(pull(now)))
    }

    /// Takes what is due and says whose it is.
    fn names(&self, now: u64) -> Vec<String> {
        let due = self.take(now).into_iter();
        due.map(|due| due.post.key.0).collect()
    }

    fn deliver(&self, id: PostId, message: &str) {
        let message = Some(message.to_string());
        done(
            self.store()
                .settle(id, Settled::Delivered { message }, Time(1)),
        );
    }

    fn receive(&self, keys: &[&str]) -> Received {
        done(self.store().receive(event(keys, b"paste")))
    }
}

fn open(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SledStore::open(folder).unwrap_or_else(|trouble| panic!("{trouble}")))
}

/// Waits for an operation, whatever it answers; one that hangs fails the test.
fn wait<T>(operation: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("tasks can run");
    runtime.block_on(async {
        let patience = Duration::from_secs(60);
        let ended = tokio::time::timeout(patience, operation).await;
        ended.expect("a store answers within a minute")
    })
}

/// Waits for an operation that has no reason to fail.
fn done<T>(operation: impl Future<Output = Result<T, Trouble>>) -> T {
    wait(operation).unwrap_or_else(|trouble| panic!("{trouble}"))
}

fn event(keys: &[&str], payload: &[u8]) -> NewEvent {
    NewEvent {
        keys: keys.iter().map(ToString::to_string).collect(),
        desk: DeskName("desk".into()),
        place: thread("t"),
        payload: payload.to_vec(),
        received: Time(1_000),
        read: None,
    }
}

fn new(received: Received) -> EventId {
    match received {
        Received::New(id) => id,
        Received::Known(id) => panic!("event {} was known already", id.0),
    }
}

fn channel() -> Channel {
    Channel {
        chat: "chat".into(),
        space: "space".into(),
        id: "channel".into(),
    }
}

fn place() -> Place {
    Place {
        channel: channel(),
        thread: None,
    }
}

fn thread(id: &str) -> Place {
    Place {
        thread: Some(id.into()),
        ..place()
    }
}

fn message(id: &str) -> MessageRef {
    MessageRef {
        channel: channel(),
        id: id.into(),
    }
}

fn key(name: &str) -> PostKey {
    PostKey(name.into())
}

fn post(name: &str, act: Act, text: &str) -> NewPost {
    NewPost {
        key: key(name),
        desk: DeskName("desk".into()),
        act,
        reply: Reply {
            title: Text::plain(text),
            ..Reply::default()
        },
        files: Vec::new(),
        version: 0,
    }
}

fn send(name: &str, to: Place) -> NewPost {
    post(name, Act::Send(To::Place(to)), name)
}

fn under(name: &str, of: &str) -> NewPost {
    post(name, Act::Send(To::ThreadOf(key(of))), name)
}

fn edit(name: &str, of: &str) -> NewPost {
    post(name, Act::Edit(key(of)), name)
}

fn delete(name: &str, of: &str) -> NewPost {
    post(name, Act::Delete(key(of)), "")
}

fn pull(now: u64) -> Pull {
    Pull {
        chat: "chat".into(),
        now: Time(now),
        most: 100,
        per_channel: 100,
        resting: Vec::new(),
    }
}

fn answer(paste: &str, post: &str, at: u64) -> Answer {
    Answer {
        paste: message(paste),
        desk: DeskName("desk".into()),
        place: thread("t"),
        pasted_at: None,
        person: "anna".into(),
        digest: format!("digest of {paste}"),
        asked: false,
        post: key(post),
        event: EventId(1),
        at: Time(at),
    }
}
