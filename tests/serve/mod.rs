//! The serving program against a platform in a folder: what is answered, changed, taken away, refused, and what survives.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that finds less than it looks for has to fail"
)]

mod answers;
mod buttons;
mod chat;
mod checks;
mod kills;
mod missed;
mod outbox;
mod renewed;
mod rights;
mod sending;
mod settings;
mod tickets;
mod traces;
mod unsure;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use adapters::config::Config;
use adapters::serve::chat::{Chat, Failure, Incoming};
use adapters::serve::run::Program;
use bot::conversation::First;
use bot::event::{Event, Handle, Message, Person, PersonKind, What};
use bot::place::{Channel, MessageRef, Place};
use bot::reply::Reply;
use bot::store::Store;
use bot::store::sled::SledStore;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::refusing::{Refusals, Refusing};
use crate::support::until;
use chat::{Done, FolderChat, Op};

/// How long the program may take for anything here.
const PATIENCE: Duration = Duration::from_secs(60);

/// A bounce whose cause is plain.
const BOUNCE: &str = "This is the mail system at host mx.example.com.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\n<bob@example.org>: host mail.example.org[192.0.2.20] said: 550 5.1.1\n    <bob@example.org>: Recipient address rejected: User unknown (in reply to RCPT TO command)\n";
/// Another one.
const FULL: &str = "This is the mail system at host mx.example.com.\n\n<carol@example.net>: host mail.example.net[192.0.2.30] said: 552 5.2.2\n    Mailbox full (in reply to RCPT TO command)\n";

/// The config of one desk, with more lines for it, and a name server where domains are checked.
fn config(folder: &Path, more: &str, dns: Option<SocketAddr>) -> Config {
    let mut text = text_of_config(folder, more);
    if let Some(address) = dns {
        let named = format!("name_servers = [\"{address}\"]");
        text = text.replace("check_domains = false", &named);
    }
    Config::parse(&text, folder).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn text_of_config(folder: &Path, more: &str) -> String {
    std::fs::write(folder.join("token"), "xoxb-not-a-real-one\n").expect("a file can be written");
    format!(
        "store = \"store\"\nloopback_only = true\n[dns]\ncheck_domains = false\n[slack]\napi = \"http://127.0.0.1:9/api\"\nfile_hosts = [\"127.0.0.1\"]\napp_token = {{ file = \"token\" }}\n[[slack.workspace]]\nid = \"T01\"\nbot_token = {{ file = \"token\" }}\n[[desk]]\nname = \"desk\"\nown_domains = [\"example.com\"]\n[[desk.slack]]\nworkspace = \"T01\"\nwatch = [\"C01\"]\nquiet = [\"C02\"]\n{more}"
    )
}

/// A program that serves a platform.
struct Bed {
    folder: TempDir,
    more: String,
    dns: Option<SocketAddr>,
    runtime: Runtime,
    program: Option<Program>,
    store: Arc<dyn Store>,
    chat: Arc<FolderChat>,
    /// So many events the store refuses.
    refuses: Arc<Refusals>,
}

impl Bed {
    fn new() -> Self {
        Self::with("")
    }

    /// With more lines in its config.
    fn with(more: &str) -> Self {
        Self::set_up(more, None)
    }

    /// Checking domains at that name server.
    fn asking(name_server: SocketAddr) -> Self {
        Self::set_up("", Some(name_server))
    }

    fn set_up(more: &str, dns: Option<SocketAddr>) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("tasks can run");
        let chat = Arc::new(FolderChat::new(folder.path()));
        let refuses = Arc::default();
        let (program, store) = start(&runtime, folder.path(), (more, dns), &chat, &refuses);
        Self {
            folder,
            more: more.into(),
            dns,
            runtime,
            program: Some(program),
            store,
            chat,
            refuses,
        }
    }

    /// Stops the program in good order and starts it again. `meanwhile` is what is written while nobody listens.
    fn restart_with(&mut self, meanwhile: Vec<Incoming>) {
        self.restart_failing(meanwhile, &[]);
    }

    /// Reading what was written meanwhile fails so, one time after the other.
    fn restart_failing(&mut self, meanwhile: Vec<Incoming>, failures: &[Failure]) {
        self.stop();
        self.chat = Arc::new(FolderChat::new(self.folder.path()));
        *self.chat.unheard.lock().expect("a lock") = meanwhile;
        for failure in failures {
            self.chat.fail(Op::Missed, failure.clone());
        }
        let (program, store) = start(
            &self.runtime,
            self.folder.path(),
            (&self.more, self.dns),
            &self.chat,
            &self.refuses,
        );
        (self.program, self.store) = (Some(program), store);
    }

    fn stop(&mut self) {
        if let Some(program) = self.program.take() {
            self.runtime.block_on(program.stop());
        }
    }

    fn restart(&mut self) {
        self.restart_with(Vec::new());
    }

    /// Something happens on the platform. What it is told at once.
    fn happens(&self, incoming: Incoming) -> First {
        until("the program listens", || self.chat.door().is_some());
        let door = self.chat.door().expect("it listens").clone();
        self.runtime.block_on(async {
            let mut accepted = door.receive(incoming).await.expect("it is taken in");
            let first = std::mem::replace(&mut accepted.first, First::Received);
            accepted.work();
            first
        })
    }

    /// The store does not take it in.
    fn is_refused(&self, incoming: Incoming) {
        until("the program listens", || self.chat.door().is_some());
        let door = self.chat.door().expect("it listens").clone();
        self.refuses.events.store(1, Ordering::SeqCst);
        let received = self.runtime.block_on(door.receive(incoming));
        assert!(received.is_err(), "it is taken in");
    }

    /// Waits until nothing is worked on and nothing waits.
    fn rest(&self) {
        until("everything is done", || {
            let health = self.store.health();
            assert_eq!(health.trouble, None);
            health.unfinished == 0 && health.waiting == 0
        });
    }

    /// Everything of a kind that was done.
    fn all(&self, what: Op) -> Vec<Done> {
        let mut done = self.chat.done();
        done.retain(|done| done.what == what);
        done
    }

    /// The messages of ours that stand, as they read now.
    fn standing(&self) -> Vec<Done> {
        standing(&self.chat.done())
    }

    /// The answer in the thread of a message, as it reads now.
    fn answer_to(&self, message: &str) -> Option<Reply> {
        let mut there = self.standing();
        there.retain(|done| done.place.thread.as_deref() == Some(message));
        assert!(there.len() < 2, "one answer in a thread: {there:#?}");
        there.pop().map(|done| done.reply)
    }

    /// What came back through a handle, the last of it.
    fn response(&self, handle: &str) -> Reply {
        let find = || {
            let mut all = self.all(Op::Respond);
            all.retain(|done| done.id == handle);
            all.pop()
        };
        until(&format!("{handle} is answered"), || find().is_some());
        find().expect("it is there").reply
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(
    runtime: &Runtime,
    folder: &Path,
    (more, dns): (&str, Option<SocketAddr>),
    chat: &Arc<FolderChat>,
    refuses: &Arc<Refusals>,
) -> (Program, Arc<dyn Store>) {
    let config = config(folder, more, dns);
    let opened = SledStore::open(&config.store).unwrap_or_else(|trouble| panic!("{trouble}"));
    let store: Arc<dyn Store> = Arc::new(Refusing {
        store: Arc::new(opened),
        left: Arc::clone(refuses),
    });
    let chats: Vec<Arc<dyn Chat>> = vec![Arc::clone(chat) as Arc<dyn Chat>];
    let program = runtime.block_on(Program::start(&config, Arc::clone(&store), chats));
    (program.unwrap_or_else(|error| panic!("{error:#}")), store)
}

fn standing(done: &[Done]) -> Vec<Done> {
    let mut messages: Vec<Done> = Vec::new();
    for done in done {
        match done.what {
            Op::Send => messages.push(done.clone()),
            Op::Edit => {
                let message = messages.iter_mut().find(|message| message.id == done.id);
                message.expect("what is changed is there").reply = done.reply.clone();
            }
            Op::Delete => messages.retain(|message| message.id != done.id),
            Op::Respond
            | Op::Hand
            | Op::Whisper
            | Op::Working
            | Op::Find
            | Op::Kind
            | Op::Groups
            | Op::Fetch
            | Op::Missed => {}
        }
    }
    messages
}

fn channel(id: &str) -> Channel {
    Channel {
        chat: "slack".into(),
        space: "T01".into(),
        id: id.into(),
    }
}

fn person(id: &str) -> Person {
    Person {
        id: id.into(),
        ..Person::default()
    }
}

fn at(channel_id: &str, id: &str) -> MessageRef {
    MessageRef {
        channel: channel(channel_id),
        id: id.into(),
    }
}

/// A message in the watched channel, which opens a thread of its own.
fn message(id: &str, who: &str, text: &str) -> Message {
    Message {
        at: at("C01", id),
        author: person(who),
        text: text.into(),
        files: Vec::new(),
        answer_at: Place {
            channel: channel("C01"),
            thread: Some(id.into()),
        },
        addressed: false,
    }
}

fn event(message: &Message, name: &str, what: What) -> Incoming {
    let in_thread = message
        .answer_at
        .thread
        .as_ref()
        .filter(|thread| **thread != message.at.id);
    Incoming {
        keys: vec![format!("slack/{name}/{}", message.at.id)],
        event: Event {
            place: Place {
                channel: message.at.channel.clone(),
                thread: in_thread.cloned(),
            },
            person: message.author.clone(),
            what,
        },
    }
}

fn wrote(message: &Message) -> Incoming {
    event(message, "message", What::Wrote(message.clone()))
}

/// `nth` tells one change of a message from another.
fn edited(message: &Message, nth: usize) -> Incoming {
    event(
        message,
        &format!("edit{nth}"),
        What::Edited(message.clone()),
    )
}

fn deleted(message: &Message) -> Incoming {
    let mut incoming = event(message, "deletion", What::Deleted(message.at.clone()));
    incoming.event.person = Person::default();
    incoming
}

/// Something that comes with a handle, named as it.
fn interaction(who: Person, handle: &str, what: impl FnOnce(Handle) -> What) -> Incoming {
    Incoming {
        keys: vec![format!("slack/interaction/{handle}")],
        event: Event {
            place: Place {
                channel: channel("C01"),
                thread: None,
            },
            person: who,
            what: what(Handle(handle.into())),
        },
    }
}

fn command(who: &str, handle: &str, text: &str) -> Incoming {
    let text = text.to_string();
    interaction(person(who), handle, |handle| What::Command { text, handle })
}

fn of_kind(id: &str, kind: PersonKind) -> Person {
    Person { kind, ..person(id) }
}

/// The title of a reply in plain words.
fn title(reply: &Reply) -> String {
    reply.title.words()
}
